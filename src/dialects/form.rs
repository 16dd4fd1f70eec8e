//! A host's own forms: what is written for it, and what hooks that were written for it say.
//!
//! Agent hosts say a refusal, a question, a new input and a context in places of their own, some
//! by the exit status, some by JSON, and drop what stands in the wrong place. A [`ReplyForm`] is the
//! table of one event's places; the safest one that was measured goes first.

pub(super) mod parts;

use serde_json::{Map, Value};

use super::native;
use super::results::{Hear, HeardValue, On, Put, ReplyForm, Say};
use super::row::{Binding, Reply};
use crate::engine::answer::refusal;
use crate::engine::outcome::{
    ContractRule, Decision, NoticeKind, Outcome, Question, Settled, Verdict, joined,
};

impl ReplyForm {
    /// The fields of ours that it has a place for.
    #[cfg(test)]
    pub(super) fn fields(&self) -> Vec<&'static str> {
        let written = self.writes.iter().filter_map(|say| match say.on {
            On::New(field) => Some(field),
            On::Refusal | On::Objection | On::Question | On::Context | On::Output => None,
        });
        let read = self.reads.iter().filter_map(|hear| match hear.says {
            HeardValue::New(field) => Some(field),
            HeardValue::Words { .. }
            | HeardValue::Flag(_)
            | HeardValue::Objection
            | HeardValue::Reason
            | HeardValue::Context
            | HeardValue::Output => None,
        });
        written.chain(read).collect()
    }

    /// Whether a question can go to the host.
    pub(super) fn can_ask(&self) -> bool {
        self.say(On::Question).is_some()
    }

    fn say(&self, on: On) -> Option<&'static Say> {
        self.writes.iter().find(|say| say.on == on)
    }
}

/// The reply to an outcome in a host's form. Text that the form has no place for is on stderr.
pub(super) fn reply(binding: Binding, form: &'static ReplyForm, outcome: &Outcome) -> Reply {
    let questions: &[Question] = match &outcome.settled {
        Settled::Refused(refusal) => return refuse(binding, form, &refusal.reason),
        Settled::Asked { questions } if form.say(On::Question).is_none() => {
            return refuse(binding, form, &joined(questions));
        }
        Settled::Asked { questions } => questions,
        Settled::Allowed => &[],
    };
    let mut result = Map::new();
    let update = outcome.update();
    for say in form.writes {
        let value = match say.on {
            On::Refusal => None,
            On::Objection => objections(outcome).map(Value::from),
            On::Question if questions.is_empty() => None,
            On::Question => Some(joined(questions).into()),
            On::New(field) => update.get(field).cloned(),
            On::Context => outcome.additional_context().map(Value::from),
            On::Output => outcome.output().map(Value::from),
        };
        if let Some(value) = value {
            put(&mut result, say, binding, &value);
        }
    }
    let stdout = line(result);
    let stderr = format!("{}{}", native::notices(outcome), unsaid(form, outcome));
    Reply { stdout, stderr, status: native::ALLOWED }
}

/// The reply that refuses for `reason`, in the form's way; by exit status 2 where it has none.
pub(super) fn refuse(binding: Binding, form: &'static ReplyForm, reason: &str) -> Reply {
    let native = native::refuse(reason);
    let (stdout, status) = match form.say(On::Refusal) {
        None => (String::new(), native.status),
        Some(say) => {
            let mut result = Map::new();
            let text = native.stderr.trim_end_matches('\n');
            put(&mut result, say, binding, &text.into());
            (line(result), say.status)
        }
    };
    let stderr = if stdout.is_empty() { as_text(native.stderr) } else { native.stderr };
    Reply { stdout, stderr, status }
}

/// A reason that stands alone on stderr. Gemini CLI reads JSON there where stdout is empty, and what
/// it says would beat the exit status: a reason of `{}` would let the event pass.
fn as_text(reason: String) -> String {
    let start = reason.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if start.starts_with(['{', '[', '"']) { format!("blocked: {reason}") } else { reason }
}

fn line(result: Map<String, Value>) -> String {
    if result.is_empty() { String::new() } else { format!("{}\n", Value::Object(result)) }
}

fn put(result: &mut Map<String, Value>, say: &Say, binding: Binding, value: &Value) {
    for (path, what) in say.put {
        let value = match what {
            Put::Word(word) => Value::from(*word),
            Put::Flag(flag) => Value::Bool(*flag),
            Put::Name => Value::from(binding.row.name),
            Put::Text | Put::Value => value.clone(),
            Put::Plain => match value.as_str() {
                Some(text) => Value::from(text),
                None => Value::from(value.to_string()),
            },
        };
        match (what, &value) {
            (Put::Text, Value::String(text)) => add_text(result, path, text),
            _ => place(result, path, value),
        }
    }
}

/// Puts a text at a path, below one that stands there already.
fn add_text(result: &mut Map<String, Value>, path: &str, text: &str) {
    match result.get_mut(path) {
        Some(Value::String(first)) => *first = format!("{first}\n\n{text}"),
        Some(_) | None => place(result, path, text.into()),
    }
}

/// Puts a value at a path. What already stands there stays: the form's first word wins.
fn place(result: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            result.entry(path).or_insert(value);
        }
        Some((first, rest)) => {
            let inner = result.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                place(inner, rest, value);
            }
        }
    }
}

