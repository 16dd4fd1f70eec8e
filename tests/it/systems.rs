//! Hooks and hosts of other systems: every dialect from both sides.

mod loom;
mod openclaw;
mod payloads;
mod pi;
mod rows;
mod same;
mod wolli;
