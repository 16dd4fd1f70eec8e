//! What was written on the command line. Nothing is looked at and nothing is done here.

mod hidden;
mod hosts;
mod inside;
mod new;
mod replay;
mod suites;
mod vectors;
mod why;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::dialects::{DIALECTS, git, native};
use crate::lab::report::CheckFormat;
use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

pub(crate) use hidden::{ActArgs, HiddenCommand, KeepArgs, SuperviseArgs};
pub(crate) use hosts::{DoctorArgs, InstallArgs, PlaceArgs, SettingsScope, UninstallArgs};
pub(crate) use inside::{Dialog, EntryFormat, SendArgs, StateAction, StateArgs, UiArgs};
pub(crate) use new::NewArgs;
pub(crate) use replay::ReplayArgs;
pub(crate) use suites::SuiteArgs;
pub(crate) use vectors::VectorArgs;
pub(crate) use why::{FilterArgs, WhyArgs};

use crate::cli::sink::OutputShape;

/// Runs hooks: small programs that run before or after an action and can block it.
#[derive(Debug, Parser)]
#[command(name = "hookrun", version, about, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,

    /// Log to stderr what hookrun does: error, warn, info, debug or trace; also by HOOKRUN_LOG
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide an event: exit 0 allows, 2 blocks
    #[command(
        after_help = "Exit status: 0 allowed; 2 blocked, or hookrun itself failed. For git 1 blocks, and hooks that cannot block anything in git end with 0."
    )]
    Run(RunArgs),
    /// Play the project's suite, or decide one event and show everything
    #[command(
        alias = "try",
        after_help = "Exit status: 0 allowed, 1 blocked or asked, 2 could not decide. With an expectation, for a suite and with --conformance: 0 passed, 1 failed, 2 could not run. An event that is named here is really decided: its hooks run with the state and messages of its session. A suite has its own folders. hookrun-suite(5) describes the files of cases."
    )]
    Test(TestArgs),
    /// Explain what was decided here: the last decision, or others
    #[command(
        alias = "log",
        after_help = "Exit status: 0 there are such decisions, 1 there are none, 2 they cannot be read. Decisions are those of `hookrun run`; HOOKRUN_DECISIONS=off keeps none."
    )]
    Why(WhyArgs),
    /// Decide recorded events again, and show what is decided otherwise
    #[command(
        after_help = "The hooks really run, as when the events were recorded: what they do elsewhere they do again, unless they look at HOOKRUN_REPLAY, which is 1. State is kept in a temporary folder, nothing is logged, no question reaches a person, replay waits for hooks that otherwise run in the background, and an agent's stop is blocked as often as hooks block it. Events of a session are not decided in their order, except with --jobs 1.

