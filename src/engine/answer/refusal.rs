//! The words by which hooks refuse: one table for hookrun's own contract and for every dialect.
//!
//! Some are those of a system, others are what people write who have no manual at hand. Where a
//! dialect's own table gives a key another meaning, that meaning wins.

use serde_json::Value;

use crate::engine::hook::Convention;
use crate::engine::outcome::RESULT_KEYS;
use crate::engine::spelling;

/// The reason of a refusal that gives none.
pub const NO_REASON: &str = "refused without a reason";

/// An answer as its entries, in their order.
pub type Answer = Vec<(String, Value)>;

/// A key that can refuse.
#[derive(Debug)]
pub struct RefusalWord {
    /// The key.
    pub key: &'static str,
    /// Which of its values refuse.
    pub by: RefusesBy,
    /// Some system reads it. The others are what people write.
    pub is_read: bool,
}

/// Which values of a key refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusesBy {
    /// `false`.
    False,
    /// `true`, or a text, which is the reason.
    True,
    /// A word that denies.
    Word,
}

const fn read(key: &'static str, by: RefusesBy) -> RefusalWord {
    RefusalWord { key, by, is_read: true }
}

const fn written(key: &'static str, by: RefusesBy) -> RefusalWord {
    RefusalWord { key, by, is_read: false }
}

/// Every key that can refuse.
pub const REFUSAL_WORDS: &[RefusalWord] = &[
    read("continue", RefusesBy::False),
    read("block", RefusesBy::True),
    read("cancel", RefusesBy::True),
    read("decision", RefusesBy::Word),
    read("permission", RefusesBy::Word),
    read("permissionDecision", RefusesBy::Word),
    written("ok", RefusesBy::False),
    written("allow", RefusesBy::False),
    written("allowed", RefusesBy::False),
    written("approve", RefusesBy::False),
    written("approved", RefusesBy::False),
    written("permit", RefusesBy::False),
    written("permitted", RefusesBy::False),
    written("proceed", RefusesBy::False),
    written("blocked", RefusesBy::True),
    written("deny", RefusesBy::True),
    written("denied", RefusesBy::True),
    written("refuse", RefusesBy::True),
    written("refused", RefusesBy::True),
    written("reject", RefusesBy::True),
    written("rejected", RefusesBy::True),
    written("stop", RefusesBy::True),
    written("action", RefusesBy::Word),
    written("verdict", RefusesBy::Word),
    written("result", RefusesBy::Word),
    written("status", RefusesBy::Word),
    written("outcome", RefusesBy::Word),
    written("behavior", RefusesBy::Word),
    written("behaviour", RefusesBy::Word),
];

/// The words that deny, in any case.
pub const DENIALS: &[&str] = &[
    "deny",
    "denied",
    "block",
    "blocked",
    "reject",
    "rejected",
    "refuse",
    "refused",
    "forbid",
    "forbidden",
    "disallow",
    "disallowed",
    "veto",
];

/// Keys that some system's hooks decide with, beside those that refuse.
const DECIDING: &[&str] = &["ask", "hookSpecificOutput", "stopReason"];

/// Keys by which hooks give the reason of a refusal.
const REASONS: &[&str] =
    &["reason", "blockReason", "permissionDecisionReason", "stopReason", "message"];

/// Texts that are nothing, where a text refuses.
const NOTHING: &[&str] = &["", "false", "none", "null"];

