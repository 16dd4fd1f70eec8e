//! Secrets are replaced before anything is kept.
//!
//! Most texts have none, and then no regular expression is even built: a look at every byte finds
//! out which [`RULES`] could match at all. A document is changed string by string, and is
//! otherwise kept byte for byte.

mod hints;
mod rules;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use regex::{Captures, Regex};
use regex_syntax::hir::literal::{ExtractKind, Extractor};

use crate::engine::event::json;
use crate::engine::lock::locked;
use crate::engine::names::words;
use hints::Maybe;
pub use rules::{RULES, RuleScope, SecretRule};

/// The kind of what a user's own rule matches.
pub const OWN_KIND: &str = "own";

/// The beginning of what replaces a secret.
const MARK: &str = "[redacted:";

/// Replaces secrets: those of [`RULES`], and those of a user's own expressions.
#[derive(Debug, Default)]
pub struct Redactor {
    own: Vec<UserRule>,
    /// The expressions that were needed so far, by the number of the rule.
    built: Mutex<HashMap<usize, Arc<Regex>>>,
}

#[derive(Debug)]
struct UserRule {
    pattern: String,
    /// Each match has one of these; empty if none is known.
    literals: Vec<String>,
}

impl Redactor {
    /// Replaces what `own` match as well: the whole match, or what follows its group `keep`.
    ///
    /// # Errors
    /// When one of them is no regular expression.
    pub fn new<'p>(own: impl IntoIterator<Item = &'p str>) -> Result<Redactor, String> {
        let own: Result<Vec<UserRule>, String> = own.into_iter().map(UserRule::read).collect();
        Ok(Redactor {
            own: own?,
            built: Mutex::default(),
        })
    }

    /// `text` without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.by(hints::of_text(text), text)
    }

    /// Appends a JSON document, or the beginning of one, without the secrets in its strings.
    pub fn json(&self, raw: &str, out: &mut String) {
        let maybe = hints::of_json(raw);
        if maybe.is_nothing() && !self.own.iter().any(|own| own.may_match(raw)) {
            out.push_str(raw);
            return;
        }
        // Most of it stays as it is. It is copied in few pieces: many short ones cost more than
        // the search.
        let mut copied = 0;
        let mut key = Cow::Borrowed("");
        let mut at = 0;
        loop {
            let start = raw[at..].find('"').map_or(raw.len(), |found| at + found);
            let between = &raw[at..start];
            if let Some(number) = secret_number(&key, between) {
                out.push_str(&raw[copied..at + number.start]);
                out.push_str(&serde_json::Value::from(mark("secret")).to_string());
                copied = at + number.end;
            }
            if start == raw.len() {
                break;
            }
            if between.contains([',', '{', '[']) {
                key = Cow::Borrowed("");
            }
            let token = &raw[start..start + string_end(&raw[start..])];
            at = start + token.len();
            let is_key = raw[at..].trim_start().starts_with(':');
            let read = text_of(token);
            let clean = if is_secret_of(&key, &read) {
                Cow::Owned(mark("secret"))
            } else {
                self.text(&read)
            };
            if clean != read {
                out.push_str(&raw[copied..start]);
                out.push_str(&serde_json::Value::from(clean.as_ref()).to_string());
                copied = at;
            }
            if is_key {
                key = read;
            }
        }
        out.push_str(&raw[copied..]);
    }

    fn by<'t>(&self, maybe: Maybe, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        if !maybe.is_nothing() {
            for (at, rule) in RULES.iter().enumerate().filter(|(at, _)| maybe.has(*at)) {
                let regex = self.built(at, || rule.expression());
                replace(&regex, rule.kind, rule.has_digit, &mut clean);
            }
        }
        for (at, own) in self.own.iter().enumerate() {
            if own.may_match(&clean) {
                let regex = self.built(RULES.len() + at, || own.pattern.clone());
                replace(&regex, OWN_KIND, false, &mut clean);
            }
        }
        clean
    }

    fn built(&self, at: usize, pattern: impl FnOnce() -> String) -> Arc<Regex> {
        let mut built = locked(&self.built);
        let regex = built.entry(at).or_insert_with(|| {
            Arc::new(Regex::new(&pattern()).expect("every rule was checked when it was read"))
        });
        Arc::clone(regex)
    }
}

