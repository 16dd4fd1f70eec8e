//! `[event."name"]`: an event of one's own.

use std::borrow::Cow;

use toml::Spanned;

use super::{ManifestReader, ManifestValue, given};
use crate::config::draft::{SettingValue, one_of};
use crate::config::keys::{EVENT_KEYS, KeyRow, KeyValue, merges};
use crate::config::problem::Position;
use crate::engine::complaint::Complaint;
use crate::engine::event::{
    Conduct, ContextKey, EventSpec, JsonType, Merge, OnFailure, Rewrite, Schedule, catalog,
};

impl ManifestReader<'_> {
    pub(super) fn event(
        &mut self,
        name: &Spanned<Cow<'_, str>>,
        value: &ManifestValue<'_>,
    ) -> Option<(EventSpec, Position)> {
        let before = self.problems.len();
        let start = name.span().start;
        let mut parts = EventParts::default();
        for (key, value) in self.table(value, "an event")? {
            let Some(row) = self.row(EVENT_KEYS, key) else { continue };
            if let Err(fault) = self.event_key(&mut parts, row, value) {
                self.fault(fault, value.span().start);
            }
        }
        let name = name.get_ref().to_string();
        if let Some(fault) = bad_event_name(&name) {
            self.fault(fault, start);
        }
        if parts.summary.is_none() {
            let fault =
                Complaint::with_cure("the event has no `summary`", "complete \"runs when …\"");
            self.fault(fault, start);
        }
        if let Some(key) = parts.strange_required() {
            let cause = format!("`required` names `{key}`, and `context` has no such key");
            self.fault(
                Complaint::with_cure(cause, format!("add `{key} = \"string\"` to `context`")),
                start,
            );
        }
        if parts.schedule == Some(Schedule::Detached) && parts.blocks != Some(false) {
            let cause = "a detached event cannot be blocked: nothing waits for its hooks";
            self.fault(
                Complaint::with_cure(cause, "add `blocks = false`, or choose another schedule"),
                start,
            );
        }
        if self.problems.len() > before {
            self.rejected_events.push(name);
            return None;
        }
        Some((parts.spec(name), self.at(start)))
    }

    fn event_key(
        &mut self,
        parts: &mut EventParts,
        row: &KeyRow,
        value: &ManifestValue<'_>,
    ) -> Result<(), Complaint> {
        let wrong = |given: &SettingValue| {
            let cause =
                format!("`{}` takes {}, not {}", row.name, row.takes.describe(), given.describe());
            Complaint::with_cure(cause, row.takes.cure(row.name))
        };
        if matches!(row.takes, KeyValue::Table) {
            let Some(table) = self.table(value, row.name) else { return Ok(()) };
            for (field, value) in table {
                let field_name = field.get_ref().to_string();
                if let Err(fault) = parts.field(row.name, field_name, &given(value)) {
                    self.fault(fault, value.span().start);
                }
            }
            return Ok(());
        }
        match (row.name, given(value)) {
            ("summary", SettingValue::Text(text)) => parts.summary = Some(text),
            ("blocks", SettingValue::Flag(flag)) => parts.blocks = Some(flag),
            ("on_failure", given) => {
                parts.on_failure =
                    Some(one_of(OnFailure::NAMES, &given).ok_or_else(|| wrong(&given))?);
            }
            ("schedule", given) => {
                parts.schedule =
                    Some(one_of(Schedule::NAMES, &given).ok_or_else(|| wrong(&given))?);
            }
            ("required", SettingValue::Texts(keys)) => parts.required = keys,
            (_, given) => return Err(wrong(&given)),
        }
        Ok(())
    }
}

#[derive(Default)]
struct EventParts {
    summary: Option<String>,
    blocks: Option<bool>,
    on_failure: Option<OnFailure>,
    schedule: Option<Schedule>,
    context: Vec<ContextKey>,
    required: Vec<String>,
    rewrites: Vec<Rewrite>,
}

impl EventParts {
    /// Takes one entry of `context` or `rewrites`.
    fn field(&mut self, table: &str, name: String, given: &SettingValue) -> Result<(), Complaint> {
        if table == "context" {
            let kind = one_of(JsonType::NAMES.iter().as_slice(), given).ok_or_else(|| {
                let names: Vec<&str> = JsonType::NAMES.iter().map(|(_, name)| *name).collect();
                Complaint::with_cure(
                    format!("`context.{name}` takes a JSON type"),
                    format!("one of {}", names.join(", ")),
                )
            })?;
            self.context.push(ContextKey {
                name: name.into(),
                kind,
                about: "declared in hookrun.toml".into(),
                sample: kind.sample().into(),
            });
            return Ok(());
        }
        let merge: Merge = one_of(Merge::NAMES, given).ok_or_else(|| {
            let cause = format!("`rewrites.{name}` takes a merge rule");
            Complaint::with_cure(cause, format!("one of {}", merges().join(", ")))
        })?;
        self.rewrites.push(Rewrite { field: name.into(), merge });
        Ok(())
    }

    /// A key that is required and not declared.
    fn strange_required(&self) -> Option<&String> {
        let is_declared = |key: &&String| self.context.iter().any(|known| known.name == **key);
        self.required.iter().find(|key| !is_declared(key))
    }

    fn spec(self, name: String) -> EventSpec {
        let blocks = self.blocks.unwrap_or(true);
        let by_default = if blocks { OnFailure::Block } else { OnFailure::Allow };
        EventSpec {
            name: name.into(),
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

/// Why `name` cannot be the name of an event of one's own.
fn bad_event_name(name: &str) -> Option<Complaint> {
    if let Some(known) = catalog::find(name) {
        let cause = format!("`{name}` is already an event: {}", known.summary);
        return Some(Complaint::with_cure(cause, "give yours another name"));
    }
    if catalog::command::name_of(name).is_some() {
        let cause = format!("`{name}` is a command, which needs no declaration");
        let cure = "bind a hook to it: `event = \"command.NAME\"`, with a `description`";
        return Some(Complaint::with_cure(cause, cure));
    }
    let part_is_good = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    if name.split('.').all(part_is_good) {
        return None;
    }
    let cause = format!("`{name}` cannot be the name of an event");
    Some(Complaint::with_cure(
        cause,
        "use letters, digits, `-` and dots between them: `deploy.pre`",
    ))
}