Exit status: 0 all is as recorded, or as it may be; 1 something has changed; 2 not everything could be decided: a file or line that cannot be read, an event that was not kept whole, hooks with errors."
    )]
    Replay(ReplayArgs),
    /// Show the hooks of every event, in the order in which they run
    #[command(
        alias = "ls",
        after_help = "Exit status: 0 shown, 1 with errors in the configuration, 2 it could not be."
    )]
    List(ListArgs),
    /// Show one hook with all its settings
    #[command(after_help = "Exit status: 0 shown, 2 it could not be.")]
    Show(ShowArgs),
    /// Check all hooks and their configuration
    #[command(
        aliases = ["check", "lint", "verify"],
        after_help = "Exit status: 0 no errors (there may be warnings), 1 errors, 2 could not check."
    )]
    Validate(ValidateArgs),
    /// Write a hook to begin with, and its first cases
    #[command(
        after_help = "Exit status: 0 written, or printed; 2 it could not be. Nothing is ever written over."
    )]
    New(NewArgs),
    /// Show the events, or one event in full
    #[command(after_help = "Exit status: 0 shown, 2 it could not be.")]
    Events(EventsArgs),
    /// Print the JSON Schema of an event's context and of the result
    Schema(SchemaArgs),
    /// Print one value of the JSON document on stdin
    #[command(after_help = "Exit status: 0 printed, 1 no such value, 2 no JSON object on stdin.")]
    Field(FieldArgs),
    /// Ask the person at the terminal, or show them something, from inside a hook
    #[command(
        disable_help_subcommand = true,
        after_help = "Exit status: 0 answered, 1 no answer: the person cancelled, it came too late, or there is no terminal; 2 a mistake. For `confirm` 0 is yes and 1 everything else. `notify` and `status` are 0 even without a terminal."
    )]
    Ui(UiArgs),
    /// Send a message into the session, or print those that wait
    #[command(
        after_help = "Exit status: 0 sent, or printed; 2 it could not be. A host that embeds hookrun may take the message at once; for every other host it waits until `send --take`."
    )]
    Send(SendArgs),
    /// Keep texts for later runs of a hook, from inside it
    #[command(
        disable_help_subcommand = true,
        after_help = "Exit status: 0 done, 1 there is no such key, 2 it could not be done. Texts are kept for each session and hook, with --shared for each session."
    )]
    State(StateArgs),
    /// Make a host run hookrun, by its own settings
    #[command(
        after_help = "Exit status: 0 done, or nothing to do; 2 it could not be done. The hooks call hookrun by its whole path, so all users of the file need it there. `uninstall` puts back what was there."
    )]
    Install(InstallArgs),
    /// Take hookrun out of a host's settings again
    #[command(after_help = "Exit status: 0 done, or nothing to do; 2 it could not be done.")]
    Uninstall(UninstallArgs),
    /// Check that hosts really reach hookrun, and hooks really their events
    #[command(
        after_help = "Exit status: 0 no errors (there may be warnings), 1 errors, 2 could not check."
    )]
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "The script runs hookrun at each TAB: it completes events, the hooks of this project, hosts and pages as well. Load it when the shell starts, as in the examples, so that it is always the script of this version."
    )]
    Completions(CompletionsArgs),
    /// Print a manual page
    Man(ManArgs),
    /// Supervise the hooks of a detached event; started by `run`
    #[command(hide = true)]
    Supervise(SuperviseArgs),
    /// End the hooks of a run that was killed; started by `run` and `test`
    #[command(hide = true)]
    Keep(KeepArgs),
    /// Do what a settings file asks for; a hook
    #[command(hide = true)]
    Act(ActArgs),
}

impl Command {
    /// What it writes on stdout.
    pub(crate) fn shape(&self) -> OutputShape {
        match self {
            Command::Test(args) => args.format.into(),
            Command::Why(args) => args.format.shape(),
            Command::Replay(args) => args.format.into(),
            Command::List(args) => args.format.shape(),
            Command::Show(args) => args.format.shape(),
            Command::Events(args) => args.format.shape(),
            Command::Validate(args) => args.format.into(),
            Command::Doctor(args) => args.format.into(),
            Command::New(args) if args.dry_run => OutputShape::Lines,
            Command::Install(args) if args.place.dry_run => OutputShape::Lines,
            Command::Uninstall(args) if args.place.dry_run => OutputShape::Lines,
            Command::New(_) | Command::Install(_) | Command::Uninstall(_) => OutputShape::People,
            Command::Schema(_) => OutputShape::Json,
            Command::Run(_)
            | Command::Field(_)
            | Command::Ui(_)
            | Command::Send(_)
            | Command::State(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Supervise(_)
            | Command::Keep(_)
            | Command::Act(_) => OutputShape::Values,
        }
    }
}

/// Where hooks come from.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(group = ArgGroup::new("named").args(["hooks", "settings"]).multiple(true))]
pub(crate) struct SourceArgs {
    /// Use the hooks in this folder instead of those of the system, the user and the project
    ///
    /// A folder with hooks.d/ or hookrun.toml, or a hooks.d itself, or a script that says its event
    /// itself. Can be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) hooks: Vec<PathBuf>,

