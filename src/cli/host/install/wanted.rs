//! What the hooks that are configured want of a host, and what it cannot give them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::engine::event::Schedule;
use crate::engine::event::catalog;
use crate::engine::harmless::plain;
use crate::engine::hook::{Hook, Matcher};
use crate::hosts::capability::ServedEvent;
use crate::hosts::{Host, installable};

#[derive(Debug, Default)]
pub(crate) struct HooksByEvent {
    events: BTreeMap<String, EventHooks>,
}

#[derive(Debug, Default)]
pub(crate) struct EventHooks {
    pub(crate) hooks: Vec<String>,
    matchers: Vec<Matcher>,
    /// How long they may take together, if the host waits for them.
    pub(crate) longest: Duration,
}

impl HooksByEvent {
    pub(crate) fn of<'a>(hooks: impl IntoIterator<Item = &'a Hook>) -> HooksByEvent {
        let mut events: BTreeMap<String, EventHooks> = BTreeMap::new();
        for hook in hooks
            .into_iter()
            .filter(|hook| hook.enabled && hook.idle.is_none())
        {
            let bound = events.entry(hook.event.clone()).or_default();
            bound.hooks.push(hook.name.clone());
            bound.matchers.push(hook.matcher.clone());
            let waits =
                catalog::find(&hook.event).is_some_and(|spec| spec.schedule != Schedule::Detached);
            if waits {
                bound.longest = bound.longest.saturating_add(hook.usual_timeout());
            }
        }
        HooksByEvent { events }
    }

    pub(crate) fn bound(&self, event: &str) -> Option<&EventHooks> {
        self.events.get(event)
    }

    /// The rows of `host` that a hook wants, or all of them.
    pub(crate) fn rows(&self, host: &Host, all: bool) -> Vec<ServedEvent> {
        let rows = host.rows().into_iter();
        rows.filter(|row| all || self.wants(row)).collect()
    }

    fn wants(&self, row: &ServedEvent) -> bool {
        let Some(bound) = self.events.get(row.event) else {
            return false;
        };
        row.tool
            .is_none_or(|tool| bound.matchers.iter().any(|one| one.takes_tool(&[tool])))
    }

    /// What hooks want that the host cannot give: an event that it does not have, or one that
    /// no hook can block.
    pub(crate) fn lacks(&self, host: &Host) -> Vec<String> {
        let mut lacks = Vec::new();
        for (event, bound) in &self.events {
            let rows = host.rows();
            let mut rows = rows.iter().filter(|row| row.event == event).peekable();
            let names = quoted(&bound.hooks);
            if rows.peek().is_none() {
                let elsewhere = |host: &Host| host.rows().iter().any(|row| row.event == event);
                if installable().any(elsewhere) {
                    lacks.push(format!(
                        "{} has no {event}: {names} will not run",
                        host.title
                    ));
                }
                continue;
            }
            let may = catalog::find(event).is_some_and(|spec| spec.blocks);
            if may && rows.all(|row| !row.blocks) {
                let what = format!("{} only reports {event}", host.title);
                lacks.push(format!("{what}: {names} cannot block there"));
            }
        }
        lacks
    }
}

pub(crate) fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", plain(name)))
        .collect();
    names.join(", ")
}
