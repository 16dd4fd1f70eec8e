//! What a hook of a dialect says by a JSON object, as a verdict.
//!
//! 1. A block counts in every system's words, whatever else the object says, and so does a question.
//! 2. A key of the wrong type, or one that is a slip of a known one, is malformed. In a host's form
//!    that is so for the keys that decide; the host has others of no interest here.
//! 3. `null` is as good as nothing; other unknown keys are named in the trace and ignored.

use serde_json::Value;

use super::results::{Act, KeyMeaning, Refuses, ReplyKey, Results};
use super::row::Binding;
use crate::engine::answer::refusal::{self, Meaning, REFUSAL_WORDS};
use crate::engine::outcome::{ContractRule, Decision, Verdict};
use crate::engine::spelling;

impl Binding {
    /// What a hook of this dialect says by a JSON object, and notes for its author.
    ///
    /// # Errors
    /// Why the result is malformed.
    pub fn verdict(self, answer: &[(String, Value)]) -> Result<(Verdict, Vec<String>), String> {
        let verdict = |decision| Verdict::new(decision, ContractRule::Translated);
        let mut reading = Reading {
            verdict: verdict(Decision::Allow),
            question: None,
            asks: false,
            act: None,
            notes: Vec::new(),
        };
        let read = match self.row.results {
            Results::Native => reading.read_keys(&[], answer),
            Results::Keys(keys) => reading.read_keys(keys, answer),
            Results::Form(_) => reading.read_form(self.row.results, answer),
            Results::Whole(field, _) => {
                let whole = answer.iter().cloned().collect();
                reading.verdict.update.push((field.to_string(), whole));
                return Ok((reading.verdict, Vec::new()));
            }
        };
        if let Some(reason) = self.refusal(answer) {
            return Ok((verdict(Decision::Block { reason }), reading.notes));
        }
        read?;
        if reading.asks && reading.question.is_none() {
            let question = self.own_reason(answer).map(str::to_string);
            let other = || refusal::question(answer, std::iter::empty(), None);
            reading.question = Some(question.unwrap_or_else(other));
        }
        if let Some(question) = reading.question {
            reading.verdict.decision = Decision::Ask { question };
        }
        Ok((reading.verdict, reading.notes))
    }

    /// What a hook of this dialect had changed of its event when it threw an error: the new values
    /// of our fields. Nothing where the system forgets them.
    pub fn left(self, answer: &[(String, Value)]) -> Vec<(String, Value)> {
        let entries = answer
            .iter()
            .filter(|(_, value)| self.row.keeps_thrown && !value.is_null());
        let field = |(name, value): &(String, Value)| {
            let key = self.keys().iter().find(|key| key.name == name)?;
            let KeyMeaning::Field(field, _) = key.says else {
                return None;
            };
            Some((field.to_string(), value.clone()))
        };
        entries.filter_map(field).collect()
    }

    /// The reason, if the object blocks in this dialect's words or in any other's.
    pub fn refusal(self, answer: &[(String, Value)]) -> Option<String> {
        let refuses = |key: &ReplyKey| at(answer, key.name).is_some_and(|it| key.says.refuses(it));
        let by_other = self.in_any_words(Meaning::Refusal, answer);
        if !self.row.results.reads().any(refuses) && by_other.is_none() {
            return None;
        }
        let own = self.own_reason(answer).map(str::to_string);
        Some(own.unwrap_or_else(|| refusal::reason(answer, std::iter::empty(), by_other)))
    }

    /// The question, if the object asks in any system's words. Questions in the dialect's own words
    /// are not read here.
    pub fn question(self, answer: &[(String, Value)]) -> Option<String> {
        let asks_by = self.in_any_words(Meaning::Question, answer)?;
        let reasons = self
            .keys()
            .iter()
            .filter(|key| key.says == KeyMeaning::Reason);
        Some(refusal::question(
            answer,
            reasons.map(|key| key.name),
            Some(asks_by),
        ))
    }

    /// Whether the host reads an answer on stderr where stdout is empty.
    pub fn reads_stderr(self) -> bool {
        self.row
            .results
            .form()
            .is_some_and(|form| form.refuses == Refuses::FromTwo)
    }

    /// The reason in the places that the dialect's table has for it.
    fn own_reason(self, answer: &[(String, Value)]) -> Option<&str> {
        [KeyMeaning::Objection, KeyMeaning::Reason]
            .into_iter()
            .find_map(|says| {
                let mut places = self.row.results.reads().filter(|key| key.says == says);
                places.find_map(|key| {
                    at(answer, key.name)?
                        .as_str()
                        .filter(|it| !it.trim().is_empty())
                })
            })
    }

