//! Large values are cut for the decision log: a JSON text in, a shorter one of the same shape out.
//!
//! Nothing is parsed into memory: of a file of 50 MB that a tool will write, two kilobytes are read
//! and the rest is skipped.

use super::redact::{Redactor, string_end};
use crate::engine::event::json;

/// Strings up to here are kept whole.
const LONGEST_STRING: usize = 4 * 1024;

/// What is kept of longer ones.
const HEAD: usize = 2 * 1024;

/// How much more is read: a secret that begins in the head must be recognised.
const SLACK: usize = 4 * 1024;

/// How many elements are kept of a list, or entries of an object.
const MOST_ELEMENTS: usize = 200;

const MOST_NAMED: usize = 20;

#[derive(Debug)]
pub(super) struct Cutter<'r> {
    redactor: &'r Redactor,
    left: usize,
    path: Vec<String>,
    /// The values that were cut, as dotted paths.
    pub(super) truncated: Vec<String>,
    unnamed: usize,
}

impl<'r> Cutter<'r> {
    pub(super) fn new(redactor: &'r Redactor, most_bytes: usize) -> Cutter<'r> {
        let (path, truncated) = (Vec::new(), Vec::new());
        Cutter { redactor, left: most_bytes, path, truncated, unnamed: 0 }
    }

    pub(super) fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Appends the JSON text `raw` of the value `name`, with its large values cut.
    pub(super) fn value(&mut self, name: &str, raw: &str, out: &mut String) {
        self.path.push(name.to_string());
        let mut rest = raw.trim_start();
        self.any(&mut rest, out);
        self.path.pop();
    }

    /// Notes that the value `name` was left out altogether.
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

    /// Moves one value from `rest` to `out`.
    fn any(&mut self, rest: &mut &str, out: &mut String) {
        match rest.as_bytes().first() {
            Some(b'"') => {
                let token = take(rest, string_end(rest));
                self.string(token, out);
            }
            Some(b'{') => self.elements(rest, '}', out),
            Some(b'[') => self.elements(rest, ']', out),
            _ => {
                let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
                let token = take(rest, end).trim_end();
                self.put(token, out);
            }
        }
        *rest = rest.trim_start();
    }

    fn elements(&mut self, rest: &mut &str, close: char, out: &mut String) {
        self.put(take(rest, 1), out);
        let mut index = 0;
        loop {
            *rest = rest.trim_start_matches([',', ' ', '\t', '\n', '\r']);
            if rest.is_empty() || rest.starts_with(close) {
                break;
            }
            let key = (close == '}').then(|| {
                let key = take(rest, string_end(rest));
                *rest = rest.trim_start_matches([':', ' ', '\t', '\n', '\r']);
                key
            });
            if index >= MOST_ELEMENTS || !self.has_room() {
                self.note();
                pass(rest);
                continue;
            }
            if index > 0 {
                self.put(",", out);
            }
            let name = key.map_or_else(|| index.to_string(), key_name);
            if let Some(key) = key {
                self.string(key, out);
                self.put(":", out);
            }
            self.path.push(name);
            self.any(rest, out);
            self.path.pop();
            index += 1;
        }
        let closed = take(rest, rest.len().min(1));
        self.put(closed, out);
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
        let short = format!("{}[… {} bytes left out …]", &clean[..end], token.len() - 2 - end);
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

fn take<'t>(rest: &mut &'t str, end: usize) -> &'t str {
    let (taken, after) = rest.split_at(end);
    *rest = after;
    taken
}

/// Skips one value.
fn pass(rest: &mut &str) {
    let mut depth = 0_usize;
    loop {
        let step = rest.find(['"', '{', '[', '}', ']', ',']).unwrap_or(rest.len());
        *rest = &rest[step..];
        match rest.as_bytes().first() {
            None => return,
            Some(b'"') => *rest = &rest[string_end(rest)..],
            Some(b'{' | b'[') => {
                depth += 1;
                *rest = &rest[1..];
            }
            // The end of the list or object around it.
            Some(b'}' | b']' | b',') if depth == 0 => return,
            Some(b',') => *rest = &rest[1..],
            Some(_) => {
                depth -= 1;
                *rest = &rest[1..];
            }
        }
        if depth == 0 {
            return;
        }
    }
}

/// The longest beginning of a JSON string of at most `most` bytes that ends with no half of an
/// escape or of a character.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn cut(value: &Value, most: usize) -> (Value, Vec<String>) {
        let redactor = Redactor::default();
        let mut cutter = Cutter::new(&redactor, most);
        let mut out = String::new();
        cutter.value("top", &format!("{value:#}"), &mut out);
        (serde_json::from_str(&out).unwrap(), cutter.into_truncated())
    }

    #[test]
    fn what_is_short_stays_and_only_its_blanks_go() {
        let value =
            json!({"a": [1, -2.5e3, true, null, "x\n\u{e9}"], "b": {}, "c": [], "d": {"e": "f"}});
        assert_eq!(cut(&value, 1000), (value, Vec::new()));
    }

    #[test]
    fn long_strings_and_lists_are_cut_and_named() {
        let long = "é".repeat(10_000);
        let many: Vec<u32> = (0..1000).collect();
        let (short, truncated) =
            cut(&json!({"a": {"b": long, "c": 1}, "many": many, "z": 2}), 60_000);
        let text = short["a"]["b"].as_str().unwrap();
        assert!(text.starts_with("éé") && text.ends_with(" bytes left out …]"), "{text}");
        assert_eq!(short["many"].as_array().unwrap().len(), MOST_ELEMENTS);
        assert_eq!((&short["a"]["c"], &short["z"]), (&json!(1), &json!(2)));
        assert_eq!(truncated, ["top.a.b", "top.many"]);
    }

    #[test]
    fn a_bound_is_kept_whatever_the_shape() {
        let nested: Vec<Vec<String>> = vec![vec!["text {\"[,".repeat(10); 150]; 150];
        let (short, truncated) = cut(&json!({ "nested": nested, "last": 1 }), 5000);
        assert!(short.to_string().len() < 6000, "{}", short.to_string().len());
        assert!(truncated.contains(&"top.nested".to_string()), "{truncated:?}");
    }

    #[test]
    fn a_secret_on_the_edge_is_not_kept_in_half() {
        for before in HEAD - 30..HEAD + 10 {
            let secret = format!("ghp_{}", "a1".repeat(18));
            let text = format!("{} {secret} {}", "x".repeat(before), "y".repeat(9000));
            let (short, _) = cut(&json!(text), 60_000);
            assert!(!short.as_str().unwrap().contains("ghp_a1"), "{before}");
        }
    }
}
