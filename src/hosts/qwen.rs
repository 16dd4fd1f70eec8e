//! Qwen Code: Claude Code's events, keys and words over Gemini CLI's tools.
//!
//! Sources: `docs/users/features/hooks.md` of its repository; measured with version 0.24.4. Its
//! settings count milliseconds for commands. Without a person to ask (`-p`), a question blocks. The
//! page documents a new input and context before a tool; that version drops both.

use super::claude::{
    ASK, FAMILY, GATES, GATES_AND_TEACHES, OBJECTS, OBSERVED, PERMITS, TEACHES, TOOL_READS,
    post_tool_use,
};
use super::prelude::*;

static PRE_TOOL_USE: ReplyForm = form(&[BLOCK_RULE, ASK, SHOW], TOOL_READS, READS_ADDED);

const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(60));

pub(super) static QWEN: Host = Host {
    name: "qwen",
    aliases: &["qwen-code"],
    title: "Qwen Code",
    tools: &[
        tool("run_shell_command", ToolSort::Shell),
        tool("read_file", ToolSort::Read),
        tool("write_file", ToolSort::Write),
        tool("edit", ToolSort::Edit),
        tool("grep_search", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("list_directory", ToolSort::List),
        tool("web_fetch", ToolSort::Fetch),
        tool("web_search", ToolSort::WebSearch),
        tool("agent", ToolSort::Agent).also(&["task"]),
    ],
    variables: &[("QWEN_PROJECT_DIR", VariableValue::Project)],
    events: &[
        ROW.observed("SessionStart", "session.start", &TEACHES),
        ROW.observed("SessionEnd", "session.end", &OBSERVED),
        ROW.gate("UserPromptSubmit", "prompt.submit", &GATES_AND_TEACHES),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE),
        ROW.gate("PermissionRequest", "permission.request", &PERMITS),
        ROW.observed("PermissionDenied", "permission.denied", &OBSERVED),
        post_tool_use(ROW, &OBJECTS),
        ROW.observed("PostToolUseFailure", "tool.error", &TEACHES),
        ROW.observed("Notification", "notification", &OBSERVED)
            .keys(&[("notification_type", "kind")]),
        ROW.observed("SubagentStart", "subagent.start", &TEACHES),
        ROW.open_gate("SubagentStop", "subagent.stop", &GATES),
        ROW.open_gate("Stop", "agent.stop", &GATES),
        ROW.observed("PreCompact", "compact.pre", &OBSERVED),
    ],
    trust: Some("trust the folder if `security.folderTrust` is on"),
    converts: &["claude"],
    settings: Some(HostFile {
        shell: Some("bash"),
        places: &[".qwen"],
        hook: &[
            ("type", Kind),
            ("command", Command),
            ("args", Arguments),
            ("timeout", Time),
            ("name", Name),
            ("description", About),
            ("statusMessage", About),
            ("async", Async),
            ("env", Variables),
            ("shell", Shell),
        ],
        per_second: 1000,
        subjects: SUBJECTS,
        off: DISABLE_ALL,
        comments: Comments::Read,
        ..HostFile::FAMILY
    }),
    install: Install {
        project: ".qwen/settings.json",
        user: UserFile::Home(".qwen/settings.json"),
        cannot: &["with `-p`, nobody can answer, so a hook that asks blocks"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
