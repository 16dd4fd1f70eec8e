//! What the commands that show something take.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::hosts::native;
use crate::lab::export::{EXPORTS, ExportFormat};
use crate::lab::replay::Partition;
use crate::lab::report::CheckFormat;
use clap::{Arg, ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};

use super::options::{
    DECISIONS, HooksArgs, SourceArgs, TextFormat, dialect_or_host, duration, jobs,
};

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
    #[arg(long, visible_alias = "host", value_name = "NAME", value_parser = dialect_or_host(), default_value = native::NAME, hide_default_value = true)]
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
pub(crate) struct ManArgs {
    /// The folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
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

    /// Count another hook, reason, rewrite, output or context for the model as a change too, and not
    /// only another decision or a failure instead of a block
    #[arg(long)]
    pub(crate) strict: bool,

    /// Decisions of this hook may change: they are reported, and the exit status is 0; can be given
    /// several times
    #[arg(long, value_name = "HOOK")]
    pub(crate) allow_change: Vec<String>,

    /// Exit with 0 although some events could not be decided, because they were not kept whole (cut
    /// for the decision log, or with a replaced secret)
    #[arg(long)]
    pub(crate) allow_undecided: bool,

    /// Write a recording with today's outcomes to this file, for the next comparison
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    pub(crate) write: Option<PathBuf>,

    /// Decide one part of several, 3/8 for example: each event is in exactly one, chosen by a hash of
    /// its session, or of its context if it has none
    #[arg(long, value_name = "PART")]
    pub(crate) partition: Option<Partition>,

    /// Merge the reports of all parts into one
    #[arg(long, conflicts_with_all = [
        "named", "against", "strict", "allow_change", "allow_undecided", "write", "partition",
        "jobs",
    ])]
    pub(crate) merge: bool,

    /// How many events are decided at once; with 1 in the order of the recording [default: the
    /// processors]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// How many findings to show; the rest is counted. JSON has all of them
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) most: u64,

    /// How to report; JSON has a line for each finding
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// How many decisions, the newest first [default: 1]
    #[arg(short = 'n', long = "number", value_name = "N", value_parser = number)]
    pub(crate) number: Option<usize>,

    /// All of them; with -n only the newest
    #[arg(long)]
    pub(crate) all: bool,

    /// Print a line for each instead of a page
    #[arg(long, conflicts_with = "stats")]
    pub(crate) brief: bool,

    /// Count them: what each hook decided, how long it took, and what it cost
    #[arg(long)]
    pub(crate) stats: bool,

    /// How to report; JSON has the line of the log for each decision
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Write a page for the browser to this file
    #[arg(value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) exports: ExportArgs,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// The files for other programs: an option for each format of [`EXPORTS`].
#[derive(Debug)]
pub(crate) struct ExportArgs {
    pub(crate) files: Vec<ExportFile>,
}

#[derive(Debug)]
pub(crate) struct ExportFile {
    pub(crate) format: &'static ExportFormat,
    pub(crate) file: PathBuf,
}

impl Args for ExportArgs {
    fn augment_args(command: Command) -> Command {
        let option = |format: &ExportFormat| {
            let option = Arg::new(format.name).long(format.name).value_name("FILE");
            option
                .value_parser(value_parser!(PathBuf))
                .help(format.summary)
        };
        let names = EXPORTS.iter().map(|format| format.name).chain(["html"]);
        let outputs = ArgGroup::new("outputs")
            .args(names)
            .required(true)
            .multiple(true);
        let heading = "For other programs; `-` is stdout";
        command
            .next_help_heading(heading)
            .args(EXPORTS.iter().map(option))
            .group(outputs)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ExportArgs::augment_args(command)
    }
}

impl FromArgMatches for ExportArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ExportArgs, Error> {
        let wanted = |format: &'static ExportFormat| {
            let file = matches.get_one::<PathBuf>(format.name)?.clone();
            Some(ExportFile { format, file })
        };
        Ok(ExportArgs {
            files: EXPORTS.iter().filter_map(wanted).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = ExportArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Show so many decisions of the past first
    #[arg(short = 'n', long = "number", value_name = "N", default_value_t = 10)]
    pub(crate) number: usize,

    /// How to report; JSON has the line of the log for each decision
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
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
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,

    /// Those since a time: `2h` ago, or 2026-01-31T09:30:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<SystemTime>,

    /// Those until a time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<SystemTime>,

    /// Those with a failure of a hook or of hookrun itself
    #[arg(long)]
    pub(crate) failed: bool,

    /// Those in this file, a recording for example, instead of the decision log; can be given
    /// several times, the newest first
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
}

fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("write a number from 1 on".to_string()),
    }
}

/// A time before now, or a moment.
fn moment(text: &str) -> Result<SystemTime, String> {
    if let Ok(before) = duration(text) {
        let moment = SystemTime::now().checked_sub(before);
        let moment = moment.filter(|moment| *moment >= SystemTime::UNIX_EPOCH);
        return moment.ok_or_else(|| "that is before 1970, when nothing was kept".to_string());
    }
    let whole = [
        text.to_string(),
        format!("{text}Z"),
        format!("{text}T00:00:00Z"),
    ];
    let found = whole
        .iter()
        .find_map(|text| humantime::parse_rfc3339_weak(text).ok());
    found.ok_or_else(|| "write `2h`, `2026-01-31` or `2026-01-31T09:30:00Z` (UTC)".to_string())
}
