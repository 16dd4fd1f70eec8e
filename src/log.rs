//! The decision log, and recordings of events.
//!
//! Both have a line of JSON per event ([`record`]), with secrets redacted ([`redact`]). Writing is
//! best effort: decisions never wait for it or fail because of it.

pub mod files;
pub mod record;
pub mod redact;
pub mod report;

pub use files::{DecisionLog, KeepError};
pub use record::{DecisionLine, Keeps, LogEntry};
pub use redact::Redactor;
