//! Redacts secrets in logs and recordings.
//!
//! `redact/secrets.txt` is the table of their forms. Texts without any of its keywords, the common
//! case, need no regular expression. Documents are redacted string by string and otherwise kept
//! byte for byte.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use regex::{Captures, Regex};

use crate::engine::event::json;
use crate::engine::lock::locked;
use crate::engine::names::words;

/// The kind of a user's rules.
pub const OWN_KIND: &str = "own";

const MARK: &str = "[redacted:";

/// A form of secrets in `redact/secrets.txt`.
#[derive(Debug)]
pub struct SecretRule {
    pub kind: &'static str,
    pub about: &'static str,
    /// Where it counts besides logs and recordings: as in the file.
    pub scope: &'static str,
    /// Whether it must have a digit, unlike a word.
    pub has_digit: bool,
    /// As in the file; see [`SecretRule::words`].
    words: &'static str,
    form: &'static str,
}

/// The words of the table, in chains by their first two bytes. The compiler makes it: reading the
/// table took a quarter of the instructions of a run with one hook.
struct Keywords {
    /// The first is not a keyword: it ends all chains.
    all: [Keyword; MOST_KEYWORDS],
    chains: [u8; BUCKETS],
}

#[derive(Clone, Copy)]
struct Keyword {
    word: &'static str,
    follows: Follows,
    rules: u64,
    next: u8,
}

/// Required text after a keyword.
#[derive(Debug, Clone, Copy)]
enum Follows {
    Anything,
    /// `=` or `:`, possibly after quotes and blanks.
    Assignment,
    /// A blank or `=`.
    Value,
    /// Ten characters of a token.
    Token,
    /// `@` in the first part of a URL.
    Address,
}

const TABLE: &str = include_str!("redact/secrets.txt");

/// Returns the rules in order of precedence.
pub fn rules() -> Vec<SecretRule> {
    let mut rules: Vec<SecretRule> = Vec::with_capacity(64);
    let mut names = "";
    for line in TABLE.lines() {
        let Some((key, rest)) = line.split_once(' ') else {
            continue;
        };
        match (key, rules.last_mut()) {
            ("names", _) => names = rest,
            ("rule", _) => rules.push(SecretRule::read(rest)),
            ("about", Some(rule)) => rule.about = rest,
            ("words", Some(rule)) => rule.words = rest,
            ("form", Some(rule)) => rule.form = rest,
            _ => {}
        }
    }
    for rule in &mut rules {
        if rule.words == "@names" {
            rule.words = names;
        }
    }
    rules
}

const BUCKETS: usize = 1024;
const MOST_KEYWORDS: usize = 192;

/// Returns the bucket for words with these first bytes, ignoring case.
const fn bucket(first: u8, second: u8) -> usize {
    ((((first | 0x20) as usize) << 5) ^ ((second | 0x20) as usize)) % BUCKETS
}

static KEYWORDS: Keywords = Keywords::of_table();

impl Keywords {
    const fn of_table() -> Keywords {
        let end = Keyword {
            word: "",
            follows: Follows::Anything,
            rules: 0,
            next: 0,
        };
        let mut keywords = Keywords {
            all: [end; MOST_KEYWORDS],
            chains: [0; BUCKETS],
        };
        let mut rest = TABLE;
        let mut names = "";
        let mut of_names = 0;
        let mut rule = 0;
        while !rest.is_empty() {
            let (line, after) = cut(rest, b'\n');
            rest = after;
            let (key, words) = cut(line, b' ');
            match (key.as_bytes(), words.as_bytes()) {
                (b"names", _) => names = words,
                (b"rule", _) => rule = if rule == 0 { 1 } else { rule << 1 },
                (b"words", b"@names") => of_names |= rule,
                (b"words", _) => keywords.add(words, rule),
                _ => {}
            }
        }
        keywords.add(names, of_names);
        keywords
    }

    const fn add(&mut self, words: &'static str, rules: u64) {
        let mut rest = words;
        while !rest.is_empty() {
            let (written, after) = cut(rest, b' ');
            rest = after;
            let (word, follows) = keyword(written);
            let chain = &mut self.chains[bucket(word.as_bytes()[0], word.as_bytes()[1])];
            // The first keyword has the length of the list.
            let at = self.all[0].next + 1;
            self.all[0].next = at;
            self.all[at as usize] = Keyword {
                word,
                follows,
                rules,
                next: *chain,
            };
            *chain = at;
        }
    }

