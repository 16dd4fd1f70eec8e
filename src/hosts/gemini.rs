//! Gemini CLI: its own names, and JSON that overrides the exit status.
//!
//! Sources: its hooks reference and `packages/core/src/hooks` of 21 August 2026; measured with
//! version 0.61.0. JSON wins over any exit status, so hookrun blocks by exit status 2 with the
//! reason on stderr and an empty stdout. `ask` waits for a person even in a session without one.

use super::claude::FAMILY;
use super::prelude::*;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

const CONTEXT: ReplyRule = say(Context, &[("hookSpecificOutput.additionalContext", Text)]);

const fn form(writes: &'static [ReplyRule], shares: &'static [ReplyKey]) -> ReplyForm {
    ReplyForm {
        writes,
        reads: &[],
        shares,
        blocks: BlockStatus::FromTwo,
    }
}

static OBSERVED: ReplyForm = form(&[SHOW], READS);
static TEACHES: ReplyForm = form(&[CONTEXT, SHOW], READS_ADDED);
static GATES: ReplyForm = form(&[BLOCK_RULE, SHOW], READS);
static GATES_AND_TEACHES: ReplyForm = form(&[BLOCK_RULE, CONTEXT, SHOW], READS_ADDED);

static BEFORE_TOOL: ReplyForm = ReplyForm {
    reads: &[key("hookSpecificOutput.tool_input", TOOL_INPUT)],
    ..form(
        &[
            BLOCK_RULE,
            say(Question, &[("decision", Word("ask")), ("reason", Text)]),
            // It replaces the input, although its document says that it merges.
            say(
                New("toolInput"),
                &[("hookSpecificOutput.tool_input", Value)],
            ),
            // It drops `additionalContext` before a tool (measured).
            SHOW,
        ],
        READS_ADDED,
    )
};

/// A block replaces the result's text.
static AFTER_TOOL: ReplyForm = form(
    &[
        say(Objection, &[("decision", Word("deny")), ("reason", Text)]),
        say(
            New("result"),
            &[("decision", Word("deny")), ("reason", Plain)],
        ),
        CONTEXT,
        SHOW,
    ],
    READS_ADDED,
);

/// The documented and measured timeout; its settings count milliseconds.
const ROW: HostEvent = HostEvent::OBSERVER.waits(Wait::seconds(60));

const NOT_GEMINIS: &[&str] = words!(
    "prompt_id" "turn_id" "model" "permission_mode" "initial_prompt" "stop_reason" "type"
    "sessionId" "conversation_id" "cursor_version"
);

