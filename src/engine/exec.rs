//! Runs one step of a plan: one hook, or several at once.
//!
//! One thread and one readiness loop over what the hooks write, read and do. Whatever a hook
//! does, it ends: by itself, at its timeout, when the budget is used up, or on abort; and its
//! process tree ends with it. Measurements and reasons for this form: `ARCHITECTURE.md`.

mod call;
mod capture;
pub mod child;
pub mod command;
pub mod confine;
mod engine;
mod entry;
mod feed;
mod heartbeat;
mod job;
pub mod keeper;
mod lines;
mod live;
mod pipes;
mod progress;
pub mod sandbox;
mod signals;
mod spawn;
mod step;
#[cfg(feature = "tokio")]
mod tasks;
pub mod tree;
mod warm;
mod warm_hook;
mod workers;

pub use engine::Engine;
pub use heartbeat::Heartbeat;
pub use job::{Budget, FunctionCall, Job, Runs};
pub use keeper::OwnProgram;
pub use lines::{LineLife, LineStream};
pub use pipes::PipeStore;
pub use progress::{HookProgress, Watcher};
pub use signals::{Abort, hold_out};
pub use tree::Subreaper;
pub use warm::inherited_traits;
pub use workers::MOST_FUNCTIONS;
