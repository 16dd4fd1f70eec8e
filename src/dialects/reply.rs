//! An outcome becomes a dialect's result.
//!
//! What a system cannot say is not lost: the refusal is on stderr and in the exit status 2 as
//! well, and texts that its results have no place for are notices on stderr.

use serde_json::{Map, Value};

use super::results::{Act, KeyMeaning, ReplyKey, Results};
use super::row::{Binding, Reply};
use super::{form, native};
use crate::engine::event::Merge;
use crate::engine::outcome::{Notice, NoticeKind, Outcome, Question, Settled, joined};

impl Binding {
    /// Whether a question can go to the host, which then asks its own user.
    pub fn can_ask(self) -> bool {
        match self.row.results {
            Results::Keys(keys) => {
                keys.iter().any(|key| matches!(key.says, KeyMeaning::Question(_)))
            }
            Results::Form(form) => form.can_ask(),
            Results::Native | Results::Whole(_) => false,
        }
    }

    /// The reply to an outcome. Questions refuse where the host cannot ask them.
    pub fn reply(self, outcome: &Outcome) -> Reply {
        let keys = match self.row.results {
            Results::Native if self.row.blocks => return native::encode(outcome),
            Results::Native => return informational(outcome),
            Results::Form(form) => return form::reply(self, form, outcome),
            Results::Keys(keys) => keys,
            Results::Whole(field) => return whole(field, outcome),
        };
        let questions: &[Question] = match &outcome.settled {
            Settled::Refused(refusal) => return self.refuse(&refusal.reason),
            Settled::Asked { questions } if !self.can_ask() => {
                return self.refuse(&joined(questions));
            }
            Settled::Asked { questions } => questions,
            Settled::Allowed => &[],
        };
        let mut result = Map::new();
        let update = outcome.update();
        for key in keys {
            match key.says {
                KeyMeaning::Refusal | KeyMeaning::Reason | KeyMeaning::Action(_) => {}
                KeyMeaning::Field(field) => {
                    insert(&mut result, key.name, update.get(field).cloned())
                }
                KeyMeaning::Entry { field, list } => {
                    let added = self.added(outcome, field);
                    match added.as_slice() {
                        [] => {}
                        [one] => insert(&mut result, key.name, Some(one.clone())),
                        _ => insert(&mut result, list, Some(Value::Array(added))),
                    }
                }
                KeyMeaning::Question(_) if questions.is_empty() => {}
                KeyMeaning::Question(entries) => {
                    insert(&mut result, key.name, Some(approval(questions, entries)));
                }
                // The first place for context takes all of it.
                KeyMeaning::Context if is_first_of(keys, key) => {
                    let context = outcome.additional_context().map(Value::from);
                    insert(&mut result, key.name, context);
                }
                KeyMeaning::Context => {}
                KeyMeaning::Output => {
                    insert(&mut result, key.name, outcome.output().map(Value::from))
                }
            }
        }
        let result = with_action(result, keys, &update);
        let stderr = format!("{}{}", native::notices(outcome), unsaid(keys, outcome));
        Reply { stdout: line(result), stderr, status: native::ALLOWED }
    }

    /// The reply that refuses for `reason`. An event that this system cannot refuse is refused by
    /// the exit status alone.
    pub fn refuse(self, reason: &str) -> Reply {
        let native = native::refuse(reason);
        let keys = match self.row.results {
            Results::Native => return native,
            Results::Form(form) => return form::refuse(self, form, reason),
            Results::Keys(keys) => keys,
            Results::Whole(_) => &[],
        };
        let mut result = Map::new();
        let words = super::answer::action_of(keys).map_or(&[][..], |(_, words)| words);
        let has_word = words.iter().any(|(_, act)| *act == Act::Refuse);
        let refuses_by_key = keys.iter().any(|key| key.says == KeyMeaning::Refusal);
        for key in keys {
            match key.says {
                // One place says it.
                KeyMeaning::Refusal if has_word => {}
                KeyMeaning::Refusal => insert(&mut result, key.name, Some(true.into())),
                KeyMeaning::Reason => {
                    let reason = native.stderr.trim_end_matches('\n');
                    insert(&mut result, key.name, Some(reason.into()));
                }
                KeyMeaning::Action(words) => {
                    let refuses = |(_, act): &&(&str, Act)| *act == Act::Refuse;
                    let claims = |(_, act): &&(&str, Act)| matches!(act, Act::Claim(_));
                    let word = words.iter().find(refuses).or_else(|| words.iter().find(claims));
                    insert(&mut result, key.name, word.map(|(word, _)| Value::from(*word)));
                }
                // To take it is the strictest that can be said: the model never sees it.
                KeyMeaning::Field(field)
                    if self.row.blocks && !refuses_by_key && self.row.claims(field) =>
                {
                    insert(&mut result, key.name, Some(true.into()));
                }
                KeyMeaning::Field(_)
                | KeyMeaning::Entry { .. }
                | KeyMeaning::Question(_)
                | KeyMeaning::Context
                | KeyMeaning::Output => {}
            }
        }
        Reply { stdout: line(result), ..native }
    }

