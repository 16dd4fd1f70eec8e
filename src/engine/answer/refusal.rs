//! The words with which hooks block and ask: one table for hookrun's own contract and every
//! dialect.
//!
//! Some belong to a system; others are what people write without a manual. If a dialect's own table
//! gives a key another meaning, that meaning wins.

use serde_json::Value;

use super::keys::result_key;
use super::object::last;
use crate::engine::hook::Convention;
use crate::engine::names::words;
use crate::engine::spelling;

/// The reason of a block that gives none.
pub const NO_REASON: &str = "blocked without a reason";

/// The question of a hook that asks without one.
pub const NO_QUESTION: &str = "may it go on?";

const ASK: &str = "ask";

/// A key that can block or ask.
#[derive(Debug)]
pub struct RefusalWord {
    pub key: &'static str,
    /// The values that block.
    pub by: RefusesBy,
    /// Whether some system reads it. People write the others by guesswork.
    pub is_read: bool,
}

/// Which values of a key block or ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusesBy {
    False,
    /// `true`, a number other than `0`, a non-empty list or object; or a text, which is the reason.
    True,
    /// A word that denies or stops, also in a list, or `false`; the word `ask` asks.
    Word,
    /// A word that denies, also in a list, or `false`. Words that stop or ask do not count, because
    /// many programs use them as states.
    State,
    /// A text, which is the question.
    Question,
}

/// Makes a row for each key in these groups.
macro_rules! refusal_words {
    ($($is_read:literal $by:ident $($key:literal)+;)+) => {
        &[$($(RefusalWord { key: $key, by: RefusesBy::$by, is_read: $is_read }),+),+]
    };
}

/// Every key that can block or ask. Those that some system reads come first.
pub const REFUSAL_WORDS: &[RefusalWord] = refusal_words! {
    true False "continue";
    true True "block" "cancel";
    true Word "decision" "permission" "permissionDecision";
    true Question "ask";
    false False "ok" "allow" "allowed" "isAllowed" "accept" "accepted" "approve" "approved" "permit"
        "permitted" "proceed";
    false True "blocked" "deny" "denied" "refuse" "refused" "reject" "rejected" "forbid" "forbidden"
        "veto" "stop" "halt" "abort";
    false Word "action" "verdict" "effect" "behavior" "behaviour";
    false State "result" "status" "outcome";
};

/// Words that deny, in any case.
pub const DENIALS: &[&str] = words!(
    "deny" "denied" "block" "blocked" "reject" "rejected" "refuse" "refused" "forbid" "forbidden"
    "disallow" "disallowed" "veto"
);

/// Words that stop. As a decision they deny.
pub const STOPS: &[&str] = &["stop", "halt", "abort", "cancel"];

/// Other keys with which some system's hooks decide.
const DECIDING: &[&str] = &["hookSpecificOutput", "stopReason"];

/// Keys with which hooks give the reason of a block.
const REASONS: &[&str] = &[
    "reason",
    "blockReason",
    "permissionDecisionReason",
    "stopReason",
    "message",
    "msg",
];

/// Texts that do not count as a reason.
const NOTHING: &[&str] = &["", "false", "none", "null"];

