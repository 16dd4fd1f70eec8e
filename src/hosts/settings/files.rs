//! The settings files of agent hosts: where their hooks are, the keys of each, and the rules by
//! which hooks are matched, started and timed.
//!
//! Sources: the documents and sources of the hosts, and what was measured with Claude Code
//! 2.1.329, Codex CLI 0.169.0 and Gemini CLI 0.61.0. Cursor was not measured.

mod others;
mod row;

use crate::engine::names::words;

use HostHookKey::{
    About, Arguments, Async, Closed, ClosedFlag, Command, Condition, Folder, Hooks, Idle, InOrder,
    Kind, Matcher, Name, OfKind, Program, Shell, Time, Variables, Void,
};
pub(crate) use others::{
    AGY, CRUSH, DEVIN, FACTORY, GOOSE, GROK, KIMI, KIRO, QWEN, VSCODE, WINDSURF,
};
pub use row::{
    HookKey, HostFile, HostHookKey, MatcherSubject, Matching, Off, TimeoutUnit, Together, key,
};

/// The host that a TOML settings file belongs to, if neither its user nor its folder tells.
pub const IN_TOML: Option<&str> = Some("codex");

/// The settings file of the host that is called `name`.
pub fn of(name: &str) -> Option<&'static HostFile> {
    HOST_FILES.iter().find(|file| file.dialect == name)
}

/// Every settings file of an agent host that is known.
pub const HOST_FILES: &[HostFile] = &[
    CLAUDE, CODEX, GEMINI, CURSOR, COPILOT, QWEN, VSCODE, FACTORY, WINDSURF, DEVIN, CRUSH, GOOSE,
    AGY, GROK, KIRO, KIMI,
];

const TOOL: MatcherSubject = MatcherSubject::Tool;
const COMMAND: MatcherSubject = MatcherSubject::Command;
const SERVER: MatcherSubject = MatcherSubject::Fact("mcpServer");
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
    group: &[
        key("matcher", Matcher),
        key("hooks", Hooks),
        key("description", About),
    ],
    hook: &[
        key("type", Kind),
        key("command", Command),
        key("args", Arguments),
        key("timeout", Time),
        key("if", Condition),
        key("async", Async),
        key("asyncRewake", Async),
        key("shell", Shell),
        key("statusMessage", About),
        key(
            "once",
            Void("it runs every time, as it does in such a file of its host"),
        ),
        key("onFailure", Closed("block")),
        key(
            "continueOnBlock",
            Void("a turn goes on after what a hook objects to"),
        ),
        key("description", About),
        key("name", About),
        key("url", OfKind),
        key("headers", OfKind),
        key("allowedEnvVars", OfKind),
        key("prompt", OfKind),
        key("model", OfKind),
        key("server", OfKind),
        key("tool", OfKind),
        key("input", OfKind),
    ],
    of_plugin: &["CLAUDE_PLUGIN_ROOT"],
    kinds: &["command", "http", "mcp_tool", "prompt", "agent"],
    matching: Matching {
        list: Some("_- ,|"),
        divides: &['|', ','],
        ..Matching::SEARCHED
    },
    subjects: &[
        (
            TOOL,
            words!(
                "PreToolUse" "PostToolUse" "PostToolUseFailure" "PermissionRequest"
                "PermissionDenied"
            ),
        ),
        (SOURCE, &["SessionStart", "ConfigChange"]),
        (REASON, &["SessionEnd", "InstructionsLoaded"]),
        (TRIGGER, &["Setup", "PreCompact", "PostCompact"]),
        (SORT, &["Notification"]),
        (AGENT, &["SubagentStart", "SubagentStop"]),
        (MatcherSubject::Fact("code"), &["StopFailure"]),
        (SERVER, &["Elicitation", "ElicitationResult"]),
    ],
    together: Together::AtOnce,
    off: Some(Off {
        path: &["disableAllHooks"],
        value: true,
    }),
    ..HostFile::PLAIN
};

