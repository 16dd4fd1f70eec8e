//! What the commands that show something take.

use std::path::PathBuf;

use crate::dialects::native;
use crate::lab::replay::Partition;
use crate::lab::report::CheckFormat;
use clap::Args;

use super::options::{HooksArgs, SourceArgs, TextFormat, dialect_name, jobs};

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

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Recordings of `hookrun run --record`, or files of the decision log; `-` is stdin. With
    /// --merge: reports of `hookrun replay --format json`
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Compare with the hooks in this folder, and not with what was recorded: both sets decide
    /// each event
    #[arg(long, value_name = "DIR")]
    pub(crate) against: Option<PathBuf>,

    /// Another hook, reason, rewrite, output or context for the model is a change too; without it
    /// only another decision is, and a failure instead of a block
    #[arg(long)]
    pub(crate) strict: bool,

    /// What this hook decides may change: it is reported, and the exit status is 0; can be given
    /// several times
    #[arg(long, value_name = "HOOK")]
    pub(crate) allow_change: Vec<String>,

    /// Events that were not kept whole (cut for the decision log, or with a secret that was
    /// replaced) are reported and not decided, and the exit status is 0 all the same
    #[arg(long)]
    pub(crate) allow_undecided: bool,

    /// Write a recording with today's outcomes to this file, when all is decided: what replay
    /// compares with the next time
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    pub(crate) write: Option<PathBuf>,

    /// Decide one part of so many, 3/8 for example: each event is in exactly one, by a hash of its
    /// context that is the same everywhere
    #[arg(long, value_name = "PART")]
    pub(crate) partition: Option<Partition>,

    /// Make one report of those of all parts
    #[arg(long, conflicts_with_all = [
        "named", "against", "strict", "allow_change", "allow_undecided", "write", "partition",
        "jobs",
    ])]
    pub(crate) merge: bool,

    /// How many events are decided at once; with 1 in the order of the recording [default: the
    /// processors]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// How many findings are shown; the rest is counted. As JSON all are there
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) most: u64,

    /// How to report; json is lines, a finding each
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}
