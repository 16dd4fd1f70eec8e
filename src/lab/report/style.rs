//! Colours, labels, widths and paths in reports. Colours are always written; the caller's stream
//! strips them if unwanted.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use crate::engine::harmless::plain;

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const BAD: Style = AnsiColor::Red.on_default().bold();
pub const DOUBT: Style = AnsiColor::Yellow.on_default().bold();
pub const ADDED: Style = AnsiColor::Green.on_default();
pub const REMOVED: Style = AnsiColor::Red.on_default();

const LINE_CHARACTERS: usize = 400;

/// 80 columns less the labels.
const PROSE_COLUMNS: usize = 63;

pub fn label(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "        {DIM}{name:<8}{DIM:#} {text}")
}

pub fn text(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    lines(
        out,
        name,
        text.trim_end().lines().map(|line| cut(&plain(line))),
    )
}

/// Writes sentences under a label, wrapped between words.
pub fn prose(out: &mut dyn Write, name: &str, sentences: &str) -> io::Result<()> {
    let mut broken: Vec<String> = Vec::new();
    for sentence in sentences.trim_end().lines() {
        let mut line = String::new();
        for word in cut(&plain(sentence)).split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > PROSE_COLUMNS {
                broken.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        broken.push(line);
    }
    lines(out, name, broken.into_iter())
}

fn lines(
    out: &mut dyn Write,
    name: &str,
    mut lines: impl Iterator<Item = String>,
) -> io::Result<()> {
    let Some(first) = lines.next() else {
        return Ok(());
    };
    label(out, name, &first)?;
    lines.try_for_each(|line| label(out, "", &line))
}

/// Cuts a line to a readable length.
pub fn cut(line: &str) -> String {
    let characters = line.chars().count();
    if characters <= LINE_CHARACTERS {
        return line.to_string();
    }
    let kept: String = line.chars().take(LINE_CHARACTERS).collect();
    format!("{kept}… ({characters} characters)")
}

/// Escapes a name and cuts it to a column's width.
pub fn column(name: &str, characters: usize) -> String {
    let name = plain(name);
    if name.chars().count() <= characters {
        return name;
    }
    name.chars().take(characters - 1).chain(['…']).collect()
}

pub fn short(ms: f64) -> String {
    if ms < 100.0 {
        format!("{ms:.1} ms")
    } else if ms < 10_000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1e3)
    }
}

pub fn counted(count: impl Display + PartialEq + From<u8>, noun: &str) -> String {
    if count == 1.into() {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

pub fn decision_style(decision: &str) -> (Style, &'static str) {
    match decision {
        "allow" => (GOOD, "allow"),
        "ask" => (DOUBT, "ASK"),
        _ => (BAD, "BLOCK"),
    }
}

pub fn row(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {DIM}{name:<11}{DIM:#} {text}")
}

/// Writes a row for each non-empty member of an object and each object of a list.
pub fn members(out: &mut dyn Write, object: &Value) -> io::Result<()> {
    for (key, value) in object.as_object().into_iter().flatten() {
        let mut name = String::new();
        for c in key.chars() {
            name.push_str(if c.is_uppercase() { " " } else { "" });
            name.push(c.to_ascii_lowercase());
        }
        let lines = match value.as_array() {
            Some(list) if list.iter().any(Value::is_object) => list.iter().map(words_of).collect(),
            Some(_) | None => vec![words_of(value)],
        };
        for text in lines.iter().filter(|text| !text.is_empty()) {
            row(out, &name, &plain(text))?;
            name.clear();
        }
    }
    Ok(())
}

/// A report's value on one line; a small object that begins with a name has no keys.
pub fn words_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_string(),
        Value::Bool(false) => "no".to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) => joined(values.iter().map(words_of), ", "),
        Value::Object(members) if members.is_empty() => "none".to_string(),
        Value::Object(members) => match members.values().next() {
            Some(Value::String(_)) if members.len() <= 3 => {
                joined(members.values().map(words_of), ": ")
            }
            _ => {
                let all = members.iter().map(|(key, value)| match value.as_array() {
                    Some(values) => {
                        format!("{key} {}", joined(values.iter().map(words_of), " "))
                    }
                    None => format!("{key} {}", words_of(value)),
                });
                joined(all, ", ")
            }
        },
    }
}

fn joined(texts: impl Iterator<Item = String>, separator: &str) -> String {
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    texts.join(separator)
}
