//! The words of the command line. Nothing is read and nothing is done here.

mod hosts;
mod inside;
mod look;
mod options;
mod run;
mod sets;
mod write;

use clap::{Parser, Subcommand};

pub(crate) use hosts::{DoctorArgs, InstallArgs, PlaceArgs, SettingsScope};
pub(crate) use inside::{Dialog, FieldArgs, HookCommand, SendArgs, StateAction, StateArgs};
pub(crate) use look::{
    EventsArgs, ExplainArgs, FilterArgs, ListArgs, ReplayArgs, ReportArgs, ReportFormat,
    SchemaArgs, ValidateArgs, WhyArgs,
};
pub(crate) use options::{SourceArgs, TextFormat, digest, duration, jobs};
pub(crate) use run::{RunArgs, RunFormat, ServeArgs, SuperviseArgs};
pub(crate) use sets::{AddedSet, SetsAction, SetsArgs, UpdatedSets};
pub(crate) use write::{AddArgs, ImportArgs, InitArgs, NewArgs, TestArgs, TrustArgs};

use crate::cli::streams::{Color, OutputShape};

/// Runs hooks: small programs that run before or after an action and can block it.
#[derive(Debug, Parser)]
#[command(
    name = "hookrun",
    version,
    about,
    max_term_width = 80,
    after_help = "Examples:
  hookrun init                           guard the agents here
  hookrun new guard --event tool.pre     write a first hook, with its test cases
  hookrun test                           play the project's suite
  hookrun why                            explain the last decision here"
)]
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide an event: exit 0 allows, 2 blocks
    #[command(
        after_help = "Exit status: 0 allowed; 2 blocked, or hookrun itself failed. For git 1 blocks, and hooks that cannot block anything in git end with 0.

Examples:
  hookrun run tool.pre < event.json
  hookrun run --host claude
  hookrun run plan.pre --hooks gates --format github < plan.json"
    )]
    Run(RunArgs),
    /// Play the project's suite, or decide one event and show everything
    #[command(
        alias = "try",
        after_help = "Exit status: 0 allowed, 1 blocked or asked, 2 could not decide. With an expectation and for a suite: 0 passed, 1 failed, 2 could not run. An event that is named here is really decided: its hooks run with the state and messages of its session. A suite has its own folders. hookrun-suite(5) describes the files of cases.

Examples:
  hookrun test
  hookrun test tool.pre < event.json
  hookrun test --coverage"
    )]
    Test(TestArgs),
    /// Stay, and decide what programs ask: on stdin, over HTTP, as an MCP server
    #[command(
        after_help = "Each answer is the one that `hookrun run` gives, with hooks and settings as they are at that time. It ends when stdin does, or by a signal; hooks that still run then end too. Exit status: 0 ended, 2 a door could not be opened.

Examples:
  hookrun serve --stdio
  hookrun serve --mcp --host claude"
    )]
    Serve(ServeArgs),
    /// Explain decisions: the last one here, or others
    #[command(
        alias = "log",
        after_help = "Exit status: 0 there are such decisions, 1 there are none, 2 they cannot be read. Decisions are those of `hookrun run` and `hookrun serve`; HOOKRUN_DECISIONS=off keeps none.

Examples:
  hookrun why
  hookrun why --decision block -n 5
  hookrun why --all --brief --since 2h"
    )]
    Why(WhyArgs),
    /// Make a page of what was decided, or files for other programs
    #[command(
        override_usage = "hookrun report [OPTIONS] >FILE.html",
        after_help = "Exit status: 0 written, 1 there are no such decisions, 2 it could not be. The page is one file and needs no network. Secrets are replaced, also those that only today's configuration knows. The same decisions make the same bytes.

Examples:
  hookrun report >report.html
  hookrun report --since 7d --everywhere >week.html"
    )]
    Report(ReportArgs),
    /// Decide recorded events again, and show which decisions change
    #[command(
        after_help = "The hooks really run, as when the events were recorded: what they do elsewhere they do again, unless they look at HOOKRUN_REPLAY, which is 1. State is kept in a temporary folder, nothing is logged, no question reaches a person, replay waits for hooks that otherwise run in the background, and an agent's stop is blocked as often as hooks block it. Events of a session are not decided in their order, except with --jobs 1.

Exit status: 0 all is as recorded, or as it may be; 1 something has changed; 2 not everything could be decided: a file or line that cannot be read, an event that was not kept whole, hooks with errors.

Examples:
  hookrun replay events.jsonl"
    )]
    Replay(ReplayArgs),
    /// Show the hooks of every event, in the order in which they run, or one hook in full
    #[command(
        alias = "ls",
        after_help = "Exit status: 0 shown, 1 with errors in the configuration, 2 it could not be."
    )]
    List(ListArgs),
    /// Show what a command line would run, and which hooks would run for it
    #[command(after_help = "Exit status: 0 shown, 2 it could not be. Nothing is run.

Examples:
  hookrun explain 'cd x && sudo rm -rf \"$y\"'
  hookrun explain < deploy.sh")]
    Explain(ExplainArgs),
    /// Check all hooks and their configuration
    #[command(
        aliases = ["check", "lint", "verify"],
        after_help = "Exit status: 0 no errors (there may be warnings), 1 errors, 2 could not check."
    )]
    Validate(ValidateArgs),
    /// Guard the agents here: hooks with their cases, and the hosts that ask them
    #[command(
        after_help = "Exit status: 0 all is well, or only listed; 1 the hooks or their cases failed, or you said no; 2 it could not be. What `doctor` finds is shown and does not count, as a host may wait for you to accept its hooks. Every file is listed before it is written. Without a terminal it writes only with --yes.

