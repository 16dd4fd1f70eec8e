//! What people look at: hooks, events, problems and past decisions.

pub(in crate::cli) mod decisions;
pub(in crate::cli) mod doctor;
pub(in crate::cli) mod events;
pub(in crate::cli) mod explain;
pub(in crate::cli) mod filter;
pub(in crate::cli) mod list;
mod new_file;
pub(in crate::cli) mod replay;
pub(in crate::cli) mod report;
pub(in crate::cli) mod rules;
pub(in crate::cli) mod show;
pub(in crate::cli) mod tail;
mod unbound;
pub(in crate::cli) mod validate;
pub(in crate::cli) mod why;
