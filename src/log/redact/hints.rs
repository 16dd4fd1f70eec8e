//! Which rules may match a text: one look at every byte, and no regular expression.

use super::rules::{
    ADDRESSED, ASSIGNED_RULES, FIRST_THREE, Hint, LAST_TWO, NAMES, OF_FIRST, OF_LAST, OPTIONED,
    RULES, TO_SIGN, may_have, sign_of,
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
        let sort = SORTS[usize::from(byte)];
        if sort & LETTER == 0 {
            is_in_word = false;
        } else if !is_in_word {
            is_in_word = true;
            word(bytes, at, &mut maybe);
        }
        // Of most bytes this is all.
        if sort & SIGN == 0 {
            continue;
        }
        match byte {
            b'_' | b'.' => signed(bytes, at, &mut maybe),
            b'-' => {
                signed(bytes, at, &mut maybe);
                option(&bytes[at + 1..], &mut maybe);
            }
            b'=' => assigned(bytes, at, &mut maybe),
            b':' => {
                assigned(bytes, at, &mut maybe);
                if bytes[at..].starts_with(b"://") || bytes[at..].starts_with(b":\\/\\/") {
                    address(&bytes[at + 1..], &mut maybe);
                }
            }
            // A character that is written as its number, which is rare.
            b'\\' if is_json && is_hidden(&bytes[at + 1..]) => return Maybe(u64::MAX),
            // The letters of an escape, as in `\nword`, `\u000aword` and `%0aword`, are in no word.
            b'\\' => match bytes.get(at + 1) {
                Some(b'u') => word(bytes, at + 6, &mut maybe),
                Some(b'x') => word(bytes, at + 4, &mut maybe),
                Some(b'U') => word(bytes, at + 10, &mut maybe),
                Some(b'0'..=b'7') => (2..=4).for_each(|after| word(bytes, at + after, &mut maybe)),
                _ => word(bytes, at + 2, &mut maybe),
            },
            b'%' => word(bytes, at + 3, &mut maybe),
            b'[' => {
                let is_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b';';
                let number = bytes[at + 1..].iter().take_while(is_number).count();
                word(bytes, at + number + 2, &mut maybe);
            }
            // Letters may touch `AKIA` and `eyJ`.
            b'J' => word(bytes, at.saturating_sub(2), &mut maybe),
            _ => word(bytes, at, &mut maybe),
        }
    }
    maybe
}

/// It is part of a word.
const LETTER: u8 = 1;

/// What is around it is looked at.
const SIGN: u8 = 2;

/// What each byte is.
static SORTS: [u8; 256] = {
    let mut sorts = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let ascii = byte as u8;
        let is_sign = matches!(
            ascii,
            b'_' | b'.' | b'-' | b'=' | b':' | b'\\' | b'%' | b'[' | b'A' | b'B' | b'J'
        );
        sorts[byte] = if ascii.is_ascii_alphanumeric() {
            LETTER
        } else {
            0
        } | if is_sign { SIGN } else { 0 };
        byte += 1;
    }
    sorts
};

/// Marks the rules of words without a sign, if one of them begins at `at`.
fn word(bytes: &[u8], at: usize, maybe: &mut Maybe) {
    let Some(here @ [one, two, three, ..]) = bytes.get(at..) else {
        return;
    };
    if may_have(&FIRST_THREE, [*one, *two, *three]) {
        mark(&OF_FIRST, *one, maybe, |word| begins(here, word));
    }
}

/// Marks the rules of words whose sign is at `at`: what begins a token may follow any letter.
fn signed(bytes: &[u8], at: usize, maybe: &mut Maybe) {
    let [.., one, two, sign] = &bytes[..=at] else {
        return;
    };
    if may_have(&TO_SIGN, [*one, *two, *sign]) {
        let is_here = |word: &str| {
            let here = at.checked_sub(sign_of(word)).map(|start| &bytes[start..]);
            // Many ordinary words end so: `disk-usage`, `task-list`.
            here.is_some_and(|here| begins(here, word) && (word != "sk-" || is_long(here)))
        };
        mark(&OF_LAST, *two, maybe, is_here);
    }
}

/// Whether a text begins with as many signs of a token as the shortest that begins with `sk-` has.
fn is_long(text: &[u8]) -> bool {
    const SHORTEST: usize = "sk-".len() + 16;
    let is_of_token = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.iter().take(SHORTEST).take_while(is_of_token).count() == SHORTEST
}

/// Whether a text begins so. Most differ in the first letter, which needs no call.
fn begins(text: &[u8], word: &str) -> bool {
    text.len() >= word.len()
        && text
            .iter()
            .zip(word.as_bytes())
            .all(|(one, other)| one == other)
}

/// Marks those of these rules with this letter of which a word is here.
fn mark(of: &[u64; 128], letter: u8, maybe: &mut Maybe, is_here: impl Fn(&str) -> bool) {
    let rules = of.get(usize::from(letter)).copied().unwrap_or_default();
    maybe.add(rules, |hint| match hint {
        Hint::Words(words) => words.iter().any(|word| is_here(word)),
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
    let between = bytes[..at]
        .iter()
        .rev()
        .take_while(|byte| is_between(byte))
        .count();
    let name = &bytes[..at - between];
    let [.., one, last] = name else { return };
    let [one, last] = [one, last].map(u8::to_ascii_lowercase);
    if !may_have(&LAST_TWO, [0, one, last]) {
        return;
    }
    // `API-key` and `api_key` are `apikey`.
    let is_letter = |byte: &&u8| !matches!(byte, b'_' | b'-');
    let ends_with = |known: &&str| {
        let [.., known_one, known_last] = known.as_bytes() else {
            return false;
        };
        if (*known_one, *known_last) != (one, last) {
            return false;
        }
        let mut letters = name.iter().rev().filter(is_letter);
        let is_next = |wanted: &u8| {
            letters
                .next()
                .is_some_and(|it| it.eq_ignore_ascii_case(wanted))
        };
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
    // What an option for a password, token, secret or key begins with.
    let first = after.first().map(u8::to_ascii_lowercase);
    if !matches!(first, Some(b'p' | b't' | b's' | b'k' | b'a' | b'e' | b'm')) {
        return;
    }
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