    /// What hooks have added to a list, in plan order.
    fn added(self, outcome: &Outcome, field: &str) -> Vec<Value> {
        let rule = self.row.rewrites.iter().find(|rewrite| rewrite.field == field);
        let appends = rule.is_some_and(|rewrite| rewrite.merge == Merge::Append);
        let applied = outcome.rewrites.iter().filter(|one| one.field == field);
        let lists = applied.filter(|one| one.rejected.is_none()).map(|one| {
            let before = one.old.as_array().filter(|_| appends).map_or(0, Vec::len);
            let list = one.new.as_array().and_then(|list| list.get(before..));
            list.unwrap_or_default().to_vec()
        });
        lists.flatten().collect()
    }
}

/// The reply to an event that a host in our words only tells of. An objection is a structured
/// result all the same: loom tells the model of it, and goes on. What other hooks said goes with
/// it, because beside a refusal loom reads nothing but the reason.
fn informational(outcome: &Outcome) -> Reply {
    let native = native::encode(outcome);
    let objects = |notice: &&Notice| match notice.kind {
        NoticeKind::Refusal | NoticeKind::Failure => true,
        NoticeKind::Question | NoticeKind::Own => false,
    };
    let objections = outcome.notices.iter().filter(objects).map(|notice| notice.text.clone());
    let mut texts: Vec<String> = objections.collect();
    if texts.is_empty() {
        return native;
    }
    texts.extend(outcome.output().into_iter().chain(outcome.additional_context()));
    let reason = native::shortened(&texts.join("\n\n"));
    let mut result = Map::new();
    insert(&mut result, "continue", Some(false.into()));
    insert(&mut result, "reason", Some(reason.into()));
    Reply { stdout: line(result), ..native }
}

fn is_first_of(keys: &[ReplyKey], key: &ReplyKey) -> bool {
    keys.iter().find(|one| one.says == key.says) == Some(key)
}

/// What a host asks its user.
fn approval(questions: &[Question], entries: &[(&str, &str)]) -> Value {
    let hooks: Vec<String> = questions.iter().map(|one| format!("`{}`", one.hook)).collect();
    let mut approval = Map::new();
    approval.insert("title".to_string(), joined(questions).into());
    approval
        .insert("description".to_string(), format!("question from {}", hooks.join(", ")).into());
    approval.extend(entries.iter().map(|(key, value)| ((*key).to_string(), (*value).into())));
    approval.into()
}

fn insert(result: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        result.insert(name.to_string(), value);
    }
}

fn line(result: Map<String, Value>) -> String {
    if result.is_empty() { String::new() } else { format!("{}\n", Value::Object(result)) }
}

/// The result with the word before it that says what it is.
fn with_action(
    result: Map<String, Value>,
    keys: &[ReplyKey],
    update: &Map<String, Value>,
) -> Map<String, Value> {
    let Some((name, words)) = super::answer::action_of(keys) else { return result };
    let fits = |(_, act): &&(&str, Act)| match act {
        Act::Claim(field) => update.get(*field) == Some(&Value::Bool(true)),
        Act::Rewrite | Act::Pass | Act::Refuse => false,
    };
    let rewrites = |(_, act): &&(&str, Act)| *act == Act::Rewrite;
    let claim = words.iter().find(fits);
    let word = claim.or_else(|| words.iter().find(rewrites).filter(|_| !result.is_empty()));
    let Some((word, _)) = word else { return result };
    let mut whole = Map::new();
    whole.insert(name.to_string(), Value::from(*word));
    if claim.is_none() {
        whole.extend(result);
    }
    whole
}

/// Results that are the new value of one field.
fn whole(field: &str, outcome: &Outcome) -> Reply {
    let refused = match &outcome.settled {
        Settled::Refused(refusal) => Some(refusal.reason.clone()),
        Settled::Asked { questions } => Some(joined(questions)),
        Settled::Allowed => None,
    };
    if let Some(reason) = refused {
        return Reply { stdout: String::new(), ..native::refuse(&reason) };
    }
    let new = outcome.update().get(field).map(|value| format!("{value}\n"));
    let stderr = format!("{}{}", native::notices(outcome), unsaid(&[], outcome));
    Reply { stdout: new.unwrap_or_default(), stderr, status: native::ALLOWED }
}

/// What hooks said and the result has no place for.
fn unsaid(keys: &[ReplyKey], outcome: &Outcome) -> String {
    let has = |says: KeyMeaning| keys.iter().any(|key| key.says == says);
    let mut lines = String::new();
    for said in &outcome.said {
        let texts = [
            (KeyMeaning::Output, "output", &said.output),
            (KeyMeaning::Context, "additionalContext", &said.additional_context),
        ];
        for (says, name, text) in texts {
            if let Some(text) = text.as_ref().filter(|text| !has(says) && !text.trim().is_empty()) {
                lines.push_str(&native::unsaid(&said.hook, name, text));
            }
        }
    }
    lines
}
