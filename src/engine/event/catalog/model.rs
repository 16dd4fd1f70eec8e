//! The model: which one, what it is given, what it says, and how its context is compacted.

use super::keys::*;
use super::{
    EventRow, GATE, OBSERVER, OPEN_GATE, TRANSFORM, append, chain, first, last, same_role,
};

pub(super) const ROWS: &[EventRow] = &[
    EventRow {
        name: "model.select",
        summary: "a model is about to be chosen",
        aliases: &["PreModelSwitch", "before_model_resolve"],
        context: &[MODEL, PROVIDER, PREVIOUS_MODEL, SESSION_ID, CWD],
        rewrites: &[chain("model")],
        ..GATE
    },
    // pi's `model_select` comes when the model is already in use, so it is not `model.select`.
    EventRow {
        name: "model.selected",
        summary: "another model is in use",
        aliases: &["PostModelSwitch", "model_select"],
        context: &[MODEL, PREVIOUS_MODEL, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "model.pre",
        summary: "a request is about to go to the model",
        aliases: &[
            "BeforeModel",
            "before_model",
            "PreModelRequest",
            "context",
            "llm_input",
            "experimental.chat.messages.transform",
            "onModelCall",
        ],
        context: &[TURN_INDEX, MODEL, MESSAGE_COUNT, MESSAGES, SESSION_ID, CWD],
        rewrites: &[chain("messages")],
        ..TRANSFORM
    },
    EventRow {
        name: "model.tools",
        summary: "the tools that the model may call are chosen",
        aliases: &["BeforeToolSelection", "before_tool_selection", "tool.definition"],
        context: &[TURN_INDEX, MODEL, TOOLS, SESSION_ID, CWD],
        rewrites: &[last("tools")],
        ..TRANSFORM
    },
    EventRow {
        name: "model.post",
        summary: "the model has answered",
        aliases: &["AfterModel", "after_model", "llm_output", "onModelEnd"],
        context: &[
            TURN_INDEX,
            MODEL,
            STOP_REASON,
            INPUT_TOKENS,
            OUTPUT_TOKENS,
            COST_USD,
            TOOL_CALL_COUNT,
            RESPONSE,
            SESSION_ID,
            CWD,
        ],
        rewrites: &[chain("response")],
        ..TRANSFORM
    },
    // One call of the model can be several requests: a retry is a new one.
    EventRow {
        name: "provider.request",
        summary: "a request is about to go to the model's provider",
        aliases: &[
            "provider_request",
            "before_provider_request",
            "model_call_started",
            "chat.params",
            "chat.headers",
        ],
        context: &[MODEL, PAYLOAD, SESSION_ID, CWD],
        rewrites: &[chain("payload")],
        ..TRANSFORM
    },
    EventRow {
        name: "provider.response",
        summary: "the model's provider has responded",
        aliases: &["after_provider_response", "model_call_ended"],
        context: &[MODEL, STATUS, HEADERS, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "retry.start",
        summary: "a failed request is about to be tried again",
        aliases: &["auto_retry_start"],
        context: &[ATTEMPT, ERROR, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "retry.end",
        summary: "trying again is over",
        aliases: &["auto_retry_end"],
        context: &[ATTEMPT, SUCCESS, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "message.start",
        summary: "a message begins",
        aliases: &["message_start"],
        context: &[MESSAGE, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "message.update",
        summary: "a message has grown",
        aliases: &["message_update"],
        context: &[MESSAGE, DELTA, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "message.thought",
        summary: "the model has finished a thought",
        aliases: &["afterAgentThought"],
        context: &[THOUGHT, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "message.display",
        summary: "text of a message is about to be shown",
        aliases: &["MessageDisplay"],
        context: &[DELTA, SESSION_ID, CWD],
        rewrites: &[chain("delta")],
        ..TRANSFORM
    },
    EventRow {
        name: "message.end",
        summary: "a message is complete",
        aliases: &["message_end", "afterAgentResponse", "experimental.text.complete"],
        context: &[MESSAGE, SESSION_ID, CWD],
        rewrites: &[same_role("message")],
        ..TRANSFORM
    },
    EventRow {
        name: "message.write",
        summary: "a message is about to be stored",
        aliases: &["before_message_write"],
        context: &[MESSAGE, SESSION_ID, CWD],
        rewrites: &[same_role("message")],
        ..GATE
    },
    EventRow {
        name: "compact.pre",
        summary: "the conversation is about to be compacted",
        aliases: &[
            "PreCompact",
            "PreCompress",
            "before_compact",
            "before_compaction",
            "before-compaction",
            "session_before_compact",
            "compact",
        ],
        context: &[
            TRIGGER,
            CUSTOM_INSTRUCTIONS,
            TOKENS_BEFORE,
            COMPACTION,
            SESSION_ID,
            CWD,
            TRANSCRIPT_PATH,
        ],
        rewrites: &[first("compaction")],
        ..OPEN_GATE
    },
    EventRow {
        name: "compact.prompt",
        summary: "the prompt for the summary is being made",
        aliases: &["session.compacting", "experimental.session.compacting"],
        context: &[COMPACTION_PROMPT, ADDITIONS, PRESERVED, SESSION_ID, CWD],
        rewrites: &[last("prompt"), append("additions"), last("preserveData")],
        ..TRANSFORM
    },
    // These two embrace an automatic compaction, also one that fails; `compact.post` is only
    // for one that took place.
    EventRow {
        name: "compact.start",
        summary: "an automatic compaction begins",
        aliases: &["auto_compaction_start"],
        context: &[REASON, METHOD, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "compact.end",
        summary: "an automatic compaction is over",
        aliases: &["auto_compaction_end"],
        context: &[SUCCESS, METHOD, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "compact.post",
        summary: "the conversation has been compacted",
        aliases: &[
            "PostCompact",
            "after_compact",
            "after_compaction",
            "after-compaction",
            "session_compact",
            "session.compacted",
        ],
        context: &[TRIGGER, COMPACT_SUMMARY, TOKENS_BEFORE, SESSION_ID, CWD],
        ..OBSERVER
    },
];
