//! A TOML, JSON or YAML document with the position of every value, so that one reader serves all.

use std::collections::HashMap;

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
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
const MOST_LEVELS: usize = 128;

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
        let offset = document.span().start;
        Tree { value, offset }
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
        Some(b'[' | b'{') if levels == 0 => Some(TreeValue::Other("a deeply nested value".into())),
        Some(b'"') => serde_json::from_str(raw).ok().map(TreeValue::Text),
        Some(b'[') => json::elements(raw).map(|items| {
            let items = items.into_iter();
            let trees = items.map(|item| of_raw(item.get(), text, levels - 1));
            TreeValue::List(trees.collect())
        }),
        Some(b'{') => json::entries(raw)
            .ok()
            .and_then(|entries: Vec<(&RawValue, &RawValue)>| {
                let mut all = Vec::new();
                for (key, value) in entries {
                    all.push(TreeEntry {
                        key: serde_json::from_str(key.get()).ok()?,
                        at: offset_of(key.get()),
                        tree: of_raw(value.get(), text, levels - 1),
                    });
                }
                Some(TreeValue::Table(all))
            }),
        _ => Some(match (raw, raw.parse()) {
            ("true" | "false", _) => TreeValue::Flag(raw == "true"),
            (_, Ok(number)) => TreeValue::Number(number),
            _ if raw.parse::<f64>().is_ok() => TreeValue::Fraction(raw.to_string()),
            _ => TreeValue::Other(raw.to_string()),
        }),
    };
    let value = value.unwrap_or_else(|| TreeValue::Other("text that is not Unicode".to_string()));
    let offset = offset_of(raw);
    Tree { value, offset }
}

/// Blanks out the comments of a JSON text, keeping offsets.
pub(super) fn without_comments(text: &str) -> Option<String> {
    let collected = CollectOptions {
        comments: CommentCollectionStrategy::Separate,
        tokens: false,
    };
    let parsed = parse_to_ast(text, &collected, &ParseOptions::default()).ok()?;
    let mut bytes = text.as_bytes().to_vec();
    let comments = parsed.comments?;
    for comment in comments.values().flat_map(|comments| comments.iter()) {
        let range = comment.range();
        let commented = &mut bytes[range.start..range.end];
        for byte in commented.iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    }
    String::from_utf8(bytes).ok()
}

/// The most values in a text, including aliases; a few lines could expand to billions.
const MOST_VALUES: usize = 4_000_000;

const NULL: &[&str] = &["", "~", "null", "Null", "NULL"];
#[rustfmt::skip]
const TRUE: &[&str] = &["true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"];
#[rustfmt::skip]
const FALSE: &[&str] = &["false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"];

/// Reads YAML. Plain scalars mean what Kubernetes and most tools take them for: `yes` and `on` are
/// true, and `010` is 8. An alias copies its anchor, and `<<` merges.
///
/// # Errors
/// The first invalid part, or one that no table or list can hold.
pub(crate) fn yaml_documents(text: &str) -> Result<Vec<Tree>, SyntaxError> {
    let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| SyntaxError {
            line: error.marker().line(),
            message: error.info().to_string(),
        })?;
        let place = offsets.get(span.start.index());
        builder.offset = place.copied().unwrap_or(text.len());
        builder.take(event).map_err(|message| SyntaxError {
            line: span.start.line(),
            message,
        })?;
    }
    Ok(builder.documents)
}

#[derive(Default)]
struct Builder {
    documents: Vec<Tree>,
    /// Open lists and tables, outermost first.
    open: Vec<OpenNode>,
    anchors: HashMap<usize, Tree>,
    values: usize,
    offset: usize,
}

