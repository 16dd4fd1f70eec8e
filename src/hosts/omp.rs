//! oh-my-pi: hooks on the session, the agent, its context and its tools.
//!
//! Source: its "Hooks" document and hook runner. Handlers run in registration order on the original
//! event; the last result counts, and a block ends the chain. An error is reported and ignored, but
//! blocks a tool call, as does a load error. omp sets no time limit, so that a person may answer
//! before a tool call; other events keep hookrun's default.

use super::pi::{
    PLUGIN_CALL, PLUGIN_COMPACT, PLUGIN_INPUT, PLUGIN_MESSAGES, PLUGIN_RESULT, PLUGIN_TEXT,
};
use super::prelude::*;
use super::results::KeyMeaning::{Action, Block, Context, Entry, Field, Reason};
use super::results::ReplySlot;
use super::wolli::INPUT;
use crate::engine::event::Merge::{Chain, Claim, First, Last};

const OBSERVED: HostEvent = HostEvent::OBSERVER.conduct(REPORTED);

/// A broken configuration is only reported.
const REPORTED: Conduct = Conduct {
    reads_on: true,
    ..Conduct::USUAL
};

/// The last result counts, and every hook sees the original event.
const LATEST: Conduct = Conduct {
    last_result: true,
    isolated: true,
    ..REPORTED
};

/// Without a limit, because a person may answer.
const LATEST_UNTIMED: Conduct = Conduct {
    timeout: Some(Duration::MAX),
    ..LATEST
};

const CANCEL: ReplyKey = key("cancel", Block(true));

const BEFORE: HostEvent = OBSERVED.results(&[CANCEL]).blocks(true).conduct(LATEST);

/// Blocking a stop continues the agent, for which omp's own key is `continue: true`.
const STOP: &[ReplyKey] = &[
    key("decision", Action(&[("block", Act::Block)])),
    key("reason", Reason),
    key("additionalContext", Context),
    key("continue", Block(true)),
];

const TOOL_KEYS: &[(&str, &str)] = &[
    ("input", "toolInput"),
    ("toolCallId", "toolUseId"),
    ("content", "result"),
];

const EXECUTION_KEYS: &[(&str, &str)] = &[("args", "toolInput"), ("toolCallId", "toolUseId")];

const LEFT_SESSION: &[(&str, &str)] = &[("previousSessionFile", "previousSession")];

/// Our `action` is for tools.
const COMPACTION: &[(&str, &str)] = &[("action", "method")];

/// It waits 30 s, without a limit for a dialog before a tool call, and 2 s at the end of a session.
/// After a timeout only a tool call is blocked.
const PLUGIN_EVENTS: &[HostEvent] = &[
    asks("session_start", "session.start", &[ReplySlot::Context]).within(28),
    reports("session_shutdown", "session.end").within(2),
    asks("session_before_switch", "session.switch.pre", BLOCKS).within(28),
    reports("session_switch", "session.switch").within(28),
    asks("session_before_branch", "session.branch.pre", BLOCKS).within(28),
    asks("session_before_tree", "session.tree.pre", BLOCKS).within(28),
    PLUGIN_COMPACT.within(28),
    reports("session_compact", "compact.post").within(28),
    PLUGIN_INPUT.within(28),
    PLUGIN_CALL,
    PLUGIN_MESSAGES.within(28),
    asks("tool_result", "tool.post", PLUGIN_RESULT).within(28),
    asks("user_bash", "user.bash", BLOCKS).within(28),
    asks("session_stop", "agent.stop", BLOCKS)
        .on_failure(OnFailure::Allow)
        .within(28),
    reports("turn_start", "turn.start").within(28),
    reports("turn_end", "turn.end").within(28),
    reports("agent_end", "agent.end").within(28),
];