    /// Returns the bit set of rules that may match `text`, which may be JSON.
    fn candidates(&self, text: &str) -> u64 {
        let mut rules = 0;
        let bytes = text.as_bytes();
        for (at, pair) in bytes.windows(2).enumerate() {
            let mut next = self.chains[bucket(pair[0], pair[1])];
            while next != 0 {
                let keyword = &self.all[usize::from(next)];
                if keyword.begins(&bytes[at..]) {
                    rules |= keyword.rules;
                }
                next = keyword.next;
            }
        }
        rules
    }
}

/// Splits a text at the first such byte.
const fn cut(text: &str, byte: u8) -> (&str, &str) {
    let mut at = 0;
    while at < text.len() && text.as_bytes()[at] != byte {
        at += 1;
    }
    let (before, after) = text.split_at(at);
    match after.split_at_checked(1) {
        Some((_, after)) => (before, after),
        None => (before, ""),
    }
}

/// Splits a keyword into its text and the required text after it.
const fn keyword(written: &'static str) -> (&'static str, Follows) {
    let bytes = written.as_bytes();
    let (word, _) = written.split_at(bytes.len() - 1);
    match bytes[bytes.len() - 1] {
        b'=' => (word, Follows::Assignment),
        b'~' => (word, Follows::Value),
        _ if bytes[0] == b':' => (written, Follows::Address),
        b'-' | b'_' | b'.' => (written, Follows::Token),
        _ => (written, Follows::Anything),
    }
}

impl Keyword {
    fn begins(&self, text: &[u8]) -> bool {
        let word = self.word.as_bytes();
        let Some((start, after)) = text.split_at_checked(word.len()) else {
            return false;
        };
        // A keyword with a capital letter is case-sensitive.
        let is_same = start == word
            || start.eq_ignore_ascii_case(word) && !word.iter().any(u8::is_ascii_uppercase);
        is_same && self.follows.allows(after)
    }
}

impl Follows {
    fn allows(self, after: &[u8]) -> bool {
        let first = after.first();
        match self {
            Follows::Anything => true,
            Follows::Assignment => {
                let mut rest = after.iter().filter(|byte| !b"\"'\\ \t".contains(byte));
                matches!(rest.next(), Some(b'=' | b':'))
            }
            // In JSON, a backslash may begin an escaped blank.
            Follows::Value => {
                first.is_some_and(|byte| byte.is_ascii_whitespace() || b"=\\".contains(byte))
            }
            Follows::Token => after.get(..10).is_some_and(|start| {
                let mut start = start.iter();
                start.all(|byte| byte.is_ascii_alphanumeric() || b"-_.+/=\\".contains(byte))
            }),
            Follows::Address => {
                let host = after.iter().skip_while(|byte| b"/\\".contains(byte));
                let mut host = host.take_while(|byte| !b"/\"' \\".contains(byte));
                host.any(|byte| *byte == b'@')
            }
        }
    }
}

impl SecretRule {
    fn read(line: &'static str) -> SecretRule {
        let mut words = line.split(' ');
        SecretRule {
            kind: words.next().unwrap_or_default(),
            about: "",
            scope: words.next().unwrap_or_default(),
            has_digit: words.next().is_some(),
            words: "",
            form: "",
        }
    }

    /// Returns the keywords: every match contains one, in any case.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.words.split(' ').map(|written| keyword(written).0)
    }

    /// Returns the regular expression for Rust, and for Python with `re.ASCII`.
    pub fn pattern(&self) -> String {
        let mut pattern = self.form.to_string();
        let parts = TABLE.lines().filter_map(|line| line.strip_prefix("let "));
        for (name, part) in parts.filter_map(|part| part.split_once(' ')) {
            pattern = pattern.replace(&format!("{{{name}}}"), part);
        }
        pattern
    }

    /// Compiles it for Rust, limited to ASCII: Unicode classes take a hundred times as long to
    /// compile.
    fn compile(&self) -> Regex {
        let ascii = self
            .pattern()
            .replace(r"\b", r"(?-u:\b)")
            .replace(r"\w", "0-9A-Za-z_")
            .replace(r"\s", "[[:space:]]");
        Regex::new(&ascii).expect("a test compiles every form")
    }
}

#[derive(Debug)]
struct CompiledRule {
    rule: SecretRule,
    regex: Regex,
}

/// Redacts secrets by [`rules`] and by a user's expressions.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Compiled rules by number.
    compiled: Mutex<HashMap<usize, Arc<CompiledRule>>>,
    own: Vec<Regex>,
}

