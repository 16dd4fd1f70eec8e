//! Finds a block in plain text that is not JSON: YAML, TOML, a log line or a shell line.
//!
//! Prose does not count. `continue: false` must end its line, and only what YAML or a log puts
//! there may come before it. `continue=false` must be a word by itself.

use super::refusal::{Meaning, WrittenValue, is_word_for_refusal, meaning};
use super::written::readings;

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
    let letters = key_end
        .bytes()
        .rev()
        .take(KEY_BYTES)
        .take_while(is_letter)
        .count();
    let (prefix, key) = key_end.split_at(key_end.len() - letters);
    // An option of a command line is not a key.
    if key.is_empty() || key.starts_with('-') {
        return None;
    }
    let after = after.strip_prefix('>').unwrap_or(after);
    let after = after.trim_start_matches([' ', '\t', '\\']);
    let is_assigned = text[at..].starts_with('=')
        && key_end.len() == at
        && !text[at + 1..].starts_with(BLANKS)
        && !prefix.ends_with(char::is_alphanumeric);
    let refuses = |(value, rest): (WrittenValue<'_>, &str)| {
        let mut signs = rest.chars();
        let ends_word = match signs.next() {
            None | Some('(') => true,
            Some(':') => after.starts_with('<'),
            Some(c) => c.is_whitespace() || CLOSERS.contains(&c),
        };
        let stands_alone = is_assigned && ends_word || ends_line(rest) && !is_prose(prefix);
        stands_alone && matches!(meaning(key, value), Meaning::Refusal | Meaning::Slip)
    };
    let is_found = readings(after).filter_map(value_in_line).any(refuses);
    (is_found && is_word_for_refusal(key)).then_some(key)
}

/// The value on the same line, and the rest of the line.
fn value_in_line(value: &str) -> Option<(WrittenValue<'_>, &str)> {
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &value[1..];
        let end = inner.find([quote, '\n', '\r'])?;
        return Some((
            WrittenValue::Text(inner[..end].trim_end_matches('\\')),
            &inner[end..],
        ));
    }
    let end = value
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(value.len());
    (end > 0).then(|| (WrittenValue::Bare(&value[..end]), &value[end..]))
}

/// Whether only a comment follows on the line.
fn ends_line(rest: &str) -> bool {
    let rest = rest.trim_start_matches(CLOSERS);
    rest.chars()
        .next()
        .is_none_or(|c| matches!(c, '\n' | '\r' | '#'))
}

/// Whether a word of prose comes before the key. A list dash, a level, a time, and text that ends
/// in a colon or bracket are not prose.
fn is_prose(prefix: &str) -> bool {
    let word = prefix
        .trim_end_matches(BLANKS)
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or("");
    word.ends_with(char::is_alphanumeric) && word.contains(char::is_lowercase)
}
