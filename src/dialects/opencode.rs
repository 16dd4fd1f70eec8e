//! OpenCode, which is no dialect: it runs no commands, and sends no JSON. hookrun's plugin asks in
//! hookrun's own words, and carries the decision out in the host.

use super::results::ReplySlot;

/// One event that the plugin passes on.
#[derive(Debug)]
pub struct PluginEvent {
    /// The host's name for it.
    pub name: &'static str,
    /// Ours.
    pub event: &'static str,
    /// What hookrun can answer there.
    pub says: &'static [ReplySlot],
}

const fn told(name: &'static str, event: &'static str) -> PluginEvent {
    PluginEvent { name, event, says: &[] }
}

pub const EVENTS: &[PluginEvent] = &[
    told("session.created", "session.start"),
    PluginEvent {
        name: "chat.message",
        event: "prompt.submit",
        says: &[ReplySlot::Refusal, ReplySlot::New("prompt"), ReplySlot::Context],
    },
    PluginEvent {
        name: "tool.execute.before",
        event: "tool.pre",
        says: &[ReplySlot::Refusal, ReplySlot::New("toolInput")],
    },
    PluginEvent {
        name: "tool.execute.after",
        event: "tool.post",
        says: &[ReplySlot::New("result"), ReplySlot::Context],
    },
    told("session.idle", "agent.end"),
    told("session.compacted", "compact.post"),
    told("session.error", "error"),
];

impl PluginEvent {
    /// Whether a hook may block it; a failure does so too.
    pub fn can_refuse(&self) -> bool {
        self.says.contains(&ReplySlot::Refusal)
    }
}
