//! JUnit XML of a replay: a case for each finding that is shown, under a name of its own, and one
//! for the whole.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::{FindingLimit, Header, ReplayEnd, ReplayFinding, Report, Totals, line, summary};
use crate::lab::report::plain;

const NAME: &str = "hookrun replay";

/// The form wants its counts first, so it is kept until the end; what is shown is bounded.
pub(super) struct Junit {
    shown: FindingLimit,
    suite: TestSuite,
    allows_undecided: bool,
}

impl Junit {
    pub(super) fn showing(most: u64) -> Junit {
        let (shown, suite) = (FindingLimit::at_most(most), TestSuite::new(NAME));
        Junit { shown, suite, allows_undecided: false }
    }
}

impl Report for Junit {
    fn begin(&mut self, header: &Header, _: &mut dyn Write) -> io::Result<()> {
        self.allows_undecided = header.allow_undecided;
        if let Some(partition) = &header.partition {
            self.suite = TestSuite::new(format!("{NAME} {partition}"));
        }
        Ok(())
    }

    fn finding(&mut self, finding: &ReplayFinding, _: &mut dyn Write) -> io::Result<()> {
        if !self.shown.one_more() {
            return Ok(());
        }
        let kind = match finding {
            ReplayFinding::Changed(change) if change.expected => None,
            ReplayFinding::Undecided(_) if self.allows_undecided => None,
            ReplayFinding::Changed(_) => Some(NonSuccessKind::Failure),
            ReplayFinding::Undecided(_) | ReplayFinding::Unreadable(_) => {
                Some(NonSuccessKind::Error)
            }
        };
        let status = match kind {
            Some(kind) => {
                let mut status = TestCaseStatus::non_success(kind);
                status.set_message(line(finding));
                status
            }
            None => TestCaseStatus::success(),
        };
        let is_success = kind.is_none();
        let mut case = TestCase::new(plain(&finding.place().text()), status);
        if is_success {
            case.set_system_out(line(finding));
        }
        self.suite.add_test_case(case);
        Ok(())
    }

    fn end(&mut self, totals: &Totals, ended: ReplayEnd, out: &mut dyn Write) -> io::Result<()> {
        let mut text = summary(totals);
        if let Some(rest) = self.shown.rest() {
            text.push_str(&format!("\n{rest}"));
        }
        let mut status = match ended {
            ReplayEnd::Same => TestCaseStatus::success(),
            ReplayEnd::Changed => TestCaseStatus::non_success(NonSuccessKind::Failure),
            ReplayEnd::Incomplete => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        if ended != ReplayEnd::Same {
            status.set_message(text.clone());
        }
        let mut case = TestCase::new("all events", status);
        case.set_system_out(text);
        self.suite.add_test_case(case);
        let mut report = Document::new(NAME);
        report.add_test_suite(std::mem::replace(&mut self.suite, TestSuite::new(NAME)));
        let text = report.to_string().map_err(io::Error::other)?;
        out.write_all(text.as_bytes())
    }
}
