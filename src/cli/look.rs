//! What people look at: hooks, events, problems and past decisions.

pub(in crate::cli) mod decisions;
pub(in crate::cli) mod doctor;
pub(in crate::cli) mod events;
pub(in crate::cli) mod explain;
pub(in crate::cli) mod list;
pub(in crate::cli) mod replay;
pub(crate) mod schema;
pub(in crate::cli) mod validate;
pub(in crate::cli) mod why;
