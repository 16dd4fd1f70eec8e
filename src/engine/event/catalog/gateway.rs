//! An agent behind a gateway: messages from and to people, installs, schedules, skills.
//!
//! All but a few are openclaw's.

use super::keys::*;
use super::row::*;

events! {
    // Of openclaw's four, `message_received` can only observe; its dialect says so.
    "message.in" OPEN_GATE "a message for the agent has arrived",
        also ["inbound_claim" "before_dispatch" "message_received" "message-received"],
        has [CONTENT CHANNEL SENDER_ID HANDLED REPLY SESSION_ID],
        rewrites [Claim "handled", First "reply"];
    "reply.pre" TRANSFORM "the agent is about to think of a reply",
        also ["before_agent_reply"],
        has [CONTENT CHANNEL SENDER_ID HANDLED REPLY SESSION_ID],
        rewrites [Claim "handled", First "reply"];
    "reply.dispatch" TRANSFORM "a reply is about to be handed on",
        also ["reply_dispatch"],
        has [CONTENT CHANNEL RECIPIENT HANDLED SESSION_ID],
        rewrites [Claim "handled"];
    "message.out" GATE "a message is about to be sent",
        also ["message_sending" "message-sending" "reply_payload_sending"],
        has [CONTENT REPLY_PAYLOAD CHANNEL RECIPIENT SESSION_ID],
        rewrites [Chain "content"];
    "message.sent" NOTICE "a message has been sent",
        also ["message_sent" "message-sent"],
        has [CONTENT CHANNEL RECIPIENT SUCCESS SESSION_ID];
    "poll.vote" NOTICE "a person has voted in a poll",
        also ["poll_vote_received"],
        has [VOTE CHANNEL SENDER_ID SESSION_ID];
    "pairing.request" NOTICE "a person asks to talk to the agent",
        also ["channel_pairing_requested"],
        has [CHANNEL SENDER_ID];
    "install.pre" GATE "a plugin or skill is about to be installed",
        also ["before_install"],
        has [NAME ORIGIN FILE_PATH CWD];
    "gateway.start" NOTICE "the gateway has started",
        also ["gateway_start" "gateway-start"],
        has [CWD];
    // Not detached: cleaning up must be done before the gateway is gone.
    "gateway.stop" OBSERVER "the gateway is about to stop",
        also ["gateway_stop" "gateway-stop"],
        has [REASON CWD];
    "cron.reconcile" NOTICE "the schedule has been read anew",
        also ["cron_reconciled"],
        has [CWD];
    "cron.change" NOTICE "a scheduled job has changed",
        also ["cron_changed"],
        has [NAME CHANGE CWD];
    "skill.propose" GATE "a skill is proposed",
        also ["skill_proposal_evaluate"],
        has [NAME CONTENT CWD];
    "skill.proposal.change" NOTICE "a proposed skill has changed",
        also ["skill_proposal_changed"],
        has [NAME CHANGE CWD];
    "skill.change" NOTICE "a skill has changed",
        also ["skill_changed"],
        has [NAME CHANGE CWD];
}
