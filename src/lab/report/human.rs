//! A run, live or from the log, for a terminal: each hook with its output and time, the deciding
//! rule, and the reply to the host.

use std::io::{self, Write};
use std::path::Path;

use anstyle::Style;
use serde_json::Value;

use super::style::{
    ADDED, BAD, BOLD, DIM, DOUBT, GOOD, REMOVED, column, counted, cut, decision_style, label,
    prose, short, text,
};
use crate::engine::event::Context;
use crate::engine::harmless::plain;
use crate::engine::outcome::{ContractRule, RULES, Rewritten};
use crate::engine::run::{ColdReason, signal_name};
use crate::log::report::{HookReport, Paths, RunReport, StreamReport, TraceReport, VerdictReport};

const STREAM_LINES: usize = 20;

/// The fewest hooks without a match that share one line.
const FEWEST_TOGETHER: usize = 4;

/// What 80 columns leave for their names.
const NAMES_COLUMNS: usize = 32;

#[derive(Debug, Clone)]
pub struct About<'a> {
    /// Completes "asked when …".
    pub summary: &'a str,
    pub context: Option<&'a Context>,
    /// Where and when the event came from, as labels with texts.
    pub origin: Vec<(&'static str, String)>,
}

pub fn run(
    run: &RunReport,
    about: &About<'_>,
    paths: &Paths,
    out: &mut dyn Write,
) -> io::Result<()> {
    let event = plain(&run.event);
    writeln!(out, "{BOLD}{event}{BOLD:#}  {}", about.summary)?;
    for (name, value) in &about.origin {
        text(out, name, value)?;
    }
    if let Some(context) = about.context {
        action(context, out)?;
    }
    writeln!(out)?;
    if run.hooks.is_empty() && run.decision == "allow" {
        writeln!(out, "No hook is bound to this event.\n")?;
    }
    let unwanted = run.hooks.iter().filter(|hook| hook.fate == "unwanted");
    let unmatched: Vec<&str> = unwanted.map(|hook| hook.name.as_str()).collect();
    let is_long = unmatched.len() >= FEWEST_TOGETHER;
    for hook in &run.hooks {
        if !is_long || hook.fate != "unwanted" {
            hook_run(hook, run, paths, out)?;
        }
    }
    if is_long {
        let count = unmatched.len();
        let names = column(&unmatched.join(", "), NAMES_COLUMNS);
        let why = "do not match (`--format json` shows why)";
        writeln!(out, "{DIM}skip  {DIM:#}  {count} {why}: {names}\n")?;
    }
    rewrites(&run.rewrites, out)?;
    conclusion(run, paths, out)?;
    reply_to_host(run, out)
}

fn action(context: &Context, out: &mut dyn Write) -> io::Result<()> {
    if let Some(tool) = context.string("toolName") {
        let kind = context.text("action.kind").unwrap_or_default();
        label(out, "tool", &format!("{} ({})", plain(&tool), plain(&kind)))?;
    }
    if let Some(command) = context.text("action.command") {
        text(out, "command", &command)?;
    }
    let mut paths = texts_of(context, "action.paths");
    let resolved = texts_of(context, "action.resolved");
    for (path, real) in paths.iter_mut().zip(resolved) {
        if !Path::new(&real).ends_with(path.trim_start_matches("./")) {
            path.push_str(&format!(" -> {real}"));
        }
    }
    text(out, "paths", &paths.join("\n"))
}

fn texts_of(context: &Context, key: &str) -> Vec<String> {
    context
        .lookup(key)
        .and_then(|raw| serde_json::from_str(raw).ok())
        .unwrap_or_default()
}

