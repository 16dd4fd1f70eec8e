//! `[event."NAME"]` tables: custom events, and settings of built-in ones.

use std::borrow::Cow;
use std::time::Duration;

use super::problem::Position;
use super::reader::{DocumentReader, KeyRow, Setting, names, specs};
use super::tree::TreeEntry;
use super::value::{KeyValue, words};
use crate::engine::complaint::Complaint;
use crate::engine::event::{
    Conduct, ContextKey, EventSpec, JsonType, Merge, OnFailure, Rewrite, Schedule, Stop, catalog,
};

#[derive(Debug, Default)]
pub(super) struct EventTables {
    pub(super) declared: Vec<(EventSpec, Position)>,
    pub(super) settings: Vec<EventSettings>,
    /// Names of events whose declaration has a mistake, so that they are not reported as unknown.
    pub(super) misdeclared: Vec<String>,
}

#[derive(Debug)]
pub(super) struct EventSettings {
    pub(super) event: &'static str,
    pub(super) stop: Option<Stop>,
    pub(super) timeout: Option<Duration>,
}

pub(super) fn set_events(
    events: &mut EventTables,
    key: &mut Setting<'_, '_>,
) -> Result<(), Complaint> {
    let Some(tables) = key.tree.entries() else {
        let cure = "write `[event.\"deploy.pre\"]`";
        return Err(Complaint::with_cure("`event` is not a table", cure));
    };
    for entry in tables {
        if let Some(known) = catalog::find(&entry.key) {
            let settings = read_settings(key.reader, entry, known);
            events.settings.extend(settings);
            continue;
        }
        match read_event(key.reader, entry) {
            Some(spec) => events.declared.push((spec, key.reader.at(entry.at))),
            None => events.misdeclared.push(entry.key.clone()),
        }
    }
    Ok(())
}

/// The keys of an `[event."name"]` table: all for a custom event, the first two for a built-in one.
#[rustfmt::skip]
pub const EVENT_KEYS: &[KeyRow<EventDraft>] = &[
    KeyRow::key("stop", KeyValue::OneOf(|| words(Stop::NAMES)), "\"never\" for git events, else \"first\"", "when a block stops the remaining hooks: after the `first` block, after the `group` of hooks with the same priority, or `never`",
        |draft, key| key.one_of(Stop::NAMES).map(|stop| draft.stop = Some(stop))),
    KeyRow::key("timeout", KeyValue::Duration, "\"60s\" for git events, else \"5s\"", "the timeout of hooks that do not set their own",
        |draft, key| key.duration().map(|time| draft.timeout = Some(time))),
    KeyRow::key("summary", KeyValue::Text, "the event's name", "completes \"runs when …\"",
        |draft, key| key.text().map(|text| draft.summary = Some(text.to_string()))),
    KeyRow::key("blocks", KeyValue::Flag, "true", "a hook can block it",
        |draft, key| key.flag().map(|flag| draft.blocks = Some(flag))),
    KeyRow::key("on_failure", KeyValue::OneOf(|| words(OnFailure::NAMES)), "\"block\" if it can be blocked", "the result of a failing hook",
        |draft, key| key.one_of(OnFailure::NAMES).map(|means| draft.on_failure = Some(means))),
    KeyRow::key("schedule", KeyValue::OneOf(|| words(Schedule::NAMES)), "\"sequential\"", "how its hooks run",
        |draft, key| key.one_of(Schedule::NAMES).map(|schedule| draft.schedule = Some(schedule))),
    KeyRow::key("context", KeyValue::Map(&KeyValue::OneOf(|| words(JsonType::NAMES))), "empty", "field = JSON type; a value of another type blocks", set_context),
    KeyRow::key("required", KeyValue::Texts, "none", "keys that `context` must have",
        |draft, key| key.texts().map(|keys| draft.required = keys.into_iter().map(|key| key.value).collect())),
    KeyRow::key("rewrites", KeyValue::Map(&KeyValue::OneOf(|| words(Merge::NAMES))), "empty", "field = merge rule, for fields that hooks may rewrite", set_rewrites),
];

/// How many of [`EVENT_KEYS`] a built-in event accepts.
const BUILT_IN_KEYS: usize = 2;

/// The value of an event's table: a declaration, or settings of a built-in event.
pub(super) const EVENT_TABLE: KeyValue = KeyValue::Either(&[
    KeyValue::Table(|| specs(EVENT_KEYS)),
    KeyValue::Table(|| specs(&EVENT_KEYS[..BUILT_IN_KEYS])),
]);

#[derive(Debug, Default)]
pub struct EventDraft {
    stop: Option<Stop>,
    timeout: Option<Duration>,
    summary: Option<String>,
    blocks: Option<bool>,
    on_failure: Option<OnFailure>,
    schedule: Option<Schedule>,
    context: Vec<ContextKey>,
    required: Vec<String>,
    rewrites: Vec<Rewrite>,
}

