//! What `hookrun test --suite` takes.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// Run the cases in these files, or in the suites of these folders, instead of one event
    /// [default: those of --hooks, else of the project]
    #[arg(
        long,
        value_name = "PATHS",
        num_args = 0..,
        conflicts_with_all = [
            "conformance", "event", "dialect", "command", "expect", "expect_reason", "budget", "stdin_timeout"
        ]
    )]
    pub(crate) suite: Option<Vec<PathBuf>>,

    /// With --suite: only the cases of this event; can be given several times
    #[arg(id = "only", long = "event", value_name = "EVENT", requires = "suite")]
    pub(crate) events: Vec<String>,

    /// With --suite: run nothing more after the first case that is not as expected
    #[arg(long, requires = "suite")]
    pub(crate) fail_fast: bool,

    /// With --suite: stay, and run again what a change of a file touches, until interrupted
    #[arg(long, requires = "suite")]
    pub(crate) watch: bool,
}
