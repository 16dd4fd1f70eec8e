//! git's own contract for hook scripts: arguments, stdin lines, and an exit status that decides.
//!
//! An event keeps git's input in `raw.arguments` and, under its own keys, each argument and line; a
//! test case may give only the latter. Bytes that are not UTF-8 are kept as hexadecimal digits, so
//! a hook gets exactly the bytes that git sent.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde_json::{Map, Value};

use super::row::{Argument, GitHook, StdinLines};
use crate::engine::answer::{Reading, blocked_by_status};
use crate::engine::ending::Ending;
use crate::engine::event::Event;
use crate::engine::event::context::Payload;
use crate::engine::hook::{Convention, EditedField, EventPart, Permit, Printed};
use crate::engine::outcome::{ContractRule, Decision, Verdict};

/// Keys in `raw` for bytes that are not UTF-8.
pub(super) const STDIN_BYTES: &str = "stdinHex";
pub(super) const ARGUMENT_BYTES: &str = "argumentsHex";

impl Convention for &'static GitHook {
    fn system(&self) -> &'static str {
        super::NAME
    }

    fn event_name(&self) -> &'static str {
        self.name
    }

    fn payload(&self, event: &Event, _: &EventPart) -> Payload {
        Payload::Whole(self.stdin(event))
    }

    fn sends_event(&self) -> bool {
        false
    }

    fn arguments(&self, event: &Event) -> Vec<OsString> {
        let raw = raw(event);
        if raw["hook"] == self.name {
            let texts = raw["arguments"].as_array().into_iter().flatten();
            let bytes = raw[ARGUMENT_BYTES].as_array().into_iter().flatten();
            let texts: Vec<OsString> = texts
                .filter_map(Value::as_str)
                .map(OsString::from)
                .collect();
            let bytes: Vec<OsString> = bytes
                .filter_map(|hex| Some(OsString::from_vec(from_hex(hex.as_str()?)?)))
                .collect();
            return if bytes.is_empty() { texts } else { bytes };
        }
        let mut arguments: Vec<OsString> = Vec::new();
        for argument in self.arguments {
            let value = event.context().value(argument.key()).ok().flatten();
            match (argument, value.unwrap_or_default()) {
                (Argument::Rest(_), Value::Array(list)) => {
                    arguments.extend(list.iter().filter_map(Value::as_str).map(OsString::from));
                }
                (Argument::Flag(_), value) => {
                    arguments.push(if value == true { "1" } else { "0" }.into());
                }
                (_, value) => arguments.push(value.as_str().unwrap_or_default().into()),
            }
        }
        // Trailing empty texts are arguments that git omits.
        while arguments.last().is_some_and(|last| last.is_empty()) {
            arguments.pop();
        }
        arguments
    }

    fn edits(&self) -> Option<EditedField> {
        let mut arguments = self.arguments.iter();
        let argument = arguments.position(|one| *one == Argument::MessageFile)?;
        Some(EditedField {
            field: "message",
            path: Argument::MessageFile.key(),
            argument,
        })
    }

    /// The exit status decides. Both streams are text for git to show.
    fn judge(&self, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>) {
        let text = printed.stdout.trim();
        if printed.status == 0 {
            let mut verdict = Verdict::new(Decision::Allow, ContractRule::Silence);
            if !text.is_empty() {
                verdict.rule = ContractRule::Text;
                verdict.output = Some(text.to_string());
            }
            return (Ending::Answered(verdict), Vec::new());
        }
        let stderr = printed.stderr.text();
        let mut reasons = vec![stderr.trim(), text];
        reasons.retain(|reason| !reason.is_empty());
        if reasons.is_empty() {
            return blocked_by_status(printed, &Reading::default(), permit);
        }
        let reason = reasons.join("\n");
        let verdict = Verdict::new(Decision::Block { reason }, ContractRule::NonZeroExit);
        (Ending::Answered(verdict), Vec::new())
    }

    fn block_in(&self, _: &str, _: Permit<'_>) -> Option<String> {
        None
    }
}

impl GitHook {
    fn stdin(&self, event: &Event) -> Vec<u8> {
        let Some(lines) = self.lines else {
            return Vec::new();
        };
        if let Some(bytes) = raw(event)[STDIN_BYTES].as_str().and_then(from_hex) {
            return bytes;
        }
        match event.context().value(lines.key).ok().flatten() {
            Some(Value::Array(list)) => lines.written(&list).into_bytes(),
            Some(_) | None => Vec::new(),
        }
    }
}

impl StdinLines {
    /// Formats entries as the lines that they were read from.
    pub(super) fn written(&self, entries: &[Value]) -> String {
        let mut text = String::new();
        for entry in entries {
            let words: Vec<&str> = self
                .words
                .iter()
                .map(|key| entry[*key].as_str().unwrap_or_default())
                .collect();
            text.push_str(&words.join(" "));
            text.push('\n');
        }
        text
    }
}

fn raw(event: &Event) -> Value {
    event
        .context()
        .value("raw")
        .ok()
        .flatten()
        .unwrap_or_default()
}

/// Keeps the bytes of arguments and stdin that are not UTF-8.
pub(super) fn keep_bytes(
    raw: &mut Map<String, Value>,
    arguments: &[OsString],
    stdin: Option<&[u8]>,
) {
    let is_text = arguments.iter().all(|argument| argument.to_str().is_some());
    if !is_text {
        let bytes = arguments.iter().map(|argument| hex(argument.as_bytes()));
        raw.insert(ARGUMENT_BYTES.to_string(), bytes.collect());
    }
    if let Some(stdin) = stdin {
        raw.insert(STDIN_BYTES.to_string(), hex(stdin).into());
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for pair in digits.as_bytes().chunks(2) {
        let pair = OsStr::from_bytes(pair).to_str()?;
        bytes.push(u8::from_str_radix(pair, 16).ok()?);
    }
    Some(bytes)
}