fn hook_run(
    hook: &HookReport,
    run: &RunReport,
    paths: &Paths,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (style, word) = hook_word(hook);
    let name = plain(&hook.name);
    writeln!(out, "{style}{word:<6}{style:#}  {BOLD}{name}{BOLD:#}")?;
    if hook.function {
        label(out, "runs", "a function of the embedding program")?;
    } else {
        let set = hook.set.as_deref().map(plain);
        let set = set.map(|set| format!(", set {set}"));
        let layer = format!("{} layer{}", hook.layer, set.unwrap_or_default());
        label(out, "file", &format!("{} ({layer})", place(hook, paths)))?;
    }
    let why = hook.why.as_deref().unwrap_or_default();
    match (hook.fate.as_ref(), &hook.trace) {
        ("ran", Some(trace)) => {
            text(out, "matched", &hook.wants)?;
            ran(trace, hook, out)?;
        }
        ("disabled", _) => label(out, "why", "disabled: `enabled = false`")?,
        ("idle", _) => label(out, "why", &plain(why))?,
        ("detached", _) => label(out, "why", "started; hookrun does not wait for it")?,
        ("unreached", _) => {
            let settled = match &run.decided_by {
                Some(by) => format!("`{by}` settled the event"),
                None => "the event was settled".to_string(),
            };
            prose(out, "why", &format!("{settled} before this hook's turn"))?;
        }
        _ => prose(out, "why", why)?,
    }
    writeln!(out)
}

fn place(hook: &HookReport, paths: &Paths) -> String {
    plain(&paths.show_line(Path::new(&hook.file), hook.line))
}

pub(super) fn hook_word(hook: &HookReport) -> (Style, &'static str) {
    let Some(trace) = &hook.trace else {
        let is_away = hook.fate == "detached";
        return (DIM, if is_away { "away" } else { "skip" });
    };
    match &trace.verdict {
        Some(verdict) => decision_style(&verdict.decision),
        None if trace.failure.is_none() => (DIM, "void"),
        None => (BAD, "FAILED"),
    }
}

fn ran(trace: &TraceReport, hook: &HookReport, out: &mut dyn Write) -> io::Result<()> {
    let took = short(trace.took_ms);
    let given = trace.verdict.as_ref();
    let is_of_rule = given.is_some_and(|given| given.rule == ContractRule::Ruled.row().name);
    match (trace.status, trace.signal) {
        (Some(status), _) => label(out, "exit", &format!("status {status} after {took}"))?,
        (None, Some(signal)) => {
            let signal = signal_name(signal);
            label(out, "exit", &format!("killed by {signal} after {took}"))?;
        }
        (None, None) if hook.function => label(out, "took", &took)?,
        (None, None) if is_of_rule => {}
        (None, None) => label(out, "exit", "none")?,
    }
    stream(out, "stdout", &trace.stdout)?;
    stream(out, "stderr", &trace.stderr)?;
    match (&trace.verdict, &trace.failure) {
        (Some(given), _) => verdict(given, out)?,
        (None, None) => label(out, "verdict", "no effect: an earlier hook already decided")?,
        (None, Some(failure)) => {
            prose(out, "failed", failure)?;
            let meaning = if hook.on_failure == "block" {
                "a failure blocks (on_failure = block)"
            } else {
                "a failure allows (on_failure = allow)"
            };
            label(out, "rule", meaning)?;
        }
    }
    let mut reasons = ColdReason::NAMES.iter();
    if let Some((reason, word)) = reasons.find(|(_, name)| Some(*name) == trace.start.as_deref()) {
        prose(out, "start", &format!("cold ({word}): {}", reason.about()))?;
    }
    for note in &trace.notes {
        prose(out, "note", note)?;
    }
    Ok(())
}

fn verdict(given: &VerdictReport, out: &mut dyn Write) -> io::Result<()> {
    let reason = given.reason.as_deref().unwrap_or_default();
    match given.decision.as_ref() {
        "allow" => label(out, "verdict", "allow")?,
        decision => text(out, "verdict", &format!("{decision}: {reason}"))?,
    }
    if let Some(output) = &given.output {
        text(out, "output", output)?;
    }
    if let Some(context) = &given.additional_context {
        text(out, "context", context)?;
    }
    for finding in &given.findings {
        let line = finding.line.map(|line| format!(":{line}"));
        let place = format!("{}{}", finding.path, line.unwrap_or_default());
        let level = finding.level.name();
        let found = format!("{place}: {level}: {}", finding.message);
        text(out, "found", &found)?;
    }
    match RULES.iter().find(|row| row.name == given.rule) {
        Some(row) => {
            label(out, "rule", &format!("the hook {}", row.answer))?;
            prose(out, "", &format!("means: {}", row.verdict))
        }
        None => label(out, "rule", &plain(&given.rule)),
    }
}

