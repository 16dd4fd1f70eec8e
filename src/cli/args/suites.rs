//! What `hookrun test --suite` takes.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

// What a flag requires is let off where it conflicts with another that is there (`--suite` with an
// event); a group is not.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("suites").args(["suite"]))]
pub(crate) struct SuiteArgs {
    /// Run the cases in these files, or in the suites of these folders, instead of one event
    /// [default: those of --hooks, else of the project]
    #[arg(
        long,
        value_name = "PATHS",
        num_args = 0..,
        conflicts_with_all = [
            "conformance", "event", "dialect", "command", "shell", "expect", "expect_reason", "budget", "stdin_timeout"
        ]
    )]
    pub(crate) suite: Option<Vec<PathBuf>>,

    /// With --suite: only the cases of this event; can be given several times
    #[arg(id = "only", long = "event", value_name = "EVENT", requires = "suites")]
    pub(crate) events: Vec<String>,

    /// With --suite: run nothing more after the first case that is not as expected
    #[arg(long, requires = "suites")]
    pub(crate) fail_fast: bool,

    /// With --suite: stay, and run again what a change of a file touches, until interrupted
    #[arg(long, requires = "suites")]
    pub(crate) watch: bool,

    /// With --suite: tell what no case has shown: hooks that were never asked, never refused or
    /// never allowed, events, matchers and settings. Not told while a case is not as expected
    #[arg(long, requires = "suites", conflicts_with = "watch")]
    pub(crate) coverage: bool,

    /// With --suite: as --coverage, and exit with 1 if less than this many percent are covered
    #[arg(
        long, value_name = "PERCENT", requires = "suites", conflicts_with = "watch",
        value_parser = percent
    )]
    pub(crate) coverage_min: Option<u8>,

    /// With --suite: put one in the place of each hook in turn that always allows, always refuses
    /// or times out, and exit with 1 if no case notices. Not tried while a case is not as expected
    #[arg(long, requires = "suites", conflicts_with = "watch")]
    pub(crate) mutate: bool,
}

fn percent(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(percent) if percent <= 100 => Ok(percent),
        _ => Err("write a number from 0 to 100".to_string()),
    }
}
