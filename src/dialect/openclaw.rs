//! openclaw: thirteen plugin hooks over five lifecycles, and the gates of its source.
//!
//! Source: its "Hooks Mechanism" document, whose names have dashes; the source has the same with
//! underscores, and more. Hooks are sorted by priority, lower first, run in parallel on the event
//! as it came, and an error of one does not touch the others. Most are not waited for. What may
//! refuse does so within 15 s or is refused (`before_agent_run`, `before_tool_call`,
//! `before_install`).

use std::time::Duration;

use super::{Act, Dialect, DialectEvent, Key, Results, Says, key, rewrite};
use crate::event::{Conduct, Merge, OnFailure, Schedule};

/// The time that its gates have.
const FIFTEEN: Conduct =
    Conduct { timeout: Some(Duration::from_secs(15)), isolated: true, ..Conduct::USUAL };

/// Nobody waits; 30 s.
const fn forgotten(name: &'static str, event: &'static str) -> DialectEvent {
    DialectEvent {
        name,
        event,
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
        schedule: Schedule::Parallel,
        conduct: FIFTEEN,
        ..DialectEvent::OBSERVER
    }
}

const BLOCK: Key = key("block", Says::Refusal);
const REASON: Key = key("blockReason", Says::Reason);

/// Agent, message, tool and session contexts: their keys and ours.
const AGENT: &[(&str, &str)] = &[("workspaceDir", "cwd"), ("sessionKey", "sessionId")];
const MESSAGE: &[(&str, &str)] = &[("sessionKey", "sessionId")];
const SESSION: &[(&str, &str)] = &[("sessionKey", "sessionId")];
const TOOL: &[(&str, &str)] =
    &[("args", "toolInput"), ("toolCallId", "toolUseId"), ("sessionKey", "sessionId")];

const HANDLED: Key = key("handled", Says::Field("handled"));
const REPLY: Key = key("reply", Says::Field("reply"));

/// openclaw.
pub(super) static OPENCLAW: Dialect = Dialect {
    name: "openclaw",
    aliases: &[],
    summary: "openclaw's plugin hooks: in parallel, by priority, mostly not waited for",
    names_event_by: "event",
    events: &[
        DialectEvent {
            aliases: &["gateway_start"],
            keys: AGENT,
            ..forgotten("gateway-start", "gateway.start")
        },
        // Waited for, because the gateway is gone afterwards.
        DialectEvent {
            aliases: &["gateway_stop"],
            keys: AGENT,
            ..waited("gateway-stop", "gateway.stop")
        },
        DialectEvent {
            aliases: &["session_start"],
            keys: SESSION,
            ..forgotten("session-start", "session.start")
        },
        DialectEvent {
            aliases: &["session_end"],
            keys: SESSION,
            ..forgotten("session-end", "session.end")
        },
        DialectEvent {
            aliases: &["before_agent_start", "before_prompt_build"],
            keys: AGENT,
            results: Results::Keys(&[
                key("systemPrompt", Says::Field("systemPrompt")),
                key("prependContext", Says::Context),
            ]),
            rewrites: &[rewrite("systemPrompt", Merge::Last)],
            ..waited("before-agent-start", "agent.start")
        },
        DialectEvent {
            aliases: &["message_received"],
            keys: MESSAGE,
            ..forgotten("message-received", "message.in")
        },
        DialectEvent {
            aliases: &["message_sending"],
            keys: MESSAGE,
            results: Results::Keys(&[
                key("content", Says::Field("content")),
                key("cancel", Says::Refusal),
                key("cancelReason", Says::Reason),
            ]),
            blocks: true,
            rewrites: &[rewrite("content", Merge::Last)],
            ..waited("message-sending", "message.out")
        },
        DialectEvent {
            aliases: &["message_sent"],
            keys: MESSAGE,
            ..forgotten("message-sent", "message.sent")
        },
        DialectEvent {
            aliases: &["before_tool_call"],
            keys: TOOL,
            results: Results::Keys(&[
                key("params", Says::Field("toolInput")),
                BLOCK,
                REASON,
                key("requireApproval", Says::Question),
            ]),
            blocks: true,
            rewrites: &[rewrite("toolInput", Merge::Last)],
            on_failure: OnFailure::Block,
            conduct: Conduct { first_question: true, ..FIFTEEN },
            ..waited("before-tool-call", "tool.pre")
        },
        DialectEvent {
            aliases: &["after_tool_call"],
            keys: TOOL,
            ..forgotten("after-tool-call", "tool.post")
        },
        DialectEvent {
            aliases: &["before_compaction"],
            keys: SESSION,
            ..waited("before-compaction", "compact.pre")
        },
        DialectEvent {
            aliases: &["after_compaction"],
            keys: SESSION,
            ..forgotten("after-compaction", "compact.post")
        },
        DialectEvent {
            aliases: &["tool_result_persist"],
            keys: TOOL,
            results: Results::Keys(&[key("message", Says::Field("message"))]),
            rewrites: &[rewrite("message", Merge::SameRole)],
            ..waited("tool-result-persist", "tool.persist")
        },
        // The gates and claims of its source.
        DialectEvent {
            keys: AGENT,
            results: Results::Keys(&[BLOCK, REASON]),
            blocks: true,
            on_failure: OnFailure::Block,
            ..waited("before_agent_run", "prompt.submit")
        },
        DialectEvent {
            results: Results::Keys(&[BLOCK, REASON]),
            blocks: true,
            on_failure: OnFailure::Block,
            ..waited("before_install", "install.pre")
        },
        DialectEvent {
            keys: AGENT,
            results: Results::Keys(&[
                key(
                    "action",
                    Says::Action(&[
                        ("continue", Act::Pass),
                        ("finalize", Act::Pass),
                        ("revise", Act::Refuse),
                    ]),
                ),
                key("reason", Says::Reason),
            ]),
            blocks: true,
            ..waited("before_agent_finalize", "agent.stop")
        },
        DialectEvent {
            keys: SESSION,
            results: Results::Keys(&[key("message", Says::Field("message")), BLOCK, REASON]),
            blocks: true,
            rewrites: &[rewrite("message", Merge::SameRole)],
            ..waited("before_message_write", "message.write")
        },
        DialectEvent {
            aliases: &["before_dispatch"],
            keys: MESSAGE,
            results: Results::Keys(&[HANDLED, REPLY]),
            rewrites: &[rewrite("handled", Merge::Claim), rewrite("reply", Merge::First)],
            schedule: Schedule::Sequential,
            ..waited("inbound_claim", "message.in")
        },
        DialectEvent {
            keys: MESSAGE,
            results: Results::Keys(&[HANDLED, REPLY]),
            rewrites: &[rewrite("handled", Merge::Claim), rewrite("reply", Merge::First)],
            schedule: Schedule::Sequential,
            ..waited("before_agent_reply", "reply.pre")
        },
        DialectEvent {
            keys: MESSAGE,
            results: Results::Keys(&[HANDLED]),
            rewrites: &[rewrite("handled", Merge::Claim)],
            schedule: Schedule::Sequential,
            ..waited("reply_dispatch", "reply.dispatch")
        },
        DialectEvent {
            keys: SESSION,
            results: Results::Keys(&[key("model", Says::Field("model"))]),
            rewrites: &[rewrite("model", Merge::Last)],
            ..waited("before_model_resolve", "model.select")
        },
        DialectEvent {
            keys: TOOL,
            results: Results::Keys(&[key("env", Says::Field("env"))]),
            rewrites: &[rewrite("env", Merge::Chain)],
            schedule: Schedule::Sequential,
            ..waited("resolve_exec_env", "exec.env")
        },
    ],
};
