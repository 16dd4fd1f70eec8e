//! openclaw: thirteen plugin hooks over five lifecycles, and the other events of its source.
//!
//! Sources: its "Hooks Mechanism" document, whose names have dashes, and its own source and hook
//! reference, which have the same with underscores, and more. Hooks are sorted by priority,
//! lower first as in the document, run in parallel on the event as it came, and an error of one
//! does not touch the others. Most are not waited for. What may refuse does so within 15 s or is
//! refused (`before_agent_run`, `before_tool_call`, `before_install`). Who claims an event is the
//! last to be asked, and what is written to the transcript goes from hook to hook.

use std::time::Duration;

use super::results::{Act, KeyMeaning, ReplyKey, Results, key};
use super::row::{Dialect, DialectEvent, Discovery, HostTools, KeySpelling, StandIn, rewrite};
use crate::engine::event::{Conduct, Merge, OnFailure, Rewrite, Schedule};

/// On the event as it came, within so many seconds.
const fn within(seconds: u64) -> Conduct {
    Conduct { timeout: Some(Duration::from_secs(seconds)), isolated: true, ..Conduct::USUAL }
}

/// Nobody waits; 30 s.
const fn forgotten(name: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent {
        name,
        event,
        stand_ins: FACTS,
        schedule: Schedule::Detached,
        conduct: Conduct { timeout: Some(Duration::from_secs(30)), ..Conduct::USUAL },
        ..DialectEvent::OBSERVER
    }
}

/// Its results are waited for.
const fn waited(name: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent {
        name,
        event,
        stand_ins: FACTS,
        schedule: Schedule::Parallel,
        conduct: within(15),
        ..DialectEvent::OBSERVER
    }
}

/// The first hook that says `handled` takes it, and is the last to be asked.
const fn claimed(name: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent { schedule: Schedule::Sequential, ..waited(name, event) }
}

/// Hooks see the message as the earlier ones left it, because it is written at once.
const fn written(name: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent {
        schedule: Schedule::Sequential,
        conduct: Conduct { timeout: Some(Duration::from_secs(15)), ..Conduct::USUAL },
        rewrites: OF_MESSAGE,
        ..waited(name, event)
    }
}

const OF_MESSAGE: &[Rewrite] = &[rewrite("message", Merge::SameRole)];

const BLOCK: ReplyKey = key("block", KeyMeaning::Refusal);
const REASON: ReplyKey = key("blockReason", KeyMeaning::Reason);
const HANDLED: ReplyKey = key("handled", KeyMeaning::Field("handled"));
const MESSAGE: ReplyKey = key("message", KeyMeaning::Field("message"));

const fn stand_in(theirs: &'static str, ours: &'static str, is_made: bool) -> StandIn {
    StandIn { theirs, ours, is_made }
}

/// What its contexts of agents, messages, tools and sessions say of what every event has here.
const FACTS: &[StandIn] =
    &[stand_in("sessionKey", "sessionId", true), stand_in("workspaceDir", "cwd", true)];

/// A message: its channel and who it is from.
const MESSAGE_FACTS: &[StandIn] = &[
    FACTS[0],
    FACTS[1],
    stand_in("channelId", "channel", false),
    stand_in("from", "senderId", false),
];

/// A tool call in the document's words. The source's are taken too; one of both is enough.
const TOOL: &[(&str, &str)] =
    &[("params", "toolInput"), ("args", "toolInput"), ("toolCallId", "toolUseId")];

/// A tool call in the source's words.
const TOOL_OF_SOURCE: &[(&str, &str)] =
    &[("args", "toolInput"), ("params", "toolInput"), ("toolCallId", "toolUseId")];

/// The session of a subagent is who it is, and its agent the kind.
const SUBAGENT: &[(&str, &str)] = &[("agentId", "agentType"), ("childSessionKey", "agentId")];

/// Texts for the model, before or after the prompt or the system prompt.
const ADDED: &[ReplyKey] =
    &[key("prependContext", KeyMeaning::Context), key("appendContext", KeyMeaning::Context)];

const BEFORE_AGENT: DialectEvent = DialectEvent {
    results: Results::Keys(&[
        key("systemPrompt", KeyMeaning::Field("systemPrompt")),
        ADDED[0],
        ADDED[1],
        key("prependSystemContext", KeyMeaning::Context),
        key("appendSystemContext", KeyMeaning::Context),
    ]),
    rewrites: &[rewrite("systemPrompt", Merge::Last)],
    ..waited("before-agent-start", "agent.start")
};

const SENDING: DialectEvent = DialectEvent {
    keys: &[("to", "recipient")],
    stand_ins: MESSAGE_FACTS,
    when: Some(("direction", "sending")),
    results: Results::Keys(&[
        key("content", KeyMeaning::Field("content")),
        key("cancel", KeyMeaning::Refusal),
        key("cancelReason", KeyMeaning::Reason),
    ]),
    blocks: true,
    rewrites: &[rewrite("content", Merge::Last)],
    ..waited("message-sending", "message.out")
};

