//! What happened, for people and for programs.
//!
//! A report on checks says what it found once, as [`CheckReport`]; each format writes that.

pub mod check;
pub mod github;
pub mod human;
pub mod json;
pub mod junit;
pub mod problems;
pub mod schema;
pub mod style;
pub mod suite;
pub mod tap;
pub mod vectors;

use std::io::{self, Write};

pub use crate::engine::harmless::plain;
use crate::engine::names::names;
use check::CheckReport;
pub use style::Paths;

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
}

names! {
    CheckFormat: Human "human", Json "json", Junit "junit", Tap "tap", Github "github",
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
            CheckFormat::Junit => junit::document(&report.checks(paths), out),
            CheckFormat::Tap => tap::document(&report.checks(paths), out),
            CheckFormat::Github => github::document(&report.checks(paths), out),
        }
    }
}
