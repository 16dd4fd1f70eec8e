//! Encodes an outcome as a dialect's result.
//!
//! Nothing is lost that a system cannot express: a block is also on stderr and in exit status 2,
//! and texts without a place in the result become notices on stderr. In a host's form, the safest
//! measured way comes first.

use serde_json::{Map, Value};

use super::answer::place;
use super::native;
use super::results::{
    Act, KeyMeaning, ReplyForm, ReplyKey, ReplyRule, ReplySlot, ReplyValue, Results,
};
use super::row::{Binding, Reply};
use crate::engine::event::Merge;
use crate::engine::outcome::{Notice, NoticeKind, Outcome, Question, Settled, joined};

impl Binding {
    pub fn can_ask(self) -> bool {
        self.has_place(ReplySlot::Question)
    }

    /// The reply to an outcome. Questions block if the host cannot ask them.
    pub fn reply(self, outcome: &Outcome) -> Reply {
        if matches!(self.row.results, Results::Native | Results::Plugin(_)) {
            return if self.row.blocks {
                native::encode(outcome)
            } else {
                informational(outcome)
            };
        }
        let questions: &[Question] = match &outcome.settled {
            Settled::Blocked(block) => return self.block(&block.reason),
            Settled::Asked { questions } if !self.can_ask() => {
                return self.block(&joined(questions));
            }
            Settled::Asked { questions } => questions,
            Settled::Allowed => &[],
        };
        let stdout = match self.row.results {
            Results::Native | Results::Plugin(_) => String::new(),
            Results::Keys(keys) => native::line_of(self.keyed(keys, questions, outcome)),
            Results::Form(form) => native::line_of(self.filled(form, questions, outcome)),
            Results::Whole(field, _) => {
                let update = outcome.update();
                let new = update.get(field).map(|value| format!("{value}\n"));
                new.unwrap_or_default()
            }
        };
        let stderr = format!("{}{}", native::notices(outcome), self.unsent(outcome));
        Reply {
            stdout,
            stderr,
            status: native::ALLOWED,
        }
    }

    /// The reply that blocks for `reason`, only by the exit status if the system has no block here.
    pub fn block(self, reason: &str) -> Reply {
        let usual = native::block(reason);
        let text = usual.stderr.trim_end_matches('\n');
        let (result, status) = match self.row.results {
            Results::Native | Results::Plugin(_) => return usual,
            Results::Whole(..) => (Map::new(), usual.status),
            Results::Keys(keys) => (self.block_by_keys(keys, text), usual.status),
            Results::Form(form) => {
                let mut result = Map::new();
                let say = form.say(ReplySlot::Block);
                say.into_iter()
                    .for_each(|say| self.put(&mut result, say, &text.into()));
                (result, say.map_or(usual.status, |say| say.status))
            }
        };
        let stdout = native::line_of(result);
        let is_alone = stdout.is_empty() && self.row.results.form().is_some();
        let mut reply = Reply {
            stdout,
            status,
            ..usual
        };
        if is_alone {
            reply.stderr = as_text(reply.stderr);
        }
        reply
    }

    /// The blocking document for a host that sees no exit status (HTTP, or an MCP tool), with the
    /// keys that the host's hooks block with.
    pub fn block_document(self, reason: &str) -> String {
        let usual = self.block(reason);
        if !usual.stdout.is_empty() {
            return usual.stdout;
        }
        let Some(form) = self.row.results.form() else {
            return native::block(reason).stdout;
        };
        let has_own = form.reads.iter().any(|key| key.says.has_word(Act::Block));
        let keys = if has_own { form.reads } else { form.shares };
        let mut result = Map::new();
        for (path, value) in self.block_by_keys(keys, reason) {
            place(&mut result, &path, value);
        }
        if result.contains_key("hookSpecificOutput") {
            place(&mut result, super::prelude::NAMED.0, self.row.name.into());
        }
        native::line_of(result)
    }

    /// Whether its results can express `on`.
    fn has_place(self, on: ReplySlot) -> bool {
        match self.row.results {
            Results::Form(form) => form.say(on).is_some(),
            Results::Native | Results::Whole(..) | Results::Plugin(_) => false,
            Results::Keys(keys) => keys.iter().any(|key| match on {
                ReplySlot::Question => matches!(key.says, KeyMeaning::Question(_)),
                ReplySlot::Context => key.says == KeyMeaning::Context,
                ReplySlot::Output => key.says == KeyMeaning::Output,
                ReplySlot::Block
                | ReplySlot::Objection
                | ReplySlot::Consent
                | ReplySlot::New(_) => false,
            }),
        }
    }

