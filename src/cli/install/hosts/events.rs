//! The events of each host that hookrun is installed for.
//!
//! Where a host tells the same moment by several events, only the one that covers the others
//! stands here: two would ask every hook twice.

use super::Row;

const fn gate(name: &'static str, event: &'static str) -> Row {
    Row { name, event, refuses: true, longest: None }
}

const fn told(name: &'static str, event: &'static str) -> Row {
    Row { name, event, refuses: false, longest: None }
}

const fn told_within(longest: u64, name: &'static str, event: &'static str) -> Row {
    Row { name, event, refuses: false, longest: Some(longest) }
}

// Not WorktreeCreate: a hook of it makes the worktree in the host's place.
pub(super) const CLAUDE: &[Row] = &[
    told("SessionStart", "session.start"),
    told("Setup", "setup"),
    told("InstructionsLoaded", "instructions.load"),
    gate("UserPromptSubmit", "prompt.submit"),
    gate("UserPromptExpansion", "prompt.expand"),
    told("MessageDisplay", "message.display"),
    gate("PreToolUse", "tool.pre"),
    gate("PermissionRequest", "permission.request"),
    told("PermissionDenied", "permission.denied"),
    told("PostToolUse", "tool.post"),
    told("PostToolUseFailure", "tool.error"),
    gate("PostToolBatch", "tool.batch"),
    told("Notification", "notification"),
    told("SubagentStart", "subagent.start"),
    gate("SubagentStop", "subagent.stop"),
    gate("TaskCreated", "task.created"),
    gate("TaskCompleted", "task.completed"),
    gate("Stop", "agent.stop"),
    told("StopFailure", "error"),
    gate("TeammateIdle", "teammate.idle"),
    gate("ConfigChange", "config.change"),
    told("CwdChanged", "cwd.change"),
    told("DirectoryAdded", "dir.add"),
    told("FileChanged", "file.change"),
    told("WorktreeRemove", "worktree.remove"),
    gate("PreCompact", "compact.pre"),
    told("PostCompact", "compact.post"),
    gate("PreModelSwitch", "model.select"),
    told("PostModelSwitch", "model.selected"),
    gate("Elicitation", "elicitation"),
    gate("ElicitationResult", "elicitation.result"),
    // 1.5 s for all hooks together, unless one says more.
    told_within(60, "SessionEnd", "session.end"),
];

pub(super) const CODEX: &[Row] = &[
    told("SessionStart", "session.start"),
    gate("UserPromptSubmit", "prompt.submit"),
    gate("PreToolUse", "tool.pre"),
    gate("PermissionRequest", "permission.request"),
    told("PostToolUse", "tool.post"),
    told("SubagentStart", "subagent.start"),
    gate("SubagentStop", "subagent.stop"),
    gate("PreCompact", "compact.pre"),
    told("PostCompact", "compact.post"),
    gate("Stop", "agent.stop"),
    told("StopFailure", "error"),
    told_within(3, "Interrupt", "agent.end"),
    told_within(3, "SessionEnd", "session.end"),
];

pub(super) const GEMINI: &[Row] = &[
    told("SessionStart", "session.start"),
    gate("BeforeAgent", "prompt.submit"),
    told("BeforeModel", "model.pre"),
    told("BeforeToolSelection", "model.tools"),
    told("AfterModel", "model.post"),
    gate("BeforeTool", "tool.pre"),
    told("AfterTool", "tool.post"),
    gate("AfterAgent", "agent.stop"),
    told("Notification", "notification"),
    told("PreCompress", "compact.pre"),
    told("SessionEnd", "session.end"),
];

// `preToolUse` covers beforeShellExecution, beforeMCPExecution and beforeReadFile, `postToolUse`
// what comes after them; what Tab reads and writes is no tool of the agent.
pub(super) const CURSOR: &[Row] = &[
    told("sessionStart", "session.start"),
    gate("beforeSubmitPrompt", "prompt.submit"),
    gate("preToolUse", "tool.pre"),
    gate("beforeTabFileRead", "tool.pre"),
    told("postToolUse", "tool.post"),
    told("afterTabFileEdit", "tool.post"),
    told("postToolUseFailure", "tool.error"),
    gate("subagentStart", "subagent.start"),
    gate("subagentStop", "subagent.stop"),
    told("preCompact", "compact.pre"),
    told("afterAgentThought", "message.thought"),
    told("afterAgentResponse", "message.end"),
    gate("stop", "agent.stop"),
    told("workspaceOpen", "resources.discover"),
    told("sessionEnd", "session.end"),
];

pub(super) const COPILOT: &[Row] = &[
    told("sessionStart", "session.start"),
    told("userPromptSubmitted", "prompt.submit"),
    told("userPromptTransformed", "prompt.expand"),
    gate("preToolUse", "tool.pre"),
    gate("permissionRequest", "permission.request"),
    told("postToolUse", "tool.post"),
    told("postToolUseFailure", "tool.error"),
    told("subagentStart", "subagent.start"),
    gate("subagentStop", "subagent.stop"),
    told("preCompact", "compact.pre"),
    gate("agentStop", "agent.stop"),
    told("notification", "notification"),
    told("errorOccurred", "error"),
    told("sessionEnd", "session.end"),
];

pub(super) const OPENCODE: &[Row] = &[
    told("session.created", "session.start"),
    gate("chat.message", "prompt.submit"),
    gate("tool.execute.before", "tool.pre"),
    told("tool.execute.after", "tool.post"),
    told("session.idle", "agent.end"),
    told("session.compacted", "compact.post"),
    told("session.error", "error"),
];