impl Redactor {
    /// Also redacts the matches of `own`: the whole match, or the part after its group `keep`.
    pub fn new<'p>(own: impl IntoIterator<Item = &'p str>) -> Result<Redactor, String> {
        let own: Result<Vec<Regex>, regex::Error> = own.into_iter().map(Regex::new).collect();
        Ok(Redactor {
            own: own.map_err(|error| error.to_string())?,
            ..Redactor::default()
        })
    }

    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        let mut candidates = KEYWORDS.candidates(text);
        while candidates != 0 {
            let at = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let mut compiled = locked(&self.compiled);
            let entry = compiled.entry(at).or_insert_with(|| {
                let rule = rules().swap_remove(at);
                let regex = rule.compile();
                Arc::new(CompiledRule { rule, regex })
            });
            let CompiledRule { rule, regex } = &*Arc::clone(entry);
            drop(compiled);
            replace(regex, rule.kind, rule.has_digit, &mut clean);
        }
        for own in &self.own {
            replace(own, OWN_KIND, false, &mut clean);
        }
        clean
    }

    /// Appends a JSON document, or a prefix of one, with redacted strings.
    pub fn json(&self, raw: &str, out: &mut String) {
        if self.own.is_empty() && !has_hidden(raw) && KEYWORDS.candidates(raw) == 0 {
            out.push_str(raw);
            return;
        }
        // Copy unchanged text in few pieces: many short ones cost more than the search.
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
}

/// Returns true if a printable ASCII character is escaped, which may hide a keyword.
fn has_hidden(raw: &str) -> bool {
    let mut escapes = raw.match_indices("\\u00");
    escapes.any(|(at, _)| matches!(raw.as_bytes().get(at + 4), Some(b'2'..=b'7')))
}

fn replace(regex: &Regex, kind: &str, has_digit: bool, text: &mut Cow<'_, str>) {
    let replaced = regex.replace_all(text, |found: &Captures<'_>| {
        let whole = &found[0];
        let keep = group(found, "keep");
        let end = group(found, "end");
        let secret = &whole[keep.len()..whole.len() - end.len()];
        let is_word = has_digit && !secret.bytes().any(|byte| byte.is_ascii_digit());
        if is_word || secret.starts_with(MARK) {
            return whole.to_string();
        }
        format!("{keep}{}{end}", mark(kind))
    });
    if let Cow::Owned(replaced) = replaced {
        *text = Cow::Owned(replaced);
    }
}

fn group<'f>(found: &Captures<'f>, name: &str) -> &'f str {
    found.name(name).map_or("", |part| part.as_str())
}

/// Returns true if `text` contains a redacted secret.
pub fn is_marked(text: &str) -> bool {
    text.contains(MARK)
}

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Shorter numbers are not secrets: `"token": 1`.
const FEWEST_DIGITS: usize = 4;

/// Names whose value is a secret, in JSON, without `_` and `-`.
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
    SECRET_KEYS.iter().any(|name| ends_with_name(key, name))
}

/// Returns true if a key ends with a name, ignoring case, `_` and `-`.
fn ends_with_name(key: &str, name: &str) -> bool {
    let letters = key.bytes().rev();
    let mut letters = letters.filter(|byte| !matches!(byte, b'_' | b'-'));
    name.bytes().rev().all(|expected| {
        let letter = letters.next();
        letter.is_some_and(|letter| letter.eq_ignore_ascii_case(&expected))
    })
}

fn text_of(token: &str) -> Cow<'_, str> {
    let text = token.strip_prefix('"').unwrap_or(token);
    if !token.contains('\\') {
        return Cow::Borrowed(text.strip_suffix('"').unwrap_or(text));
    }
    json::string_text(token).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns the range of a secret number between two JSON strings: the value of `key`.
fn secret_number(key: &str, between: &str) -> Option<Range<usize>> {
    let value = between.strip_prefix(':')?.trim_start();
    let length = value.bytes().take_while(u8::is_ascii_digit).count();
    let start = between.len() - value.len();
    let is_secret = length >= FEWEST_DIGITS && is_secret_of(key, &value[..length]);
    is_secret.then_some(start..start + length)
}

fn string_end(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Documents, keys and user rules. `tests/it/secrets.rs` tests the table's rules.
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
        assert!(redactor.compiled.lock().unwrap().is_empty());
    }
}
