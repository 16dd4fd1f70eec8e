//! The outcome in a host's own words.
//!
//! A host reads an exit status, stdout and stderr; each host in its own way. The native way is
//! hookrun's own contract turned round, so that a set of hooks is itself a hook.

pub mod native;

/// What a host gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// One JSON document, or nothing.
    pub stdout: String,
    /// The reason of a refusal, else notices, one a line; or nothing.
    pub stderr: String,
    /// The exit status.
    pub status: u8,
}
