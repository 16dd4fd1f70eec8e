//! A model of checks, and the formats of CI systems, each a function over a [`CheckList`].

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::config::discover::MANIFEST;
use crate::engine::harmless::{plain, visible, without_commands};
use crate::engine::session::checksum;
use crate::log::report::{Paths, present};

pub fn write_json(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// A report on checks, for people, for programs, and as a list for CI formats.
pub trait CheckReport {
    fn human(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()>;

    fn json(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()>;

    fn checks(&self, paths: &Paths) -> CheckList;
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
            issues.push(Issue {
                annotation,
                rule: annotation.rule.clone().unwrap_or_else(|| self.rule()),
                file,
                line: line.filter(|line| *line > 0),
                fingerprint: annotation.fingerprint(check),
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

impl Annotation {
    /// The properties besides level and message.
    fn properties(&self) -> impl Iterator<Item = (&'static str, String)> {
        let all = [
            ("file", self.file.clone()),
            ("line", self.line.map(|line| line.to_string())),
            ("col", self.col.map(|column| column.to_string())),
            ("title", self.title.clone()),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
    }

    fn titled(&self) -> String {
        match &self.title {
            Some(title) => format!("{}: {}", plain(title), self.message),
            None => self.message.clone(),
        }
    }

    /// An identifier that does not change when its line moves.
    fn fingerprint(&self, check: &Check) -> String {
        let parts = [
            &check.suite,
            &check.name,
            self.file.as_deref().unwrap_or_default(),
            self.title.as_deref().unwrap_or_default(),
            self.level,
            &self.message,
        ];
        format!("{:016x}", checksum(parts.join("\0").as_bytes()))
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
        for (name, value) in annotation.properties() {
            let value = github_data(&plain(&value));
            let value = value.replace(':', "%3A").replace(',', "%2C");
            properties.push(format!("{name}={value}"));
        }
        let message = github_data(&visible(&annotation.message));
        let properties = properties.join(",");
        writeln!(out, "::{} {properties}::{message}", annotation.level)?;
    }
    write_totals(list, out)
}

fn github_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Logging commands of Azure Pipelines, which become issues of a job.
pub(super) fn azure(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    for (_, annotation) in list.annotations() {
        // Azure has only errors and warnings.
        let kind = if annotation.level == "error" {
            "error"
        } else {
            "warning"
        };
        write!(out, "##vso[task.logissue type={kind}")?;
        for (name, value) in annotation.properties() {
            let name = match name {
                "file" => "sourcepath",
                "line" => "linenumber",
                "col" => "columnnumber",
                _ => continue,
            };
            let value = azure_data(&plain(&value));
            let value = value.replace(';', "%3B").replace(']', "%5D");
            write!(out, ";{name}={value}")?;
        }
        let message = azure_data(&without_commands(&visible(&annotation.titled())));
        writeln!(out, "]{message}")?;
    }
    write_totals(list, out)
}

fn azure_data(text: &str) -> String {
    text.replace('%', "%AZP25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn write_totals(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    for line in &list.totals {
        writeln!(out, "{line}")?;
    }
    Ok(())
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
        let column = issue.annotation.col.filter(|column| *column > 0);
        let region = issue
            .line
            .map(|line| present(json!({ "startLine": line, "startColumn": column })));
        let place = json!({ "artifactLocation": { "uri": uri(issue.file) }, "region": region });
        results.push(json!({
            "ruleId": issue.rule.id,
            "level": if level == "notice" { "note" } else { level },
            "message": { "text": visible(&issue.annotation.titled()) },
            "locations": [{ "physicalLocation": present(place) }],
            "partialFingerprints": { "hookrun/v1": issue.fingerprint },
        }));
        rules.insert(issue.rule.id.clone(), issue.rule);
    }
    let mut described = Vec::new();
    for rule in rules.values() {
        described.push(json!({
            "id": rule.id,
            "shortDescription": { "text": rule.about },
            "fullDescription": { "text": rule.about },
            "help": { "text": rule.about },
        }));
    }
    let driver = json!({
        "name": "hookrun",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": described,
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
