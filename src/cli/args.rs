//! The arguments of all commands. Parsing only.

mod inside;
mod look;
mod options;
mod run;
mod write;

use clap::{Parser, Subcommand};

pub(crate) use inside::{
    Dialog, DocumentFormat, FieldArgs, HookCommand, SendArgs, StateAction, StateArgs,
};
pub(crate) use look::{
    EventsArgs, ExplainArgs, FilterArgs, ListArgs, ReplayArgs, ReportArgs, ReportFormat,
    SchemaArgs, ValidateArgs, WhyArgs,
};
pub(crate) use options::{SourceArgs, TextFormat, digest, duration, jobs};
pub(crate) use run::{CheckArgs, DecidingArgs, RunArgs, ServeArgs};
pub(crate) use write::{
    AddArgs, AddedSet, DoctorArgs, ImportArgs, InitArgs, InstallArgs, NewArgs, OutdatedSets,
    PlaceArgs, SetsAction, SetsArgs, SettingsScope, TestArgs, TrustArgs, UpdatedSets, WritePlace,
};

use crate::cli::streams::{Color, OutputShape};

/// Runs hooks that check, change or block what an agent, git or a CI job does.
#[derive(Debug, Parser)]
#[command(
    name = "hookrun",
    version,
    about,
    max_term_width = 80,
    after_help = "Examples:
  hookrun init                           set up starter guards and your agents
  hookrun new guard --event tool.pre     write a hook with test cases
  hookrun test                           run the project's test suite
  hookrun why                            explain the last decision here

hookrun-hook(5), hookrun.toml(5) and hookrun-suite(5) describe hooks, their configuration and test cases."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use color
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", hide_short_help = true)]
    pub(crate) color: Color,

    /// Log to stderr at this level: error, warn, info, debug or trace; also set by HOOKRUN_LOG
    #[arg(long, global = true, value_name = "LEVEL", hide_short_help = true)]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide an event: exit 0 allows, 2 blocks
    #[command(
        after_help = "Exit status: 0 allowed, or the agent reads the block from stdout; 2 blocked, or hookrun failed; with --host git, 1 instead of 2.

Examples:
  hookrun run tool.pre < event.json
  hookrun run --host claude
  hookrun run plan.pre --hooks gates --format github < event.json"
    )]
    Run(RunArgs),
    /// Run the project's test suite, or explain one decision
    #[command(
        alias = "try",
        after_help = "Exit status: 0 allowed, 1 blocked or asked, 2 no decision. For a suite: 0 passed, 1 failed, 2 could not run. hookrun-suite(5) describes test case files.

Examples:
  hookrun test
  hookrun test tool.pre < event.json
  hookrun test --coverage"
    )]
    Test(TestArgs),
    /// Run the commit.pre hooks on staged files, all files, or the files that you name
    #[command(
        after_help = "Exit status: 0 allowed; 1 blocked, or hookrun failed; 2 not in a git repository. Hooks with {files} get the files as arguments. By default it checks the staged content, as in `git commit`; with PATH, --all or --from, the files on disk.

Examples:
  hookrun check
  hookrun check --all --format github
  hookrun check --from origin/main
  hookrun check ruff --fix"
    )]
    Check(CheckArgs),
    /// Run as a server: JSON-RPC on stdio, HTTP, or MCP
    #[command(
        after_help = "Exit status: 0 stopped, 2 could not open a listener. The server replies as `hookrun run` does, with the current hooks and settings. It exits on a signal and, unless it only listens on sockets, at the end of stdin; it stops hooks that are still running.

Examples:
  hookrun serve --stdio
  hookrun serve --http 127.0.0.1:8080 --token token.txt
  hookrun serve --mcp --host claude"
    )]
    Serve(ServeArgs),
    /// Explain past decisions, by default the last one here
    #[command(
        alias = "log",
        after_help = "Exit status: 0 found, 1 no such decision, 2 the log cannot be read. HOOKRUN_DECISIONS=off disables the log.

Examples:
  hookrun why
  hookrun why --decision block -n 5
  hookrun why --all --brief --since 2h"
    )]
    Why(WhyArgs),
    /// Report past decisions as an HTML page, or as JSON lines
    #[command(
        override_usage = "hookrun report [OPTIONS] >FILE.html",
        after_help = "Exit status: 0 written, 1 no such decisions, 2 error. The page is one file and needs no network. Secrets are redacted, including by rules added after the decision.

Examples:
  hookrun report >report.html
  hookrun report --since 7d --everywhere >week.html
  hookrun report --format jsonl --decision block"
    )]
    Report(ReportArgs),
    /// Decide recorded events again, and show changed decisions
    #[command(
        after_help = "The hooks really run, with all their side effects; they can check for HOOKRUN_REPLAY=1. State is in a temporary folder. Replay logs nothing, never asks, waits for background hooks, and does not limit how often `agent.stop` is blocked. The totals go to stderr.

Exit status: 0 nothing changed; 1 a decision changed; 2 an event could not be decided: an unreadable file or line, an incomplete event, hooks with errors.

