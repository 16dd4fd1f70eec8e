//! The native reply (exit 0 allows, 2 blocks; result on stdout, reason on stderr), and loom.
//!
//! loom (`@ownware/loom` 0.3) has eight events and a similar contract. Source: its "Hooks" document
//! and runtime 0.3.0. Hooks run in registration order; the first block ends the chain for every
//! event, but blocks only `tool.pre`. Text of earlier hooks has reached the model by then.

use serde_json::{Map, Value};

use super::prelude::{Conduct, Duration, Host, HostEvent, OnFailure};
use super::results::Results;
use super::row::Reply;
use crate::engine::outcome::{HookFinding, Notice, NoticeKind, Outcome, Settled, joined};

pub const NAME: &str = crate::engine::event::NATIVE;

/// The context key with the event's name.
pub const NAMES_EVENT_BY: &str = "event";

pub const ALLOWED: u8 = 0;

/// The exit status of a block in every known host.
pub const BLOCKED: u8 = 2;

/// The reply to an outcome. Unanswered questions block.
pub fn encode(outcome: &Outcome) -> Reply {
    match &outcome.settled {
        Settled::Blocked(block) => block_with(&block.reason, &outcome.findings),
        Settled::Asked { questions } => block_with(&joined(questions), &outcome.findings),
        Settled::Allowed => Reply {
            stdout: result(outcome),
            stderr: notices(outcome),
            status: ALLOWED,
        },
    }
}

/// The longest reason, so that both streams fit into pipes (64 KiB) of a host that reads in turn.
const LONGEST_REASON_BYTES: usize = 16 * 1024;

/// The reply that blocks for `reason`; of more than 16 KiB it keeps the beginning and the end.
pub fn block(reason: &str) -> Reply {
    block_with(reason, &[])
}

fn block_with(reason: &str, found: &[HookFinding]) -> Reply {
    let reason = shortened(reason);
    let stderr = format!("{reason}\n");
    let entries = [
        ("continue", Some(false.into())),
        ("reason", Some(reason.into())),
        ("findings", findings(found)),
    ];
    Reply {
        stdout: line(entries),
        stderr,
        status: BLOCKED,
    }
}

/// The structured result of an event that continues; empty if there is none.
fn result(outcome: &Outcome) -> String {
    let update = Some(outcome.update()).filter(|update| !update.is_empty());
    let context = outcome.additional_context();
    line([
        ("output", outcome.output().map(Value::from)),
        ("additionalContext", context.map(Value::from)),
        ("update", update.map(Value::Object)),
        ("findings", findings(&outcome.findings)),
    ])
}

/// The present entries as a JSON object on one line; empty without any.
pub(super) fn line<'k>(entries: impl IntoIterator<Item = (&'k str, Option<Value>)>) -> String {
    let entries = entries.into_iter();
    let present = entries.filter_map(|(key, value)| Some((key.to_string(), value?)));
    line_of(present.collect())
}

pub(super) fn line_of(result: Map<String, Value>) -> String {
    if result.is_empty() {
        return String::new();
    }
    format!("{}\n", Value::Object(result))
}

/// The first findings, up to [`LONGEST_REASON_BYTES`]; a report has all of them.
fn findings(found: &[HookFinding]) -> Option<Value> {
    let mut bytes = 0;
    let mut list = Vec::new();
    for HookFinding { finding, .. } in found {
        bytes += finding.path.len() + finding.message.len();
        if bytes > LONGEST_REASON_BYTES {
            break;
        }
        list.extend(serde_json::to_value(finding).ok());
    }
    (!list.is_empty()).then(|| list.into())
}

/// Cuts the middle out of a long text.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= LONGEST_REASON_BYTES {
        return text.to_string();
    }
    let half = LONGEST_REASON_BYTES / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    let omitted = format!("\n[… {} bytes omitted …]\n", tail - head);
    format!("{}{omitted}{}", &text[..head], &text[tail..])
}

pub(super) fn notices(outcome: &Outcome) -> String {
    let mut lines = String::new();
    for Notice { hook, kind, text } in &outcome.notices {
        let line = match kind {
            NoticeKind::Block => {
                format!("hook `{hook}` objects (this event cannot be blocked): {text}\n")
            }
            NoticeKind::Question => {
                format!("hook `{hook}` asks (this event cannot be blocked): {text}\n")
            }
            NoticeKind::Failure if hook != "hookrun" => format!("hook `{hook}` {text}\n"),
            NoticeKind::Failure | NoticeKind::Own => format!("{hook}: {text}\n"),
        };
        lines.push_str(&line);
    }
    shortened(&lines)
}

/// Observed only: blocks, including timeouts and errors, are just recorded.
const OBSERVED: HostEvent = HostEvent {
    results: Results::Native,
    on_failure: OnFailure::Block,
    conduct: Conduct {
        timeout: Some(Duration::from_secs(5)),
        block_ends: true,
        keeps_texts: true,
        ..Conduct::USUAL
    },
    ..HostEvent::OBSERVER
};

const fn observed(name: &'static str) -> HostEvent {
    OBSERVED.named(name, name)
}

pub(super) static LOOM: Host = Host {
    name: "loom",
    aliases: &["ownware"],
    names_event_by: "event",
    events: &[
        observed("session.start"),
        // loom declares this event but never sends it; a host that sends it can block a prompt.
        OBSERVED
            .named("user.prompt.submit", "prompt.submit")
            .blocks(true),
        observed("tool.pre").blocks(true),
        observed("tool.post"),
        observed("model.pre"),
        observed("model.post"),
        observed("session.end"),
        observed("error"),
    ],
    is_system: true,
    has_specs: true,
    imports: &["agent.json"],
    ..Host::PLAIN
};
