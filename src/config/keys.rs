//! The keys of a hook: one table for `hookrun.toml`, comment directives, errors and docs.

use crate::dialects::DIALECTS;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Merge, OnFailure, Schedule};
use crate::engine::hook::{Background, Containment};
use crate::engine::spelling;

/// A key that users may write.
#[derive(Debug)]
pub struct KeyRow {
    /// The key.
    pub name: &'static str,
    /// What it takes.
    pub takes: KeyValue,
    /// Its default, as written.
    pub default: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Whether it can stand in a script's comment directive as well.
    pub in_directive: bool,
}

/// What a key takes.
#[derive(Debug, Clone, Copy)]
pub enum KeyValue {
    Text,
    /// A string or a list of strings.
    Texts,
    Flag,
    Number,
    Duration,
    Size,
    /// One of these words.
    OneOf(fn() -> Vec<&'static str>),
    Table,
    /// A regular expression.
    Pattern,
    /// A table, or JSON in a string.
    Json,
}

impl KeyValue {
    /// What is expected, for messages and docs.
    pub fn describe(self) -> String {
        match self {
            KeyValue::Text => "a string".to_string(),
            KeyValue::Texts => "a string or a list of strings".to_string(),
            KeyValue::Flag => "true or false".to_string(),
            KeyValue::Number => "a whole number".to_string(),
            KeyValue::Duration => "a duration like \"10s\"".to_string(),
            KeyValue::Size => "a size like \"64M\"".to_string(),
            KeyValue::OneOf(words) => format!("one of \"{}\"", words().join("\", \"")),
            KeyValue::Table => "a table".to_string(),
            KeyValue::Pattern => "a regular expression".to_string(),
            KeyValue::Json => "a table, or JSON in a string".to_string(),
        }
    }
}

impl KeyValue {
    /// What to write for `key`, as a cure.
    pub(crate) fn cure(self, key: &str) -> String {
        let key = key.rsplit('.').next().unwrap_or(key);
        let example = match key {
            "findings" => "'^error src/main.tf:7 '".to_string(),
            _ => self.example(),
        };
        format!("write `{key} = {example}`")
    }

    /// What to write for `key` instead of a text that it does not take.
    pub(super) fn cure_for(self, key: &str, written: &str) -> String {
        let written = written.to_lowercase();
        let means = |(words, _): &&(&[&str], &str)| words.contains(&written.as_str());
        let (table, words): (&[(&[&str], &str)], _) = match self {
            KeyValue::Flag => (FLAG_WORDS, vec!["true", "false"]),
            KeyValue::OneOf(words) => (FAILURE_WORDS, words()),
            KeyValue::Text
            | KeyValue::Texts
            | KeyValue::Number
            | KeyValue::Duration
            | KeyValue::Size
            | KeyValue::Table
            | KeyValue::Pattern
            | KeyValue::Json => return self.cure(key),
        };
        let meant = table.iter().find(means).map(|(_, meant)| *meant);
        let meant = meant.filter(|meant| words.contains(meant));
        match (meant.or_else(|| spelling::nearest(&written, words.iter().copied())), self) {
            (Some(meant), KeyValue::Flag) => format!("write `{key} = {meant}`"),
            (Some(meant), _) => format!("write `{key} = \"{meant}\"`"),
            (None, _) => format!("`{key}` is one of {}", words.join(", ")),
        }
    }

