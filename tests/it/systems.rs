//! Hooks and hosts of other systems: every dialect from both sides.

mod chains;
mod examples;
mod examples_of_pi;
mod judged;
mod loom;
mod no_tool;
mod omp;
mod omp_discovery;
mod openclaw;
mod payloads;
mod pi;
mod rows;
mod same;
mod wolli;
