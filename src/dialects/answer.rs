//! A result of a dialect becomes a verdict.
//!
//! 1. A refusal counts in every system's words, whatever else stands in the result, and so does a
//!    question.
//! 2. A key of the wrong type, or one that is a slip of a known one, is malformed.
//! 3. `null` is as good as nothing; other unknown keys are named in the trace and ignored.

use serde_json::Value;

use super::form;
use super::results::{Act, KeyMeaning, ReplyKey, Results};
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
        let keys = match self.row.results {
            Results::Keys(keys) => keys,
            Results::Native => &[],
            Results::Form(form) => {
                if let Some(reason) = self.refusal(answer) {
                    let refused =
                        Verdict::new(Decision::Block { reason }, ContractRule::Translated);
                    return Ok((refused, Vec::new()));
                }
                return form::verdict(form, answer);
            }
            Results::Whole(field) => return Ok((whole(field, answer), Vec::new())),
        };
        let mut reading = Reading::default();
        let mut notes = Vec::new();
        let read = reading.read(keys, answer, &mut notes);
        if let Some(reason) = self.refusal(answer) {
            return Ok((Verdict::new(Decision::Block { reason }, ContractRule::Translated), notes));
        }
        read?;
        let decision = match reading.question {
            Some(question) => Decision::Ask { question },
            None => Decision::Allow,
        };
        let mut verdict = Verdict::new(decision, ContractRule::Translated);
        verdict.output = reading.output;
        verdict.additional_context = reading.context;
        verdict.update = reading.update;
        Ok((verdict, notes))
    }

    /// What a hook of this dialect had changed of its event when it threw an error: the new values
    /// of our fields. Nothing where the system forgets them.
    pub fn left(self, answer: &[(String, Value)]) -> Vec<(String, Value)> {
        let Results::Keys(keys) = self.row.results else { return Vec::new() };
        let entries = answer.iter().filter(|(_, value)| self.row.keeps_thrown && !value.is_null());
        let field = |(name, value): &(String, Value)| {
            let key = keys.iter().find(|key| key.name == name)?;
            match key.says {
                KeyMeaning::Field(field) => Some((field.to_string(), value.clone())),
                KeyMeaning::Refusal
                | KeyMeaning::Reason
                | KeyMeaning::Entry { .. }
                | KeyMeaning::Action(_)
                | KeyMeaning::Question(_)
                | KeyMeaning::Context
                | KeyMeaning::Output => None,
            }
        };
        entries.filter_map(field).collect()
    }

    /// The reason, if the object refuses in this dialect's words or in any other's.
    pub fn refusal(self, answer: &[(String, Value)]) -> Option<String> {
        let of = |name: &str| answer.iter().rev().find(|(key, _)| key == name).map(|(_, v)| v);
        if let Results::Form(form) = self.row.results
            && let Some(reason) = form::refusal(form, answer)
        {
            return Some(reason);
        }
        let (own, words) = (self.keys(), action_of(self.keys()));
        let says_no = |name: &&str| of(name) == Some(&Value::Bool(true));
        let mut by_key =
            own.iter().filter(|key| key.says == KeyMeaning::Refusal).map(|key| key.name);
        let by_word = words.is_some_and(|(name, words)| {
            let said = of(name).and_then(Value::as_str);
            words.iter().any(|(word, act)| *act == Act::Refuse && said == Some(*word))
        });
        let by_other = self.in_any_words(Meaning::Refusal, answer);
        if !(by_key.any(|name| says_no(&name)) || by_word || by_other.is_some()) {
            return None;
        }
        Some(refusal::reason(answer, self.reasons(), by_other))
    }

    /// The question, if the object asks in any system's words. What the dialect's table says of its
    /// own questions is not read here.
    pub fn question(self, answer: &[(String, Value)]) -> Option<String> {
        let asks_by = self.in_any_words(Meaning::Question, answer)?;
        Some(refusal::question(answer, self.reasons(), Some(asks_by)))
    }

    /// The key that means this in any system's words, and nothing of its own in this dialect.
    fn in_any_words(self, wanted: Meaning, answer: &[(String, Value)]) -> Option<&str> {
        let is_whole = matches!(self.row.results, Results::Whole(_));
        let means = |(name, value): &&(String, Value)| {
            let is_own = |key: &ReplyKey| key.name == *name && key.says.knows(Some(value));
            // A payload has keys of its own.
            let is_read = |name: &str| REFUSAL_WORDS.iter().any(|w| w.key == name && w.is_read);
            refusal::meaning(name, value.into()) == wanted
                && !self.keys().iter().any(is_own)
                && (!is_whole || is_read(name))
        };
        answer.iter().find(means).map(|(name, _)| name.as_str())
    }

    fn keys(self) -> &'static [ReplyKey] {
        match self.row.results {
            Results::Keys(keys) => keys,
            Results::Native | Results::Form(_) | Results::Whole(_) => &[],
        }
    }

    /// Whether what stands on stderr is read as an answer beside an empty stdout.
    pub fn reads_stderr(self) -> bool {
        matches!(self.row.results, Results::Form(form) if form.refuses.reads_on())
    }

    /// The keys of the dialect's own for a reason.
    fn reasons(self) -> impl Iterator<Item = &'static str> {
        self.keys().iter().filter(|key| key.says == KeyMeaning::Reason).map(|key| key.name)
    }
}

