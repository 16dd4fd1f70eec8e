//! Recorded events decided again by today's hooks: what is decided otherwise, and by whom.
//!
//! [`crew`] reads recordings and decides their events by several threads, in constant memory;
//! [`decide`] makes a [`ReplayFinding`] of each line that is not as recorded; [`report`] writes them, and
//! [`merge`] makes one report of those of several jobs, each of which has decided one
//! [`Partition`].

pub mod compare;
pub mod crew;
pub mod decide;
pub mod finding;
pub mod hooks;
pub mod merge;
pub mod partition;
pub mod report;
mod source;
pub mod totals;
mod window;

pub use decide::{Decider, Done};
pub use finding::{LinePlace, OutcomeChange, ReplayFinding};
pub use hooks::Hooks;
pub use partition::Partition;
pub use source::RecordingInput;
pub use totals::{ReplayEnd, Totals};

/// Why a replay ends before its time.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// With such hooks every gate would be refused.
    #[error("{0}")]
    Broken(String),
    /// It was told to.
    #[error("it was interrupted")]
    Stopped,
    /// No thread could be started.
    #[error("no thread to decide in: {0}")]
    NoThread(String),
    /// A mistake of ours.
    #[error("a thread that decides has panicked, which is a mistake in hookrun")]
    Panicked,
    /// What was found cannot be written.
    #[error("cannot write {what}: {problem}")]
    Write {
        /// The report, or a file.
        what: String,
        /// Why not.
        problem: String,
    },
}
