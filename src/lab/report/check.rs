//! A model of checks, and the formats of CI systems, each a function over a [`CheckList`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::config::discover::MANIFEST;
use crate::engine::harmless::{plain, visible};
use crate::engine::session::checksum;
use crate::log::report::present;

pub fn write_json(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// A report on checks, for people, for programs (as JSON), and as a list for CI formats.
pub trait CheckReport: Serialize {
    fn human(&self, out: &mut dyn Write) -> io::Result<()>;

    fn checks(&self) -> CheckList;
}

/// All checks of a report, with every text escaped.
#[derive(Debug, Default)]
pub struct CheckList {
    pub name: String,
    pub checks: Vec<Check>,
    pub took: Option<Duration>,
    pub totals: Vec<String>,
    /// hookrun was interrupted before all checks ran.
    pub is_stopped: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Check {
    pub suite: String,
    pub name: String,
    pub place: Option<CheckPlace>,
    pub state: CheckState,
    /// The first line of the failure.
    pub message: String,
    /// The failure and further notes, line by line.
    pub details: String,
    pub written: Vec<Written>,
    pub took: Option<Duration>,
    pub annotations: Vec<Annotation>,
}

#[derive(Debug, Clone)]
pub struct CheckPlace {
    pub file: String,
    pub line: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CheckState {
    #[default]
    Passed,
    Failed,
    Error,
    /// The reason for skipping.
    Skipped(String),
}

#[derive(Debug, Clone)]
pub struct Written {
    pub stream: &'static str,
    pub text: String,
}

/// A message about a line of a file, for CI systems.
#[derive(Debug, Clone, Default)]
pub struct Annotation {
    pub level: &'static str,
    pub file: Option<String>,
    pub line: Option<u64>,
    pub col: Option<u64>,
    pub title: Option<String>,
    pub message: String,
    /// `None` for the rule of the list.
    pub rule: Option<CheckRule>,
    /// It repeats other annotations; formats with a result per annotation omit it.
    pub is_summary: bool,
}

/// A rule that annotations violate. Code scanning filters and dismisses by rule.
#[derive(Debug, Clone)]
pub struct CheckRule {
    pub id: String,
    /// Its location, and how to change it or allow a finding.
    pub about: String,
}

/// An annotation as a separate result.
struct Issue<'l> {
    annotation: &'l Annotation,
    rule: CheckRule,
    /// The annotation's file, by default that of its check.
    file: &'l str,
    line: Option<u64>,
    /// It does not change when its line moves.
    fingerprint: String,
}

impl CheckList {
    fn annotations(&self) -> impl Iterator<Item = (&Check, &Annotation)> {
        let checks = self.checks.iter();
        checks.flat_map(|check| check.annotations.iter().map(move |one| (check, one)))
    }

    /// The annotations as results with a location and a rule, which code scanning requires.
    fn issues(&self) -> Vec<Issue<'_>> {
        let mut issues = Vec::new();
        for (check, annotation) in self.annotations() {
            if annotation.is_summary {
                continue;
            }
            let place = check.place.as_ref();
            let (file, line) = match (&annotation.file, place) {
                (Some(file), _) => (file.as_str(), annotation.line),
                (None, Some(place)) => (place.file.as_str(), Some(place.line)),
                (None, None) => (MANIFEST, None),
            };
            let parts = [
                &check.suite,
                &check.name,
                annotation.file.as_deref().unwrap_or_default(),
                annotation.title.as_deref().unwrap_or_default(),
                annotation.level,
                &annotation.message,
            ];
            issues.push(Issue {
                annotation,
                rule: annotation.rule.clone().unwrap_or_else(|| self.rule()),
                file,
                line: line.filter(|line| *line > 0),
                fingerprint: format!("{:016x}", checksum(parts.join("\0").as_bytes())),
            });
        }
        issues
    }

    fn rule(&self) -> CheckRule {
        CheckRule {
            id: self.name.replace(' ', "-"),
            about: format!("{}: the message says what to do.", self.name),
        }
    }
}

impl Check {
    pub(super) fn written(&self, stream: &str) -> String {
        let of_stream = self.written.iter().filter(|one| one.stream == stream);
        let texts: Vec<&str> = of_stream.map(|one| one.text.as_str()).collect();
        texts.join("\n")
    }
}

impl CheckState {
    pub fn failed_if(is_failed: bool) -> CheckState {
        if is_failed {
            CheckState::Failed
        } else {
            CheckState::Passed
        }
    }

    pub fn is_bad(&self) -> bool {
        matches!(self, CheckState::Failed | CheckState::Error)
    }
}

/// Workflow commands of GitHub Actions, which become annotations: on a line of the diff if they
/// have a file and a line, else on the job.
///
/// The runner scans stdout and stderr for commands, so all text of hooks is escaped.
pub(super) fn github(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    for (_, annotation) in list.annotations() {
        let mut properties = Vec::new();
        for (name, value) in [
            ("file", annotation.file.clone()),
            ("line", annotation.line.map(|line| line.to_string())),
            ("col", annotation.col.map(|column| column.to_string())),
            ("title", annotation.title.clone()),
        ] {
            if let Some(value) = value {
                let value = github_data(&plain(&value));
                let value = value.replace(':', "%3A").replace(',', "%2C");
                properties.push(format!("{name}={value}"));
            }
        }
        let message = github_data(&visible(&annotation.message));
        let properties = properties.join(",");
        writeln!(out, "::{} {properties}::{message}", annotation.level)?;
    }
    for line in &list.totals {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn github_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// GitLab code quality: a list of issues for merge requests.
pub(super) fn gitlab(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    let mut issues = Vec::new();
    for issue in list.issues() {
        let severity = match issue.annotation.level {
            "error" => "major",
            "warning" => "minor",
            _ => "info",
        };
        issues.push(json!({
            "description": visible(&issue.annotation.message),
            "check_name": issue.rule.id,
            "fingerprint": issue.fingerprint,
            "severity": severity,
            "location": { "path": plain(issue.file), "lines": { "begin": issue.line.unwrap_or(1) } },
        }));
    }
    writeln!(out, "{:#}", Value::Array(issues))
}

/// SARIF 2.1.0 for code scanning: a result for each annotation, and their rules.
pub(super) fn sarif(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    let mut rules = BTreeMap::from([(list.rule().id, list.rule())]);
    let mut results = Vec::new();
    for issue in list.issues() {
        let level = issue.annotation.level;
        let message = &issue.annotation.message;
        let title = issue.annotation.title.as_deref().map(plain);
        let message = title.map_or(message.clone(), |title| format!("{title}: {message}"));
        let column = issue.annotation.col.filter(|column| *column > 0);
        let region = issue
            .line
            .map(|line| present(json!({ "startLine": line, "startColumn": column })));
        let place = json!({ "artifactLocation": { "uri": uri(issue.file) }, "region": region });
        results.push(json!({
            "ruleId": issue.rule.id,
            "level": if level == "notice" { "note" } else { level },
            "message": { "text": visible(&message) },
            "locations": [{ "physicalLocation": present(place) }],
            "partialFingerprints": { "hookrun/v1": issue.fingerprint },
        }));
        rules.insert(issue.rule.id.clone(), issue.rule);
    }
    let described = rules.values().map(|rule| {
        let about = json!({ "text": rule.about });
        json!({ "id": rule.id, "shortDescription": about, "fullDescription": about, "help": about })
    });
    let driver = json!({
        "name": "hookrun",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": described.collect::<Vec<_>>(),
    });
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "invocations": [{ "executionSuccessful": !list.is_stopped }],
            "results": results,
        }],
    });
    writeln!(out, "{document:#}")
}

