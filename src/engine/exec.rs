//! Runs one step of a plan: one hook, or several in parallel.
//!
//! One thread with one readiness loop. Every hook ends, with its process tree: by itself, at its
//! timeout, at the end of the budget, or on abort. `ARCHITECTURE.md` has reasons and measurements.

mod call;
pub mod child;
pub mod command;
pub mod confine;
mod engine;
mod job;
pub mod keeper;
#[cfg(target_os = "linux")]
mod landlock;
mod lines;
mod live;
pub mod sandbox;
mod signals;
mod spawn;
mod step;
mod streams;
pub mod tree;
mod warm;

pub use call::MOST_FUNCTIONS;
pub use engine::{Callback, Engine, Heartbeat, HookProgress, Watcher};
pub use job::{Budget, Job};
pub use keeper::OwnProgram;
pub use lines::{HookLines, LineLife};
pub use signals::{Abort, block_real_time, hold_out};
pub use streams::PipeStore;
pub use tree::Subreaper;
pub use warm::inherited_traits;