pub(crate) const CODEX: HostFile = HostFile {
    dialect: "codex",
    name: "Codex's hooks.json or config.toml",
    folders: &[".codex"],
    is_grouped: true,
    // What the person has accepted.
    beside: &["state"],
    group: &[key("matcher", Matcher), key("hooks", Hooks)],
    hook: &[
        key("type", Kind),
        key("command", Command),
        key("commandWindows", Idle),
        key("command_windows", Idle),
        key("timeout", Time),
        key("async", Async),
        key("statusMessage", About),
        key(
            "additionalContextLimit",
            Void("what it says for the model stays whole"),
        ),
        key("server", OfKind),
        key("tool", OfKind),
        key("prompt", OfKind),
    ],
    of_plugin: &["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
    kinds: &["command", "mcp_tool", "prompt", "agent"],
    matching: Matching {
        list: Some("_|"),
        divides: &['|'],
        ..Matching::SEARCHED
    },
    subjects: &[
        (TOOL, &["PreToolUse", "PostToolUse", "PermissionRequest"]),
        (SOURCE, &["SessionStart"]),
        (REASON, &["SessionEnd"]),
        (TRIGGER, &["PreCompact", "PostCompact"]),
        (AGENT, &["SubagentStart", "SubagentStop"]),
        (MatcherSubject::Fact("code"), &["StopFailure"]),
    ],
    together: Together::AtOnce,
    off: Some(Off {
        path: &["features", "hooks"],
        value: false,
    }),
    ..HostFile::PLAIN
};

pub(crate) const GEMINI: HostFile = HostFile {
    dialect: "gemini",
    name: "Gemini CLI's settings.json",
    folders: &[".gemini"],
    is_grouped: true,
    has_comments: true,
    beside: &["disabled"],
    group: &[
        key("matcher", Matcher),
        key("sequential", InOrder),
        key("hooks", Hooks),
        key("description", About),
    ],
    hook: &[
        key("type", Kind),
        key("command", Command),
        key("name", Name),
        key("timeout", Time),
        key("description", About),
        key("env", Variables),
    ],
    kinds: &["command", "runtime"],
    time: TimeoutUnit::MILLIS,
    matching: Matching {
        falls_back: true,
        is_plain: true,
        ..Matching::SEARCHED
    },
    subjects: &[
        (TOOL, &["BeforeTool", "AfterTool"]),
        (SOURCE, &["SessionStart"]),
        (REASON, &["SessionEnd"]),
        (TRIGGER, &["PreCompress"]),
        (SORT, &["Notification"]),
    ],
    together: Together::AtOnceUnlessSaid,
    off: Some(Off {
        path: &["hooksConfig", "enabled"],
        value: false,
    }),
    disabled: &[&["hooks", "disabled"], &["hooksConfig", "disabled"]],
    ..HostFile::PLAIN
};

pub(crate) const CURSOR: HostFile = HostFile {
    dialect: "cursor",
    name: "Cursor's hooks.json",
    folders: &[".cursor"],
    hook: &[
        key("type", Kind),
        key("command", Command),
        key("timeout", Time),
        key("matcher", Matcher),
        key("failClosed", ClosedFlag),
        key(
            "loop_limit",
            Void("how often an agent may be sent on is the host's business"),
        ),
        key("prompt", OfKind),
        key("model", OfKind),
    ],
    kinds: &["command", "prompt"],
    subjects: &[
        (
            TOOL,
            words!(
                "preToolUse" "postToolUse" "postToolUseFailure" "beforeReadFile" "afterFileEdit"
                "beforeMCPExecution" "afterMCPExecution"
            ),
        ),
        (COMMAND, &["beforeShellExecution", "afterShellExecution"]),
        (AGENT, &["subagentStart", "subagentStop"]),
    ],
    ..HostFile::PLAIN
};

pub(crate) const COPILOT: HostFile = HostFile {
    dialect: "copilot",
    name: "a file of hooks of Copilot CLI",
    folders: &[".github", ".copilot"],
    has_other_words: true,
    hook: &[
        key("type", Kind),
        key("bash", Command),
        key("command", Command),
        key("powershell", Idle),
        key("exec", Program),
        key("args", Arguments),
        key("cwd", Folder),
        key("env", Variables),
        key("timeoutSec", Time),
        key("timeout", Time),
        key("matcher", Matcher),
        key("comment", About),
        key("description", About),
        key("url", OfKind),
        key("headers", OfKind),
        key("allowedEnvVars", OfKind),
        key("prompt", OfKind),
    ],
    kinds: &["command", "http", "prompt"],
    matching: Matching {
        is_anchored: true,
        ..Matching::SEARCHED
    },
    subjects: &[
        (
            TOOL,
            &[
                "preToolUse",
                "postToolUse",
                "postToolUseFailure",
                "permissionRequest",
            ],
        ),
        (SOURCE, &["sessionStart"]),
        (REASON, &["sessionEnd"]),
        (SORT, &["notification"]),
        (TRIGGER, &["preCompact"]),
        (AGENT, &["subagentStart", "subagentStop"]),
    ],
    off: Some(Off {
        path: &["disableAllHooks"],
        value: true,
    }),
    ..HostFile::PLAIN
};
