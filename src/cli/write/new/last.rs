//! A case out of what was decided last, as the decision log or a recording has it.
//!
//! A case needs the context of an event, in the words of the host that sent it, without what is only
//! true where it was decided (its working directory).

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Action, Context, Event, catalog};
use crate::engine::names::words;
use crate::engine::outcome::{Notice, NoticeKind};
use crate::hosts::{self, Binding};
use crate::lab::scenario::{Keys, TOKENS};
use crate::log::read::newest_first;
use crate::log::record::DecisionLine;
use crate::log::report::{HookReport, RunReport};
use crate::log::{DecisionLog, redact};
use serde_json::{Map, Value};

use crate::cli::exit::Result;
use crate::cli::look::decisions::{is_of_project, project};
use crate::cli::write::files::toml_text;

/// The longest reply of a host that a case expects word by word.
const LONGEST_REPLY_BYTES: usize = 2000;

const NEEDED: &[&str] = words!(
    "context." "run.reason" "run.output" "run.additionalContext" "run.update" "run.questions"
    "run.notices"
);

/// The newest line of `file`, or of the decision log.
pub(super) fn newest(file: Option<&PathBuf>, env: &Environment) -> Result<Vec<u8>> {
    let files = match (file, env.decision_log()) {
        (Some(file), _) => vec![env.cwd.join(file)],
        (None, Some(folder)) => DecisionLog::in_folder(folder).files(),
        (None, None) => Vec::new(),
    };
    let cannot = |error| {
        let help = "name a file that `hookrun run --record FILE` has written";
        Complaint::with_cure(format!("cannot read {error}"), help)
    };
    // As `why`: the last decision here, or of the recording that is named.
    let project = file.is_none().then(|| project(env));
    let is_meant = |line: &[u8]| {
        let Some(project) = &project else { return true };
        DecisionLine::parse(line).is_ok_and(|record| is_of_project(&record, project))
    };
    for file in &files {
        let lines = newest_first(file).map_err(cannot)?;
        if let Some(line) = lines.into_iter().find(|line| is_meant(line)) {
            return Ok(line);
        }
    }
    let help = "`hookrun run` keeps what hooks decide; name a recording with --file";
    Err(Complaint::with_cure("no decision is kept", help))
}

pub(super) struct CaseDraft {
    pub(super) text: String,
    /// Why it may come out differently.
    pub(super) doubt: Option<String>,
    /// Where a secret was replaced in the log: the text there is not the one that was decided.
    pub(super) secret: Option<String>,
}

pub(super) fn case_of(line: &[u8], name: &str) -> Result<CaseDraft> {
    let bad = |error| {
        let help = "`hookrun why` shows what is kept; name another file with --file";
        Complaint::with_cure(format!("the last decision cannot be read: {error}"), help)
    };
    let record = DecisionLine::parse(line).map_err(bad)?;
    let report = record.report().map_err(bad)?;
    let Some(context) = record.context().filter(|_| !is_own_failure(&report)) else {
        let reason = report.reason.unwrap_or_default();
        let cause = format!("no case can be made of the last event: {reason}");
        return Err(Complaint::with_cure(cause, "`hookrun why` explains it"));
    };
    let is_needed = |path: &&String| NEEDED.iter().any(|part| path.starts_with(part));
    if let Some(cut) = record.truncated.iter().find(is_needed) {
        let cause = format!("no case can be made of the last event: `{cut}` was not kept whole");
        let help = "decide it with `hookrun run --record FILE`, which keeps everything, and name FILE with --file";
        return Err(Complaint::with_cure(cause, help));
    }
    let words = CaseWords::of(&record, context)?;
    let mut text = format!(
        "# Decided on {}; `hookrun test --suite` plays it.\n\n[[case]]\nname = {}\nevent = {}\n",
        record.time,
        toml_text(name),
        toml_text(&words.event)
    );
    text.extend(
        words
            .host
            .map(|host| format!("host = {}\n", toml_text(host))),
    );
    let mut secret = marked_in(&words.context);
    if !words.context.is_empty() {
        let key = if words.has_slip { "stdin" } else { "context" };
        let json = unfilled(&format!("{:#}", Value::Object(words.context)));
        let quoted = if json.contains("'''") {
            toml_text(&json)
        } else {
            format!("'''\n{json}'''")
        };
        text.push_str(&format!("{key} = {quoted}\n"));
    }
    text.push_str("\n[case.expect]\n");
    let mut keys = expectations(&report)?;
    if words.host.is_some() {
        keys.extend(reply_of(&record, &report).map(|reply| ("reply", reply)));
    }
    for (key, value) in keys {
        secret = secret.or_else(|| redact::is_marked(&value).then(|| format!("expect.{key}")));
        text.push_str(&format!("{key} = {value}\n"));
    }
    Ok(CaseDraft {
        text,
        doubt: doubt(&report),
        secret,
    })
}

