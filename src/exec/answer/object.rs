//! JSON objects on a hook's stdout: alone, or among text that somebody else printed.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::findings::Written;
use crate::event::context::string_text;
use crate::outcome::{Decision, RESULT_KEYS};

/// The reason of a refusal that gives none.
pub(super) const NO_REASON: &str = "refused without a reason";

/// Reads text that is one JSON object and nothing else.
pub(super) fn read_object(text: &str) -> serde_json::Result<Vec<(String, Value)>> {
    serde_json::from_str::<Object>(text).map(|object| object.0)
}

/// What an object says that is one and nothing else, whatever stands in it beside our keys: half
/// of a character that was cut in two, a number without bounds, any depth.
pub(super) fn read_said(text: &str) -> serde_json::Result<Vec<(String, Value)>> {
    serde_json::from_str::<Said>(text).map(|said| said.0)
}

/// Whether the text is a JSON list that holds an object with a key of ours.
pub(super) fn is_list_of_answers(text: &str) -> bool {
    if !text.starts_with('[') {
        return false;
    }
    let list: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    list.iter().any(|item| read_said(item.get()).is_ok_and(|entries| !entries.is_empty()))
}

/// A JSON object as the list of its entries, so that a key that stands twice is seen.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Object, D::Error> {
        reader.deserialize_map(Entries(PhantomData)).map(Object)
    }
}

/// Those entries of a JSON object that are ours. A refusal counts however the rest looks, so
/// the rest is not read.
struct Said(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Said, D::Error> {
        let entries = reader.deserialize_map(Entries(PhantomData))?;
        let ours = |(key, value): (&RawValue, &RawValue)| {
            let key = string_text(key.get())?;
            let is_ours = RESULT_KEYS.iter().any(|known| known.name == key);
            is_ours.then(|| (key, value_of(value.get())))
        };
        Ok(Said(entries.into_iter().filter_map(ours).collect()))
    }
}

/// All entries of a JSON object, as far as each can be read.
struct All(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for All {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<All, D::Error> {
        let entries: Vec<(&RawValue, &RawValue)> = reader.deserialize_map(Entries(PhantomData))?;
        let read = |(key, value): (&RawValue, &RawValue)| {
            Some((string_text(key.get())?, value_of(value.get())))
        };
        Ok(All(entries.into_iter().filter_map(read).collect()))
    }
}

impl From<Said> for Vec<(String, Value)> {
    fn from(said: Said) -> Vec<(String, Value)> {
        said.0
    }
}

impl From<All> for Vec<(String, Value)> {
    fn from(all: All) -> Vec<(String, Value)> {
        all.0
    }
}

/// Every object in a text, with all its entries: alone, or as [`objects_in`] finds them.
pub(super) fn every_object(text: &str) -> Vec<Vec<(String, Value)>> {
    match serde_json::from_str::<All>(text) {
        Ok(all) => vec![all.0],
        Err(_) => find_objects::<All>(text).objects,
    }
}

/// The findings of a text that is one object, as they are written.
pub(super) fn findings_in(text: &str) -> Vec<Written> {
    let Ok(Parts(entries)) = serde_json::from_str(text) else { return Vec::new() };
    let is_wanted = |key: &RawValue| string_text(key.get()).as_deref() == Some("findings");
    let list = entries.iter().rev().find(|(key, _)| is_wanted(key)).map(|(_, list)| list.get());
    let list: Vec<&RawValue> =
        list.map(serde_json::from_str).and_then(Result::ok).unwrap_or_default();
    list.iter().map(|one| serde_json::from_str::<All>(one.get()).ok().map(Into::into)).collect()
}

/// A value as far as it can be read.
fn value_of(raw: &str) -> Value {
    let value = serde_json::from_str(raw).ok();
    value.or_else(|| string_text(raw).map(Value::String)).unwrap_or(Value::Null)
}

/// The entries of a JSON object, unread.
struct Parts<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Parts<'a> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Parts<'a>, D::Error> {
        reader.deserialize_map(Entries(PhantomData)).map(Parts)
    }
}

struct Entries<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
    type Value = Vec<(K, V)>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// The value of a key; of one that stands twice, the last.
pub(super) fn last<'a>(entries: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// What was found among other text.
pub(super) struct Found {
    /// What each object says with our keys.
    pub(super) objects: Vec<Vec<(String, Value)>>,
    /// Whether all of the text was searched.
    pub(super) is_whole: bool,
}