/// A value as written, in JSON or in an attempt at JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenValue<'t> {
    /// Without quotes: `false`, `True`, `no`.
    Bare(&'t str),
    /// The number 0.
    Zero,
    Number,
    /// In quotes.
    Text(&'t str),
    /// Cut off by the end of the text.
    Cut(&'t str),
    /// A non-empty list or object, with its text that denies, else its first text.
    Many(Option<&'t str>),
    /// `null`, or an empty list or object.
    Other,
}

/// The meaning of a key with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It blocks.
    Refusal,
    /// It asks.
    Question,
    /// It would block or ask if it were spelled correctly.
    Slip,
    /// Neither.
    Nothing,
}

/// The meaning of `key` with this value, by [`REFUSAL_WORDS`].
pub fn meaning(key: &str, value: WrittenValue<'_>) -> Meaning {
    let may_refuse = |row: &&RefusalWord| row.by.fits(value) != Meaning::Nothing;
    if let Some(row) = REFUSAL_WORDS.iter().find(|row| row.key == key) {
        return row.by.fits(value);
    }
    let mut rows = REFUSAL_WORDS.iter().filter(may_refuse).peekable();
    if rows.peek().is_none() {
        return Meaning::Nothing;
    }
    let is_slip = |row: &RefusalWord| match row.key {
        // People write this key by hand more than any other.
        "continue" if value != WrittenValue::Zero => spelling::nearest(key, [row.key]).is_some(),
        _ => is_same(row.key, key),
    };
    if rows.any(is_slip) {
        Meaning::Slip
    } else {
        Meaning::Nothing
    }
}

/// Whether a key blocks in plain text too. A key that some system reads does, even misspelled. The
/// others must be spelled exactly, because any text may contain `Status: blocked`.
pub fn is_word_for_refusal(key: &str) -> bool {
    let is_near = |row: &RefusalWord| spelling::nearest(key, [row.key]).is_some();
    REFUSAL_WORDS
        .iter()
        .any(|row| row.key == key || (row.is_read && is_near(row)))
}

/// Whether some system reads the key, and its values are words.
pub fn is_word_of_a_system(key: &str) -> bool {
    REFUSAL_WORDS
        .iter()
        .any(|row| row.key == key && row.is_read && row.by == RefusesBy::Word)
}

/// Whether two keys differ only in case and separators.
fn is_same(known: &str, key: &str) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| !matches!(c, '_' | '-'));
        letters.flat_map(char::to_lowercase).collect()
    };
    key.len() <= 2 * known.len() && plain(known) == plain(key)
}

impl RefusesBy {
    fn fits(self, value: WrittenValue<'_>) -> Meaning {
        use WrittenValue::{Bare, Cut, Many, Number, Text, Zero};
        let is_one = |text: &str, words: &[&str]| words.iter().any(|word| is_word(text, word));
        match (self, value) {
            (RefusesBy::Word | RefusesBy::State, value) => self.by_word(value),
            (RefusesBy::False, Bare("false") | Zero) => Meaning::Refusal,
            (RefusesBy::False, Bare(text) | Text(text)) => {
                slip(is_one(text, &["false", "no", "off"]))
            }
            (RefusesBy::False, Cut(text)) => slip(text == "0" || begins("false", text)),
            (RefusesBy::True, Bare("true") | Number | Many(_)) => Meaning::Refusal,
            (RefusesBy::True, Bare(text)) => slip(is_one(text, &["true", "yes", "on"])),
            (RefusesBy::True, Text(text)) if !is_one(text, NOTHING) => Meaning::Refusal,
            (RefusesBy::True, Cut(text)) => slip(text != "0"),
            (RefusesBy::Question, Text(text)) if has_words(text) => Meaning::Question,
            (RefusesBy::Question, Bare(text)) => slip(is_word(text, "true")),
            (RefusesBy::False | RefusesBy::True | RefusesBy::Question, _) => Meaning::Nothing,
        }
    }

    /// The meaning of a key whose values are words.
    fn by_word(self, value: WrittenValue<'_>) -> Meaning {
        let is_decision = self == RefusesBy::Word;
        let denials = || DENIALS.iter().chain(STOPS.iter().filter(|_| is_decision));
        let denies = |text: &str| denials().any(|word| is_word(text, word));
        let asks = |text: &str| is_decision && is_word(text, ASK);
        match value {
            WrittenValue::Bare("false") => Meaning::Refusal,
            WrittenValue::Bare(text) => slip(denies(text) || is_word(text, "false")),
            WrittenValue::Text(text) | WrittenValue::Many(Some(text)) if denies(text) => {
                Meaning::Refusal
            }
            WrittenValue::Text(text) | WrittenValue::Many(Some(text)) if asks(text) => {
                Meaning::Question
            }
            WrittenValue::Text(text) => {
                slip(is_word(text, "false") || is_decision && is_word(text, "no"))
            }
            WrittenValue::Cut(text) => {
                slip(begins("false", text) || denials().any(|word| begins(word, text)))
            }
            WrittenValue::Zero
            | WrittenValue::Number
            | WrittenValue::Many(_)
            | WrittenValue::Other => Meaning::Nothing,
        }
    }
}

