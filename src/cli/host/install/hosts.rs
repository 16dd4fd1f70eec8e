//! The hosts that hookrun can be installed into: their files, shapes, events, units and what
//! they cannot do. Tables only.
//!
//! Sources: the documents and sources of the hosts, and what was measured with Claude Code
//! 2.1.329, Codex CLI 0.169.0 and Gemini CLI 0.61.0.

mod events;
mod switches;
mod trust;

use std::time::Duration;

use crate::dialects::Wait;
use serde_json::Value;

use super::schema::{self, Schema};
use events::{CLAUDE, CODEX, COPILOT, CURSOR, Events, GEMINI, OPENCODE};

pub(crate) use events::HostEventRow;
pub(crate) use switches::HostSwitch;
pub(crate) use trust::{Asking, Distrust};

/// Every host, in the order of help and reports.
pub(crate) const HOSTS: &[InstallHost] = &[
    InstallHost {
        name: "claude",
        title: "Claude Code",
        project: ".claude/settings.json",
        user: FilePlace::Moved {
            variable: "CLAUDE_CONFIG_DIR",
            usual: ".claude",
            file: "settings.json",
        },
        form: FileKind::Settings(SettingsShape {
            nested: true,
            versioned: false,
            command: "command",
            label: None,
            closed: Some(("onFailure", Fixed::Word("block"))),
            timeout: Timeout { key: "timeout", per_second: 1 },
            comments: Comments::Refused,
            takes_mark: true,
            schema: Some(schema::CLAUDE),
            names_event: false,
        }),
        shell: "sh",
        events: CLAUDE,
        cannot: &[],
        must: &["start a new session: hooks are read when one starts"],
        switches: switches::CLAUDE,
        trust: None,
        also_reads: None,
        beside: &[Beside { file: "settings.local.json", is_of_user: false, is_toml: false }],
        matchers: Matchers::Names,
    },
    InstallHost {
        name: "codex",
        title: "Codex",
        project: ".codex/hooks.json",
        user: FilePlace::Moved { variable: "CODEX_HOME", usual: ".codex", file: "hooks.json" },
        form: FileKind::Settings(SettingsShape {
            nested: true,
            versioned: false,
            command: "command",
            label: None,
            closed: None,
            timeout: Timeout { key: "timeout", per_second: 1 },
            comments: Comments::Refused,
            takes_mark: false,
            schema: Some(schema::CODEX),
            names_event: false,
        }),
        shell: "bash",
        events: CODEX,
        cannot: &[
            "it cannot ask: a question from a hook blocks",
            "it has no switch for failures: the command that `install` writes blocks where hookrun \
             is missing or killed, but for `PermissionRequest` and what runs into Codex's timeout",
            "`write_stdin` into a shell or interpreter that already runs reaches no hook",
            "web search and other hosted tools reach no hook",
        ],
        must: &[
            "accept the hooks in `/hooks`, again after every change of their command: until then \
                they are skipped without a word",
        ],
        switches: switches::CODEX,
        trust: Some(trust::codex),
        also_reads: None,
        beside: &[Beside { file: "config.toml", is_of_user: true, is_toml: true }],
        matchers: Matchers::Names,
    },
    InstallHost {
        name: "gemini",
        title: "Gemini CLI",
        project: ".gemini/settings.json",
        user: FilePlace::Home(".gemini/settings.json"),
        form: FileKind::Settings(SettingsShape {
            nested: true,
            versioned: false,
            command: "command",
            label: Some("name"),
            closed: None,
            timeout: Timeout { key: "timeout", per_second: 1000 },
            comments: Comments::Read,
            takes_mark: false,
            schema: None,
            names_event: false,
        }),
        shell: "bash",
        events: GEMINI,
        cannot: &[
            "it has no switch for failures: the command that `install` writes blocks where hookrun \
             is missing or killed",
            "it waits for a person's answer even without a person (`-p`)",
            "what a hook says for the model before a tool has no place: it goes to stderr",
        ],
        must: &[
            "trust the folder, and accept its hooks when it asks: `--skip-trust` runs without the \
                hooks of the project, GEMINI_CLI_TRUST_WORKSPACE=true with them",
        ],
        switches: switches::GEMINI,
        trust: Some(trust::gemini),
        also_reads: None,
        beside: &[],
        matchers: Matchers::PartsOfNames,
    },
    InstallHost {
        name: "cursor",
        title: "Cursor",
        project: ".cursor/hooks.json",
        user: FilePlace::Home(".cursor/hooks.json"),
        form: FileKind::Settings(SettingsShape {
            nested: false,
            versioned: true,
            command: "command",
            label: None,
            closed: Some(("failClosed", Fixed::Flag(true))),
            timeout: Timeout { key: "timeout", per_second: 1 },
            comments: Comments::Unknown,
            takes_mark: true,
            schema: None,
            names_event: false,
        }),
        shell: "sh",
        events: CURSOR,
        cannot: &["it does not enforce a question before a tool: a question from a hook blocks"],
        must: &["trust the workspace"],
        switches: &[],
        trust: None,
        also_reads: Some("claude"),
        beside: &[],
        matchers: Matchers::Otherwise,
    },
    InstallHost {
        name: "copilot",
        title: "Copilot CLI",
        project: ".github/hooks/hookrun.json",
        user: FilePlace::Home(".copilot/hooks/hookrun.json"),
        form: FileKind::Settings(SettingsShape {
            nested: false,
            versioned: true,
            command: "bash",
            label: None,
            closed: None,
            timeout: Timeout { key: "timeoutSec", per_second: 1 },
            comments: Comments::Unknown,
            takes_mark: true,
            schema: None,
            names_event: true,
        }),
        shell: "bash",
        events: COPILOT,
        cannot: &[
            "it has no switch for timeouts: a hookrun that hangs lets the tool run",
            "in the cloud it does not ask: a question from a hook blocks",
        ],
        must: &["trust the folder"],
        switches: &[],
        trust: None,
        also_reads: Some("claude"),
        beside: &[],
        matchers: Matchers::Names,
    },
    InstallHost {
        name: "opencode",
        title: "OpenCode",
        project: ".opencode/plugins/hookrun.js",
        user: FilePlace::Config("opencode/plugins/hookrun.js"),
        form: FileKind::Plugin,
        shell: "sh",
        events: OPENCODE,
        cannot: &[
            "it cannot ask: a question from a hook blocks",
            "tool calls of subagents reach no plugin",
            "what a hook says for the model before a tool has no place",
        ],
        must: &["start it again: plugins are read when it starts"],
        switches: &[],
        trust: None,
        also_reads: None,
        beside: &[],
        matchers: Matchers::Otherwise,
    },
];

