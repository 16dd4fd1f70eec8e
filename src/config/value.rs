//! The types of keys: their descriptions and suggestions for messages and docs; and splitting a
//! command into words without a shell.

use crate::engine::complaint::{self, Complaint};
use crate::engine::hook::FILES;

/// A key without its reading function.
#[derive(Debug, Clone, Copy)]
pub struct KeySpec {
    pub name: &'static str,
    pub takes: KeyValue,
    pub default: &'static str,
    pub about: &'static str,
}

pub(crate) type KeysOf = fn() -> Vec<KeySpec>;

#[derive(Debug, Clone, Copy)]
pub enum KeyValue {
    Text,
    Texts,
    Flag,
    Number,
    Duration,
    Size,
    OneOf(fn() -> Vec<&'static str>),
    /// A table with these keys; without any, the keys are free.
    Table(KeysOf),
    Tables(KeysOf),
    /// A table with free keys and values of this type.
    Map(&'static KeyValue),
    Either(&'static [KeyValue]),
    Pattern,
    /// A table, or JSON in a string.
    Json,
}

impl KeyValue {
    pub fn describe(self) -> String {
        self.texts().0
    }

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
                let first = all.first().map(|one| one.texts().1);
                return (words.join(" or "), first.unwrap_or_default());
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

    /// The suggestion for `key` instead of `written`, which is empty for a value without text.
    pub(super) fn cure(self, key: &str, written: &str) -> String {
        let key = key.rsplit('.').next().unwrap_or(key);
        let example = self.texts().1;
        let words = if let KeyValue::OneOf(words) = self {
            words()
        } else if matches!(self, KeyValue::Flag) {
            vec!["true", "false"]
        } else if matches!(self, KeyValue::Pattern) && key == "findings" {
            return format!("write `{key} = '^error src/main.tf:7 '`");
        } else if matches!(self, KeyValue::Duration) && written.parse::<u64>().is_ok() {
            return format!("write `{key} = \"{written}s\"`");
        } else {
            return format!("write `{key} = {example}`");
        };
        match complaint::nearest(written, words.iter().copied()) {
            Some(meant) if matches!(self, KeyValue::Flag) => format!("write `{key} = {meant}`"),
            Some(meant) => format!("write `{key} = \"{meant}\"`"),
            None if written.is_empty() => format!("write `{key} = {example}`"),
            None => format!("write one of these values, for example `{key} = {example}`"),
        }
    }
}

pub(crate) fn words<T>(names: &[(T, &'static str)]) -> Vec<&'static str> {
    names.iter().map(|(_, name)| *name).collect()
}

/// The error for an unknown key. `group` is the table that has a key of this name.
pub(super) fn unknown(known: &[&'static str], name: &str, group: Option<&str>) -> Complaint {
    let cure = match (complaint::nearest(name, known.iter().copied()), group) {
        (Some(nearest), _) => format!("did you mean `{nearest}`?"),
        (None, Some(group)) => format!("write `{group} = {{ {name} = … }}`"),
        (None, None) if known.contains(&"where") => format!(
            "the keys here are {}; to match a field of the context, write `where = {{ {name} = … }}`",
            known.join(", ")
        ),
        (None, None) => format!("the keys here are {}", known.join(", ")),
    };
    Complaint::with_cure(format!("unknown key `{name}`"), cure)
}

/// Shell syntax outside quotes, which needs `shell = true` and is never an argument.
const SHELL_SYNTAX: &str = "|&;<>()$`*?[]{}~#\n";

/// Shell syntax within double quotes.
const QUOTED_SYNTAX: &str = "$`";

/// Splits `command` into words.
///
/// # Errors
/// If it is empty, has an unclosed quote, or needs a shell.
pub(crate) fn split_command(command: &str) -> Result<Vec<String>, Complaint> {
    if let Some(found) = shell_syntax(command) {
        if let Some(name) = placeholder_in(command).filter(|_| found == '{') {
            return Err(bad_placeholder(name));
        }
        let cause = format!("`{}` in a command needs a shell", found.escape_debug());
        let cure = "set `shell = true`, or put it in single quotes if it is literal";
        return Err(Complaint::with_cure(cause, cure));
    }
    let words = shell_words::split(command).map_err(|_| {
        let cause = "a quote in the command is not closed";
        Complaint::with_cure(cause, "close the quote, or escape it with `\\`")
    })?;
    let Some(program) = words.first() else {
        let cure = "write the program to run";
        return Err(Complaint::with_cure("the command is empty", cure));
    };
    let mut other_words = words.iter().filter(|word| *word != FILES);
    let count = words.iter().filter(|word| *word == FILES).count();
    if program == FILES || count > 1 || other_words.any(|word| word.contains(FILES)) {
        return Err(bad_placeholder(FILES));
    }
    if program.contains('=') && !program.contains('/') {
        let cause = format!("`{program}` sets a variable, which needs a shell");
        let cure = format!("set `shell = true`, or write `env {program} …`");
        return Err(Complaint::with_cure(cause, cure));
    }
    Ok(words)
}

fn is_files_word(command: &str, start: usize) -> bool {
    let (before, word) = command.split_at(start);
    let after = word.strip_prefix(FILES);
    after.is_some_and(|after| {
        before.ends_with(char::is_whitespace) && !after.starts_with(|c: char| !c.is_whitespace())
    })
}

fn bad_placeholder(name: &str) -> Complaint {
    if name == FILES {
        let cause =
            format!("`{FILES}` must be a separate word after the program, and appear only once");
        let cure = format!("write `program {FILES}`: each file becomes an argument");
        return Complaint::with_cure(cause, cure);
    }
    let cause = format!("`{name}` is not a placeholder of a command");
    let cure = format!("quote the braces; the only placeholder of a command is `{FILES}`");
    Complaint::with_cure(cause, cure)
}

fn placeholder_in(command: &str) -> Option<&str> {
    let (start, _) = command.match_indices('{').find(|(at, _)| {
        let name = command[at + 1..].split_once('}').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
        })
    })?;
    let length = command[start..].find('}')?;
    Some(&command[start..=start + length])
}

fn shell_syntax(command: &str) -> Option<char> {
    let mut quote: Option<char> = None;
    let command = command.trim();
    let mut characters = command.chars();
    while let Some(c) = characters.next() {
        let rest = characters.as_str();
        match quote {
            None if c == '{' && is_files_word(command, command.len() - rest.len() - 1) => {
                characters = rest[FILES.len() - 1..].chars();
            }
            Some('\'') if c == '\'' => quote = None,
            Some('\'') => {}
            Some(_) if c == '"' => quote = None,
            Some(_) if QUOTED_SYNTAX.contains(c) => return Some(c),
            None if c == '\'' || c == '"' => quote = Some(c),
            None if SHELL_SYNTAX.contains(c) => return Some(c),
            Some(_) | None if c == '\\' => drop(characters.next()),
            Some(_) | None => {}
        }
    }
    None
}
