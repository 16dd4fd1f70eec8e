//! Recorded events decided again by today's hooks: what is decided otherwise, and by whom.
//!
//! [`workers`] reads recordings and decides their events by several threads, in constant memory;
//! [`decide`] makes a [`ReplayFinding`] of each line that is not as recorded; [`report`] writes them, and
//! [`merge`] makes one report of those of several jobs, each of which has decided one
//! [`Partition`].

pub mod compare;
pub mod decide;
pub mod finding;
pub mod hooks;
pub mod merge;
pub mod partition;
pub mod report;
mod source;
pub mod totals;
pub mod workers;

pub use decide::{Decider, ReplayedLines};
pub use finding::{LinePlace, OutcomeChange, ReplayError, ReplayFinding};
pub use hooks::Hooks;
pub use partition::Partition;
pub use source::RecordingInput;
pub use totals::{ReplayEnd, Totals};
