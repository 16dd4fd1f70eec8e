//! openclaw: thirteen plugin hooks over five lifecycles, and the events that its plugin gets.
//!
//! Sources: its "Hooks Mechanism" document (names with dashes), and its source and hook reference
//! (underscores). Hooks are sorted by priority, lowest first, and run in parallel on
//! the original event. Gates wait 15 s; `before_agent_run` and `before_tool_call`
//! are blocked without an answer. A claim ends the chain.

use super::prelude::*;
use super::results::KeyMeaning::{Action, Block, Context, Field, Question, Reason};
use super::results::ReplySlot;
use crate::engine::event::Merge::{Claim, Last, SameRole};

const fn timeout(seconds: u64) -> Conduct {
    Conduct {
        timeout: Some(Duration::from_secs(seconds)),
        ..Conduct::USUAL
    }
}

/// Runs on the original event, limited to `seconds`.
const fn within(seconds: u64) -> Conduct {
    Conduct {
        isolated: true,
        ..timeout(seconds)
    }
}

/// Detached, limited to 30 s.
const FORGOTTEN: HostEvent = HostEvent::OBSERVER
    .stand_ins(FACTS)
    .schedule(Schedule::Detached)
    .conduct(timeout(30));

const WAITED: HostEvent = HostEvent::OBSERVER
    .stand_ins(FACTS)
    .schedule(Schedule::Parallel)
    .conduct(within(15));

const GATE: HostEvent = WAITED.blocks(true);

const BLOCK: ReplyKey = key("block", Block(true));
const BLOCK_REASON: ReplyKey = key("blockReason", Reason);
const CANCEL: ReplyKey = key("cancel", Block(true));
const CANCEL_REASON: ReplyKey = key("cancelReason", Reason);
const REASON: ReplyKey = key("reason", Reason);

const fn stand_in(theirs: &'static str, ours: &'static str, is_made: bool) -> StandIn {
    StandIn {
        theirs,
        ours,
        is_made,
    }
}

const FACTS: &[StandIn] = &[
    stand_in("sessionKey", "sessionId", true),
    stand_in("workspaceDir", "cwd", true),
];

const MESSAGE_FACTS: &[StandIn] = &[
    FACTS[0],
    FACTS[1],
    stand_in("channelId", "channel", false),
    stand_in("from", "senderId", false),
];

/// A tool call in the document's keys; the source's keys are read too.
const TOOL: &[(&str, &str)] = &[
    ("params", "toolInput"),
    ("args", "toolInput"),
    ("toolCallId", "toolUseId"),
];

/// A tool call in the source's keys.
const TOOL_OF_SOURCE: &[(&str, &str)] = &[TOOL[1], TOOL[0], TOOL[2]];

const SUBAGENT: &[(&str, &str)] = &[("agentId", "agentType"), ("childSessionKey", "agentId")];

const BEFORE_AGENT: HostEvent = WAITED.named("before-agent-start", "agent.start").results(&[
    key("systemPrompt", Field("systemPrompt", Last)),
    key("prependContext", Context),
    key("appendContext", Context),
    key("prependSystemContext", Context),
    key("appendSystemContext", Context),
]);

const TOOL_CALL: HostEvent = GATE
    .named("before-tool-call", "tool.pre")
    .keys(TOOL)
    .on_failure(OnFailure::Block)
    .conduct(Conduct {
        first_question: true,
        ..within(15)
    })
    .results(&[
        key("params", Field("toolInput", Last)),
        BLOCK,
        BLOCK_REASON,
        // An unanswered approval blocks, even if the hook sets another default.
        key("requireApproval", Question(&[("timeoutBehavior", "deny")])),
    ]);

/// The plugin sends its own timeout.
const PLUGIN_EVENTS: &[HostEvent] = &[
    reports("session_start", "session.start"),
    reports("session_end", "session.end"),
    asks("before_agent_run", "prompt.submit", BLOCKS),
    asks("before_prompt_build", "agent.start", &[ReplySlot::Context]),
    asks(
        "before_tool_call",
        "tool.pre",
        &[ReplySlot::Block, ReplySlot::New("toolInput")],
    ),
    reports("after_tool_call", "tool.post"),
    asks("before_agent_finalize", "agent.stop", BLOCKS).on_failure(OnFailure::Allow),
    asks(
        "message_sending",
        "message.out",
        &[ReplySlot::Block, ReplySlot::New("content")],
    ),
    reports("after_compaction", "compact.post"),
    reports("agent_end", "agent.end"),
];

