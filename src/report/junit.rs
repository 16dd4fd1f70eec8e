//! JUnit XML, as CI systems read it. Every file is a test case with a name of its own: systems
//! merge cases that share one.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::cases::Case;
use super::problems::{Check, problem_text};
use super::{Paths, plain};

/// The state of a configuration.
///
/// # Errors
/// When the writer fails.
pub fn problems(checks: &[Check], paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new("hookrun validate");
    for check in checks {
        let texts: Vec<String> =
            check.problems.iter().map(|problem| problem_text(problem, paths)).collect();
        let mut status = if check.passes() {
            TestCaseStatus::success()
        } else {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        };
        if let Some(first) = check.problems.first().filter(|_| !check.passes()) {
            status.set_message(plain(&first.cause));
            status.set_description(texts.join("\n"));
        }
        let mut case = TestCase::new(plain(&paths.show(&check.file)), status);
        if check.passes() && !texts.is_empty() {
            case.set_system_out(texts.join("\n"));
        }
        suite.add_test_case(case);
    }
    write("hookrun validate", suite, out)
}

/// Cases that were tried.
///
/// # Errors
/// When the writer fails.
pub fn cases(name: &str, cases: &[Case], out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new(name);
    for case in cases {
        let mut status = TestCaseStatus::success();
        if let Some(first) = case.misses.first() {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(plain(first));
            let misses: Vec<String> = case.misses.iter().map(|miss| plain(miss)).collect();
            status.set_description(misses.join("\n"));
        }
        let mut tried = TestCase::new(plain(&case.name), status);
        tried.set_time(case.took);
        suite.add_test_case(tried);
    }
    write(name, suite, out)
}

fn write(name: &str, suite: TestSuite, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new(name);
    report.add_test_suite(suite);
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}
