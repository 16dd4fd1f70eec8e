//! Which rules may match a text: one look at every byte, and no regular expression.

use super::rules::{
    ADDRESSED, ASSIGNED_RULES, FIRST_TWO, Hint, LAST_TWO, NAMES, OF_FIRST, OPTIONED, RULES,
    may_have,
};

/// The rules that may match, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Maybe(u64);

const _: () = assert!(RULES.len() <= 64, "a rule has a bit");

impl Maybe {
    pub(super) fn is_nothing(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, rule: usize) -> bool {
        self.0 & (1 << rule) != 0
    }

    /// Adds those of these rules for which it is so. Most texts have none, so few are looked at.
    fn add(&mut self, rules: u64, is_it: impl Fn(Hint) -> bool) {
        let mut rest = rules & !self.0;
        while rest != 0 {
            let at = rest.trailing_zeros();
            rest &= rest - 1;
            if is_it(RULES[at as usize].hint) {
                self.0 |= 1 << at;
            }
        }
    }
}

pub(super) fn of_text(text: &str) -> Maybe {
    look(text.as_bytes(), false)
}

pub(super) fn of_json(text: &str) -> Maybe {
    look(text.as_bytes(), true)
}

fn look(bytes: &[u8], is_json: bool) -> Maybe {
    let mut maybe = Maybe(0);
    let mut is_in_word = false;
    for (at, &byte) in bytes.iter().enumerate() {
        let was_in_word = is_in_word;
        is_in_word = IS_IN_WORD[usize::from(byte)];
        if is_in_word {
            // Of most bytes this is all.
            if !was_in_word {
                word(&bytes[at..], &mut maybe);
            }
            continue;
        }
        match byte {
            b'\\' if is_json => {
                // A character that is written as its number, which is rare.
                if is_hidden(&bytes[at + 1..]) {
                    return Maybe(u64::MAX);
                }
                // The letters of an escape, as in `\nword` and `\u000aword`, are in no word.
                for after in [2, 6] {
                    word(bytes.get(at + after..).unwrap_or_default(), &mut maybe);
                }
            }
            b'=' => assigned(bytes, at, &mut maybe),
            b':' => {
                assigned(bytes, at, &mut maybe);
                if bytes[at..].starts_with(b"://") || bytes[at..].starts_with(b":\\/\\/") {
                    address(&bytes[at + 1..], &mut maybe);
                }
            }
            b'-' => {
                word(&bytes[at..], &mut maybe);
                option(&bytes[at + 1..], &mut maybe);
            }
            _ => {}
        }
    }
    maybe
}

/// Whether a byte is part of a word.
static IS_IN_WORD: [bool; 256] = {
    let mut is_in_word = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let ascii = byte as u8;
        is_in_word[byte] = ascii.is_ascii_alphanumeric() || ascii == b'_';
        byte += 1;
    }
    is_in_word
};

/// Marks the rules of words, if one of them is at the beginning.
fn word(here: &[u8], maybe: &mut Maybe) {
    let [one, two, ..] = here else { return };
    if !may_have(&FIRST_TWO, *one, *two) {
        return;
    }
    let is_here =
        |word: &&str| word.as_bytes()[..2] == here[..2] && here.starts_with(word.as_bytes());
    let rules = OF_FIRST.get(usize::from(*one)).copied().unwrap_or_default();
    maybe.add(rules, |hint| match hint {
        Hint::Words(words) => words.iter().any(is_here),
        Hint::Option(_) | Hint::Assigned | Hint::Address => false,
    });
}

/// Whether what follows a backslash is the number of a printable character of ASCII.
fn is_hidden(after: &[u8]) -> bool {
    matches!(after, [b'u', b'0', b'0', b'2'..=b'7', ..])
}

/// Marks the rules of assignments, if the name before `at` is one whose value is secret.
fn assigned(bytes: &[u8], at: usize, maybe: &mut Maybe) {
    let is_between = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b'\t');
    let between = bytes[..at].iter().rev().take_while(|byte| is_between(byte)).count();
    let name = &bytes[..at - between];
    let [.., one, last] = name else { return };
    if !may_have(&LAST_TWO, one.to_ascii_lowercase(), last.to_ascii_lowercase()) {
        return;
    }
    // `API-key` and `api_key` are `apikey`.
    let is_letter = |byte: &&u8| !matches!(byte, b'_' | b'-');
    let ends_with = |known: &&str| {
        let mut letters = name.iter().rev().filter(is_letter);
        let is_next =
            |wanted: &u8| letters.next().is_some_and(|it| it.eq_ignore_ascii_case(wanted));
        known.as_bytes().iter().rev().all(is_next)
    };
    if NAMES.iter().any(ends_with) {
        maybe.0 |= ASSIGNED_RULES;
    }
}

/// Marks the rules of addresses, if the first part of this one has an `@`.
fn address(after: &[u8], maybe: &mut Maybe) {
    let host = after.iter().skip_while(|byte| matches!(byte, b'/' | b'\\'));
    let mut host = host.take_while(|byte| !matches!(byte, b'/' | b'"' | b'\'' | b' ' | b'\\'));
    if host.any(|byte| *byte == b'@') {
        maybe.0 |= ADDRESSED;
    }
}

/// Marks the rules of options, if the word that follows names one.
fn option(after: &[u8], maybe: &mut Maybe) {
    // `--api-key` and `--encryption-key` have it behind what it is for.
    let most = after.len().min(16);
    let begins = |word: &str| {
        let is_it = |part: &[u8]| part.eq_ignore_ascii_case(word.as_bytes());
        match word {
            "key" => after[..most].windows(word.len()).any(is_it),
            _ => after.get(..word.len()).is_some_and(is_it),
        }
    };
    maybe.add(OPTIONED, |hint| match hint {
        Hint::Option(words) => words.iter().any(|word| begins(word)),
        Hint::Words(_) | Hint::Assigned | Hint::Address => false,
    });
}
