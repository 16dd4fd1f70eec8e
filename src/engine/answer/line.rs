//! Finds a block in plain text that is not JSON: YAML, TOML, a log line or a shell line.
//!
//! Prose does not count. `continue: false` must end its line, and only what YAML or a log puts
//! there may come before it. `continue=false` must be a word by itself.

use super::refusal::{Meaning, WrittenValue, is_word_for_refusal, meaning};

/// The longest key that can count.
pub(super) const KEY_BYTES: usize = 64;

const BLANKS: [char; 2] = [' ', '\t'];

/// Characters that may end a line after a value that blocks.
const CLOSERS: [char; 11] = [' ', '\t', ',', ';', '"', '\'', '`', '\\', ']', ')', '}'];

/// The key before the `:` or `=` at this place, if it blocks there.
pub(super) fn refusing_key(text: &str, at: usize) -> Option<&str> {
    let (before, after) = (&text[..at], &text[at + 1..]);
    // `:=`, `=>` and keys in quotes.
    let key_end = before.trim_end_matches([' ', '\t', ':', '"', '\'', '`', '\\']);
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let letters = key_end.bytes().rev().take(KEY_BYTES).take_while(is_letter).count();
    let (prefix, key) = key_end.split_at(key_end.len() - letters);
    // An option of a command line is not a key.
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

/// The value on the same line, and the rest of the line.
fn value_in_line(after: &str) -> Option<(WrittenValue<'_>, &str)> {
    let value = unwrapped(after.trim_start_matches([' ', '\t', '\\']));
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &value[1..];
        let end = inner.find([quote, '\n', '\r'])?;
        return Some((WrittenValue::Text(inner[..end].trim_end_matches('\\')), &inner[end..]));
    }
    let end = value.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(value.len());
    (end > 0).then(|| (WrittenValue::Bare(&value[..end]), &value[end..]))
}

/// Whether only a comment follows on the line.
fn ends_line(rest: &str) -> bool {
    let rest = rest.trim_start_matches(CLOSERS);
    rest.chars().next().is_none_or(|c| matches!(c, '\n' | '\r' | '#'))
}

/// Whether a word of prose comes before the key. A list dash, a level, a time, and text that ends
/// in a colon or bracket are not prose.
fn is_prose(prefix: &str) -> bool {
    let word = prefix.trim_end_matches(BLANKS).rsplit(char::is_whitespace).next().unwrap_or("");
    word.ends_with(char::is_alphanumeric) && word.contains(char::is_lowercase)
}

/// How deep a value may be wrapped.
const WRAPPINGS: usize = 4;

/// The value in what a language prints around it: `Some(false)`, `Decision::Deny`,
/// `<Decision.BLOCK: 'block'>` of Python, `string(5) "block"` of PHP.
pub(super) fn unwrapped(text: &str) -> &str {
    let mut text = text;
    for _ in 0..WRAPPINGS {
        let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let inside = text
            .strip_prefix('<')
            .and_then(|text| text.trim_start_matches(path).strip_prefix(": "));
        let name = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let rest = name.strip_prefix("::").or_else(|| name.strip_prefix('.'));
        let rest = rest.filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        let argument = name.strip_prefix('(').filter(|_| name.len() < text.len());
        text = match (inside, rest, argument) {
            (Some(inner), ..) => inner,
            (_, Some(rest), _) if name.len() < text.len() => rest,
            (.., Some(argument)) => {
                let length = argument.trim_start_matches(|c: char| c.is_ascii_digit());
                length.strip_prefix(") ").filter(|text| text.starts_with('"')).unwrap_or(argument)
            }
            _ => break,
        };
    }
    text
}
