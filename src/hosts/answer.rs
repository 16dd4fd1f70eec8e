//! Reads an answer of a dialect: a JSON object with the keys of its table.
//!
//! 1. An answer that blocks always blocks, whatever its other keys.
//! 2. `null` counts as a missing key; a wrong type is malformed, and so is an unknown word unless
//!    it approves.
//! 3. Unknown keys are ignored, with a note.

use serde_json::{Map, Value};

use super::results::{Act, BlockStatus, KeyMeaning, ReplyKey, Results};
use super::row::Binding;
use crate::engine::hook::NO_REASON;
use crate::engine::hook::contract::{Contract, is_decision_key};
use crate::engine::outcome::{ContractRule, Decision, Verdict};

const APPROVALS: &[&str] = &[
    "allow", "allowed", "approve", "approved", "accept", "continue", "pass", "ok", "yes",
];

impl Contract for Binding {
    fn knows(&self, path: &str) -> bool {
        if let Results::Whole(..) = self.row.results {
            return !is_decision_key(path);
        }
        let mut keys = self.row.results.reads();
        keys.any(|key| {
            let below = key.name.strip_prefix(path);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                || key.list() == Some(path)
        })
    }

    fn block(&self, answer: &[(String, Value)]) -> Option<String> {
        let mut keys = self.row.results.reads();
        if !keys.any(|key| values_at(answer, key.name).any(|value| key.says.blocks(value))) {
            return None;
        }
        Some(self.reason(answer).unwrap_or(NO_REASON).to_string())
    }

    fn cure(&self) -> String {
        let mut keys: Vec<&ReplyKey> = self.row.results.reads().collect();
        keys.sort_by_key(|key| key.says.words().is_empty());
        for key in keys {
            if let Some(value) = key.says.blocking_value() {
                let mut object = Map::new();
                place(&mut object, key.name, value);
                return format!("{} to block", Value::Object(object));
            }
        }
        "nothing, and exit with 2 to block".to_string()
    }
}

impl Binding {
    /// Returns the verdict of an answer that does not block, and notes for the hook's author.
    ///
    /// # Errors
    /// The problem, if the answer is malformed.
    pub(super) fn verdict(
        self,
        answer: &[(String, Value)],
    ) -> Result<(Verdict, Vec<String>), String> {
        let mut reading = Translation {
            verdict: Verdict::new(Decision::Allow, ContractRule::Translated),
            question: None,
            asks: false,
            act: None,
            notes: Vec::new(),
        };
        match self.row.results {
            Results::Native | Results::Plugin(_) => {}
            Results::Keys(_) | Results::Form(_) => reading.read(self.row.results, answer)?,
            Results::Whole(field, _) => {
                let whole = answer.iter().cloned().collect();
                reading.verdict.update.push((field.to_string(), whole));
            }
        }
        if reading.asks && reading.question.is_none() {
            let question = self.reason(answer).unwrap_or("allow it?");
            reading.question = Some(question.to_string());
        }
        if let Some(question) = reading.question {
            reading.verdict.decision = Decision::Ask { question };
        }
        Ok((reading.verdict, reading.notes))
    }

    /// Returns the fields that a hook changed before it threw; none if the system discards them.
    pub(super) fn left(self, answer: &[(String, Value)]) -> Vec<(String, Value)> {
        let mut fields = Vec::new();
        for (name, value) in answer.iter().filter(|(_, value)| !value.is_null()) {
            let key = self.row.results.reads().find(|key| key.name == name);
            if let Some(KeyMeaning::Field(field, _)) = key.map(|key| key.says)
                && self.row.keeps_thrown
            {
                fields.push((field.to_string(), value.clone()));
            }
        }
        fields
    }

    /// Whether the host reads an answer from stderr when stdout is empty.
    pub fn reads_stderr(self) -> bool {
        let form = self.row.results.form();
        form.is_some_and(|form| form.blocks == BlockStatus::FromTwo)
    }

    fn reason(self, answer: &[(String, Value)]) -> Option<&str> {
        for says in [KeyMeaning::Objection, KeyMeaning::Reason] {
            for key in self.row.results.reads().filter(|key| key.says == says) {
                let text = values_at(answer, key.name).last().and_then(Value::as_str);
                if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                    return Some(text);
                }
            }
        }
        None
    }
}

impl KeyMeaning {
    /// A value of this key that blocks, asks or claims the event.
    fn blocking_value(self) -> Option<Value> {
        if let KeyMeaning::Block(flag) = self {
            return Some(Value::Bool(flag));
        }
        if self == KeyMeaning::Objection {
            return Some(Value::from("…"));
        }
        let mut words = self.words().iter();
        let (word, _) = words.find(|(_, act)| matches!(act, Act::Block | Act::Claim(_)))?;
        Some(Value::from(*word))
    }

    fn blocks(self, value: &Value) -> bool {
        let mut words = self.words().iter();
        if let KeyMeaning::Block(flag) = self {
            *value == Value::Bool(flag)
        } else if self == KeyMeaning::Objection {
            value.as_str().is_some_and(|text| !text.trim().is_empty())
        } else {
            words.any(|(word, act)| *act == Act::Block && value == word)
        }
    }
}

impl ReplyKey {
    pub(super) fn list(&self) -> Option<&'static str> {
        if let KeyMeaning::Entry(field, _) = self.says {
            return Some(field);
        }
        None
    }
}

