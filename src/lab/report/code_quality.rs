//! Code quality of GitLab: a list of issues, which merge requests show on their lines.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::check::{Annotation, Check, CheckList};
use crate::engine::harmless::{plain, visible};

pub(super) fn document(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    let issues = list.checks.iter().flat_map(|check| {
        let issue = |annotation| issue(list, check, annotation);
        check
            .annotations
            .iter()
            .filter_map(issue)
            .collect::<Vec<_>>()
    });
    writeln!(out, "{:#}", Value::Array(issues.collect()))
}

fn issue(list: &CheckList, check: &Check, annotation: &Annotation) -> Option<Value> {
    let severity = match annotation.level {
        "error" => "major",
        "warning" => "minor",
        _ => "info",
    };
    let own = check.place.as_ref();
    // GitLab has no place for an issue without a path.
    let path = annotation
        .property("file")
        .or(own.map(|place| place.file.as_str()))?;
    let line = annotation
        .property("line")
        .and_then(|line| line.parse::<usize>().ok());
    let line = line.or(own.map(|place| place.line)).unwrap_or(1);
    Some(json!({
        "description": visible(&annotation.message),
        "check_name": list.name.replace(' ', "-"),
        "fingerprint": annotation.fingerprint(check),
        "severity": severity,
        "location": { "path": plain(path), "lines": { "begin": line } },
    }))
}
