//! Reports for people and programs. A report on checks collects them once as [`CheckReport`]; each
//! format writes that.

pub mod check;
pub mod human;
pub mod problems;
pub mod run_checks;
pub mod stats;
pub mod style;
pub mod suite;

use std::io::{self, Write};

pub use crate::engine::harmless::plain;
use crate::engine::names::names;
pub use crate::log::report::Paths;
pub use check::write_json;
use check::{CheckList, CheckReport};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckFormat {
    /// For people
    Human,
    /// For programs
    Json,
    /// JUnit XML
    Junit,
    /// GitHub Actions annotations
    Github,
    /// SARIF, for code scanning
    Sarif,
    /// GitLab code quality
    Gitlab,
}

names! {
    CheckFormat: Human "human", Json "json", Junit "junit", Github "github", Sarif "sarif",
    Gitlab "gitlab",
}

impl CheckFormat {
    pub fn write(self, report: &impl CheckReport, out: &mut dyn Write) -> io::Result<()> {
        match self {
            CheckFormat::Human => report.human(out),
            CheckFormat::Json => write_json(report, out),
            CheckFormat::Junit | CheckFormat::Github | CheckFormat::Sarif | CheckFormat::Gitlab => {
                self.write_list(&report.checks(), out)
            }
        }
    }

    /// Writes checks in a CI format; nothing for the others.
    pub fn write_list(self, list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
        match self {
            CheckFormat::Human | CheckFormat::Json => Ok(()),
            CheckFormat::Junit => check::junit(list, out),
            CheckFormat::Github => check::github(list, out),
            CheckFormat::Sarif => check::sarif(list, out),
            CheckFormat::Gitlab => check::gitlab(list, out),
        }
    }

    /// Whether the format can express only a list of checks.
    pub fn is_of_lists(self) -> bool {
        !matches!(self, CheckFormat::Human | CheckFormat::Json)
    }
}
