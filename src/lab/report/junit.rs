//! JUnit XML, as CI systems read it. Every case has a different name: systems merge cases with the
//! same name.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::check::{Check, CheckList, CheckState};

pub fn document(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new(list.name.clone());
    if let Some(took) = list.took {
        report.set_time(took);
    }
    let mut suites: Vec<TestSuite> = Vec::new();
    for check in &list.checks {
        let at = suites
            .iter()
            .rposition(|suite| suite.name.as_str() == check.suite);
        let at = at.unwrap_or_else(|| {
            suites.push(TestSuite::new(check.suite.clone()));
            suites.len() - 1
        });
        let suite = &mut suites[at];
        if let Some(took) = check.took {
            suite.set_time(suite.time.unwrap_or_default() + took);
        }
        suite.add_test_case(case(check));
    }
    if suites.is_empty() {
        suites.push(TestSuite::new(list.name.clone()));
    }
    report.add_test_suites(suites);
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

fn case(check: &Check) -> TestCase {
    let is_bad = check.state.is_bad();
    let mut case = TestCase::new(check.name.clone(), status(check));
    if let Some(place) = &check.place {
        case.set_classname(place.file.clone());
        case.extra.insert("file".into(), place.file.as_str().into());
        case.extra
            .insert("line".into(), place.line.to_string().into());
    }
    if let Some(took) = check.took {
        case.set_time(took);
    }
    let written = |stream: &str| {
        let of_stream = check.written.iter().filter(|one| one.stream == stream);
        of_stream
            .map(|one| one.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let (stdout, stderr) = (written("stdout"), written("stderr"));
    if !is_bad && !check.details.is_empty() {
        case.set_system_out(check.details.clone());
    } else if !stdout.is_empty() {
        case.set_system_out(stdout);
    }
    if !stderr.is_empty() {
        case.set_system_err(stderr);
    }
    case
}

fn status(check: &Check) -> TestCaseStatus {
    let kind = match &check.state {
        CheckState::Passed => return TestCaseStatus::success(),
        CheckState::Skipped(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why.clone());
            return status;
        }
        CheckState::Failed => NonSuccessKind::Failure,
        CheckState::Error => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(check.message.clone());
    if !check.details.is_empty() {
        status.set_description(check.details.clone());
    }
    status
}
