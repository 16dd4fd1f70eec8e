//! YAML documents as trees with positions.
//!
//! Plain scalars mean what Kubernetes and most tools take them for: `yes` and `on` are true, and
//! `010` is 8. An alias copies its anchor, and `<<` merges. The number of copied values is limited.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::tree::{MOST_LEVELS, SyntaxError, Tree, TreeEntry, TreeValue};

/// The most values in a text, including aliases; a few lines could expand to billions.
const MOST_VALUES: usize = 4_000_000;

const NULL: &[&str] = &["", "~", "null", "Null", "NULL"];
#[rustfmt::skip]
const TRUE: &[&str] = &["true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"];
#[rustfmt::skip]
const FALSE: &[&str] = &["false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"];

/// # Errors
/// The first invalid part, or one that no table or list can hold.
pub(crate) fn documents(text: &str) -> Result<Vec<Tree>, SyntaxError> {
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
            return Err("nested too deep".to_string());
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
        let rest = unsigned
            .strip_prefix(prefix)
            .filter(|rest| !rest.is_empty())?;
        Some((rest, *base))
    });
    let (rest, base) = read.filter(|(rest, _)| !rest.starts_with(['-', '+']))?;
    let number = i64::from_str_radix(rest, base).ok()?;
    Some(if digits.starts_with('-') {
        -number
    } else {
        number
    })
}