/// How long a host is told to wait for hookrun, where it lets itself be told so much. Hookrun's own
/// deadlines are meant to come first; its budget is this but for a margin.
pub(crate) const WAIT: Duration = Duration::from_secs(600);

/// An agent program.
#[derive(Debug)]
pub(crate) struct InstallHost {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What people call it.
    pub(crate) title: &'static str,
    /// The file of a project, below its root.
    pub(crate) project: &'static str,
    /// The file of a user.
    pub(crate) user: FilePlace,
    pub(crate) form: FileKind,
    /// The shell that it starts a hook's command with, by `-c` and in its own environment.
    pub(crate) shell: &'static str,
    /// Where its events stand.
    events: Events,
    /// What it cannot do, for people.
    pub(crate) cannot: &'static [&'static str],
    /// What is left for a person to do, for people.
    pub(crate) must: &'static [&'static str],
    /// What switches its hooks off.
    pub(crate) switches: &'static [HostSwitch],
    /// What a person must have accepted before it asks.
    pub(crate) trust: Option<fn(&Asking<'_>) -> Vec<Distrust>>,
    /// Another host whose files it reads as well.
    pub(crate) also_reads: Option<&'static str>,
    /// Files of its own beside the one that hookrun is installed into.
    pub(crate) beside: &'static [Beside],
    /// What words in matchers of tools are.
    pub(crate) matchers: Matchers,
}

