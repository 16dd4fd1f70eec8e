//! The native reply: exit 0 allows, exit 2 refuses, the structured result is on stdout and
//! the reason on stderr.

use serde_json::{Map, Value};

use super::row::Reply;
use crate::engine::outcome::{HookFinding, NoticeKind, Outcome, Settled, joined};

/// What it is called beside the dialects.
pub const NAME: &str = crate::engine::event::NATIVE;

/// The key of a context that holds the event's name.
pub const NAMES_EVENT_BY: &str = "event";

/// The exit status of consent.
pub const ALLOWED: u8 = 0;

/// The exit status of every refusal: the one that refuses in every known host.
pub const REFUSED: u8 = 2;

/// The reply to an outcome. Questions that nobody answered refuse, and are the reason.
pub fn encode(outcome: &Outcome) -> Reply {
    match &outcome.settled {
        Settled::Refused(refusal) => refuse_with(&refusal.reason, &outcome.findings),
        Settled::Asked { questions } => refuse_with(&joined(questions), &outcome.findings),
        Settled::Allowed => {
            Reply { stdout: result(outcome), stderr: notices(outcome), status: ALLOWED }
        }
    }
}

/// The longest reason in a reply. A pipe holds 64 KiB: a host that reads one stream after the
/// other must not keep us from saying both.
const LONGEST_REASON_BYTES: usize = 16 * 1024;

/// The reply that refuses for `reason`. Of one over 16 KiB the beginning and the end are given.
pub fn refuse(reason: &str) -> Reply {
    refuse_with(reason, &[])
}

fn refuse_with(reason: &str, findings: &[HookFinding]) -> Reply {
    let reason = shortened(reason);
    let reason = reason.as_str();
    let mut result = Map::new();
    result.insert("continue".to_string(), Value::Bool(false));
    result.insert("reason".to_string(), Value::from(reason));
    insert_findings(&mut result, findings);
    Reply {
        stdout: format!("{}\n", Value::Object(result)),
        stderr: format!("{reason}\n"),
        status: REFUSED,
    }
}

/// The structured result of an event that goes on; empty when there is nothing to say.
fn result(outcome: &Outcome) -> String {
    let mut result = Map::new();
    if let Some(output) = outcome.output() {
        result.insert("output".to_string(), Value::from(output));
    }
    if let Some(context) = outcome.additional_context() {
        result.insert("additionalContext".to_string(), Value::from(context));
    }
    let update = outcome.update();
    if !update.is_empty() {
        result.insert("update".to_string(), Value::Object(update));
    }
    insert_findings(&mut result, &outcome.findings);
    if result.is_empty() { String::new() } else { format!("{}\n", Value::Object(result)) }
}

/// The findings, as many of the first as are short enough together; a report has them all.
fn insert_findings(result: &mut Map<String, Value>, findings: &[HookFinding]) {
    let mut list = Vec::new();
    let mut bytes = 0;
    for found in findings {
        let finding = &found.finding;
        bytes += finding.path.len() + finding.message.len();
        if bytes > LONGEST_REASON_BYTES {
            break;
        }
        list.extend(serde_json::to_value(finding));
    }
    if !list.is_empty() {
        result.insert("findings".to_string(), Value::Array(list));
    }
}

/// A text whose middle is left out where it is too long.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= LONGEST_REASON_BYTES {
        return text.to_string();
    }
    let half = LONGEST_REASON_BYTES / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}

/// A line for a text that a host has no place for.
pub(super) fn unsaid(hook: &str, name: &str, text: &str) -> String {
    format!("hook `{hook}`: {name}, which this host has no place for: {text}\n")
}

/// What was said without deciding anything, a line for each.
pub(super) fn notices(outcome: &Outcome) -> String {
    let line = |notice: &crate::engine::outcome::Notice| {
        let (hook, text) = (&notice.hook, &notice.text);
        match notice.kind {
            NoticeKind::Refusal => {
                format!("hook `{hook}` objects (this event cannot be blocked): {text}\n")
            }
            NoticeKind::Question => {
                format!("hook `{hook}` asks (this event cannot be blocked): {text}\n")
            }
            NoticeKind::Failure => format!("hook `{hook}` {text}\n"),
            NoticeKind::Own => format!("{hook}: {text}\n"),
        }
    };
    shortened(&outcome.notices.iter().map(line).collect::<String>())
}
