//! Searches for a block in everything that a hook printed: in JSON at any depth, in JSON within a
//! string, among other text, and in broken JSON.
//!
//! 1. Only text that looks like a key of an answer is examined ([`sightings`]). Other text costs
//!    one pass over its colons.
//! 2. The innermost complete JSON object around it is read. If that blocks, the answer blocks.
//! 3. If there is no such object, or the key is a slip, it is *unreadable*.

use serde_json::Value;
use serde_json::value::RawValue;

use super::line::{KEY_BYTES, refusing_key};
use super::object::{SEARCHED_BYTES, read_until, value_of};
use super::plain::{plain, tidied};
use super::refusal::{self, Meaning, Vocabulary, WrittenValue};
use super::written::{meaning_of, readings, value_after, written};
use crate::engine::event::json::{raw_entries, string_text};
use crate::engine::outcome::Decision;

/// How many levels of objects and of strings within them are searched.
const LEVELS: usize = 128;

/// How many braces before a key are tried, nearest first.
const BRACES: usize = 64;

/// How many levels of nested strings a key is read from.
const ESCAPES: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct FoundAnswers {
    pub(crate) refusal: Option<String>,
    pub(crate) question: Option<String>,
    /// Text that looks like an answer and cannot be read as one.
    pub(crate) unreadable: Option<String>,
    pub(crate) is_cut: bool,
}

impl FoundAnswers {
    /// Merges two results, keeping the first of each kind.
    pub(crate) fn and(self, other: FoundAnswers) -> FoundAnswers {
        FoundAnswers {
            refusal: self.refusal.or(other.refusal),
            question: self.question.or(other.question),
            unreadable: self.unreadable.or(other.unreadable),
            is_cut: self.is_cut || other.is_cut,
        }
    }

    /// The strictest decision found.
    pub(crate) fn decision(&self) -> Option<Decision> {
        let refusal = self
            .refusal
            .clone()
            .map(|reason| Decision::Block { reason });
        refusal.or_else(|| {
            self.question
                .clone()
                .map(|question| Decision::Ask { question })
        })
    }
}

/// Searches a text. If it is one object, the vocabulary says which parts are not decisions.
pub(crate) fn search(text: &str, vocabulary: Vocabulary<'_>) -> FoundAnswers {
    let text = plain(text);
    let mut search = RefusalSearch::new(vocabulary);
    if text.starts_with('{') && serde_json::from_str::<&RawValue>(&text).is_ok() {
        if sightings(&text, vocabulary).next().is_some() || tidied(&text).is_some() {
            search.walk(&text, "", vocabulary);
        }
        return search.found;
    }
    search.text(&text);
    search.found
}

struct RefusalSearch<'v> {
    vocabulary: Vocabulary<'v>,
    left_bytes: usize,
    level: usize,
    /// This is a second pass, over text with plain quotes and without comments.
    is_tidied: bool,
    found: FoundAnswers,
}

