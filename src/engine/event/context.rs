//! The facts of an event: a JSON object that keeps its values as source text.
//!
//! A context may be 50 MB of file content of which hookrun needs one short string, so values are
//! indexed and parsed on demand. Large contexts are written in pieces.

use crate::engine::complaint::Complaint;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Display;
use std::ops::Range;
use std::str::Utf8Error;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{
    Compact, FrameState, MAX_DEPTH, Scanner, descend, entries, key_text, push_key, scalar_text,
    string_text,
};

/// A part of the event that cannot be read.
pub(super) fn unreadable(field: &str, problem: impl Display) -> Complaint {
    Complaint::new(format!("`{field}` is invalid: {problem}"))
}

/// A key that appears twice, so two readers could see different events.
pub(super) fn duplicate(key: &str) -> Complaint {
    Complaint::new(format!("the key `{key}` appears twice in the event"))
}

fn not_an_object() -> Complaint {
    Complaint::new("the event is not a JSON object: its context must begin with `{`")
}

fn not_utf8(error: Utf8Error) -> Complaint {
    let offset = error.valid_up_to();
    Complaint::new(format!(
        "the event is not UTF-8: invalid byte at offset {offset}"
    ))
}

fn not_json(problem: impl Display) -> Complaint {
    Complaint::new(format!("the event is not valid JSON: {problem}"))
}

/// The facts of an event: a JSON object with ordered keys and values as text.
#[derive(Debug, Clone, Default)]
pub struct Context {
    text: Arc<String>,
    fields: Vec<Field>,
    /// Range of the whole document, until a field changes.
    document: Option<Range<usize>>,
}

#[derive(Debug, Clone)]
struct Field {
    key: String,
    value: ContextSlot,
}

#[derive(Debug, Clone)]
enum ContextSlot {
    Kept(Range<usize>),
    Set(Arc<String>),
}

