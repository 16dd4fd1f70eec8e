//! The hosts that hookrun can be installed into: their files, shapes, events, and what they cannot
//! do. A table, and what a row gives.
//!
//! Sources: the documents and sources of the hosts, and what was measured with Claude Code
//! 2.1.329, Codex CLI 0.169.0 and Gemini CLI 0.61.0.

mod others;

use crate::engine::names::words;
use crate::hosts::capability::{self, ServedEvent};
use crate::hosts::facts::{self, HostFacts, HostShell};
use crate::hosts::settings::files;
use crate::hosts::{self, Host, plugins};

use super::row::{Beside, Comments, HostForm, InstallHost, PluginShape, SettingsShape, UserFile};
use super::trust;

/// A plugin needs no address.
/// OpenCode, and its fork Kilo Code.
const OPENCODE: PluginShape = PluginShape {
    events: plugins::OPENCODE,
    text: include_str!("plugin/opencode.js"),
};

/// pi, and oh-my-pi, which came from it.
const PI: PluginShape = PluginShape {
    events: &[],
    text: include_str!("plugin/pi.js"),
};

/// Every host, in the order of help and reports.
pub(crate) const HOSTS: &[InstallHost] = &[
    InstallHost {
        name: "claude",
        title: "Claude Code",
        project: ".claude/settings.json",
        user: UserFile::Moved {
            variable: "CLAUDE_CONFIG_DIR",
            usual: ".claude",
            file: "settings.json",
        },
        form: HostForm::Settings(SettingsShape {
            comments: Comments::Refused,
            ..SettingsShape::of(&files::CLAUDE)
        }),
        // A hook of it makes the worktree in the host's place.
        but: &["WorktreeCreate"],
        must: &["start a new session: hooks are read when one starts"],
        beside: &[Beside {
            file: "settings.local.json",
            is_of_user: false,
        }],
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "codex",
        title: "Codex",
        project: ".codex/hooks.json",
        user: UserFile::Moved {
            variable: "CODEX_HOME",
            usual: ".codex",
            file: "hooks.json",
        },
        form: HostForm::Settings(SettingsShape {
            comments: Comments::Refused,
            takes_mark: false,
            ..SettingsShape::of(&files::CODEX)
        }),
        cannot: &["for `PermissionRequest` the command cannot block where hookrun is missing"],
        // The older name of `features.hooks`.
        switches: &[("features.codex_hooks", false)],
        trust: Some(trust::codex),
        beside: &[Beside {
            file: "config.toml",
            is_of_user: true,
        }],
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "gemini",
        title: "Gemini CLI",
        project: ".gemini/settings.json",
        user: UserFile::Home(".gemini/settings.json"),
        form: HostForm::Settings(SettingsShape {
            comments: Comments::Read,
            takes_mark: false,
            ..SettingsShape::of(&files::GEMINI)
        }),
        cannot: &["it waits for a person's answer even without a person (`-p`)"],
        trust: Some(trust::gemini),
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "cursor",
        title: "Cursor",
        project: ".cursor/hooks.json",
        user: UserFile::Home(".cursor/hooks.json"),
        form: HostForm::Settings(SettingsShape {
            version: Some("1"),
            ..SettingsShape::of(&files::CURSOR)
        }),
        // `preToolUse` and `postToolUse` cover them; what Tab reads and writes is no tool of the
        // agent, and stays.
        but: words!(
            "beforeShellExecution" "beforeMCPExecution" "beforeReadFile" "afterShellExecution"
            "afterMCPExecution" "afterFileEdit"
        ),
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "copilot",
        title: "Copilot CLI",
        project: ".github/hooks/hookrun.json",
        user: UserFile::Home(".copilot/hooks/hookrun.json"),
        form: HostForm::Settings(SettingsShape {
            version: Some("1"),
            names_event: true,
            ..SettingsShape::of(&files::COPILOT)
        }),
        cannot: &["in the cloud it does not ask: a question from a hook blocks"],
        ..InstallHost::PLAIN
    },
    others::QWEN,
    others::VSCODE,
    others::FACTORY,
    others::WINDSURF,
    others::DEVIN,
    others::CRUSH,
    others::GOOSE,
    others::AGY,
    others::GROK,
    others::KIRO,
    others::KIMI,
    others::CLINE,
    InstallHost {
        name: "opencode",
        title: "OpenCode",
        project: ".opencode/plugins/hookrun.js",
        user: UserFile::Config("opencode/plugins/hookrun.js"),
        form: HostForm::Plugin(OPENCODE),
        must: &["start it again: plugins are read when it starts"],
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "kilo",
        title: "Kilo Code",
        project: ".kilo/plugin/hookrun.js",
        user: UserFile::Config("kilo/plugin/hookrun.js"),
        form: HostForm::Plugin(OPENCODE),
        must: &["start it again: plugins are read when it starts"],
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "amp",
        title: "Amp",
        project: ".amp/plugins/hookrun.ts",
        user: UserFile::Config("amp/plugins/hookrun.ts"),
        form: HostForm::Plugin(PluginShape {
            events: plugins::AMP,
            text: include_str!("plugin/amp.js"),
        }),
        cannot: &["written by its types and documents, and not run: it asks its own server first"],
        must: &["reload its plugins (`plugins: reload`), or start it again"],
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "pi",
        title: "pi",
        project: ".pi/extensions/hookrun.js",
        user: UserFile::Moved {
            variable: "PI_CODING_AGENT_DIR",
            usual: ".pi/agent",
            file: "extensions/hookrun.js",
        },
        form: HostForm::Plugin(PluginShape {
            events: plugins::PI,
            ..PI
        }),
        cannot: &["with `-p` there is no person to ask: a question from a hook blocks"],
        trust: Some(trust::pi),
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "omp",
        title: "oh-my-pi",
        project: ".omp/extensions/hookrun.js",
        user: UserFile::Moved {
            variable: "PI_CODING_AGENT_DIR",
            usual: ".omp/agent",
            file: "extensions/hookrun.js",
        },
        form: HostForm::Plugin(PluginShape {
            events: plugins::OMP,
            ..PI
        }),
        cannot: &[
            "it waits 30 s for hooks, longer only while a tool call asks a person: what takes longer \
             blocks",
            "with `-p` there is no person to ask: a question from a hook blocks",
            "a prompt can be rewritten only at a terminal: elsewhere a rewrite blocks it",
        ],
        trust: Some(trust::omp),
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "openclaw",
        title: "openclaw",
        project: ".openclaw/hookrun.js",
        user: UserFile::Moved {
            variable: "OPENCLAW_STATE_DIR",
            usual: ".openclaw",
            file: "hookrun.js",
        },
        form: HostForm::Plugin(PluginShape {
            events: plugins::OPENCLAW,
            text: include_str!("plugin/openclaw.js"),
        }),
        cannot: &[
            "a prompt cannot be rewritten: a rewrite blocks it",
            "written by its types and documents, and not run",
        ],
        trust: Some(trust::openclaw),
        ..InstallHost::PLAIN
    },
];