    /// The key that means this in any system's words, and nothing else in this dialect.
    fn in_any_words(self, wanted: Meaning, answer: &[(String, Value)]) -> Option<&str> {
        let is_whole = matches!(self.row.results, Results::Whole(..));
        let means = |(name, value): &&(String, Value)| {
            let is_own = |key: &ReplyKey| key.name == *name && key.says.knows(value);
            // A payload has other keys too.
            let is_read = |name: &str| REFUSAL_WORDS.iter().any(|w| w.key == name && w.is_read);
            refusal::meaning(name, value.into()) == wanted
                && !self.keys().iter().any(is_own)
                && (!is_whole || is_read(name))
        };
        answer.iter().find(means).map(|(name, _)| name.as_str())
    }

    /// The keys whose meaning here wins over what they mean in other systems. A host's form has
    /// none: what it does not know counts in anybody's words.
    fn keys(self) -> &'static [ReplyKey] {
        if let Results::Keys(keys) = self.row.results {
            keys
        } else {
            &[]
        }
    }
}

impl KeyMeaning {
    /// Whether a value means something special here, and not what it means in other systems.
    fn knows(self, value: &Value) -> bool {
        let words = self.words();
        let is_word = words.is_empty() || words.iter().any(|(word, _)| value == word);
        is_word && !matches!(self, KeyMeaning::Refusal(_))
    }

    fn refuses(self, value: &Value) -> bool {
        let is_text = || value.as_str().is_some_and(|text| !text.trim().is_empty());
        let is_it = |(word, act): &(&str, Act)| *act == Act::Refuse && value == word;
        matches!(self, KeyMeaning::Refusal(flag) if *value == Value::Bool(flag))
            || matches!(self, KeyMeaning::Objection if is_text())
            || self.words().iter().any(is_it)
    }
}

impl ReplyKey {
    /// The key of a list of several.
    pub(super) fn list(&self) -> Option<&'static str> {
        if let KeyMeaning::Entry(field, _) = self.says {
            Some(field)
        } else {
            None
        }
    }
}

/// The key that says by a word what a result is, and its words.
pub(super) fn action_of(
    keys: &[ReplyKey],
) -> Option<(&'static str, &'static [(&'static str, Act)])> {
    let action = keys
        .iter()
        .find(|key| matches!(key.says, KeyMeaning::Action(_)))?;
    Some((action.name, action.says.words()))
}

/// The value at a path of keys with dots; of a key that appears twice, the last.
fn at<'a>(answer: &'a [(String, Value)], path: &str) -> Option<&'a Value> {
    let mut keys = path.split('.');
    let first = keys.next()?;
    let (_, value) = answer.iter().rev().find(|(name, _)| name == first)?;
    keys.try_fold(value, |value, key| value.get(key))
}

/// A result, key by key.
struct Reading {
    verdict: Verdict,
    question: Option<String>,
    /// A word asks; the reason is the question.
    asks: bool,
    act: Option<Act>,
    notes: Vec<String>,
}

