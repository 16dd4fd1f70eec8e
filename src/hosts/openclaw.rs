//! openclaw: thirteen plugin hooks over five lifecycles, and the other events of its source.
//!
//! Sources: its "Hooks Mechanism" document (names with dashes), and its source and hook reference
//! (underscores, more events). Hooks are sorted by priority, lowest first, and run in parallel on
//! the original event. Gates wait 15 s; `before_agent_run`, `before_tool_call` and `before_install`
//! are blocked without an answer. A claim ends the chain.

use super::prelude::*;
use super::results::KeyMeaning::{Action, Context, Field, Question, Reason, Refusal};
use super::results::ReplySlot;
use crate::engine::event::Merge::{Chain, Claim, Entries, First, Last, SameRole};

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

/// The first hook that returns `handled` claims the event and ends the chain.
const CLAIMED: HostEvent = WAITED
    .schedule(Schedule::Sequential)
    .stand_ins(MESSAGE_FACTS);

/// Each hook sees the message as earlier hooks left it, because it is written immediately.
const WRITTEN: HostEvent = WAITED.schedule(Schedule::Sequential).conduct(timeout(15));

const BLOCK: ReplyKey = key("block", Refusal(true));
const BLOCK_REASON: ReplyKey = key("blockReason", Reason);
const CANCEL: ReplyKey = key("cancel", Refusal(true));
const CANCEL_REASON: ReplyKey = key("cancelReason", Reason);
const REASON: ReplyKey = key("reason", Reason);
const HANDLED: ReplyKey = key("handled", Field("handled", Claim));
const REPLY: ReplyKey = key("reply", Field("reply", Last));
const MESSAGE: ReplyKey = key("message", Field("message", SameRole));

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

/// Context before or after the prompt or the system prompt.
const PREPENDED: ReplyKey = key("prependContext", Context);
const APPENDED: ReplyKey = key("appendContext", Context);

const BEFORE_AGENT: HostEvent = WAITED.named("before-agent-start", "agent.start").results(&[
    key("systemPrompt", Field("systemPrompt", Last)),
    PREPENDED,
    APPENDED,
    key("prependSystemContext", Context),
    key("appendSystemContext", Context),
]);

