//! JUnit XML for CI systems, which merge cases with equal names, so every case has a different one.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use super::check::{Check, CheckList, CheckState};

struct JunitSuite<'l> {
    name: &'l str,
    checks: Vec<&'l Check>,
}

pub(super) fn junit(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    let mut suites: Vec<JunitSuite<'_>> = Vec::new();
    for check in &list.checks {
        match suites.iter_mut().rfind(|suite| suite.name == check.suite) {
            Some(suite) => suite.checks.push(check),
            None => suites.push(JunitSuite {
                name: &check.suite,
                checks: vec![check],
            }),
        }
    }
    if suites.is_empty() {
        suites.push(JunitSuite {
            name: &list.name,
            checks: Vec::new(),
        });
    }
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    let totals = totals(&list.checks.iter().collect::<Vec<_>>());
    let took = list.took.map(time).unwrap_or_default();
    let name = escaped(&list.name);
    writeln!(out, r#"<testsuites name="{name}"{totals}{took}>"#)?;
    for suite in &suites {
        write_suite(suite, out)?;
    }
    writeln!(out, "</testsuites>")
}

fn write_suite(suite: &JunitSuite<'_>, out: &mut dyn Write) -> io::Result<()> {
    let name = escaped(suite.name);
    let totals = totals(&suite.checks);
    let durations: Vec<Duration> = suite.checks.iter().filter_map(|check| check.took).collect();
    let took = if durations.is_empty() {
        String::new()
    } else {
        time(durations.iter().sum())
    };
    writeln!(out, r#"    <testsuite name="{name}"{totals}{took}>"#)?;
    for check in &suite.checks {
        out.write_all(case(check).as_bytes())?;
    }
    writeln!(out, "    </testsuite>")
}

fn totals(checks: &[&Check]) -> String {
    let failures = count(checks, |state| matches!(state, CheckState::Failed));
    let errors = count(checks, |state| matches!(state, CheckState::Error));
    let skipped = count(checks, |state| matches!(state, CheckState::Skipped(_)));
    let tests = checks.len();
    format!(r#" tests="{tests}" skipped="{skipped}" failures="{failures}" errors="{errors}""#)
}

fn count(checks: &[&Check], is_counted: fn(&CheckState) -> bool) -> usize {
    checks
        .iter()
        .filter(|check| is_counted(&check.state))
        .count()
}

fn time(took: Duration) -> String {
    format!(r#" time="{:.3}""#, took.as_secs_f64())
}

fn case(check: &Check) -> String {
    let mut text = format!(r#"        <testcase name="{}""#, escaped(&check.name));
    let took = check.took.map(time).unwrap_or_default();
    let _ = match &check.place {
        Some(place) => {
            let file = escaped(&place.file);
            let line = place.line;
            write!(
                text,
                r#" classname="{file}"{took} file="{file}" line="{line}""#
            )
        }
        None => write!(text, "{took}"),
    };
    let body = case_body(check);
    if body.is_empty() {
        text.push_str("/>\n");
    } else {
        let _ = write!(text, ">\n{body}        </testcase>\n");
    }
    text
}

fn case_body(check: &Check) -> String {
    let mut body = String::new();
    let message = escaped(&check.message);
    let details = escaped(&check.details);
    let _ = match &check.state {
        CheckState::Passed => Ok(()),
        CheckState::Skipped(why) => {
            writeln!(body, r#"            <skipped message="{}"/>"#, escaped(why))
        }
        CheckState::Failed => writeln!(
            body,
            r#"            <failure message="{message}">{details}</failure>"#
        ),
        CheckState::Error => writeln!(
            body,
            r#"            <error message="{message}">{details}</error>"#
        ),
    };
    let mut stdout = check.written("stdout");
    if !check.state.is_bad() && !check.details.is_empty() {
        stdout = check.details.clone();
    }
    for (name, stream) in [
        ("system-out", stdout),
        ("system-err", check.written("stderr")),
    ] {
        if !stream.is_empty() {
            let _ = writeln!(body, "            <{name}>{}</{name}>", escaped(&stream));
        }
    }
    body
}

/// Escapes text for XML and drops control characters, which XML forbids.
fn escaped(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => made.push_str("&amp;"),
            '<' => made.push_str("&lt;"),
            '>' => made.push_str("&gt;"),
            '"' => made.push_str("&quot;"),
            '\n' | '\t' => made.push(c),
            '\r' => made.push_str("&#13;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => made.push(c),
        }
    }
    made
}
