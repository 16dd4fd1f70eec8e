//! Commands that hookrun starts itself, and help does not show.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{SourceArgs, dialect_name, jobs};

#[derive(Debug, Args)]
pub(crate) struct SuperviseArgs {
    pub(crate) event: String,

    #[arg(long, value_parser = dialect_name(), default_value = "native")]
    pub(crate) dialect: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// The mark of the run
    pub(crate) mark: String,
}

#[derive(Debug, Args)]
pub(crate) struct ActArgs {
    #[command(subcommand)]
    pub(crate) action: HiddenCommand,

    /// The name of the profile that asks for it
    #[arg(long, global = true, default_value = "", value_name = "NAME")]
    pub(crate) profile: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HiddenCommand {
    /// Write a line about the event on stdin into the log of actions
    Log {
        /// How much it matters
        #[arg(long, default_value = "info")]
        level: String,
    },
    /// Append the event on stdin to a file below a folder, as one line of JSON
    Save { folder: PathBuf, file: PathBuf },
    /// Print what is sent of the event on stdin
    Payload,
    /// Ask a person about the tool in the event on stdin
    Ask,
}
