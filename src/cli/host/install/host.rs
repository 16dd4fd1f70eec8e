//! What `install` and `doctor` read of a host: its events as they are installed, its file's keys, and
//! what is left to its user.

use std::time::Duration;

use serde_json::Value;

use crate::hosts::capability::ServedEvent;
use crate::hosts::install::HostForm;
#[cfg(test)]
use crate::hosts::installable;
use crate::hosts::settings::{HostFile, HostHookKey};
use crate::hosts::{self, Host, Wait};

/// What this program is called where PATH finds it.
pub(crate) const NAME: &str = "hookrun";

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
    pub(crate) fn rows(&self) -> Vec<ServedEvent> {
        let mut rows = self.served_events();
        rows.retain(|row| !self.install.but.contains(&row.name));
        rows
    }

    pub(crate) fn row(&self, name: &str) -> Option<ServedEvent> {
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
        if self.has_sets { NAME } else { HOOKS }
    }

    pub(crate) fn command(&self) -> &'static str {
        self.key(HostHookKey::Command).unwrap_or("command")
    }

    pub(crate) fn timeout(&self) -> &'static str {
        self.key(HostHookKey::Time).unwrap_or("timeout")
    }

    /// The key by which a failure blocks, and its value.
    pub(crate) fn closed(&self) -> Option<(&'static str, Value)> {
        let key = self.key(HostHookKey::Closed)?;
        Some((key, serde_json::from_str(self.closed).unwrap_or_default()))
    }
}

impl ServedEvent {
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
        self.fails_closed && self.takes_status
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::catalog;

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