impl<'v> RefusalSearch<'v> {
    fn new(vocabulary: Vocabulary<'v>) -> RefusalSearch<'v> {
        let found = FoundAnswers::default();
        RefusalSearch {
            vocabulary,
            left_bytes: SEARCHED_BYTES,
            level: 0,
            is_tidied: false,
            found,
        }
    }

    /// Searches text with objects in it, as written and as it may have been meant.
    fn text(&mut self, text: &str) {
        self.objects(text);
        if self.is_tidied || self.found.refusal.is_some() {
            return;
        }
        if let Some(tidied) = tidied(text) {
            self.is_tidied = true;
            self.objects(&tidied);
            self.is_tidied = false;
        }
    }

    fn objects(&mut self, text: &str) {
        let mut read_to = 0;
        for sighting in sightings(text, self.vocabulary) {
            if self.found.refusal.is_some() {
                return;
            }
            if sighting.at < read_to {
                continue;
            }
            if let Some((start, end)) = self.object_around(text, sighting.at) {
                self.walk(&text[start..end], "", Vocabulary::Text);
                read_to = end;
            } else if let Some((inner, end)) = string_around(text, &sighting) {
                self.deeper(|search| search.text(&inner));
                read_to = end;
            } else {
                self.unreadable(&sighting.key);
            }
        }
    }

    fn object_around(&mut self, text: &str, place: usize) -> Option<(usize, usize)> {
        let mut before = place;
        for _ in 0..BRACES {
            let start = text[..before].rfind('{')?;
            if self.left_bytes == 0 {
                self.found.is_cut = true;
                return None;
            }
            let rest = &text[start..];
            let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
            let end = match reader.next()? {
                Ok(_) => start + reader.byte_offset(),
                Err(error) => {
                    self.charge(read_until(rest, &error));
                    0
                }
            };
            self.charge(end.saturating_sub(start));
            if end > place {
                return Some((start, end));
            }
            before = start;
        }
        None
    }

    /// Searches the JSON at a place, which is a path of keys with dots.
    fn walk(&mut self, json: &str, place: &str, vocabulary: Vocabulary<'_>) {
        self.charge(json.len());
        if self.left_bytes == 0 || self.level > LEVELS {
            self.found.is_cut = true;
            return;
        }
        match json.as_bytes().first() {
            Some(b'{') => self.object(json, place, vocabulary),
            Some(b'[') => {
                let list: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
                let place = format!("{place}[]");
                for one in list {
                    self.deeper(|search| search.walk(one.get(), &place, vocabulary));
                }
            }
            Some(b'"') => {
                if let Some(text) = string_text(json).filter(|text| text.contains('{')) {
                    self.deeper(|search| search.text(&plain(&text)));
                }
            }
            Some(_) | None => {}
        }
    }

    fn object(&mut self, json: &str, place: &str, vocabulary: Vocabulary<'_>) {
        let entries = raw_entries(json);
        let key = |(key, value): &(&RawValue, &RawValue)| {
            Some((string_text(key.get())?, outline(value.get(), OUTLINED)))
        };
        let answer: Vec<(String, Value)> = entries.iter().filter_map(key).collect();
        if let Some(reason) = vocabulary.refusal(place, &answer) {
            self.found.refusal.get_or_insert(reason);
            return;
        }
        if let Some(slip) = vocabulary.slip(place, &answer) {
            self.unreadable(slip);
        }
        if let Some(question) = vocabulary.question(place, &answer) {
            self.found.question.get_or_insert(question);
        }
        for (key, value) in &entries {
            let Some(key) = string_text(key.get()) else {
                continue;
            };
            if !vocabulary.is_data(place, &key) {
                let place = if place.is_empty() {
                    key
                } else {
                    format!("{place}.{key}")
                };
                self.deeper(|search| search.walk(value.get(), &place, vocabulary));
            }
        }
    }

    fn deeper(&mut self, look: impl FnOnce(&mut RefusalSearch)) {
        self.level += 1;
        look(self);
        self.level -= 1;
    }

    fn charge(&mut self, bytes: usize) {
        self.left_bytes = self.left_bytes.saturating_sub(bytes);
    }

    fn unreadable(&mut self, key: &str) {
        self.found.unreadable.get_or_insert_with(|| {
            format!(
                "`{key}` on stdout looks like part of an answer that cannot be read; print one \
                 JSON object alone, and logs to stderr"
            )
        });
    }
}

struct Sighting {
    /// The position of its colon.
    at: usize,
    key: String,
    /// Its quotes have backslashes, so it is inside a string.
    is_escaped: bool,
}

/// Finds all text that looks like a key with a blocking value, or like a key of an answer: in JSON,
/// and as languages print their objects.
fn sightings(text: &str, vocabulary: Vocabulary<'_>) -> impl Iterator<Item = Sighting> {
    let first_brace = text.find('{').unwrap_or(text.len());
    let key_of_json = move |at: usize, after: &str| {
        let KeyBefore {
            key,
            form,
            is_escaped,
        } = key_before(&text[..at])?;
        let value = after.trim_start_matches([' ', '\t', '\r']);
        let is_empty = value.is_empty() || value.starts_with('\n');
        // PHP prints nothing for `false`, and 1 for `true`.
        let is_of_php = matches!(form, KeyForm::Indexed) && text[at..].starts_with("=>");
        let takes_false = || refusal::meaning(&key, WrittenValue::Zero) != Meaning::Nothing;
        let value = match form {
            KeyForm::Indexed if is_empty && is_of_php && takes_false() => "false\n",
            // `[allow]:` ends a line of a list of links.
            KeyForm::Indexed if is_empty => return None,
            KeyForm::Quoted | KeyForm::Bare | KeyForm::Spaced | KeyForm::Indexed => {
                value_after(after, is_escaped)
            }
        };
        let says = meaning_of(&key, value);
        let is_after_brace = first_brace < at;
        // `Range(start: 1, stop: 3)` counts something.
        let is_number = matches!(written(value), WrittenValue::Number);
        let is_count = is_number && !(is_of_php && value.split_whitespace().next() == Some("1"));
        let is_quoted = matches!(form, KeyForm::Quoted);
        let is_wanted = match says {
            Meaning::Nothing => is_quoted && is_after_brace && vocabulary.knows(&key),
            Meaning::Question => is_after_brace,
            Meaning::Refusal | Meaning::Slip => match form {
                KeyForm::Quoted => true,
                KeyForm::Bare if is_after_brace => true,
                _ if is_count => false,
                KeyForm::Indexed => true,
                KeyForm::Bare => is_called(&text[..at]),
                KeyForm::Spaced => !after.starts_with(' ') && is_called(&text[..at]),
            },
        };
        is_wanted.then_some(Sighting {
            at,
            key,
            is_escaped,
        })
    };
    text.match_indices([':', '=', ',', '>'])
        .filter_map(move |(at, sign)| {
            let (before, after) = (&text[..at], &text[at + 1..]);
            let found = match sign {
                "," => return key_of_pair(before, after, at),
                // Scala prints `->`.
                ">" if before.ends_with('-') => return key_of_json(at - 1, after),
                ">" => return None,
                ":" => key_of_json(at, after),
                // Ruby, Perl and PHP print `=>`, and bash `[key]=`.
                _ => match after.strip_prefix('>') {
                    Some(after) => key_of_json(at, after),
                    None if before.trim_end().ends_with(']') => key_of_json(at, after),
                    None => None,
                },
            };
            found.or_else(|| {
                let key = refusing_key(text, at)?.to_string();
                Some(Sighting {
                    at,
                    key,
                    is_escaped: false,
                })
            })
        })
}

/// A key before a sign.
struct KeyBefore {
    key: String,
    form: KeyForm,
    /// Its quotes are escaped.
    is_escaped: bool,
}

/// How a key is written.
enum KeyForm {
    Quoted,
    /// `{continue: …}` of JavaScript, `{:continue => …}` of Ruby, `Answer(continue: …)` of Swift.
    Bare,
    /// After a space, as Go prints `map[a:b c:d]`.
    Spaced,
    /// `[continue] => …` of PHP.
    Indexed,
}

/// The key that ends here.
fn key_before(text: &str) -> Option<KeyBefore> {
    let text = text.trim_end();
    // `<<"continue">>` of Erlang, `["continue"]` of PHP and Lua.
    let text = text.strip_suffix(">>").unwrap_or(text);
    let unindexed = text.strip_suffix(']');
    let text = unindexed.unwrap_or(text);
    let bytes = text.as_bytes();
    let last = *bytes.last()?;
    if !matches!(last, b'"' | b'\'' | b'`') {
        let is_letter = |byte: &&u8| is_in_name(**byte) || **byte == b'-';
        let length = bytes
            .iter()
            .rev()
            .take(KEY_BYTES)
            .take_while(is_letter)
            .count();
        let (before, key) = text.split_at(text.len() - length);
        // `r#continue` of Rust.
        let before = before.strip_suffix("r#").unwrap_or(before);
        let form = if unindexed.is_some() {
            is_index(before).then_some(KeyForm::Indexed)?
        } else if before.trim_end().ends_with(['{', ',', ':', '(', '[']) {
            KeyForm::Bare
        } else {
            before.ends_with(' ').then_some(KeyForm::Spaced)?
        };
        let key = Some(key).filter(|key| !key.is_empty())?.to_string();
        return Some(KeyBefore {
            key,
            form,
            is_escaped: false,
        });
    }
    let inner = text[..text.len() - 1].trim_end_matches('\\');
    let is_escaped = inner.len() < text.len() - 1;
    let length = inner
        .bytes()
        .rev()
        .take(KEY_BYTES)
        .position(|byte| byte == last)?;
    let start = inner.len() - length;
    if unindexed.is_some() && !is_index(inner.get(..start - 1)?) {
        return None;
    }
    let mut key = inner.get(start..)?.to_string();
    // Once for each surrounding string.
    for _ in 0..ESCAPES {
        if !key.contains('\\') {
            break;
        }
        key = string_text(&format!("\"{key}\""))?;
    }
    Some(KeyBefore {
        key,
        form: KeyForm::Quoted,
        is_escaped,
    })
}

/// Whether `[` begins an entry here. `list[key]` is an expression.
fn is_index(before: &str) -> bool {
    let before = before.strip_suffix('[');
    before.is_some_and(|before| !before.bytes().last().is_some_and(is_in_name))
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How far the beginning of a printed object is searched for.
const CALL_BYTES: usize = 1024;

/// Whether this is inside the parentheses of a printed object: `{`, `Answer(` or `map[`, or those
/// that begin a line. Prose has a space before them.
fn is_called(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut closed = 0_usize;
    for at in (bytes.len().saturating_sub(CALL_BYTES)..bytes.len()).rev() {
        match bytes[at] {
            b')' | b']' | b'}' => closed += 1,
            b'(' | b'[' | b'{' if closed > 0 => closed -= 1,
            b'{' => return true,
            b'(' | b'[' => {
                return at
                    .checked_sub(1)
                    .is_none_or(|at| is_in_name(bytes[at]) || bytes[at] == b'\n');
            }
            _ => {}
        }
    }
    false
}

/// The key of an entry that is printed as a pair: `('continue', False)` of Python, and
/// `[ 'continue', false ]` of JavaScript. A call `get('continue', False)` is none.
fn key_of_pair(before: &str, after: &str, at: usize) -> Option<Sighting> {
    let quote = before
        .chars()
        .next_back()
        .filter(|last| matches!(last, '"' | '\''))?;
    let KeyBefore {
        key, is_escaped, ..
    } = key_before(before)?;
    let inner = before[..before.len() - 1].trim_end_matches('\\');
    let opened = inner[..inner.rfind(quote)?]
        .trim_end_matches('\\')
        .trim_end();
    let outer = opened.strip_suffix(['(', '['])?;
    let value = value_after(after, is_escaped);
    let is_meant = readings(value).any(|text| match written(text) {
        WrittenValue::Bare(word) => is_truth(word),
        WrittenValue::Text(_) => refusal::is_word_of_a_system(&key),
        WrittenValue::Zero
        | WrittenValue::Number
        | WrittenValue::Cut(_)
        | WrittenValue::Many(_)
        | WrittenValue::Other => false,
    });
    let says = meaning_of(&key, value);
    let is_call = outer
        .bytes()
        .last()
        .is_some_and(|byte| is_in_name(byte) || byte == b')');
    let is_wanted = is_meant && !is_call && matches!(says, Meaning::Refusal | Meaning::Slip);
    is_wanted.then_some(Sighting {
        at,
        key,
        is_escaped,
    })
}

fn is_truth(word: &str) -> bool {
    ["true", "false"]
        .iter()
        .any(|truth| word.eq_ignore_ascii_case(truth))
}

/// How many levels of a value are read to find its meaning.
const OUTLINED: usize = 2;

/// A value without anything deeper than `levels`.
fn outline(raw: &str, levels: usize) -> Value {
    let inner = |raw: &RawValue| outline(raw.get(), levels - 1);
    match raw.as_bytes().first() {
        Some(b'{' | b'[') if levels == 0 => Value::Null,
        Some(b'{') => {
            let entry = |(key, value): (&RawValue, &RawValue)| {
                Some((string_text(key.get())?, inner(value)))
            };
            Value::Object(raw_entries(raw).into_iter().filter_map(entry).collect())
        }
        Some(b'[') => {
            let list: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
            Value::Array(list.into_iter().map(inner).collect())
        }
        Some(_) | None => value_of(raw),
    }
}

/// The content of the JSON string around a key, and where it ends.
fn string_around(text: &str, sighting: &Sighting) -> Option<(String, usize)> {
    if !sighting.is_escaped {
        return None;
    }
    let is_edge = |(at, _): &(usize, &str)| !text[..*at].ends_with('\\');
    let before = text[..sighting.at]
        .rmatch_indices(['"', '\n'])
        .find(is_edge);
    let start = before.map_or(0, |(at, edge)| at + edge.len());
    let after = text[sighting.at..].match_indices(['"', '\n']);
    let end = after
        .map(|(at, edge)| (sighting.at + at, edge))
        .find(is_edge)
        .map_or(text.len(), |(at, _)| at);
    let inner = string_text(&format!("\"{}\"", &text[start..end]))?;
    Some((inner, end))
}
