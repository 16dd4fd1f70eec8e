//! The settings files of the hosts that came after the first five: most are Claude Code's shape with
//! other keys.
//!
//! Sources: their documents, as `hosts::facts` dates them.

use std::time::Duration;

use super::row::HostHookKey::{
    About, Action, Arguments, Async, Closed, Command, Enabled, Event, Folder, Hooks, Idle, InOrder,
    Kind, Matcher, Name, OfKind, OwnCommand, Shell, Time, Variables, Void,
};
use super::row::{HookKey, HostFile, MatcherSubject, Off, TimeoutUnit, Together, key};

const TOOL: MatcherSubject = MatcherSubject::Tool;
const TOOL_EVENTS: &[&str] = &["PreToolUse", "PostToolUse"];

/// A group as Claude Code has it.
const GROUP: &[HookKey] = &[key("matcher", Matcher), key("hooks", Hooks)];

/// A hook as Claude Code had it first.
const HOOK: &[HookKey] = &[
    key("type", Kind),
    key("command", Command),
    key("timeout", Time),
];

const FAMILY: HostFile = HostFile {
    is_grouped: true,
    group: GROUP,
    hook: HOOK,
    kinds: &["command"],
    subjects: &[(TOOL, TOOL_EVENTS)],
    together: Together::AtOnce,
    ..HostFile::PLAIN
};

pub(crate) const QWEN: HostFile = HostFile {
    dialect: "qwen",
    name: "Qwen Code's settings.json",
    folders: &[".qwen"],
    has_comments: true,
    group: &[
        key("matcher", Matcher),
        key("sequential", InOrder),
        key("hooks", Hooks),
    ],
    hook: &[
        key("type", Kind),
        key("command", Command),
        key("args", Arguments),
        key("timeout", Time),
        key("name", Name),
        key("description", About),
        key("statusMessage", About),
        key("async", Async),
        key("env", Variables),
        key("shell", Shell),
        key("once", Void("it runs every time")),
        key("url", OfKind),
        key("headers", OfKind),
        key("allowedEnvVars", OfKind),
        key("prompt", OfKind),
        key("model", OfKind),
    ],
    kinds: &["command", "http", "prompt", "function"],
    time: TimeoutUnit::MILLIS,
    subjects: &[
        (
            TOOL,
            &[
                "PreToolUse",
                "PostToolUse",
                "PostToolUseFailure",
                "PermissionRequest",
                "PermissionDenied",
            ],
        ),
        (MatcherSubject::Fact("source"), &["SessionStart"]),
        (MatcherSubject::Fact("reason"), &["SessionEnd"]),
        (MatcherSubject::Fact("trigger"), &["PreCompact"]),
        (MatcherSubject::Fact("kind"), &["Notification"]),
        (
            MatcherSubject::Fact("agentType"),
            &["SubagentStart", "SubagentStop"],
        ),
    ],
    together: Together::AtOnceUnlessSaid,
    off: Some(Off {
        path: &["disableAllHooks"],
        value: true,
    }),
    ..FAMILY
};

/// It reads no matcher: a hook sees every tool.
pub(crate) const VSCODE: HostFile = HostFile {
    dialect: "vscode",
    name: "a file of hooks of VS Code",
    folders: &[".github", ".copilot"],
    hook: &[
        key("type", Kind),
        key("command", Command),
        key(
            "linux",
            if cfg!(target_os = "linux") {
                OwnCommand
            } else {
                Idle
            },
        ),
        key(
            "osx",
            if cfg!(target_os = "macos") {
                OwnCommand
            } else {
                Idle
            },
        ),
        key("windows", Idle),
        key("cwd", Folder),
        key("env", Variables),
        key("timeout", Time),
    ],
    kinds: &["command"],
    usual: Duration::from_secs(30),
    ..HostFile::PLAIN
};

pub(crate) const FACTORY: HostFile = HostFile {
    dialect: "factory",
    name: "Factory Droid's settings.json or hooks.json",
    folders: &[".factory"],
    ..FAMILY
};

pub(crate) const WINDSURF: HostFile = HostFile {
    dialect: "windsurf",
    name: "Windsurf's hooks.json",
    folders: &[".windsurf", "windsurf"],
    hook: &[
        key("command", Command),
        key("powershell", Idle),
        key(
            "show_output",
            Void("what it prints is shown as everything is"),
        ),
        key("working_directory", Folder),
    ],
    kinds: &["command"],
    ..HostFile::PLAIN
};