Examples:
  hookrun replay events.jsonl
  hookrun replay events.jsonl --all
  zcat logs/*.gz | hookrun replay --hooks new/ --summary"
    )]
    Replay(ReplayArgs),
    /// List hooks in the order in which they run, or show one hook
    #[command(
        alias = "ls",
        after_help = "Exit status: 0 printed, 1 printed with configuration errors, 2 error.

Examples:
  hookrun list
  hookrun list --event tool.pre
  hookrun list no-sudo"
    )]
    List(ListArgs),
    /// Show which commands a command line runs, and which hooks match
    #[command(after_help = "Exit status: 0 printed, 2 error. Nothing runs.

Examples:
  hookrun explain 'cd x && sudo rm -rf \"$y\"'
  hookrun explain 'git push -f' --event tool.pre
  hookrun explain < deploy.sh")]
    Explain(ExplainArgs),
    /// Check all hooks and their configuration
    #[command(
        aliases = ["lint", "verify"],
        after_help = "Exit status: 0 no errors (there may be warnings), 1 errors, 2 could not check."
    )]
    Validate(ValidateArgs),
    /// Add starter guards with tests, and install hookrun in the agents found here
    #[command(
        after_help = "Exit status: 0 done, or only listed; 1 the hooks have errors, their tests failed, or you declined; 2 error. Some agents run hooks only after you accept them; `hookrun doctor` shows whether an agent calls hookrun. Every file is listed before it is written. Without a terminal, --yes is required.

Examples:
  hookrun init
  hookrun init --dry-run
  hookrun init --user --host claude --yes"
    )]
    Init(InitArgs),
    /// Write a new hook with test cases
    #[command(
        after_help = "Exit status: 0 written or printed, 2 error. Existing files are never overwritten.

Examples:
  hookrun new guard --event tool.pre
  hookrun new wip --event commit.msg --lang python
  hookrun new format --event commit.pre --dry-run"
    )]
    New(NewArgs),
    /// Add built-in hooks, gates and rules, with their tests
    #[command(
        after_help = "Exit status: 0 added or printed, 2 error. No file is overwritten.

Examples:
  hookrun add --list
  hookrun add no-sudo --dry-run
  hookrun add guard-destructive no-sudo"
    )]
    Add(AddArgs),
    /// Manage shared hook sets: declare, lock, verify
    #[command(
        disable_help_subcommand = true,
        after_help = "Exit status: 0 done, 1 a set is unusable or outdated, 2 error. All commands except `list` may use the network. A missing set blocks every gate until `verify` has fetched it.

Examples:
  hookrun sets add team --git https://example.com/hooks.git --rev v1
  hookrun sets update
  hookrun sets verify"
    )]
    Sets(SetsArgs),
    /// Review and trust this project's hooks
    #[command(
        after_help = "A project's hooks run only after you trust them; until then, the events that they would decide are blocked. You trust the content of hookrun.toml, of the files in hooks.d and of the files that commands name. Test cases, and comments in hookrun.toml and rule files, need no approval. Trust applies to the repository in all its worktrees, and approved content stays trusted.

Exit status: 0 trusted, or done; 1 not trusted; 2 error. `trust` needs an interactive terminal, except with --digest, --show and --revoke.

Examples:
  hookrun trust
  hookrun trust --show
  hookrun trust --follow origin/main"
    )]
    Trust(TrustArgs),
    /// Import hooks from pre-commit, lefthook, husky or an agent
    #[command(
        after_help = "Exit status: 0 imported, printed, or nothing to import; 2 error. Hooks that cannot be imported are reported with the reason. The other tool's files are not changed. At a terminal, `import` then asks whether the hooks may run, as `hookrun trust` does.

Examples:
  hookrun import pre-commit --dry-run"
    )]
    Import(ImportArgs),
    /// List the events, or show one event in full
    #[command(after_help = "Exit status: 0 printed, 2 error.")]
    Events(EventsArgs),
    /// Print the JSON Schema of an event, a file or a report
    #[command(after_help = "Exit status: 0 printed, 2 error.")]
    Schema(SchemaArgs),
    /// Commands for hooks: read the event, ask a person, store text
    #[command(disable_help_subcommand = true)]
    Hook {
        #[command(subcommand)]
        command: HookCommand,
    },
    /// Install hookrun in an agent or in git
    #[command(
        after_help = "Exit status: 0 done, or nothing to do; 1 for git, if the hooks are not trusted or have errors; 2 error. Without a host, `install` lists the hosts found here. In project scope, the installed command looks for hookrun in PATH and in the folders into which cargo, npm and uv install programs, so you can commit the settings. `uninstall` removes only hookrun's hooks.

Examples:
  hookrun install claude
  hookrun install claude --scope local
  hookrun install git"
    )]
    Install(InstallArgs),
    /// Remove hookrun from an agent or from git
    #[command(
        after_help = "Exit status: 0 done, or nothing to do; 2 error. Without a host, `uninstall` lists the hosts that run hookrun.

Examples:
  hookrun uninstall
  hookrun uninstall claude --dry-run
  hookrun uninstall git"
    )]
    Uninstall(PlaceArgs),
    /// Check that agents call hookrun and that hooks run
    #[command(
        after_help = "Exit status: 0 no errors (there may be warnings), 1 errors, 2 could not check.

Examples:
  hookrun doctor
  hookrun doctor claude
  hookrun doctor --format github"
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
    Supervise(RunArgs),
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
            Command::Report(_) | Command::Replay(_) => OutputShape::Json,
            Command::List(args) => args.format.shape(),
            Command::Explain(args) => args.format.shape(),
            Command::Events(args) => args.format.shape(),
            Command::Validate(args) => args.format.into(),
            Command::Doctor(args) => args.format.into(),
            Command::New(NewArgs { place, .. })
            | Command::Import(ImportArgs { place, .. })
            | Command::Add(AddArgs { place, .. })
                if place.dry_run =>
            {
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
            | Command::Check(_)
            | Command::Hook { .. }
            | Command::Completions { .. }
            | Command::Supervise(_)
            | Command::Keep { .. } => OutputShape::Values,
        }
    }
}
