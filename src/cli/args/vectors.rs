//! `hookrun test --conformance`: holding a runner to what hosts must get.

use std::path::PathBuf;

use clap::Args;
use regex::Regex;

#[derive(Debug, Args)]
pub(crate) struct VectorArgs {
    /// Hold hookrun, or the runner that --command names, to the vectors in this folder: what a
    /// host sends, what hooks do, and what the host must get
    #[arg(long, value_name = "DIR", conflicts_with_all = ["event", "dialect", "hooks", "settings", "hook", "shell", "expect", "expect_reason", "budget", "stdin_timeout"])]
    pub(crate) conformance: Option<PathBuf>,

    /// Of the suite: only the cases whose names this regular expression matches; with
    /// --conformance: only the vectors whose paths it matches
    #[arg(long, value_name = "REGEX", conflicts_with = "event")]
    pub(crate) filter: Option<Regex>,

    /// How many cases of the suite run at once [default: the processors]; with --conformance: how
    /// many vectors [default: twice the processors, at most 16]
    #[arg(long, value_name = "N", conflicts_with = "event", value_parser = super::jobs)]
    pub(crate) jobs: Option<usize>,
}
