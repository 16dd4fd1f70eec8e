//! A TOML or JSON document with the position of every value, so that one reader serves both.

use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::LineIndex;
use crate::engine::event::json;

#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) value: TreeValue,
    /// The byte offset of its start.
    pub(crate) offset: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum TreeValue {
    Text(String),
    Number(i64),
    Fraction(String),
    Flag(bool),
    Date(String),
    List(Vec<Tree>),
    /// The entries in order; a JSON key may repeat.
    Table(Vec<TreeEntry>),
    /// Another value, for messages.
    Other(String),
}

#[derive(Debug, Clone)]
pub(crate) struct TreeEntry {
    pub(crate) key: String,
    pub(crate) at: usize,
    pub(crate) tree: Tree,
}

#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// The deepest nesting of lists and tables.
pub(super) const MOST_LEVELS: usize = 128;

impl Tree {
    pub(super) fn of_json(text: &str) -> serde_json::Result<Tree> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(of_raw(raw.get(), text, MOST_LEVELS))
    }

    pub(crate) fn parse_toml(text: &str) -> Result<Tree, SyntaxError> {
        let table = DeTable::parse(text).map_err(|error| SyntaxError {
            line: LineIndex::of(text).line(error.span().map_or(0, |span| span.start)),
            message: error.message().to_string(),
        })?;
        Ok(Tree::of_toml(&table))
    }

    pub(crate) fn of_toml(document: &Spanned<DeTable<'_>>) -> Tree {
        let value = table(document.get_ref());
        Tree {
            value,
            offset: document.span().start,
        }
    }

    pub(crate) fn describe(&self) -> String {
        match &self.value {
            TreeValue::Text(text) => format!("\"{text}\""),
            TreeValue::Number(number) => number.to_string(),
            TreeValue::Flag(flag) => flag.to_string(),
            TreeValue::List(_) => "a list".to_string(),
            TreeValue::Table(_) => "a table".to_string(),
            TreeValue::Fraction(text) | TreeValue::Date(text) | TreeValue::Other(text) => {
                text.clone()
            }
        }
    }

    pub(crate) fn at(&self, path: &[&str]) -> Option<&Tree> {
        path.iter().try_fold(self, |tree, key| {
            tree.entries()?
                .iter()
                .find(|entry| entry.key == *key)
                .map(|entry| &entry.tree)
        })
    }

    pub(crate) fn entries(&self) -> Option<&[TreeEntry]> {
        if let TreeValue::Table(entries) = &self.value {
            Some(entries)
        } else {
            None
        }
    }

    pub(crate) fn items(&self) -> Option<&[Tree]> {
        if let TreeValue::List(items) = &self.value {
            Some(items)
        } else {
            None
        }
    }

    /// Its number, integer or not.
    pub(super) fn number(&self) -> Option<f64> {
        if let TreeValue::Number(number) = self.value {
            return Some(number as f64);
        }
        if let TreeValue::Fraction(text) = &self.value {
            return text.parse().ok();
        }
        None
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let TreeValue::Text(text) = &self.value {
            Some(text)
        } else {
            None
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        if let TreeValue::Flag(flag) = self.value {
            Some(flag)
        } else {
            None
        }
    }

    /// The value as JSON: a date as text, null for values that JSON does not have.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            TreeValue::Text(text) | TreeValue::Date(text) => text.as_str().into(),
            TreeValue::Number(number) => (*number).into(),
            TreeValue::Fraction(text) => text.parse::<f64>().ok().into(),
            TreeValue::Flag(flag) => (*flag).into(),
            TreeValue::List(items) => items.iter().map(Tree::to_json).collect(),
            TreeValue::Table(entries) => entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.tree.to_json()))
                .collect(),
            TreeValue::Other(_) => serde_json::Value::Null,
        }
    }
}

fn table(entries: &DeTable<'_>) -> TreeValue {
    let mut all = Vec::new();
    for (key, value) in entries {
        all.push(TreeEntry {
            key: key.get_ref().to_string(),
            at: key.span().start,
            tree: of_value(value),
        });
    }
    all.sort_by_key(|entry| entry.at);
    TreeValue::Table(all)
}

fn of_value(value: &Spanned<DeValue<'_>>) -> Tree {
    let offset = value.span().start;
    let value = match value.get_ref() {
        DeValue::String(text) => TreeValue::Text(text.to_string()),
        DeValue::Integer(number) => {
            match i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()) {
                Ok(number) => TreeValue::Number(number),
                Err(_) => TreeValue::Other("a number that is too large".to_string()),
            }
        }
        DeValue::Float(number) => TreeValue::Fraction(number.as_str().replace('_', "")),
        DeValue::Boolean(flag) => TreeValue::Flag(*flag),
        DeValue::Datetime(time) => TreeValue::Date(time.to_string()),
        DeValue::Array(items) => TreeValue::List(items.iter().map(of_value).collect()),
        DeValue::Table(entries) => table(entries),
    };
    Tree { value, offset }
}

fn of_raw(raw: &str, text: &str, levels: usize) -> Tree {
    let offset_of = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    let value = match raw.as_bytes().first() {
        Some(b'[' | b'{') if levels == 0 => Some(TreeValue::Other("nested too deep".to_string())),
        Some(b'"') => serde_json::from_str(raw).ok().map(TreeValue::Text),
        Some(b'[') => json::elements(raw).map(|items| {
            let items = items.into_iter();
            TreeValue::List(
                items
                    .map(|item| of_raw(item.get(), text, levels - 1))
                    .collect(),
            )
        }),
        Some(b'{') => json::entries(raw).ok().and_then(|entries| {
            let entry = |(key, value): (&RawValue, &RawValue)| {
                let name = serde_json::from_str(key.get()).ok()?;
                let at = offset_of(key.get());
                Some(TreeEntry {
                    key: name,
                    at,
                    tree: of_raw(value.get(), text, levels - 1),
                })
            };
            entries
                .into_iter()
                .map(entry)
                .collect::<Option<_>>()
                .map(TreeValue::Table)
        }),
        _ => Some(match (raw, raw.parse()) {
            ("true" | "false", _) => TreeValue::Flag(raw == "true"),
            (_, Ok(number)) => TreeValue::Number(number),
            _ if raw.parse::<f64>().is_ok() => TreeValue::Fraction(raw.to_string()),
            _ => TreeValue::Other(raw.to_string()),
        }),
    };
    let value = value.unwrap_or_else(|| TreeValue::Other("text that is not Unicode".to_string()));
    Tree {
        value,
        offset: offset_of(raw),
    }
}

/// Blanks out the comments of a text, keeping offsets. `None` without any.
pub(super) fn without_comments(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    let mut has_any = false;
    while at < bytes.len() {
        let end = match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(&bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => text[at..]
                .find('\n')
                .map_or(bytes.len(), |length| at + length),
            (b'/', Some(b'*')) => text[at + 2..]
                .find("*/")
                .map_or(bytes.len(), |length| at + length + 4),
            _ => {
                at += 1;
                continue;
            }
        };
        has_any = true;
        for byte in bytes[at..end].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        at = end;
    }
    String::from_utf8(bytes).ok().filter(|_| has_any)
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