fn is_word(text: &str, word: &str) -> bool {
    text.trim().eq_ignore_ascii_case(word)
}

fn begins(word: &str, text: &str) -> bool {
    word.get(..text.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(text))
}

fn slip(is_slip: bool) -> Meaning {
    if is_slip {
        Meaning::Slip
    } else {
        Meaning::Nothing
    }
}

impl<'v> From<&'v Value> for WrittenValue<'v> {
    fn from(value: &'v Value) -> WrittenValue<'v> {
        match value {
            Value::Bool(true) => WrittenValue::Bare("true"),
            Value::Bool(false) => WrittenValue::Bare("false"),
            Value::String(text) => WrittenValue::Text(text),
            Value::Number(number) if number.as_f64() == Some(0.0) => WrittenValue::Zero,
            Value::Number(_) => WrittenValue::Number,
            Value::Array(list) if !list.is_empty() => {
                let texts = || list.iter().filter_map(Value::as_str);
                let denies = |text: &&str| {
                    RefusesBy::Word.by_word(WrittenValue::Text(text)) == Meaning::Refusal
                };
                WrittenValue::Many(texts().find(denies).or_else(|| texts().next()))
            }
            Value::Object(entries) if !entries.is_empty() => WrittenValue::Many(None),
            Value::Null | Value::Array(_) | Value::Object(_) => WrittenValue::Other,
        }
    }
}

/// The reason in an object: from these keys, else from the usual ones, else the text of the key
/// that blocks.
pub(crate) fn reason<'a>(
    answer: &'a [(String, Value)],
    own: impl Iterator<Item = &'static str>,
    refuses_by: Option<&'a str>,
) -> String {
    let by = refuses_by.filter(|key| by(key) == Some(RefusesBy::True));
    let by = || by.and_then(|key| text_in(last(answer, key)?));
    text_of(answer, own)
        .or_else(by)
        .unwrap_or(NO_REASON)
        .to_string()
}

/// The question in an object: from this key if all systems share it, else from those keys.
pub(crate) fn question(
    answer: &[(String, Value)],
    own: impl Iterator<Item = &'static str>,
    asks_by: Option<&str>,
) -> String {
    let asks_by = asks_by.filter(|key| by(key) == Some(RefusesBy::Question));
    let asked = asks_by
        .and_then(|key| last(answer, key))
        .and_then(Value::as_str);
    asked
        .or_else(|| text_of(answer, own))
        .unwrap_or(NO_QUESTION)
        .to_string()
}

fn by(key: &str) -> Option<RefusesBy> {
    REFUSAL_WORDS
        .iter()
        .find(|row| row.key == key)
        .map(|row| row.by)
}

/// The first text under these keys, else under those of a reason.
fn text_of(answer: &[(String, Value)], own: impl Iterator<Item = &'static str>) -> Option<&str> {
    let text = |key| {
        last(answer, key)
            .and_then(Value::as_str)
            .filter(|text| has_words(text))
    };
    own.chain(REASONS.iter().copied()).find_map(text)
}