struct OpenNode {
    tree: Tree,
    anchor: usize,
    key: Option<(String, usize)>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        let offset = self.offset;
        let last = self.open.last_mut();
        let awaits_key = last.filter(|node| node.key.is_none() && node.tree.entries().is_some());
        match (event, awaits_key) {
            (Event::Scalar(key, ..), Some(table)) => {
                table.key = Some((key.into_owned(), offset));
                Ok(())
            }
            (Event::Scalar(text, style, anchor, tag), None) => {
                let value = scalar(&text, style, tag.as_deref());
                self.add(Tree { value, offset }, anchor)
            }
            (Event::Alias(anchor), None) => {
                let Some(tree) = self.anchors.get(&anchor) else {
                    return Err("an alias without an anchor above it".to_string());
                };
                self.values = self.values.saturating_add(count(tree));
                if self.values > MOST_VALUES {
                    return Err(format!("aliases expand to more than {MOST_VALUES} values"));
                }
                let mut tree = tree.clone();
                tree.offset = offset;
                self.add(tree, 0)
            }
            (Event::SequenceStart(anchor, _), None) => {
                self.begin(TreeValue::List(Vec::new()), anchor)
            }
            (Event::MappingStart(anchor, _), None) => {
                self.begin(TreeValue::Table(Vec::new()), anchor)
            }
            (Event::SequenceEnd | Event::MappingEnd, _) => self.end(),
            (Event::Alias(_) | Event::SequenceStart(..) | Event::MappingStart(..), Some(_)) => {
                Err("a key must be text".to_string())
            }
            (Event::Nothing | Event::StreamStart | Event::StreamEnd, _) => Ok(()),
            (Event::DocumentStart(_) | Event::DocumentEnd, _) => Ok(()),
        }
    }

    fn begin(&mut self, value: TreeValue, anchor: usize) -> Result<(), String> {
        if self.open.len() == MOST_LEVELS {
            return Err("nested too deeply".to_string());
        }
        let offset = self.offset;
        let tree = Tree { value, offset };
        let key = None;
        self.open.push(OpenNode { tree, anchor, key });
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(mut node) = self.open.pop() else {
            return Ok(());
        };
        if let TreeValue::Table(entries) = &mut node.tree.value {
            merge(entries);
        }
        self.add(node.tree, node.anchor)
    }

    /// Adds a finished value to its list or table.
    fn add(&mut self, tree: Tree, anchor: usize) -> Result<(), String> {
        if anchor > 0 {
            self.anchors.insert(anchor, tree.clone());
        }
        let Some(node) = self.open.last_mut() else {
            self.documents.push(tree);
            return Ok(());
        };
        if let TreeValue::List(items) = &mut node.tree.value {
            items.push(tree);
        } else if let (TreeValue::Table(entries), Some((key, at))) =
            (&mut node.tree.value, node.key.take())
        {
            entries.push(TreeEntry { key, at, tree });
        }
        Ok(())
    }
}

fn count(tree: &Tree) -> usize {
    let items = tree.items().unwrap_or_default().iter();
    let entries = tree.entries().unwrap_or_default().iter();
    let below = items.chain(entries.map(|entry| &entry.tree));
    1 + below.map(count).sum::<usize>()
}

/// Replaces `<<` by the entries of its tables whose keys are not present.
fn merge(entries: &mut Vec<TreeEntry>) {
    let is_merged = |entry: &TreeEntry| entry.key == "<<" && entry.tree.text().is_none();
    let merges: Vec<TreeEntry> = entries.extract_if(.., |entry| is_merged(entry)).collect();
    for merged in &merges {
        let one = std::slice::from_ref(&merged.tree);
        for table in merged.tree.items().unwrap_or(one) {
            for entry in table.entries().unwrap_or_default() {
                if entries.iter().all(|own| own.key != entry.key) {
                    entries.push(entry.clone());
                }
            }
        }
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> TreeValue {
    let is_plain = match tag {
        Some(tag) => tag.is_yaml_core_schema() && tag.suffix != "str" && tag.suffix != "binary",
        None => style == ScalarStyle::Plain,
    };
    let digits = text.replace('_', "");
    // `inf` and `nan` are words.
    let is_number = digits.ends_with(|c: char| c.is_ascii_hexdigit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit());
    if !is_plain {
        TreeValue::Text(text.to_string())
    } else if NULL.contains(&text) {
        TreeValue::Other("null".to_string())
    } else if TRUE.contains(&text) || FALSE.contains(&text) {
        TreeValue::Flag(TRUE.contains(&text))
    } else if let Some(number) = integer(&digits) {
        TreeValue::Number(number)
    } else if is_number && digits.parse::<f64>().is_ok() {
        TreeValue::Fraction(digits)
    } else {
        TreeValue::Text(text.to_string())
    }
}

fn integer(digits: &str) -> Option<i64> {
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    let bases = [("0x", 16), ("0o", 8), ("0b", 2), ("0", 8), ("", 10)];
    let read = bases.iter().find_map(|(prefix, base)| {
        let rest = unsigned.strip_prefix(prefix)?;
        (!rest.is_empty()).then_some((rest, *base))
    });
    let (rest, base) = read.filter(|(rest, _)| !rest.starts_with(['-', '+']))?;
    let number = i64::from_str_radix(rest, base).ok()?;
    let sign = if digits.starts_with('-') { -1 } else { 1 };
    Some(sign * number)
}
