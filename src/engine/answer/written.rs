//! A value as somebody wrote it, in JSON or as a language prints it, and what it means for a key.

use super::refusal::{self, Meaning, WrittenValue};

/// The text in which a value begins. With `is_escaped` it ends with the surrounding string.
pub(super) fn value_after(text: &str, is_escaped: bool) -> &str {
    let text = text.trim_start();
    if !is_escaped {
        return text;
    }
    let is_end = |(at, _): &(usize, &str)| !text[..*at].ends_with('\\');
    let end = text
        .match_indices('"')
        .find(is_end)
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// The meaning of a key with the value that begins here: the strictest of its readings.
pub(super) fn meaning_of(key: &str, text: &str) -> Meaning {
    let mut strictest = Meaning::Nothing;
    for reading in readings(text) {
        match refusal::meaning(key, written(reading)) {
            refused @ (Meaning::Refusal | Meaning::Slip) => return refused,
            Meaning::Question => strictest = Meaning::Question,
            Meaning::Nothing => {}
        }
    }
    strictest
}

/// The value that begins here.
pub(super) fn written(text: &str) -> WrittenValue<'_> {
    if text.is_empty() {
        return WrittenValue::Cut("");
    }
    let opened = text.trim_start_matches('\\');
    let Some(quote) = opened
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'))
    else {
        let is_letter = |c: char| c.is_ascii_alphanumeric();
        let word = text.trim_start_matches(is_letter);
        let word = &text[..text.len() - word.len()];
        return match word {
            "" => many_after(text),
            _ if word.len() == text.len() => WrittenValue::Cut(word),
            _ if word.parse::<u64>() == Ok(0) => WrittenValue::Zero,
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => WrittenValue::Number,
            _ => WrittenValue::Bare(word),
        };
    };
    let inner = &opened[1..];
    match inner.split_once(quote) {
        Some((value, _)) => WrittenValue::Text(value.trim_end_matches('\\')),
        None => WrittenValue::Cut(inner),
    }
}

/// The list or object that begins here.
fn many_after(text: &str) -> WrittenValue<'_> {
    let Some(inner) = text.strip_prefix(['[', '{']).map(str::trim_start) else {
        return WrittenValue::Other;
    };
    match inner.as_bytes().first() {
        None => WrittenValue::Cut(""),
        Some(b']' | b'}') => WrittenValue::Other,
        Some(b'{' | b'[') => WrittenValue::Many(None),
        Some(_) => match readings(inner).last().map_or(WrittenValue::Other, written) {
            WrittenValue::Text(text) => WrittenValue::Many(Some(text)),
            WrittenValue::Bare(_)
            | WrittenValue::Zero
            | WrittenValue::Number
            | WrittenValue::Cut(_)
            | WrittenValue::Many(_)
            | WrittenValue::Other => WrittenValue::Many(None),
        },
    }
}

/// How many layers of a value are read, itself included.
const WRAPPINGS: usize = 5;

/// A value in what a language prints around it, with each layer taken off: `Some(false)`,
/// `Decision::Deny("no")`, `<Decision.BLOCK: 1>` of Python, `string(5) "block"` of PHP. Any of them
/// may be what refuses.
pub(super) fn readings(text: &str) -> impl Iterator<Item = &str> {
    let is_enum = text.starts_with('<');
    std::iter::successors(Some(text), move |text| inner(text, is_enum)).take(WRAPPINGS)
}

/// The value without its outer layer; `None` if it has none. `: ` ends one in an enum of Python.
fn inner(text: &str, is_enum: bool) -> Option<&str> {
    // `:block` is a symbol of Ruby and Elixir.
    if let Some(inner) = text.strip_prefix(['<', ':']) {
        return Some(inner);
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if rest.len() == text.len() {
        return None;
    }
    if let Some(argument) = rest.strip_prefix('(') {
        let length = argument.trim_start_matches(|c: char| c.is_ascii_digit());
        let quoted = length
            .strip_prefix(") ")
            .filter(|text| text.starts_with('"'));
        return Some(quoted.unwrap_or(argument));
    }
    let part = rest.strip_prefix("::").or_else(|| rest.strip_prefix('.'));
    let part = part.filter(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()));
    part.or_else(|| rest.strip_prefix(": ").filter(|_| is_enum))
}
