//! A case out of what was decided last, as the decision log or a recording has it.
//!
//! What a case must say of an event is its context; what is only true where it was decided (its
//! working directory, the host's own payload) is left out.

use std::path::PathBuf;

use hookrun::audit::Log;
use hookrun::audit::read::Backwards;
use hookrun::audit::record::Record;
use hookrun::config::Environment;
use hookrun::event::{Action, Context};
use hookrun::report::json::{HookReport, RunReport};
use serde_json::{Map, Value};

use crate::exit::{Failure, Result};

/// Keys of a context that a case has no use for: its own name, and what lies on this machine only.
const LEFT_OUT: &[&str] = &["event", "raw", "cwd", "transcriptPath"];

/// The newest line of `file`, or of the decision log.
pub(super) fn newest(file: Option<&PathBuf>, env: &Environment) -> Result<Vec<u8>> {
    let files = match (file, env.decision_log()) {
        (Some(file), _) => vec![env.cwd.join(file)],
        (None, Some(folder)) => Log::in_folder(folder).files(),
        (None, None) => Vec::new(),
    };
    let cannot = |error| Failure::new(format!("cannot read {error}"));
    for file in &files {
        let mut lines = Backwards::open(file).map_err(cannot)?;
        if let Some((_, line)) = lines.line_before().map_err(cannot)? {
            return Ok(line);
        }
    }
    let help = "`hookrun run` keeps what hooks decide; name a recording with --file";
    Err(Failure::with_help("no decision is kept", help))
}

/// The file of cases with the decision in `line`, and a doubt about it if there is one.
pub(super) fn case_of(line: &[u8], name: &str) -> Result<(String, Option<String>)> {
    let bad = |error| Failure::new(format!("the last decision cannot be read: {error}"));
    let record = Record::parse(line).map_err(bad)?;
    let report = record.report().map_err(bad)?;
    let Some(context) = record.context().filter(|_| !is_own_failure(&report)) else {
        let reason = report.reason.unwrap_or_default();
        let cause = format!("of the last event no case can be made: {reason}");
        return Err(Failure::with_help(cause, "`hookrun why` explains it"));
    };
    if let Some(cut) = record.truncated.iter().find(|path| path.starts_with("context.")) {
        let cause = format!("of the last event no case can be made: `{cut}` was not kept whole");
        let help = "decide it with `hookrun run --record FILE`, which keeps everything, and name FILE with --file";
        return Err(Failure::with_help(cause, help));
    }
    let mut text = format!(
        "# Decided on {}; `hookrun test --suite` plays it.\n\n[[case]]\nname = {}\nevent = {}\n",
        record.time,
        string(name),
        string(&record.event)
    );
    let context = kept_of(context)?;
    if !context.is_empty() {
        let json = format!("{:#}", Value::Object(context));
        let quoted = if json.contains("'''") { string(&json) } else { format!("'''\n{json}'''") };
        text.push_str(&format!("context = {quoted}\n"));
    }
    text.push_str("\n[case.expect]\n");
    for (key, value) in expectations(&report) {
        text.push_str(&format!("{key} = {value}\n"));
    }
    Ok((text, doubt(&report)))
}

/// Whether hookrun refused, and no hook: for a broken configuration, a bad event.
fn is_own_failure(report: &RunReport) -> bool {
    report.decided_by.is_none() && report.cause.as_deref() == Some("failure")
}

/// What a case keeps of a context.
fn kept_of(context: &str) -> Result<Map<String, Value>> {
    let bad = |problem: String| Failure::new(format!("the last event cannot be read: {problem}"));
    let read = Context::parse(context).map_err(|error| bad(error.to_string()))?;
    let mut kept: Map<String, Value> =
        serde_json::from_str(context).map_err(|error| bad(error.to_string()))?;
    kept.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
    // An action is made again from the tool, or from what changes, unless the host sent another.
    let made = [Action::derive(&read), Action::of_changes(&read)];
    let is_made =
        |action: &Value| made.iter().flatten().flatten().any(|made| made.to_json() == *action);
    if kept.get("action").is_some_and(is_made) {
        kept.remove("action");
    }
    Ok(kept)
}

/// The keys of `expect` with their values, as TOML.
fn expectations(report: &RunReport) -> Vec<(&'static str, String)> {
    let pattern = |text: &str| string(&format!("^{}$", regex::escape(text.trim_end())));
    let names = |names: Vec<&str>| {
        format!("[{}]", names.into_iter().map(string).collect::<Vec<_>>().join(", "))
    };
    // Nobody answers in a suite: there a question stays one.
    let is_question = report.cause.as_deref() == Some("person") || report.decision == "ask";
    let decision = if is_question { "ask" } else { &report.decision };
    let mut keys = vec![("decision", string(decision))];
    if is_question {
        // Of the verdicts, as a question that nobody answered is a refusal afterwards.
        let asked = |hook: &&HookReport| {
            let verdict = hook.trace.as_ref().and_then(|trace| trace.verdict.as_ref());
            verdict.is_some_and(|verdict| verdict.decision == "ask")
        };
        let asking = report.hooks.iter().filter(asked).map(|hook| hook.name.as_str());
        keys.push(("by", names(asking.collect())));
    } else if let Some(reason) = &report.reason {
        keys.push(("reason", pattern(reason)));
        keys.extend(report.decided_by.as_ref().map(|hook| ("by", string(hook))));
    }
    let has_failed = |ending: &str| !matches!(ending, "answered" | "voided");
    let failed = report
        .hooks
        .iter()
        .filter(|hook| hook.trace.as_ref().is_some_and(|trace| has_failed(&trace.ending)));
    let failed: Vec<&str> = failed.map(|hook| hook.name.as_str()).collect();
    if !failed.is_empty() {
        keys.push(("failed", names(failed)));
    }
    keys.extend(report.output.as_deref().map(|text| ("output", pattern(text))));
    keys.extend(report.additional_context.as_deref().map(|text| ("context", pattern(text))));
    let said =
        report.notices.iter().find(|notice| notice.kind == "refusal" || notice.kind == "question");
    keys.extend(said.map(|notice| ("notice", string(&regex::escape(&notice.text)))));
    if !report.update.is_empty() {
        keys.push(("rewrites", string(&Value::from(report.update.clone()).to_string())));
    }
    keys
}

/// Why the case may not come out as it did.
fn doubt(report: &RunReport) -> Option<String> {
    let decider =
        report.hooks.iter().find(|hook| report.decided_by.as_ref() == Some(&hook.name))?;
    if decider.layer == "project" || decider.layer == "explicit" {
        return None;
    }
    Some(format!(
        "`{}` of the {} layer decided, and a suite has only the hooks beside it",
        decider.name, decider.layer
    ))
}

/// A text as TOML.
fn string(text: &str) -> String {
    if !text.contains(|c: char| c == '\'' || c.is_control()) {
        return format!("'{text}'");
    }
    // The escapes of JSON are escapes of TOML; that has one more.
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_so_that_it_is_read_again() {
        for text in ["plain", "it's", "a\nb\t\"c\" \\d", "\u{7f}\u{1}", "", "é ''' {case.folder}"]
        {
            let line = format!("a = {}", string(text));
            let document = toml::de::DeTable::parse(&line).unwrap();
            assert_eq!(document.get_ref()["a"].get_ref().as_str(), Some(text));
        }
    }
}
