//! `hookrun test --conformance`: holding a runner to what hosts must get.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use regex::Regex;

#[derive(Debug, Args)]
pub(crate) struct VectorArgs {
    /// Hold hookrun, or the runner that --command names, to the vectors in this folder: what a
    /// host sends, what hooks do, and what the host must get
    #[arg(long, value_name = "DIR", conflicts_with_all = ["event", "dialect", "hooks", "settings", "hook", "shell", "expect", "expect_reason", "budget", "stdin_timeout"])]
    pub(crate) conformance: Option<PathBuf>,

    /// With --conformance: only the vectors whose paths this regular expression matches
    #[arg(long, value_name = "REGEX", requires = "conformance")]
    pub(crate) filter: Option<Regex>,

    /// With --conformance: how many vectors are tried at once [default: twice the processors, at
    /// most 16]
    #[arg(long, value_name = "N", requires = "conformance", value_parser = super::jobs)]
    pub(crate) jobs: Option<usize>,
}

/// The formats of `test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people
    Human,
    /// For programs
    Json,
    /// JUnit XML
    Junit,
    /// Test Anything Protocol
    Tap,
}
