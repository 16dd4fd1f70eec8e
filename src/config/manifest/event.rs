//! `[event."name"]`: an event that a user declares.

use std::borrow::Cow;

use crate::config::reader::{DocumentReader, KeyRow, Setting};
use crate::config::tree::TreeEntry;
use crate::config::value::{KeyValue, words};
use crate::engine::complaint::Complaint;
use crate::engine::event::{
    Conduct, ContextKey, EventSpec, JsonType, Merge, OnFailure, Rewrite, Schedule, catalog,
};

/// The keys of an `[event."name"]` table: an event of your own.
#[rustfmt::skip]
pub const EVENT_KEYS: &[KeyRow<EventDraft>] = &[
    KeyRow::key("summary", KeyValue::Text, "required", "completes \"runs when …\"",
        |draft, key| key.text().map(|text| draft.summary = Some(text.to_string()))),
    KeyRow::key("blocks", KeyValue::Flag, "true", "a hook can block it",
        |draft, key| key.flag().map(|flag| draft.blocks = Some(flag))),
    KeyRow::key("on_failure", KeyValue::OneOf(|| words(OnFailure::NAMES)), "\"block\" if it can be blocked", "what a failing hook means",
        |draft, key| key.one_of(OnFailure::NAMES).map(|means| draft.on_failure = Some(means))),
    KeyRow::key("schedule", KeyValue::OneOf(|| words(Schedule::NAMES)), "\"sequential\"", "how its hooks run",
        |draft, key| key.one_of(Schedule::NAMES).map(|schedule| draft.schedule = Some(schedule))),
    KeyRow::key("context", KeyValue::Map(&KeyValue::OneOf(|| words(JsonType::NAMES))), "empty", "field = JSON type, for samples and schemas", set_context),
    KeyRow::key("required", KeyValue::Texts, "none", "keys of `context` without which nothing is decided",
        |draft, key| key.texts().map(|keys| draft.required = keys.into_iter().map(|key| key.value).collect())),
    KeyRow::key("rewrites", KeyValue::Map(&KeyValue::OneOf(|| words(Merge::NAMES))), "empty", "field = merge rule, for what hooks may rewrite", set_rewrites),
];

#[derive(Debug, Default)]
pub struct EventDraft {
    summary: Option<String>,
    blocks: Option<bool>,
    on_failure: Option<OnFailure>,
    schedule: Option<Schedule>,
    context: Vec<ContextKey>,
    required: Vec<String>,
    rewrites: Vec<Rewrite>,
}

pub(super) fn read(reader: &mut DocumentReader<'_>, entry: &TreeEntry) -> Option<EventSpec> {
    let before = reader.problems.len();
    let name = entry.key.as_str();
    let at = entry.at;
    let mut draft = EventDraft::default();
    reader.meant.clear();
    match entry.tree.entries() {
        Some(table) => reader.take(table, EVENT_KEYS, "", &mut draft),
        None => {
            let cure = format!("write `[event.\"{name}\"]`");
            reader.fault(entry.tree.offset, "an event is not a table", cure);
            return None;
        }
    }
    if let Some(complaint) = bad_name(name) {
        reader.complain(at, complaint);
    }
    if entry.tree.at(&["summary"]).is_none() && !reader.meant.contains(&"summary") {
        reader.fault(at, "the event has no `summary`", "complete \"runs when …\"");
    }
    let is_declared = |key: &&String| draft.context.iter().any(|known| known.name == **key);
    if let Some(key) = draft.required.iter().find(|key| !is_declared(key)) {
        let cause = format!("`required` names `{key}`, and `context` has no such key");
        reader.fault(at, cause, format!("add `{key} = \"string\"` to `context`"));
    }
    if draft.schedule == Some(Schedule::Detached) && draft.blocks != Some(false) {
        let cause = "a detached event cannot be blocked: nothing waits for its hooks";
        reader.fault(
            at,
            cause,
            "add `blocks = false`, or choose another schedule",
        );
    }
    (reader.problems.len() == before).then(|| draft.spec(name))
}

fn set_context(draft: &mut EventDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for (name, kind) in named(key, JsonType::NAMES, "a JSON type")? {
        let about = "declared in hookrun.toml".into();
        let sample = kind.sample().into();
        draft.context.push(ContextKey {
            name: name.into(),
            kind,
            about,
            sample,
        });
    }
    Ok(())
}

fn set_rewrites(draft: &mut EventDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for (field, merge) in named(key, Merge::NAMES, "a merge rule")? {
        draft.rewrites.push(Rewrite {
            field: field.into(),
            merge,
        });
    }
    Ok(())
}

/// The entries of a table, each with the value that its word names.
fn named<V: Copy>(
    key: &mut Setting<'_, '_>,
    names: &[(V, &'static str)],
    takes: &str,
) -> Result<Vec<(String, V)>, Complaint> {
    let mut found = Vec::new();
    for entry in key.table()? {
        match names
            .iter()
            .find(|(_, name)| entry.tree.text() == Some(name))
        {
            Some((value, _)) => found.push((entry.key.clone(), *value)),
            None => {
                let cause = format!("`{}.{}` takes {takes}", key.name, entry.key);
                let cure = format!("one of {}", words(names).join(", "));
                key.reader.fault(entry.tree.offset, cause, cure);
            }
        }
    }
    Ok(found)
}

impl EventDraft {
    fn spec(mut self, name: &str) -> EventSpec {
        // Two declarations are the same in whichever order they name their fields.
        self.context.sort_by(|a, b| a.name.cmp(&b.name));
        self.rewrites.sort_by(|a, b| a.field.cmp(&b.field));
        let blocks = self.blocks.unwrap_or(true);
        let by_default = if blocks {
            OnFailure::Block
        } else {
            OnFailure::Allow
        };
        EventSpec {
            name: name.to_string().into(),
            summary: self.summary.unwrap_or_default().into(),
            aliases: &[],
            context: self.context.into(),
            required: self.required.into_iter().map(Cow::from).collect(),
            blocks,
            rewrites: self.rewrites.into(),
            on_failure: self.on_failure.unwrap_or(by_default),
            schedule: self.schedule.unwrap_or(Schedule::Sequential),
            conduct: Conduct::USUAL,
        }
    }
}

fn bad_name(name: &str) -> Option<Complaint> {
    if let Some(known) = catalog::find(name) {
        let cause = format!("`{name}` is already an event: {}", known.summary);
        return Some(Complaint::with_cure(cause, "give yours another name"));
    }
    if catalog::command_name(name).is_some() {
        let cause = format!("`{name}` is a command, which needs no declaration");
        let cure = "bind a hook to it: `event = \"command.NAME\"`, with a `description`";
        return Some(Complaint::with_cure(cause, cure));
    }
    let part_is_good = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    if name.split('.').all(part_is_good) {
        return None;
    }
    let cause = format!("`{name}` cannot be the name of an event");
    let cure = "use letters, digits, `-` and dots between them: `deploy.pre`";
    Some(Complaint::with_cure(cause, cure))
}