pub(super) static OMP: Host = Host {
    name: "omp",
    aliases: &["oh-my-pi"],
    title: "oh-my-pi",
    events: &[
        OBSERVED.named("session_start", "session.start"),
        BEFORE
            .named("session_before_switch", "session.switch.pre")
            .keys(&[("targetSessionFile", "targetSession")]),
        OBSERVED
            .named("session_switch", "session.switch")
            .keys(LEFT_SESSION),
        BEFORE
            .named("session_before_branch", "session.branch.pre")
            .results(&[
                CANCEL,
                key(
                    "skipConversationRestore",
                    Field("skipConversationRestore", Last),
                ),
            ]),
        OBSERVED
            .named("session_branch", "session.branch")
            .keys(LEFT_SESSION),
        BEFORE
            .named("session_before_compact", "compact.pre")
            .results(&[CANCEL, key("compaction", Field("compaction", Last))]),
        OBSERVED
            .named("session.compacting", "compact.prompt")
            .keys(&[("context", "additions")])
            .conduct(LATEST)
            .results(&[
                key("context", Field("additions", Last)),
                key("prompt", Field("prompt", Last)),
                key("preserveData", Field("preserveData", Last)),
            ]),
        OBSERVED.named("session_compact", "compact.post"),
        BEFORE
            .named("session_before_tree", "session.tree.pre")
            .results(&[CANCEL, key("summary", Field("summary", Last))]),
        OBSERVED.named("session_tree", "session.tree"),
        OBSERVED.named("session_shutdown", "session.end"),
        OBSERVED
            .named("context", "model.pre")
            .results(&[key("messages", Field("messages", Chain))]),
        OBSERVED
            .named("before_agent_start", "agent.start")
            .conduct(Conduct {
                isolated: true,
                ..REPORTED
            })
            .results(&[key("message", Entry("messages", First))]),
        // From its source, not the document: fires in interactive sessions.
        OBSERVED
            .named("input", "prompt.submit")
            .keys(INPUT.keys)
            .blocks(true)
            .results(&[
                key("text", Field("prompt", Chain)),
                key("images", Field("images", Chain)),
                key("handled", Field("handled", Claim)),
            ]),
        OBSERVED.named("agent_start", "agent.begin"),
        OBSERVED.named("agent_end", "agent.end"),
        // From its extensions. omp does not limit blocks of a stop; hookrun's own count does.
        OBSERVED
            .named("session_stop", "agent.stop")
            .keys(&[
                ("session_id", "sessionId"),
                ("stop_hook_active", "stopHookActive"),
                ("last_assistant_message", "lastAssistantMessage"),
            ])
            .blocks(true)
            .conduct(LATEST)
            .results(STOP),
        OBSERVED.named("turn_start", "turn.start"),
        OBSERVED.named("turn_end", "turn.end"),
        OBSERVED
            .named("auto_compaction_start", "compact.start")
            .keys(COMPACTION),
        OBSERVED
            .named("auto_compaction_end", "compact.end")
            .keys(COMPACTION),
        OBSERVED
            .named("auto_retry_start", "retry.start")
            .keys(&[("errorMessage", "error")]),
        OBSERVED.named("auto_retry_end", "retry.end"),
        OBSERVED.named("ttsr_triggered", "rule.trigger"),
        OBSERVED.named("todo_reminder", "todo.reminder"),
        OBSERVED
            .named("tool_call", "tool.pre")
            .keys(TOOL_KEYS)
            .blocks(true)
            .on_failure(OnFailure::Block)
            .conduct(LATEST_UNTIMED)
            .results(&[
                key("block", Block(true)),
                key("reason", Reason),
                key("input", Field("toolInput", Last)),
            ]),
        // Its type also has `isError`, which is never applied.
        OBSERVED
            .named("tool_result", "tool.post")
            .keys(TOOL_KEYS)
            .conduct(LATEST)
            .results(&[
                key("content", Field("result", Last)),
                key("details", Field("details", Last)),
            ]),
        // Sent by its clients, but not documented.
        OBSERVED
            .named("before_provider_request", "provider.request")
            .whole("payload", Chain),
        OBSERVED.named("after_provider_response", "provider.response"),
        OBSERVED.named("message_start", "message.start"),
        OBSERVED.named("message_end", "message.end"),
        OBSERVED
            .named("tool_execution_start", "tool.start")
            .keys(EXECUTION_KEYS),
        OBSERVED
            .named("tool_execution_end", "tool.end")
            .keys(EXECUTION_KEYS),
    ],
    is_system: true,
    fails_closed: FailsClosed::Always,
    signs: &[sign(SignedEvents::Alone, &[], NOT_OF_SYSTEMS)],
    install: Install {
        project: ".omp/extensions/hookrun.js",
        user: moved("PI_CODING_AGENT_DIR", ".omp/agent", "extensions/hookrun.js"),
        form: HostForm::Plugin(Plugin {
            events: PLUGIN_EVENTS,
            text: PLUGIN_TEXT,
        }),
        cannot: &[
            "oh-my-pi waits 30 s for hooks, or longer while a person answers a question about a tool call; then it blocks",
            "with `-p`, nobody can answer, so a hook that asks blocks",
            "hooks can rewrite a prompt only at a terminal: elsewhere, a rewrite blocks it",
        ],
        ..Install::NONE
    },
    ..Host::PLAIN
};