impl Reading {
    fn read_keys(
        &mut self,
        keys: &'static [ReplyKey],
        answer: &[(String, Value)],
    ) -> Result<(), String> {
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in answer.iter().filter(|(_, value)| !value.is_null()) {
            if seen.contains(&name.as_str()) {
                return Err(format!("the key `{name}` appears twice"));
            }
            seen.push(name);
            match keys
                .iter()
                .find(|key| key.name == name || key.list() == Some(name))
            {
                Some(key) => self.take(key, name, value)?,
                None => self.notes.push(ignored(name, keys)?),
            }
        }
        match (self.act, action_of(keys)) {
            (Some(Act::Rewrite), _) if self.verdict.update.is_empty() => {
                Err("its action rewrites, and nothing new is given".to_string())
            }
            (None, Some((name, _))) if !self.verdict.update.is_empty() => Err(format!(
                "`{name}` is missing, which says what the result is"
            )),
            // After a word that lets it pass nothing else counts.
            (Some(Act::Pass), _) => {
                self.verdict.update.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read_form(&mut self, form: Results, answer: &[(String, Value)]) -> Result<(), String> {
        if let Some(problem) = form.reads().find_map(|key| misplaced(key, answer)) {
            return Err(problem);
        }
        for key in form.reads() {
            if let Some(value) = at(answer, key.name).filter(|value| !value.is_null()) {
                self.take(key, key.name, value)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, key: &ReplyKey, name: &str, value: &Value) -> Result<(), String> {
        let text = || match value.as_str() {
            Some(text) => Ok(text.to_string()),
            None => Err(format!("`{name}` must be a JSON string")),
        };
        match key.says {
            // Whether it blocks is decided over every key that may say so, in `refusal`.
            KeyMeaning::Refusal(_) if value.is_boolean() => {}
            KeyMeaning::Refusal(_) => return Err(format!("`{name}` must be a JSON boolean")),
            KeyMeaning::Objection | KeyMeaning::Reason => {
                text()?;
            }
            KeyMeaning::Field(field, _) => {
                self.verdict.update.push((field.to_string(), value.clone()))
            }
            KeyMeaning::Entry(field, _) if name != field => {
                self.verdict
                    .update
                    .push((field.to_string(), Value::Array(vec![value.clone()])));
            }
            KeyMeaning::Entry(field, _) if value.is_array() => {
                self.verdict.update.push((field.to_string(), value.clone()));
            }
            KeyMeaning::Entry(..) => return Err(format!("`{name}` must be a JSON array")),
            KeyMeaning::Action(words) => self.act(name, &text()?, words)?,
            KeyMeaning::Question(_) => self.question = Some(question(name, value)?),
            KeyMeaning::Context => self.add_context(text()?),
            KeyMeaning::Output => self.verdict.output = Some(text()?),
        }
        Ok(())
    }

    /// A system can have several places for context; here it is one text.
    fn add_context(&mut self, text: String) {
        match &mut self.verdict.additional_context {
            Some(context) => context.push_str(&format!("\n\n{text}")),
            None => self.verdict.additional_context = Some(text),
        }
    }

    fn act(&mut self, name: &str, said: &str, words: &[(&str, Act)]) -> Result<(), String> {
        let Some((_, act)) = words.iter().find(|(word, _)| *word == said) else {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            return Err(format!(
                "`{name}` is `{said}`, and must be one of `{}`",
                known.join("`, `")
            ));
        };
        if let Act::Claim(field) = act {
            self.verdict
                .update
                .push(((*field).to_string(), Value::Bool(true)));
        }
        self.asks |= *act == Act::Ask;
        self.act = Some(*act);
        Ok(())
    }
}

/// What is wrong with a key of a form that decides, if it is spelled otherwise, or is below what is
/// no object: a block in it would be lost.
fn misplaced(key: &ReplyKey, answer: &[(String, Value)]) -> Option<String> {
    let plain = |key: &str| key.replace(['_', '-'], "").to_ascii_lowercase();
    let (outer, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
    let head = outer.split('.').next().unwrap_or_default();
    if at(answer, head).is_some_and(|value| !value.is_object() && !value.is_null()) {
        return Some(format!("`{head}` must be a JSON object"));
    }
    if !matches!(key.says, KeyMeaning::Action(_) | KeyMeaning::Refusal(_)) {
        return None;
    }
    let inner = at(answer, outer).and_then(Value::as_object);
    let mut all = answer
        .iter()
        .map(|(key, _)| key)
        .chain(inner.into_iter().flat_map(|it| it.keys()));
    let slip = all.find(|other| *other != name && plain(other) == plain(name))?;
    Some(format!(
        "`{slip}` is not a key; did you mean `{}`?",
        key.name
    ))
}

/// The question of an approval: a text, or what its title and description say.
fn question(name: &str, value: &Value) -> Result<String, String> {
    let of = |key: &str| value.get(key).and_then(Value::as_str);
    if !value.is_string() && !value.is_object() {
        return Err(format!("`{name}` must be a JSON string or object"));
    }
    let said = [value.as_str(), of("title"), of("description")];
    let text = said.into_iter().flatten().collect::<Vec<&str>>().join(": ");
    if text.trim().is_empty() {
        return Err(format!("`{name}` asks nothing; give it a title"));
    }
    Ok(text)
}

/// The note for a key that the event's results do not have.
///
/// # Errors
/// When it is a slip of one that they have.
fn ignored(name: &str, keys: &[ReplyKey]) -> Result<String, String> {
    if let Some(meant) = spelling::nearest(name, keys.iter().map(|key| key.name)) {
        return Err(format!("`{name}` is not a key; did you mean `{meant}`?"));
    }
    Ok(format!(
        "the key `{name}` means nothing in a result of this event and was ignored"
    ))
}
