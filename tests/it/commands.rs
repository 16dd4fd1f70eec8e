//! The commands around `run` and `test`: one file for each.

mod completions;
mod events;
mod field;
mod list;
mod man;
mod schema;
mod show;
mod usage;
mod validate;
