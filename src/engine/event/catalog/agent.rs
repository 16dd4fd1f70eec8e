//! The agent: the prompt it gets, its turns, its subagents and tasks.

use super::keys::*;
use super::{
    EventRow, GATE, OBSERVER, OPEN_GATE, STOP_GATE, TRANSFORM, append, chain, claim, first,
};

pub(super) const ROWS: &[EventRow] = &[
    // `user.prompt.submit` is loom's name. Gemini's `BeforeAgent` also stands for
    // `agent.start`; its refusal drops the prompt, so it is here.
    EventRow {
        name: "prompt.submit",
        summary: "the user has sent a prompt",
        aliases: &[
            "user.prompt.submit",
            "UserPromptSubmit",
            "userPromptSubmitted",
            "beforeSubmitPrompt",
            "BeforeAgent",
            "input",
            "before_agent_run",
            "before_prompt",
            "chat.message",
        ],
        context: &[
            TURN_INDEX,
            PROMPT,
            IMAGES,
            HANDLED,
            SESSION_ID,
            CWD,
            TRANSCRIPT_PATH,
            PERMISSION_MODE,
        ],
        rewrites: &[chain("prompt"), chain("images"), claim("handled")],
        text_teaches: true,
        ..GATE
    },
    EventRow {
        name: "prompt.expand",
        summary: "a command has become a prompt",
        aliases: &["UserPromptExpansion", "userPromptTransformed", "command.execute.before"],
        context: &[PROMPT, COMMAND_NAME, COMMAND_ARGS, SESSION_ID, CWD],
        rewrites: &[chain("prompt")],
        ..GATE
    },
    // `agent_start` is wolli's name for this; in pi and oh-my-pi it is `agent.begin`, and this
    // is `before_agent_start`.
    EventRow {
        name: "agent.start",
        summary: "the agent is about to start on a prompt",
        aliases: &[
            "agent_start",
            "before_agent_start",
            "before-agent-start",
            "before_prompt_build",
            "agent_turn_prepare",
            "experimental.chat.system.transform",
        ],
        context: &[PROMPT, SYSTEM_PROMPT, MESSAGES, SESSION_ID, CWD],
        rewrites: &[chain("systemPrompt"), append("messages")],
        ..TRANSFORM
    },
    EventRow {
        name: "agent.begin",
        summary: "the agent has started on a prompt",
        aliases: &[],
        context: &[SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "agent.stop",
        summary: "the agent thinks that it is done",
        aliases: &[
            "Stop",
            "agentStop",
            "agent_stop",
            "AfterAgent",
            "before_agent_finalize",
            "session_stop",
        ],
        context: &[
            TURN_INDEX,
            STOP_HOOK_ACTIVE,
            LOOP_COUNT,
            LAST_ASSISTANT_MESSAGE,
            SESSION_ID,
            CWD,
            TRANSCRIPT_PATH,
            PERMISSION_MODE,
        ],
        ..STOP_GATE
    },
    EventRow {
        name: "agent.end",
        summary: "the agent has stopped working on a prompt",
        aliases: &["agent_end", "session.idle", "Interrupt"],
        context: &[REASON, MESSAGES, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "turn.start",
        summary: "a turn begins",
        aliases: &["turn_start"],
        context: &[TURN_INDEX, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "turn.end",
        summary: "a turn is over",
        aliases: &["turn_end"],
        context: &[TURN_INDEX, MESSAGE, TOOL_RESULTS, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "heartbeat.prompt",
        summary: "the prompt of a heartbeat is being made",
        aliases: &["heartbeat_prompt_contribution"],
        context: &[PROMPT, ADDITIONS, SESSION_ID, CWD],
        rewrites: &[append("additions")],
        ..TRANSFORM
    },
    // openclaw's `subagent_spawned`, and the event in Claude and Codex, tell it only
    // afterwards; their dialects take the refusal away.
    EventRow {
        name: "subagent.start",
        summary: "a subagent is about to start",
        aliases: &["SubagentStart", "subagent_start", "subagent_spawning", "subagent_spawned"],
        context: &[AGENT_ID, AGENT_TYPE, PROMPT, SESSION_ID, CWD],
        ..GATE
    },
    EventRow {
        name: "subagent.target",
        summary: "the host chooses where a subagent's answer goes",
        aliases: &["subagent_delivery_target"],
        context: &[AGENT_ID, TARGET, SESSION_ID, CWD],
        rewrites: &[first("target")],
        ..TRANSFORM
    },
    EventRow {
        name: "subagent.progress",
        summary: "a subagent reports how far it is",
        aliases: &["subagent_progress"],
        context: &[AGENT_ID, AGENT_TYPE, PROGRESS, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "subagent.stop",
        summary: "a subagent thinks that it is done",
        aliases: &["SubagentStop", "subagent_stop"],
        context: &[
            AGENT_ID,
            AGENT_TYPE,
            STOP_HOOK_ACTIVE,
            LOOP_COUNT,
            LAST_ASSISTANT_MESSAGE,
            SESSION_ID,
            CWD,
            TRANSCRIPT_PATH,
        ],
        ..STOP_GATE
    },
    EventRow {
        name: "subagent.end",
        summary: "a subagent has ended",
        aliases: &["subagent_ended"],
        context: &[AGENT_ID, AGENT_TYPE, REASON, SESSION_ID, CWD],
        ..OBSERVER
    },
    EventRow {
        name: "task.created",
        summary: "a task is being created",
        aliases: &["TaskCreated"],
        context: &[TASK_ID, TASK_SUBJECT, SESSION_ID, CWD],
        ..GATE
    },
    EventRow {
        name: "task.completed",
        summary: "a task is being marked as done",
        aliases: &["TaskCompleted"],
        context: &[TASK_ID, TASK_SUBJECT, SESSION_ID, CWD],
        ..OPEN_GATE
    },
    EventRow {
        name: "teammate.idle",
        summary: "an agent of a team is about to go idle",
        aliases: &["TeammateIdle"],
        context: &[TEAMMATE_NAME, SESSION_ID, CWD],
        ..OPEN_GATE
    },
];