    /// Use the hooks in this settings file of a host instead
    ///
    /// settings.json and hooks.json of Claude Code, Codex, Gemini CLI, Cursor and Copilot CLI,
    /// Codex's config.toml, the agent.json of a profile, or pi's settings.json. Where it is not
    /// clear whose it is, name the host before it: claude:FILE. Can be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,

    /// With --hooks or --settings: use those of the system, the user and the project as well
    #[arg(long, requires = "named")]
    pub(crate) discover: bool,
}

#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct RunArgs {
    /// The event, by its name or a host's name for it; may be left out where the context names it
    pub(crate) event: Option<String>,

    /// What git gives its hook, after `--`; only for --host git
    #[arg(value_name = "ARG")]
    pub(crate) arguments: Vec<OsString>,

    /// Whose words the event and the reply are in: a host or a hook system; git's hooks have
    /// arguments, lines on stdin and an exit status. Without it and without an event the host is
    /// recognised from the context, and where that is not certain the event is blocked
    #[arg(long, visible_alias = "host", value_name = "NAME", value_parser = dialect_or_git())]
    pub(crate) dialect: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Block unless this hook is bound to the event, or with `any` unless some hook is; can be given
    /// several times
    #[arg(long, value_name = "HOOK")]
    pub(crate) require: Vec<String>,

    /// How long everything may take; then the event is blocked [default: what the host waits, less
    /// a margin, where that is known]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) budget: Option<Duration>,

    /// How long to wait for the event on stdin, within the budget
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    pub(crate) stdin_timeout: Duration,

    /// How many hooks may run at once [default: twice the processors, at most 16]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// Append the event and what was decided to this file, as one line of JSON without its
    /// secrets; also by HOOKRUN_RECORD
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// What to print: the reply for the host, or a full report
    #[arg(long, value_enum, default_value_t = RunFormat::Reply)]
    pub(crate) format: RunFormat,
}

impl RunArgs {
    /// Whose words they are where an event is named.
    pub(crate) fn host(&self) -> &str {
        self.dialect.as_deref().unwrap_or(native::NAME)
    }
}

impl TestArgs {
    /// Whether something is asked for that only several cases have.
    pub(crate) fn is_suite(&self) -> bool {
        let of_cases = [CheckFormat::Junit, CheckFormat::Tap, CheckFormat::Github];
        let is_alone = self.event.is_none() && !self.is_about_one_event();
        self.suite.are_given()
            || is_alone
                && (of_cases.contains(&self.format)
                    || self.vectors.filter.is_some()
                    || self.vectors.jobs.is_some())
    }

    /// Whether something is asked for that only one event has.
    pub(crate) fn is_about_one_event(&self) -> bool {
        self.dialect.is_some()
            || self.command.is_some()
            || self.expect.is_some()
            || self.expect_reason.is_some()
            || self.budget.is_some()
    }

    /// Whose words they are where an event is named.
    pub(crate) fn host(&self) -> &str {
        self.dialect.as_deref().unwrap_or(native::NAME)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunFormat {
    /// The structured result, if there is anything to say
    Reply,
    /// One JSON document with everything that happened, reminders included
    Json,
    /// Annotations of GitHub Actions: what hooks found in which line, and why the event is blocked;
    /// the last line says what was decided. No block has the status 0, and nothing on stderr is a
    /// command
    Github,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Decide this event, by its name or a host's name for it, and show everything. Without it
    /// the project's suite is played, unless the context of an event that names itself is on stdin
    pub(crate) event: Option<String>,

    #[command(flatten)]
    pub(crate) suite: SuiteArgs,

    #[command(flatten)]
    pub(crate) vectors: VectorArgs,

    /// Whose words the event and the reply are in: a host or a hook system. Without it and without
    /// an event the host is recognised from the context
    #[arg(long, visible_alias = "host", value_name = "NAME", value_parser = dialect_name())]
    pub(crate) dialect: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Run only this hook, or of the suite only cases that may run it; can be given several times
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Vec<String>,

    /// Run this command instead of the hooks that are configured; with --conformance: the runner
    /// to try, with {host}, {event}, {hooks} and {arguments} in it
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["hooks", "settings", "hook"])]
    pub(crate) command: Option<String>,

