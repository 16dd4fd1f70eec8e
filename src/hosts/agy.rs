//! Antigravity, CLI and IDE: no event has a name, and no answer is a block.
//!
//! Sources: its hooks page; measurements by the authors of safe-chains with version 1.1.2. The
//! command names the event. A missing or malformed answer blocks, so hookrun always answers before
//! a tool; `allow` keeps Antigravity's own questions. `ask` would apply the user's "always allow"
//! rules, so a question is `force_ask`.

use super::claude::FAMILY;
use super::prelude::*;

const DENY: ReplyRule = say(Block, &[("decision", Word("deny")), ("reason", Text)]);

static PRE_TOOL_USE: ReplyForm = form(
    &[
        DENY,
        say(
            Question,
            &[("decision", Word("force_ask")), ("reason", Text)],
        ),
        say(Consent, &[("decision", Word("allow"))]),
    ],
    &[
        key(
            "decision",
            KeyMeaning::Action(&[
                ("deny", Act::Block),
                ("ask", Act::Ask),
                ("force_ask", Act::Ask),
                ("allow", Act::Allow),
            ]),
        ),
        REASON,
    ],
    &[],
);

/// A block of `Stop` keeps the agent working.
static STOP: ReplyForm = form(
    &[say(
        Block,
        &[("decision", Word("continue")), ("reason", Text)],
    )],
    &[
        key(
            "decision",
            KeyMeaning::Action(&[("continue", Act::Block), ("allow", Act::Allow)]),
        ),
        REASON,
    ],
    &[],
);

const CALL: &[(&str, &[&str])] = &[("toolCall", &["name", "args"])];

const SESSION: (&str, &str) = ("conversationId", "sessionId");
const OF_TOOLS: &[(&str, &str)] = &[SESSION, ("name", "toolName"), ("args", "toolInput")];

const FILE: (&str, &str) = ("file_path", "TargetFile");
const EDIT: &[(&str, &str)] = &[
    FILE,
    ("old_string", "TargetContent"),
    ("new_string", "ReplacementContent"),
];

/// The command line's timeout is undocumented; its settings count seconds.
const ROW: HostEvent = HostEvent::OBSERVER
    .keys(&[SESSION])
    .waits(Wait::guessed(30));

pub(super) static AGY: Host = Host {
    name: "agy",
    aliases: &["antigravity"],
    title: "Antigravity",
    names_event_by: "hookEventName",
    tools: &[
        tool("run_command", ToolSort::Shell).keys(&[("command", "CommandLine")]),
        tool("view_file", ToolSort::Read).keys(&[("file_path", "AbsolutePath")]),
        tool("write_to_file", ToolSort::Write).keys(&[FILE, ("content", "CodeContent")]),
        tool("replace_file_content", ToolSort::Edit).keys(EDIT),
        tool("multi_replace_file_content", ToolSort::Edit).keys(EDIT),
        tool("grep_search", ToolSort::Grep).keys(&[("pattern", "Query"), ("path", "SearchPath")]),
        tool("find_by_name", ToolSort::Glob)
            .keys(&[("pattern", "Pattern"), ("path", "SearchDirectory")]),
        tool("list_dir", ToolSort::List).keys(&[("path", "DirectoryPath")]),
        tool("read_url_content", ToolSort::Fetch).keys(&[("url", "Url")]),
        tool("search_web", ToolSort::WebSearch),
        tool("invoke_subagent", ToolSort::Agent),
    ],
    mcp: Mcp::Single,
    roots: &["workspacePaths"],
    events: &[
        ROW.observed("PreInvocation", "model.pre", &SILENT),
        ROW.gate("PreToolUse", "tool.pre", &PRE_TOOL_USE)
            .keys(OF_TOOLS)
            .inside(CALL),
        ROW.observed("PostToolUse", "tool.post", &SILENT)
            .keys(OF_TOOLS)
            .inside(CALL),
        ROW.observed("PostInvocation", "model.post", &SILENT),
        ROW.open_gate("Stop", "agent.stop", &STOP),
    ],
    fails_closed: FailsClosed::Always,
    signs: &[sign(
        SignedEvents::Nowhere,
        &["conversationId", "workspacePaths"],
        &["event"],
    )],
    settings: Some(HostFile {
        places: &[".agents/hooks.json", ".gemini/config/hooks.json"],
        ungrouped: &["PreInvocation", "PostInvocation", "Stop"],
        has_sets: true,
        beside: &["enabled"],
        names_event: true,
        ..HostFile::FAMILY
    }),
    install: Install {
        project: ".agents/hooks.json",
        user: UserFile::Home(".gemini/config/hooks.json"),
        cannot: &["for all events, only the reason for a block reaches the model"],
        ..Install::SETTINGS
    },
    ..FAMILY
};
