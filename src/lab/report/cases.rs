//! Cases that were tried, in every format that CI systems read.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::plain;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// One case that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseReport {
    /// Its name, different from that of every other case.
    pub name: String,
    /// What it proves.
    pub about: String,
    /// In what it was not as expected.
    pub misses: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

impl CaseReport {
    /// Whether all was as expected.
    pub fn passes(&self) -> bool {
        self.misses.is_empty()
    }
}

/// A format: its name, and the function that writes it. `suite` is what was done, in two words.
pub type CaseFormat =
    (&'static str, fn(suite: &str, &[CaseReport], &mut dyn Write) -> io::Result<()>);

/// The formats of cases.
pub const FORMATS: &[CaseFormat] =
    &[("human", human), ("json", json_document), ("junit", super::junit::cases), ("tap", tap)];

fn human(_suite: &str, cases: &[CaseReport], out: &mut dyn Write) -> io::Result<()> {
    for case in cases.iter().filter(|case| !case.passes()) {
        writeln!(out, "{BAD}FAILED{BAD:#}: {}: {}", plain(&case.name), plain(&case.about))?;
        for miss in &case.misses {
            writeln!(out, "  {}", plain(miss))?;
        }
    }
    let wrong = cases.iter().filter(|case| !case.passes()).count();
    let (style, verdict) = if wrong > 0 { (BAD, "FAILED") } else { (GOOD, "ok") };
    let of = if wrong > 0 { format!("{wrong} of ") } else { String::new() };
    let noun = if cases.len() == 1 { "case" } else { "cases" };
    writeln!(out, "{style}{verdict}{style:#}: {of}{} {noun}", cases.len())
}

fn json_document(suite: &str, cases: &[CaseReport], out: &mut dyn Write) -> io::Result<()> {
    let list: Vec<Value> = cases
        .iter()
        .map(|case| {
            json!({
                "name": case.name,
                "about": case.about,
                "ok": case.passes(),
                "misses": case.misses,
                "tookMs": u64::try_from(case.took.as_millis()).unwrap_or(u64::MAX),
            })
        })
        .collect();
    let ok = cases.iter().all(CaseReport::passes);
    let version = super::json::VERSION;
    writeln!(out, "{:#}", json!({ "version": version, "suite": suite, "ok": ok, "cases": list }))
}

/// Test Anything Protocol, version 13.
fn tap(_suite: &str, cases: &[CaseReport], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "TAP version 13\n1..{}", cases.len())?;
    for (number, case) in (1..).zip(cases) {
        let mark = if case.passes() { "ok" } else { "not ok" };
        writeln!(out, "{mark} {number} - {}", plain(&case.name).replace('#', "\\#"))?;
        for miss in &case.misses {
            writeln!(out, "  # {}", plain(miss))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(name: &str) -> String {
        let good = CaseReport {
            name: "a#.json".to_string(),
            about: "It is so.".to_string(),
            misses: Vec::new(),
            took: Duration::from_millis(3),
        };
        let bad = CaseReport {
            name: "b.json".to_string(),
            misses: vec!["status: \u{1b}[2J".to_string()],
            ..good.clone()
        };
        let (_, format) = FORMATS.iter().find(|(known, _)| *known == name).unwrap();
        let mut out = Vec::new();
        format("hookrun test", &[good, bad], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn people_read_what_is_wrong_and_a_count() {
        let text = anstream::adapter::strip_str(&write("human")).to_string();
        assert_eq!(text, "FAILED: b.json: It is so.\n  status: \\u{1b}[2J\nFAILED: 1 of 2 cases\n");
    }

    #[test]
    fn programs_read_every_case() {
        assert_eq!(
            write("tap"),
            "TAP version 13\n1..2\nok 1 - a\\#.json\nnot ok 2 - b.json\n  # status: \\u{1b}[2J\n"
        );
        let value: Value = serde_json::from_str(&write("json")).unwrap();
        assert_eq!((&value["ok"], &value["cases"][0]["tookMs"]), (&false.into(), &3.into()));
        assert_eq!(value["cases"][1]["misses"][0], "status: \u{1b}[2J");
        assert!(write("junit").contains("failures=\"1\""));
    }
}