Examples:
  hookrun init
  hookrun init --user --host claude --yes"
    )]
    Init(InitArgs),
    /// Write a first hook with its first cases
    #[command(
        after_help = "Exit status: 0 written, or printed; 2 it could not be. Nothing is ever written over.

Examples:
  hookrun new guard --event tool.pre
  hookrun new wip --event commit.msg --lang python"
    )]
    New(NewArgs),
    /// Add hooks, gates and rules that hookrun has in it, with their cases
    #[command(
        after_help = "Exit status: 0 added, printed, or nothing differs; 1 something differs and was left as it is; 2 it could not be. Nothing is written over but by --update.

Examples:
  hookrun add --list
  hookrun add guard-destructive no-sudo"
    )]
    Add(AddArgs),
    /// Use hooks that others share: declared, locked, verified
    #[command(
        disable_help_subcommand = true,
        after_help = "Exit status: 0 done, 1 a set cannot be used, 2 it could not be done. Only `add`, `update` and `verify` fetch anything; a set that is not on this machine blocks every gate until `verify` has fetched it."
    )]
    Sets(SetsArgs),
    /// Let the hooks of this project run, once you have seen them
    #[command(
        after_help = "Hooks that came with a project do not run before you trust them: events that they would decide are blocked. What counts is the content of hookrun.toml, of the files in hooks.d and of those that commands name, without comments in hookrun.toml and without tests, together with the repository: all its work trees share it, and content that was trusted once stays trusted.

Exit status: 0 trusted, or done; 1 not trusted; 2 it could not be. It wants a person at a terminal, except with --digest, --show and --revoke.

Examples:
  hookrun trust
  hookrun trust --show"
    )]
    Trust(TrustArgs),
    /// Carry the hooks of another tool over into hookrun.toml
    #[command(
        after_help = "Exit status: 0 carried over, printed, or here already; 2 it could not be. What could not be carried over is named, with the reason. The files of the other tool stay as they are. At a terminal it then asks whether the hooks may run, as `hookrun trust` does.

Examples:
  hookrun import pre-commit --dry-run"
    )]
    Import(ImportArgs),
    /// Show the events, or one event in full
    #[command(after_help = "Exit status: 0 shown, 2 it could not be.")]
    Events(EventsArgs),
    /// Print the JSON Schema of an event, of a file that you write, or of a report
    #[command(after_help = "Exit status: 0 printed, 2 it could not be.")]
    Schema(SchemaArgs),
    /// What hooks call while they run: read the event, ask the person, keep texts
    #[command(disable_help_subcommand = true)]
    Hook {
        #[command(subcommand)]
        command: HookCommand,
    },
    /// Make a host run hookrun, in its own settings
    #[command(
        after_help = "Without a host and without --all it lists the hosts that are found here. Exit status: 0 done, or nothing to do; 2 it could not be done. In a project the command finds hookrun in PATH or where cargo, npm and uv install it, so the file can be committed. `uninstall` puts back what was there.

Examples:
  hookrun install claude
  hookrun install git"
    )]
    Install(InstallArgs),
    /// Remove hookrun from a host's settings
    #[command(after_help = "Exit status: 0 done, or nothing to do; 2 it could not be done.")]
    Uninstall(PlaceArgs),
    /// Check that hosts reach hookrun, and events their hooks
    #[command(
        after_help = "Exit status: 0 no errors (there may be warnings), 1 errors, 2 could not check."
    )]
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  source <(hookrun completions bash)     in ~/.bashrc
  source <(hookrun completions zsh)      in ~/.zshrc, below compinit
  hookrun completions fish | source      in ~/.config/fish/config.fish")]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Supervise the hooks of a detached event; started by `run`
    #[command(hide = true)]
    Supervise(SuperviseArgs),
    /// End the hooks of a run that was killed; started by `run` and `test`
    #[command(hide = true)]
    Keep { mark: String },
    /// Keep interpreters for hooks that start warm; started by `run`
    #[command(hide = true)]
    Helper,
}

impl Command {
    pub(crate) fn shape(&self) -> OutputShape {
        match self {
            Command::Test(args) => args.format.into(),
            Command::Why(args) => args.format.shape(),
            Command::Report(_) => OutputShape::Json,
            Command::Replay(args) => args.format.shape(),
            Command::List(args) => args.format.shape(),
            Command::Explain(args) => args.format.shape(),
            Command::Events(args) => args.format.shape(),
            Command::Validate(args) => args.format.into(),
            Command::Doctor(args) => args.format.into(),
            Command::Add(args) if args.list => args.format.shape(),
            Command::New(NewArgs { dry_run: true, .. })
            | Command::Import(ImportArgs { dry_run: true, .. })
            | Command::Add(AddArgs { dry_run: true, .. } | AddArgs { update: true, .. }) => {
                OutputShape::Lines
            }
            Command::Install(args) if args.place.dry_run => OutputShape::Lines,
            Command::Uninstall(args) if args.dry_run => OutputShape::Lines,
            Command::Init(_)
            | Command::New(_)
            | Command::Add(_)
            | Command::Trust(_)
            | Command::Import(_)
            | Command::Install(_)
            | Command::Uninstall(_) => OutputShape::People,
            Command::Sets(args) => args.action.shape(),
            Command::Schema(SchemaArgs { name: None, .. }) => OutputShape::People,
            Command::Schema(_) => OutputShape::Json,
            Command::Serve(_) | Command::Helper => OutputShape::Values,
            Command::Run(_)
            | Command::Hook { .. }
            | Command::Completions { .. }
            | Command::Supervise(_)
            | Command::Keep { .. } => OutputShape::Values,
        }
    }
}