/// What hooks object to, one a line.
fn objections(outcome: &Outcome) -> Option<String> {
    let all = outcome.notices.iter().filter(|notice| notice.kind == NoticeKind::Refusal);
    let texts: Vec<&str> = all.map(|notice| notice.text.as_str()).collect();
    if texts.is_empty() { None } else { Some(texts.join("\n")) }
}

/// What hooks said and the form has no place for.
fn unsaid(form: &ReplyForm, outcome: &Outcome) -> String {
    let mut lines = String::new();
    for said in &outcome.said {
        let texts = [
            (On::Output, "output", &said.output),
            (On::Context, "additionalContext", &said.additional_context),
        ];
        for (on, name, text) in texts {
            let has_no_place = form.say(on).is_none();
            if let Some(text) = text.as_ref().filter(|text| has_no_place && !text.trim().is_empty())
            {
                lines.push_str(&native::unsaid(&said.hook, name, text));
            }
        }
    }
    lines
}

/// What a hook says by a JSON object in this form.
///
/// # Errors
/// Why it is malformed.
pub(super) fn verdict(
    form: &'static ReplyForm,
    answer: &[(String, Value)],
) -> Result<(Verdict, Vec<String>), String> {
    let whole = Value::Object(answer.iter().cloned().collect());
    if let Some(problem) = misplaced(form, &whole) {
        return Err(problem);
    }
    let mut asks = false;
    let mut reason = None;
    let mut verdict = Verdict::new(Decision::Allow, ContractRule::Translated);
    for hear in form.reads {
        let Some(value) = at(&whole, hear.path).filter(|value| !value.is_null()) else { continue };
        let text = || match value.as_str() {
            Some(text) => Ok(text.to_string()),
            None => Err(format!("`{}` must be a JSON string", hear.path)),
        };
        match hear.says {
            HeardValue::Words { refuse, ask, pass } => {
                let text = text()?;
                let mut known = refuse.iter().chain(ask).chain(pass);
                if !known.any(|word| *word == text) {
                    return Err(unknown_word(hear.path, &text, &[refuse, ask, pass].concat()));
                }
                asks |= ask.contains(&text.as_str());
            }
            HeardValue::Flag(_) if value.is_boolean() => {}
            HeardValue::Flag(_) => return Err(format!("`{}` must be a JSON boolean", hear.path)),
            HeardValue::Objection => {
                text()?;
            }
            HeardValue::Reason => reason = reason.or(Some(text()?)),
            HeardValue::New(field) => verdict.update.push((field.to_string(), value.clone())),
            HeardValue::Context => verdict.additional_context = Some(text()?),
            HeardValue::Output => verdict.output = Some(text()?),
        }
    }
    if asks {
        let question = reason.filter(|text| !text.trim().is_empty());
        let question =
            question.unwrap_or_else(|| refusal::question(answer, std::iter::empty(), None));
        verdict.decision = Decision::Ask { question };
    }
    Ok((verdict, Vec::new()))
}

fn unknown_word(path: &str, word: &str, known: &[&str]) -> String {
    format!("`{path}` is `{word}`, which is none of `{}`", known.join("`, `"))
}

/// What is wrong with a key that decides, where it stands in another spelling, or below what is no
/// object: a refusal in it would be lost.
fn misplaced(form: &'static ReplyForm, whole: &Value) -> Option<String> {
    let plain = |key: &str| key.replace(['_', '-'], "").to_ascii_lowercase();
    for hear in form.reads {
        let (outer, key) = hear.path.rsplit_once('.').unwrap_or(("", hear.path));
        let head = outer.split('.').next().unwrap_or_default();
        if whole.get(head).is_some_and(|value| !value.is_object() && !value.is_null()) {
            return Some(format!("`{head}` must be a JSON object"));
        }
        let decides = matches!(hear.says, HeardValue::Words { .. } | HeardValue::Flag(_));
        let inner = if outer.is_empty() { None } else { at(whole, outer) };
        for place in [Some(whole), inner].into_iter().flatten().filter(|_| decides) {
            let mut keys = place.as_object()?.keys();
            if let Some(slip) = keys.find(|other| *other != key && plain(other) == plain(key)) {
                return Some(format!("`{slip}` is not a key; did you mean `{}`?", hear.path));
            }
        }
    }
    None
}

/// The reason, if the object refuses in this form.
pub(super) fn refusal(form: &'static ReplyForm, answer: &[(String, Value)]) -> Option<String> {
    let whole = Value::Object(answer.iter().cloned().collect());
    let refuses = |hear: &&Hear| {
        let Some(value) = at(&whole, hear.path) else { return false };
        match hear.says {
            HeardValue::Words { refuse, .. } => {
                value.as_str().is_some_and(|word| refuse.contains(&word))
            }
            HeardValue::Flag(flag) => *value == Value::Bool(flag),
            HeardValue::Objection => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            HeardValue::Reason | HeardValue::New(_) | HeardValue::Context | HeardValue::Output => {
                false
            }
        }
    };
    form.reads.iter().find(refuses)?;
    let of = |says: HeardValue| {
        let places = form.reads.iter().filter(move |hear| hear.says == says);
        let mut texts = places.filter_map(|hear| at(&whole, hear.path).and_then(Value::as_str));
        texts.find(|text| !text.trim().is_empty())
    };
    let reason = of(HeardValue::Objection).or_else(|| of(HeardValue::Reason));
    let elsewhere = || refusal::reason(answer, std::iter::empty(), None);
    Some(reason.map_or_else(elsewhere, str::to_string))
}

/// The value at a path of keys with dots.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}