/// The text of a value: itself, else the first in a list, else the reason in an object.
fn text_in(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text.as_str()).filter(|text| has_words(text)),
        Value::Array(list) => list.iter().find_map(text_in),
        Value::Object(entries) => REASONS
            .iter()
            .find_map(|key| entries.get(*key))
            .and_then(text_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn has_words(text: &str) -> bool {
    !text.trim().is_empty()
}

/// The vocabulary for reading a text.
#[derive(Debug, Clone, Copy)]
pub enum Vocabulary<'c> {
    /// hookrun's own contract.
    Native,
    /// Another system's contract.
    Of(&'c dyn Convention),
    /// No particular one: the text is among other text, or deeper than any table reaches.
    Text,
}

impl Vocabulary<'_> {
    /// The reason, if the object at this place blocks. The place is a path of keys with dots, empty
    /// for the whole answer.
    pub fn refusal(self, place: &str, answer: &[(String, Value)]) -> Option<String> {
        match self {
            Vocabulary::Of(convention) if place.is_empty() => convention.refusal(answer),
            Vocabulary::Native | Vocabulary::Of(_) | Vocabulary::Text => {
                let refuses = |(key, value): &&(String, Value)| {
                    !self.is_data(place, key) && meaning(key, value.into()) == Meaning::Refusal
                };
                let (key, _) = answer.iter().find(refuses)?;
                Some(reason(answer, std::iter::empty(), Some(key)))
            }
        }
    }

    /// The question, if the object at this place asks.
    pub fn question(self, place: &str, answer: &[(String, Value)]) -> Option<String> {
        match self {
            Vocabulary::Of(convention) if place.is_empty() => convention.question(answer),
            Vocabulary::Native | Vocabulary::Of(_) | Vocabulary::Text => {
                let asks = |(key, value): &&(String, Value)| {
                    let may_ask = key == ASK || !self.is_data(place, key);
                    may_ask && meaning(key, value.into()) == Meaning::Question
                };
                let (key, _) = answer.iter().rev().find(asks)?;
                Some(question(answer, std::iter::empty(), Some(key)))
            }
        }
    }

    /// The key of the object that would block or ask if it were spelled correctly.
    pub fn slip<'a>(self, place: &str, answer: &'a [(String, Value)]) -> Option<&'a str> {
        let is_slip = |(key, value): &&(String, Value)| {
            !self.is_data(place, key) && meaning(key, value.into()) == Meaning::Slip
        };
        answer.iter().find(is_slip).map(|(key, _)| key.as_str())
    }

    /// Whether the value of `key` at this place is not part of the decision: a new input, or text
    /// for the model.
    pub fn is_data(self, place: &str, key: &str) -> bool {
        // Hosts' names for new values of their input.
        if key.starts_with("updated") || key.starts_with("modified") {
            return true;
        }
        match self {
            Vocabulary::Text => false,
            Vocabulary::Native => {
                let is_ours = result_key(key).is_some() && key != "continue";
                place.is_empty() && (key.starts_with("x-") || is_ours)
            }
            Vocabulary::Of(convention) => convention.is_data(place, key),
        }
    }

    /// Whether a key belongs to answers, so that its meaning must not be lost.
    pub fn decides(self, key: &str) -> bool {
        let reads = |word: &RefusalWord| word.is_read && word.key == key;
        let is_ours = || result_key(key).is_some();
        DECIDING.contains(&key)
            || REFUSAL_WORDS.iter().any(reads)
            || (matches!(self, Vocabulary::Native) && is_ours())
    }

    /// Whether a key belongs to an answer or blocks in some vocabulary. In broken JSON its value
    /// cannot be known.
    pub fn knows(self, key: &str) -> bool {
        self.decides(key) || REFUSAL_WORDS.iter().any(|word| word.key == key)
    }

    /// Whether an object among other text is meant as an answer: it has a key that decides, or only
    /// keys of an answer.
    pub fn is_answer(self, answer: &[(String, Value)]) -> bool {
        let decides = |key: &str| match key {
            // Many logs contain these words.
            "reason" | "output" | "block" | "cancel" => false,
            _ => self.decides(key),
        };
        let is_own = |key: &str| match self {
            Vocabulary::Native => self.decides(key) || key.starts_with("x-"),
            Vocabulary::Of(_) => self.is_data("", key) || self.decides(key),
            Vocabulary::Text => false,
        };
        answer.iter().any(|(key, _)| decides(key))
            || (!answer.is_empty() && answer.iter().all(|(key, _)| is_own(key)))
    }
}
