//! What happened, for people and for programs.
//!
//! A report on checks says what it found once, as [`CheckReport`]; each format writes that.

mod azure;
pub mod check;
mod code_quality;
pub mod diff;
pub mod github;
pub mod human;
pub mod junit;
pub mod problems;
mod sarif;
pub mod schema;
pub mod style;
pub mod suite;
pub mod tap;

use std::io::{self, Write};

pub use crate::engine::harmless::plain;
use crate::engine::names::names;
pub use crate::log::report::Paths;
use check::{CheckList, CheckReport};

/// The formats of reports on checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum CheckFormat {
    /// For people
    Human,
    /// For programs
    Json,
    /// JUnit XML
    Junit,
    /// Test Anything Protocol
    Tap,
    /// Annotations of GitHub Actions
    Github,
    /// SARIF, for code scanning
    Sarif,
    /// Code quality of GitLab
    Gitlab,
    /// Issues of Azure Pipelines
    Azure,
}

names! {
    CheckFormat: Human "human", Json "json", Junit "junit", Tap "tap", Github "github",
    Sarif "sarif", Gitlab "gitlab", Azure "azure",
}

impl CheckFormat {
    pub fn write<R: CheckReport + ?Sized>(
        self,
        report: &R,
        paths: &Paths,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            CheckFormat::Human => report.human(paths, out),
            CheckFormat::Json => writeln!(out, "{:#}", report.json(paths)),
            CheckFormat::Junit
            | CheckFormat::Tap
            | CheckFormat::Github
            | CheckFormat::Sarif
            | CheckFormat::Gitlab
            | CheckFormat::Azure => self.write_list(&report.checks(paths), out),
        }
    }

    /// Writes checks in a format of CI systems; nothing in the others.
    pub fn write_list(self, list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
        match self {
            CheckFormat::Human | CheckFormat::Json => Ok(()),
            CheckFormat::Junit => junit::document(list, out),
            CheckFormat::Tap => tap::document(list, out),
            CheckFormat::Github => github::document(list, out),
            CheckFormat::Sarif => sarif::document(list, out),
            CheckFormat::Gitlab => code_quality::document(list, out),
            CheckFormat::Azure => azure::document(list, out),
        }
    }

    /// Whether only a list of checks can be written in it.
    pub fn is_of_lists(self) -> bool {
        !matches!(self, CheckFormat::Human | CheckFormat::Json)
    }
}