/// A value as it is written, in JSON or in what was meant to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written<'t> {
    /// Without quotes: `false`, `True`, `1`.
    Bare(&'t str),
    /// In quotes.
    Text(&'t str),
    /// The text ends here, and perhaps within it.
    Cut(&'t str),
    /// A list, an object.
    Other,
}

/// What a key says by its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It refuses.
    Refusal,
    /// It would refuse if it were spelled as it must be.
    Slip,
    /// Neither.
    Nothing,
}

/// What `key` says by its value, in the words of [`REFUSAL_WORDS`].
pub fn meaning(key: &str, value: Written<'_>) -> Meaning {
    let may_refuse = |row: &&RefusalWord| row.by.fits(value) != Meaning::Nothing;
    if let Some(row) = REFUSAL_WORDS.iter().find(|row| row.key == key) {
        return row.by.fits(value);
    }
    let mut rows = REFUSAL_WORDS.iter().filter(may_refuse).peekable();
    if rows.peek().is_none() {
        return Meaning::Nothing;
    }
    let is_slip = |row: &RefusalWord| match row.key {
        // The key that everybody writes by hand.
        "continue" => spelling::nearest(key, [row.key]).is_some(),
        _ => is_same(row.key, key),
    };
    if rows.any(is_slip) { Meaning::Slip } else { Meaning::Nothing }
}

/// Whether a key refuses in plain text too: one that some system reads also where it is misspelled,
/// the others in their own spelling, because `Status: blocked` may stand in any text.
pub fn is_word_for_refusal(key: &str) -> bool {
    let is_near = |row: &RefusalWord| spelling::nearest(key, [row.key]).is_some();
    REFUSAL_WORDS.iter().any(|row| row.key == key || (row.is_read && is_near(row)))
}

/// Whether two keys differ in case and separators only.
fn is_same(known: &str, key: &str) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| !matches!(c, '_' | '-'));
        letters.flat_map(char::to_lowercase).collect()
    };
    key.len() <= 2 * known.len() && plain(known) == plain(key)
}

impl RefusesBy {
    /// Whether such a key refuses with this value.
    fn fits(self, value: Written<'_>) -> Meaning {
        let is_word = |text: &str, word: &str| text.trim().eq_ignore_ascii_case(word);
        match (self, value) {
            (_, Written::Other) => Meaning::Nothing,
            (RefusesBy::False, Written::Cut(text)) => slip(begins("false", text)),
            (RefusesBy::True, Written::Cut(text)) => slip(text.parse::<f64>().is_err()),
            (RefusesBy::Word, Written::Cut(text)) => {
                slip(DENIALS.iter().any(|word| begins(word, text)))
            }
            (RefusesBy::False, Written::Bare("false")) => Meaning::Refusal,
            (RefusesBy::False, Written::Bare(text) | Written::Text(text)) => {
                let mut denials = ["false", "no", "off"].into_iter();
                slip(denials.any(|word| is_word(text, word)))
            }
            (RefusesBy::True, Written::Bare("true")) => Meaning::Refusal,
            (RefusesBy::True, Written::Bare(text)) => {
                slip(["true", "yes", "on"].into_iter().any(|word| is_word(text, word)))
            }
            (RefusesBy::True, Written::Text(text)) => {
                match NOTHING.iter().any(|word| is_word(text, word)) {
                    true => Meaning::Nothing,
                    false => Meaning::Refusal,
                }
            }
            (RefusesBy::Word, Written::Text(text)) => {
                match DENIALS.iter().any(|word| is_word(text, word)) {
                    true => Meaning::Refusal,
                    false => Meaning::Nothing,
                }
            }
            (RefusesBy::Word, Written::Bare(text)) => {
                slip(DENIALS.iter().any(|word| is_word(text, word)))
            }
        }
    }
}

/// Whether `text` can be the beginning of a word.
fn begins(word: &str, text: &str) -> bool {
    word.get(..text.len()).is_some_and(|head| head.eq_ignore_ascii_case(text))
}

fn slip(is_slip: bool) -> Meaning {
    if is_slip { Meaning::Slip } else { Meaning::Nothing }
}

impl<'v> From<&'v Value> for Written<'v> {
    fn from(value: &'v Value) -> Written<'v> {
        match value {
            Value::Bool(true) => Written::Bare("true"),
            Value::Bool(false) => Written::Bare("false"),
            Value::String(text) => Written::Text(text),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => Written::Other,
        }
    }
}

/// The reason that an object gives: of these keys, else of the usual ones, else the text of the
/// key that refuses.
pub(crate) fn reason<'a>(
    answer: &'a [(String, Value)],
    own: impl Iterator<Item = &'a str>,
    refuses_by: Option<&'a str>,
) -> String {
    let text = |name: &str| {
        let value = answer.iter().rev().find(|(key, _)| key == name);
        value.and_then(|(_, value)| value.as_str()).filter(|text| !text.trim().is_empty())
    };
    let is_text =
        |key: &&str| REFUSAL_WORDS.iter().any(|w| w.key == *key && w.by == RefusesBy::True);
    let given = own.chain(REASONS.iter().copied()).chain(refuses_by.filter(is_text));
    given.filter_map(text).next().unwrap_or(NO_REASON).to_string()
}