impl KeyMeaning {
    /// Whether a value means something of its own here, and not what it means in other systems.
    fn knows(self, value: Option<&Value>) -> bool {
        match self {
            KeyMeaning::Refusal => false,
            KeyMeaning::Action(words) => {
                let said = value.and_then(Value::as_str);
                words.iter().any(|(word, _)| said == Some(*word))
            }
            KeyMeaning::Reason
            | KeyMeaning::Field(_)
            | KeyMeaning::Entry { .. }
            | KeyMeaning::Question(_)
            | KeyMeaning::Context
            | KeyMeaning::Output => true,
        }
    }
}

pub(super) fn action_of(
    keys: &[ReplyKey],
) -> Option<(&'static str, &'static [(&'static str, Act)])> {
    keys.iter().find_map(|key| match key.says {
        KeyMeaning::Action(words) => Some((key.name, words)),
        KeyMeaning::Refusal
        | KeyMeaning::Reason
        | KeyMeaning::Field(_)
        | KeyMeaning::Entry { .. }
        | KeyMeaning::Question(_)
        | KeyMeaning::Context
        | KeyMeaning::Output => None,
    })
}

fn whole(field: &str, answer: &[(String, Value)]) -> Verdict {
    let mut verdict = Verdict::new(Decision::Allow, ContractRule::Translated);
    let value = Value::Object(answer.iter().cloned().collect());
    verdict.update.push((field.to_string(), value));
    verdict
}

/// A result, key by key.
#[derive(Default)]
struct Reading {
    question: Option<String>,
    output: Option<String>,
    context: Option<String>,
    update: Vec<(String, Value)>,
    act: Option<Act>,
}

impl Reading {
    fn read(
        &mut self,
        keys: &'static [ReplyKey],
        answer: &[(String, Value)],
        notes: &mut Vec<String>,
    ) -> Result<(), String> {
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in answer.iter().filter(|(_, value)| !value.is_null()) {
            if seen.contains(&name.as_str()) {
                return Err(format!("the key `{name}` appears twice"));
            }
            seen.push(name);
            match keys.iter().find(|key| key.name == name || key.list() == Some(name)) {
                Some(key) => self.take(key, name, value)?,
                None => notes.push(ignored(name, keys)?),
            }
        }
        match (self.act, action_of(keys)) {
            (Some(Act::Rewrite), _) if self.update.is_empty() => {
                Err("its action rewrites, and nothing new is given".to_string())
            }
            (None, Some((name, _))) if !self.update.is_empty() => {
                Err(format!("`{name}` is missing, which says what the result is"))
            }
            // A word that lets it pass, or takes it, says that nothing else counts.
            (Some(Act::Pass), _) => {
                self.update.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, key: &ReplyKey, name: &str, value: &Value) -> Result<(), String> {
        let text = || match value.as_str() {
            Some(text) => Ok(text.to_string()),
            None => Err(format!("`{name}` must be a JSON string")),
        };
        match key.says {
            // Whether it refuses is asked of every key that may say so, in `refusal`.
            KeyMeaning::Refusal if value.is_boolean() => {}
            KeyMeaning::Refusal => return Err(format!("`{name}` must be a JSON boolean")),
            KeyMeaning::Reason => {
                text()?;
            }
            KeyMeaning::Field(field) => self.update.push((field.to_string(), value.clone())),
            KeyMeaning::Entry { list, .. } if name == list && !value.is_array() => {
                return Err(format!("`{name}` must be a JSON array"));
            }
            KeyMeaning::Entry { field, list } if name == list => {
                self.update.push((field.to_string(), value.clone()));
            }
            KeyMeaning::Entry { field, .. } => {
                self.update.push((field.to_string(), Value::Array(vec![value.clone()])));
            }
            KeyMeaning::Action(words) => self.act(name, &text()?, words)?,
            KeyMeaning::Question(_) => self.question = Some(question(name, value)?),
            KeyMeaning::Context => self.add_context(text()?),
            KeyMeaning::Output => self.output = Some(text()?),
        }
        Ok(())
    }

    /// A system can have several places for context; here it is one text.
    fn add_context(&mut self, text: String) {
        match &mut self.context {
            Some(context) => context.push_str(&format!("\n\n{text}")),
            None => self.context = Some(text),
        }
    }

    fn act(&mut self, name: &str, said: &str, words: &[(&str, Act)]) -> Result<(), String> {
        let Some((_, act)) = words.iter().find(|(word, _)| *word == said) else {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            return Err(format!("`{name}` must be one of `{}`", known.join("`, `")));
        };
        if let Act::Claim(field) = act {
            self.update.push(((*field).to_string(), Value::Bool(true)));
        }
        self.act = Some(*act);
        Ok(())
    }
}

impl ReplyKey {
    pub(super) fn list(&self) -> Option<&'static str> {
        match self.says {
            KeyMeaning::Entry { list, .. } => Some(list),
            KeyMeaning::Refusal
            | KeyMeaning::Reason
            | KeyMeaning::Field(_)
            | KeyMeaning::Action(_)
            | KeyMeaning::Question(_)
            | KeyMeaning::Context
            | KeyMeaning::Output => None,
        }
    }
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
    Ok(format!("the key `{name}` means nothing in a result of this event and was ignored"))
}
