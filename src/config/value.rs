//! What keys take: the words for it in messages and docs, and what to write instead of a mistake.

use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;
use crate::engine::spelling;

/// What a key takes, in words: its row without the way that it is read.
#[derive(Debug, Clone, Copy)]
pub struct KeySpec {
    pub name: &'static str,
    pub takes: KeyValue,
    pub default: &'static str,
    pub about: &'static str,
}

/// The keys of a table.
pub(crate) type KeysOf = fn() -> Vec<KeySpec>;

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
    /// A table with these keys; without any, its user chooses them.
    Table(KeysOf),
    /// A list of such tables.
    Tables(KeysOf),
    /// A table whose keys its user chooses, each with such a value.
    Map(&'static KeyValue),
    /// One of these.
    Either(&'static [KeyValue]),
    Pattern,
    /// A table, or JSON in a string.
    Json,
}

impl KeyValue {
    pub fn describe(self) -> String {
        self.texts().0
    }

    /// What is expected, and an example of it.
    fn texts(self) -> (String, String) {
        let (expected, example) = match self {
            KeyValue::Text => ("a string", "\"text\""),
            KeyValue::Texts => ("a string or a list of strings", "[\"one\", \"two\"]"),
            KeyValue::Flag => ("true or false", "true"),
            KeyValue::Number => ("a whole number", "10"),
            KeyValue::Duration => ("a duration like \"10s\"", "\"10s\""),
            KeyValue::Size => ("a size like \"64M\"", "\"64M\""),
            KeyValue::Table(_) | KeyValue::Map(_) => ("a table", "{ key = \"value\" }"),
            KeyValue::Tables(_) => ("a list of tables", "[{ key = \"value\" }]"),
            KeyValue::Either(all) => {
                let words: Vec<String> = all.iter().map(|one| one.describe()).collect();
                return (
                    words.join(" or "),
                    all.first().map_or_else(String::new, |one| one.texts().1),
                );
            }
            KeyValue::Pattern => ("a regular expression", "'^rm '"),
            KeyValue::Json => ("a table, or JSON in a string", "{ key = 1 }"),
            KeyValue::OneOf(words) => {
                let words = words();
                let all = format!("one of \"{}\"", words.join("\", \""));
                return (all, format!("\"{}\"", words.first().unwrap_or(&"")));
            }
        };
        (expected.to_string(), example.to_string())
    }

    pub(super) fn keys(self) -> Vec<&'static str> {
        if let KeyValue::Either(all) = self {
            return all.iter().flat_map(|one| one.keys()).collect();
        }
        let KeyValue::Table(keys) = self else {
            return Vec::new();
        };
        keys().iter().map(|key| key.name).collect()
    }

    /// What to write for `key` instead of `written`; that is empty for a value without a word.
    pub(super) fn cure(self, key: &str, written: &str) -> String {
        let key = key.rsplit('.').next().unwrap_or(key);
        let written = written.to_lowercase();
        let means = |(words, _): &&(&[&str], &str)| words.contains(&written.as_str());
        let (table, words): (&[(&[&str], &str)], _) = match self {
            KeyValue::Flag => (FLAG_WORDS, vec!["true", "false"]),
            KeyValue::OneOf(words) => (FAILURE_WORDS, words()),
            KeyValue::Pattern if key == "findings" => {
                return format!("write `{key} = '^error src/main.tf:7 '`");
            }
            KeyValue::Text
            | KeyValue::Texts
            | KeyValue::Number
            | KeyValue::Duration
            | KeyValue::Size
            | KeyValue::Table(_)
            | KeyValue::Tables(_)
            | KeyValue::Map(_)
            | KeyValue::Either(_)
            | KeyValue::Pattern
            | KeyValue::Json => return format!("write `{key} = {}`", self.texts().1),
        };
        let meant = table.iter().find(means).map(|(_, meant)| *meant);
        let meant = meant.filter(|meant| words.contains(meant));
        match (
            meant.or_else(|| spelling::nearest(&written, words.iter().copied())),
            self,
        ) {
            (Some(meant), KeyValue::Flag) => format!("write `{key} = {meant}`"),
            (Some(meant), _) => format!("write `{key} = \"{meant}\"`"),
            (None, _) if written.is_empty() => format!("write `{key} = {}`", self.texts().1),
            (None, _) => format!("`{key}` is one of {}", words.join(", ")),
        }
    }
}

pub(crate) fn words<T>(names: &[(T, &'static str)]) -> Vec<&'static str> {
    names.iter().map(|(_, name)| *name).collect()
}

const FLAG_WORDS: &[(&[&str], &str)] = &[
    (&["yes", "on", "1", "y", "enabled"], "true"),
    (
        &["no", "off", "0", "n", "disabled", "never", "none"],
        "false",
    ),
];

/// Words that people write for what a failure means.
const FAILURE_WORDS: &[(&[&str], &str)] = &[
    (
        &[
            "open", "ignore", "warn", "pass", "continue", "skip", "approve",
        ],
        "allow",
    ),
    (
        &[
            "closed", "close", "fail", "error", "deny", "refuse", "stop", "abort",
        ],
        "block",
    ),
];

/// Keys of other tools, each with ours.
#[rustfmt::skip]
const SYNONYMS: &[(&str, &str)] = &[
    ("matcher", "tool"), ("toolName", "tool"), ("tool_name", "tool"), ("tools", "tool"),
    ("paths", "path"), ("file", "path"), ("glob", "path"), ("run", "runs"),
    ("run", "command"), ("block", "deny"), ("reject", "deny"), ("forbid", "deny"), ("exec", "command"), ("cmd", "command"), ("if", "match"), ("when", "match"), ("url", "git"),
    ("repo", "git"), ("ref", "rev"), ("tag", "rev"), ("branch", "rev"),
    ("expected", "expect"), ("expectation", "expect"), ("input", "context"),
];

pub(super) fn synonym(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let means = |(other, ours): &&(&str, &str)| *other == name && known.contains(ours);
    SYNONYMS.iter().find(means).map(|(_, ours)| *ours)
}

/// The one of `known` that an unknown key was probably meant to be.
pub(super) fn meant(known: &[&'static str], name: &str) -> Option<&'static str> {
    synonym(name, known).or_else(|| spelling::nearest(name, known.iter().copied()))
}

/// The complaint about an unknown key, with the one of `known` that was probably meant. `group` is
/// the table in which there is a key of this name.
pub(super) fn unknown(known: &[&'static str], name: &str, group: Option<&str>) -> Complaint {
    let in_match = synonym(name, &["tool", "path"]).filter(|_| known.contains(&"match"));
    let plain = spelling::plain(name);
    let mut of_events = catalog::EVENTS.iter().flat_map(|spec| spec.context.iter());
    let is_case = known.contains(&"context") && known.contains(&"expect");
    let in_context = of_events.find(|key| is_case && spelling::plain(&key.name) == plain);
    let cure = match (in_match, meant(known, name), group, in_context) {
        (Some(key), ..) => format!("write `match = {{ {key} = … }}`"),
        (None, Some(nearest), ..) => format!("did you mean `{nearest}`?"),
        (None, None, Some(group), _) => format!("write `{group} = {{ {name} = … }}`"),
        (None, None, None, Some(key)) => format!("write `context = {{ {} = … }}`", key.name),
        (None, None, None, None) => format!("known here: {}", known.join(", ")),
    };
    Complaint::with_cure(format!("unknown key `{name}`"), cure)
}
