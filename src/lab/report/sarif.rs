//! SARIF 2.1.0, as code scanning of GitHub, GitLab and Azure DevOps reads it: a result for each
//! annotation.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::check::{Annotation, Check, CheckList};
use crate::engine::harmless::{plain, visible};
use crate::log::report::present;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn document(list: &CheckList, out: &mut dyn Write) -> io::Result<()> {
    let rule = list.name.replace(' ', "-");
    let results = list.checks.iter().flat_map(|check| {
        let result = |annotation| result(&rule, check, annotation);
        check.annotations.iter().map(result).collect::<Vec<_>>()
    });
    let results: Vec<Value> = results.collect();
    let driver = json!({
        "name": "hookrun",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": [{ "id": rule, "shortDescription": { "text": list.name } }],
    });
    let run = json!({
        "tool": { "driver": driver },
        "invocations": [{ "executionSuccessful": !list.is_stopped }],
        "results": results,
    });
    writeln!(
        out,
        "{:#}",
        json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] })
    )
}

fn result(rule: &str, check: &Check, annotation: &Annotation) -> Value {
    let level = if annotation.level == "notice" {
        "note"
    } else {
        annotation.level
    };
    let message = match annotation.property("title") {
        Some(title) => format!("{title}: {}", annotation.message),
        None => annotation.message.clone(),
    };
    let number = |name: &str| {
        annotation
            .property(name)
            .and_then(|text| text.parse::<u64>().ok())
    };
    let location = annotation.property("file").map(|file| {
        let line = number("line").filter(|line| *line > 0);
        let column = number("col").filter(|column| *column > 0 && line.is_some());
        let region = line.map(|line| present(json!({ "startLine": line, "startColumn": column })));
        let place = json!({ "artifactLocation": { "uri": uri(file) }, "region": region });
        json!({ "physicalLocation": present(place) })
    });
    json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": visible(&message) },
        "locations": location.into_iter().collect::<Vec<_>>(),
        "partialFingerprints": { "hookrun/v1": annotation.fingerprint(check) },
    })
}

/// A path as a reference of RFC 3986, relative where the path is.
fn uri(file: &str) -> String {
    let mut made = String::from(if Path::new(file).is_absolute() {
        "file://"
    } else {
        ""
    });
    for byte in plain(file).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                made.push(char::from(byte));
            }
            byte => made.push_str(&format!("%{byte:02X}")),
        }
    }
    made
}
