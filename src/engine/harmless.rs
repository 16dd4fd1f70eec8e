//! Text from elsewhere, made harmless for its readers: a terminal, the log of a CI job, a program that
//! reads JSON. Pure; every place that shows such a text uses it.
//!
//! Three things are taken from a text. It cannot move the cursor or change colours (control
//! characters), it cannot read differently from what it is (bidirectional and invisible formatting
//! characters), and no line of it is a command to a CI system. What is removed is shown: `\u{1b}`,
//! `: :error::`.

use std::borrow::Cow;
use std::fmt::Write;

/// Invisible characters, except control characters, that change how others look or read: Unicode's
/// default ignorable ones without the two that choose how an emoji looks.
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

/// Whether a character is invisible and changes how others look, or what they are.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || INVISIBLE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
}

/// A text on one line, in which everything can be seen. A tab stays.
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

/// A text whose lines stay lines: everything in it can be seen, and no CI system finds a command.
pub fn lines(text: &str) -> Cow<'_, str> {
    match visible(text) {
        Cow::Borrowed(text) => without_commands(text),
        Cow::Owned(text) => Cow::Owned(without_commands(&text).into_owned()),
    }
}

/// A text whose lines stay lines, in which everything can be seen.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| !matches!(c, '\n' | '\t') && is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        match line.strip_suffix(end) {
            Some(line) => {
                made.push_str(&plain(line));
                made.push_str(end);
            }
            None => made.push_str(&plain(line)),
        }
    }
    Cow::Owned(made)
}

/// A text in which no CI system finds a command: a blank is put into every `::` that begins a line
/// (GitHub trims lines first, so a blank before it would not do), and into every `##[`, `##vso[` or
/// `##teamcity[`. GitLab's section markers begin with control characters, which [`lines`] shows.
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

/// A text of which no line begins a group in the log of Buildkite, or opens the one that it is in:
/// a blank is put into `---`, `+++`, `~~~` and `^^^`. Only where that log is read: a diff has such
/// lines.
pub fn without_groups(text: &str) -> Cow<'_, str> {
    if !text.split(['\n', '\r']).any(begins_group) {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len() + 1);
    for line in text.split_inclusive(['\n', '\r']) {
        if begins_group(line) {
            made.extend([&line[..1], " ", &line[1..]]);
        } else {
            made.push_str(line);
        }
    }
    Cow::Owned(made)
}

fn begins_group(line: &str) -> bool {
    let sign = ["---", "+++", "~~~", "^^^"]
        .iter()
        .find_map(|sign| line.strip_prefix(sign));
    sign.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// JSON text with the same meaning, in which nothing is hidden and nothing is a command: outside of
/// its strings it has only blanks, tabs and line ends of that sort.
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

/// Whether a character of JSON text is hidden. Line ends and tabs are not.
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
        // Of `###[` the last two are the sign.
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
