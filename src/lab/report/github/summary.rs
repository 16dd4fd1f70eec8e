//! What the page of a job shows of a run: the decision, its reason and what was found.
//!
//! HTML, because in it nothing that a hook wrote is Markdown. A file with more than 1 MiB is shown
//! by nobody, so what is long is cut.

use std::fmt::Write;

use crate::engine::harmless::{plain, without_commands};
use crate::hosts::native;
use crate::log::report::RunReport;

const MOST_FINDINGS: usize = 100;

const LONGEST_REASON_CHARS: usize = 16 * 1024;

const LONGEST_CELL_CHARS: usize = 500;

/// Whether the job may go on. Nobody can answer a question there.
pub fn goes_on(report: &RunReport) -> bool {
    report.decision == "allow" && report.reply.status == native::ALLOWED
}

pub(super) fn decided(report: &RunReport) -> String {
    let what = if goes_on(report) {
        "allowed"
    } else {
        "blocked"
    };
    without_commands(&format!("hookrun: {} is {what}", plain(&report.event))).into_owned()
}

/// A run, as HTML between two empty lines.
pub fn summary(report: &RunReport) -> String {
    let mut made = format!("\n<h3>{}</h3>\n", line(&decided(report)));
    let mut texts: Vec<(Option<&str>, &str)> = report
        .questions
        .iter()
        .map(|one| (Some(one.hook.as_str()), one.question.as_str()))
        .collect();
    texts.extend(
        report
            .reason
            .as_deref()
            .map(|reason| (report.decided_by.as_deref(), reason)),
    );
    for (by, text) in texts {
        let by = line(by.unwrap_or("hookrun"));
        let _ = writeln!(
            made,
            "<p><code>{by}</code> says:</p>\n\n<pre>{}</pre>\n",
            lines(text)
        );
    }
    if !report.findings.is_empty() {
        made.push_str(&table(report));
    }
    made
}

fn table(report: &RunReport) -> String {
    let mut made =
        "<table>\n<tr><th>where</th><th>level</th><th>what</th><th>hook</th></tr>\n".to_string();
    for found in report.findings.iter().take(MOST_FINDINGS) {
        let finding = &found.finding;
        let at = finding
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let (path, what) = (line(&finding.path), line(&finding.message));
        let (level, hook) = (finding.level.name(), line(&found.hook));
        let _ = writeln!(
            made,
            "<tr><td><code>{path}{at}</code></td><td>{level}</td><td>{what}</td><td><code>{hook}</code></td></tr>"
        );
    }
    made.push_str("</table>\n");
    let more = report.findings.len().saturating_sub(MOST_FINDINGS);
    if more > 0 {
        let _ = writeln!(made, "<p>and {more} more</p>");
    }
    made.push('\n');
    made
}

fn lines(text: &str) -> String {
    let (text, rest) = cut(text, LONGEST_REASON_CHARS);
    let escaped: Vec<String> = text.lines().map(escaped).collect();
    escaped.join("\n") + rest
}

/// A text on one line: an empty one would end the HTML.
fn line(text: &str) -> String {
    let (text, rest) = cut(text, LONGEST_CELL_CHARS);
    let escaped: Vec<String> = text.lines().map(escaped).collect();
    escaped.join("<br>") + rest
}

fn cut(text: &str, longest: usize) -> (&str, &'static str) {
    match text.char_indices().nth(longest) {
        Some((at, _)) => (&text[..at], " …"),
        None => (text, ""),
    }
}

fn escaped(line: &str) -> String {
    plain(line)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