pub(crate) const DEVIN: HostFile = HostFile {
    dialect: "devin",
    name: "Devin CLI's config.json or hooks.v1.json",
    folders: &[".devin", "devin"],
    named: &["hooks.v1.json"],
    has_comments: true,
    hook: &[
        key("type", Kind),
        key("command", Command),
        key("timeout", Time),
        key("prompt", OfKind),
    ],
    kinds: &["command", "prompt"],
    subjects: &[(TOOL, &["PreToolUse", "PostToolUse", "PermissionRequest"])],
    ..FAMILY
};

pub(crate) const CRUSH: HostFile = HostFile {
    dialect: "crush",
    name: "crush.json",
    folders: &["crush"],
    named: &["crush.json", ".crush.json"],
    hook: &[
        key("name", Name),
        key("matcher", Matcher),
        key("command", Command),
        key("timeout", Time),
    ],
    kinds: &["command"],
    usual: Duration::from_secs(30),
    subjects: &[(TOOL, &["PreToolUse"])],
    together: Together::AtOnce,
    ..HostFile::PLAIN
};

pub(crate) const GOOSE: HostFile = HostFile {
    dialect: "goose",
    name: "goose's hooks.json",
    folders: &[".agents"],
    hook: &[
        key("type", Kind),
        key("command", Command),
        key("timeout", Time),
        key("on_failure", Closed("block")),
    ],
    of_plugin: &["PLUGIN_ROOT"],
    usual: Duration::from_secs(30),
    subjects: &[(TOOL, &["PreToolUse", "PostToolUse", "PostToolUseFailure"])],
    ..FAMILY
};

pub(crate) const AGY: HostFile = HostFile {
    dialect: "agy",
    name: "Antigravity's hooks.json",
    folders: &[".agents"],
    named: &[".agents/hooks.json", ".gemini/config/hooks.json"],
    ungrouped: &["PreInvocation", "PostInvocation", "Stop"],
    has_sets: true,
    beside: &["enabled"],
    ..FAMILY
};

pub(crate) const GROK: HostFile = HostFile {
    dialect: "grok",
    name: "a file of hooks of Grok Build",
    folders: &[".grok"],
    hook: &[
        key("type", Kind),
        key("command", Command),
        key("timeout", Time),
        key("url", OfKind),
    ],
    kinds: &["command", "http"],
    usual: Duration::from_secs(5),
    subjects: &[(TOOL, &["PreToolUse", "PostToolUse", "PostToolUseFailure"])],
    ..FAMILY
};

/// All hooks are in one list, each with its event and an action.
pub(crate) const KIRO: HostFile = HostFile {
    dialect: "kiro",
    name: "a file of hooks of Kiro",
    folders: &[".kiro"],
    hook: &[
        key("name", Name),
        key("trigger", Event),
        key("matcher", Matcher),
        key("action", Action),
        key("type", Kind),
        key("command", Command),
        key("timeout", Time),
        key("enabled", Enabled),
        key("description", About),
        key("prompt", OfKind),
    ],
    kinds: &["command", "agent"],
    subjects: &[(TOOL, TOOL_EVENTS)],
    ..HostFile::PLAIN
};

/// A key that is not one of these four makes the whole file invalid (2.1.0).
pub(crate) const KIMI: HostFile = HostFile {
    dialect: "kimi",
    name: "Kimi Code's config.toml",
    folders: &[".kimi-code"],
    is_toml: true,
    hook: &[
        key("event", Event),
        key("matcher", Matcher),
        key("command", Command),
        key("timeout", Time),
    ],
    kinds: &["command"],
    usual: Duration::from_secs(30),
    subjects: &[
        (
            TOOL,
            &[
                "PreToolUse",
                "PostToolUse",
                "PostToolUseFailure",
                "PermissionRequest",
            ],
        ),
        (MatcherSubject::Fact("prompt"), &["UserPromptSubmit"]),
        (MatcherSubject::Fact("source"), &["SessionStart"]),
        (MatcherSubject::Fact("reason"), &["SessionEnd"]),
        (MatcherSubject::Fact("code"), &["StopFailure"]),
        (
            MatcherSubject::Fact("agentType"),
            &["SubagentStart", "SubagentStop"],
        ),
        (
            MatcherSubject::Fact("trigger"),
            &["PreCompact", "PostCompact"],
        ),
        (MatcherSubject::Fact("kind"), &["Notification"]),
    ],
    together: Together::AtOnce,
    ..HostFile::PLAIN
};
