//! JUnit XML, as CI systems read it. Every case has a name of its own: systems merge those that
//! share one.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::cases::CaseReport;
use super::problems::{Check, problem_text};
use super::suite::{Whole, Written, complaint, written};
use super::{Paths, plain};
use crate::lab::scenario::{End, Played};

/// The state of a configuration; every file is a case.
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
pub fn cases(name: &str, cases: &[CaseReport], out: &mut dyn Write) -> io::Result<()> {
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
    suite.set_time(cases.iter().map(|case| case.took).sum());
    write(name, suite, out)
}

fn write(name: &str, suite: TestSuite, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new(name);
    report.add_test_suite(suite);
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

/// What came of cases; every file is a suite.
///
/// # Errors
/// When the writer fails.
pub fn suite(whole: &Whole<'_>, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new("hookrun test --suite");
    report.set_time(whole.took);
    for (file, cases) in whole.files() {
        let name = plain(&paths.show(file));
        let mut suite = TestSuite::new(name.clone());
        for played in &cases {
            let mut case = TestCase::new(plain(&played.name), status(played));
            case.set_classname(name.clone());
            case.set_time(played.took);
            case.extra.insert("file".into(), name.as_str().into());
            case.extra.insert("line".into(), played.at.line.to_string().into());
            let (stdout, stderr): (Vec<_>, Vec<_>) =
                written(played).into_iter().partition(|one| one.stream == "stdout");
            let joined = |all: Vec<Written>| {
                all.into_iter().map(|one| one.text).collect::<Vec<_>>().join("\n")
            };
            if !stdout.is_empty() {
                case.set_system_out(joined(stdout));
            }
            if !stderr.is_empty() {
                case.set_system_err(joined(stderr));
            }
            suite.add_test_case(case);
        }
        suite.set_time(cases.iter().map(|played| played.took).sum());
        report.add_test_suite(suite);
    }
    let mut further: Vec<TestSuite> = Vec::new();
    for check in whole.further.checks(paths) {
        let mut status = TestCaseStatus::success();
        if let Some(problem) = &check.problem {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(problem.lines().next().unwrap_or_default().to_string());
            status.set_description(problem.clone());
        }
        let mut case = TestCase::new(check.name, status);
        case.set_classname(check.file.clone());
        case.extra.insert("file".into(), check.file.into());
        case.extra.insert("line".into(), check.line.to_string().into());
        if further.last().is_none_or(|suite| suite.name.as_str() != check.suite) {
            further.push(TestSuite::new(check.suite));
        }
        if let Some(suite) = further.last_mut() {
            suite.add_test_case(case);
        }
    }
    report.add_test_suites(further);
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

fn status(played: &Played) -> TestCaseStatus {
    let kind = match &played.end {
        End::Expected => return TestCaseStatus::success(),
        End::Skipped(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(plain(why));
            return status;
        }
        End::NotRun => {
            let mut status = TestCaseStatus::skipped();
            status.set_message("not run");
            return status;
        }
        End::Unexpected(_) => NonSuccessKind::Failure,
        End::CouldNot(_) => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    let complaint = complaint(played).unwrap_or_default();
    status.set_message(complaint.lines().next().unwrap_or_default().to_string());
    status.set_description(complaint);
    status
}
