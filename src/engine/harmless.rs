//! Escapes untrusted text for terminals, CI logs and JSON readers.
//!
//! The result cannot move the cursor or change colours (control characters), cannot read
//! differently from its bytes (bidirectional and invisible characters), and has no CI commands.
//! Escapes stay visible: `\u{1b}`, `: :error::`.

use std::borrow::Cow;
use std::fmt::Write;

/// Invisible characters other than control characters: Unicode's default ignorables without the two
/// emoji variation selectors.
const INVISIBLE: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0d}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{13430}', '\u{13455}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || INVISIBLE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
}

/// Escapes a text to one line. Tabs stay.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\t' || !is_hidden(c) {
            plain.push(c);
        } else {
            plain.extend(c.escape_default());
        }
    }
    plain
}

/// Escapes hidden characters and CI commands, line by line.
pub fn lines(text: &str) -> Cow<'_, str> {
    match visible(text) {
        Cow::Borrowed(text) => without_commands(text),
        Cow::Owned(text) => Cow::Owned(without_commands(&text).into_owned()),
    }
}

/// Escapes hidden characters, line by line.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| !matches!(c, '\n' | '\t') && is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        let words = line.strip_suffix(end).unwrap_or(line);
        made.push_str(&plain(words));
        made.push_str(&line[words.len()..]);
    }
    Cow::Owned(made)
}

/// Breaks CI commands with a blank: `::` at the start of a line (GitHub trims lines, so a leading
/// blank is not enough), `##[`, `##vso[` and `##teamcity[`. GitLab's markers begin with control
/// characters, which [`lines`] escapes.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    // A carriage return alone begins a line too.
    for line in text.split_inclusive(['\n', '\r']) {
        let words = line.trim_start_matches(|c: char| c.is_whitespace() || is_hidden(c));
        made.push_str(&line[..line.len() - words.len()]);
        let words = words.strip_prefix("::").map_or(words, |rest| {
            made.push_str(": :");
            rest
        });
        push_without_signs(words, "## ", &mut made);
    }
    Cow::Owned(made)
}

/// Escapes JSON text without changing its meaning. Outside of strings the text has only blanks,
/// tabs and line breaks of this kind.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(hides) && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(made, "\\u{unit:04x}");
            }
        } else {
            made.push(c);
        }
    }
    let mut whole = String::with_capacity(made.len());
    push_without_signs(&made, "#\\u0023", &mut whole);
    Cow::Owned(whole)
}

fn hides(c: char) -> bool {
    !matches!(c, '\n' | '\r' | '\t') && is_hidden(c)
}

/// Writes a text, with `instead` for each `##` that begins a command in brackets.
fn push_without_signs(text: &str, instead: &str, made: &mut String) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("##") {
        made.push_str(before);
        let word = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
        let is_command = word.starts_with('[');
        // In `###[`, the last two are the marker.
        let is_longer = after.starts_with('#');
        if is_longer {
            made.push('#');
            rest = &rest[before.len() + 1..];
            continue;
        }
        made.push_str(if is_command { instead } else { "##" });
        rest = after;
    }
    made.push_str(rest);
}
