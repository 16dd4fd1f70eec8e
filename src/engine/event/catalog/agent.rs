//! The agent: the prompt it gets, its turns, its subagents and tasks.

use super::keys::*;
use super::row::*;

events! {
    // `user.prompt.submit` is loom's name. Gemini's `BeforeAgent` is also
    // `agent.start`; its block drops the prompt, so it is here.
    "prompt.submit" GATE "the user has sent a prompt",
        also ["user.prompt.submit" "UserPromptSubmit" "userPromptSubmitted" "beforeSubmitPrompt"
            "BeforeAgent" "input" "before_agent_run" "before_prompt" "chat.message"
            "pre_user_prompt"],
        has [TURN_INDEX PROMPT IMAGES HANDLED SESSION_ID CWD TRANSCRIPT_PATH PERMISSION_MODE],
        rewrites [Chain "prompt", Chain "images", Claim "handled"],
        teaches true;
    "prompt.expand" GATE "a command has become a prompt",
        also ["UserPromptExpansion" "userPromptTransformed" "command.execute.before"],
        has [PROMPT COMMAND_NAME COMMAND_ARGS SESSION_ID CWD],
        rewrites [Chain "prompt"];
    // `agent_start` is wolli's name for this; in pi and oh-my-pi it is `agent.begin`, and this
    // is `before_agent_start`.
    "agent.start" TRANSFORM "the agent is about to start on a prompt",
        also ["agent_start" "before_agent_start" "before-agent-start" "before_prompt_build"
            "agent_turn_prepare" "experimental.chat.system.transform"],
        has [PROMPT SYSTEM_PROMPT MESSAGES SESSION_ID CWD],
        rewrites [Chain "systemPrompt", Append "messages"];
    "agent.begin" OBSERVER "the agent has started on a prompt",
        has [SESSION_ID CWD];
    "agent.stop" STOP_GATE "the agent thinks that it is done",
        also ["Stop" "agentStop" "agent_stop" "AfterAgent" "before_agent_finalize" "session_stop"],
        has [TURN_INDEX STOP_HOOK_ACTIVE LOOP_COUNT LAST_ASSISTANT_MESSAGE SESSION_ID CWD
            TRANSCRIPT_PATH PERMISSION_MODE];
    "agent.end" OBSERVER "the agent has stopped working on a prompt",
        also ["agent_end" "session.idle" "Interrupt" "TaskComplete" "TaskCancel"],
        has [REASON MESSAGES SESSION_ID CWD];
    "turn.start" OBSERVER "a turn begins",
        also ["turn_start"],
        has [TURN_INDEX SESSION_ID CWD];
    "turn.end" OBSERVER "a turn is over",
        also ["turn_end"],
        has [TURN_INDEX MESSAGE TOOL_RESULTS SESSION_ID CWD];
    "heartbeat.prompt" TRANSFORM "the prompt of a heartbeat is being made",
        also ["heartbeat_prompt_contribution"],
        has [PROMPT ADDITIONS SESSION_ID CWD],
        rewrites [Append "additions"];
    // openclaw's `subagent_spawned`, and the event in Claude and Codex, report it only
    // afterwards; their dialects make it an observer.
    "subagent.start" GATE "a subagent is about to start",
        also ["SubagentStart" "subagent_start" "subagent_spawning" "subagent_spawned"],
        has [AGENT_ID AGENT_TYPE PROMPT SESSION_ID CWD];
    "subagent.target" TRANSFORM "the host chooses where a subagent's answer goes",
        also ["subagent_delivery_target"],
        has [AGENT_ID TARGET SESSION_ID CWD],
        rewrites [First "target"];
    "subagent.progress" OBSERVER "a subagent reports how far it is",
        also ["subagent_progress"],
        has [AGENT_ID AGENT_TYPE PROGRESS SESSION_ID CWD];
    "subagent.stop" STOP_GATE "a subagent thinks that it is done",
        also ["SubagentStop" "subagent_stop"],
        has [AGENT_ID AGENT_TYPE STOP_HOOK_ACTIVE LOOP_COUNT LAST_ASSISTANT_MESSAGE SESSION_ID CWD
            TRANSCRIPT_PATH];
    "subagent.end" OBSERVER "a subagent has ended",
        also ["subagent_ended"],
        has [AGENT_ID AGENT_TYPE REASON SESSION_ID CWD];
    "task.created" GATE "a task is being created",
        also ["TaskCreated"],
        has [TASK_ID TASK_SUBJECT SESSION_ID CWD];
    "task.completed" OPEN_GATE "a task is being marked as done",
        also ["TaskCompleted"],
        has [TASK_ID TASK_SUBJECT SESSION_ID CWD];
    "teammate.idle" OPEN_GATE "an agent of a team is about to go idle",
        also ["TeammateIdle"],
        has [TEAMMATE_NAME SESSION_ID CWD];
}
