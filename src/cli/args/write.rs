//! The arguments of `test`, and of commands that write or set up something.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::hosts::native;
use crate::lab::report::CheckFormat;
use clap::{ArgGroup, Args, Subcommand, ValueEnum, ValueHint};
use regex::Regex;

use super::options::{
    SourceArgs, TextFormat, agent_name, dialect_name, digest, duration, installable_name, jobs,
};
use crate::cli::streams::OutputShape;

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Decide this event, and show each step; without an event, run the project's test suite
    ///
    /// The event's name, or a host's name for it; or the file of an event, `NAME.json`. With EVENT,
    /// at a terminal or with `< /dev/null`, the event's sample is used. Without EVENT, an event on
    /// stdin is decided if its context names or identifies it. The event's hooks really run, with the
    /// state and messages of its session; a suite uses temporary folders.
    pub(crate) event: Option<String>,

    /// The file with the event [default: stdin]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) suite: SuiteArgs,

    /// The sender of the event and reader of the reply [default: native, or detected without EVENT]
    #[arg(long = "host", value_name = "NAME", value_parser = dialect_name(), hide_possible_values = true)]
    pub(crate) dialect: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Run only this hook; in a suite, only the cases that can run it; repeatable
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Vec<String>,

    /// The time limit, after which the event is blocked [default: the host's, minus a margin]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) budget: Option<Duration>,

    /// How long to wait for the event on stdin
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration, hide_short_help = true)]
    pub(crate) stdin_timeout: Duration,

    /// The output format; junit only for suites
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}

impl TestArgs {
    /// The file with the event; it may be the only argument.
    pub(crate) fn event_file(&self) -> Option<&Path> {
        let only = self.event.as_ref().filter(|event| event.ends_with(".json"));
        self.file.as_deref().or(only.map(Path::new))
    }

    /// The event that the command line names.
    pub(crate) fn event_name(&self) -> Option<&str> {
        let event = self.event.as_deref();
        event.filter(|event| self.file.is_some() || !event.ends_with(".json"))
    }

    /// The host on the command line, by default native.
    pub(crate) fn host(&self) -> &str {
        self.dialect.as_deref().unwrap_or(native::NAME)
    }
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("suites")
    .args(["suite", "coverage", "filter", "jobs"])
    .multiple(true)
    .conflicts_with_all(["event", "file", "dialect", "budget"]))]
pub(crate) struct SuiteArgs {
    /// Run the cases in these files and folders [default: the project's]
    #[arg(long, value_name = "PATHS", num_args = 0..)]
    pub(crate) suite: Option<Vec<PathBuf>>,

    /// Show what the cases do not test; with a percentage, exit with 1 if coverage is lower
    ///
    /// If every case passes, hookrun shows the hooks that never ran, never blocked or never allowed,
    /// and the untested matchers and settings.
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, value_parser = percent)]
    pub(crate) coverage: Option<Option<u8>>,

    /// Run only the cases whose names match
    #[arg(long, value_name = "REGEX")]
    pub(crate) filter: Option<Regex>,

    /// How many cases run in parallel [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// Run only the first cases of each file: for `init`, which must not take long
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) first: Option<usize>,
}

impl SuiteArgs {
    /// Whether an option for suites is given.
    pub(crate) fn are_given(&self) -> bool {
        self.suite.is_some()
            || self.coverage.is_some()
            || self.filter.is_some()
            || self.jobs.is_some()
            || self.first.is_some()
    }
}

