//! The rows of the catalog.
//!
//! Old pi has one `session` event with ten reasons: ten rows here, selected by pi's dialect. In
//! git, a hook that edits the message file rewrites `message`. `changes` are the paths of a git
//! event and form its `action`, so that path policies cover tools, commits and pushes. There are no
//! rows for `proc-receive` and `fsmonitor-watchman`, which have their own protocols, nor for
//! git-p4's hooks.

use std::borrow::Cow::Borrowed;
use std::time::Duration;

use super::keys::*;
use crate::engine::event::spec::{Conduct, EventSpec, Merge, OnFailure, Rewrite, Schedule, Stop};

#[derive(Clone, Copy)]
pub(super) struct EventSort {
    pub(super) blocks: bool,
    pub(super) on_failure: OnFailure,
    pub(super) schedule: Schedule,
    pub(super) most_blocks: Option<u32>,
    stop: Stop,
    timeout: Option<Duration>,
}

/// May block, and fails closed.
pub(super) const GATE: EventSort = EventSort {
    blocks: true,
    on_failure: OnFailure::Block,
    schedule: Schedule::Sequential,
    most_blocks: None,
    stop: Stop::First,
    timeout: None,
};

/// May block, but fails open, where failing closed would be a trap: "not done yet" keeps an agent
/// working forever, a session cannot be compacted, a message is lost.
const OPEN_GATE: EventSort = EventSort {
    on_failure: OnFailure::Allow,
    ..GATE
};

/// May block an agent from stopping, at most eight times in a row: the limit of hosts that have
/// one.
const STOP_GATE: EventSort = EventSort {
    most_blocks: Some(8),
    ..OPEN_GATE
};

/// May rewrite, cannot block.
const TRANSFORM: EventSort = EventSort {
    blocks: false,
    ..OPEN_GATE
};

/// Observes while the host waits: output and context reach the model.
const OBSERVER: EventSort = EventSort {
    schedule: Schedule::Parallel,
    ..TRANSFORM
};

/// Observes without the host waiting: no model could read an answer.
const NOTICE: EventSort = EventSort {
    schedule: Schedule::Detached,
    ..TRANSFORM
};

/// A gate of git. One attempt reports all problems; linters and type checkers need more time than
/// an agent's guards.
const GIT_GATE: EventSort = EventSort {
    schedule: Schedule::Grouped,
    stop: Stop::Never,
    timeout: Some(GIT_TIMEOUT),
    ..GATE
};

const GIT_OBSERVER: EventSort = EventSort {
    timeout: Some(GIT_TIMEOUT),
    ..OBSERVER
};

const GIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Generates the rows: name, kind and summary; aliases, keys, required keys, rewrites, and whether
/// text is for the model. In a macro, rustfmt leaves the table alone.
macro_rules! events {
    ($(
        $name:literal $sort:ident $summary:literal
        $(, also [$($alias:literal)+])?
        , has [$($key:ident)+]
        $(, needs [$($needed:literal)+])?
        $(, rewrites [$($merge:ident $field:literal),+])?
        $(, text_is_context $context:literal)?
        ;
    )+) => {
        &[$(EventSpec {
            name: Borrowed($name),
            summary: Borrowed($summary),
            aliases: &[$($($alias),+)?],
            context: Borrowed(&[$($key),+]),
            required: Borrowed(&[$($(Borrowed($needed)),+)?]),
            rewrites: Borrowed(&[
                $($(Rewrite { field: Borrowed($field), merge: Merge::$merge }),+)?
            ]),
            blocks: $sort.blocks,
            on_failure: $sort.on_failure,
            schedule: $sort.schedule,
            conduct: Conduct {
                stop: $sort.stop,
                timeout: $sort.timeout,
                most_blocks: $sort.most_blocks,
                text_is_context: false $(|| $context)?,
                ..Conduct::USUAL
            },
        }),+]
    };
}

