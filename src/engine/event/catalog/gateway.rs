//! An agent behind a gateway: messages from and to people, installs, schedules, skills.
//!
//! All but a few are openclaw's.

use super::keys::*;
use super::{EventRow, GATE, NOTICE, OBSERVER, OPEN_GATE, TRANSFORM, chain, claim, first};

pub(super) const ROWS: &[EventRow] = &[
    // Of openclaw's four, `message_received` can only observe; its dialect says so.
    EventRow {
        name: "message.in",
        summary: "a message for the agent has arrived",
        aliases: &["inbound_claim", "before_dispatch", "message_received", "message-received"],
        context: &[CONTENT, CHANNEL, SENDER_ID, HANDLED, REPLY, SESSION_ID],
        rewrites: &[claim("handled"), first("reply")],
        ..OPEN_GATE
    },
    EventRow {
        name: "reply.pre",
        summary: "the agent is about to think of a reply",
        aliases: &["before_agent_reply"],
        context: &[CONTENT, CHANNEL, SENDER_ID, HANDLED, REPLY, SESSION_ID],
        rewrites: &[claim("handled"), first("reply")],
        ..TRANSFORM
    },
    EventRow {
        name: "reply.dispatch",
        summary: "a reply is about to be handed on",
        aliases: &["reply_dispatch"],
        context: &[CONTENT, CHANNEL, RECIPIENT, HANDLED, SESSION_ID],
        rewrites: &[claim("handled")],
        ..TRANSFORM
    },
    EventRow {
        name: "message.out",
        summary: "a message is about to be sent",
        aliases: &["message_sending", "message-sending", "reply_payload_sending"],
        context: &[CONTENT, REPLY_PAYLOAD, CHANNEL, RECIPIENT, SESSION_ID],
        rewrites: &[chain("content")],
        ..GATE
    },
    EventRow {
        name: "message.sent",
        summary: "a message has been sent",
        aliases: &["message_sent", "message-sent"],
        context: &[CONTENT, CHANNEL, RECIPIENT, SUCCESS, SESSION_ID],
        ..NOTICE
    },
    EventRow {
        name: "poll.vote",
        summary: "a person has voted in a poll",
        aliases: &["poll_vote_received"],
        context: &[VOTE, CHANNEL, SENDER_ID, SESSION_ID],
        ..NOTICE
    },
    EventRow {
        name: "pairing.request",
        summary: "a person asks to talk to the agent",
        aliases: &["channel_pairing_requested"],
        context: &[CHANNEL, SENDER_ID],
        ..NOTICE
    },
    EventRow {
        name: "install.pre",
        summary: "a plugin or skill is about to be installed",
        aliases: &["before_install"],
        context: &[NAME, ORIGIN, FILE_PATH, CWD],
        ..GATE
    },
    EventRow {
        name: "gateway.start",
        summary: "the gateway has started",
        aliases: &["gateway_start", "gateway-start"],
        context: &[CWD],
        ..NOTICE
    },
    // Not detached: what cleans up has to be done before the gateway is gone.
    EventRow {
        name: "gateway.stop",
        summary: "the gateway is about to stop",
        aliases: &["gateway_stop", "gateway-stop"],
        context: &[REASON, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "cron.reconcile",
        summary: "the schedule has been read anew",
        aliases: &["cron_reconciled"],
        context: &[CWD],
        ..NOTICE
    },
    EventRow {
        name: "cron.change",
        summary: "a scheduled job has changed",
        aliases: &["cron_changed"],
        context: &[NAME, CHANGE, CWD],
        ..NOTICE
    },
    EventRow {
        name: "skill.propose",
        summary: "a skill is proposed",
        aliases: &["skill_proposal_evaluate"],
        context: &[NAME, CONTENT, CWD],
        ..GATE
    },
    EventRow {
        name: "skill.proposal.change",
        summary: "a proposed skill has changed",
        aliases: &["skill_proposal_changed"],
        context: &[NAME, CHANGE, CWD],
        ..NOTICE
    },
    EventRow {
        name: "skill.change",
        summary: "a skill has changed",
        aliases: &["skill_changed"],
        context: &[NAME, CHANGE, CWD],
        ..NOTICE
    },
];
