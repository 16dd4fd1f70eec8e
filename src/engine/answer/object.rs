//! JSON objects on a hook's stdout, alone or among other text.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::findings::WrittenFinding;
use super::keys::result_key;
use crate::engine::event::json::{elements, entries, string_text};

/// How much text is read in search of objects. Nested text is read once for each level.
pub(crate) const SEARCHED_BYTES: usize = 4 * 1024 * 1024;

/// The entries of an answer in order.
pub(crate) type Answer = Vec<(String, Value)>;

/// Reads text that is exactly one JSON object.
pub(crate) fn read_object(text: &str) -> serde_json::Result<Answer> {
    entries(text)
}

/// The entries with our keys, from text that is one JSON object. Other values are not read: they
/// may be unreadable (half a character, a number out of range, too deep), and a block next to them
/// still counts.
pub(crate) fn own_entries_of(text: &str) -> serde_json::Result<Answer> {
    readable(text, |key| result_key(key).is_some())
}

/// All readable entries of text that is one JSON object; `None` for other text.
pub(crate) fn all_of(text: &str) -> Option<Answer> {
    readable(text, |_| true).ok()
}

fn readable(text: &str, is_wanted: impl Fn(&str) -> bool) -> serde_json::Result<Answer> {
    let all: Vec<(&RawValue, &RawValue)> = entries(text)?;
    let read = |(key, value): (&RawValue, &RawValue)| {
        let key = string_text(key.get()).filter(|key| is_wanted(key))?;
        Some((key, value_of(value.get())))
    };
    Ok(all.into_iter().filter_map(read).collect())
}

/// Whether the text is a JSON list with an object that has one of our keys.
pub(crate) fn is_list_of_answers(text: &str) -> bool {
    let list = elements(text).unwrap_or_default();
    list.iter()
        .any(|item| own_entries_of(item.get()).is_ok_and(|entries| !entries.is_empty()))
}

/// The findings in text that is one object, in their written form.
pub(crate) fn findings_in(text: &str) -> Vec<WrittenFinding> {
    let entries: Vec<(&RawValue, &RawValue)> = entries(text).unwrap_or_default();
    let is_wanted = |key: &RawValue| string_text(key.get()).as_deref() == Some("findings");
    let list = entries
        .iter()
        .rev()
        .find(|(key, _)| is_wanted(key))
        .map(|(_, list)| list.get());
    let list: Vec<&RawValue> = list
        .map(serde_json::from_str)
        .and_then(Result::ok)
        .unwrap_or_default();
    list.iter().map(|one| all_of(one.get())).collect()
}

/// As much of a value as is readable.
pub(crate) fn value_of(raw: &str) -> Value {
    let value = serde_json::from_str(raw).ok();
    value
        .or_else(|| string_text(raw).map(Value::String))
        .unwrap_or(Value::Null)
}

pub(crate) fn last<'a>(entries: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    entries
        .iter()
        .rev()
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
}

/// The outermost JSON objects in a text, and whether the whole text was read.
pub fn objects_in(text: &str) -> (Vec<Range<usize>>, bool) {
    let mut objects = Vec::new();
    let mut searched_bytes = 0;
    let mut from = 0;
    while let Some(start) = text[from..].find('{').map(|at| from + at) {
        if searched_bytes > SEARCHED_BYTES {
            return (objects, false);
        }
        let rest = &text[start..];
        let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        from = match reader.next() {
            Some(Ok(_)) => {
                let end = start + reader.byte_offset();
                objects.push(start..end);
                end
            }
            Some(Err(error)) => {
                searched_bytes += read_until(rest, &error);
                start + 1
            }
            None => start + 1,
        };
    }
    (objects, true)
}

/// Whether an object starts a line and nothing follows it.
pub(crate) fn ends_text(text: &str, object: &Range<usize>) -> bool {
    let before = text[..object.start]
        .rsplit(['\n', '\r'])
        .next()
        .unwrap_or_default();
    before.trim().is_empty() && text[object.end..].trim().is_empty()
}

/// Whether a JSON object near the end of the text is cut off.
pub(crate) fn breaks_off(text: &str) -> bool {
    let Some(start) = text.rfind('{') else {
        return false;
    };
    let rest = &text[start..];
    let key = rest[1..].trim_start_matches([' ', '\n', '\r', '\t', '"', '\\']);
    let is_object = key.len() < rest.len() - 1 && key.starts_with(|c: char| c.is_alphanumeric());
    is_object && serde_json::from_str::<&RawValue>(rest).is_err_and(|error| error.is_eof())
}

/// The position where the reader stopped.
pub(crate) fn read_until(text: &str, error: &serde_json::Error) -> usize {
    let lines = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}