const TOOL_CALL: DialectEvent = DialectEvent {
    keys: TOOL,
    results: Results::Keys(&[
        key("params", KeyMeaning::Field("toolInput")),
        BLOCK,
        REASON,
        // An approval that nobody gives is a refusal, whatever the hook would like it to be.
        key("requireApproval", KeyMeaning::Question(&[("timeoutBehavior", "deny")])),
    ]),
    blocks: true,
    rewrites: &[rewrite("toolInput", Merge::Last)],
    on_failure: OnFailure::Block,
    conduct: Conduct { first_question: true, ..within(15) },
    ..waited("before-tool-call", "tool.pre")
};

/// openclaw.
pub(super) static OPENCLAW: Dialect = Dialect {
    name: "openclaw",
    aliases: &[],
    summary: "openclaw's plugin hooks: in parallel, by priority, mostly not waited for",
    names_event_by: "event",
    discovery: Discovery::All,
    spelling: KeySpelling::Camel,
    runs_once: false,
    tools: &HostTools::NONE,
    variables: &[],
    events: &[
        // The thirteen of the document.
        DialectEvent { aliases: &["gateway_start"], ..forgotten("gateway-start", "gateway.start") },
        // Waited for, because the gateway is gone afterwards.
        DialectEvent {
            aliases: &["gateway_stop"],
            conduct: within(5),
            ..waited("gateway-stop", "gateway.stop")
        },
        DialectEvent { aliases: &["session_start"], ..forgotten("session-start", "session.start") },
        DialectEvent { aliases: &["session_end"], ..forgotten("session-end", "session.end") },
        DialectEvent { aliases: &["before_agent_start"], ..BEFORE_AGENT },
        // The document has it intercept and filter; the source, which writes it with an
        // underscore, only tells of it.
        DialectEvent {
            stand_ins: MESSAGE_FACTS,
            when: Some(("direction", "received")),
            results: Results::Keys(&[
                key("cancel", KeyMeaning::Refusal),
                key("cancelReason", KeyMeaning::Reason),
                HANDLED,
                key("reply", KeyMeaning::Field("reply")),
            ]),
            blocks: true,
            rewrites: &[rewrite("handled", Merge::Claim), rewrite("reply", Merge::Last)],
            ..claimed("message-received", "message.in")
        },
        DialectEvent { aliases: &["message_sending"], ..SENDING },
        DialectEvent {
            aliases: &["message_sent"],
            keys: &[("to", "recipient")],
            stand_ins: MESSAGE_FACTS,
            when: Some(("direction", "sent")),
            ..forgotten("message-sent", "message.sent")
        },
        TOOL_CALL,
        DialectEvent { keys: TOOL, ..forgotten("after-tool-call", "tool.post") },
        // Waited for: what it keeps must be kept before the rest is gone.
        DialectEvent {
            aliases: &["before_compaction"],
            conduct: within(30),
            ..waited("before-compaction", "compact.pre")
        },
        DialectEvent {
            aliases: &["after_compaction"],
            ..forgotten("after-compaction", "compact.post")
        },
        DialectEvent {
            aliases: &["tool_result_persist"],
            keys: &[("toolCallId", "toolUseId")],
            results: Results::Keys(&[MESSAGE]),
            ..written("tool-result-persist", "tool.persist")
        },
        // Of its source: what may refuse.
        DialectEvent { name: "before_tool_call", keys: TOOL_OF_SOURCE, ..TOOL_CALL },
        DialectEvent {
            results: Results::Keys(&[
                key("outcome", KeyMeaning::Action(&[("pass", Act::Pass), ("block", Act::Refuse)])),
                key("reason", KeyMeaning::Reason),
            ]),
            blocks: true,
            on_failure: OnFailure::Block,
            ..waited("before_agent_run", "prompt.submit")
        },
        DialectEvent {
            keys: &[("targetName", "name"), ("sourcePath", "filePath"), ("origin", "source")],
            results: Results::Keys(&[BLOCK, REASON]),
            blocks: true,
            on_failure: OnFailure::Block,
            ..waited("before_install", "install.pre")
        },
        DialectEvent {
            results: Results::Keys(&[
                key(
                    "action",
                    KeyMeaning::Action(&[
                        ("continue", Act::Pass),
                        ("finalize", Act::Pass),
                        ("revise", Act::Refuse),
                    ]),
                ),
                key("reason", KeyMeaning::Reason),
            ]),
            blocks: true,
            ..waited("before_agent_finalize", "agent.stop")
        },
        DialectEvent {
            results: Results::Keys(&[MESSAGE, BLOCK]),
            blocks: true,
            ..written("before_message_write", "message.write")
        },
        DialectEvent {
            name: "reply_payload_sending",
            results: Results::Keys(&[
                key("payload", KeyMeaning::Field("payload")),
                key("cancel", KeyMeaning::Refusal),
                key("reason", KeyMeaning::Reason),
            ]),
            rewrites: &[rewrite("payload", Merge::Chain)],
            schedule: Schedule::Sequential,
            conduct: Conduct { timeout: Some(Duration::from_secs(15)), ..Conduct::USUAL },
            ..SENDING
        },
        DialectEvent {
            keys: SUBAGENT,
            results: Results::Keys(&[
                key("status", KeyMeaning::Action(&[("ok", Act::Pass), ("error", Act::Refuse)])),
                key("error", KeyMeaning::Reason),
            ]),
            blocks: true,
            ..waited("subagent_spawning", "subagent.start")
        },
        DialectEvent {
            results: Results::Keys(&[
                key(
                    "decision",
                    KeyMeaning::Action(&[
                        ("pass", Act::Pass),
                        ("revise", Act::Pass),
                        ("block", Act::Refuse),
                    ]),
                ),
                key("summary", KeyMeaning::Reason),
            ]),
            blocks: true,
            conduct: within(120),
            ..waited("skill_proposal_evaluate", "skill.propose")
        },
        // Of its source: what may be taken.
        DialectEvent {
            stand_ins: MESSAGE_FACTS,
            results: Results::Keys(&[HANDLED, key("reply", KeyMeaning::Field("reply"))]),
            rewrites: &[rewrite("handled", Merge::Claim), rewrite("reply", Merge::Last)],
            ..claimed("inbound_claim", "message.in")
        },
        DialectEvent {
            stand_ins: MESSAGE_FACTS,
            results: Results::Keys(&[HANDLED, key("text", KeyMeaning::Field("reply"))]),
            rewrites: &[rewrite("handled", Merge::Claim), rewrite("reply", Merge::Last)],
            ..claimed("before_dispatch", "message.in")
        },
        DialectEvent {
            keys: &[("cleanedBody", "content")],
            stand_ins: MESSAGE_FACTS,
            results: Results::Keys(&[HANDLED, key("reply", KeyMeaning::Field("reply"))]),
            rewrites: &[rewrite("handled", Merge::Claim), rewrite("reply", Merge::Last)],
            ..claimed("before_agent_reply", "reply.pre")
        },
        DialectEvent {
            stand_ins: MESSAGE_FACTS,
            results: Results::Keys(&[HANDLED]),
            rewrites: &[rewrite("handled", Merge::Claim)],
            ..claimed("reply_dispatch", "reply.dispatch")
        },
        // Of its source: what may be changed.
        DialectEvent { name: "before_prompt_build", ..BEFORE_AGENT },
        DialectEvent {
            results: Results::Keys(ADDED),
            ..waited("agent_turn_prepare", "agent.start")
        },
        DialectEvent {
            results: Results::Keys(ADDED),
            ..waited("heartbeat_prompt_contribution", "heartbeat.prompt")
        },
        // Of several overrides the first one counts.
        DialectEvent {
            results: Results::Keys(&[
                key("modelOverride", KeyMeaning::Field("model")),
                key("providerOverride", KeyMeaning::Field("provider")),
            ]),
            rewrites: &[rewrite("model", Merge::First), rewrite("provider", Merge::First)],
            ..waited("before_model_resolve", "model.select")
        },
        DialectEvent {
            results: Results::Whole("env"),
            rewrites: &[rewrite("env", Merge::Entries)],
            ..waited("resolve_exec_env", "exec.env")
        },
        DialectEvent {
            keys: &[("childSessionKey", "agentId")],
            results: Results::Keys(&[key("origin", KeyMeaning::Field("target"))]),
            rewrites: &[rewrite("target", Merge::First)],
            ..waited("subagent_delivery_target", "subagent.target")
        },
        // Of its source: what is only told.
        DialectEvent { keys: TOOL_OF_SOURCE, ..forgotten("after_tool_call", "tool.post") },
        forgotten("before_reset", "session.clear.pre"),
        forgotten("agent_end", "agent.end"),
        forgotten("model_call_started", "provider.request"),
        forgotten("model_call_ended", "provider.response"),
        forgotten("llm_input", "model.pre"),
        forgotten("llm_output", "model.post"),
        DialectEvent { keys: SUBAGENT, ..forgotten("subagent_spawned", "subagent.start") },
        DialectEvent {
            keys: &[("childSessionKey", "agentId")],
            ..forgotten("subagent_progress", "subagent.progress")
        },
        DialectEvent {
            keys: &[("targetSessionKey", "agentId")],
            ..forgotten("subagent_ended", "subagent.end")
        },
        DialectEvent {
            stand_ins: MESSAGE_FACTS,
            when: Some(("direction", "received")),
            ..forgotten("message_received", "message.in")
        },
        DialectEvent { stand_ins: MESSAGE_FACTS, ..forgotten("poll_vote_received", "poll.vote") },
        forgotten("channel_pairing_requested", "pairing.request"),
        forgotten("cron_reconciled", "cron.reconcile"),
        DialectEvent { keys: &[("action", "change")], ..forgotten("cron_changed", "cron.change") },
        forgotten("skill_proposal_changed", "skill.proposal.change"),
        forgotten("skill_changed", "skill.change"),
    ],
};
