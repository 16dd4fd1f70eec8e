//! Context keys: name, type, example, meaning.
//!
//! Names are loom's where it has one. `action`, derived from the tool, and `raw`, the host's
//! payload, are reserved and have no row.

use std::borrow::Cow::Borrowed;

use crate::engine::event::spec::{ContextKey, JsonType};

/// Generates a constant per key. In a macro, rustfmt leaves the table alone.
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

// `null` examples are keys that a hook may fill.
keys! {
    // Session.
    SESSION_ID "sessionId" String r#""s-1""# "the host's session"
    TURN_INDEX "turnIndex" Integer "0" "the turn, counted from 0"
    CWD "cwd" String r#""/tmp""# "the session's working directory"
    TRANSCRIPT_PATH "transcriptPath" String r#""/tmp/s-1.jsonl""#
        "the transcript file"
    PERMISSION_MODE "permissionMode" String r#""default""# "the agent's permission mode"
    SOURCE "source" String r#""startup""# "the cause: startup, resume, clear, compact"
    ORIGIN "source" String r#""user""# "the origin, in the host's terms"
    REASON "reason" String r#""user""# "the reason, in the host's terms"
    TRIGGER "trigger" String r#""manual""# "the trigger, such as manual, auto, init or amend"
    PREVIOUS_SESSION "previousSession" String r#""/tmp/s-0.jsonl""# "the previous session"
    TARGET_SESSION "targetSession" String r#""/tmp/s-2.jsonl""# "the target session"
    TARGET_TURN_INDEX "targetTurnIndex" Integer "0" "the turn to branch from"
    ENTRY_ID "entryId" String r#""e-1""# "the session entry"
    SKIP_RESTORE "skipConversationRestore" Boolean "false"
        "branch, but do not change the conversation"

    // Prompt, agent and tasks.
    PROMPT "prompt" String r#""say hello""# "the user's prompt"
    SYSTEM_PROMPT "systemPrompt" String r#""You are a helpful agent.""# "the system prompt"
    IMAGES "images" Array "[]" "attached images"
    HANDLED "handled" Boolean "false" "a hook handled the input; the host does nothing more"
    COMMAND_NAME "commandName" String r#""review""# "the slash command"
    COMMAND_ARGS "commandArgs" String r#""""# "the command's arguments"
    ARGS "args" String r#""""# "the text after the command"
    STOP_HOOK_ACTIVE "stopHookActive" Boolean "false"
        "the agent continues because a hook blocked its stop"
    LOOP_COUNT "loopCount" Integer "0" "how many times in a row hooks blocked this stop"
    LAST_ASSISTANT_MESSAGE "lastAssistantMessage" String r#""Done.""# "the model's last message"
    AGENT_ID "agentId" String r#""a-1""# "the subagent"
    AGENT_TYPE "agentType" String r#""general-purpose""# "the subagent's kind"
    TASK_ID "taskId" String r#""1""# "the task"
    TASK_SUBJECT "taskSubject" String r#""write tests""# "the task's subject"
    TEAMMATE_NAME "teammateName" String r#""reviewer""# "the idle agent"
    OPEN_ITEMS "todos" Array r#"["write tests"]"# "open items"
    ADDITIONS "additions" Array "[]" "text to add"

    // Model and messages.
    MODEL "model" String r#""some-model""# "the model"
    PROVIDER "provider" String r#""some-provider""# "the service that runs the model"
    PREVIOUS_MODEL "previousModel" String r#""other-model""# "the previous model"
    MESSAGE_COUNT "messageCount" Integer "1" "the number of messages sent to the model"
    MESSAGES "messages" Array r#"[{"role":"user","content":"say hello"}]"# "the conversation"
    MESSAGE "message" Object r#"{"role":"assistant","content":"hello"}"#
        "one message of the conversation"
    DELTA "delta" String r#""hello""# "the new text"
    THOUGHT "thought" String r#""A greeting will do.""# "the thought"
    TOOLS "tools" Array r#"["bash","read"]"# "the tools that the model may call"
    PAYLOAD "payload" Object r#"{"model":"some-model"}"# "the request to the provider"
    RESPONSE "response" Any r#""hello""# "the model's response"
    STATUS "status" Integer "200" "the HTTP status"
    HEADERS "headers" Object r#"{"content-type":"application/json"}"# "the HTTP headers"
    STOP_REASON "stopReason" String r#""end_turn""# "why the model stopped"
    INPUT_TOKENS "inputTokens" Integer "10" "tokens read"
    OUTPUT_TOKENS "outputTokens" Integer "5" "tokens written"
    COST_USD "costUsd" Number "0.001" "the cost in US dollars"
    TOOL_CALL_COUNT "toolCallCount" Integer "1" "the number of tool calls"
    ATTEMPT "attempt" Integer "1" "the attempt, counted from 1"
    SUCCESS "success" Boolean "true" "whether the operation succeeded"
    CUSTOM_INSTRUCTIONS "customInstructions" String r#""keep the names""#
        "instructions for the summary"
    COMPACTION "compaction" Any "null" "a compaction to use instead of the host's own"
    COMPACTION_PROMPT "prompt" String r#""Summarize.""# "the instructions for the summary"
    PRESERVED "preserveData" Any "null" "data to keep through the compaction"
    METHOD "method" String r#""prune""# "the method, in the host's terms"
    SUMMARY "summary" Any "null" "a summary to use instead of the host's own"
    COMPACT_SUMMARY "compactSummary" String r#""The user greeted.""#
        "the summary of the conversation"
    TOKENS_BEFORE "tokensBefore" Integer "100000" "the size of the conversation before compaction"

    // Tools.
    TOOL_NAME "toolName" String r#""bash""# "the tool, as the host calls it"
    TOOL_INPUT "toolInput" Object r#"{"command":"echo hello"}"# "the tool's input"
    TOOL_USE_ID "toolUseId" String r#""t-1""# "the id of this call"
    RESULT "result" Any r#""hello\n""# "the tool's result"
    OWN_RESULT "result" Any "null" "a result to return without running the command"
    IS_ERROR "isError" Boolean "false" "whether the tool failed"
    DETAILS "details" Any "null" "additional details from the host"
    DURATION_MS "durationMs" Number "12" "the duration in milliseconds"
    ERROR "error" String r#""exited with status 1""# "the error"
    TOOL_CALLS "toolCalls" Array r#"[{"toolName":"bash","toolInput":{"command":"echo hello"}}]"#
        "the tool calls of the batch"
    TOOL_RESULTS "toolResults" Array r#"[{"toolName":"bash","result":"hello\n"}]"#
        "the tool results of the turn"
    DENIAL "reason" String r#""not allowed by the rules""# "why the tool was denied"
    COMMAND "command" String r#""echo hello""# "the command line"
    EXCLUDE_FROM_CONTEXT "excludeFromContext" Boolean "false" "whether the command is hidden from the model"
    MCP_SERVER "mcpServer" String r#""forms""# "the MCP server that asks"
    REQUESTED_SCHEMA "requestedSchema" Object r#"{"type":"object"}"#
        "the JSON Schema of the requested input"
    OWN_ANSWER "answer" Any "null" "an answer to use without asking the user"
    ANSWER "answer" Object r#"{"action":"accept","content":{}}"# "the user's answer"

    // Notices and errors.
    CODE "code" String r#""api_error""# "the error code, in the host's terms"
    MESSAGE_TEXT "message" String r#""something happened""# "the text of the message"
    KIND "kind" String r#""idle""# "the kind of notice"
    RULE "rule" String r#""no-any""# "the rule"

    // Workspace.
    RESOURCES "resources" Array "[]" "paths of skills, prompts, plugins and the like"
    FILE_PATH "filePath" String r#""/tmp/a.txt""# "the file"
    MEMORY_TYPE "memoryType" String r#""project""# "the scope of the instructions"
    CHANGE "change" String r#""modified""# "the kind of change"
    OLD_CWD "oldCwd" String r#""/""# "the previous working directory"
    NEW_CWD "newCwd" String r#""/tmp""# "the new working directory"
    DIRECTORY "directory" String r#""/tmp""# "the directory"
    NAME "name" String r#""demo""# "the worktree's name"
    WORKTREE_PATH "worktreePath" String r#""/tmp/demo""# "the worktree's path"
    OWN_WORKTREE "worktreePath" Any "null" "the path of a worktree that a hook created"

    // Messages of an agent behind a gateway.
    CONTENT "content" String r#""hello""# "the text"
    CHANNEL "channel" String r#""telegram""# "the messaging channel"
    SENDER_ID "senderId" String r#""u-1""# "the sender"
    RECIPIENT "recipient" String r#""u-1""# "the recipient"
    REPLY "reply" Any "null" "a reply to send without calling the model"

    // git.
    REF "ref" String r#""refs/heads/main""# "the reference"
    OLD_SHA "oldSha" String r#""1111111""# "the old commit"
    NEW_SHA "newSha" String r#""2222222""# "the new commit"
    REFS "refs" Array r#"[{"ref":"refs/heads/main","oldSha":"1111111","newSha":"2222222"}]"#
        "the references that move, with old and new commits"
    REF_NAMES "refs" Array r#"["refs/heads/main"]"# "the references that moved"
    REMOTE "remote" String r#""origin""# "the remote's name"
    URL "url" String r#""https://example.com/demo.git""# "the remote's URL"
    STATE "state" String r#""prepared""# "the state of the transaction"
    COMMIT_MESSAGE "message" String r#""Say hello""# "the commit message"
    CURRENT_BRANCH "branch" String r#""topic""# "the current branch; null if HEAD is detached"
    OPERATION "state" Any "null"
        "the operation that is in progress: merge, rebase, cherry-pick or revert; else missing"
    UPSTREAM "upstream" String r#""main""# "the branch to rebase onto"
    BRANCH "branch" String r#""topic""# "the branch to rebase; empty for the current one"
    IS_BRANCH "isBranch" Boolean "true" "whether a branch was checked out, not single files"
    IS_SQUASH "isSquash" Boolean "false" "whether the merge was squashed"
    PUSHED_REFS "refs" Array r#"[{"localRef":"refs/heads/main","newSha":"2222222","ref":"refs/heads/main","oldSha":"1111111"}]"#
        "the references that move on the remote, with their local names"
    CHANGES "changes" Array r#"[{"path":"src/a.txt","status":"M"}]"#
        "the changed paths, each with a status: A, M, D, T, or R for the old path of a rename, with the new path in `to`"
    PUSH_OPTIONS "pushOptions" Array r#"["ci.skip"]"# "the values of --push-option"
    COMMIT "commit" String r#""2222222""# "the commit whose message is used; usually empty"
    HEADER_FILE "headerFile" String r#""/tmp/headers""# "the file with the mail headers"
    SKIP_WORKTREE_CHANGED "skipWorktreeChanged" Boolean "false"
        "whether sparse checkout added or removed files"
    COMMITS "commits" Array r#"[{"oldSha":"1111111","newSha":"2222222"}]"#
        "the old and new commits"
    WORKTREE_CHANGED "worktreeChanged" Boolean "true"
        "whether files of the worktree were also written"
}
