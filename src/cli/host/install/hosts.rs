//! The hosts that hookrun can be installed into: their files, shapes, events, and what they cannot
//! do. A table, and what a row gives.
//!
//! Sources: the documents and sources of the hosts, and what was measured with Claude Code
//! 2.1.329, Codex CLI 0.169.0 and Gemini CLI 0.61.0.

mod others;

use crate::dialects::facts::{self, HostFacts, HostFailure};
use crate::dialects::plugins::{self, PluginEvent};
use crate::dialects::settings::hosts as files;
use crate::dialects::{self, Binding, Dialect, DialectEvent, ReplyRule, ReplySlot, Results};
use crate::engine::event::OnFailure;
use crate::engine::names::words;

use super::row::{
    Beside, Comments, HostEventRow, HostForm, InstallHost, PluginShape, SettingsShape, UserFile,
};
use super::{schema, trust};

/// A plugin needs no address.
const PLUGIN_ASKS: Option<&str> = Some("its plugin starts `hookrun serve` by itself");

/// OpenCode, and its fork Kilo Code.
const OPENCODE: PluginShape =
    PluginShape { events: plugins::OPENCODE, text: include_str!("plugin/opencode.js") };

const OPENCODE_CANNOT: &[&str] = &[
    "it cannot ask: a question from a hook blocks",
    "what a hook says for the model before a tool has no place",
];