fn percent(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(percent) if percent <= 100 => Ok(percent),
        _ => Err("use a whole number from 0 to 100".to_string()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct WritePlace {
    /// Write into this folder instead of the project's; created if missing
    ///
    /// A folder with hooks.d/ or hookrun.toml, or a hooks.d folder itself.
    #[arg(long, value_name = "DIR")]
    pub(crate) hooks: Option<PathBuf>,

    /// Print the files, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The name of the hook, with or without file extension
    pub(crate) name: String,

    /// The event of the hook: its name, a host's name for it, or `command.NAME`
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// The language of the hook: sh, bash or python [default: from the name's extension, else sh]
    #[arg(long, value_name = "LANG")]
    pub(crate) lang: Option<String>,

    #[command(flatten)]
    pub(crate) place: WritePlace,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Install into this host, instead of all hosts found; repeatable
    #[arg(long, value_name = "HOST", value_parser = agent_name())]
    pub(crate) host: Vec<String>,

    /// Add this hook, gate or rule from `hookrun add --list` instead of the usual guards; `none` adds
    /// nothing; repeatable
    #[arg(long, value_name = "NAMES")]
    pub(crate) guard: Vec<String>,

    /// Set up your user configuration, for all projects, instead of this project
    #[arg(long)]
    pub(crate) user: bool,

    /// Do not ask before writing
    #[arg(long)]
    pub(crate) yes: bool,

    /// List the files, and write nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The tool to import from
    pub(crate) tool: String,

    /// The tool's file [default: its files in the project]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) place: WritePlace,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The hooks, gates or rules to add; --list shows their names
    #[arg(value_name = "NAMES")]
    pub(crate) names: Vec<String>,

    /// List hooks, gates for CI and rules, one per line
    #[arg(long, conflicts_with_all = ["names", "dry_run"])]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) place: WritePlace,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("instead")
    .args(["show", "revoke", "follow", "digest"]))]
pub(crate) struct TrustArgs {
    /// Show the hooks, their files, the digest and the changes; exit 0 if trusted
    #[arg(long)]
    pub(crate) show: bool,

    /// Revoke all trust in this repository
    #[arg(long)]
    pub(crate) revoke: bool,

    /// Trust the hooks on this remote branch, such as `origin/main`, as of the last fetch
    #[arg(long, value_name = "BRANCH")]
    pub(crate) follow: Option<String>,

    /// Trust the hooks if they have this digest, without asking
    #[arg(long, value_name = "DIGEST", value_parser = digest)]
    pub(crate) digest: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Install for every event of the host, even events without hooks; implied by `--scope user`
    #[arg(long)]
    pub(crate) all_events: bool,

    /// Only for git: the time limit for a whole run, after which hookrun blocks, if git allows it
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The host
    #[arg(value_parser = installable_name())]
    pub(crate) host: Option<String>,

    /// The settings to change [default: project, or user if the host has no project settings]
    #[arg(long, value_enum)]
    pub(crate) scope: Option<SettingsScope>,

    /// Print the changes as a unified diff, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsScope {
    /// The settings that the project shares
    Project,
    /// Your settings in this project, not committed
    Local,
    /// Your settings, in every project
    User,
}

impl SettingsScope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            SettingsScope::Project => "project",
            SettingsScope::Local => "local",
            SettingsScope::User => "user",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Check only this host
    #[arg(value_parser = installable_name())]
    pub(crate) host: Option<String>,

    /// The output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}

#[derive(Debug, Args)]
pub(crate) struct SetsArgs {
    #[command(subcommand)]
    pub(crate) action: SetsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SetsAction {
    /// Declare a set in hookrun.toml, fetch it and lock it
    Add(AddedSet),
    /// Fetch the declared revisions, and lock them
    Update(UpdatedSets),
    /// Check the files of all locked sets, and fetch missing ones; the lock does not change
    Verify,
    /// Show which locked sets of these projects are outdated; exit with 1 if any is
    Outdated(OutdatedSets),
    /// Show the sets, and whether they are usable
    List {
        /// The output format
        #[arg(long, value_enum, default_value_t = TextFormat::Human)]
        format: TextFormat,
    },
}

impl SetsAction {
    pub(crate) fn shape(&self) -> OutputShape {
        match self {
            SetsAction::List { format } => format.shape(),
            SetsAction::Outdated(args) if args.json => OutputShape::Json,
            SetsAction::Add(_) | SetsAction::Update(_) => OutputShape::People,
            SetsAction::Verify | SetsAction::Outdated(_) => OutputShape::People,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct AddedSet {
    /// The set's name in this project
    pub(crate) name: String,

    /// Its repository: an https, ssh, git or file URL, or a path
    #[arg(long, value_name = "URL", allow_hyphen_values = true)]
    pub(crate) git: String,

    /// A tag, a branch or a full commit id
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    pub(crate) rev: String,

    /// Require a commit signature that `git verify-commit` accepts
    #[arg(long)]
    pub(crate) signed: bool,

    /// Declare it in your own hookrun.toml, for all projects
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutdatedSets {
    /// Folders of projects [default: the working directory]
    #[arg(value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UpdatedSets {
    /// Only this set [default: all sets whose lock you can write]
    #[arg(value_name = "SET")]
    pub(crate) name: Option<String>,

    /// Accept a tag that was moved to another commit
    #[arg(long)]
    pub(crate) moved: bool,
}
