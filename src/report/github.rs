//! Workflow commands of GitHub Actions, which become annotations: on the lines of the diff where a
//! file and a line are named, else on the job.

use std::io::{self, Write};

use super::json::RunReport;

/// A run: what its hooks found, then why it was refused.
///
/// # Errors
/// When the writer fails.
pub fn run(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    for found in &report.findings {
        let finding = &found.finding;
        let mut properties = vec![("file", finding.path.clone())];
        if let Some(line) = finding.line {
            properties.push(("line", line.to_string()));
        }
        properties.push(("title", found.hook.clone()));
        annotation(finding.level.word(), &properties, &finding.message, out)?;
    }
    for notice in &report.notices {
        annotation("warning", &[("title", notice.hook.clone())], &notice.text, out)?;
    }
    if let Some(reason) = &report.reason {
        let by = report.decided_by.as_deref().unwrap_or("hookrun");
        let title = format!("{by} refused {}", report.event);
        annotation("error", &[("title", title)], reason, out)?;
    }
    Ok(())
}

/// One annotation.
pub(crate) fn annotation(
    level: &str,
    properties: &[(&str, String)],
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let properties = properties.iter().map(|(name, value)| format!("{name}={}", property(value)));
    let properties = properties.collect::<Vec<_>>().join(",");
    writeln!(out, "::{level} {properties}::{}", data(message))
}

/// Escapes the data of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
