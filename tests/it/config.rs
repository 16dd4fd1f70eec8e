//! Where hooks come from, in which order they run, and what is said about mistakes.

mod anchored;
mod conventions;
mod directives;
mod drop_ins;
mod layers;
mod manifest;
mod mistakes;
mod projects;
mod slips;
