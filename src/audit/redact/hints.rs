//! Which rules may match a text: one look at every byte, and no regular expression.

use super::rules::{FIRST_BYTES, Hint, NAMES, RULES};

/// The rules that may match, by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Maybe(u32);

const _: () = assert!(RULES.len() <= 32, "a rule has a bit");

impl Maybe {
    pub(super) fn is_nothing(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, rule: usize) -> bool {
        self.0 & (1 << rule) != 0
    }

    fn add(&mut self, is_it: impl Fn(Hint) -> bool) {
        for (at, rule) in RULES.iter().enumerate() {
            if is_it(rule.hint) {
                self.0 |= 1 << at;
            }
        }
    }
}

/// The rules for a text.
pub(super) fn of_text(text: &str) -> Maybe {
    look(text.as_bytes(), false)
}

/// The rules for a JSON document, its escapes not undone.
pub(super) fn of_json(text: &str) -> Maybe {
    look(text.as_bytes(), true)
}

fn look(bytes: &[u8], is_json: bool) -> Maybe {
    let mut maybe = Maybe(0);
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'=' => assigned(bytes, at, &mut maybe),
            b':' => {
                assigned(bytes, at, &mut maybe);
                if bytes[at..].starts_with(b"://") || bytes[at..].starts_with(b":\\/\\/") {
                    address(&bytes[at + 1..], &mut maybe);
                }
            }
            // A letter or a sign that is written as its number, which hardly anybody does.
            b'\\' if is_json && is_hidden(&bytes[at + 1..]) => return Maybe(u32::MAX),
            _ => {}
        }
        if byte == b'-' {
            option(&bytes[at + 1..], &mut maybe);
        }
        if FIRST_BYTES[usize::from(byte)] && is_word_start(bytes, at, is_json) {
            let here = &bytes[at..];
            maybe.add(|hint| match hint {
                Hint::Words(words) => words.iter().any(|word| here.starts_with(word.as_bytes())),
                Hint::Assigned | Hint::Address | Hint::Option(_) => false,
            });
        }
    }
    maybe
}

/// Whether what follows a backslash is the number of a printable character of ASCII.
fn is_hidden(after: &[u8]) -> bool {
    matches!(after, [b'u', b'0', b'0', b'2'..=b'7', ..])
}

/// Whether a word begins at `at`. In JSON the letter before may be that of an escape.
fn is_word_start(bytes: &[u8], at: usize, is_json: bool) -> bool {
    let is_in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match at.checked_sub(1).map(|before| bytes[before]) {
        None => true,
        Some(before) if !is_in_word(before) || !bytes[at].is_ascii_alphanumeric() => true,
        Some(_) if !is_json => false,
        Some(_) => {
            let is_escape = |back: usize| at >= back && bytes[at - back] == b'\\';
            is_escape(2) || is_escape(6)
        }
    }
}

/// Marks the rules of assignments, if a name whose value is a secret stands before `at`.
fn assigned(bytes: &[u8], at: usize, maybe: &mut Maybe) {
    let is_between = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b'\t');
    let between = bytes[..at].iter().rev().take_while(|byte| is_between(byte)).count();
    let name = &bytes[..at - between];
    let is_name = |known: &&'static str| {
        let start = name.len().checked_sub(known.len());
        start.is_some_and(|start| name[start..].eq_ignore_ascii_case(known.as_bytes()))
    };
    if NAMES.iter().any(is_name) {
        maybe.add(|hint| matches!(hint, Hint::Assigned));
    }
}

/// Marks the rules of addresses, if the first part of this one has an `@`.
fn address(after: &[u8], maybe: &mut Maybe) {
    let host = after.iter().skip_while(|byte| matches!(byte, b'/' | b'\\'));
    let mut host = host.take_while(|byte| !matches!(byte, b'/' | b'"' | b'\'' | b' ' | b'\\'));
    if host.any(|byte| *byte == b'@') {
        maybe.add(|hint| matches!(hint, Hint::Address));
    }
}

/// Marks the rules of options, if the word that follows names one.
fn option(after: &[u8], maybe: &mut Maybe) {
    maybe.add(|hint| match hint {
        Hint::Option(words) => words.iter().any(|word| {
            after.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()))
                // `--api-key` and `--apikey`.
                || after.get(..10).unwrap_or(after).windows(3).any(|it| it.eq_ignore_ascii_case(b"key"))
        }),
        Hint::Words(_) | Hint::Assigned | Hint::Address => false,
    });
}
