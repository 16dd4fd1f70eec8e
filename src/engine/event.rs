//! What happened in the host, in our own words.
//!
//! Hosts name the same moment differently; the dialects translate. Everything after decoding
//! speaks only the names in [`catalog`]. No I/O here, and no host's JSON.

pub mod action;
pub mod catalog;
pub mod context;
pub mod json;
mod occurrence;
mod spec;

pub use action::{Access, Action, ActionKind};
pub use context::{Context, ContextError};
pub(crate) use occurrence::FileFacts;
pub use occurrence::{BuildError, Event, EventBuilder, Links};
pub use spec::{
    Conduct, ContextKey, EventSpec, JsonType, Merge, NATIVE, OnFailure, Rewrite, Schedule,
};
