//! A run for a person at a terminal: every hook, what it got, said and took, which rule
//! decided, and what the host gets. Colours are always written; the caller's stream drops them
//! where they are not wanted.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use super::{Paths, plain};
use crate::dialect::Reply;
use crate::event::OnFailure;
use crate::outcome::{Cause, Decision, Outcome, Rewritten, Settled, Verdict};
use crate::run::{Captured, Ending, Exit, Fate, HookRun, Level, Run, Trace, signal_name};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const DOUBT: Style = AnsiColor::Yellow.on_default().bold();
const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();

/// How many lines of a stream are shown.
const STREAM_LINES: usize = 20;

/// How many characters of a line are shown.
const LINE_CHARACTERS: usize = 400;

/// What 80 columns leave beside the labels.
const PROSE_COLUMNS: usize = 63;

/// Where the event came from, for the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// So many bytes on stdin.
    Stdin { bytes: usize },
    /// Nothing was on stdin: the event's sample.
    Sample,
}

/// Writes everything about a run.
///
/// # Errors
/// When the writer fails.
pub fn run(
    run: &Run,
    reply: &Reply,
    origin: Origin,
    paths: &Paths,
    out: &mut dyn Write,
) -> io::Result<()> {
    head(run, origin, out)?;
    if run.hooks.is_empty() && run.outcome.is_allowed() {
        writeln!(out, "No hook is bound to this event.\n")?;
    }
    for hook in &run.hooks {
        hook_run(hook, run, paths, out)?;
    }
    rewrites(&run.outcome.rewrites, out)?;
    conclusion(run, paths, out)?;
    reply_to_host(reply, out)
}

fn head(run: &Run, origin: Origin, out: &mut dyn Write) -> io::Result<()> {
    let spec = run.event.spec();
    writeln!(out, "{BOLD}{}{BOLD:#}  {}", spec.name, spec.summary)?;
    let from = match origin {
        Origin::Stdin { bytes } => format!("{bytes} bytes from stdin"),
        Origin::Sample => "nothing on stdin, so this is the event's sample".to_string(),
    };
    label(out, "event", &from)?;
    if let Some(tool) = run.event.context().string("toolName") {
        let kind = run.event.action().map_or("", |action| action.kind.word());
        label(out, "tool", &format!("{} ({kind})", plain(&tool)))?;
    }
    if let Some(action) = run.event.action() {
        if let Some(command) = &action.command {
            text(out, "command", command)?;
        }
        if !action.paths.is_empty() {
            text(out, "paths", &action.paths.join("\n"))?;
        }
    }
    writeln!(out)
}

fn hook_run(hook: &HookRun, run: &Run, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let (style, word) = hook_word(hook);
    writeln!(out, "{style}{word:<6}{style:#}  {BOLD}{}{BOLD:#}", plain(&hook.hook))?;
    if hook.is_function {
        label(out, "runs", "a function of the program around it")?;
    } else {
        let line = hook.source.line.map(|line| format!(":{line}")).unwrap_or_default();
        let file = plain(&paths.show(&hook.source.file));
        label(out, "file", &format!("{file}{line} ({} layer)", hook.source.layer.name()))?;
    }
    match &hook.fate {
        Fate::Disabled => label(out, "why", "its spec says enabled = false")?,
        Fate::Idle(why) => label(out, "why", &plain(why))?,
        Fate::Unwanted(mismatch) => prose(out, "why", &mismatch.to_string())?,
        Fate::Detached => label(out, "why", "started; nobody waits for it")?,
        Fate::Unreached => {
            let by = run.outcome.refusal().and_then(|refusal| refusal.hook.clone());
            let by = by.map_or_else(
                || "the event was settled".to_string(),
                |by| format!("`{by}` settled the event"),
            );
            prose(out, "why", &format!("{by} before its turn came"))?;
        }
        Fate::Ran(trace) => {
            text(out, "matched", &hook.wants)?;
            ran(trace, hook, out)?;
        }
    }
    writeln!(out)
}

fn hook_word(hook: &HookRun) -> (Style, &'static str) {
    match &hook.fate {
        Fate::Disabled | Fate::Idle(_) | Fate::Unwanted(_) | Fate::Unreached => (DIM, "skip"),
        Fate::Detached => (DIM, "away"),
        Fate::Ran(trace) => match trace.ending.verdict().map(|verdict| &verdict.decision) {
            Some(Decision::Allow) => (GOOD, "allow"),
            Some(Decision::Ask { .. }) => (DOUBT, "ASK"),
            Some(Decision::Block { .. }) => (BAD, "BLOCK"),
            None if trace.ending == Ending::Voided => (DIM, "void"),
            None => (BAD, "FAILED"),
        },
    }
}