pub(crate) fn find(name: &str) -> Option<&'static InstallHost> {
    HOSTS.iter().find(|host| host.name == name)
}

impl InstallHost {
    pub(crate) fn settings(&self) -> Option<SettingsShape> {
        match self.form {
            HostForm::Settings(settings) => Some(settings),
            HostForm::Plugin(_) | HostForm::Scripts(_) => None,
        }
    }

    /// In which words it asks; `None` for hookrun's own.
    pub(crate) fn dialect(&self) -> Option<&'static Host> {
        match self.form {
            HostForm::Settings(_) | HostForm::Scripts(_) => hosts::find(self.name),
            HostForm::Plugin(_) => None,
        }
    }

    pub(crate) fn rows(&self) -> Vec<ServedEvent> {
        if let HostForm::Plugin(plugin) = self.form {
            return plugin.events.iter().map(ServedEvent::of_plugin).collect();
        }
        let events = self.dialect().map_or(&[][..], |dialect| dialect.events);
        let rows = events.iter().filter(|row| !self.but.contains(&row.name));
        rows.map(ServedEvent::of_dialect).collect()
    }

    pub(crate) fn facts(&self) -> Option<&'static HostFacts> {
        facts::of(self.name)
    }

    /// The shell that starts a hook's command, by `-c` and in the host's environment.
    pub(crate) fn shell(&self) -> &'static str {
        let shell = self.facts().and_then(|facts| facts.shell);
        shell.unwrap_or(HostShell::Unstated).program()
    }

    /// What it cannot do, as the tables say, and what only its row says.
    pub(crate) fn limits(&self) -> Vec<String> {
        let limits = capability::of(self.name)
            .map(|it| it.limits())
            .unwrap_or_default();
        limits
            .into_iter()
            .chain(self.cannot.iter().map(ToString::to_string))
            .collect()
    }

    /// What a person has to do before it runs hooks at all.
    pub(crate) fn trust_step(&self) -> Option<&'static str> {
        self.facts()?.trust
    }

    /// What is left to its user.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &'static str> {
        self.trust_step()
            .into_iter()
            .chain(self.must.iter().copied())
    }

    pub(crate) fn row(&self, name: &str) -> Option<ServedEvent> {
        self.rows().into_iter().find(|row| row.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::catalog;

    #[test]
    fn every_row_names_events_that_the_catalog_and_its_dialect_have() {
        for host in HOSTS {
            assert!(!host.rows().is_empty(), "{}", host.name);
            for row in host.rows() {
                let known = catalog::find(row.name).map(|spec| spec.name.as_ref());
                assert_eq!(known, Some(row.event), "{}: {}", host.name, row.name);
            }
            for name in host.but {
                let mut events = host.dialect().unwrap().events.iter();
                assert!(events.any(|row| row.name == *name), "{}: {name}", host.name);
            }
        }
    }
}