impl Context {
    /// Reads a context from one JSON object. Accepts a UTF-8 byte order mark.
    ///
    /// # Errors
    /// If the bytes are not one JSON object.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Context, Complaint> {
        let framed = Scanner::default().scan(&bytes);
        Self::from_scanned(bytes, framed)
    }

    /// Like [`Context::from_bytes`], for bytes with a known [`Scanner`] result.
    pub fn from_scanned(bytes: Vec<u8>, framed: FrameState) -> Result<Context, Complaint> {
        let end = match framed {
            FrameState::Complete { end } => end,
            FrameState::Empty => {
                return Err(Complaint::with_cure(
                    "the event is empty",
                    "pipe in the event's context as one JSON object, `{}` if it is empty",
                ));
            }
            FrameState::Open => {
                let cause = "the event is incomplete: its JSON object is not closed";
                return Err(Complaint::new(cause));
            }
            FrameState::NotJson => {
                let text = std::str::from_utf8(&bytes);
                return Err(text.map_or_else(not_utf8, |_| not_an_object()));
            }
            FrameState::TooDeep => {
                return Err(Complaint::new(format!(
                    "the event is nested deeper than {MAX_DEPTH} levels"
                )));
            }
        };
        if bytes[end..].iter().any(|byte| !byte.is_ascii_whitespace()) {
            return Err(Complaint::with_cure(
                "text follows the event's JSON object",
                "send exactly one document",
            ));
        }
        let text = String::from_utf8(bytes).map_err(|error| not_utf8(error.utf8_error()))?;
        Self::index(text)
    }

    /// Reads a context from the text of one JSON object.
    ///
    /// # Errors
    /// As [`Context::from_bytes`].
    pub fn parse(text: impl Into<String>) -> Result<Context, Complaint> {
        Self::from_bytes(text.into().into_bytes())
    }

    fn index(text: String) -> Result<Context, Complaint> {
        let document = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if !document.trim_start().starts_with('{') {
            return Err(not_an_object());
        }
        let base = text.as_ptr() as usize;
        let mut fields: Vec<Field> = Vec::new();
        let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
        for (key, raw) in entries(document).map_err(not_json)? {
            let key = whole_key(key)?;
            if !seen.insert(key.clone()) {
                return Err(duplicate(&key));
            }
            let start = raw.get().as_ptr() as usize - base;
            let value = ContextSlot::Kept(start..start + raw.get().len());
            fields.push(Field {
                key: key.into_owned(),
                value,
            });
        }
        let start = document.as_ptr() as usize - base;
        let document = Some(start..start + document.len());
        Ok(Context {
            text: Arc::new(text),
            fields,
            document,
        })
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.fields.iter().map(|field| field.key.as_str())
    }

    /// Returns the JSON text of a top-level value.
    pub fn raw(&self, key: &str) -> Option<&str> {
        let field = self.fields.iter().find(|field| field.key == key)?;
        Some(self.slot(&field.value))
    }

    /// Returns the JSON text at a dotted path: `toolInput.command`, `messages.0.role`. A key that
    /// contains dots counts only if the path does not exist, so that it cannot hide the path's
    /// value.
    pub fn lookup(&self, path: &str) -> Option<&str> {
        let nested = path
            .split_once('.')
            .and_then(|(first, rest)| descend(self.raw(first)?, rest));
        nested.or_else(|| self.raw(path))
    }

    /// Returns the value of a top-level string field.
    pub fn string(&self, key: &str) -> Option<String> {
        string_text(self.raw(key)?)
    }

    /// Returns the value at a dotted path: a string's text, other values as compact JSON, `None`
    /// for `null` and missing values.
    pub fn text(&self, path: &str) -> Option<String> {
        scalar_text(self.lookup(path)?)
    }

    /// Parses a top-level field.
    ///
    /// # Errors
    /// If the value is invalid, for example because of a lone surrogate.
    pub fn value(&self, key: &str) -> Result<Option<Value>, Complaint> {
        let Some(raw) = self.raw(key) else {
            return Ok(None);
        };
        let value = serde_json::from_str(raw).map_err(|error| unreadable(key, error))?;
        Ok(Some(value))
    }

    pub fn set(&mut self, key: &str, value: &Value) {
        self.set_raw(key, value.to_string());
    }

    /// Inserts a new field before all others.
    pub(crate) fn set_first(&mut self, key: &str, value: &Value) {
        let value = ContextSlot::Set(Arc::new(value.to_string()));
        self.document = None;
        self.fields.insert(
            0,
            Field {
                key: key.to_string(),
                value,
            },
        );
    }

    /// Creates an empty context that can [take](Context::take) fields of this one.
    pub fn beside(&self) -> Context {
        Context {
            text: Arc::clone(&self.text),
            ..Context::default()
        }
    }

    pub(crate) fn set_raw(&mut self, key: &str, json: String) {
        self.put(key, ContextSlot::Set(Arc::new(json)));
    }

    /// Copies the field `theirs` from the context that this one was created from.
    pub fn take(&mut self, key: &str, from: &Context, theirs: &str) {
        let found = from.fields.iter().find(|field| field.key == theirs);
        if let Some(field) = found.filter(|_| Arc::ptr_eq(&self.text, &from.text)) {
            self.put(key, field.value.clone());
        }
    }

    /// Sets a field to the complete source document of `from`, or to its current JSON.
    #[doc(hidden)]
    pub fn take_whole(&mut self, key: &str, from: &Context) {
        let document = from.document.clone();
        match document.filter(|_| Arc::ptr_eq(&self.text, &from.text)) {
            Some(document) => self.put(key, ContextSlot::Kept(document)),
            None => {
                let json = String::from_utf8(from.to_json()).unwrap_or_default();
                self.set_raw(key, json);
            }
        }
    }

    fn put(&mut self, key: &str, value: ContextSlot) {
        self.document = None;
        match self.fields.iter_mut().find(|field| field.key == key) {
            Some(field) => field.value = value,
            None => self.fields.push(Field {
                key: key.to_string(),
                value,
            }),
        }
    }

    /// Renames a field in place, if present.
    #[doc(hidden)]
    pub fn rename(&mut self, from: &str, to: &str) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.key == from) {
            field.key = to.to_string();
            self.document = None;
        }
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.fields.retain(|field| field.key != key);
        self.document = None;
    }

    pub(crate) fn length(&self) -> usize {
        let lengths = self.fields.iter().map(|one| self.slot(&one.value).len());
        lengths.sum()
    }

    /// Returns the context as compact JSON and a line break.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let mut line = self.to_json();
        line.push(b'\n');
        line
    }

    /// Returns the context as compact JSON.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = Vec::with_capacity(self.length() + 32 * (self.fields.len() + 1));
        for (place, field) in self.fields.iter().enumerate() {
            push_key(place, &field.key, &mut json);
            Compact::default().push(self.slot(&field.value).as_bytes(), &mut json);
        }
        json.extend_from_slice(if self.fields.is_empty() { b"{}" } else { b"}" });
        json
    }

    pub(super) fn field(&self, place: usize) -> Option<(&str, &str)> {
        let field = self.fields.get(place)?;
        Some((field.key.as_str(), self.slot(&field.value)))
    }

    fn slot<'a>(&'a self, slot: &'a ContextSlot) -> &'a str {
        match slot {
            ContextSlot::Kept(range) => &self.text[range.clone()],
            ContextSlot::Set(text) => text,
        }
    }
}

