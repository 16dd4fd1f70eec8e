//! Tools: before, while and after they run, and permission to run them; then the workspace.

use super::keys::*;
use super::row::*;

events! {
    "tool.pre" GATE "a tool is about to run",
        also ["PreToolUse" "BeforeTool" "tool_call" "before_tool_call" "before-tool-call" "tool.call"
            "before_tool_execute" "tool.execute.before" "beforeShellExecution" "beforeMCPExecution"
            "beforeReadFile" "beforeTabFileRead" "onToolCall" "pre_run_command" "pre_write_code"
            "pre_read_code" "pre_mcp_tool_use"],
        has [TURN_INDEX TOOL_NAME TOOL_INPUT SESSION_ID CWD TOOL_USE_ID TRANSCRIPT_PATH
            PERMISSION_MODE],
        needs ["toolName"],
        rewrites [Chain "toolInput"];
    "permission.request" GATE "a tool is about to need the user's permission",
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
    "tool.update" OBSERVER "a running tool has more to show",
        also ["tool_execution_update"],
        has [TOOL_NAME TOOL_INPUT PARTIAL_RESULT SESSION_ID CWD TOOL_USE_ID];
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
    // Only of hosts that distinguish failures; the others send `tool.post` with `isError`.
    "tool.error" OBSERVER "a tool has failed",
        also ["PostToolUseFailure" "tool_use_failure"],
        has [TURN_INDEX TOOL_NAME TOOL_INPUT ERROR SESSION_ID CWD TOOL_USE_ID DURATION_MS];
    "tool.batch" OPEN_GATE "all tools of one answer have run",
        also ["PostToolBatch"],
        has [TURN_INDEX TOOL_CALLS SESSION_ID CWD];
    "tool.persist" TRANSFORM "a tool's result is about to be stored",
        also ["tool_result_persist" "tool-result-persist"],
        has [TOOL_NAME MESSAGE SESSION_ID CWD TOOL_USE_ID],
        rewrites [SameRole "message"];
    // Hosts cannot block here, so it fails open; `tool.pre` decides what must not run.
    "exec.env" TRANSFORM "a command is about to get its environment",
        also ["resolve_exec_env" "shell.env"],
        has [COMMAND ENV SESSION_ID CWD],
        rewrites [Chain "env"];
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

    // What is set up, loaded and changed around the agent.
    "setup" OBSERVER "the workspace is being set up or cleaned",
        has [TRIGGER SESSION_ID CWD];
    "resources.discover" TRANSFORM "the host looks for skills, prompts and plugins",
        also ["resources_discover" "workspaceOpen"],
        has [REASON RESOURCES SESSION_ID CWD],
        rewrites [Append "resources"];
    "instructions.load" OBSERVER "a file of instructions has been loaded",
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
    // A hook may make the worktree in its own way and say where it is.
    "worktree.create" GATE "a worktree is about to be made",
        also ["WorktreeCreate"],
        has [NAME OWN_WORKTREE SESSION_ID CWD],
        rewrites [First "worktreePath"];
    "worktree.remove" OBSERVER "a worktree is being removed",
        also ["WorktreeRemove"],
        has [WORKTREE_PATH SESSION_ID CWD];
}
