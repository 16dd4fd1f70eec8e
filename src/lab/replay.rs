//! Recorded events decided again by today's hooks: what is decided otherwise, and by which hook.
//!
//! `decide` decides one line and compares it with its record; [`report`] writes what differs.
//! No line depends on another.

pub mod compare;
mod decide;
mod finding;
mod hooks;
pub mod report;

pub use decide::Decider;
pub use finding::{
    LinePlace, OutcomeChange, ReplayEnd, ReplayFinding, ReplayOutcome, Totals, UndecidedEvent,
    Unreadable,
};
pub use hooks::{BrokenHooks, Hooks};