    /// Texts of hooks that the result has no place for.
    fn unsent(self, outcome: &Outcome) -> String {
        let mut lines = String::new();
        for from_hook in &outcome.texts {
            let hook = &from_hook.hook;
            let context = &from_hook.additional_context;
            for (on, name, text) in [
                (ReplySlot::Output, "output", &from_hook.output),
                (ReplySlot::Context, "additionalContext", context),
            ] {
                let text = text.as_ref().filter(|text| !text.trim().is_empty());
                if let Some(text) = text.filter(|_| !self.has_place(on)) {
                    let host = self.dialect.name;
                    let line = format!("hook `{hook}`: {host} cannot show its `{name}`: {text}\n");
                    lines.push_str(&line);
                }
            }
        }
        lines
    }

    /// The result for a [`Results::Keys`] event that continues.
    fn keyed(
        self,
        keys: &[ReplyKey],
        questions: &[Question],
        outcome: &Outcome,
    ) -> Map<String, Value> {
        let update = outcome.update();
        let mut result = Map::new();
        let mut context = outcome.additional_context().map(Value::from);
        for key in keys {
            let mut name = key.name;
            let mut value = None;
            match key.says {
                KeyMeaning::Field(field, _) => value = update.get(field).cloned(),
                KeyMeaning::Entry(field, merge) => match added(outcome, field, merge) {
                    several if several.len() > 1 => (name, value) = (field, Some(several.into())),
                    mut one => value = one.pop(),
                },
                KeyMeaning::Question(_) if questions.is_empty() => {}
                KeyMeaning::Question(entries) => value = Some(approval(questions, entries)),
                // The first key for context takes all of it.
                KeyMeaning::Context => value = context.take(),
                KeyMeaning::Output => value = outcome.output().map(Value::from),
                KeyMeaning::Block(_)
                | KeyMeaning::Objection
                | KeyMeaning::Reason
                | KeyMeaning::Action(_) => {}
            }
            result.extend(value.map(|value| (name.to_string(), value)));
        }
        with_action(result, keys, &update)
    }

    fn block_by_keys(self, keys: &[ReplyKey], reason: &str) -> Map<String, Value> {
        let has_word = keys.iter().any(|key| key.says.has_word(Act::Block));
        let mut all = keys.iter();
        let by_key = all.any(|key| matches!(key.says, KeyMeaning::Block(_)));
        let mut result = Map::new();
        for key in keys {
            let value = match key.says {
                // The word already blocks.
                KeyMeaning::Block(_) if has_word => None,
                KeyMeaning::Block(flag) => Some(flag.into()),
                KeyMeaning::Reason | KeyMeaning::Objection => Some(reason.into()),
                KeyMeaning::Action(words) => {
                    let block = words.iter().find(|(_, act)| *act == Act::Block);
                    let claim = words.iter().find(|(_, act)| matches!(act, Act::Claim(_)));
                    block.or(claim).map(|(word, _)| Value::from(*word))
                }
                // A claim is the strictest answer: the model never sees the event.
                KeyMeaning::Field(_, Merge::Claim) if self.row.blocks && !by_key => {
                    Some(true.into())
                }
                KeyMeaning::Field(..)
                | KeyMeaning::Entry(..)
                | KeyMeaning::Question(_)
                | KeyMeaning::Context
                | KeyMeaning::Output => None,
            };
            result.extend(value.map(|value| (key.name.to_string(), value)));
        }
        result
    }

    /// The result for a [`Results::Form`] event that continues.
    fn filled(
        self,
        form: &ReplyForm,
        questions: &[Question],
        outcome: &Outcome,
    ) -> Map<String, Value> {
        let mut result = Map::new();
        let update = outcome.update();
        for say in form.writes {
            let value = match say.on {
                ReplySlot::Block => None,
                ReplySlot::Objection => objections(outcome).map(Value::from),
                ReplySlot::Question if questions.is_empty() => None,
                ReplySlot::Question => Some(joined(questions).into()),
                ReplySlot::Consent => questions.is_empty().then_some(Value::Null),
                ReplySlot::New(field) => update.get(field).cloned(),
                ReplySlot::Context => outcome.additional_context().map(Value::from),
                ReplySlot::Output => outcome.output().map(Value::from),
            };
            if let Some(value) = value {
                self.put(&mut result, say, &value);
            }
        }
        result
    }