impl Found {
    /// The strictest of the refusals and questions.
    pub(super) fn refusal(&self) -> Option<Decision> {
        let mut question = None;
        for entries in &self.objects {
            if entries.iter().any(|(key, value)| key == "continue" && *value == Value::Bool(false))
            {
                return Some(Decision::Block { reason: reason_of(entries) });
            }
            if let Some(ask) = asked(entries).filter(|ask| !ask.trim().is_empty()) {
                question.get_or_insert_with(|| ask.to_string());
            }
        }
        question.map(|question| Decision::Ask { question })
    }

    /// Whether a person is to be asked, and nobody knows what.
    pub(super) fn asks_nothing(&self) -> bool {
        self.objects.iter().filter_map(|entries| asked(entries)).any(|ask| ask.trim().is_empty())
    }
}

fn asked(entries: &[(String, Value)]) -> Option<&str> {
    last(entries, "ask").and_then(Value::as_str)
}

/// How much is read in search of objects. What is nested is read once for each of its levels: no
/// text below 32 KiB with less than 128 of them can reach this, and no text without nesting.
const SEARCHED_BYTES: usize = 4 * 1024 * 1024;

/// Every JSON object that has a line to itself, or at least the end or the beginning of one:
/// a shell profile may print without a final newline.
pub(super) fn objects_in(text: &str) -> Found {
    find_objects::<Said>(text)
}

fn find_objects<R>(text: &str) -> Found
where
    R: for<'de> Deserialize<'de> + Into<Vec<(String, Value)>>,
{
    let mut found = Found { objects: Vec::new(), is_whole: true };
    let mut searched_bytes = 0;
    let mut from = 0;
    let (mut first_line, mut last_line) = (Line::default(), Line::default());
    while let Some(start) = text[from..].find('{').map(|at| from + at) {
        if searched_bytes > SEARCHED_BYTES {
            found.is_whole = false;
            found.objects.extend(whole_lines::<R>(&text[start..]));
            break;
        }
        let mut reader = serde_json::Deserializer::from_str(&text[start..]).into_iter::<R>();
        let read = reader.next();
        from = start + 1;
        let entries = match read {
            Some(Ok(said)) => said.into(),
            Some(Err(error)) => {
                searched_bytes += read_until(&text[start..], &error);
                continue;
            }
            None => continue,
        };
        let end = start + reader.byte_offset();
        searched_bytes += end - start;
        first_line.move_to(text, start);
        last_line.move_to(text, end);
        if start <= first_line.words.start || last_line.words.end <= end {
            found.objects.push(entries);
            // A line of its own counts wherever it stands.
            if last_line.whole.start > start {
                found.objects.extend(whole_lines::<R>(&text[start..end]));
            }
            from = end;
        }
    }
    found
}

/// The objects that are a line of their own.
fn whole_lines<R>(text: &str) -> impl Iterator<Item = Vec<(String, Value)>>
where
    R: for<'de> Deserialize<'de> + Into<Vec<(String, Value)>>,
{
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('{'));
    lines.filter_map(|line| serde_json::from_str::<R>(line).ok().map(Into::into))
}

/// Where the reader stopped.
fn read_until(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

/// A line of a text: measured once, however many objects stand on it.
#[derive(Default)]
struct Line {
    whole: Range<usize>,
    /// From its first word to the end of its last one.
    words: Range<usize>,
}

impl Line {
    /// Goes to the line in which `place` is.
    fn move_to(&mut self, text: &str, place: usize) {
        if !self.whole.is_empty() && (self.whole.start..=self.whole.end).contains(&place) {
            return;
        }
        let start = text[..place].rfind('\n').map_or(0, |at| at + 1);
        let end = text[place..].find('\n').map_or(text.len(), |at| place + at);
        let line = &text[start..end];
        self.whole = start..end;
        self.words = end - line.trim_start().len()..start + line.trim_end().len();
    }
}

/// The reason that an object gives for its refusal.
pub(super) fn reason_of(entries: &[(String, Value)]) -> String {
    match last(entries, "reason") {
        Some(Value::String(reason)) if !reason.trim().is_empty() => reason.clone(),
        _ => NO_REASON.to_string(),
    }
}
