//! The messages of the protocol and the events that they are.

pub(crate) const VERSION: &str = "draft";

/// How the names begin that we add to the protocol.
pub(crate) const CODE: &str = "dev.hookrun";

/// A message of the protocol, and the event that it is.
#[derive(Debug)]
pub(crate) struct AhpEvent {
    pub(crate) name: &'static str,
    pub(crate) event: &'static str,
    /// Whether a harness may ask about it, and not only tell it.
    pub(crate) is_asked: bool,
    /// Which of its values become which keys of the context.
    pub(crate) keys: &'static [AhpKey],
}

/// A value of a message, by its JSON pointer.
#[derive(Debug)]
pub(crate) struct AhpKey {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) kind: AhpValue,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum AhpValue {
    AsIs,
    /// The text of content: the text parts of messages, or of one.
    Text,
}

pub(crate) const fn key(from: &'static str, to: &'static str) -> AhpKey {
    AhpKey {
        from,
        to,
        kind: AhpValue::AsIs,
    }
}

const fn text(from: &'static str, to: &'static str) -> AhpKey {
    AhpKey {
        from,
        to,
        kind: AhpValue::Text,
    }
}

const fn asked(name: &'static str, event: &'static str, keys: &'static [AhpKey]) -> AhpEvent {
    AhpEvent {
        name,
        event,
        is_asked: true,
        keys,
    }
}

const fn told(name: &'static str, event: &'static str, keys: &'static [AhpKey]) -> AhpEvent {
    AhpEvent {
        name,
        event,
        is_asked: false,
        keys,
    }
}

const NAME: AhpKey = key("/tool/name", "toolName");
const INPUT: AhpKey = key("/tool/input", "toolInput");
const CALL: AhpKey = key("/call/id", "toolUseId");

/// What the protocol has and the catalog has too. `turn.progress`, `model.error`, `task.change.*`,
/// `workspace.change.*`, `tool.permission.resolved` and `hook.failure` are no events of ours.
pub(crate) const EVENTS: &[AhpEvent] = &[
    asked("tool.before", "tool.pre", &[NAME, INPUT, CALL]),
    told(
        "tool.after",
        "tool.post",
        &[NAME, INPUT, CALL, text("/items", "result")],
    ),
    asked(
        "tool.permission.request",
        "permission.request",
        &[NAME, INPUT],
    ),
    told(
        "tool.progress",
        "tool.update",
        &[NAME, INPUT, CALL, text("/partialOutput", "partialResult")],
    ),
    asked(
        "tool.batch.after",
        "tool.batch",
        &[key("/calls", "toolCalls")],
    ),
    told(
        "session.start",
        "session.start",
        &[key("/trigger", "source")],
    ),
    told("session.end", "session.end", &[key("/reason", "reason")]),
    told("turn.start", "turn.start", &[]),
    asked(
        "turn.finish.before",
        "agent.stop",
        &[
            key("/continuationCount", "loopCount"),
            text("/items", "lastAssistantMessage"),
        ],
    ),
    told("turn.end", "turn.end", &[]),
    asked(
        "model.request.before",
        "model.pre",
        &[key("/model/id", "model")],
    ),
    told(
        "model.response.after",
        "model.post",
        &[key("/model/id", "model"), text("/items", "response")],
    ),
    asked(
        "model.switch.before",
        "model.select",
        &[key("/proposed/id", "model")],
    ),
    told(
        "model.switch.after",
        "model.selected",
        &[
            key("/current/id", "model"),
            key("/previous/id", "previousModel"),
        ],
    ),
    asked(
        "context.compact.before",
        "compact.pre",
        &[key("/trigger", "trigger")],
    ),
    told(
        "context.compact.after",
        "compact.post",
        &[text("/summary", "compactSummary")],
    ),
    asked(
        "user.message.inbound",
        "message.in",
        &[
            text("/message/text", "content"),
            key("/message/channel", "channel"),
            key("/message/sender", "senderId"),
        ],
    ),
    asked(
        "user.message.outbound",
        "message.out",
        &[
            text("/message/text", "content"),
            key("/message/channel", "channel"),
        ],
    ),
    told(
        "user.attention",
        "notification",
        &[key("/message", "message")],
    ),
    asked(
        "user.elicitation.request",
        "elicitation",
        &[key("/server", "mcpServer")],
    ),
    asked(
        "user.elicitation.result",
        "elicitation.result",
        &[key("/server", "mcpServer")],
    ),
    asked(
        "config.change.before",
        "config.change",
        &[key("/source", "source")],
    ),
    told(
        "file.changed",
        "file.change",
        &[key("/path", "filePath"), key("/change", "change")],
    ),
];