    /// A value that it takes.
    pub(super) fn example(self) -> String {
        match self {
            KeyValue::Text => "\"text\"".to_string(),
            KeyValue::Texts => "[\"one\", \"two\"]".to_string(),
            KeyValue::Flag => "true".to_string(),
            KeyValue::Number => "10".to_string(),
            KeyValue::Duration => "\"10s\"".to_string(),
            KeyValue::Size => "\"64M\"".to_string(),
            KeyValue::OneOf(words) => format!("\"{}\"", words().first().unwrap_or(&"")),
            KeyValue::Table => "{ key = \"value\" }".to_string(),
            KeyValue::Pattern => "'^rm '".to_string(),
            KeyValue::Json => "{ key = 1 }".to_string(),
        }
    }
}

/// Words that people write for true and false.
const FLAG_WORDS: &[(&[&str], &str)] = &[
    (&["yes", "on", "1", "y", "enabled"], "true"),
    (&["no", "off", "0", "n", "disabled", "never", "none"], "false"),
];

/// Words that people write for what a failure means.
const FAILURE_WORDS: &[(&[&str], &str)] = &[
    (&["open", "ignore", "warn", "pass", "continue", "skip", "approve"], "allow"),
    (&["closed", "close", "fail", "error", "deny", "refuse", "stop", "abort"], "block"),
];

/// Keys of other tools, each with ours.
const SYNONYMS: &[(&str, &str)] = &[
    ("matcher", "tool"),
    ("toolName", "tool"),
    ("tool_name", "tool"),
    ("tools", "tool"),
    ("paths", "path"),
    ("file", "path"),
    ("glob", "path"),
    ("run", "command"),
    ("exec", "command"),
    ("cmd", "command"),
    ("if", "match"),
    ("when", "match"),
];

/// The key among `known` that other tools call `name`.
pub(super) fn synonym(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let (_, ours) = SYNONYMS.iter().find(|(other, _)| *other == name)?;
    known.contains(ours).then_some(*ours)
}

/// The row of an unknown key's table that was probably meant, as a cure.
pub(crate) fn unknown(rows: &[KeyRow], name: &str, group: Option<&str>) -> Complaint {
    let names = rows.iter().map(|row| row.name);
    let known: Vec<&'static str> = names.clone().collect();
    let meant = synonym(name, &known);
    let in_match = synonym(name, &["tool", "path"]).filter(|_| known.contains(&"match"));
    let meant = meant.or_else(|| spelling::nearest(name, names.clone()));
    let cure = match (in_match, meant, group) {
        (Some(key), ..) => format!("write `match = {{ {key} = … }}`"),
        (None, Some(nearest), _) => format!("did you mean `{nearest}`?"),
        (None, None, Some(group)) => format!("write `{group} = {{ {name} = … }}`"),
        (None, None, None) => format!("known here: {}", names.collect::<Vec<_>>().join(", ")),
    };
    Complaint::with_cure(format!("unknown key `{name}`"), cure)
}

pub(crate) const fn key(
    name: &'static str,
    takes: KeyValue,
    default: &'static str,
    about: &'static str,
    in_directive: bool,
) -> KeyRow {
    KeyRow { name, takes, default, about, in_directive }
}

/// The keys of a `[[hook]]` table; those marked can stand in a directive.
#[rustfmt::skip]
pub const HOOK_KEYS: &[KeyRow] = &[
    key("name", KeyValue::Text, "required", "what lists, reasons and logs call it", false),
    key("event", KeyValue::Texts, "required", "the event, or a list of them; a host's own name will do", false),
    key("command", KeyValue::Text, "required", "the program and its arguments, split as a shell splits words, started without a shell", false),
    key("shell", KeyValue::Flag, "false", "run the command by `sh -c`: needed for pipes, globs and variables", false),
    key("timeout", KeyValue::Duration, "\"5s\"", "how long it may run", true),
    key("match", KeyValue::Table, "every event", "which events of that name it wants; all that is given must match", false),
    key("priority", KeyValue::Number, "100", "lower runs earlier", true),
    key("parallel", KeyValue::Flag, "false", "it may run at the same time as its neighbours that say the same", true),
    key("on_failure", KeyValue::OneOf(on_failures), "the event's", "what a failure of it means", true),
    key("background", KeyValue::OneOf(backgrounds), "\"kill\"", "what happens to processes that it leaves running", true),
    key("limits", KeyValue::Table, "none", "what it may use up", false),
    key("sandbox", KeyValue::Table, "none", "what it may touch; Linux only", false),
    key("containment", KeyValue::OneOf(containments), "\"auto\"", "how surely all that it starts is ended with it", true),
    key("rewrite", KeyValue::Flag, "false", "it may rewrite the fields that the event lists", true),
    key("reads", KeyValue::OneOf(readings), "\"environment\"", "\"stdin\": it runs at a gate although a value is too large for its environment", true),
    key("dialect", KeyValue::OneOf(dialects), "\"native\"", "the convention that it was written for", true),
    key("enabled", KeyValue::Flag, "true", "false: it is listed and never run", true),
    key("description", KeyValue::Text, "none", "what it does, for lists; the description of a command", true),
];

/// The keys of `match`, which stand in a directive by themselves.
#[rustfmt::skip]
pub const MATCH_KEYS: &[KeyRow] = &[
    key("tool", KeyValue::Texts, "any", "tool names or sorts, divided by `|`, the same in every host; globs", true),
    key("path", KeyValue::Texts, "any", "globs for the paths that the tool names", true),
    key("command", KeyValue::Text, "any", "a regular expression for the command line", true),
    key("where", KeyValue::Table, "any", "field = regular expression, for any field of the context", true),
];

/// The keys of `limits`, which stand in a directive as `limits.memory=64M`.
#[rustfmt::skip]
pub const LIMIT_KEYS: &[KeyRow] = &[
    key("memory", KeyValue::Size, "none", "memory that all its processes hold together", true),
    key("cpu", KeyValue::Duration, "none", "processor time that all its processes use together", true),
    key("files", KeyValue::Number, "hookrun's", "files that each of its processes may have open at once", true),
    key("processes", KeyValue::Number, "none", "processes at once, the hook itself included", true),
    key("output", KeyValue::Size, "none", "bytes on stdout and stderr together", true),
];

/// The keys of `sandbox`, which stand in a directive as `sandbox.write=build`.
#[rustfmt::skip]
pub const SANDBOX_KEYS: &[KeyRow] = &[
    key("read", KeyValue::Texts, "everything", "files and folders that it may read and run, besides those of the system", true),
    key("write", KeyValue::Texts, "nothing", "files and folders that it may read, change, make and remove", true),
    key("network", KeyValue::Flag, "false", "it may use the network", true),
    key("required", KeyValue::Flag, "true", "it does not run where the system cannot keep it to this", true),
];

/// The keys of an `[event."name"]` table: an event of your own.
#[rustfmt::skip]
pub const EVENT_KEYS: &[KeyRow] = &[
    key("summary", KeyValue::Text, "required", "completes \"runs when …\"", false),
    key("blocks", KeyValue::Flag, "true", "a hook can block it", false),
    key("on_failure", KeyValue::OneOf(on_failures), "\"block\" if it can be blocked", "what a failing hook means", false),
    key("schedule", KeyValue::OneOf(schedules), "\"sequential\"", "how its hooks run", false),
    key("context", KeyValue::Table, "empty", "field = JSON type, for samples and schemas", false),
    key("required", KeyValue::Texts, "none", "keys of `context` without which nothing is decided", false),
    key("rewrites", KeyValue::Table, "empty", "field = merge rule, for what hooks may rewrite", false),
];

/// The keys of `[log]`.
#[rustfmt::skip]
pub const LOG_KEYS: &[KeyRow] = &[
    key("enabled", KeyValue::Flag, "true", "false: no decision is kept; said by the system or the user, not by a project", false),
    key("redact", KeyValue::Texts, "none", "regular expressions for your own secrets; what the group `keep` matches stays", false),
];

/// The tables of a `hookrun.toml`.
#[rustfmt::skip]
pub const TOP_KEYS: &[KeyRow] = &[
    key("hook", KeyValue::Table, "", "a hook", false),
    key("event", KeyValue::Table, "", "an event that you declare", false),
    key("log", KeyValue::Table, "", "what is kept of decisions", false),
];

fn on_failures() -> Vec<&'static str> {
    OnFailure::NAMES.iter().map(|(_, name)| *name).collect()
}

fn backgrounds() -> Vec<&'static str> {
    Background::NAMES.iter().map(|(_, name)| *name).collect()
}

fn readings() -> Vec<&'static str> {
    READINGS.iter().map(|(_, name)| *name).collect()
}

/// What a hook may say that it reads, and whether that is its stdin.
pub(crate) const READINGS: &[(bool, &str)] = &[(false, "environment"), (true, "stdin")];

fn containments() -> Vec<&'static str> {
    Containment::NAMES.iter().map(|(_, name)| *name).collect()
}

fn schedules() -> Vec<&'static str> {
    Schedule::NAMES.iter().map(|(_, name)| *name).collect()
}

pub(crate) fn dialects() -> Vec<&'static str> {
    std::iter::once("native").chain(DIALECTS.iter().map(|dialect| dialect.name)).collect()
}

/// The names of the merge rules.
pub(crate) fn merges() -> Vec<&'static str> {
    Merge::NAMES.iter().map(|(_, name)| *name).collect()
}
