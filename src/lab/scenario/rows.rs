//! Cases with rows: each row replaces `{name}` in a case by its value.
//!
//! A string that is only a placeholder becomes the value itself, of any type. Within a longer text
//! the value is written out. `{{name}}` is the text `{name}`, and `${name}` is left to the shell.

use std::collections::BTreeSet;

use crate::config::tree::{Tree, TreeEntry, TreeValue};

/// The values of a row, with their names.
pub(super) type RowValues = Vec<(String, Tree)>;

/// The longest text that filling or repeating may produce.
pub(super) const LONGEST_TEXT_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Placeholders {
    /// Placeholders that the row has a value for.
    pub(super) used: BTreeSet<String>,
    /// Placeholders without a value, with their places.
    pub(super) missing: Vec<(String, usize)>,
    /// Placeholders in a longer text whose value cannot be written there.
    pub(super) unwritable: Vec<(String, usize)>,
}

/// Fills the placeholders in a value of a case from `row`.
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

/// The value for a text that is only a placeholder.
fn whole<'r>(text: &str, row: &'r RowValues) -> Option<&'r (String, Tree)> {
    let name = text
        .strip_prefix('{')?
        .strip_suffix('}')
        .filter(|name| is_name(name))?;
    row.iter().find(|(known, _)| known == name)
}

/// The text with its placeholders written out; `None` if it has none.
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
            match row
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| word(value))
            {
                Some(Some(word)) => {
                    found.used.insert(name.to_string());
                    made.push_str(&word);
                }
                Some(None) => {
                    found.used.insert(name.to_string());
                    found.unwritable.push((name.to_string(), at));
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

/// The name between `open` and `close` at the beginning of `text`, and where the rest begins.
fn name_at<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, usize)> {
    let inner = text.strip_prefix(open)?;
    let end = inner.find('}')?;
    let name = &inner[..end];
    let is_closed = inner[end..].starts_with(close);
    (is_closed && is_name(name)).then_some((name, open.len() + end + close.len()))
}

/// Whether this can be a placeholder's name. It is lower case, so that few texts contain one by
/// chance.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn word(tree: &Tree) -> Option<String> {
    match &tree.value {
        TreeValue::Text(text) | TreeValue::Fraction(text) | TreeValue::Date(text) => {
            Some(text.clone())
        }
        TreeValue::Number(_) | TreeValue::Flag(_) => Some(tree.describe()),
        TreeValue::List(_) | TreeValue::Table(_) | TreeValue::Other(_) => None,
    }
}