/// Where a context has a mark in the place of a secret.
fn marked_in(context: &Map<String, Value>) -> Option<String> {
    fn find(value: &Value, path: &str) -> Option<String> {
        match value {
            Value::String(text) => redact::is_marked(text).then(|| path.to_string()),
            Value::Array(list) => list.iter().find_map(|one| find(one, path)),
            Value::Object(entries) => entries
                .iter()
                .find_map(|(key, one)| find(one, &format!("{path}.{key}"))),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    context
        .iter()
        .find_map(|(key, value)| find(value, &format!("context.{key}")))
}

/// A text of JSON without placeholders for folders of the case.
fn unfilled(json: &str) -> String {
    TOKENS.iter().fold(json.to_string(), |json, token| {
        let start = token.name.split_inclusive('.').next().unwrap_or(token.name);
        json.replace(start, &start.replacen('{', "\\u007b", 1))
    })
}

/// What the host got, if a suite gives it the same: there nobody answers a question.
fn reply_of(record: &DecisionLine<'_>, report: &RunReport) -> Option<String> {
    let is_answered = report.cause.as_deref() == Some("person") || was_asked(report);
    if is_answered && report.decision != "ask" {
        return None;
    }
    let reply = &report.reply;
    let is_whole = !record
        .truncated
        .iter()
        .any(|path| path.starts_with("run.reply"));
    let is_elsewhere = record
        .cwd
        .as_ref()
        .is_some_and(|cwd| reply.stdout.contains(cwd.as_str()));
    let status = format!("status = {}", reply.status);
    let stdout = toml_text(&format!("^{}$", regex::escape(&reply.stdout)));
    let is_short = reply.stdout.len() <= LONGEST_REPLY_BYTES;
    if is_whole && !is_elsewhere && is_short && !reply.stdout.is_empty() {
        return Some(format!("{{ {status}, stdout = {stdout} }}"));
    }
    Some(format!("{{ {status} }}"))
}

/// Whether hookrun refused, and no hook: for a broken configuration, a bad event.
fn is_own_failure(report: &RunReport) -> bool {
    report.decided_by.is_none() && report.cause.as_deref() == Some("failure")
}

/// Whether a hook's question decided something, though it has been answered since.
fn was_asked(report: &RunReport) -> bool {
    report.hooks.iter().any(has_asked)
        && !report
            .notices
            .iter()
            .any(|one| one.kind == NoticeKind::Question)
}

fn has_asked(hook: &HookReport) -> bool {
    let verdict = hook.trace.as_ref().and_then(|trace| trace.verdict.as_ref());
    verdict.is_some_and(|verdict| verdict.decision == "ask")
}

fn questions(report: &RunReport) -> Option<String> {
    let asking = report.hooks.iter().filter(|hook| has_asked(hook));
    let question = |hook: &HookReport| {
        let put = report.questions.iter().find(|one| one.hook == hook.name);
        let said = || hook.trace.as_ref()?.verdict.as_ref()?.reason.clone();
        put.map(|one| one.question.clone()).or_else(said)
    };
    let all: Option<Vec<String>> = asking.map(question).collect();
    Some(all?.join("\n")).filter(|text| !text.is_empty())
}

/// The keys of `expect` with their values, as TOML.
fn expectations(report: &RunReport) -> Result<Vec<(&'static str, String)>> {
    let pattern = |text: &str| toml_text(&format!("^{}$", regex::escape(text.trim_end())));
    let names = |names: Vec<&str>| {
        format!(
            "[{}]",
            names
                .into_iter()
                .map(toml_text)
                .collect::<Vec<_>>()
                .join(", ")
        )
    };
    // Nobody answers in a suite: there a question stays one.
    let is_person = report.cause.as_deref() == Some("person");
    let is_question =
        is_person || report.decision == "ask" || report.decision == "allow" && was_asked(report);
    let decision = if is_question { "ask" } else { &report.decision };
    let mut keys = vec![("decision", toml_text(decision))];
    if is_question {
        keys.extend(questions(report).map(|text| ("reason", pattern(&text))));
        // From the verdicts: a question without an answer became a block.
        let asking = report.hooks.iter().filter(|hook| has_asked(hook));
        keys.push(("by", names(asking.map(|hook| hook.name.as_str()).collect())));
    } else if let Some(reason) = &report.reason {
        keys.push(("reason", pattern(reason)));
        keys.extend(
            report
                .decided_by
                .as_ref()
                .map(|hook| ("by", toml_text(hook))),
        );
    }
    let has_failed = |ending: &str| !matches!(ending, "answered" | "voided");
    let failed = report.hooks.iter().filter(|hook| {
        hook.trace
            .as_ref()
            .is_some_and(|trace| has_failed(&trace.ending))
    });
    let failed: Vec<&str> = failed.map(|hook| hook.name.as_str()).collect();
    if !failed.is_empty() {
        keys.push(("failed", names(failed)));
    }
    keys.extend(
        report
            .output
            .as_deref()
            .map(|text| ("output", pattern(text))),
    );
    keys.extend(
        report
            .additional_context
            .as_deref()
            .map(|text| ("context", pattern(text))),
    );
    let is_said = |one: &&Notice| matches!(one.kind, NoticeKind::Refusal | NoticeKind::Question);
    let said = report.notices.iter().find(is_said);
    keys.extend(said.map(|notice| ("notice", toml_text(&regex::escape(&notice.text)))));
    if !report.update.is_empty() {
        let update = Value::from(report.update.clone()).to_string();
        if let Some(token) = TOKENS.iter().find(|token| update.contains(token.name)) {
            let cause = format!(
                "no case can be made of the last event: `{}` was written into it, which is a placeholder in cases",
                token.name
            );
            return Err(Complaint::with_cure(
                cause,
                "write the case by hand, about another text",
            ));
        }
        keys.push(("rewrites", toml_text(&update)));
    }
    Ok(keys)
}

fn doubt(report: &RunReport) -> Option<String> {
    let decider = report
        .hooks
        .iter()
        .find(|hook| report.decided_by.as_ref() == Some(&hook.name))?;
    if decider.layer == "project" || decider.layer == "explicit" {
        return None;
    }
    Some(format!(
        "`{}` of the {} layer decided, and a suite has only the hooks next to it",
        decider.name, decider.layer
    ))
}

/// Keys of a context that a case has no use for: its own name, and the event as it came.
const OURS: &[&str] = &["event", "raw"];

/// Keys whose values are only true on the machine where it was decided, as any host spells them.
const LOCAL: &[&str] = &["cwd", "transcriptpath"];

struct CaseWords {
    /// `None` for a native event.
    host: Option<&'static str>,
    event: String,
    context: Map<String, Value>,
    /// One of its keys looks like a slip, which a case may not have in its context.
    has_slip: bool,
}

impl CaseWords {
    fn of(record: &DecisionLine<'_>, context: &str) -> Result<CaseWords> {
        let bad =
            |problem: String| Complaint::new(format!("the last event cannot be read: {problem}"));
        let read = Context::parse(context).map_err(|error| bad(error.to_string()))?;
        let spec = catalog::find(&record.event);
        let binding = binding_of(record, &read);
        let is_local = |key: &str| LOCAL.contains(&key.replace('_', "").to_lowercase().as_str());
        let (host, event, mut kept) = match binding {
            Some(binding) => {
                let event = Event::new(Arc::new(binding.spec()), record.host.clone(), read.clone())
                    .map_err(|error| bad(error.to_string()))?;
                let theirs = binding.encode(&event).to_json();
                let name = binding.row.name.to_string();
                (
                    Some(binding.dialect.name),
                    name,
                    parsed(&theirs).map_err(bad)?,
                )
            }
            None => {
                let mut ours = parsed(context.as_bytes()).map_err(bad)?;
                ours.retain(|key, _| !OURS.contains(&key.as_str()));
                (None, record.event.clone(), ours)
            }
        };
        kept.retain(|key, _| !is_local(key));
        // Its links led elsewhere at that time, and no host need say its commands.
        if let Some(action) = kept.get_mut("action").and_then(Value::as_object_mut) {
            action.retain(|key, _| !matches!(key.as_str(), "resolved" | "commands"));
        }
        // An action is made again from the tool, or from what changes, unless the host sent another.
        let made = [Action::derive(&read), Action::of_changes(&read)];
        let made: Vec<Value> = made
            .iter()
            .flatten()
            .flatten()
            .filter_map(|made| {
                serde_json::from_str(&Action::without_commands(&made.to_json())).ok()
            })
            .collect();
        let is_made = |action: &Value| made.contains(action);
        if kept.get("action").is_some_and(is_made) {
            kept.remove("action");
        }
        let bindings: Vec<Binding> = binding.into_iter().collect();
        let keys = spec.map(|spec| Keys::of([spec], &bindings));
        let has_slip = keys.is_some_and(|keys| !keys.slips(&kept).is_empty());
        Ok(CaseWords {
            host,
            event,
            context: kept,
            has_slip,
        })
    }
}

/// The row of the host's event that it was, by the name that the host has sent.
fn binding_of(record: &DecisionLine<'_>, context: &Context) -> Option<Binding> {
    let dialect = hosts::find(&record.host)?;
    let raw = context.raw("raw").and_then(|raw| Context::parse(raw).ok());
    let sent = raw
        .as_ref()
        .and_then(|raw| raw.string(dialect.names_event_by));
    let named = sent.map(|name| dialect.called(&name)).unwrap_or_default();
    let is_it = |binding: &Binding| binding.row.event == record.event;
    named
        .into_iter()
        .chain(dialect.called(&record.event))
        .find(is_it)
}

fn parsed(json: &[u8]) -> std::result::Result<Map<String, Value>, String> {
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_so_that_it_is_read_again() {
        for text in [
            "plain",
            "it's",
            "a\nb\t\"c\" \\d",
            "\u{7f}\u{1}",
            "",
            "é ''' {case.folder}",
        ] {
            let line = format!("a = {}", toml_text(text));
            let document = toml::de::DeTable::parse(&line).unwrap();
            assert_eq!(document.get_ref()["a"].get_ref().as_str(), Some(text));
        }
    }
}
