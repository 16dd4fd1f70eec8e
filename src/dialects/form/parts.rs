//! What several hosts write and read in the same way.

use crate::dialects::results::{Hear, HeardValue, On, Put, ReplyForm, Results, Say};
use crate::dialects::row::{DialectEvent, Wait};
use crate::engine::event::{Conduct, OnFailure, Schedule};

/// The host's name for the event, without which some hosts read nothing.
pub(in crate::dialects) const NAMED: (&str, Put) = ("hookSpecificOutput.hookEventName", Put::Name);

/// Exit status 2, and the reason on stderr: nothing on stdout can undo it.
pub(in crate::dialects) const REFUSE: Say = Say { on: On::Refusal, put: &[], status: 2 };

/// Text for the model, under the event's name.
pub(in crate::dialects) const TEACH: Say = Say {
    on: On::Context,
    put: &[NAMED, ("hookSpecificOutput.additionalContext", Put::Text)],
    status: 0,
};

/// Text to show.
pub(in crate::dialects) const SHOW: Say =
    Say { on: On::Output, put: &[("systemMessage", Put::Text)], status: 0 };

/// Ends the whole run there; here it refuses the event.
pub(in crate::dialects) const HALT: Hear = Hear { path: "continue", says: HeardValue::Flag(false) };

pub(in crate::dialects) const STOP_REASON: Hear =
    Hear { path: "stopReason", says: HeardValue::Reason };

pub(in crate::dialects) const MESSAGE: Hear =
    Hear { path: "systemMessage", says: HeardValue::Output };

pub(in crate::dialects) const DECISION: Hear = Hear {
    path: "decision",
    says: HeardValue::Words {
        refuse: &["block", "deny"],
        ask: &["ask"],
        pass: &["approve", "allow"],
    },
};

pub(in crate::dialects) const REASON: Hear = Hear { path: "reason", says: HeardValue::Reason };

pub(in crate::dialects) const ADDED: Hear =
    Hear { path: "hookSpecificOutput.additionalContext", says: HeardValue::Context };

pub(in crate::dialects) const PERMISSION: Hear = Hear {
    path: "hookSpecificOutput.permissionDecision",
    says: HeardValue::Words { refuse: &["deny"], ask: &["ask", "defer"], pass: &["allow"] },
};

pub(in crate::dialects) const PERMISSION_REASON: Hear =
    Hear { path: "hookSpecificOutput.permissionDecisionReason", says: HeardValue::Reason };

/// A broken configuration is told and no more: what the host has done already stays done, and an
/// agent that may never stop could not be stopped in a host that sets no limit (Codex).
const READS_ON: Conduct = Conduct { reads_on: true, ..Conduct::USUAL };

/// Is told. Claude Code and Codex CLI wait 600 s, and the other hosts say what they do.
pub(in crate::dialects) const fn told(
    name: &'static str,
    event: &'static str,
    form: &'static ReplyForm,
) -> DialectEvent {
    DialectEvent {
        name,
        event,
        results: Results::Form(form),
        schedule: Schedule::Parallel,
        conduct: READS_ON,
        wait: Some(Wait::seconds(600)),
        ..DialectEvent::OBSERVER
    }
}

/// May refuse, and refuses if it fails.
pub(in crate::dialects) const fn gate(
    name: &'static str,
    event: &'static str,
    form: &'static ReplyForm,
) -> DialectEvent {
    DialectEvent {
        blocks: true,
        on_failure: OnFailure::Block,
        schedule: Schedule::Sequential,
        conduct: Conduct::USUAL,
        ..told(name, event, form)
    }
}

/// May refuse; if it fails, the event goes on.
pub(in crate::dialects) const fn open_gate(
    name: &'static str,
    event: &'static str,
    form: &'static ReplyForm,
) -> DialectEvent {
    DialectEvent { on_failure: OnFailure::Allow, conduct: READS_ON, ..gate(name, event, form) }
}
