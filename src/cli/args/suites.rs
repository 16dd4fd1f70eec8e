//! What `hookrun test` takes for a suite.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("suites")
    .args(["suite", "only", "fail_fast", "watch", "coverage", "coverage_min", "mutate"])
    .multiple(true)
    .conflicts_with_all([
        "conformance", "event", "dialect", "command", "shell", "expect", "expect_reason", "budget"
    ]))]
pub(crate) struct SuiteArgs {
    /// Play the cases in these files, or in the suites of these folders [default: those of
    /// --hooks, else of the project]
    #[arg(long, value_name = "PATHS", num_args = 0..)]
    pub(crate) suite: Option<Vec<PathBuf>>,

    /// Of the suite: only the cases of this event; can be given several times
    #[arg(id = "only", long = "event", value_name = "EVENT")]
    pub(crate) events: Vec<String>,

    /// Of the suite: run nothing more after the first case that fails
    #[arg(long)]
    pub(crate) fail_fast: bool,

    /// Play the suite, stay, and run again what a change of a file touches, until interrupted
    #[arg(long)]
    pub(crate) watch: bool,

    /// Play the suite, and show what no case has tested: hooks that never ran, never blocked or
    /// never allowed, events, matchers and settings. Only if every case passes
    #[arg(long, conflicts_with = "watch")]
    pub(crate) coverage: bool,

    /// As --coverage, and exit with 1 if less than this many percent are covered
    #[arg(
        long, value_name = "PERCENT", conflicts_with = "watch", value_parser = percent
    )]
    pub(crate) coverage_min: Option<u8>,

    /// Play the suite, and replace each hook in turn by a mutant that always allows, always blocks
    /// or times out; exit with 1 if one survives. Only if every case passes
    #[arg(long, conflicts_with = "watch")]
    pub(crate) mutate: bool,
}

impl SuiteArgs {
    /// Whether something is asked for that only a suite has.
    pub(crate) fn are_given(&self) -> bool {
        self.suite.is_some()
            || !self.events.is_empty()
            || self.fail_fast
            || self.watch
            || self.coverage
            || self.coverage_min.is_some()
            || self.mutate
    }
}

fn percent(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(percent) if percent <= 100 => Ok(percent),
        _ => Err("write a number from 0 to 100".to_string()),
    }
}
