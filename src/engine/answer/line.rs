//! A block in plain text that is no JSON: YAML, TOML, the words of a log or of a shell.
//!
//! Prose is left alone. `continue: false` must end its line, with nothing before it but what YAML
//! or a log puts there; `continue=false` must be a word by itself.

use super::refusal::{Meaning, WrittenValue, is_word_for_refusal, meaning};

/// The longest key that is looked at.
pub(super) const KEY_BYTES: usize = 64;

/// What separates the parts of a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// What may close a line after a value that blocks.
const CLOSERS: [char; 11] = [' ', '\t', ',', ';', '"', '\'', '`', '\\', ']', ')', '}'];

/// The key before the `:` or `=` at this place, if it blocks there.
pub(super) fn refusing_key(text: &str, at: usize) -> Option<&str> {
    let (before, after) = (&text[..at], &text[at + 1..]);
    // `:=`, `=>` and keys in quotes.
    let key_end = before.trim_end_matches([' ', '\t', ':', '"', '\'', '`', '\\']);
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let letters = key_end.bytes().rev().take(KEY_BYTES).take_while(is_letter).count();
    let (prefix, key) = key_end.split_at(key_end.len() - letters);
    // An option of a command line is no key.
    if key.is_empty() || key.starts_with('-') {
        return None;
    }
    let (value, rest) = value_in_line(after.strip_prefix('>').unwrap_or(after))?;
    let is_assignment = text[at..].starts_with('=')
        && key_end.len() == at
        && !after.starts_with(BLANKS)
        && rest.chars().next().is_none_or(|c| c.is_whitespace() || CLOSERS.contains(&c))
        && !prefix.ends_with(char::is_alphanumeric);
    let stands_alone = is_assignment || (ends_line(rest) && !is_prose(prefix));
    let is_meant = || matches!(meaning(key, value), Meaning::Refusal | Meaning::Slip);
    let refuses = || is_meant() && is_word_for_refusal(key);
    (stands_alone && refuses()).then_some(key)
}

/// The value on the same line, and what follows it.
fn value_in_line(after: &str) -> Option<(WrittenValue<'_>, &str)> {
    let value = after.trim_start_matches([' ', '\t', '\\']);
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &value[1..];
        let end = inner.find([quote, '\n', '\r'])?;
        return Some((WrittenValue::Text(inner[..end].trim_end_matches('\\')), &inner[end..]));
    }
    let end = value.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(value.len());
    (end > 0).then(|| (WrittenValue::Bare(&value[..end]), &value[end..]))
}

/// Whether nothing but a comment follows on the line.
fn ends_line(rest: &str) -> bool {
    let rest = rest.trim_start_matches(CLOSERS);
    rest.chars().next().is_none_or(|c| matches!(c, '\n' | '\r' | '#'))
}

/// Whether a word of a sentence comes before the key: a list's dash, a level, a time, and what ends
/// in a colon or a bracket, are none.
fn is_prose(prefix: &str) -> bool {
    let word = prefix.trim_end_matches(BLANKS).rsplit(char::is_whitespace).next().unwrap_or("");
    word.ends_with(char::is_alphanumeric) && word.contains(char::is_lowercase)
}
