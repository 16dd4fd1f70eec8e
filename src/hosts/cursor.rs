//! Cursor: twenty-one events, some of them for a single tool.
//!
//! Sources: its "Hooks" and "Third party hooks" documents; not measured. Exit status 2 blocks every
//! gate; the JSON repeats the reason for the user and the agent. `ask` is enforced only for shell
//! commands and MCP tools.

use super::claude::FAMILY;
use super::prelude::*;
use super::prelude::{PERMISSION as WORDS, TOOL_INPUT};

const DENY: ReplyRule = block(&[
    ("permission", Word("deny")),
    ("user_message", Text),
    ("agent_message", Text),
]);

const ASK: ReplyRule = say(
    Question,
    &[("permission", Word("ask")), ("user_message", Text)],
);

const PERMISSION: &[ReplyKey] = &[
    key("permission", WORDS),
    key("agent_message", KeyMeaning::Reason),
    key("user_message", KeyMeaning::Reason),
];

const CONTEXT: ReplyRule = say(Context, &[("additional_context", Text)]);
const ADDED: &[ReplyKey] = &[key("additional_context", KeyMeaning::Context)];

static SESSION_START: ReplyForm = form(&[CONTEXT], ADDED, &[]);

/// Any tool. A question is not enforced here, so it blocks.
static PRE_TOOL_USE: ReplyForm = form(
    &[DENY, say(New("toolInput"), &[("updated_input", Value)])],
    &[key("updated_input", TOOL_INPUT)],
    PERMISSION,
);

static BEFORE_RUNNING: ReplyForm = form(&[DENY, ASK], &[], PERMISSION);

static GATES: ReplyForm = form(&[DENY], &[], PERMISSION);

/// An objection is sent as text for the model.
static POST_TOOL_USE: ReplyForm = form(
    &[say(Objection, &[("additional_context", Text)]), CONTEXT],
    ADDED,
    &[],
);

static BEFORE_SUBMIT_PROMPT: ReplyForm = form(
    &[block(&[("continue", Flag(false)), ("user_message", Text)])],
    &[
        key("continue", KeyMeaning::Block(false)),
        key("user_message", KeyMeaning::Reason),
    ],
    &[],
);

/// A block sends the agent a message with what to do next.
static STOP: ReplyForm = form(
    &[say(Block, &[("followup_message", Text)])],
    &[key("followup_message", KeyMeaning::Objection)],
    &[],
);

static PRE_COMPACT: ReplyForm = form(
    &[say(Output, &[("user_message", Text)])],
    &[key("user_message", KeyMeaning::Output)],
    &[],
);

const SESSION: (&str, &str) = ("conversation_id", "sessionId");
const DURATION: (&str, &str) = ("duration", "durationMs");

/// The timeout is undocumented; examples show 30 s, the shortest of all hosts for a tool.
const ROW: HostEvent = HostEvent::OBSERVER
    .keys(&[SESSION])
    .waits(Wait::guessed(30));

/// Cursor restarts the agent at most five times.
const fn stop_gate(name: &'static str, event: &'static str) -> HostEvent {
    let row = ROW.open_gate(name, event, &STOP);
    row.conduct(Conduct {
        most_blocks: Some(5),
        reads_on: true,
        ..Conduct::USUAL
    })
}

const COMMAND: &[&str] = &["command", "sandbox"];
const EDITS: &[&str] = &["file_path", "edits"];

const NOT_CURSORS: &[&str] = &["prompt_id", "turn_id", "timestamp", "sessionId"];