pub(super) static OPENCLAW: Host = Host {
    name: "openclaw",
    title: "openclaw",
    names_event_by: "event",
    events: &[
        // The thirteen events of the document.
        FORGOTTEN
            .named("gateway-start", "gateway.start")
            .aliases(&["gateway_start"]),
        // It waits, because the gateway ends afterwards.
        WAITED
            .named("gateway-stop", "gateway.stop")
            .aliases(&["gateway_stop"])
            .conduct(within(5)),
        FORGOTTEN
            .named("session-start", "session.start")
            .aliases(&["session_start"]),
        FORGOTTEN
            .named("session-end", "session.end")
            .aliases(&["session_end"]),
        BEFORE_AGENT.aliases(&["before_agent_start"]),
        // A gate in the document; in the source (with an underscore) it is only observed.
        // The first hook that returns `handled` claims it and ends the chain.
        GATE.named("message-received", "message.in")
            .when("direction", "received")
            .schedule(Schedule::Sequential)
            .stand_ins(MESSAGE_FACTS)
            .results(&[
                CANCEL,
                CANCEL_REASON,
                key("handled", Field("handled", Claim)),
                key("reply", Field("reply", Last)),
            ]),
        GATE.named("message-sending", "message.out")
            .aliases(&["message_sending"])
            .when("direction", "sending")
            .keys(&[("to", "recipient")])
            .stand_ins(MESSAGE_FACTS)
            .results(&[
                key("content", Field("content", Last)),
                CANCEL,
                CANCEL_REASON,
            ]),
        FORGOTTEN
            .named("message-sent", "message.sent")
            .aliases(&["message_sent"])
            .when("direction", "sent")
            .keys(&[("to", "recipient")])
            .stand_ins(MESSAGE_FACTS),
        TOOL_CALL,
        FORGOTTEN.named("after-tool-call", "tool.post").keys(TOOL),
        // It waits, so that hooks can save data before compaction.
        WAITED
            .named("before-compaction", "compact.pre")
            .aliases(&["before_compaction"])
            .conduct(within(30)),
        FORGOTTEN
            .named("after-compaction", "compact.post")
            .aliases(&["after_compaction"]),
        // Each hook sees the message as earlier hooks left it, because it is written immediately.
        WAITED
            .named("tool-result-persist", "tool.persist")
            .aliases(&["tool_result_persist"])
            .keys(&[("toolCallId", "toolUseId")])
            .schedule(Schedule::Sequential)
            .conduct(timeout(15))
            .results(&[key("message", Field("message", SameRole))]),
        // From its source: gates.
        TOOL_CALL
            .named("before_tool_call", "tool.pre")
            .keys(TOOL_OF_SOURCE),
        GATE.named("before_agent_run", "prompt.submit")
            .on_failure(OnFailure::Block)
            .results(&[
                key(
                    "outcome",
                    Action(&[("pass", Act::Pass), ("block", Act::Block)]),
                ),
                REASON,
            ]),
        GATE.named("before_agent_finalize", "agent.stop").results(&[
            key(
                "action",
                Action(&[
                    ("continue", Act::Pass),
                    ("finalize", Act::Pass),
                    ("revise", Act::Block),
                ]),
            ),
            REASON,
        ]),
        GATE.named("subagent_spawning", "subagent.start")
            .keys(SUBAGENT)
            .results(&[
                key(
                    "status",
                    Action(&[("ok", Act::Pass), ("error", Act::Block)]),
                ),
                key("error", Reason),
            ]),
        // From its source: context and observed events.
        BEFORE_AGENT.named("before_prompt_build", "agent.start"),
        FORGOTTEN
            .named("after_tool_call", "tool.post")
            .keys(TOOL_OF_SOURCE),
        FORGOTTEN.named("agent_end", "agent.end"),
        FORGOTTEN
            .named("subagent_spawned", "subagent.start")
            .keys(SUBAGENT),
        FORGOTTEN
            .named("message_received", "message.in")
            .when("direction", "received")
            .stand_ins(MESSAGE_FACTS),
    ],
    is_system: true,
    fails_closed: FailsClosed::Always,
    trust: Some(
        "in `openclaw.json`, add the plugin file to `plugins.load.paths`, and set \
             `plugins.entries.hookrun.hooks.allowConversationAccess` to true",
    ),
    unseen: &[
        "tool calls in `openclaw agent exec`, which does not call plugins: use `openclaw agent`",
    ],
    install: Install {
        project: ".openclaw/hookrun.js",
        user: moved("OPENCLAW_STATE_DIR", ".openclaw", "hookrun.js"),
        form: HostForm::Plugin(Plugin {
            events: PLUGIN_EVENTS,
            text: include_str!("plugin/openclaw.js"),
        }),
        cannot: &["hooks cannot rewrite a prompt: a rewrite blocks it"],
        ..Install::NONE
    },
    ..Host::PLAIN
};
