//! What the commands that show something take.

use std::path::PathBuf;

use crate::dialects::native;
use crate::lab::report::CheckFormat;
use clap::Args;

use super::options::{HooksArgs, SourceArgs, TextFormat, dialect_name};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only the hooks of this event
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    #[command(flatten)]
    pub(crate) hooks: HooksArgs,

    /// How to report
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The hook's name
    #[arg(value_name = "HOOK")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) hooks: HooksArgs,

    /// How to report
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) hooks: HooksArgs,

    /// How to report
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// Show this event in full, with a sample of its context
    #[arg(value_name = "EVENT")]
    pub(crate) name: Option<String>,

    /// Show the events of a hook system, with its names and rules
    #[arg(long, visible_alias = "host", value_name = "NAME", value_parser = dialect_name(), default_value = native::NAME, hide_default_value = true)]
    pub(crate) dialect: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// How to report
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The event, by its name or a host's name for it
    pub(crate) event: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The page: hookrun, hookrun-run, hookrun-hook, hookrun.toml and so on [default: hookrun]
    pub(crate) page: Option<String>,

    /// Write all pages into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    pub(crate) dir: Option<PathBuf>,
}