/// The key whose word says what a result is, with its words.
pub(super) fn action_of(
    keys: &[ReplyKey],
) -> Option<(&'static str, &'static [(&'static str, Act)])> {
    let mut keys = keys.iter();
    let action = keys.find(|key| matches!(key.says, KeyMeaning::Action(_)))?;
    Some((action.name, action.says.words()))
}

/// Inserts a value at a dotted path; an existing value stays.
pub(super) fn place(result: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            result.entry(path).or_insert(value);
        }
        Some((first, rest)) => {
            let inner = result.entry(first).or_insert_with(|| Map::new().into());
            if let Value::Object(inner) = inner {
                place(inner, rest, value);
            }
        }
    }
}

/// The values at a dotted path; more than one if the first key is repeated.
fn values_at<'a>(answer: &'a [(String, Value)], path: &'a str) -> impl Iterator<Item = &'a Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let values = answer.iter().filter(move |(name, _)| name == first);
    values.filter_map(move |(_, value)| {
        let mut keys = rest.split('.').filter(|key| !key.is_empty());
        keys.try_fold(value, |value, key| value.get(key))
    })
}

/// A verdict while its answer is read key by key.
struct Translation {
    verdict: Verdict,
    question: Option<String>,
    asks: bool,
    act: Option<Act>,
    notes: Vec<String>,
}

impl Translation {
    fn read(&mut self, results: Results, answer: &[(String, Value)]) -> Result<(), String> {
        for key in results.reads() {
            let head = key.name.split('.').next().unwrap_or_default();
            if let Some(above) = values_at(answer, head).last()
                && head != key.name
                && !(above.is_object() || above.is_null())
            {
                return Err(format!("`{head}` must be a JSON object"));
            }
            for name in std::iter::once(key.name).chain(key.list()) {
                // The last value of a repeated key counts.
                let value = values_at(answer, name).last();
                if let Some(value) = value.filter(|value| !value.is_null()) {
                    self.take(key, name, value)?;
                }
            }
        }
        let Results::Keys(keys) = results else {
            return Ok(());
        };
        for (name, _) in answer.iter().filter(|(_, value)| !value.is_null()) {
            let mut keys = keys.iter();
            if !keys.any(|key| key.name == name || key.list() == Some(name)) {
                self.notes.push(format!(
                    "the key `{name}` has no effect in a result of this event and was ignored"
                ));
            }
        }
        match (self.act, action_of(keys)) {
            (Some(Act::Rewrite), _) if self.verdict.update.is_empty() => {
                Err("`action` announces a rewrite, but the answer has no new value".to_string())
            }
            (None, Some((name, _))) if !self.verdict.update.is_empty() => Err(format!(
                "`{name}`, which names the kind of result, is missing"
            )),
            // After a word that passes, nothing else counts.
            (Some(Act::Pass), _) => {
                self.verdict.update.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, key: &ReplyKey, name: &str, value: &Value) -> Result<(), String> {
        match key.says {
            // Whether the answer blocks is decided over all keys.
            KeyMeaning::Block(_) if value.is_boolean() => {}
            KeyMeaning::Block(_) => return Err(format!("`{name}` must be a JSON boolean")),
            KeyMeaning::Objection | KeyMeaning::Reason => {
                text_of(name, value)?;
            }
            KeyMeaning::Field(field, _) => self.update(field, value.clone()),
            KeyMeaning::Entry(field, _) if name != field => {
                self.update(field, vec![value.clone()].into());
            }
            KeyMeaning::Entry(field, _) if value.is_array() => self.update(field, value.clone()),
            KeyMeaning::Entry(..) => return Err(format!("`{name}` must be a JSON array")),
            KeyMeaning::Action(words) => self.act(name, &text_of(name, value)?, words)?,
            KeyMeaning::Question(_) => self.question = Some(question(name, value)?),
            KeyMeaning::Context => self.add_context(text_of(name, value)?),
            KeyMeaning::Output => self.verdict.output = Some(text_of(name, value)?),
        }
        Ok(())
    }

    fn update(&mut self, field: &str, value: Value) {
        self.verdict.update.push((field.to_string(), value));
    }

    fn add_context(&mut self, text: String) {
        match &mut self.verdict.additional_context {
            Some(context) => context.push_str(&format!("\n\n{text}")),
            None => self.verdict.additional_context = Some(text),
        }
    }

    fn act(&mut self, name: &str, value: &str, words: &[(&str, Act)]) -> Result<(), String> {
        let Some((_, act)) = words.iter().find(|(word, _)| *word == value) else {
            if APPROVALS.contains(&value) && is_decision_key(name) {
                return Ok(());
            }
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            return Err(format!(
                "`{name}` is `{value}`, but must be one of `{}`",
                known.join("`, `")
            ));
        };
        if let Act::Claim(field) = act {
            self.update(field, Value::Bool(true));
        }
        self.asks |= *act == Act::Ask;
        self.act = Some(*act);
        Ok(())
    }
}

fn text_of(name: &str, value: &Value) -> Result<String, String> {
    let text = value.as_str().map(str::to_string);
    text.ok_or_else(|| format!("`{name}` must be a JSON string"))
}

/// The question of an approval: its text, or title and description.
fn question(name: &str, value: &Value) -> Result<String, String> {
    if !value.is_string() && !value.is_object() {
        return Err(format!("`{name}` must be a JSON string or object"));
    }
    let mut parts: Vec<&str> = value.as_str().into_iter().collect();
    for key in ["title", "description"] {
        parts.extend(value.get(key).and_then(Value::as_str));
    }
    let text = parts.join(": ").replace("?: ", "? ");
    if text.trim().is_empty() {
        return Err(format!("`{name}` has no question; give it a title"));
    }
    Ok(text)
}
