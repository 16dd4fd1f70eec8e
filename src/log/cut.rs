//! Truncates large values in JSON for the decision log, without parsing them into memory: of a 50
//! MB file in a context, two kilobytes are decoded and the rest is skipped.

use serde_json::value::RawValue;

use super::redact::Redactor;
use crate::engine::event::json;

const LONGEST_STRING: usize = 4 * 1024;

const HEAD: usize = 2 * 1024;

/// Additional bytes read, to recognize a secret that begins before the end.
const SLACK: usize = 4 * 1024;

const MOST_ELEMENTS: usize = 200;

const MOST_NAMED: usize = 20;

#[derive(Debug)]
pub(super) struct Cutter<'r> {
    redactor: &'r Redactor,
    left: usize,
    path: Vec<String>,
    pub(super) truncated: Vec<String>,
    unnamed: usize,
}

impl<'r> Cutter<'r> {
    pub(super) fn new(redactor: &'r Redactor, most_bytes: usize) -> Cutter<'r> {
        Cutter {
            redactor,
            left: most_bytes,
            path: Vec::new(),
            truncated: Vec::new(),
            unnamed: 0,
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Appends the JSON text `raw` of the value `name`, truncated.
    pub(super) fn value(&mut self, name: &str, raw: &str, out: &mut String) {
        self.path.push(name.to_string());
        self.any(raw.trim(), out);
        self.path.pop();
    }

    /// Records that the value `name` was omitted.
    pub(super) fn leave_out(&mut self, name: &str) {
        self.path.push(name.to_string());
        self.note();
        self.path.pop();
    }

    pub(super) fn into_truncated(mut self) -> Vec<String> {
        if self.unnamed > 0 {
            self.truncated.push(format!("and {} more", self.unnamed));
        }
        self.truncated
    }

    fn note(&mut self) {
        let path = self.path.join(".");
        if self.truncated.contains(&path) {
            return;
        }
        if self.truncated.len() < MOST_NAMED {
            self.truncated.push(path);
        } else {
            self.unnamed += 1;
        }
    }

    fn put(&mut self, text: &str, out: &mut String) {
        self.left = self.left.saturating_sub(text.len());
        out.push_str(text);
    }

    fn any(&mut self, raw: &str, out: &mut String) {
        match raw.as_bytes().first() {
            Some(b'"') => self.string(raw, out),
            Some(b'{') => {
                let entries = json::raw_entries(raw).into_iter();
                self.elements(
                    ["{", "}"],
                    entries.map(|(key, value)| (Some(key), value)),
                    out,
                );
            }
            Some(b'[') => {
                let items = json::elements(raw).unwrap_or_default().into_iter();
                self.elements(["[", "]"], items.map(|value| (None, value)), out);
            }
            _ => self.put(raw, out),
        }
    }

    fn elements<'v>(
        &mut self,
        [open, close]: [&str; 2],
        values: impl Iterator<Item = (Option<&'v RawValue>, &'v RawValue)>,
        out: &mut String,
    ) {
        self.put(open, out);
        for (index, (key, value)) in values.enumerate() {
            if index >= MOST_ELEMENTS || !self.has_room() {
                self.note();
                break;
            }
            if index > 0 {
                self.put(",", out);
            }
            let key = key.map(RawValue::get);
            self.path
                .push(key.map_or_else(|| index.to_string(), key_name));
            if let Some(key) = key {
                self.string(key, out);
                self.put(":", out);
            }
            self.any(value.get(), out);
            self.path.pop();
        }
        self.put(close, out);
    }

    fn string(&mut self, token: &str, out: &mut String) {
        if token.len() <= LONGEST_STRING {
            self.put(token, out);
            return;
        }
        self.note();
        let beginning = format!("{}\"", &token[..whole_escapes(token, HEAD + SLACK)]);
        let text = json::string_text(&beginning).unwrap_or_default();
        let clean = self.redactor.text(&text);
        let end = clean.floor_char_boundary(HEAD.min(clean.len().saturating_sub(SLACK)));
        let short = format!(
            "{}[… {} bytes omitted …]",
            &clean[..end],
            token.len() - 2 - end
        );
        self.put(&serde_json::Value::from(short).to_string(), out);
    }
}

fn key_name(token: &str) -> String {
    let mut name = json::string_text(token).unwrap_or_default();
    if name.chars().count() > 40 {
        name = name.chars().take(40).chain(['…']).collect();
    }
    name
}

/// Returns the longest prefix of a JSON string of at most `most` bytes that does not split an
/// escape or character.
fn whole_escapes(token: &str, most: usize) -> usize {
    let bytes = token.as_bytes();
    let mut at = 1;
    loop {
        let step = match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
        if at + step > most.min(bytes.len() - 1) {
            break;
        }
        at += step;
    }
    token.floor_char_boundary(at)
}