fn ran(trace: &Trace, hook: &HookRun, out: &mut dyn Write) -> io::Result<()> {
    let took = short(trace.took);
    match trace.exit {
        Some(Exit::Status(status)) => label(out, "exit", &format!("status {status} after {took}"))?,
        Some(Exit::Signal(signal)) => {
            label(out, "exit", &format!("killed by {} after {took}", signal_name(signal)))?;
        }
        None if hook.is_function => label(out, "took", &took)?,
        None => label(out, "exit", "none")?,
    }
    stream(out, "stdout", &trace.stdout)?;
    stream(out, "stderr", &trace.stderr)?;
    match (trace.ending.verdict(), trace.ending.failure()) {
        (Some(given), _) => verdict(given, out)?,
        (None, None) => label(out, "verdict", "void: an earlier hook settled the event")?,
        (None, Some(failure)) => {
            prose(out, "failed", &failure)?;
            let meaning = match hook.on_failure {
                OnFailure::Block => "a failure refuses what can be refused (on_failure = block)",
                OnFailure::Allow => "a failure lets the event go on (on_failure = allow)",
            };
            label(out, "rule", meaning)?;
        }
    }
    // The usual one goes without saying.
    if let Some(level) = trace.containment.filter(|level| *level != Level::Sweep) {
        label(out, "ended by", level.about())?;
    }
    for note in &trace.notes {
        prose(out, "note", note)?;
    }
    Ok(())
}

fn verdict(given: &Verdict, out: &mut dyn Write) -> io::Result<()> {
    match &given.decision {
        Decision::Allow => label(out, "verdict", "allow")?,
        Decision::Ask { question } => text(out, "verdict", &format!("ask: {question}"))?,
        Decision::Block { reason } => text(out, "verdict", &format!("block: {reason}"))?,
    }
    if let Some(output) = &given.output {
        text(out, "output", output)?;
    }
    if let Some(context) = &given.additional_context {
        text(out, "context", context)?;
    }
    for finding in &given.findings {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let (path, level) = (&finding.path, finding.level.word());
        text(out, "found", &format!("{path}{line}: {level}: {}", finding.message))?;
    }
    let row = given.rule.row();
    label(out, "rule", &format!("a hook that {}", row.answer))?;
    prose(out, "", &format!("means: {}", row.verdict))
}

