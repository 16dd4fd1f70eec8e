//! What came of cases: each of them, and what they say about the hooks as a whole.

use std::time::Duration;

use crate::config::Problem;
use crate::lab::report::style::counted;
use crate::lab::scenario::coverage::{Coverage, Point, Who};
use crate::lab::scenario::{CaseResult, End};

/// All cases that were asked for.
#[derive(Debug, Clone, Copy)]
pub struct Whole<'w> {
    /// Each, in the order of the files and of the cases in them.
    pub played: &'w [CaseResult],
    pub took: Duration,
    /// Why hooks that no case asks cannot run.
    pub broken: &'w [Problem],
    /// If it was requested.
    pub coverage: Option<&'w CoverageReport>,
    /// hookrun was interrupted before all were played.
    pub is_stopped: bool,
}

/// What cases have shown of the hooks.
#[derive(Debug, Clone, Default)]
pub struct CoverageReport {
    pub coverage: Coverage,
    pub gaps: Vec<Gap>,
    /// The percentage that must be covered.
    pub least: Option<u8>,
}

/// A point that no case has shown.
#[derive(Debug, Clone)]
pub struct Gap {
    pub who: Who,
    /// The point belongs to the event and not to the hook.
    pub is_event: bool,
    /// The line of its file that configures the point.
    pub line: usize,
    pub point: Point,
}

impl Whole<'_> {
    /// Whether all that should run came out as expected.
    pub(super) fn is_good(&self) -> bool {
        let is_good = |one: &CaseResult| !one.end.is_bad() && one.end != End::NotRun;
        self.played.iter().all(is_good) && self.is_enough()
    }

    /// Whether no hook is broken and enough is covered.
    pub fn is_enough(&self) -> bool {
        self.broken.is_empty() && self.coverage.is_none_or(CoverageReport::is_enough)
    }
}

impl CoverageReport {
    pub(super) fn is_enough(&self) -> bool {
        !self.is_short() && self.coverage.untrue.is_empty()
    }

    /// Whether less is covered than must be.
    pub(super) fn is_short(&self) -> bool {
        self.least
            .is_some_and(|least| !self.coverage.reaches(least))
    }

    /// How much it is, on one line.
    pub(super) fn line(&self) -> String {
        let (shown, all) = self.coverage.counts();
        let permille = self.coverage.permille();
        let percent = format!("{}.{} %", permille / 10, permille % 10);
        format!("covered {percent}: {shown} of {}", counted(all, "point"))
    }
}
