//! The arguments of `run`, `check` and `serve`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::hosts::native;
use crate::lab::report::CheckFormat;
use clap::{ArgGroup, Args};

use super::options::{
    SourceArgs, dialect_name, dialect_or_git, digest, duration, jobs, report_format,
};

#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct RunArgs {
    /// The event, or a host's name for it; optional if the context names it
    pub(crate) event: Option<String>,

    /// Only for --host git: the arguments that git passes to its hook, after `--`
    #[arg(value_name = "ARG")]
    pub(crate) arguments: Vec<OsString>,

    /// The sender of the event and reader of the reply [default: native, or detected without EVENT]
    ///
    /// The name of an agent or hook system, or `git`. If neither a host nor an event is given, hookrun
    /// detects both from the context, and blocks if it cannot.
    #[arg(long = "host", value_name = "NAME", value_parser = dialect_or_git(), hide_possible_values = true)]
    pub(crate) dialect: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Block unless this hook (with `any`, at least one hook) is bound to the event; repeatable
    #[arg(long, value_name = "HOOK")]
    pub(crate) require: Vec<String>,

    /// The time limit, after which the event is blocked [default: the host's, minus a margin]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) budget: Option<Duration>,

    /// How long to wait for the event on stdin, within the budget
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) stdin_timeout: Duration,

    #[command(flatten)]
    pub(crate) deciding: DecidingArgs,

    /// Print a full report in this format [default: the reply for the host]
    ///
    /// In the formats of CI systems a block never exits with 0, and stderr has no workflow commands.
    #[arg(long, value_name = "FORMAT", value_parser = report_format())]
    pub(crate) format: Option<CheckFormat>,
}

impl RunArgs {
    /// The host on the command line, by default native.
    pub(crate) fn host(&self) -> &str {
        self.dialect.as_deref().unwrap_or(native::NAME)
    }
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Hooks of commit.pre to run, and files or folders to check [default: all hooks, and the staged
    /// files]
    #[arg(value_name = "HOOK|PATH")]
    pub(crate) names: Vec<OsString>,

    /// Check every tracked file
    #[arg(long, conflicts_with = "from")]
    pub(crate) all: bool,

    /// Check the changes in --to since its merge base with this commit
    #[arg(long, value_name = "COMMIT")]
    pub(crate) from: Option<String>,

    /// With --from: up to this commit [default: HEAD]
    #[arg(long, value_name = "COMMIT", requires = "from")]
    pub(crate) to: Option<String>,

    /// Do not run this hook; repeatable
    #[arg(long, value_name = "HOOK")]
    pub(crate) skip: Vec<String>,

    /// Apply the fixes of hooks with `fixes`: to the staged text, and stage the result or, if files on
    /// disk are checked, to these files
    #[arg(long)]
    pub(crate) fix: bool,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Trust the project's hooks if `hookrun trust --show` prints this digest; repeatable
    #[arg(long, value_name = "DIGEST", value_parser = digest)]
    pub(crate) trust: Vec<String>,

    /// Print a full report in this format
    #[arg(long, value_name = "FORMAT", value_parser = report_format())]
    pub(crate) format: Option<CheckFormat>,
}

#[derive(Debug, Clone, Default, Args)]
#[command(group = ArgGroup::new("door").args(["stdio", "mcp", "http", "unix"]).multiple(true).required(true))]
pub(crate) struct ServeArgs {
    /// JSON-RPC on stdin and stdout, one object per line
    #[arg(long, conflicts_with = "mcp")]
    pub(crate) stdio: bool,

    /// MCP on stdin and stdout, with a tool for each event
    #[arg(long)]
    pub(crate) mcp: bool,

    /// HTTP on this address (`127.0.0.1:PORT`), for clients with the token
    #[arg(long, value_name = "ADDRESS", value_parser = own_address)]
    pub(crate) http: Option<SocketAddr>,

    /// HTTP on this Unix socket, for programs of the same user
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,

    /// The file with the token of --http; created if missing
    ///
    /// By default `serve.token` in hookrun's state folder.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token: Option<PathBuf>,

    /// The host whose format clients use, unless a request names another
    #[arg(long, value_name = "NAME", value_parser = dialect_name(), hide_possible_values = true)]
    pub(crate) host: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) deciding: DecidingArgs,
}

/// How events are decided, one or many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct DecidingArgs {
    /// Trust a project's hooks if `hookrun trust --show` prints this digest; repeatable
    #[arg(long, value_name = "DIGEST", value_parser = digest)]
    pub(crate) trust: Vec<String>,

    /// How many hooks may run in parallel [default: twice the number of processors, at most 16]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// Append each event and its decision to this file, as one line of JSON
    ///
    /// Secrets are redacted. Also set by HOOKRUN_RECORD.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

fn own_address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "use an address and a port: `127.0.0.1:8123`".to_string())
}