    fn put(self, result: &mut Map<String, Value>, say: &ReplyRule, value: &Value) {
        for (path, what) in say.put {
            let value = match (what, value) {
                (ReplyValue::Word(word), _) => Value::from(*word),
                (ReplyValue::Flag(flag), _) => Value::Bool(*flag),
                (ReplyValue::Name, _) => Value::from(self.row.name),
                // Appended to an earlier text at the same place.
                (ReplyValue::Text, Value::String(text)) => match result.remove(*path) {
                    Some(Value::String(first)) => Value::from(format!("{first}\n\n{text}")),
                    _ => value.clone(),
                },
                (ReplyValue::Text | ReplyValue::Value, _)
                | (ReplyValue::Plain, Value::String(_)) => value.clone(),
                (ReplyValue::Plain, _) => Value::from(value.to_string()),
            };
            place(result, path, value);
        }
    }
}

/// The blocking document for an unknown event of a host that sees no exit status: the keys that any
/// of its gates reads. A document that names an event would be wrong for the others.
pub(crate) fn block_of_any(dialect: Option<&'static super::row::Host>, reason: &str) -> String {
    let mut whole = entries(&native::block(reason).stdout);
    if let Some(dialect) = dialect {
        for row in dialect.events.iter().filter(|row| row.blocks) {
            let own = entries(&Binding { dialect, row }.block_document(reason));
            for (key, value) in own.into_iter().filter(|(_, value)| !value.is_object()) {
                whole.entry(key).or_insert(value);
            }
        }
    }
    native::line_of(whole)
}

fn entries(document: &str) -> Map<String, Value> {
    serde_json::from_str(document).unwrap_or_default()
}

fn added(outcome: &Outcome, field: &str, merge: Merge) -> Vec<Value> {
    let applied = outcome.rewrites.iter().filter(|one| one.field == field);
    let lists = applied.filter(|one| one.rejected.is_none()).map(|one| {
        let old = one.old.as_array().filter(|_| merge == Merge::Append);
        let before = old.map_or(0, Vec::len);
        let list = one.new.as_array().and_then(|list| list.get(before..));
        list.unwrap_or_default().to_vec()
    });
    lists.flatten().collect()
}

/// The reply to an observed event in the native format. An objection is still sent as a structured
/// result: loom shows it to the model and continues. It includes the texts of other hooks, because
/// loom reads only the reason for a block.
fn informational(outcome: &Outcome) -> Reply {
    let usual = native::encode(outcome);
    let mut texts: Vec<String> = Vec::new();
    for Notice { kind, text, .. } in &outcome.notices {
        if matches!(kind, NoticeKind::Block | NoticeKind::Failure) {
            texts.push(text.clone());
        }
    }
    if texts.is_empty() {
        return usual;
    }
    texts.extend(outcome.output());
    texts.extend(outcome.additional_context());
    let reason = native::shortened(&texts.join("\n\n"));
    let entries = [("continue", false.into()), ("reason", reason.into())];
    Reply {
        stdout: native::line(entries.map(|(key, value)| (key, Some(value)))),
        ..usual
    }
}

/// Keeps a reason from being read as JSON: Gemini CLI parses stderr if stdout is empty.
fn as_text(reason: String) -> String {
    let start = reason.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if start.starts_with(['{', '[', '"']) {
        return format!("blocked: {reason}");
    }
    reason
}

fn objections(outcome: &Outcome) -> Option<String> {
    let notices = outcome.notices.iter();
    let blocks = notices.filter(|notice| notice.kind == NoticeKind::Block);
    let texts: Vec<&str> = blocks.map(|notice| notice.text.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn approval(questions: &[Question], entries: &[(&str, &str)]) -> Value {
    let hooks = questions.iter().map(|one| format!("`{}`", one.hook));
    let hooks: Vec<String> = hooks.collect();
    let own = [
        ("title", joined(questions)),
        ("description", format!("question from {}", hooks.join(", "))),
    ];
    let more = entries.iter().map(|(key, value)| (*key, value.to_string()));
    own.into_iter().chain(more).collect()
}

/// Adds the word that says what the result is.
fn with_action(
    result: Map<String, Value>,
    keys: &[ReplyKey],
    update: &Map<String, Value>,
) -> Map<String, Value> {
    let Some((name, words)) = super::answer::action_of(keys) else {
        return result;
    };
    let claim = words.iter().find(|(_, act)| match act {
        Act::Claim(field) => update.get(*field) == Some(&Value::Bool(true)),
        Act::Pass | Act::Allow | Act::Rewrite | Act::Ask | Act::Block => false,
    });
    let mut word = claim;
    if word.is_none() && !result.is_empty() {
        word = words.iter().find(|(_, act)| *act == Act::Rewrite);
    }
    let Some((word, _)) = word else { return result };
    let mut whole = Map::from_iter([(name.to_string(), Value::from(*word))]);
    if claim.is_none() {
        whole.extend(result);
    }
    whole
}
