//! JSON as source text: finds the end of a document, strings, entries and elements without parsing
//! values. Hosts may leave a hook's stdin open, so hookrun reads until one document is complete.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Returns a JSON value as text: a string without quotes, `None` for `null`.
pub(crate) fn scalar_text(raw: &str) -> Option<String> {
    match raw.as_bytes().first() {
        Some(b'"') => string_text(raw),
        Some(b'n') | None => None,
        Some(_) => {
            let mut text = Vec::with_capacity(raw.len());
            Compact::default().push(raw.as_bytes(), &mut text);
            String::from_utf8(text).ok()
        }
    }
}

/// Returns the text of a JSON string. Replaces lone surrogates, which JavaScript hosts can send, by
/// U+FFFD, so that policies see the rest.
pub(crate) fn string_text(raw: &str) -> Option<String> {
    struct Text;
    impl Visitor<'_> for Text {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON string")
        }
        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
    }
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    // Without escapes, skip the parser: its CPU feature detection costs 60 µs in a virtual machine.
    if !inner.as_bytes().contains(&b'\\') {
        return Some(inner.to_string());
    }
    serde_json::Deserializer::from_str(raw)
        .deserialize_bytes(Text)
        .ok()
}

pub(super) fn descend<'a>(raw: &'a str, path: &str) -> Option<&'a str> {
    let nested = path
        .split_once('.')
        .and_then(|(first, rest)| descend(child(raw, first)?, rest));
    nested.or_else(|| child(raw, path))
}

/// Returns the value of `key` in an object, or at the index `key` of an array. The last of repeated
/// keys counts, as in most parsers.
pub(super) fn child<'a>(raw: &'a str, key: &str) -> Option<&'a str> {
    match raw.as_bytes().first()? {
        b'{' => {
            let mut found = raw_entries(raw).into_iter().rev();
            let (_, value) = found.find(|(name, _)| key_text(name) == key)?;
            Some(value.get())
        }
        b'[' => {
            // As in JSON, `01` is not an index.
            let index = key.parse::<usize>().ok();
            let index = index.filter(|index| index.to_string() == key)?;
            Some(elements(raw)?.get(index)?.get())
        }
        _ => None,
    }
}

/// Returns the entries of a JSON object, with decoded keys. The error is a key that appears twice:
/// two readers could see different values.
pub(super) fn distinct_entries(raw: &str) -> Result<Vec<(Cow<'_, str>, &str)>, String> {
    let found = raw_entries(raw);
    let mut seen = HashSet::new();
    let mut distinct = Vec::with_capacity(found.len());
    for (key, value) in found {
        let key = key_text(key);
        if !seen.insert(key.clone()) {
            return Err(key.into_owned());
        }
        distinct.push((key, value.get()));
    }
    Ok(distinct)
}

pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

pub(crate) fn elements(raw: &str) -> Option<Vec<&RawValue>> {
    // Skip the parser for other values: its error is expensive.
    if !raw.starts_with('[') {
        return None;
    }
    serde_json::from_str(raw).ok()
}

/// Calls `visit` for every nested string with its key, else the enclosing key; both are JSON text,
/// and the key may be empty. Reads the input once.
pub(super) fn each_text<'a>(raw: &'a str, visit: &mut dyn FnMut(&'a str, &'a str)) {
    struct Level<'k> {
        is_object: bool,
        is_key_next: bool,
        key: &'k str,
    }
    let bytes = raw.as_bytes();
    let mut levels: Vec<Level<'a>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let start = at;
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let text = raw.get(start..=at).unwrap_or_default();
                match levels.last_mut() {
                    Some(level) if level.is_key_next => {
                        level.key = text;
                        level.is_key_next = false;
                    }
                    level => visit(level.map_or("", |level| level.key), text),
                }
            }
            b'{' | b'[' => {
                let is_object = *byte == b'{';
                let key = levels.last().map_or("", |level| level.key);
                levels.push(Level {
                    is_object,
                    is_key_next: is_object,
                    key,
                });
            }
            b'}' | b']' => drop(levels.pop()),
            b',' => {
                if let Some(level) = levels.last_mut() {
                    level.is_key_next = level.is_object;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// An entry of a JSON object, as text.
pub(crate) type RawEntry<'a> = (&'a RawValue, &'a RawValue);

/// Returns the entries of a JSON object in order, including repeated keys. Fails for other text.
pub(crate) fn entries(text: &str) -> serde_json::Result<Vec<RawEntry<'_>>> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<RawEntry<'de>>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some(entry) = map.next_entry()? {
                found.push(entry);
            }
            Ok(found)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(Entries)?;
    reader.end()?;
    Ok(found)
}

/// Returns the entries of a JSON object as text; empty for other values.
pub(crate) fn raw_entries(raw: &str) -> Vec<RawEntry<'_>> {
    if raw.starts_with('{') {
        entries(raw).unwrap_or_default()
    } else {
        Vec::new()
    }
}

