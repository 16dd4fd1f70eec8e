//! The events of each host that hookrun is installed for: those of its dialect, but for a few.
//! What they are called, mean and let a hook decide stands in the library alone.

use crate::dialects::opencode::{self, PluginEvent};
use crate::dialects::{self, DialectEvent, On, Results, Wait};
use crate::engine::event::OnFailure;

/// Where the events of a host stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Events {
    /// In its dialect.
    OfDialect {
        /// Those that hookrun is not installed for. Where a host tells the same moment by several
        /// events, only the one that covers the others stays: two would ask every hook twice.
        but: &'static [&'static str],
    },
    /// It has no dialect; these are what the plugin passes on.
    OfPlugin(&'static [PluginEvent]),
}

/// One event of a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostEventRow {
    /// The host's name for it.
    pub(crate) name: &'static str,
    /// Ours.
    pub(crate) event: &'static str,
    /// Whether the host lets a hook refuse it.
    pub(crate) refuses: bool,
    /// Whether a failure refuses it.
    pub(crate) is_closed: bool,
    /// Whether a failure refuses it and the host takes exit status 2 for a refusal, so that the
    /// shell which starts hookrun can refuse in its place.
    pub(crate) is_guarded: bool,
    /// How long the host waits for it, as its dialect knows.
    pub(crate) wait: Option<Wait>,
}

/// A hook of it makes the worktree in the host's place.
pub(super) const CLAUDE: Events = Events::OfDialect { but: &["WorktreeCreate"] };

pub(super) const CODEX: Events = Events::OfDialect { but: &[] };

pub(super) const GEMINI: Events = Events::OfDialect { but: &[] };

/// `preToolUse` and `postToolUse` cover them; what Tab reads and writes is no tool of the agent,
/// and stays.
pub(super) const CURSOR: Events = Events::OfDialect {
    but: &[
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
        "afterShellExecution",
        "afterMCPExecution",
        "afterFileEdit",
    ],
};

pub(super) const COPILOT: Events = Events::OfDialect { but: &[] };

pub(super) const OPENCODE: Events = Events::OfPlugin(opencode::EVENTS);

impl HostEventRow {
    fn of_plugin(event: &PluginEvent) -> HostEventRow {
        let refuses = event.can_refuse();
        let (name, event) = (event.name, event.event);
        HostEventRow { name, event, refuses, is_closed: refuses, is_guarded: false, wait: None }
    }
}

impl Events {
    /// The events of the host of this name.
    pub(super) fn rows(self, host: &str) -> Vec<HostEventRow> {
        let but = match self {
            Events::OfPlugin(events) => {
                return events.iter().map(HostEventRow::of_plugin).collect();
            }
            Events::OfDialect { but } => but,
        };
        let dialect = dialects::find(host).map_or(&[][..], |dialect| dialect.events);
        let rows = dialect.iter().filter(|row| !but.contains(&row.name));
        let row = |row: &DialectEvent| {
            let is_closed = row.blocks && row.on_failure == OnFailure::Block;
            let (name, event, wait) = (row.name, row.event, row.wait);
            let is_guarded = is_closed && refuses_by_status(row);
            HostEventRow { name, event, refuses: row.blocks, is_closed, is_guarded, wait }
        };
        rows.map(row).collect()
    }
}

/// Whether exit status 2 refuses this event, as hookrun itself says it.
fn refuses_by_status(row: &DialectEvent) -> bool {
    let Results::Form(form) = row.results else { return false };
    form.writes.iter().any(|say| say.on == On::Refusal && say.status == 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::host::install::hosts::HOSTS;

    #[test]
    fn what_is_said_about_an_event_is_said_about_one_that_the_host_has() {
        for host in HOSTS {
            let Events::OfDialect { but } = host.events else { continue };
            let dialect = dialects::find(host.name).unwrap();
            for name in but {
                assert!(
                    dialect.events.iter().any(|row| row.name == *name),
                    "{}: {name}",
                    host.name
                );
            }
        }
    }
}