pub(super) static CURSOR: Host = Host {
    name: "cursor",
    title: "Cursor",
    like: None,
    // `Write` is every change of a file. Its event of edited files is read as `Edit`.
    tools: &[
        tool("Shell", ToolSort::Shell),
        tool("Read", ToolSort::Read),
        tool("Write", ToolSort::Write),
        tool("Write", ToolSort::Edit),
        tool("Edit", ToolSort::Edit),
        tool("Grep", ToolSort::Grep),
        tool("Task", ToolSort::Agent),
    ],
    mcp: Mcp::Bare,
    variables: &[
        ("CURSOR_PROJECT_DIR", VariableValue::Project),
        ("CURSOR_VERSION", VariableValue::Fact("raw.cursor_version")),
        ("CURSOR_USER_EMAIL", VariableValue::Fact("raw.user_email")),
        (
            "CURSOR_TRANSCRIPT_PATH",
            VariableValue::Fact("transcriptPath"),
        ),
        ("CLAUDE_PROJECT_DIR", VariableValue::Project),
    ],
    roots: &["workspace_roots"],
    events: &[
        ROW.observed("sessionStart", "session.start", &SESSION_START),
        ROW.observed("sessionEnd", "session.end", &SILENT),
        ROW.gate("preToolUse", "tool.pre", &PRE_TOOL_USE),
        // Its `tool_output` stays JSON in a string.
        ROW.observed("postToolUse", "tool.post", &POST_TOOL_USE)
            .keys(&[SESSION, ("tool_output", "result"), DURATION])
            .as_text(&["tool_output"]),
        ROW.observed("postToolUseFailure", "tool.error", &POST_TOOL_USE)
            .keys(&[SESSION, ("error_message", "error"), DURATION]),
        ROW.gate("subagentStart", "subagent.start", &GATES).keys(&[
            SESSION,
            ("subagent_id", "agentId"),
            ("subagent_type", "agentType"),
            ("task", "prompt"),
        ]),
        stop_gate("subagentStop", "subagent.stop").keys(&[
            SESSION,
            ("subagent_id", "agentId"),
            ("subagent_type", "agentType"),
        ]),
        ROW.gate("beforeShellExecution", "tool.pre", &BEFORE_RUNNING)
            .of_tool("Shell", COMMAND),
        ROW.observed("afterShellExecution", "tool.post", &SILENT)
            .keys(&[SESSION, ("output", "result"), DURATION])
            .of_tool("Shell", COMMAND),
        ROW.gate("beforeMCPExecution", "tool.pre", &BEFORE_RUNNING)
            .as_text(&["tool_input"])
            .is_of_servers(true),
        ROW.observed("afterMCPExecution", "tool.post", &SILENT)
            .keys(&[SESSION, ("result_json", "result"), DURATION])
            .as_text(&["tool_input", "result_json"])
            .is_of_servers(true),
        ROW.gate("beforeReadFile", "tool.pre", &GATES)
            .of_tool("Read", &["file_path"]),
        ROW.observed("afterFileEdit", "tool.post", &SILENT)
            .of_tool("Edit", EDITS),
        ROW.gate("beforeTabFileRead", "tool.pre", &GATES)
            .of_tool("Read", &["file_path"]),
        ROW.observed("afterTabFileEdit", "tool.post", &SILENT)
            .of_tool("Edit", EDITS),
        ROW.gate("beforeSubmitPrompt", "prompt.submit", &BEFORE_SUBMIT_PROMPT),
        ROW.observed("preCompact", "compact.pre", &PRE_COMPACT),
        stop_gate("stop", "agent.stop"),
        ROW.observed("afterAgentResponse", "message.end", &SILENT),
        ROW.observed("afterAgentThought", "message.thought", &SILENT)
            .keys(&[SESSION, ("text", "thought")]),
        ROW.observed("workspaceOpen", "resources.discover", &SILENT),
    ],
    fails_closed: FailsClosed::Always,
    unseen: &["tool calls of cloud agents, which do not run a user's hooks"],
    trust: Some("trust the workspace"),
    reads: &["claude"],
    signs: &[
        sign(
            SignedEvents::KnownOrNew,
            &["conversation_id", "cursor_version"],
            NOT_CURSORS,
        ),
        sign(SignedEvents::Alone, &["conversation_id"], NOT_CURSORS),
    ],
    words: &["conversation_id", "generation_id", "workspace_roots"],
    settings: Some(HostFile {
        places: &[".cursor"],
        hook: &[
            ("type", Kind),
            ("command", Command),
            ("timeout", Time),
            ("matcher", Matcher),
            ("failClosed", Closed),
        ],
        subjects: &[
            (
                BY_TOOL,
                "preToolUse postToolUse postToolUseFailure beforeReadFile afterFileEdit beforeMCPExecution afterMCPExecution",
            ),
            (BY_COMMAND, "beforeShellExecution afterShellExecution"),
            (BY_AGENT, "subagentStart subagentStop"),
        ],
        version: Some("1"),
        ..HostFile::PLAIN
    }),
    imports: &[".cursor/hooks.json"],
    install: Install {
        project: ".cursor/hooks.json",
        user: UserFile::Home(".cursor/hooks.json"),
        // `preToolUse` and `postToolUse` cover these. Tab is not the agent, so its events stay.
        but: words!(
            "beforeShellExecution" "beforeMCPExecution" "beforeReadFile" "afterShellExecution"
            "afterMCPExecution" "afterFileEdit"
        ),
        ..Install::SETTINGS
    },
    ..FAMILY
};
