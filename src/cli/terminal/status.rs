//! The status line: a text for each key, and what all of them are on one line.
//!
//! oh-my-pi's rule: sorted by key, made plain (line breaks and tabs are spaces, runs of spaces are
//! one), joined, and cut to the width.

use std::collections::BTreeMap;

use console::truncate_str;

use crate::engine::harmless::is_hidden;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StatusLine {
    texts: BTreeMap<String, String>,
}

impl StatusLine {
    /// Puts `text` under `key`; `None` takes the key away.
    pub(crate) fn set(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.texts.insert(key.to_string(), squeezed(text)),
            None => self.texts.remove(key),
        };
    }

    /// The line, no wider than `columns` of a terminal.
    pub(crate) fn line(&self, columns: usize) -> String {
        let texts = self
            .texts
            .values()
            .map(String::as_str)
            .filter(|text| !text.is_empty());
        cut(&texts.collect::<Vec<_>>().join(" "), columns)
    }
}

/// A text on one line that cannot move the cursor, change colours, or be read in another order
/// than it is written: such characters are gone, and every run of spaces is one.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        // The colours and movements that terminals understand, as a whole.
        if c == '\u{1b}' && characters.next_if_eq(&'[').is_some() {
            while characters.next_if(|c| !('@'..='~').contains(c)).is_some() {}
            characters.next();
            continue;
        }
        let is_space = c.is_whitespace();
        if is_space && !squeezed.ends_with(' ') {
            squeezed.push(' ');
        } else if !is_space && !is_hidden(c) {
            squeezed.push(c);
        }
    }
    squeezed.trim().to_string()
}

/// As much of a line as `columns` of a terminal hold, with a mark where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if columns == 0 {
        return String::new();
    }
    truncate_str(text, columns, "…").into_owned()
}
