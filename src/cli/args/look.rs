//! The arguments of commands that show something.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::hosts::native;
use crate::lab::report::CheckFormat;
use clap::{Args, ValueEnum};

use super::options::{
    HooksArgs, SourceArgs, TextFormat, dialect_or_git, dialect_or_host, duration,
};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show this hook with all its settings
    #[arg(value_name = "HOOK")]
    pub(crate) name: Option<String>,

    /// Show only hooks of this event
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    #[command(flatten)]
    pub(crate) hooks: HooksArgs,

    /// The output format
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The command line, in quotes; read from stdin if omitted or `-`
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,

    /// The event whose hooks would run
    #[arg(long, value_name = "EVENT", default_value = "tool.pre")]
    pub(crate) event: String,

    /// The tool that runs the command, by the host's name for it [default: the host's shell]
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,

    #[command(flatten)]
    pub(crate) hooks: HooksArgs,

    /// The output format
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) hooks: HooksArgs,

    /// The output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// Show this event in full, with a sample context
    #[arg(value_name = "EVENT")]
    pub(crate) name: Option<String>,

    /// Show a host's events, with its names and rules
    #[arg(long = "host", value_name = "NAME", value_parser = dialect_or_host(), default_value = native::NAME, hide_default_value = true, hide_possible_values = true)]
    pub(crate) dialect: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// The output format
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// An event (by its name or a host's name for it), a file or a report [default: list all schemas]
    #[arg(value_name = "SCHEMA")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Recordings, decision logs or replay output, optionally compressed (gzip, zstd); read from
    /// stdin if omitted or `-`
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Write a line for each event, not only for changed decisions
    #[arg(long)]
    pub(crate) all: bool,

    /// Write statistics instead of lines
    #[arg(long, conflicts_with = "all")]
    pub(crate) summary: bool,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Exit with 0 even if some events could not be decided because they are incomplete
    /// (truncated in the decision log, or with a redacted secret)
    #[arg(long)]
    pub(crate) allow_undecided: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Show N decisions [default: 1, or 10 with -f]
    ///
    /// The newest comes last.
    #[arg(short = 'n', long = "number", value_name = "N")]
    pub(crate) number: Option<usize>,

    /// Show all decisions or, with -n, the newest N
    #[arg(long)]
    pub(crate) all: bool,

    /// Print one line for each decision
    #[arg(long, conflicts_with = "stats")]
    pub(crate) brief: bool,

    /// Print a line for each new decision, until ^C
    #[arg(short, long, conflicts_with_all = ["all", "stats"])]
    pub(crate) follow: bool,

    /// Print statistics for each hook: its decisions and its run time
    #[arg(long)]
    pub(crate) stats: bool,

    /// The output format; json prints the log's lines
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The output format
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
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Include decisions of all projects
    #[arg(long)]
    pub(crate) everywhere: bool,

    /// Only decisions of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Only decisions for which this hook ran
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Option<String>,

    /// Only decisions on this event, by its name or a host's name for it
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// Only decisions with this outcome
    #[arg(long, value_name = "DECISION", value_parser = ["allow", "block", "ask"])]
    pub(crate) decision: Option<String>,

    /// Only decisions on events of this host
    #[arg(long, value_name = "HOST", value_parser = dialect_or_git(), hide_possible_values = true)]
    pub(crate) host: Option<String>,

    /// Only decisions since a time: `2h` ago, `2026-01-31` or `2026-01-31T09:30:00Z`
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<String>,

    /// Only decisions until a time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<String>,

    /// Only decisions in which a hook or hookrun itself failed
    #[arg(long)]
    pub(crate) failed: bool,

    /// Read this file instead of the decision log; repeatable
    ///
    /// A recording, or a file of a decision log. Give the oldest first.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
}

/// Parses a duration before now, or a time, into the log's notation, which sorts by time.
fn moment(text: &str) -> Result<String, String> {
    if let Ok(ago) = duration(text) {
        return match SystemTime::now().checked_sub(ago) {
            Some(time) if time >= SystemTime::UNIX_EPOCH => Ok(logged(time)),
            _ => Err("the time is before 1970".to_string()),
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
    Err("use `2h`, `2026-01-31` or `2026-01-31T09:30:00Z` (UTC)".to_string())
}

fn logged(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}
