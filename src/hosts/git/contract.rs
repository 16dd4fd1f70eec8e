//! The row of a git hook, and git's own contract for hook scripts: arguments, stdin lines, and an exit status that decides.
//!
//! An event keeps git's input in `raw.arguments` and, under its own keys, each argument and line; a
//! test case may give only the latter. Bytes that are not UTF-8 are kept as hexadecimal digits, so
//! a hook gets exactly the bytes that git sent.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::engine::answer::{Reading, blocked_by_status};
use crate::engine::complaint::Complaint;
use crate::engine::ending::Ending;
use crate::engine::event::Event;
use crate::engine::event::context::Payload;
use crate::engine::hook::{Convention, EditedField, EventPart, Permit, Printed};
use crate::engine::names::hex;
use crate::engine::outcome::{ContractRule, Decision, Verdict};

pub const NAME: &str = "git";

#[derive(Debug, PartialEq, Eq)]
pub struct GitHook {
    pub name: &'static str,
    pub event: &'static str,
    pub arguments: &'static [Argument],
    pub lines: Option<StdinLines>,
    pub changes: Changes,
    pub presence: Presence,
    /// Whether its context has the branch and the operation in progress.
    pub has_head: bool,
    /// The operation it always belongs to.
    pub operation: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A text under this key; empty if git omits it.
    Text(&'static str),
    /// A boolean under this key: `1` or `0`.
    Flag(&'static str),
    /// The commit message file: the context gets `filePath`, and its text as `message`.
    MessageFile,
    /// The remaining arguments, as a list under this key.
    Rest(&'static str),
}

impl Argument {
    pub fn key(&self) -> &'static str {
        match self {
            Argument::Text(key) | Argument::Flag(key) | Argument::Rest(key) => key,
            Argument::MessageFile => "filePath",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StdinLines {
    pub key: &'static str,
    /// The keys of a line's words. Only the first word may contain spaces (`:/some text` in a
    /// push).
    pub words: &'static [&'static str],
}

/// How git treats the presence of a hook's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// git runs it and changes nothing else.
    Plain,
    /// git runs it so often that it is installed only for existing hooks.
    Costly,
    /// git leaves its own work to the hook.
    Replaces,
}

#[derive(Debug, Clone, Default)]
pub struct GitInput {
    pub arguments: Vec<OsString>,
    pub stdin: Vec<u8>,
    pub cwd: PathBuf,
    pub variables: Vec<(String, String)>,
    pub message: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    Unknown,
    /// Staged changes against `HEAD`.
    Index,
    /// Commits to push that the remote, as far as known here, does not have.
    Sent,
    /// Received commits without a ref yet.
    Received,
}

impl GitHook {
    pub(super) const fn lines(mut self, lines: StdinLines) -> GitHook {
        self.lines = Some(lines);
        self
    }

    pub(super) const fn changes(mut self, changes: Changes) -> GitHook {
        self.changes = changes;
        self
    }

    pub(super) const fn with_head(mut self) -> GitHook {
        self.has_head = true;
        self
    }

    pub(super) const fn within(mut self, operation: &'static str) -> GitHook {
        self.operation = Some(operation);
        self
    }

    pub(super) const fn presence(mut self, presence: Presence) -> GitHook {
        self.presence = presence;
        self
    }

    /// Its input contradicts git's manual, so no policy can tell what is about to happen.
    pub(super) fn wrong(&self, problem: &str) -> Complaint {
        let hook = self.name;
        Complaint::new(format!("git passed unexpected input to {hook}: {problem}"))
    }
}

/// Keys in `raw` for bytes that are not UTF-8.
pub(super) const STDIN_BYTES: &str = "stdinHex";
pub(super) const ARGUMENT_BYTES: &str = "argumentsHex";

impl Convention for &'static GitHook {
    fn system(&self) -> &'static str {
        NAME
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
            let texts = texts.filter_map(Value::as_str).map(OsString::from);
            let bytes = bytes.filter_map(|hex| from_hex(hex.as_str()?));
            let bytes: Vec<OsString> = bytes.map(OsString::from_vec).collect();
            return if bytes.is_empty() {
                texts.collect()
            } else {
                bytes
            };
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
            let words = self.words.iter().map(|key| entry[*key].as_str());
            let words: Vec<&str> = words.map(Option::unwrap_or_default).collect();
            text.push_str(&words.join(" "));
            text.push('\n');
        }
        text
    }
}

fn raw(event: &Event) -> Value {
    let raw = event.context().value("raw");
    raw.ok().flatten().unwrap_or_default()
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

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for pair in digits.as_bytes().chunks(2) {
        let pair = OsStr::from_bytes(pair).to_str()?;
        bytes.push(u8::from_str_radix(pair, 16).ok()?);
    }
    Some(bytes)
}