fn rewrites(rewrites: &[Rewritten], out: &mut dyn Write) -> io::Result<()> {
    for rewrite in rewrites {
        let state = match &rewrite.rejected {
            None => String::new(),
            Some(why) => format!(" (not applied: {})", plain(why)),
        };
        let (hook, field) = (plain(&rewrite.hook), plain(&rewrite.field));
        writeln!(out, "{BOLD}rewrite{BOLD:#} of {field} by {hook}{state}")?;
        difference(&rewrite.field, &rewrite.old, &rewrite.new, out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Writes where two values differ, path by path.
fn difference(path: &str, old: &Value, new: &Value, out: &mut dyn Write) -> io::Result<()> {
    if old == new {
        return Ok(());
    }
    if let (Value::Object(before), Value::Object(after)) = (old, new) {
        for key in before.keys().chain(after.keys().filter(|key| !before.contains_key(*key))) {
            let below = format!("{path}.{key}");
            difference(
                &below,
                old.get(key).unwrap_or(&Value::Null),
                new.get(key).unwrap_or(&Value::Null),
                out,
            )?;
        }
        return Ok(());
    }
    if let (Value::Array(before), Value::Array(after)) = (old, new) {
        for at in 0..before.len().max(after.len()) {
            let below = format!("{path}.{at}");
            difference(
                &below,
                before.get(at).unwrap_or(&Value::Null),
                after.get(at).unwrap_or(&Value::Null),
                out,
            )?;
        }
        return Ok(());
    }
    let line = |value: &Value| cut(&plain(&format!("{path}: {value}")));
    if !old.is_null() {
        writeln!(out, "  {REMOVED}- {}{REMOVED:#}", line(old))?;
    }
    if !new.is_null() {
        writeln!(out, "  {ADDED}+ {}{ADDED:#}", line(new))?;
    }
    Ok(())
}

/// The last word, for somebody who has never seen hookrun.
fn conclusion(run: &Run, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let outcome = &run.outcome;
    match &outcome.settled {
        Settled::Allowed => {
            let nobody = !run.hooks.is_empty()
                && run.hooks.iter().all(|hook| !matches!(hook.fate, Fate::Ran(_)));
            let why = if nobody { " No hook was asked." } else { "" };
            writeln!(out, "{GOOD}ALLOWED{GOOD:#}  {} goes on.{why}", run.event.spec().name)?;
        }
        Settled::Asked { questions } => {
            writeln!(out, "{DOUBT}ASK{DOUBT:#}  a person decides; without one it is refused.")?;
            for question in questions {
                text(out, "asks", &format!("{}: {}", question.hook, question.question))?;
            }
        }
        Settled::Refused(refusal) => {
            let who = refusal.hook.as_deref().map_or("hookrun itself", |hook| hook);
            let event = &run.event.spec().name;
            let who = plain(who);
            writeln!(out, "{BAD}REFUSED{BAD:#}  {who} refused {event}: it does not happen.")?;
            prose(out, "reason", &refusal.reason)?;
            let cause = match refusal.cause {
                Cause::Policy => "a hook decided",
                Cause::Failure => "something failed, and failures refuse here",
                Cause::Person => "a person was to be asked and did not say yes",
            };
            label(out, "cause", cause)?;
            if let Some(hook) =
                run.hooks.iter().find(|hook| Some(&hook.hook) == refusal.hook.as_ref())
            {
                let line = hook.source.line.map(|line| format!(":{line}")).unwrap_or_default();
                text(out, "see", &format!("{}{line}", paths.show(&hook.source.file)))?;
            }
        }
    }
    notices(outcome, out)?;
    label(out, "took", &short(run.took))?;
    writeln!(out)
}

fn notices(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    for notice in &outcome.notices {
        prose(out, "notice", &format!("{}: {}", notice.hook, notice.text))?;
    }
    Ok(())
}

fn reply_to_host(reply: &Reply, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{BOLD}The host gets{BOLD:#}")?;
    label(out, "exit", &format!("status {}", reply.status))?;
    if !reply.stdout.is_empty() {
        text(out, "stdout", &reply.stdout)?;
    }
    if !reply.stderr.is_empty() {
        text(out, "stderr", &reply.stderr)?;
    }
    Ok(())
}

/// A stream with as many lines as fit on a screen.
fn stream(out: &mut dyn Write, name: &str, stream: &Captured) -> io::Result<()> {
    if stream.total_bytes == 0 {
        return Ok(());
    }
    let whole = stream.text();
    let lines: Vec<&str> = whole.lines().collect();
    let shown = &lines[..lines.len().min(STREAM_LINES)];
    text(out, name, &shown.join("\n"))?;
    if lines.len() > shown.len() || stream.is_cut() {
        let hidden = lines.len() - shown.len();
        label(
            out,
            "",
            &format!(
                "… {hidden} more lines, {} bytes in all; --format json has them",
                stream.total_bytes
            ),
        )?;
    }
    Ok(())
}

/// A text under a label, line by line.
fn text(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    let mut name = name;
    for line in text.trim_end().lines() {
        label(out, name, &cut(&plain(line)))?;
        name = "";
    }
    Ok(())
}

/// Sentences under a label, broken between words where the screen ends.
fn prose(out: &mut dyn Write, name: &str, sentences: &str) -> io::Result<()> {
    let mut lines: Vec<String> = Vec::new();
    for sentence in sentences.trim_end().lines() {
        let mut line = String::new();
        for word in cut(&plain(sentence)).split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > PROSE_COLUMNS {
                lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    let mut name = name;
    for line in lines {
        label(out, name, &line)?;
        name = "";
    }
    Ok(())
}

fn label(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "        {DIM}{name:<8}{DIM:#} {text}")
}

fn cut(line: &str) -> String {
    if line.chars().count() <= LINE_CHARACTERS {
        return line.to_string();
    }
    let kept: String = line.chars().take(LINE_CHARACTERS).collect();
    format!("{kept}… ({} characters)", line.chars().count())
}

fn short(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1e3;
    if ms < 100.0 {
        format!("{ms:.1} ms")
    } else if ms < 10_000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_shown() {
        let mut out = Vec::new();
        let old = json!({"command": "rm -rf x", "cwd": "/", "list": [1, 2]});
        let new = json!({"command": "rm -ri x", "cwd": "/", "list": [1]});
        difference("toolInput", &old, &new, &mut out).unwrap();
        let text = anstyle_free(&String::from_utf8(out).unwrap());
        assert_eq!(
            text,
            "  - toolInput.command: \"rm -rf x\"\n  + toolInput.command: \"rm -ri x\"\n  - toolInput.list.1: 2\n"
        );
    }

    /// Drops the colours.
    fn anstyle_free(text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            plain.push_str(before);
            rest = after.split_once('m').map_or("", |(_, rest)| rest);
        }
        plain + rest
    }

    #[test]
    fn a_hook_cannot_write_to_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\tc"), "a\\u{1b}[31mb\tc");
    }
}
