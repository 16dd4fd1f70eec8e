//! The events that hookrun is installed for, and what the configured hooks want of them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::engine::event::Schedule;
use crate::engine::event::catalog;
use crate::engine::harmless::plain;
use crate::engine::hook::{Hook, Matcher};
use crate::hosts::install::HostForm;
use crate::hosts::settings::{HostFile, HostHookKey};
use crate::hosts::{self, Host, HostEvent, Wait, installable};

/// The key below which hooks are, in every host.
pub(crate) const HOOKS: &str = "hooks";

/// How long a host waits for hookrun, if it allows that much. Hookrun's own deadlines come first:
/// its budget is this less a margin.
const WAIT: Duration = Duration::from_secs(600);

impl Host {
    /// Its settings file, if hookrun is installed into that.
    pub(crate) fn settings_file(&self) -> Option<&'static HostFile> {
        match self.install.form {
            HostForm::Settings => hosts::settings_file(self.name),
            HostForm::Nothing | HostForm::Plugin(_) | HostForm::Scripts(_) => None,
        }
    }

    /// In which words it asks; `None` for hookrun's own.
    pub(crate) fn asking_dialect(&self) -> Option<&'static Host> {
        match self.plugin() {
            Some(_) => None,
            None => hosts::find(self.name),
        }
    }

    /// The events that hookrun is installed for.
    pub(crate) fn rows(&self) -> Vec<&'static HostEvent> {
        let mut rows: Vec<&HostEvent> = self.served_events().iter().collect();
        rows.retain(|row| !self.install.but.contains(&row.name));
        rows
    }

    pub(crate) fn row(&self, name: &str) -> Option<&'static HostEvent> {
        self.rows().into_iter().find(|row| row.name == name)
    }

    /// What is left to its user.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &'static str> {
        self.trust
            .into_iter()
            .chain(self.install.must.iter().copied())
    }
}

impl HostFile {
    /// The key at the top below which hookrun's hooks are.
    pub(crate) fn table(&self) -> &'static str {
        if self.has_sets { "hookrun" } else { HOOKS }
    }

    pub(crate) fn command(&self) -> &'static str {
        self.key(HostHookKey::Command).unwrap_or("command")
    }

    /// The key by which a failure blocks, and its value.
    pub(crate) fn closed(&self) -> Option<(&'static str, Value)> {
        let key = self.key(HostHookKey::Closed)?;
        Some((key, serde_json::from_str(self.closed).unwrap_or_default()))
    }
}

impl HostEvent {
    /// The timeout that the host is given.
    pub(crate) fn timeout(&self) -> Duration {
        let longest = self.wait.and_then(|wait| wait.longest);
        longest.map_or(WAIT, |longest| longest.min(WAIT))
    }

    /// The budget of hookrun that goes with it, where it is not the usual one.
    pub(crate) fn budget(&self) -> Option<Duration> {
        let timeout = self.timeout();
        let differs = self.wait.is_some_and(|wait| wait.usual != timeout);
        differs.then(|| Wait::budget(timeout))
    }

    /// Whether the shell that starts hookrun blocks in its place.
    pub(crate) fn is_guarded(&self) -> bool {
        self.fails_closed() && self.takes_status()
    }
}

/// The configured hooks, by event.
#[derive(Debug, Default)]
pub(crate) struct HooksByEvent {
    events: BTreeMap<String, EventHooks>,
}

#[derive(Debug, Default)]
pub(crate) struct EventHooks {
    hooks: Vec<String>,
    matchers: Vec<Matcher>,
    /// How long they may take together, if the host waits for them.
    pub(crate) longest: Duration,
}

impl EventHooks {
    /// The names of the hooks, for people.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self
            .hooks
            .iter()
            .map(|name| format!("`{}`", plain(name)))
            .collect();
        names.join(", ")
    }
}

impl HooksByEvent {
    pub(crate) fn of<'a>(hooks: impl IntoIterator<Item = &'a Hook>) -> HooksByEvent {
        let mut events: BTreeMap<String, EventHooks> = BTreeMap::new();
        for hook in hooks {
            if !hook.enabled || hook.idle.is_some() {
                continue;
            }
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

    /// The rows of `host` that a hook wants.
    pub(crate) fn rows(&self, host: &Host) -> Vec<&'static HostEvent> {
        let mut rows = host.rows();
        rows.retain(|row| self.wants(row));
        rows
    }

    fn wants(&self, row: &HostEvent) -> bool {
        let Some(bound) = self.events.get(row.event) else {
            return false;
        };
        row.gather.is_none_or(|gather| {
            let mut matchers = bound.matchers.iter();
            matchers.any(|one| one.takes_tool(&[gather.tool]))
        })
    }

    /// What hooks want that the host cannot give: an event that it does not have, or one that
    /// no hook can block.
    pub(crate) fn lacks(&self, host: &Host) -> Vec<String> {
        let mut lacks = Vec::new();
        for (event, bound) in &self.events {
            let mut rows = host.rows();
            rows.retain(|row| row.event == event);
            let names = bound.names();
            if rows.is_empty() {
                if installable().any(|host| host.rows().iter().any(|row| row.event == event)) {
                    let title = host.title;
                    lacks.push(format!("{title} has no {event}: {names} will not run"));
                }
                continue;
            }
            let may = catalog::find(event).is_some_and(|spec| spec.blocks);
            if may && rows.iter().all(|row| !row.blocks) {
                let what = format!("{} only reports {event}", host.title);
                lacks.push(format!("{what}: {names} cannot block there"));
            }
        }
        lacks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_events_that_the_catalog_and_its_dialect_have() {
        for host in installable() {
            assert!(!host.rows().is_empty(), "{}", host.name);
            for row in host.rows() {
                let known = catalog::find(row.name).map(|spec| spec.name.as_ref());
                assert_eq!(known, Some(row.event), "{}: {}", host.name, row.name);
            }
            for name in host.install.but {
                let mut events = host.events.iter();
                assert!(events.any(|row| row.name == *name), "{}: {name}", host.name);
            }
        }
    }
}
