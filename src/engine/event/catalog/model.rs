//! The model: which one, what it is given, what it says, and how its context is compacted.

use super::keys::*;
use super::row::*;

events! {
    "model.select" GATE "a model is about to be chosen",
        also ["PreModelSwitch" "before_model_resolve"],
        has [MODEL PROVIDER PREVIOUS_MODEL SESSION_ID CWD],
        rewrites [Chain "model"];
    // pi's `model_select` comes when the model is already in use, so it is not `model.select`.
    "model.selected" OBSERVER "another model is in use",
        also ["PostModelSwitch" "model_select"],
        has [MODEL PREVIOUS_MODEL SESSION_ID CWD];
    "model.pre" TRANSFORM "a request is about to go to the model",
        also ["BeforeModel" "before_model" "PreModelRequest" "context" "llm_input"
            "experimental.chat.messages.transform" "onModelCall" "PreInvocation"],
        has [TURN_INDEX MODEL MESSAGE_COUNT MESSAGES SESSION_ID CWD],
        rewrites [Chain "messages"];
    "model.tools" TRANSFORM "the tools that the model may call are chosen",
        also ["BeforeToolSelection" "before_tool_selection" "tool.definition"],
        has [TURN_INDEX MODEL TOOLS SESSION_ID CWD],
        rewrites [Last "tools"];
    "model.post" TRANSFORM "the model has answered",
        also ["AfterModel" "after_model" "llm_output" "onModelEnd" "PostInvocation"],
        has [TURN_INDEX MODEL STOP_REASON INPUT_TOKENS OUTPUT_TOKENS COST_USD TOOL_CALL_COUNT
            RESPONSE SESSION_ID CWD],
        rewrites [Chain "response"];
    // One call of the model can be several requests: a retry is a new one.
    "provider.request" TRANSFORM "a request is about to go to the model's provider",
        also ["provider_request" "before_provider_request" "model_call_started" "chat.params"
            "chat.headers"],
        has [MODEL PAYLOAD SESSION_ID CWD],
        rewrites [Chain "payload"];
    "provider.response" OBSERVER "the model's provider has responded",
        also ["after_provider_response" "model_call_ended"],
        has [MODEL STATUS HEADERS SESSION_ID CWD];
    "retry.start" OBSERVER "a failed request is about to be tried again",
        also ["auto_retry_start"],
        has [ATTEMPT ERROR SESSION_ID CWD];
    "retry.end" OBSERVER "trying again is over",
        also ["auto_retry_end"],
        has [ATTEMPT SUCCESS SESSION_ID CWD];
    "message.start" OBSERVER "a message begins",
        also ["message_start"],
        has [MESSAGE SESSION_ID CWD];
    "message.update" OBSERVER "a message has grown",
        also ["message_update"],
        has [MESSAGE DELTA SESSION_ID CWD];
    "message.thought" OBSERVER "the model has finished a thought",
        also ["afterAgentThought"],
        has [THOUGHT SESSION_ID CWD];
    "message.display" TRANSFORM "text of a message is about to be shown",
        also ["MessageDisplay"],
        has [DELTA SESSION_ID CWD],
        rewrites [Chain "delta"];
    "message.end" TRANSFORM "a message is complete",
        also ["message_end" "afterAgentResponse" "experimental.text.complete"
            "post_cascade_response"],
        has [MESSAGE SESSION_ID CWD],
        rewrites [SameRole "message"];
    "message.write" GATE "a message is about to be stored",
        also ["before_message_write"],
        has [MESSAGE SESSION_ID CWD],
        rewrites [SameRole "message"];
    "compact.pre" OPEN_GATE "the conversation is about to be compacted",
        also ["PreCompact" "PreCompress" "before_compact" "before_compaction" "before-compaction"
            "session_before_compact" "compact"],
        has [TRIGGER CUSTOM_INSTRUCTIONS TOKENS_BEFORE COMPACTION SESSION_ID CWD TRANSCRIPT_PATH],
        rewrites [First "compaction"];
    "compact.prompt" TRANSFORM "the prompt for the summary is being made",
        also ["session.compacting" "experimental.session.compacting"],
        has [COMPACTION_PROMPT ADDITIONS PRESERVED SESSION_ID CWD],
        rewrites [Last "prompt", Append "additions", Last "preserveData"];
    // These two enclose an automatic compaction, also one that fails; `compact.post` is only for
    // one that took place.
    "compact.start" OBSERVER "an automatic compaction begins",
        also ["auto_compaction_start"],
        has [REASON METHOD SESSION_ID CWD];
    "compact.end" OBSERVER "an automatic compaction is over",
        also ["auto_compaction_end"],
        has [SUCCESS METHOD SESSION_ID CWD];
    "compact.post" OBSERVER "the conversation has been compacted",
        also ["PostCompact" "after_compact" "after_compaction" "after-compaction" "session_compact"
            "session.compacted"],
        has [TRIGGER COMPACT_SUMMARY TOKENS_BEFORE SESSION_ID CWD];
}