/// Whose words a text is read in.
#[derive(Debug, Clone, Copy)]
pub enum Vocabulary<'c> {
    /// hookrun's own contract.
    Native,
    /// Another system's.
    Of(&'c dyn Convention),
    /// Nobody's: it stands among other text, or deeper than any table reaches.
    Text,
}

impl Vocabulary<'_> {
    /// The reason, if an object refuses that stands at this place: a path of keys with dots, empty
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

    /// The key of such an object that would refuse if it were spelled as it must be.
    pub fn slip<'a>(self, place: &str, answer: &'a [(String, Value)]) -> Option<&'a str> {
        let is_slip = |(key, value): &&(String, Value)| {
            !self.is_data(place, key) && meaning(key, value.into()) == Meaning::Slip
        };
        answer.iter().find(is_slip).map(|(key, _)| key.as_str())
    }

    /// Whether what stands under `key` at this place is no part of the decision: a new input, a
    /// text for the model.
    pub fn is_data(self, place: &str, key: &str) -> bool {
        // What hosts call the new values of what they have sent.
        if key.starts_with("updated") || key.starts_with("modified") {
            return true;
        }
        match self {
            Vocabulary::Text => false,
            Vocabulary::Native => {
                let is_ours = |name: &str| RESULT_KEYS.iter().any(|known| known.name == name);
                place.is_empty() && (key.starts_with("x-") || (is_ours(key) && key != "continue"))
            }
            Vocabulary::Of(convention) => convention.is_data(place, key),
        }
    }

    /// Whether a key belongs to answers, so that what it says may not be lost.
    pub fn decides(self, key: &str) -> bool {
        let reads = |word: &RefusalWord| word.is_read && word.key == key;
        let is_ours = || RESULT_KEYS.iter().any(|known| known.name == key);
        DECIDING.contains(&key)
            || REFUSAL_WORDS.iter().any(reads)
            || (matches!(self, Vocabulary::Native) && is_ours())
    }

    /// Whether a key is one of an answer or refuses in some words: where it stands in what was meant
    /// to be JSON and is none, what it says cannot be known.
    pub fn knows(self, key: &str) -> bool {
        self.decides(key) || REFUSAL_WORDS.iter().any(|word| word.key == key)
    }

    /// Whether an object among other text is meant as an answer: it has a key that decides, or
    /// none but those of an answer.
    pub fn is_answer(self, answer: &[(String, Value)]) -> bool {
        let decides = |key: &str| match key {
            // Words of many a log.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_once_and_refuses_by_its_own_values_only() {
        for row in REFUSAL_WORDS {
            assert_eq!(REFUSAL_WORDS.iter().filter(|other| other.key == row.key).count(), 1);
            let (plain, slips, passes) = match row.by {
                RefusesBy::False => (
                    vec![Written::Bare("false")],
                    vec![Written::Text("false"), Written::Bare("False"), Written::Cut("")],
                    vec![Written::Bare("true"), Written::Text("x"), Written::Other],
                ),
                RefusesBy::True => (
                    vec![Written::Bare("true"), Written::Text("no pushes")],
                    vec![Written::Bare("True"), Written::Cut("no pu")],
                    vec![Written::Bare("false"), Written::Text(""), Written::Text("False")],
                ),
                RefusesBy::Word => (
                    DENIALS.iter().map(|word| Written::Text(word)).collect(),
                    vec![Written::Bare("deny"), Written::Cut("de")],
                    vec![Written::Text("allow"), Written::Bare("true"), Written::Cut("20")],
                ),
            };
            for (values, wanted) in
                [(plain, Meaning::Refusal), (slips, Meaning::Slip), (passes, Meaning::Nothing)]
            {
                for value in values {
                    assert_eq!(meaning(row.key, value), wanted, "{}: {value:?}", row.key);
                }
            }
            let capitals = row.key.to_uppercase();
            let denied = match row.by {
                RefusesBy::False => Written::Bare("false"),
                RefusesBy::True => Written::Bare("true"),
                RefusesBy::Word => Written::Text("deny"),
            };
            assert_eq!(meaning(&capitals, denied), Meaning::Slip, "{capitals}");
        }
        assert_eq!(meaning("contine", Written::Bare("false")), Meaning::Slip);
        assert_eq!(meaning("level", Written::Text("block")), Meaning::Nothing);
    }
}