impl UserRule {
    fn read(pattern: &str) -> Result<UserRule, String> {
        let hir = regex_syntax::parse(pattern).map_err(|error| error.to_string())?;
        // The size is checked only when it is built.
        let last_line = |error: regex::Error| {
            error
                .to_string()
                .lines()
                .last()
                .unwrap_or_default()
                .to_string()
        };
        if hir
            .properties()
            .maximum_len()
            .is_none_or(|most| most > 10_000)
        {
            Regex::new(pattern).map_err(last_line)?;
        }
        let literals = [ExtractKind::Prefix, ExtractKind::Suffix]
            .into_iter()
            .find_map(|kind| {
                let found = Extractor::new().kind(kind).extract(&hir);
                let literals = found.literals()?.iter();
                let texts: Option<Vec<String>> = literals
                    .map(|one| String::from_utf8(one.as_bytes().to_vec()).ok())
                    .collect();
                texts.filter(|texts| !texts.is_empty() && texts.iter().all(|text| is_telling(text)))
            });
        Ok(UserRule {
            pattern: pattern.to_string(),
            literals: literals.unwrap_or_default(),
        })
    }

    fn may_match(&self, text: &str) -> bool {
        self.literals.is_empty() || self.literals.iter().any(|one| text.contains(one.as_str()))
    }
}

/// Whether a literal is long enough to search for, and is the same in JSON as in text.
fn is_telling(literal: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'/');
    literal.len() >= 2 && literal.bytes().all(is_plain)
}

fn replace(regex: &Regex, kind: &str, has_digit: bool, text: &mut Cow<'_, str>) {
    let put = |found: &Captures<'_>| {
        let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let (whole, keep, end) = (&found[0], part("keep"), part("end"));
        let secret = &whole[keep.len()..whole.len() - end.len()];
        let is_word = has_digit && !secret.bytes().any(|byte| byte.is_ascii_digit());
        if is_word || secret.starts_with(MARK) {
            return whole.to_string();
        }
        format!("{keep}{}{end}", mark(kind))
    };
    if let Cow::Owned(replaced) = regex.replace_all(text, put) {
        *text = Cow::Owned(replaced);
    }
}

/// Whether a secret was replaced in `text`.
pub fn is_marked(text: &str) -> bool {
    text.contains(MARK)
}

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// A number with fewer digits is no secret: `"token": 1`.
const FEWEST_DIGITS: usize = 4;

/// Names whose whole value is a secret, as JSON spells them: without `_` and `-`.
pub const SECRET_KEYS: &[&str] = words!(
    "password" "passwd" "passphrase" "apikey" "secretkey" "clientsecret" "accesstoken" "authtoken"
    "refreshtoken" "idtoken" "apitoken" "privatetoken" "sessiontoken" "privatekey"
    "secretaccesskey" "signingkey" "encryptionkey" "accountkey" "sharedaccesskey" "authorization"
    "cookie"
);

fn is_secret_of(key: &str, value: &str) -> bool {
    if key.is_empty() || value.is_empty() || value.starts_with(MARK) || value.starts_with('$') {
        return false;
    }
    let is_end = |name: &&str| {
        let mut letters = key
            .bytes()
            .rev()
            .filter(|byte| !matches!(byte, b'_' | b'-'));
        let is_next = |wanted: u8| {
            letters
                .next()
                .is_some_and(|it| it.eq_ignore_ascii_case(&wanted))
        };
        name.bytes().rev().all(is_next)
    };
    SECRET_KEYS.iter().any(is_end)
}

/// The text of a JSON string. One without its end is the last of a beginning.
fn text_of(token: &str) -> Cow<'_, str> {
    let text = token.strip_prefix('"').unwrap_or(token);
    if !token.contains('\\') {
        return Cow::Borrowed(text.strip_suffix('"').unwrap_or(text));
    }
    json::string_text(token).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Where between two strings of JSON there is a secret number, the value of `key`.
fn secret_number(key: &str, between: &str) -> Option<Range<usize>> {
    let value = between.strip_prefix(':')?.trim_start();
    let length = value.bytes().take_while(u8::is_ascii_digit).count();
    let start = between.len() - value.len();
    let is_secret = length >= FEWEST_DIGITS && is_secret_of(key, &value[..length]);
    is_secret.then_some(start..start + length)
}

/// Where the JSON string at the beginning of `text` ends; the end of the text if it does not.
fn string_end(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Documents, keys and own rules. What each rule finds is in `tests/it/secrets.rs`.
#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_ordinary_line_needs_no_expression() {
        let redactor = Redactor::default();
        let line = json!({
            "event": "tool.pre", "sessionId": "2f6e", "toolName": "Bash", "cwd": "/home/me/src",
            "toolInput": {"command": "cargo test --test it why:: -- --nocapture", "timeout": 120_000},
            "transcriptPath": "/home/me/.agent/x.jsonl", "usage": {"totalTokens": 5},
            "text": "see https://docs.rs/regex and mail me@example.org\n\tdisk-usage task-list \u{1b}[0m",
        });
        let mut out = String::new();
        redactor.json(&line.to_string(), &mut out);
        assert_eq!(out, line.to_string());
        assert!(redactor.built.lock().unwrap().is_empty());
    }
}