pub(super) static GEMINI: Host = Host {
    name: "gemini",
    aliases: &["gemini-cli"],
    title: "Gemini CLI",
    tools: &[
        tool("run_shell_command", ToolSort::Shell),
        tool("read_file", ToolSort::Read),
        tool("write_file", ToolSort::Write),
        tool("replace", ToolSort::Edit),
        tool("search_file_content", ToolSort::Grep).also(&["grep_search"]),
        tool("grep_search", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("list_directory", ToolSort::List),
        tool("web_fetch", ToolSort::Fetch),
        tool("google_web_search", ToolSort::WebSearch),
        tool("delegate_to_agent", ToolSort::Agent),
    ],
    mcp: Mcp::Single,
    variables: &[
        ("GEMINI_PROJECT_DIR", VariableValue::Project),
        ("GEMINI_CWD", VariableValue::Folder),
        ("GEMINI_SESSION_ID", VariableValue::Fact("sessionId")),
        ("CLAUDE_PROJECT_DIR", VariableValue::Project),
    ],
    events: &[
        ROW.observed("SessionStart", "session.start", &TEACHES),
        ROW.observed("SessionEnd", "session.end", &OBSERVED),
        ROW.gate("BeforeAgent", "prompt.submit", &GATES_AND_TEACHES),
        ROW.open_gate("AfterAgent", "agent.stop", &GATES)
            .keys(&[("prompt_response", "lastAssistantMessage")]),
        // A blocked model request returns an empty answer.
        ROW.gate("BeforeModel", "model.pre", &GATES),
        ROW.observed("AfterModel", "model.post", &OBSERVED),
        ROW.observed("BeforeToolSelection", "model.tools", &OBSERVED),
        ROW.gate("BeforeTool", "tool.pre", &BEFORE_TOOL),
        ROW.observed("AfterTool", "tool.post", &AFTER_TOOL)
            .keys(&[("tool_response", "result")])
            .schedule(Schedule::Sequential),
        ROW.observed("Notification", "notification", &OBSERVED)
            .keys(&[("notification_type", "kind")]),
        ROW.observed("PreCompress", "compact.pre", &OBSERVED),
    ],
    trust: Some(
        "trust the folder, and accept its hooks when Gemini CLI asks; `--skip-trust` disables project hooks, and GEMINI_CLI_TRUST_WORKSPACE=true enables them",
    ),
    signs: &[
        // For the same event names, Copilot CLI lacks transcript and time; Qwen Code sends both.
        sign(
            SignedEvents::KnownNotIn("qwen"),
            &["session_id", "transcript_path", "timestamp"],
            NOT_GEMINIS,
        ),
        sign(SignedEvents::Alone, &["session_id"], NOT_GEMINIS),
    ],
    words: &["llm_request", "llm_response"],
    settings: Some(HostFile {
        shell: Some("bash"),
        places: &[".gemini"],
        beside: &["disabled", "enabled"],
        hook: &[
            ("type", Kind),
            ("command", Command),
            ("name", Name),
            ("timeout", Time),
            ("description", About),
            ("env", Variables),
        ],
        per_second: 1000,
        matching: Matching {
            is_plain: true,
            ..Matching::SEARCHED
        },
        subjects: &[
            (BY_TOOL, "BeforeTool AfterTool"),
            (BY_SOURCE, "SessionStart"),
            (BY_REASON, "SessionEnd"),
            (BY_TRIGGER, "PreCompress"),
            (BY_KIND, "Notification"),
        ],
        off: &[(&["hooksConfig", "enabled"], false)],
        disabled: &[&["hooksConfig", "disabled"]],
        comments: Comments::Read,
        takes_mark: false,
        ..HostFile::FAMILY
    }),
    imports: &[".gemini/settings.json"],
    install: Install {
        project: ".gemini/settings.json",
        user: UserFile::Home(".gemini/settings.json"),
        cannot: &["with `-p`, a question waits for an answer that nobody can give"],
        distrust: Some(distrust),
        typed: &[typed(
            "/hooksConfig/enabled",
            "true or false",
            Json::is_boolean,
        )],
        ..Install::SETTINGS
    },
    ..FAMILY
};

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Gemini CLI trusts folders in the user's `trustedFolders.json`; the nearest one counts.
fn distrust(question: &TrustQuestion<'_>) -> Vec<Distrust> {
    let Some(project) = question.project else {
        return Vec::new();
    };
    let settings = (question.read)(&question.user.join("settings.json"));
    if settings.pointer("/security/folderTrust/enabled") == Some(&Json::Bool(false)) {
        return Vec::new();
    }
    let file = question.user.join("trustedFolders.json");
    let rules = (question.read)(&file);
    let project = real(project);
    let mut nearest: Option<(usize, bool)> = None;
    for (path, level) in rules.as_object().into_iter().flatten() {
        let path = Path::new(path);
        let parent = path.parent().filter(|_| level == "TRUST_PARENT");
        let folder = real(parent.unwrap_or(path));
        let rank = (folder.as_os_str().len(), level != "DO_NOT_TRUST");
        let is_nearer = nearest.is_none_or(|(length, _)| rank.0 > length);
        let is_as_near = nearest.is_some_and(|(length, _)| rank.0 == length);
        if project.starts_with(&folder) && (is_nearer || (is_as_near && !rank.1)) {
            nearest = Some(rank);
        }
    }
    if nearest.is_some_and(|(_, is_trusted)| is_trusted) {
        return Vec::new();
    }
    let cause =
        "the folder is not trusted: Gemini CLI runs no project hooks, not even with `--skip-trust`";
    let cure =
        "start `gemini` here and trust the folder; in CI set GEMINI_CLI_TRUST_WORKSPACE=true";
    vec![Distrust {
        file,
        cause: cause.to_string(),
        cure,
    }]
}
