//! The settings files of agent hosts: where their hooks stand, what may be said of each, and by
//! which rules they are matched, started and timed.
//!
//! Sources: the documents and sources of the hosts, and what was measured with Claude Code
//! 2.1.329, Codex CLI 0.169.0 and Gemini CLI 0.61.0. Cursor and Copilot were not measured.

mod row;

use std::time::Duration;

pub use row::{
    HookKey, HostFile, HostHookKey, MatcherSubject, Matching, Off, TimeoutUnit, Together,
};

/// The host whose settings may be TOML.
pub const IN_TOML: Option<&str> = Some("codex");

/// The settings file of the host that is called `name`.
pub fn of(name: &str) -> Option<&'static HostFile> {
    HOST_FILES.iter().find(|file| file.dialect == name)
}

/// Every settings file of an agent host that is known.
pub const HOST_FILES: &[HostFile] = &[CLAUDE, CODEX, GEMINI, CURSOR, COPILOT];

const fn key(name: &'static str, says: HostHookKey) -> HookKey {
    HookKey { name, says }
}

const SEARCHED: Matching =
    Matching { list: None, divides: &[], is_anchored: false, falls_back: false, is_plain: false };

const SOURCE: MatcherSubject = MatcherSubject::Fact("source");
const REASON: MatcherSubject = MatcherSubject::Fact("reason");
const TRIGGER: MatcherSubject = MatcherSubject::Fact("trigger");
const AGENT: MatcherSubject = MatcherSubject::Fact("agentType");
const SORT: MatcherSubject = MatcherSubject::Fact("kind");

pub(crate) const CLAUDE: HostFile = HostFile {
    dialect: "claude",
    name: "Claude Code's settings.json or hooks.json",
    folders: &[".claude"],
    is_grouped: true,
    has_comments: false,
    beside: &[],
    has_other_words: false,
    group: &[
        key("matcher", HostHookKey::Matcher),
        key("hooks", HostHookKey::Hooks),
        key("description", HostHookKey::About),
    ],
    hook: &[
        key("type", HostHookKey::Kind),
        key("command", HostHookKey::Command),
        key("args", HostHookKey::Arguments),
        key("timeout", HostHookKey::Time),
        key("if", HostHookKey::Condition),
        key("async", HostHookKey::Async),
        key("asyncRewake", HostHookKey::Async),
        key("shell", HostHookKey::Shell),
        key("statusMessage", HostHookKey::About),
        key("once", HostHookKey::Void("it runs every time, as it does in such a file of its host")),
        key("onFailure", HostHookKey::Closed("block")),
        key("description", HostHookKey::About),
        key("name", HostHookKey::About),
        key("url", HostHookKey::OfKind),
        key("headers", HostHookKey::OfKind),
        key("allowedEnvVars", HostHookKey::OfKind),
        key("prompt", HostHookKey::OfKind),
        key("model", HostHookKey::OfKind),
        key("server", HostHookKey::OfKind),
        key("tool", HostHookKey::OfKind),
        key("input", HostHookKey::OfKind),
    ],
    of_plugin: &["CLAUDE_PLUGIN_ROOT"],
    kinds: &["command", "http", "mcp_tool", "prompt", "agent"],
    shell: &["sh", "-c"],
    shell_note: None,
    time: TimeoutUnit {
        per_second: 1,
        usual: Duration::from_secs(600),
        usual_of: &[
            ("UserPromptSubmit", Duration::from_secs(30)),
            ("PreModelSwitch", Duration::from_secs(30)),
            ("PostModelSwitch", Duration::from_secs(30)),
            ("MessageDisplay", Duration::from_secs(10)),
            ("SessionEnd", Duration::from_millis(1500)),
        ],
        least: 0.0,
        most: 3600.0,
    },
    matching: Matching { list: Some("_- ,|"), divides: &['|', ','], ..SEARCHED },
    subjects: &[
        ("PreToolUse", MatcherSubject::Tool),
        ("PostToolUse", MatcherSubject::Tool),
        ("PostToolUseFailure", MatcherSubject::Tool),
        ("PermissionRequest", MatcherSubject::Tool),
        ("PermissionDenied", MatcherSubject::Tool),
        ("SessionStart", SOURCE),
        ("SessionEnd", REASON),
        ("Setup", TRIGGER),
        ("PreCompact", TRIGGER),
        ("PostCompact", TRIGGER),
        ("Notification", SORT),
        ("SubagentStart", AGENT),
        ("SubagentStop", AGENT),
        ("StopFailure", MatcherSubject::Fact("code")),
        ("ConfigChange", SOURCE),
        ("InstructionsLoaded", REASON),
        ("Elicitation", MatcherSubject::Fact("mcpServer")),
        ("ElicitationResult", MatcherSubject::Fact("mcpServer")),
    ],
    together: Together::AtOnce,
    off: Some(Off { path: &["disableAllHooks"], value: true }),
    disabled: &[],
};