/// pi, and oh-my-pi, which came from it.
const PI: PluginShape = PluginShape { events: &[], text: include_str!("plugin/pi.js") };

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
            schema: Some(schema::CLAUDE),
            ..SettingsShape::of(&files::CLAUDE)
        }),
        // A hook of it makes the worktree in the host's place.
        but: &["WorktreeCreate"],
        must: &["start a new session: hooks are read when one starts"],
        no_server: None,
        beside: &[Beside { file: "settings.local.json", is_of_user: false }],
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "codex",
        title: "Codex",
        project: ".codex/hooks.json",
        user: UserFile::Moved { variable: "CODEX_HOME", usual: ".codex", file: "hooks.json" },
        form: HostForm::Settings(SettingsShape {
            comments: Comments::Refused,
            takes_mark: false,
            schema: Some(schema::CODEX),
            ..SettingsShape::of(&files::CODEX)
        }),
        shell: "bash",
        cannot: &["for `PermissionRequest` the command cannot block where hookrun is missing"],
        must: &[
            "accept the hooks in `/hooks`, again after every change of their command: until then \
                they are skipped without a word",
        ],
        no_server: Some(
            "it has no HTTP hooks, and its `mcp_tool` was seen to call no tool (0.149.1)",
        ),
        // The older name of `features.hooks`.
        switches: &[("features.codex_hooks", false)],
        trust: Some(trust::codex),
        beside: &[Beside { file: "config.toml", is_of_user: true }],
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
        shell: "bash",
        cannot: &[
            "it waits for a person's answer even without a person (`-p`)",
            "what a hook says for the model before a tool has no place: it goes to stderr",
        ],
        must: &[
            "trust the folder, and accept its hooks when it asks: `--skip-trust` runs without the \
                hooks of the project, GEMINI_CLI_TRUST_WORKSPACE=true with them",
        ],
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
        must: &["trust the workspace"],
        also_reads: &["claude"],
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
        shell: "bash",
        cannot: &["in the cloud it does not ask: a question from a hook blocks"],
        must: &["trust the folder"],
        also_reads: &["claude"],
        no_server: Some(
            "its HTTP hooks need https before a tool, and fill no token into a header without it",
        ),
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
        cannot: OPENCODE_CANNOT,
        must: &["start it again: plugins are read when it starts"],
        no_server: PLUGIN_ASKS,
        ..InstallHost::PLAIN
    },
    InstallHost {
        name: "kilo",
        title: "Kilo Code",
        project: ".kilo/plugin/hookrun.js",
        user: UserFile::Config("kilo/plugin/hookrun.js"),
        form: HostForm::Plugin(OPENCODE),
        cannot: OPENCODE_CANNOT,
        must: &["start it again: plugins are read when it starts"],
        no_server: PLUGIN_ASKS,
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
        cannot: &[
            "it cannot ask: a question from a hook blocks",
            "neither a prompt nor a stop can be blocked",
            "what a hook says for the model before a tool has no place",
            "written by its types and documents, and not run: it asks its own server first",
        ],
        must: &["reload its plugins (`plugins: reload`), or start it again"],
        no_server: PLUGIN_ASKS,
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
        form: HostForm::Plugin(PluginShape { events: plugins::PI, ..PI }),
        cannot: &[
            "a stop cannot be blocked: it has no event for that",
            "with `-p` there is no person to ask: a question from a hook blocks",
        ],
        trust: Some(trust::pi),
        no_server: PLUGIN_ASKS,
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
        form: HostForm::Plugin(PluginShape { events: plugins::OMP, ..PI }),
        cannot: &[
            "it waits 30 s for hooks, longer only while a tool call asks a person: what takes longer \
             blocks",
            "with `-p` there is no person to ask: a question from a hook blocks",
            "a prompt can be rewritten only at a terminal: elsewhere a rewrite blocks it",
        ],
        trust: Some(trust::omp),
        no_server: PLUGIN_ASKS,
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
            "it cannot ask: a question from a hook blocks",
            "a prompt cannot be rewritten: a rewrite blocks it",
            "what a hook says for the model before a tool has no place",
            "written by its types and documents, and not run",
        ],
        must: &["in `openclaw.json` add the file to `plugins.load.paths`, and set \
             `plugins.entries.hookrun.hooks.allowConversationAccess` to true"],
        trust: Some(trust::openclaw),
        no_server: PLUGIN_ASKS,
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
    pub(crate) fn dialect(&self) -> Option<&'static Dialect> {
        match self.form {
            HostForm::Settings(_) | HostForm::Scripts(_) => dialects::find(self.name),
            HostForm::Plugin(_) => None,
        }
    }

    pub(crate) fn rows(&self) -> Vec<HostEventRow> {
        if let HostForm::Plugin(plugin) = self.form {
            return plugin.events.iter().map(of_plugin).collect();
        }
        let events = self.dialect().map_or(&[][..], |dialect| dialect.events);
        events.iter().filter(|row| !self.but.contains(&row.name)).map(of_dialect).collect()
    }

    /// What it cannot do, as its tables say, and what only its row says.
    pub(crate) fn limits(&self) -> Vec<String> {
        let mut limits: Vec<String> = Vec::new();
        let facts = facts::of(self.name);
        if let Some(dialect) = self.dialect() {
            let of = |event: &str| dialect.events.iter().find(|row| row.event == event);
            let gate = of("tool.pre").map(|row| Binding { dialect, row });
            if gate.is_some_and(|gate| !gate.can_ask()) {
                limits.push("it cannot ask: a question from a hook blocks".to_string());
            }
            if of("prompt.submit").is_none_or(|row| !row.blocks) {
                limits.push("a prompt cannot be blocked".to_string());
            }
            limits.extend(facts.and_then(|facts| self.open_ends(facts)));
        }
        let unseen = facts.into_iter().flat_map(|facts| facts.unseen);
        limits.extend(unseen.map(|what| format!("no hook sees {what}")));
        limits.extend(self.cannot.iter().map(ToString::to_string));
        limits
    }

    /// With which failures of hookrun it lets a tool run, and what `install` does about it.
    fn open_ends(&self, facts: &HostFacts) -> Option<String> {
        let open = HostFailure::ALL.iter().filter(|one| !facts.closed_on.contains(one));
        let (guarded, open): (Vec<&HostFailure>, Vec<&HostFailure>) =
            open.partition(|one| one.is_guarded());
        let open: Vec<&str> = open.into_iter().map(|one| one.about()).collect();
        if open.is_empty() {
            return None;
        }
        let open = format!("a hookrun that {} lets the tool run", open.join(" or "));
        Some(match guarded.is_empty() {
            true => open,
            false => format!(
                "it has no switch for failures: the command that `install` writes blocks where \
                 hookrun is missing or killed; {open}"
            ),
        })
    }

    pub(crate) fn row(&self, name: &str) -> Option<HostEventRow> {
        self.rows().into_iter().find(|row| row.name == name)
    }
}

fn of_plugin(event: &PluginEvent) -> HostEventRow {
    let refuses = event.can_refuse();
    let PluginEvent { name, event, wait, .. } = *event;
    let (is_closed, is_guarded) = (refuses, false);
    HostEventRow { name, event, tool: None, refuses, is_closed, is_guarded, wait }
}

fn of_dialect(row: &DialectEvent) -> HostEventRow {
    let is_closed = row.blocks && row.on_failure == OnFailure::Block;
    // By exit status 2, as hookrun itself says it.
    let is_refusal = |say: &ReplyRule| say.on == ReplySlot::Refusal && say.status == 2;
    let blocks_by_status =
        matches!(row.results, Results::Form(form) if form.writes.iter().any(is_refusal));
    HostEventRow {
        name: row.name,
        event: row.event,
        tool: row.gather.map(|gather| gather.tool),
        refuses: row.blocks,
        is_closed,
        is_guarded: is_closed && blocks_by_status,
        wait: row.wait,
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
