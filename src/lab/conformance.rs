//! Vectors: what a host sends, what hooks do, and what the host must then get. Plain data, to
//! which any runner can be held; `docs/conformance.md` describes the form.
//!
//! Here vectors are read and answers compared. Nothing is written and nothing is run.

mod compare;
mod runner;
mod vector;

pub use compare::{Got, misses};
pub use runner::{CommandError, CommandTemplate, PLACEHOLDERS, TemplateValues};
pub use vector::{HookFile, Vector, VectorStep};
