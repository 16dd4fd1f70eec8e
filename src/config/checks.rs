//! What looks like a mistake in a hook that can be read: it would never run, or a setting of it has
//! no effect.

use super::draft::HookDraft;
use super::problem::{Position, Problem};
use crate::dialects::tools;
use crate::engine::complaint::Complaint;
use crate::engine::event::{EventSpec, OnFailure};
use crate::engine::hook::{Background, Containment, Hook};
use crate::engine::spelling;

/// Keys that every context may have.
const ALWAYS_THERE: &[&str] = &["event", "action", "raw", "cwd", "sessionId"];

pub(super) fn problems(draft: &HookDraft, hook: &Hook, spec: &EventSpec) -> Vec<Problem> {
    let file = &hook.source.file;
    let mut problems = Vec::new();
    // An event without a declared context says nothing about it.
    if !spec.context.is_empty() {
        for (field, at) in draft.fields() {
            problems.extend(of_field(hook, spec, field, at));
        }
    }
    let at = hook.source.line.map(Position::of_line);
    problems.extend(idle_settings(hook, spec).into_iter().map(|one| one.warning(file, at)));
    problems.extend(draft.doubts().map(|(doubt, at)| doubt.warning(file, Some(at))));
    problems
}

/// Finds a field that no context of the event has: such a hook never runs.
fn of_field(hook: &Hook, spec: &EventSpec, field: &str, at: Position) -> Vec<Problem> {
    let (file, event) = (&hook.source.file, &spec.name);
    let mut problems = Vec::new();
    let (key, rest) = field.split_once('.').unwrap_or((field, ""));
    if key == "toolInput" {
        problems.extend(of_tool_key(hook, rest).map(|one| one.warning(file, Some(at))));
    }
    if spec.carries(key) || ALWAYS_THERE.contains(&key) {
        return problems;
    }
    let cause = format!("`{event}` has no key `{key}`: `{}` can never run", hook.name);
    problems.push(match spelling::nearest(key, spec.context.iter().map(|key| key.name.as_ref())) {
        Some(nearest) => {
            let dot = if rest.is_empty() { "" } else { "." };
            let cure = format!("did you mean `where.{nearest}{dot}{rest}`?");
            Complaint::with_cure(cause, cure).in_file(file, Some(at))
        }
        None => {
            let cure = format!("`hookrun events {event}` lists its keys");
            Complaint::with_cure(cause, cure).warning(file, Some(at))
        }
    });
    problems
}

/// Finds a misspelt key of the tools of hosts. A tool may have a key that is not known.
fn of_tool_key(hook: &Hook, path: &str) -> Option<Complaint> {
    let (key, rest) = path.split_once('.').map_or((path, ""), |(key, _)| (key, &path[key.len()..]));
    let meant = tools::meant_key(key)?;
    // The tools of a user's own server have keys of their own.
    if !tools::names().any(|name| hook.matcher.takes_tool(&[name])) {
        return None;
    }
    let cause = format!("`{}` looks at the key `{key}`, which no host gives its tools", hook.name);
    Some(Complaint::with_cure(cause, format!("did you mean `where.toolInput.{meant}{rest}`?")))
}

fn idle_settings(hook: &Hook, spec: &EventSpec) -> Vec<Complaint> {
    let (name, event) = (&hook.name, &spec.name);
    let mut found = Vec::new();
    let mut add = |cause: String, cure: &str| found.push(Complaint::with_cure(cause, cure));
    if hook.matcher.needs_command() && spec.has_action() && !spec.carries("toolName") {
        let cause =
            format!("`{name}` matches command lines, and `{event}` has none: it can never run");
        add(cause, "match paths, or bind it to tool.pre");
    }
    if hook.matcher.needs_action() && !spec.has_action() {
        let cause = format!("`{name}` matches tools, and `{event}` carries none: it can never run");
        add(cause, "drop the tool, path and command matchers, or bind it to tool.pre");
    }
    if let Some((cause, cure)) = hook.matcher.never_meets() {
        add(format!("`{name}`: {cause}"), cure);
    }
    if hook.on_failure == Some(OnFailure::Block) && !spec.blocks {
        let cause = format!("`on_failure = \"block\"` has no effect: `{event}` cannot be blocked");
        add(cause, "drop it");
    }
    if hook.rewrite && spec.rewrites.is_empty() {
        let cause = format!("`rewrite` has no effect: nothing of `{event}` can be rewritten");
        add(cause, "drop it");
    }
    let is_closed = matches!(hook.containment, Containment::Cgroup | Containment::Pidns);
    if hook.background == Background::Detach && is_closed {
        let containment = hook.containment.name();
        let cause = format!(
            "`background = \"detach\"` has no effect with `containment = \"{containment}\"`: \
             nothing leaves it alive"
        );
        add(cause, "drop one of them");
    }
    found
}
