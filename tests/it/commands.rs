//! The commands around `run` and `test`: one file for each.

pub(crate) mod add;
mod completions;
mod events;
mod field;
mod import;
mod init;
mod list;
mod list_one;
mod man;
mod new;
pub(crate) mod schema;

mod usage;
mod validate;

/// Every command that help shows.
const COMMANDS: &[&str] = &[
    "run",
    "test",
    "list",
    "explain",
    "validate",
    "why",
    "replay",
    "report",
    "import",
    "init",
    "new",
    "add",
    "trust",
    "sets",
    "events",
    "schema",
    "hook",
    "serve",
    "install",
    "uninstall",
    "doctor",
    "completions",
];