fn read_settings(
    reader: &mut DocumentReader<'_>,
    entry: &TreeEntry,
    known: &'static EventSpec,
) -> Option<EventSettings> {
    let before = reader.problems.len();
    let name = &entry.key;
    let (settings, others) = EVENT_KEYS.split_at(BUILT_IN_KEYS);
    let table = entry.tree.entries().unwrap_or_default();
    let others = names(others);
    if table.iter().any(|it| others.contains(&it.key.as_str())) {
        let cause = format!("`{name}` is already a built-in event ({})", known.summary);
        let cure = "rename your event; for a built-in event you can set only `stop` and `timeout`";
        reader.fault(entry.at, cause, cure);
        return None;
    }
    if table.is_empty() {
        let cause = format!("`[event.\"{name}\"]` sets nothing");
        let cure = if known.blocks {
            "add `stop` or `timeout`, or remove the table"
        } else {
            "add `timeout`, or remove the table"
        };
        reader.fault(entry.at, cause, cure);
    }
    let mut draft = EventDraft::default();
    reader.take(table, settings, "", &mut draft);
    check_stop(&draft, reader, entry, known.blocks);
    (reader.problems.len() == before).then_some(EventSettings {
        event: &known.name,
        stop: draft.stop,
        timeout: draft.timeout,
    })
}

fn check_stop(
    draft: &EventDraft,
    reader: &mut DocumentReader<'_>,
    entry: &TreeEntry,
    is_gate: bool,
) {
    if draft.stop.is_some() && !is_gate {
        let cause = format!("`stop` has no effect: `{}` cannot be blocked", entry.key);
        reader.fault(entry.at, cause, "remove `stop`");
    }
}

fn read_event(reader: &mut DocumentReader<'_>, entry: &TreeEntry) -> Option<EventSpec> {
    let before = reader.problems.len();
    let name = entry.key.as_str();
    let at = entry.at;
    let Some(table) = entry.tree.entries() else {
        let cure = format!("write `[event.\"{name}\"]`");
        let cause = format!("the event `{name}` is not a table");
        reader.fault(entry.tree.offset, cause, cure);
        return None;
    };
    let mut draft = EventDraft::default();
    reader.meant.clear();
    reader.take(table, EVENT_KEYS, "", &mut draft);
    if let Some(complaint) = bad_name(name) {
        reader.complain(at, complaint);
    }
    let declared: Vec<&str> = draft.context.iter().map(|key| key.name.as_ref()).collect();
    let mut required = draft.required.iter();
    if let Some(key) = required.find(|key| !declared.contains(&key.as_str())) {
        let cause = format!("`required` names `{key}`, but `context` has no such key");
        reader.fault(at, cause, format!("add `{key} = \"string\"` to `context`"));
    }
    check_stop(&draft, reader, entry, draft.blocks.unwrap_or(true));
    if draft.schedule == Some(Schedule::Detached) && draft.blocks != Some(false) {
        let cause = "an event with `schedule = \"detached\"` cannot be blocked, because hookrun does not wait for its hooks";
        let cure = "add `blocks = false`, or choose another schedule";
        reader.fault(at, cause, cure);
    }
    (reader.problems.len() == before).then(|| draft.spec(name))
}

fn set_context(draft: &mut EventDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for (name, kind) in named(key, JsonType::NAMES)? {
        draft.context.push(ContextKey {
            name: name.into(),
            kind,
            about: "declared in hookrun.toml".into(),
            sample: kind.sample().into(),
        });
    }
    Ok(())
}

fn set_rewrites(draft: &mut EventDraft, key: &mut Setting<'_, '_>) -> Result<(), Complaint> {
    for (field, merge) in named(key, Merge::NAMES)? {
        let field = field.into();
        draft.rewrites.push(Rewrite { field, merge });
    }
    Ok(())
}

/// The entries of a table, with the values of their words.
fn named<V: Copy>(
    key: &mut Setting<'_, '_>,
    names: &[(V, &'static str)],
) -> Result<Vec<(String, V)>, Complaint> {
    let mut found = Vec::new();
    for entry in key.table()? {
        let text = entry.tree.text();
        if let Some((value, _)) = names.iter().find(|(_, name)| text == Some(name)) {
            found.push((entry.key.clone(), *value));
            continue;
        }
        let written = entry.tree.describe();
        let cause = format!("`{}.{}` cannot be {written}", key.name, entry.key);
        let cure = format!("write one of {}", words(names).join(", "));
        key.reader.fault(entry.tree.offset, cause, cure);
    }
    Ok(found)
}

impl EventDraft {
    fn spec(mut self, name: &str) -> EventSpec {
        // The order of fields does not matter when declarations are compared.
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
            summary: self.summary.unwrap_or_else(|| name.to_string()).into(),
            aliases: &[],
            context: self.context.into(),
            required: self.required.into_iter().map(Cow::from).collect(),
            blocks,
            rewrites: self.rewrites.into(),
            on_failure: self.on_failure.unwrap_or(by_default),
            schedule: self.schedule.unwrap_or(Schedule::Sequential),
            conduct: Conduct {
                stop: self.stop.unwrap_or_default(),
                timeout: self.timeout,
                ..Conduct::USUAL
            },
        }
    }
}

fn bad_name(name: &str) -> Option<Complaint> {
    if catalog::command_name(name).is_some() {
        let cause = format!("`{name}` is a command and needs no declaration");
        let cure = format!("bind a hook to it: `event = \"{name}\"`, with a `description`");
        return Some(Complaint::with_cure(cause, cure));
    }
    let has_good_letters = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if has_good_letters && !name.split('.').any(str::is_empty) {
        return None;
    }
    let cause = format!("`{name}` cannot be the name of an event");
    let cure = "use letters, digits, `-`, `_`, and dots between them: `deploy.pre`";
    Some(Complaint::with_cure(cause, cure))
}