/// Another file with hooks, in the folder of the one that hookrun is installed into.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) file: &'static str,
    /// Whether a user's settings have one too, and not a project's alone.
    pub(crate) is_of_user: bool,
    /// Whether it is TOML, and not JSON.
    pub(crate) is_toml: bool,
}

/// What words in matchers of tools are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matchers {
    /// Whole names.
    Names,
    /// Parts of names.
    PartsOfNames,
    /// Something else, or there are none.
    Otherwise,
}

/// Where a user's file lies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FilePlace {
    /// Below the home folder.
    Home(&'static str),
    /// In the folder that a variable names, else in the usual one below the home folder.
    Moved { variable: &'static str, usual: &'static str, file: &'static str },
    /// Below the folder for configuration.
    Config(&'static str),
}

/// What kind of file it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileKind {
    /// JSON with `hooks` in it, by event.
    Settings(SettingsShape),
    /// A program of its own, which starts hookrun.
    Plugin,
}

/// The shape of a JSON file of hooks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SettingsShape {
    /// Hooks stand in groups with a matcher: `[{"matcher": …, "hooks": [{…}]}]`; else by
    /// themselves: `[{…}]`.
    pub(crate) nested: bool,
    /// `"version": 1` stands at the top.
    pub(crate) versioned: bool,
    /// The key of a hook's command.
    pub(crate) command: &'static str,
    /// The key of a name for people.
    pub(crate) label: Option<&'static str>,
    /// The switch by which a hook that fails refuses.
    pub(crate) closed: Option<(&'static str, Fixed)>,
    pub(crate) timeout: Timeout,
    pub(crate) comments: Comments,
    /// Whether it reads a file that begins with a byte order mark, as far as is known.
    pub(crate) takes_mark: bool,
    /// What makes the host drop the file as a whole, where that is known.
    pub(crate) schema: Option<Schema>,
    /// The command has to name the event: the context does not.
    pub(crate) names_event: bool,
}

/// What a switch is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixed {
    Word(&'static str),
    Flag(bool),
}

impl Fixed {
    pub(crate) fn json(self) -> Value {
        match self {
            Fixed::Word(word) => Value::from(word),
            Fixed::Flag(flag) => Value::from(flag),
        }
    }
}

/// How a host is told how long to wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeout {
    pub(crate) key: &'static str,
    /// 1 for seconds, 1000 for milliseconds.
    pub(crate) per_second: u64,
}

/// What a host reads beyond JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// Comments, but no trailing commas.
    Read,
    /// Nothing.
    Refused,
    /// Its documents do not say.
    Unknown,
}

impl HostEventRow {
    /// How long the host is told to wait.
    pub(crate) fn told(&self) -> Duration {
        let longest = self.wait.and_then(|wait| wait.longest);
        longest.map_or(WAIT, |longest| longest.min(WAIT))
    }

    /// The budget of hookrun that goes with it, where it is not the one that hookrun takes by
    /// itself.
    pub(crate) fn budget(&self) -> Option<Duration> {
        let told = self.told();
        let differs = self.wait.is_some_and(|wait| wait.usual != told);
        differs.then(|| Wait::budget(told))
    }
}

impl InstallHost {
    /// What it can tell hookrun, and what hookrun is installed for.
    pub(crate) fn rows(&self) -> Vec<HostEventRow> {
        self.events.rows(self.name)
    }
}

/// The host of this name.
pub(crate) fn find(name: &str) -> Option<&'static InstallHost> {
    HOSTS.iter().find(|host| host.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::catalog;

    #[test]
    fn every_row_names_its_event_as_the_catalog_does() {
        for host in HOSTS {
            assert!(!host.rows().is_empty(), "{}", host.name);
            for row in host.rows() {
                let known = catalog::find(row.name).map(|spec| spec.name.as_ref());
                assert_eq!(known, Some(row.event), "{}: {}", host.name, row.name);
            }
        }
    }
}
