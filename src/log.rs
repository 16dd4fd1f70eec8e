//! What was decided, kept and read again: the decision log, and recordings.
//!
//! Both have one form, a line of JSON for each event ([`record`]), in which secrets are replaced
//! ([`redact`]). Writing is best effort by design: a decision never waits for it and never fails
//! with it, so errors are returned, and the caller reports or drops them.

mod cut;
pub mod files;
mod journal;
pub mod read;
pub mod record;
pub mod redact;
pub mod report;
pub mod stats;

pub use files::{DecisionLog, KeepError, Recording};
pub use journal::Journal;
pub use record::{DecisionLine, Keeps, LogEntry, RecordError};
pub use redact::Redactor;