pub(crate) const CODEX: HostFile = HostFile {
    dialect: "codex",
    name: "Codex's hooks.json or config.toml",
    folders: &[".codex"],
    is_grouped: true,
    has_comments: false,
    // What the person has accepted.
    beside: &["state"],
    has_other_words: false,
    group: &[key("matcher", HostHookKey::Matcher), key("hooks", HostHookKey::Hooks)],
    hook: &[
        key("type", HostHookKey::Kind),
        key("command", HostHookKey::Command),
        key("commandWindows", HostHookKey::Idle),
        key("timeout", HostHookKey::Time),
        key("async", HostHookKey::Async),
        key("statusMessage", HostHookKey::About),
        key("additionalContextLimit", HostHookKey::Void("what it says for the model stays whole")),
        key("server", HostHookKey::OfKind),
        key("tool", HostHookKey::OfKind),
        key("prompt", HostHookKey::OfKind),
    ],
    of_plugin: &["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
    kinds: &["command", "mcp_tool", "prompt", "agent"],
    shell: &["sh", "-c"],
    shell_note: Some(
        "the host starts them by the login shell of the account, which reads its profile first; here `sh -c` does, and no profile is read",
    ),
    time: TimeoutUnit {
        per_second: 1,
        usual: Duration::from_secs(600),
        usual_of: &[("SessionEnd", Duration::from_secs(1)), ("Interrupt", Duration::from_secs(1))],
        least: 0.0,
        most: 3600.0,
    },
    matching: Matching { list: Some("_|"), divides: &['|'], ..SEARCHED },
    subjects: &[
        ("PreToolUse", MatcherSubject::Tool),
        ("PostToolUse", MatcherSubject::Tool),
        ("PermissionRequest", MatcherSubject::Tool),
        ("SessionStart", SOURCE),
        ("SessionEnd", REASON),
        ("PreCompact", TRIGGER),
        ("PostCompact", TRIGGER),
        ("SubagentStart", AGENT),
        ("SubagentStop", AGENT),
        ("StopFailure", MatcherSubject::Fact("code")),
    ],
    together: Together::AtOnce,
    off: Some(Off { path: &["features", "hooks"], value: false }),
    disabled: &[],
};

pub(crate) const GEMINI: HostFile = HostFile {
    dialect: "gemini",
    name: "Gemini CLI's settings.json",
    folders: &[".gemini"],
    is_grouped: true,
    has_comments: true,
    beside: &["disabled"],
    has_other_words: false,
    group: &[
        key("matcher", HostHookKey::Matcher),
        key("sequential", HostHookKey::InOrder),
        key("hooks", HostHookKey::Hooks),
        key("description", HostHookKey::About),
    ],
    hook: &[
        key("type", HostHookKey::Kind),
        key("command", HostHookKey::Command),
        key("name", HostHookKey::Name),
        key("timeout", HostHookKey::Time),
        key("description", HostHookKey::About),
        key("env", HostHookKey::Variables),
    ],
    of_plugin: &[],
    kinds: &["command", "runtime"],
    shell: &["bash", "-c"],
    shell_note: None,
    time: TimeoutUnit {
        per_second: 1000,
        usual: Duration::from_secs(60),
        usual_of: &[],
        least: 1000.0,
        most: f64::INFINITY,
    },
    matching: Matching { falls_back: true, is_plain: true, ..SEARCHED },
    subjects: &[
        ("BeforeTool", MatcherSubject::Tool),
        ("AfterTool", MatcherSubject::Tool),
        ("SessionStart", SOURCE),
        ("SessionEnd", REASON),
        ("PreCompress", TRIGGER),
        ("Notification", SORT),
    ],
    together: Together::AtOnceUnlessSaid,
    off: Some(Off { path: &["hooksConfig", "enabled"], value: false }),
    disabled: &[&["hooks", "disabled"], &["hooksConfig", "disabled"]],
};

pub(crate) const CURSOR: HostFile = HostFile {
    dialect: "cursor",
    name: "Cursor's hooks.json",
    folders: &[".cursor"],
    is_grouped: false,
    has_comments: false,
    beside: &[],
    has_other_words: false,
    group: &[],
    hook: &[
        key("type", HostHookKey::Kind),
        key("command", HostHookKey::Command),
        key("timeout", HostHookKey::Time),
        key("matcher", HostHookKey::Matcher),
        key("failClosed", HostHookKey::ClosedFlag),
        key(
            "loop_limit",
            HostHookKey::Void("how often an agent may be sent on is the host's business"),
        ),
        key("prompt", HostHookKey::OfKind),
        key("model", HostHookKey::OfKind),
    ],
    of_plugin: &[],
    kinds: &["command", "prompt"],
    shell: &["sh", "-c"],
    shell_note: None,
    // Its documents say "platform default".
    time: TimeoutUnit {
        per_second: 1,
        usual: Duration::from_secs(60),
        usual_of: &[],
        least: 0.0,
        most: 3600.0,
    },
    matching: SEARCHED,
    subjects: &[
        ("preToolUse", MatcherSubject::Tool),
        ("postToolUse", MatcherSubject::Tool),
        ("postToolUseFailure", MatcherSubject::Tool),
        ("beforeReadFile", MatcherSubject::Tool),
        ("afterFileEdit", MatcherSubject::Tool),
        ("beforeMCPExecution", MatcherSubject::Tool),
        ("afterMCPExecution", MatcherSubject::Tool),
        ("beforeShellExecution", MatcherSubject::Command),
        ("afterShellExecution", MatcherSubject::Command),
        ("subagentStart", AGENT),
        ("subagentStop", AGENT),
    ],
    together: Together::InOrder,
    off: None,
    disabled: &[],
};

pub(crate) const COPILOT: HostFile = HostFile {
    dialect: "copilot",
    name: "a file of hooks of Copilot CLI",
    folders: &[".github", ".copilot"],
    is_grouped: false,
    has_comments: false,
    beside: &[],
    has_other_words: true,
    group: &[],
    hook: &[
        key("type", HostHookKey::Kind),
        key("bash", HostHookKey::Command),
        key("command", HostHookKey::Command),
        key("powershell", HostHookKey::Idle),
        key("exec", HostHookKey::Program),
        key("args", HostHookKey::Arguments),
        key("cwd", HostHookKey::Folder),
        key("env", HostHookKey::Variables),
        key("timeoutSec", HostHookKey::Time),
        key("timeout", HostHookKey::Time),
        key("matcher", HostHookKey::Matcher),
        key("comment", HostHookKey::About),
        key("description", HostHookKey::About),
        key("url", HostHookKey::OfKind),
        key("headers", HostHookKey::OfKind),
        key("prompt", HostHookKey::OfKind),
    ],
    of_plugin: &[],
    kinds: &["command", "http", "prompt"],
    shell: &["bash", "-c"],
    shell_note: None,
    time: TimeoutUnit {
        per_second: 1,
        usual: Duration::from_secs(30),
        usual_of: &[],
        least: 0.0,
        most: 3600.0,
    },
    matching: Matching { is_anchored: true, ..SEARCHED },
    subjects: &[
        ("preToolUse", MatcherSubject::Tool),
        ("postToolUse", MatcherSubject::Tool),
        ("postToolUseFailure", MatcherSubject::Tool),
        ("permissionRequest", MatcherSubject::Tool),
        ("sessionStart", SOURCE),
        ("sessionEnd", REASON),
        ("notification", SORT),
        ("preCompact", TRIGGER),
        ("subagentStart", AGENT),
        ("subagentStop", AGENT),
    ],
    together: Together::InOrder,
    off: Some(Off { path: &["disableAllHooks"], value: true }),
    disabled: &[],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects;
    use crate::engine::event::catalog;

    #[test]
    fn the_tables_are_over_the_events_of_their_dialects() {
        for file in HOST_FILES {
            let dialect = dialects::find(file.dialect).unwrap();
            let known = |name: &str| dialect.events.iter().find(|row| row.name == name);
            for (event, subject) in file.subjects {
                let row = known(event).unwrap_or_else(|| panic!("{}: {event}", file.dialect));
                let spec = catalog::find(row.event).unwrap();
                match subject {
                    MatcherSubject::Tool | MatcherSubject::Command => {
                        assert!(spec.has_action(), "{event}")
                    }
                    MatcherSubject::Fact(key) => assert!(spec.carries(key), "{event}: {key}"),
                }
            }
            for (event, _) in file.time.usual_of {
                assert!(known(event).is_some(), "{}: {event}", file.dialect);
            }
            assert_eq!(file.is_grouped, !file.group.is_empty(), "{}", file.dialect);
        }
    }
}