    /// Run --command by `sh -c`
    #[arg(long, requires = "command")]
    pub(crate) shell: bool,

    /// What must come out; the exit status then says whether it did
    #[arg(long, value_enum, value_name = "DECISION")]
    pub(crate) expect: Option<Expected>,

    /// A regular expression that the reason or the question must match
    #[arg(long, value_name = "REGEX")]
    pub(crate) expect_reason: Option<String>,

    /// How long everything may take; then the event is blocked [default: what the host waits, less
    /// a margin, where that is known]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) budget: Option<Duration>,

    /// How long to wait for the event on stdin
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    pub(crate) stdin_timeout: Duration,

    /// How to report; junit and tap only of several cases
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Expected {
    Allow,
    Block,
    Ask,
}

impl Expected {
    /// The word for it in reports.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Expected::Allow => "allow",
            Expected::Block => "block",
            Expected::Ask => "ask",
        }
    }
}

/// The formats of most commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// For people
    Human,
    /// For programs
    Json,
}

impl TextFormat {
    fn shape(self) -> OutputShape {
        match self {
            TextFormat::Human => OutputShape::People,
            TextFormat::Json => OutputShape::Json,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only the hooks of this event
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// See the hooks as a host of this hook system does: it has its own folders, and one hook
    /// may shadow another there
    #[arg(long, visible_alias = "host", value_name = "NAME", value_parser = dialect_name(), default_value = "native", hide_default_value = true)]
    pub(crate) dialect: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// How to report
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The hook's name
    #[arg(value_name = "HOOK")]
    pub(crate) name: String,

    /// See the hooks as a host of this hook system does: it has its own folders, and one hook
    /// may shadow another there
    #[arg(long, visible_alias = "host", value_name = "NAME", value_parser = dialect_name(), default_value = "native", hide_default_value = true)]
    pub(crate) dialect: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// How to report
    #[arg(long, value_enum, default_value_t = TextFormat::Human)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// See the hooks as a host of this hook system does: it has its own folders, and one hook
    /// may shadow another there
    #[arg(long, visible_alias = "host", value_name = "NAME", value_parser = dialect_name(), default_value = "native", hide_default_value = true)]
    pub(crate) dialect: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

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
    #[arg(long, visible_alias = "host", value_name = "NAME", value_parser = dialect_name(), default_value = "native", hide_default_value = true)]
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
pub(crate) struct FieldArgs {
    /// The path of the value, with dots: toolInput.command, messages.0.role
    pub(crate) path: String,

    /// Print this when there is no such value
    #[arg(long, value_name = "TEXT")]
    pub(crate) default: Option<String>,

    /// Print the value as text, or as JSON
    #[arg(long, value_enum, default_value_t = FieldFormat::Text)]
    pub(crate) format: FieldFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FieldFormat {
    /// Strings without quotes, everything else as compact JSON
    Text,
    /// Compact JSON
    Json,
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

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    crate::engine::hook::parse_duration(text)
}

pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs) if (1..=256).contains(&jobs) => Ok(jobs),
        _ => Err("write a number from 1 to 256".to_string()),
    }
}

/// The names of the dialects; another name for one is taken too.
fn dialect_name() -> clap::builder::PossibleValuesParser {
    names_of_dialects().into()
}

/// The names of the dialects and of git, which has none.
fn dialect_or_git() -> clap::builder::PossibleValuesParser {
    let mut names = names_of_dialects();
    names.push(PossibleValue::new(git::NAME));
    names.into()
}

fn names_of_dialects() -> Vec<PossibleValue> {
    let known = DIALECTS
        .iter()
        .map(|dialect| PossibleValue::new(dialect.name).aliases(dialect.aliases.iter().copied()));
    std::iter::once(PossibleValue::new("native")).chain(known).collect()
}