const SENDING: HostEvent = GATE
    .named("message-sending", "message.out")
    .when("direction", "sending")
    .keys(&[("to", "recipient")])
    .stand_ins(MESSAGE_FACTS)
    .results(&[
        key("content", Field("content", Last)),
        CANCEL,
        CANCEL_REASON,
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
        &[ReplySlot::Refusal, ReplySlot::New("toolInput")],
    ),
    reports("after_tool_call", "tool.post"),
    asks("before_agent_finalize", "agent.stop", BLOCKS).on_failure(OnFailure::Allow),
    asks(
        "message_sending",
        "message.out",
        &[ReplySlot::Refusal, ReplySlot::New("content")],
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
        CLAIMED
            .named("message-received", "message.in")
            .when("direction", "received")
            .blocks(true)
            .results(&[CANCEL, CANCEL_REASON, HANDLED, REPLY]),
        SENDING.aliases(&["message_sending"]),
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
        WRITTEN
            .named("tool-result-persist", "tool.persist")
            .aliases(&["tool_result_persist"])
            .keys(&[("toolCallId", "toolUseId")])
            .results(&[MESSAGE]),
        // From its source: gates.
        TOOL_CALL
            .named("before_tool_call", "tool.pre")
            .keys(TOOL_OF_SOURCE),
        GATE.named("before_agent_run", "prompt.submit")
            .on_failure(OnFailure::Block)
            .results(&[
                key(
                    "outcome",
                    Action(&[("pass", Act::Pass), ("block", Act::Refuse)]),
                ),
                REASON,
            ]),
        GATE.named("before_install", "install.pre")
            .keys(&[
                ("targetName", "name"),
                ("sourcePath", "filePath"),
                ("origin", "source"),
            ])
            .on_failure(OnFailure::Block)
            .results(&[BLOCK, BLOCK_REASON]),
        GATE.named("before_agent_finalize", "agent.stop").results(&[
            key(
                "action",
                Action(&[
                    ("continue", Act::Pass),
                    ("finalize", Act::Pass),
                    ("revise", Act::Refuse),
                ]),
            ),
            REASON,
        ]),
        WRITTEN
            .named("before_message_write", "message.write")
            .blocks(true)
            .results(&[MESSAGE, BLOCK]),
        SENDING
            .named("reply_payload_sending", "message.out")
            .schedule(Schedule::Sequential)
            .conduct(timeout(15))
            .results(&[key("payload", Field("payload", Chain)), CANCEL, REASON]),
        GATE.named("subagent_spawning", "subagent.start")
            .keys(SUBAGENT)
            .results(&[
                key(
                    "status",
                    Action(&[("ok", Act::Pass), ("error", Act::Refuse)]),
                ),
                key("error", Reason),
            ]),
        GATE.named("skill_proposal_evaluate", "skill.propose")
            .conduct(within(120))
            .results(&[
                key(
                    "decision",
                    Action(&[
                        ("pass", Act::Pass),
                        ("revise", Act::Pass),
                        ("block", Act::Refuse),
                    ]),
                ),
                key("summary", Reason),
            ]),
        // From its source: events that a hook may claim.
        CLAIMED
            .named("inbound_claim", "message.in")
            .results(&[HANDLED, REPLY]),
        CLAIMED
            .named("before_dispatch", "message.in")
            .results(&[HANDLED, key("text", Field("reply", Last))]),
        CLAIMED
            .named("before_agent_reply", "reply.pre")
            .keys(&[("cleanedBody", "content")])
            .results(&[HANDLED, REPLY]),
        CLAIMED
            .named("reply_dispatch", "reply.dispatch")
            .results(&[HANDLED]),
        // From its source: events with rewrites.
        BEFORE_AGENT.named("before_prompt_build", "agent.start"),
        WAITED
            .named("agent_turn_prepare", "agent.start")
            .results(&[PREPENDED, APPENDED]),
        WAITED
            .named("heartbeat_prompt_contribution", "heartbeat.prompt")
            .results(&[PREPENDED, APPENDED]),
        // The first override counts.
        WAITED
            .named("before_model_resolve", "model.select")
            .results(&[
                key("modelOverride", Field("model", First)),
                key("providerOverride", Field("provider", First)),
            ]),
        WAITED
            .named("resolve_exec_env", "exec.env")
            .whole("env", Entries),
        WAITED
            .named("subagent_delivery_target", "subagent.target")
            .keys(&[("childSessionKey", "agentId")])
            .results(&[key("origin", Field("target", First))]),
        // From its source: observed events.
        FORGOTTEN
            .named("after_tool_call", "tool.post")
            .keys(TOOL_OF_SOURCE),
        FORGOTTEN.named("before_reset", "session.clear.pre"),
        FORGOTTEN.named("agent_end", "agent.end"),
        FORGOTTEN.named("model_call_started", "provider.request"),
        FORGOTTEN.named("model_call_ended", "provider.response"),
        FORGOTTEN.named("llm_input", "model.pre"),
        FORGOTTEN.named("llm_output", "model.post"),
        FORGOTTEN
            .named("subagent_spawned", "subagent.start")
            .keys(SUBAGENT),
        FORGOTTEN
            .named("subagent_progress", "subagent.progress")
            .keys(&[("childSessionKey", "agentId")]),
        FORGOTTEN
            .named("subagent_ended", "subagent.end")
            .keys(&[("targetSessionKey", "agentId")]),
        FORGOTTEN
            .named("message_received", "message.in")
            .when("direction", "received")
            .stand_ins(MESSAGE_FACTS),
        FORGOTTEN
            .named("poll_vote_received", "poll.vote")
            .stand_ins(MESSAGE_FACTS),
        FORGOTTEN.named("channel_pairing_requested", "pairing.request"),
        FORGOTTEN.named("cron_reconciled", "cron.reconcile"),
        FORGOTTEN
            .named("cron_changed", "cron.change")
            .keys(&[("action", "change")]),
        FORGOTTEN.named("skill_proposal_changed", "skill.proposal.change"),
        FORGOTTEN.named("skill_changed", "skill.change"),
    ],
    is_system: true,
    fails_closed: FailsClosed::Always,
    trust: Some(
        "in `openclaw.json` add the file to `plugins.load.paths`, and set \
             `plugins.entries.hookrun.hooks.allowConversationAccess` to true",
    ),
    unseen: &["tools of `openclaw agent exec`, which asks no plugin: use `openclaw agent`"],
    install: Install {
        project: ".openclaw/hookrun.js",
        user: moved("OPENCLAW_STATE_DIR", ".openclaw", "hookrun.js"),
        form: HostForm::Plugin(Plugin {
            events: PLUGIN_EVENTS,
            tools: &HostTools::NONE,
            text: include_str!("plugin/openclaw.js"),
        }),
        cannot: &["a prompt cannot be rewritten: a rewrite blocks it"],
        ..Install::NONE
    },
    ..Host::PLAIN
};
