//! The commands around `run` and `test`: one file for each.

mod add;
mod completions;
mod events;
mod field;
mod import;
mod init;
mod list;
mod man;
mod new;
pub(crate) mod schema;
mod show;
mod usage;
mod validate;

/// Every command that help shows.
const COMMANDS: &[&str] = &[
    "run",
    "test",
    "list",
    "show",
    "explain",
    "validate",
    "why",
    "replay",
    "report",
    "tail",
    "import",
    "init",
    "new",
    "add",
    "edit",
    "trust",
    "sets",
    "events",
    "schema",
    "field",
    "ui",
    "send",
    "serve",
    "state",
    "install",
    "uninstall",
    "doctor",
    "completions",
];
