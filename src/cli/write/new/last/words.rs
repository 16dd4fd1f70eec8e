//! An event that was decided, in the words of the host that sent it, so that a hook for that host
//! gets the same again.

use std::sync::Arc;

use crate::dialects::{self, Binding};
use crate::engine::event::{Action, Context, Event, catalog};
use crate::lab::audit::record::DecisionLine;
use crate::lab::scenario::Keys;
use serde_json::{Map, Value};

use crate::cli::exit::{CommandFailure, Result};

/// Keys of a context that a case has no use for: its own name, and the event as it came.
const OURS: &[&str] = &["event", "raw"];

/// Keys whose values are only true on the machine where it was decided, as any host spells them.
const LOCAL: &[&str] = &["cwd", "transcriptpath"];

pub(super) struct CaseWords {
    /// `None` for a native event.
    pub(super) host: Option<&'static str>,
    pub(super) event: String,
    pub(super) context: Map<String, Value>,
    /// One of its keys looks like a slip, which a case may not have in its context.
    pub(super) has_slip: bool,
}

impl CaseWords {
    pub(super) fn of(record: &DecisionLine<'_>, context: &str) -> Result<CaseWords> {
        let bad = |problem: String| {
            CommandFailure::new(format!("the last event cannot be read: {problem}"))
        };
        let read = Context::parse(context).map_err(|error| bad(error.to_string()))?;
        let spec = catalog::find(&record.event);
        let binding = binding_of(record, &read);
        let is_local = |key: &str| LOCAL.contains(&key.replace('_', "").to_lowercase().as_str());
        let (host, event, mut kept) = match binding {
            Some(binding) => {
                let event = Event::new(Arc::new(binding.spec()), record.host.clone(), read.clone())
                    .map_err(|error| bad(error.to_string()))?;
                let theirs = binding.encode(&event).to_json();
                let name = binding.row.name.to_string();
                (Some(binding.dialect.name), name, parsed(&theirs).map_err(bad)?)
            }
            None => {
                let mut ours = parsed(context.as_bytes()).map_err(bad)?;
                ours.retain(|key, _| !OURS.contains(&key.as_str()));
                (None, record.event.clone(), ours)
            }
        };
        kept.retain(|key, _| !is_local(key));
        // Its links led elsewhere at that time.
        if let Some(action) = kept.get_mut("action").and_then(Value::as_object_mut) {
            action.remove("resolved");
        }
        // An action is made again from the tool, or from what changes, unless the host sent another.
        let made = [Action::derive(&read), Action::of_changes(&read)];
        let made: Vec<Value> = made
            .iter()
            .flatten()
            .flatten()
            .filter_map(|made| serde_json::from_str(&made.to_json()).ok())
            .collect();
        let is_made = |action: &Value| made.contains(action);
        if kept.get("action").is_some_and(is_made) {
            kept.remove("action");
        }
        let bindings: Vec<Binding> = binding.into_iter().collect();
        let keys = spec.map(|spec| Keys::of([spec], &bindings));
        let has_slip = keys.is_some_and(|keys| !keys.slips(&kept).is_empty());
        Ok(CaseWords { host, event, context: kept, has_slip })
    }
}

/// The row of the host's event that it was, by the name that the host has sent.
fn binding_of(record: &DecisionLine<'_>, context: &Context) -> Option<Binding> {
    let dialect = dialects::find(&record.host)?;
    let raw = context.raw("raw").and_then(|raw| Context::parse(raw).ok());
    let sent = raw.as_ref().and_then(|raw| raw.string(dialect.names_event_by));
    let named = sent.map(|name| dialect.called(&name)).unwrap_or_default();
    let is_it = |binding: &Binding| binding.row.event == record.event;
    named.into_iter().chain(dialect.called(&record.event)).find(is_it)
}

fn parsed(json: &[u8]) -> std::result::Result<Map<String, Value>, String> {
    serde_json::from_slice(json).map_err(|error| error.to_string())
}