/// A path as a URI reference (RFC 3986), relative if the path is.
fn uri(file: &str) -> String {
    let mut uri = String::new();
    if Path::new(file).is_absolute() {
        uri.push_str("file://");
    }
    for byte in plain(file).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// JUnit XML for CI systems, which merge cases with equal names, so every case has a different one.
pub(super) fn junit(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    let attributes = attributes(&list.name, &list.checks, list.took);
    writeln!(out, "<testsuites{attributes}>")?;
    for checks in list.checks.chunk_by(|one, next| one.suite == next.suite) {
        write_suite(checks, out)?;
    }
    writeln!(out, "</testsuites>")
}

fn write_suite(checks: &[Check], out: &mut dyn Write) -> io::Result<()> {
    let took = checks.iter().filter_map(|check| check.took);
    let took = took.reduce(|sum, took| sum + took);
    let attributes = attributes(&checks[0].suite, checks, took);
    writeln!(out, "    <testsuite{attributes}>")?;
    for check in checks {
        out.write_all(case(check).as_bytes())?;
    }
    writeln!(out, "    </testsuite>")
}

/// The name of a group of checks, and its totals.
fn attributes(name: &str, checks: &[Check], took: Option<Duration>) -> String {
    let count = |is_meant: fn(&CheckState) -> bool| {
        let states = checks.iter().map(|check| &check.state);
        states.filter(|state| is_meant(state)).count()
    };
    let failures = count(|state| *state == CheckState::Failed);
    let errors = count(|state| *state == CheckState::Error);
    let skipped = count(|state| matches!(state, CheckState::Skipped(_)));
    let name = escaped(name);
    let tests = checks.len();
    let took = took.map(time).unwrap_or_default();
    format!(
        r#" name="{name}" tests="{tests}" skipped="{skipped}" failures="{failures}" errors="{errors}"{took}"#
    )
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
        CheckState::Failed | CheckState::Error => {
            let is_error = check.state == CheckState::Error;
            let tag = if is_error { "error" } else { "failure" };
            writeln!(
                body,
                r#"            <{tag} message="{message}">{details}</{tag}>"#
            )
        }
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
