//! Replaces placeholders in the texts of a case.
//!
//! A row replaces `{name}`: a string that is only a placeholder becomes the value, of any type;
//! within a longer text the value is written out. `{{name}}` is the text `{name}`, and `${name}` is
//! left to the shell. Folders of a case, known only at run time, have the names in [`TOKENS`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::config::tree::{Tree, TreeEntry, TreeValue};

pub(super) type RowValues = Vec<(String, Tree)>;

/// The longest text that filling or repeating may produce.
pub(super) const LONGEST_TEXT_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Placeholders {
    pub(super) used: BTreeSet<String>,
    pub(super) missing: Vec<(String, usize)>,
}

/// Fills the placeholders of a value from `row`.
pub(super) fn fill(tree: &Tree, row: &RowValues, found: &mut Placeholders) -> Tree {
    let offset = tree.offset;
    let value = match &tree.value {
        TreeValue::Text(text) => match whole(text, row) {
            Some((name, value)) => {
                found.used.insert(name.clone());
                value.value.clone()
            }
            None => {
                let written = written(text, row, offset, found);
                TreeValue::Text(written.unwrap_or_else(|| text.clone()))
            }
        },
        TreeValue::List(items) => {
            TreeValue::List(items.iter().map(|item| fill(item, row, found)).collect())
        }
        TreeValue::Table(entries) => {
            let entry = |TreeEntry { key, at, tree }: &TreeEntry| TreeEntry {
                key: written(key, row, *at, found).unwrap_or_else(|| key.clone()),
                at: *at,
                tree: fill(tree, row, found),
            };
            TreeValue::Table(entries.iter().map(entry).collect())
        }
        TreeValue::Number(_)
        | TreeValue::Fraction(_)
        | TreeValue::Flag(_)
        | TreeValue::Date(_)
        | TreeValue::Other(_) => tree.value.clone(),
    };
    Tree { value, offset }
}

/// The value of a text that is only a placeholder.
fn whole<'r>(text: &str, row: &'r RowValues) -> Option<&'r (String, Tree)> {
    let name = text
        .strip_prefix('{')?
        .strip_suffix('}')
        .filter(|name| is_name(name))?;
    row.iter().find(|(known, _)| known == name)
}

/// The text with its placeholders written out; `None` without any.
fn written(text: &str, row: &RowValues, at: usize, found: &mut Placeholders) -> Option<String> {
    if !text.contains('{') {
        return None;
    }
    let mut made = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, after) = rest.split_at(start);
        made.push_str(before);
        if let Some((name, end)) = name_at(after, "{{", "}}") {
            made.push_str(&format!("{{{name}}}"));
            rest = &after[end..];
        } else if let Some((name, end)) = name_at(after, "{", "}").filter(|_| !made.ends_with('$'))
        {
            match row.iter().find(|(known, _)| known == name) {
                Some((_, value)) => {
                    found.used.insert(name.to_string());
                    made.push_str(&word(value));
                }
                None => found.missing.push((name.to_string(), at)),
            }
            rest = &after[end..];
        } else {
            made.push('{');
            rest = &after[1..];
        }
    }
    made.push_str(rest);
    Some(made)
}

/// The name between `open` and `close` at the start of `text`, and the offset of the rest.
fn name_at<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, usize)> {
    let inner = text.strip_prefix(open)?;
    let end = inner.find('}')?;
    let name = &inner[..end];
    let is_closed = inner[end..].starts_with(close);
    (is_closed && is_name(name)).then_some((name, open.len() + end + close.len()))
}

/// Whether this can be a placeholder's name: lower case, so that few texts contain one by chance.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// A value within a longer text: a text as is, anything else as JSON.
fn word(tree: &Tree) -> String {
    match &tree.value {
        TreeValue::Text(text) | TreeValue::Fraction(text) | TreeValue::Date(text) => text.clone(),
        TreeValue::Number(_)
        | TreeValue::Flag(_)
        | TreeValue::List(_)
        | TreeValue::Table(_)
        | TreeValue::Other(_) => tree.to_json().to_string(),
    }
}

#[derive(Debug)]
pub struct TokenRow {
    pub name: &'static str,
    pub about: &'static str,
    folder: fn(&CaseFolders) -> &Path,
}

#[rustfmt::skip]
pub const TOKENS: &[TokenRow] = &[
    TokenRow { name: "{case.folder}", about: "the case's working folder", folder: |folders| &folders.work },
    TokenRow { name: "{case.home}", about: "the case's home folder", folder: |folders| &folders.home },
    TokenRow { name: "{suite.folder}", about: "the folder of the test case file", folder: |folders| &folders.suite },
];

#[derive(Debug, Clone)]
pub struct CaseFolders {
    pub work: PathBuf,
    pub home: PathBuf,
    pub suite: PathBuf,
}

impl CaseFolders {
    pub fn fill(&self, text: &str) -> String {
        self.replaced(text, |path| path.to_string())
    }

    pub fn fill_pattern(&self, text: &str) -> String {
        self.replaced(text, regex::escape)
    }

    /// Fills a JSON text.
    pub fn fill_json(&self, text: &str) -> String {
        self.replaced(text, |path| {
            let quoted = Value::from(path).to_string();
            quoted[1..quoted.len() - 1].to_string()
        })
    }

    pub fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::from(self.fill(text)),
            Value::Array(list) => list.iter().map(|one| self.fill_value(one)).collect(),
            Value::Object(entries) => {
                let filled = |(key, one): (&String, &Value)| (self.fill(key), self.fill_value(one));
                entries.iter().map(filled).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Replaces folders by their tokens, as a case writes them.
    pub fn unfill(&self, text: &str) -> String {
        let mut text = text.to_string();
        for token in TOKENS {
            text = text.replace(&*(token.folder)(self).to_string_lossy(), token.name);
        }
        text
    }

    fn replaced(&self, text: &str, write: impl Fn(&str) -> String) -> String {
        let mut text = text.to_string();
        for token in TOKENS {
            if text.contains(token.name) {
                let folder = (token.folder)(self).to_string_lossy();
                text = text.replace(token.name, &write(&folder));
            }
        }
        text
    }
}

pub(super) fn without_tokens(text: &str) -> String {
    TOKENS.iter().fold(text.to_string(), |text, token| {
        text.replace(token.name, "folder")
    })
}

/// Unknown words that look like folder tokens.
pub(super) fn unknown_tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('{') {
        let rest = &text[at..];
        let is_ours = rest.starts_with("{case.") || rest.starts_with("{suite.");
        let Some(end) = rest.find('}').filter(|_| is_ours) else {
            continue;
        };
        let token = &rest[..=end];
        if !TOKENS.iter().any(|known| known.name == token) {
            found.push(token.to_string());
        }
    }
    found
}
