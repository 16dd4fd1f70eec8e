//! The keys of a context, each once: name, type, example, meaning.
//!
//! Where loom has a word, it is loom's. Two names are reserved for hookrun and have no
//! row: `action`, which is made from the tool, and `raw`, the host's own payload.

use std::borrow::Cow::Borrowed;

use crate::engine::event::spec::{ContextKey, JsonType};

/// Turns the table below into one constant for each key. A macro, because a key is one line
/// only in a form that rustfmt leaves alone.
macro_rules! keys {
    ($($constant:ident $name:literal $kind:ident $sample:literal $about:literal)*) => {
        $(pub(super) const $constant: ContextKey = ContextKey {
            name: Borrowed($name),
            kind: JsonType::$kind,
            about: Borrowed($about),
            sample: Borrowed($sample),
        };)*
    };
}

// A key that is `null` in the example is one that the host leaves open for a hook to fill.
keys! {
    // The session.
    SESSION_ID "sessionId" String r#""s-1""# "the host's session"
    TURN_INDEX "turnIndex" Integer "0" "the turn, counted from 0"
    CWD "cwd" String r#""/tmp""# "the session's working directory"
    TRANSCRIPT_PATH "transcriptPath" String r#""/tmp/s-1.jsonl""#
        "the file with the conversation so far"
    PERMISSION_MODE "permissionMode" String r#""default""# "how freely the agent may act"
    SOURCE "source" String r#""startup""# "what began it: startup, resume, clear, compact"
    ORIGIN "source" String r#""user""# "where it came from"
    REASON "reason" String r#""user""# "why, in the host's word"
    TRIGGER "trigger" String r#""manual""# "what set it off: manual, auto, init"
    PREVIOUS_SESSION "previousSession" String r#""/tmp/s-0.jsonl""# "the session that was left"
    TARGET_SESSION "targetSession" String r#""/tmp/s-2.jsonl""# "the session that is wanted"
    TARGET_TURN_INDEX "targetTurnIndex" Integer "0" "the turn that is branched from"
    ENTRY_ID "entryId" String r#""e-1""# "the entry of the session it is about"
    SESSION_DIR "sessionDir" String r#""/tmp/sessions""# "where sessions are kept"
    SKIP_RESTORE "skipConversationRestore" Boolean "false"
        "branch, but leave the conversation as it is"

    // The prompt, the agent, its tasks.
    PROMPT "prompt" String r#""say hello""# "what the user wrote"
    SYSTEM_PROMPT "systemPrompt" String r#""You are a helpful agent.""# "the system prompt"
    IMAGES "images" Array "[]" "images that come with it"
    HANDLED "handled" Boolean "false" "a hook dealt with it; the host goes no further"
    COMMAND_NAME "commandName" String r#""review""# "the slash command"
    COMMAND_ARGS "commandArgs" String r#""""# "what follows it"
    ARGS "args" String r#""""# "what follows the command"
    STOP_HOOK_ACTIVE "stopHookActive" Boolean "false"
        "it goes on only because a hook blocked the stop"
    LOOP_COUNT "loopCount" Integer "0" "how often that was so in a row"
    LAST_ASSISTANT_MESSAGE "lastAssistantMessage" String r#""Done.""# "the model's last words"
    AGENT_ID "agentId" String r#""a-1""# "the subagent"
    AGENT_TYPE "agentType" String r#""general-purpose""# "its kind"
    TARGET "target" Any "null" "where its answer goes instead"
    PROGRESS "progress" String r#""reading""# "what it is doing"
    TASK_ID "taskId" String r#""1""# "the task"
    TASK_SUBJECT "taskSubject" String r#""write tests""# "what to do"
    TEAMMATE_NAME "teammateName" String r#""reviewer""# "the agent that has nothing to do"
    OPEN_ITEMS "todos" Array r#"["write tests"]"# "what is not done"
    ADDITIONS "additions" Array "[]" "texts to add"

    // The model and its messages.
    MODEL "model" String r#""some-model""# "the model"
    PROVIDER "provider" String r#""some-provider""# "the service that runs the model"
    PREVIOUS_MODEL "previousModel" String r#""other-model""# "the model until now"
    MESSAGE_COUNT "messageCount" Integer "1" "how many messages the model is given"
    MESSAGES "messages" Array r#"[{"role":"user","content":"say hello"}]"# "the conversation"
    MESSAGE "message" Object r#"{"role":"assistant","content":"hello"}"#
        "one message of the conversation"
    DELTA "delta" String r#""hello""# "the text that is new"
    THOUGHT "thought" String r#""A greeting will do.""# "what the model thought"
    TOOLS "tools" Array r#"["bash","read"]"# "the tools that the model may call"
    PAYLOAD "payload" Object r#"{"model":"some-model"}"# "the request as the provider gets it"
    RESPONSE "response" Any r#""hello""# "what the model answered"
    STATUS "status" Integer "200" "the HTTP status"
    HEADERS "headers" Object r#"{"content-type":"application/json"}"# "the HTTP headers"
    STOP_REASON "stopReason" String r#""end_turn""# "why the model stopped"
    INPUT_TOKENS "inputTokens" Integer "10" "tokens read"
    OUTPUT_TOKENS "outputTokens" Integer "5" "tokens written"
    COST_USD "costUsd" Number "0.001" "the price in US dollars"
    TOOL_CALL_COUNT "toolCallCount" Integer "1" "how many tools the model called"
    ATTEMPT "attempt" Integer "1" "the try, counted from 1"
    SUCCESS "success" Boolean "true" "whether it went well"
    CUSTOM_INSTRUCTIONS "customInstructions" String r#""keep the names""#
        "what the summary should keep"
    COMPACTION "compaction" Any "null" "a compaction to use instead of the host's own"
    COMPACTION_PROMPT "prompt" String r#""Summarize.""# "the instructions for the summary"
    PRESERVED "preserveData" Any "null" "data that must outlive the compaction"
    METHOD "method" String r#""prune""# "how it is made smaller, in the host's word"
    SUMMARY "summary" Any "null" "a summary to use instead of the host's own"
    COMPACT_SUMMARY "compactSummary" String r#""The user greeted.""#
        "what is left of the conversation"
    TOKENS_BEFORE "tokensBefore" Integer "100000" "the size of the conversation before"

    // Tools.
    TOOL_NAME "toolName" String r#""bash""# "the tool, as the host calls it"
    TOOL_INPUT "toolInput" Object r#"{"command":"echo hello"}"# "what the tool is given"
    TOOL_USE_ID "toolUseId" String r#""t-1""# "this call of the tool"
    RESULT "result" Any r#""hello\n""# "what the tool gave back"
    PARTIAL_RESULT "partialResult" Any r#""hel""# "what the tool gave back so far"
    OWN_RESULT "result" Any "null" "what to give back instead of doing it"
    IS_ERROR "isError" Boolean "false" "whether the tool failed"
    DETAILS "details" Any "null" "what the host knows beyond the result"
    DURATION_MS "durationMs" Number "12" "how long it took"
    ERROR "error" String r#""exited with status 1""# "what went wrong"
    TOOL_CALLS "toolCalls" Array r#"[{"toolName":"bash","toolInput":{"command":"echo hello"}}]"#
        "the calls that were made together"
    TOOL_RESULTS "toolResults" Array r#"[{"toolName":"bash","result":"hello\n"}]"#
        "what the tools of the turn gave back"
    DENIAL "reason" String r#""not allowed by the rules""# "why it was denied"
    COMMAND "command" String r#""echo hello""# "the command line"
    ENV "env" Object r#"{"LANG":"C"}"# "environment variables"
    EXCLUDE_FROM_CONTEXT "excludeFromContext" Boolean "false" "whether the model will not see it"
    MCP_SERVER "mcpServer" String r#""forms""# "the MCP server that asks"
    REQUESTED_SCHEMA "requestedSchema" Object r#"{"type":"object"}"#
        "the JSON Schema of what it wants"
    OWN_ANSWER "answer" Any "null" "what to answer without asking anybody"
    ANSWER "answer" Object r#"{"action":"accept","content":{}}"# "what was answered"

    // Notices and errors.
    CODE "code" String r#""api_error""# "the error, in the host's word"
    MESSAGE_TEXT "message" String r#""something happened""# "what it says"
    KIND "kind" String r#""idle""# "the sort of notice"
    RULE "rule" String r#""no-any""# "the rule"

    // The workspace.
    RESOURCES "resources" Array "[]" "paths of skills, prompts, plugins and the like"
    FILE_PATH "filePath" String r#""/tmp/a.txt""# "the file"
    MEMORY_TYPE "memoryType" String r#""project""# "whose instructions they are"
    CHANGE "change" String r#""modified""# "what was done to it"
    OLD_CWD "oldCwd" String r#""/""# "the working directory until now"
    NEW_CWD "newCwd" String r#""/tmp""# "the working directory from now on"
    DIRECTORY "directory" String r#""/tmp""# "the directory"
    NAME "name" String r#""demo""# "its name"
    WORKTREE_PATH "worktreePath" String r#""/tmp/demo""# "where the worktree is"
    OWN_WORKTREE "worktreePath" Any "null" "where a hook made the worktree itself"

    // Messages between people and an agent behind a gateway.
    CONTENT "content" String r#""hello""# "the text"
    CHANNEL "channel" String r#""telegram""# "the messenger it goes through"
    SENDER_ID "senderId" String r#""u-1""# "its author"
    RECIPIENT "recipient" String r#""u-1""# "its readers"
    REPLY_PAYLOAD "payload" Object r#"{"text":"hello"}"# "the whole message, as the host has it"
    REPLY "reply" Any "null" "what to reply without asking the model"
    VOTE "vote" String r#""yes""# "what was voted for"

    // git.
    REF "ref" String r#""refs/heads/main""# "the reference"
    OLD_SHA "oldSha" String r#""1111111""# "the commit until now"
    NEW_SHA "newSha" String r#""2222222""# "the commit from now on"
    REFS "refs" Array r#"[{"ref":"refs/heads/main","oldSha":"1111111","newSha":"2222222"}]"#
        "the references that move, from where to where"
    REF_NAMES "refs" Array r#"["refs/heads/main"]"# "the references that moved"
    REMOTE "remote" String r#""origin""# "the remote, as the user calls it"
    URL "url" String r#""https://example.com/demo.git""# "where it is"
    STATE "state" String r#""prepared""# "how far the transaction is"
    COMMIT_MESSAGE "message" String r#""Say hello""# "the commit message"
    UPSTREAM "upstream" String r#""main""# "the branch that is rebased onto"
    BRANCH "branch" String r#""topic""# "the branch that is rebased; empty for the current one"
    IS_BRANCH "isBranch" Boolean "true" "whether a branch was checked out, and not single files"
    IS_SQUASH "isSquash" Boolean "false" "whether it was squashed"
    PUSHED_REFS "refs" Array r#"[{"localRef":"refs/heads/main","newSha":"2222222","ref":"refs/heads/main","oldSha":"1111111"}]"#
        "the references that move at the remote, and what they are called here"
    CHANGES "changes" Array r#"[{"path":"src/a.txt","status":"M"}]"#
        "the paths that it changes, and how: A, M, D, T; R is renamed, `to` another path"
    PUSH_OPTIONS "pushOptions" Array r#"["ci.skip"]"# "what was given with --push-option"
    COMMIT "commit" String r#""2222222""# "the commit whose message is taken; mostly empty"
    HEADER_FILE "headerFile" String r#""/tmp/headers""# "the file with the headers of the mail"
    SKIP_WORKTREE_CHANGED "skipWorktreeChanged" Boolean "false"
        "whether files came or went by sparse checkout"
    COMMITS "commits" Array r#"[{"oldSha":"1111111","newSha":"2222222"}]"#
        "the commits, from what to what"
    WORKTREE_CHANGED "worktreeChanged" Boolean "true"
        "whether files of the worktree were written too"
}