/// Decodes a key, without copying if it has no escapes. Replaces lone surrogates by U+FFFD, so that
/// such a key does not hide the others.
pub(super) fn key_text(raw: &RawValue) -> Cow<'_, str> {
    let inner = raw.get().strip_prefix('"');
    match inner.and_then(|raw| raw.strip_suffix('"')) {
        Some(inner) if !inner.contains('\\') => Cow::Borrowed(inner),
        _ => Cow::Owned(string_text(raw.get()).unwrap_or_default()),
    }
}

pub(super) fn push_key(place: usize, key: &str, out: &mut Vec<u8>) {
    out.push(if place == 0 { b'{' } else { b',' });
    out.extend_from_slice(Value::from(key).to_string().as_bytes());
    out.push(b':');
}

/// Tracks whether a reader is inside a JSON string.
#[derive(Debug, Clone, Default)]
struct StringState {
    is_inside: bool,
    is_escaped: bool,
}

impl StringState {
    /// Returns true if the next byte belongs to a string, including quotes.
    fn takes(&mut self, byte: u8) -> bool {
        let was_inside = self.is_inside;
        if self.is_escaped {
            self.is_escaped = false;
        } else if byte == b'"' {
            self.is_inside = !was_inside;
        } else if was_inside && byte == b'\\' {
            self.is_escaped = true;
        }
        was_inside || self.is_inside
    }
}

/// Removes white space between the tokens of valid JSON, in any chunks. Numbers and strings keep
/// their bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Compact(StringState);

impl Compact {
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut copied = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if !self.0.takes(*byte) && byte.is_ascii_whitespace() {
                out.extend_from_slice(&bytes[copied..at]);
                copied = at + 1;
            }
        }
        out.extend_from_slice(&bytes[copied..]);
    }
}

/// Maximum nesting of arrays and objects, as in serde_json, so that no part of hookrun recurses
/// further.
pub const MAX_DEPTH: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameState {
    /// Only white space.
    Empty,
    /// An incomplete document.
    Open,
    /// A complete object or array that ends before this offset.
    Complete { end: usize },
    /// Neither an object nor an array.
    NotJson,
    /// More than [`MAX_DEPTH`] levels.
    TooDeep,
}

/// Finds the end of the first JSON object or array in a growing buffer.
#[derive(Debug, Default, Clone)]
pub struct Scanner {
    scanned: usize,
    depth: usize,
    string: StringState,
    done: Option<FrameState>,
}

impl Scanner {
    /// Scans the bytes of `buffer` that are new since the last call. Skips a UTF-8 byte order mark.
    pub fn scan(&mut self, buffer: &[u8]) -> FrameState {
        while self.done.is_none() && self.scanned < buffer.len() {
            let byte = buffer[self.scanned];
            self.scanned += 1;
            if self.depth == 0 || !self.string.takes(byte) {
                self.done = self.structure(byte);
            }
        }
        match self.done {
            Some(done) => done,
            None if self.depth > 0 => FrameState::Open,
            None => FrameState::Empty,
        }
    }

    /// Handles one byte outside strings.
    fn structure(&mut self, byte: u8) -> Option<FrameState> {
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Some(FrameState::TooDeep);
                }
            }
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    return Some(FrameState::Complete { end: self.scanned });
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if self.depth > 0 => {}
            0xEF | 0xBB | 0xBF if self.scanned <= 3 => {}
            _ => return Some(FrameState::NotJson),
        }
        None
    }
}
