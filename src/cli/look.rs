//! What people look at: hooks, events, problems and past decisions.

pub(in crate::cli) mod doctor;
pub(in crate::cli) mod events;
pub(in crate::cli) mod explain;
mod findings;
pub(in crate::cli) mod list;
pub(in crate::cli) mod replay;
pub(in crate::cli) mod rules;
pub(in crate::cli) mod show;
pub(in crate::cli) mod validate;
pub(in crate::cli) mod why;