/// All canonical events, in the order of `hookrun events`.
pub static EVENTS: &[EventSpec] = events! {
    // Session.
    "session.start" OBSERVER "a session begins",
        also ["SessionStart" "session_start" "session-start" "session.created" "onStart"
            "TaskStart" "TaskResume"],
        has [TURN_INDEX SESSION_ID MODEL SOURCE CWD TRANSCRIPT_PATH PERMISSION_MODE],
        text_is_context true;
    "session.end" OBSERVER "the session is over",
        also ["SessionEnd" "session_end" "session-end" "session_shutdown" "onComplete"],
        has [TURN_INDEX SESSION_ID REASON CWD TRANSCRIPT_PATH];
    "session.switch.pre" GATE "the user is about to switch to another session",
        also ["session_before_switch"],
        has [REASON TARGET_SESSION SESSION_ID CWD];
    "session.switch" OBSERVER "the user has switched to another session",
        also ["session_switch"],
        has [REASON PREVIOUS_SESSION SESSION_ID CWD];
    "session.branch.pre" GATE "the session is about to be branched",
        also ["session_before_branch" "session_before_fork"],
        has [TARGET_TURN_INDEX ENTRY_ID SKIP_RESTORE SESSION_ID CWD],
        rewrites [Last "skipConversationRestore"];
    "session.branch" OBSERVER "the session has been branched",
        also ["session_branch" "session_fork"],
        has [TARGET_TURN_INDEX ENTRY_ID PREVIOUS_SESSION SESSION_ID CWD];
    "session.tree.pre" GATE "the user is about to jump within the session tree",
        also ["session_before_tree"],
        has [ENTRY_ID SUMMARY SESSION_ID CWD],
        rewrites [First "summary"];
    "session.tree" OBSERVER "the user has jumped within the session tree",
        also ["session_tree"],
        has [ENTRY_ID SUMMARY SESSION_ID CWD];
    "session.clear.pre" GATE "the session is about to be cleared",
        has [REASON SESSION_ID CWD];
    "session.clear" OBSERVER "the session has been cleared",
        has [REASON PREVIOUS_SESSION SESSION_ID CWD];
    "notification" OBSERVER "the host shows the user a message",
        has [MESSAGE_TEXT KIND SESSION_ID CWD];
    "todo.reminder" OBSERVER "the model is reminded of open items",
        also ["todo_reminder"],
        has [OPEN_ITEMS SESSION_ID CWD];
    "rule.trigger" OBSERVER "a rule has interrupted the model",
        also ["ttsr_triggered"],
        has [RULE SESSION_ID CWD];
    // `StopFailure` of Claude and Codex is an API error rather than an end.
    "error" OBSERVER "the agent or its model has reported an error",
        also ["errorOccurred" "error_occurred" "session.error" "StopFailure" "onError"],
        has [TURN_INDEX CODE MESSAGE_TEXT SESSION_ID CWD];

    // Agent: prompts, turns, subagents and tasks. `user.prompt.submit` is loom's name. Gemini's
    // `BeforeAgent` is also `agent.start`; it is here because its block drops the prompt.
    "prompt.submit" GATE "the user has sent a prompt",
        also ["user.prompt.submit" "UserPromptSubmit" "userPromptSubmitted" "beforeSubmitPrompt"
            "BeforeAgent" "input" "before_agent_run" "before_prompt" "chat.message"
            "pre_user_prompt"],
        has [TURN_INDEX PROMPT IMAGES HANDLED SESSION_ID CWD TRANSCRIPT_PATH PERMISSION_MODE],
        rewrites [Chain "prompt", Chain "images", Claim "handled"],
        text_is_context true;
    "prompt.expand" GATE "a command has become a prompt",
        also ["UserPromptExpansion" "userPromptTransformed" "command.execute.before"],
        has [PROMPT COMMAND_NAME COMMAND_ARGS SESSION_ID CWD],
        rewrites [Chain "prompt"];
    // wolli's `agent_start`; in pi and oh-my-pi that name is `agent.begin`, and this event is
    // `before_agent_start`.
    "agent.start" TRANSFORM "the agent is about to start on a prompt",
        also ["agent_start" "before_agent_start" "before-agent-start" "before_prompt_build"
            "experimental.chat.system.transform"],
        has [PROMPT SYSTEM_PROMPT MESSAGES SESSION_ID CWD],
        rewrites [Chain "systemPrompt", Append "messages"];
    "agent.begin" OBSERVER "the agent has started on a prompt",
        has [SESSION_ID CWD];
    "agent.stop" STOP_GATE "the agent is about to stop",
        also ["Stop" "agentStop" "agent_stop" "AfterAgent" "before_agent_finalize" "session_stop"],
        has [TURN_INDEX STOP_HOOK_ACTIVE LOOP_COUNT LAST_ASSISTANT_MESSAGE SESSION_ID CWD
            TRANSCRIPT_PATH PERMISSION_MODE];
    "agent.end" OBSERVER "the agent has finished a prompt",
        also ["agent_end" "session.idle" "Interrupt" "TaskComplete" "TaskCancel"],
        has [REASON MESSAGES SESSION_ID CWD];
    "turn.start" OBSERVER "a turn begins",
        also ["turn_start"],
        has [TURN_INDEX SESSION_ID CWD];
    "turn.end" OBSERVER "a turn is over",
        also ["turn_end"],
        has [TURN_INDEX MESSAGE TOOL_RESULTS SESSION_ID CWD];
    // Claude, Codex and openclaw's `subagent_spawned` report it afterwards; their dialects make it
    // an observer.
    "subagent.start" GATE "a subagent is about to start",
        also ["SubagentStart" "subagent_start" "subagent_spawning" "subagent_spawned"],
        has [AGENT_ID AGENT_TYPE PROMPT SESSION_ID CWD];
    "subagent.stop" STOP_GATE "a subagent is about to stop",
        also ["SubagentStop" "subagent_stop"],
        has [AGENT_ID AGENT_TYPE STOP_HOOK_ACTIVE LOOP_COUNT LAST_ASSISTANT_MESSAGE SESSION_ID CWD
            TRANSCRIPT_PATH];
    "task.created" GATE "a task is being created",
        also ["TaskCreated"],
        has [TASK_ID TASK_SUBJECT SESSION_ID CWD];
    "task.completed" OPEN_GATE "a task is being marked as done",
        also ["TaskCompleted"],
        has [TASK_ID TASK_SUBJECT SESSION_ID CWD];
    "teammate.idle" OPEN_GATE "a teammate is about to go idle",
        also ["TeammateIdle"],
        has [TEAMMATE_NAME SESSION_ID CWD];

    // Model: selection, input, output, compaction.
    "model.select" GATE "a model is about to be chosen",
        also ["PreModelSwitch"],
        has [MODEL PROVIDER PREVIOUS_MODEL SESSION_ID CWD],
        rewrites [Chain "model"];
    "model.selected" OBSERVER "another model is in use",
        also ["PostModelSwitch"],
        has [MODEL PREVIOUS_MODEL SESSION_ID CWD];
    "model.pre" TRANSFORM "a request is about to go to the model",
        also ["BeforeModel" "before_model" "PreModelRequest" "context"
            "experimental.chat.messages.transform" "onModelCall" "PreInvocation"],
        has [TURN_INDEX MODEL MESSAGE_COUNT MESSAGES SESSION_ID CWD],
        rewrites [Chain "messages"];
    "model.tools" TRANSFORM "the tools that the model may call are chosen",
        also ["BeforeToolSelection" "before_tool_selection" "tool.definition"],
        has [TURN_INDEX MODEL TOOLS SESSION_ID CWD],
        rewrites [Last "tools"];
    "model.post" TRANSFORM "the model has answered",
        also ["AfterModel" "after_model" "onModelEnd" "PostInvocation"],
        has [TURN_INDEX MODEL STOP_REASON INPUT_TOKENS OUTPUT_TOKENS COST_USD TOOL_CALL_COUNT
            RESPONSE SESSION_ID CWD],
        rewrites [Chain "response"];
    // A model call may have several requests: each retry is one.
    "provider.request" TRANSFORM "a request is about to go to the model's provider",
        also ["provider_request" "before_provider_request" "chat.params"
            "chat.headers"],
        has [MODEL PAYLOAD SESSION_ID CWD],
        rewrites [Chain "payload"];
    "provider.response" OBSERVER "the model's provider has responded",
        also ["after_provider_response"],
        has [MODEL STATUS HEADERS SESSION_ID CWD];
    "retry.start" OBSERVER "a failed request is about to be retried",
        also ["auto_retry_start"],
        has [ATTEMPT ERROR SESSION_ID CWD];
    "retry.end" OBSERVER "the retries are over",
        also ["auto_retry_end"],
        has [ATTEMPT SUCCESS SESSION_ID CWD];
    "message.start" OBSERVER "a message begins",
        also ["message_start"],
        has [MESSAGE SESSION_ID CWD];
    "message.thought" OBSERVER "the model has finished a thought",
        also ["afterAgentThought"],
        has [THOUGHT SESSION_ID CWD];
    "message.display" TRANSFORM "part of a message is about to be shown",
        also ["MessageDisplay"],
        has [DELTA SESSION_ID CWD],
        rewrites [Chain "delta"];
    "message.end" TRANSFORM "a message is complete",
        also ["message_end" "afterAgentResponse" "experimental.text.complete"
            "post_cascade_response"],
        has [MESSAGE SESSION_ID CWD],
        rewrites [SameRole "message"];
    "compact.pre" OPEN_GATE "the conversation is about to be compacted",
        also ["PreCompact" "PreCompress" "before_compact" "before_compaction" "before-compaction"
            "session_before_compact" "compact"],
        has [TRIGGER CUSTOM_INSTRUCTIONS TOKENS_BEFORE COMPACTION SESSION_ID CWD TRANSCRIPT_PATH],
        rewrites [First "compaction"];
    "compact.prompt" TRANSFORM "the prompt for the summary is being built",
        also ["session.compacting" "experimental.session.compacting"],
        has [COMPACTION_PROMPT ADDITIONS PRESERVED SESSION_ID CWD],
        rewrites [Last "prompt", Append "additions", Last "preserveData"];
    // These enclose an automatic compaction, even a failed one; `compact.post` follows a successful
    // one.
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

    // Tools and permissions, then the workspace.
    "tool.pre" GATE "a tool is about to run",
        also ["PreToolUse" "BeforeTool" "tool_call" "before_tool_call" "before-tool-call" "tool.call"
            "before_tool_execute" "tool.execute.before" "beforeShellExecution" "beforeMCPExecution"
            "beforeReadFile" "beforeTabFileRead" "onToolCall" "pre_run_command" "pre_write_code"
            "pre_read_code" "pre_mcp_tool_use"],
        has [TURN_INDEX TOOL_NAME TOOL_INPUT SESSION_ID CWD TOOL_USE_ID TRANSCRIPT_PATH
            PERMISSION_MODE],
        needs ["toolName"],
        rewrites [Chain "toolInput"];
    "permission.request" GATE "a tool is about to ask for the user's permission",
        also ["PermissionRequest" "permission_request" "permission.ask"],
        has [TOOL_NAME TOOL_INPUT SESSION_ID CWD TRANSCRIPT_PATH PERMISSION_MODE],
        needs ["toolName"],
        rewrites [Chain "toolInput"];
    "permission.denied" OBSERVER "a tool was not permitted",
        also ["PermissionDenied" "permission_denied"],
        has [TOOL_NAME TOOL_INPUT DENIAL SESSION_ID CWD TOOL_USE_ID];
    "tool.start" OBSERVER "a tool has started",
        also ["tool_execution_start"],
        has [TOOL_NAME TOOL_INPUT SESSION_ID CWD TOOL_USE_ID];
    "tool.end" OBSERVER "a tool has ended",
        also ["tool_execution_end"],
        has [TOOL_NAME RESULT IS_ERROR SESSION_ID CWD TOOL_USE_ID];
    "tool.post" TRANSFORM "a tool has run",
        also ["PostToolUse" "AfterTool" "tool_result" "after_tool_call" "after-tool-call" "tool.result"
            "after_tool_execute" "tool.execute.after" "afterShellExecution" "afterMCPExecution"
            "afterFileEdit" "afterTabFileEdit" "onToolEnd" "post_run_command" "post_write_code"
            "post_read_code" "post_mcp_tool_use"],
        has [TURN_INDEX TOOL_NAME TOOL_INPUT RESULT IS_ERROR DETAILS SESSION_ID CWD TOOL_USE_ID
            DURATION_MS TRANSCRIPT_PATH PERMISSION_MODE],
        rewrites [Chain "result", Chain "details", Chain "isError"];
    // Only for hosts that distinguish failures; others send `tool.post` with `isError`.
    "tool.error" OBSERVER "a tool has failed",
        also ["PostToolUseFailure" "tool_use_failure"],
        has [TURN_INDEX TOOL_NAME TOOL_INPUT ERROR SESSION_ID CWD TOOL_USE_ID DURATION_MS];
    "tool.batch" OPEN_GATE "all tool calls of one answer have run",
        also ["PostToolBatch"],
        has [TURN_INDEX TOOL_CALLS SESSION_ID CWD];
    "tool.persist" TRANSFORM "a tool's result is about to be stored",
        also ["tool_result_persist" "tool-result-persist"],
        has [TOOL_NAME MESSAGE SESSION_ID CWD TOOL_USE_ID],
        rewrites [SameRole "message"];
    // Hosts cannot block here, so it fails open; use `tool.pre` to block.
    "user.bash" GATE "the user is about to run a command",
        also ["user_bash"],
        has [COMMAND EXCLUDE_FROM_CONTEXT OWN_RESULT SESSION_ID CWD],
        needs ["command"],
        rewrites [First "result"];
    "elicitation" GATE "an MCP server asks the user for input",
        has [MCP_SERVER MESSAGE_TEXT REQUESTED_SCHEMA OWN_ANSWER SESSION_ID CWD],
        rewrites [First "answer"];
    "elicitation.result" GATE "the user's answer is about to go to an MCP server",
        also ["ElicitationResult"],
        has [MCP_SERVER ANSWER SESSION_ID CWD],
        rewrites [First "answer"];

    "setup" OBSERVER "the workspace is being set up or cleaned",
        has [TRIGGER SESSION_ID CWD];
    "resources.discover" TRANSFORM "the host looks for skills, prompts and plugins",
        also ["resources_discover" "workspaceOpen"],
        has [REASON RESOURCES SESSION_ID CWD],
        rewrites [Append "resources"];
    "instructions.load" OBSERVER "an instructions file has been loaded",
        also ["InstructionsLoaded"],
        has [FILE_PATH MEMORY_TYPE REASON SESSION_ID CWD];
    "config.change" GATE "a changed setting is about to take effect",
        also ["ConfigChange"],
        has [ORIGIN FILE_PATH SESSION_ID CWD];
    "cwd.change" OBSERVER "the working directory has changed",
        also ["CwdChanged"],
        has [OLD_CWD NEW_CWD SESSION_ID CWD];
    "dir.add" OBSERVER "a directory has been added to the workspace",
        also ["DirectoryAdded"],
        has [DIRECTORY ORIGIN SESSION_ID CWD];
    "file.change" OBSERVER "a watched file has changed",
        also ["FileChanged" "file_changed" "file.edited"],
        has [FILE_PATH CHANGE SESSION_ID CWD];
    // A hook may create the worktree itself and return its path.
    "worktree.create" GATE "a worktree is about to be created",
        also ["WorktreeCreate"],
        has [NAME OWN_WORKTREE SESSION_ID CWD],
        rewrites [First "worktreePath"];
    "worktree.remove" OBSERVER "a worktree is being removed",
        also ["WorktreeRemove"],
        has [WORKTREE_PATH SESSION_ID CWD];

    // An agent behind a gateway: messages, mostly openclaw's. Its
    // `message_received` can only observe, as its dialect says.
    "message.in" OPEN_GATE "a message for the agent has arrived",
        also ["message_received" "message-received"],
        has [CONTENT CHANNEL SENDER_ID HANDLED REPLY SESSION_ID],
        rewrites [Claim "handled", First "reply"];
    "message.out" GATE "a message is about to be sent",
        also ["message_sending" "message-sending"],
        has [CONTENT CHANNEL RECIPIENT SESSION_ID],
        rewrites [Chain "content"];
    "message.sent" NOTICE "a message has been sent",
        also ["message_sent" "message-sent"],
        has [CONTENT CHANNEL RECIPIENT SUCCESS SESSION_ID];
    "gateway.start" NOTICE "the gateway has started",
        also ["gateway_start" "gateway-start"],
        has [CWD];
    // Not detached: cleanup must finish before the gateway exits.
    "gateway.stop" OBSERVER "the gateway is about to stop",
        also ["gateway_stop" "gateway-stop"],
        has [REASON CWD];

    // git: commits, patches, rebases and pushes, on client and server.
    "commit.pre" GIT_GATE "a commit is about to be made",
        also ["pre-commit"],
        has [CHANGES CURRENT_BRANCH OPERATION CWD];
    "commit.msg.prepare" GIT_GATE "a commit message is about to be edited",
        also ["prepare-commit-msg"],
        has [COMMIT_MESSAGE FILE_PATH ORIGIN COMMIT CURRENT_BRANCH OPERATION CWD],
        rewrites [Chain "message"];
    "commit.msg" GIT_GATE "a commit message has been written",
        also ["commit-msg"],
        has [COMMIT_MESSAGE FILE_PATH CURRENT_BRANCH OPERATION CWD],
        rewrites [Chain "message"];
    "commit.post" GIT_OBSERVER "a commit has been made",
        also ["post-commit"],
        has [CWD];
    "commit.rewrite" GIT_OBSERVER "commits have been rewritten",
        also ["post-rewrite"],
        has [TRIGGER COMMITS CWD];
    "merge.pre" GIT_GATE "a merge is about to be committed",
        also ["pre-merge-commit"],
        has [CHANGES CURRENT_BRANCH OPERATION CWD];
    "merge.post" GIT_OBSERVER "a merge is done",
        also ["post-merge"],
        has [IS_SQUASH CWD];
    "patch.msg" GIT_GATE "the message of a mailed patch has been read",
        also ["applypatch-msg"],
        has [COMMIT_MESSAGE FILE_PATH CWD],
        rewrites [Chain "message"];
    "patch.pre" GIT_GATE "a mailed patch is about to be committed",
        also ["pre-applypatch"],
        has [CHANGES CWD];
    "patch.post" GIT_OBSERVER "a mailed patch has been committed",
        also ["post-applypatch"],
        has [CWD];
    "patch.send" GIT_GATE "a patch is about to be mailed",
        also ["sendemail-validate"],
        has [FILE_PATH HEADER_FILE CWD];
    "rebase.pre" GIT_GATE "a branch is about to be rebased",
        also ["pre-rebase"],
        has [UPSTREAM BRANCH CWD];
    "checkout.post" GIT_OBSERVER "a branch or file has been checked out",
        also ["post-checkout"],
        has [OLD_SHA NEW_SHA IS_BRANCH CWD];
    "index.post" GIT_OBSERVER "the index has been written",
        also ["post-index-change"],
        has [WORKTREE_CHANGED SKIP_WORKTREE_CHANGED CWD];
    "gc.pre" GIT_GATE "git is about to collect garbage",
        also ["pre-auto-gc"],
        has [CWD];
    "push.pre" GIT_GATE "commits are about to be pushed",
        also ["pre-push"],
        has [REMOTE URL PUSHED_REFS CHANGES CURRENT_BRANCH OPERATION CWD];
    "push.checkout" GIT_GATE "a push is about to update the checked-out branch",
        also ["push-to-checkout"],
        has [NEW_SHA CWD];
    "receive.pre" GIT_GATE "pushed commits are about to be accepted",
        also ["pre-receive"],
        has [REFS PUSH_OPTIONS CHANGES CWD];
    "receive.post" GIT_OBSERVER "pushed commits have been accepted",
        also ["post-receive"],
        has [REFS PUSH_OPTIONS CWD];
    "ref.update" GIT_GATE "a push is about to move one reference",
        also ["update"],
        has [REF OLD_SHA NEW_SHA CHANGES CWD];
    "ref.update.post" GIT_OBSERVER "a push has moved references",
        also ["post-update"],
        has [REF_NAMES CWD];
    // git waits for an answer only if `state` is `preparing` or `prepared`.
    "ref.transaction" GIT_GATE "references are about to change together",
        also ["reference-transaction"],
        has [STATE REFS CWD];
};