/// Decodes a top-level key, which must be valid text because it is written again.
fn whole_key(raw: &RawValue) -> Result<Cow<'_, str>, Complaint> {
    let key = key_text(raw);
    if matches!(key, Cow::Owned(_)) && serde_json::from_str::<String>(raw.get()).is_err() {
        let problem = format!("the key {} contains a lone surrogate", raw.get());
        return Err(not_json(problem));
    }
    Ok(key)
}

const PIECE_BYTES: usize = 256 * 1024;

/// A hook's stdin: a compact JSON document and a line break.
#[derive(Debug)]
pub enum Payload {
    Whole(Vec<u8>),
    /// Written piece by piece.
    Pieces(Pieces),
}

/// Writes a large context in pieces.
#[derive(Debug, Clone)]
pub struct Pieces {
    context: Context,
    /// Next field, and the written bytes of its value.
    field: usize,
    done: usize,
    compact: Compact,
    is_closed: bool,
}

impl Default for Payload {
    fn default() -> Payload {
        Payload::Whole(Vec::new())
    }
}

impl Payload {
    pub fn of(context: &Context) -> Payload {
        if context.length() <= PIECE_BYTES {
            return Payload::Whole(context.to_line());
        }
        Payload::Pieces(Pieces::new(context.clone()))
    }
}

impl Pieces {
    pub(super) fn new(context: Context) -> Pieces {
        Pieces {
            context,
            field: 0,
            done: 0,
            compact: Compact::default(),
            is_closed: false,
        }
    }

    /// Appends the next piece to `out`; nothing after the last one.
    pub fn next(&mut self, out: &mut Vec<u8>) {
        let enough = out.len() + PIECE_BYTES;
        while let Some((key, value)) = self.context.field(self.field) {
            if out.len() >= enough {
                return;
            }
            if self.done == 0 {
                push_key(self.field, key, out);
                self.compact = Compact::default();
            }
            let end = value.len().min(self.done + PIECE_BYTES);
            self.compact.push(&value.as_bytes()[self.done..end], out);
            self.done = end;
            if end == value.len() {
                (self.field, self.done) = (self.field + 1, 0);
            }
        }
        if !self.is_closed {
            out.extend_from_slice(if self.field == 0 { b"{}\n" } else { b"}\n" });
            self.is_closed = true;
        }
    }
}