fn rewrites(rewrites: &[Rewritten], out: &mut dyn Write) -> io::Result<()> {
    for rewrite in rewrites {
        let state = match &rewrite.rejected {
            None => String::new(),
            Some(why) => format!(" (not applied: {})", plain(why)),
        };
        let hook = plain(&rewrite.hook);
        let field = plain(&rewrite.field);
        writeln!(out, "{BOLD}rewrite{BOLD:#} of {field} by {hook}{state}")?;
        difference(&rewrite.field, &rewrite.old, &rewrite.new, out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn difference(path: &str, old: &Value, new: &Value, out: &mut dyn Write) -> io::Result<()> {
    if old == new {
        return Ok(());
    }
    if let (Value::Object(before), Value::Object(after)) = (old, new) {
        let added = after.keys().filter(|key| !before.contains_key(*key));
        let mut keys = before.keys().chain(added);
        return keys
            .try_for_each(|key| difference(&format!("{path}.{key}"), &old[key], &new[key], out));
    }
    if let (Value::Array(before), Value::Array(after)) = (old, new) {
        return (0..before.len().max(after.len()))
            .try_for_each(|at| difference(&format!("{path}.{at}"), &old[at], &new[at], out));
    }
    if !old.is_null() {
        let line = cut(&plain(&format!("{path}: {old}")));
        writeln!(out, "  {REMOVED}- {line}{REMOVED:#}")?;
    }
    if !new.is_null() {
        let line = cut(&plain(&format!("{path}: {new}")));
        writeln!(out, "  {ADDED}+ {line}{ADDED:#}")?;
    }
    Ok(())
}

/// The result, for readers new to hookrun.
fn conclusion(run: &RunReport, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    match run.decision.as_ref() {
        "allow" => {
            let nobody = !run.hooks.is_empty() && run.hooks.iter().all(|hook| hook.fate != "ran");
            let why = if nobody { " No hook ran." } else { "" };
            writeln!(out, "{GOOD}ALLOWED{GOOD:#}  the action continues.{why}")?;
        }
        "ask" => {
            let who = "a person decides; if nobody can answer, hookrun blocks.";
            writeln!(out, "{DOUBT}ASK{DOUBT:#}  {who}")?;
            for asked in &run.questions {
                text(out, "asks", &format!("{}: {}", asked.hook, asked.question))?;
            }
        }
        _ => {
            let who = plain(&run.deciders("hookrun itself"));
            writeln!(out, "{BAD}BLOCKED{BAD:#} by {who}")?;
            prose(out, "reason", run.reason.as_deref().unwrap_or_default())?;
            let cause = match run.cause.as_deref() {
                Some("policy") => "a hook decided",
                Some("person") => "a person said no or did not answer",
                _ => "a hook or hookrun itself failed, and failures block this event",
            };
            label(out, "cause", cause)?;
            let mut hooks = run.hooks.iter();
            if let Some(hook) = hooks.find(|hook| Some(&hook.name) == run.decided_by.as_ref()) {
                text(out, "see", &place(hook, paths))?;
            }
        }
    }
    for notice in &run.notices {
        prose(out, "notice", &format!("{}: {}", notice.hook, notice.text))?;
    }
    label(out, "took", &short(run.took_ms))?;
    writeln!(out)
}

fn reply_to_host(run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let reply = &run.reply;
    writeln!(out, "{BOLD}The host gets{BOLD:#}")?;
    label(out, "exit", &format!("status {}", reply.status))?;
    text(out, "stdout", &reply.stdout)?;
    text(out, "stderr", &reply.stderr)
}

fn stream(out: &mut dyn Write, name: &str, stream: &StreamReport) -> io::Result<()> {
    if stream.bytes == 0 {
        return Ok(());
    }
    let lines: Vec<&str> = stream.text.lines().collect();
    let shown = &lines[..lines.len().min(STREAM_LINES)];
    text(out, name, &shown.join("\n"))?;
    if lines.len() > shown.len() || stream.cut {
        let more = counted(lines.len() - shown.len(), "more line");
        let bytes = stream.bytes;
        let more = format!("… {more}, {bytes} bytes in all; --format json shows them");
        label(out, "", &more)?;
    }
    Ok(())
}
