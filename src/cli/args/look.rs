//! What the commands that show something take.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::hosts::native;
use crate::lab::report::CheckFormat;
use clap::{Args, ValueEnum};

use super::options::{
    DECISIONS, HooksArgs, SourceArgs, TextFormat, dialect_or_git, dialect_or_host, duration,
};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show this hook with all its settings
    #[arg(value_name = "HOOK")]
    pub(crate) name: Option<String>,

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
pub(crate) struct ExplainArgs {
    /// The command line, between quotes; without it, or with `-`, the one on stdin
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,

    /// The event whose hooks would run
    #[arg(long, value_name = "EVENT", default_value = "tool.pre")]
    pub(crate) event: String,

    /// The tool that is given the command, as the host calls it [default: the host's shell]
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,

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

    /// Show the events of a hook system or a host, with its names and rules, and what the host can do
    #[arg(long = "host", value_name = "NAME", value_parser = dialect_or_host(), default_value = native::NAME, hide_default_value = true)]
    pub(crate) dialect: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// How to report
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The event, by its name or a host's name for it, or a file or report; without it, the list of
    /// them
    #[arg(value_name = "SCHEMA")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Recordings of `hookrun run --record`, or files of the decision log; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Exit with 0 although some events could not be decided, because they were not kept whole (cut
    /// for the decision log, or with a replaced secret)
    #[arg(long)]
    pub(crate) allow_undecided: bool,

    /// How to report; JSON has a line for each event
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// How many decisions, the newest last [default: 1; 10 with --follow]
    #[arg(short = 'n', long = "number", value_name = "N")]
    pub(crate) number: Option<usize>,

    /// All of them; with -n only the newest
    #[arg(long)]
    pub(crate) all: bool,

    /// Print a line for each instead of a page
    #[arg(long, conflicts_with = "stats")]
    pub(crate) brief: bool,

    /// Print a line for each as it is made, until ^C
    #[arg(short, long, conflicts_with_all = ["all", "stats"])]
    pub(crate) follow: bool,

    /// Count them: what each hook decided, how long it took, and what it cost
    #[arg(long)]
    pub(crate) stats: bool,

    /// How to report; JSON has the line of the log for each decision
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// What to write
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub(crate) format: ReportFormat,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A page for a browser
    Html,
    /// A flat line of JSON for each decision, for jq, DuckDB and other programs
    Jsonl,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which decisions")]
pub(crate) struct FilterArgs {
    /// Those of all projects, not only of this one; always so with --file
    #[arg(long)]
    pub(crate) everywhere: bool,

    /// Those of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Those for which this hook ran
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Option<String>,

    /// Those of this event, by its name or a host's name for it
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// Those with this outcome
    #[arg(long, value_name = "DECISION", value_parser = DECISIONS)]
    pub(crate) decision: Option<String>,

    /// Those for events of this host
    #[arg(long, value_name = "HOST", value_parser = dialect_or_git())]
    pub(crate) host: Option<String>,

    /// Those since a time: `2h` ago, or 2026-01-31T09:30:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<String>,

    /// Those until a time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<String>,

    /// Those with a failure of a hook or of hookrun itself
    #[arg(long)]
    pub(crate) failed: bool,

    /// Those in this file, a recording for example, instead of the decision log; can be given
    /// several times, the oldest first
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
}

/// A time before now, or a moment, as the log writes times: texts in the order of the times.
fn moment(text: &str) -> Result<String, String> {
    if let Ok(ago) = duration(text) {
        return match SystemTime::now().checked_sub(ago) {
            Some(time) if time >= SystemTime::UNIX_EPOCH => Ok(logged(time)),
            _ => Err("that is before 1970, when nothing was kept".to_string()),
        };
    }
    for whole in [
        text.to_string(),
        format!("{text}Z"),
        format!("{text}T00:00:00Z"),
    ] {
        if let Ok(time) = humantime::parse_rfc3339_weak(&whole) {
            return Ok(logged(time));
        }
    }
    Err("write `2h`, `2026-01-31` or `2026-01-31T09:30:00Z` (UTC)".to_string())
}

fn logged(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}
