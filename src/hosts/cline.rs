//! Cline, extension and command line: a file for each event, and an answer in JSON alone.
//!
//! Sources: its hooks pages and source; measured with command line 3.0.65. The extension names the
//! event like the file, sends every parameter as text and takes no new input. The command line
//! sends `tool_call` with the tool's real input. Both ignore the exit status and fail open.

use super::claude::FAMILY;
use super::prelude::*;

const CANCEL: ReplyRule = say(Block, &[("cancel", Flag(true)), ("errorMessage", Text)]);
const TEACH: ReplyRule = say(Context, &[("contextModification", Text)]);

const READS: &[ReplyKey] = &[
    key("cancel", KeyMeaning::Block(true)),
    key("errorMessage", KeyMeaning::Reason),
    key("contextModification", KeyMeaning::Context),
    key("context", KeyMeaning::Context),
];

static OBSERVED: ReplyForm = form(&[], &[], READS);
static PROMPTS: ReplyForm = form(&[CANCEL], &[], READS);
static GATES: ReplyForm = form(&[CANCEL, TEACH], &[], READS);
static TEACHES: ReplyForm = form(&[TEACH], &[], READS);

/// Only the command line takes a new input.
static TOOL_CALL: ReplyForm = form(
    &[
        CANCEL,
        TEACH,
        say(New("toolInput"), &[("overrideInput", Value)]),
    ],
    &[key("overrideInput", TOOL_INPUT)],
    READS,
);

/// An object of an event, and the keys inside it.
type InnerFacts = (&'static str, &'static [&'static str]);

const BEFORE: &[InnerFacts] = &[("preToolUse", &["toolName", "parameters"])];
const AFTER: &[InnerFacts] = &[("postToolUse", &["toolName", "parameters", "result"])];
const CALL: &[InnerFacts] = &[("tool_call", &["id", "name", "input"])];
const RESULT: &[InnerFacts] = &[("tool_result", &["id", "name", "input", "output"])];
const PROMPT: &[InnerFacts] = &[("userPromptSubmit", &["prompt"])];

const SESSION: (&str, &str) = ("taskId", "sessionId");
const OF_EXTENSION: &[(&str, &str)] = &[SESSION, ("parameters", "toolInput")];
const TOOL: (&str, &str) = ("name", "toolName");
const INPUT: (&str, &str) = ("input", "toolInput");
const ID: (&str, &str) = ("id", "toolUseId");

const PATH: (&str, &str) = ("file_path", "path");

/// The extension waits 30 s, the command line 120 s; neither is configurable.
const ROW: HostEvent = HostEvent::OBSERVER
    .keys(&[SESSION])
    .waits(Wait::seconds(30));

pub(super) static CLINE: Host = Host {
    name: "cline",
    title: "Cline",
    names_event_by: "hookName",
    tools: &[
        tool("run_commands", ToolSort::Shell).keys(&[("command", "commands")]),
        tool("execute_command", ToolSort::Shell),
        tool("read_files", ToolSort::Read),
        tool("read_file", ToolSort::Read).keys(&[PATH]),
        tool("write_to_file", ToolSort::Write).keys(&[PATH]),
        tool("editor", ToolSort::Edit).keys(&[
            PATH,
            ("old_string", "old_text"),
            ("new_string", "new_text"),
        ]),
        tool("replace_in_file", ToolSort::Edit).keys(&[PATH]),
        tool("apply_patch", ToolSort::Patch).keys(&[("command", "input")]),
        tool("search_codebase", ToolSort::Grep).keys(&[("pattern", "queries")]),
        tool("list_files", ToolSort::List),
        tool("fetch_web_content", ToolSort::Fetch),
        tool("spawn_agent", ToolSort::Agent),
    ],
    roots: &["workspaceRoots"],
    events: &[
        ROW.observed("TaskStart", "session.start", &OBSERVED)
            .aliases(&["agent_start"]),
        ROW.observed("TaskResume", "session.start", &OBSERVED)
            .aliases(&["agent_resume"]),
        ROW.gate("UserPromptSubmit", "prompt.submit", &PROMPTS)
            .aliases(&["prompt_submit"])
            .inside(PROMPT),
        ROW.gate("PreToolUse", "tool.pre", &GATES)
            .keys(OF_EXTENSION)
            .inside(BEFORE),
        ROW.gate("tool_call", "tool.pre", &TOOL_CALL)
            .keys(&[SESSION, TOOL, INPUT, ID])
            .inside(CALL),
        ROW.observed("PostToolUse", "tool.post", &TEACHES)
            .keys(OF_EXTENSION)
            .inside(AFTER),
        ROW.observed("tool_result", "tool.post", &TEACHES)
            .keys(&[SESSION, TOOL, INPUT, ID, ("output", "result")])
            .inside(RESULT),
        ROW.observed("TaskComplete", "agent.end", &OBSERVED)
            .aliases(&["agent_end"]),
        ROW.observed("TaskCancel", "agent.end", &OBSERVED)
            .aliases(&["agent_abort"]),
        ROW.observed("PreCompact", "compact.pre", &OBSERVED),
    ],
    fails_closed: FailsClosed::OnCrash,
    trust: Some("enable hooks in the extension, and then enable each of these hooks in its list"),
    signs: &[sign(
        SignedEvents::KnownOrNew,
        &["clineVersion", "taskId"],
        &[],
    )],
    // The command line and the extension read the same folders.
    install: Install {
        project: ".clinerules/hooks/PreToolUse",
        user: UserFile::Home("Documents/Cline/Hooks/PreToolUse"),
        form: HostForm::Scripts(include_str!("plugin/cline.sh")),
        // The command line's names for the same events.
        but: &["tool_call", "tool_result"],
        cannot: &[
            "Cline's CLI does not send prompts to hooks, and its extension does not accept new tool input",
            "a block ends the run, and the model does not get the reason",
        ],
        beside: words!(
            "TaskStart" "TaskResume" "UserPromptSubmit" "PostToolUse" "TaskComplete" "TaskCancel"
            "PreCompact"
        ),
        ..Install::NONE
    },
    ..FAMILY
};
