//! The events of hosts that load a plugin of hookrun's. It asks in hookrun's own words, and carries
//! the decision out in the host, so no dialect is needed.
//!
//! Sources: OpenCode 1.18.33, pi 0.73.1 and oh-my-pi 18.2.3, measured, and their types; the types
//! and documents of openclaw 2026.9.6, and the types of Amp. Kilo Code is a fork of OpenCode.

use super::results::ReplySlot::{self, Context, New, Question, Refusal};
use super::row::{HostTools, Mcp, ToolSort, Wait, tool};

/// One event that the plugin passes on.
#[derive(Debug)]
pub struct PluginEvent {
    /// The host's name for it.
    pub name: &'static str,
    /// Ours.
    pub event: &'static str,
    /// What hookrun can answer there.
    pub says: &'static [ReplySlot],
    /// How long the plugin waits; `None` for any time.
    pub wait: Option<Wait>,
}

const fn told(name: &'static str, event: &'static str) -> PluginEvent {
    PluginEvent {
        name,
        event,
        says: &[],
        wait: None,
    }
}

const fn asked(name: &'static str, event: &'static str, says: &'static [ReplySlot]) -> PluginEvent {
    PluginEvent {
        name,
        event,
        says,
        wait: None,
    }
}

impl PluginEvent {
    /// With so many seconds to decide: less than the host waits, since it then goes on.
    const fn within(self, seconds: u64) -> PluginEvent {
        let wait = Wait::seconds(seconds);
        PluginEvent {
            wait: Some(Wait {
                longest: Some(wait.usual),
                ..wait
            }),
            ..self
        }
    }

    /// Whether a hook may block it; a failure does so too, but for a stop.
    pub fn can_refuse(&self) -> bool {
        self.says.contains(&Refusal)
    }
}

pub const PI: &[PluginEvent] = &[
    asked("session_start", "session.start", &[Context]),
    told("session_shutdown", "session.end"),
    asked("session_before_switch", "session.switch.pre", &[Refusal]),
    asked("session_before_fork", "session.branch.pre", &[Refusal]),
    asked("session_before_tree", "session.tree.pre", &[Refusal]),
    asked("session_before_compact", "compact.pre", &[Refusal]),
    told("session_compact", "compact.post"),
    asked("input", "prompt.submit", &[Refusal, New("prompt"), Context]),
    asked(
        "tool_call",
        "tool.pre",
        &[Refusal, Question, New("toolInput"), Context],
    ),
    asked("tool_result", "tool.post", RESULT),
    asked("user_bash", "user.bash", &[Refusal]),
    told("turn_start", "turn.start"),
    told("turn_end", "turn.end"),
    told("agent_end", "agent.end"),
];

/// It waits 30 s, for a tool call until a dialog is answered, and 2 s where a session ends. Of these
/// only a tool call is refused then.
pub const OMP: &[PluginEvent] = &[
    asked("session_start", "session.start", &[Context]).within(28),
    told("session_shutdown", "session.end").within(2),
    asked("session_before_switch", "session.switch.pre", &[Refusal]).within(28),
    told("session_switch", "session.switch").within(28),
    asked("session_before_branch", "session.branch.pre", &[Refusal]).within(28),
    asked("session_before_tree", "session.tree.pre", &[Refusal]).within(28),
    asked("session_before_compact", "compact.pre", &[Refusal]).within(28),
    told("session_compact", "compact.post").within(28),
    asked("input", "prompt.submit", &[Refusal, New("prompt"), Context]).within(28),
    asked(
        "tool_call",
        "tool.pre",
        &[Refusal, Question, New("toolInput"), Context],
    ),
    asked("tool_result", "tool.post", RESULT).within(28),
    asked("user_bash", "user.bash", &[Refusal]).within(28),
    asked("session_stop", "agent.stop", &[Refusal]).within(28),
    told("turn_start", "turn.start").within(28),
    told("turn_end", "turn.end").within(28),
    told("agent_end", "agent.end").within(28),
];

const RESULT: &[ReplySlot] = &[New("result"), New("details"), New("isError"), Context];

pub const OPENCODE: &[PluginEvent] = &[
    told("session.created", "session.start"),
    asked(
        "chat.message",
        "prompt.submit",
        &[Refusal, New("prompt"), Context],
    ),
    asked(
        "tool.execute.before",
        "tool.pre",
        &[Refusal, New("toolInput")],
    ),
    asked("tool.execute.after", "tool.post", &[New("result"), Context]),
    told("session.idle", "agent.end"),
    told("session.compacted", "compact.post"),
    told("session.error", "error"),
];

/// The plugin says how long it waits.
pub const OPENCLAW: &[PluginEvent] = &[
    told("session_start", "session.start"),
    told("session_end", "session.end"),
    asked("before_agent_run", "prompt.submit", &[Refusal]),
    asked("before_prompt_build", "agent.start", &[Context]),
    asked("before_tool_call", "tool.pre", &[Refusal, New("toolInput")]),
    told("after_tool_call", "tool.post"),
    asked("before_agent_finalize", "agent.stop", &[Refusal]),
    asked("message_sending", "message.out", &[Refusal, New("content")]),
    told("after_compaction", "compact.post"),
    told("agent_end", "agent.end"),
];

/// Its types name them. It asks no hook whether a prompt or a stop may pass.
pub const AMP: &[PluginEvent] = &[
    told("session.start", "session.start"),
    asked("agent.start", "agent.start", &[Context]),
    asked("tool.call", "tool.pre", &[Refusal, New("toolInput")]),
    asked("tool.result", "tool.post", &[New("result")]),
    told("agent.end", "agent.end"),
];

const OPENCODE_TOOLS: HostTools = HostTools {
    rows: &[
        tool("bash", ToolSort::Shell),
        tool("read", ToolSort::Read),
        tool("write", ToolSort::Write),
        tool("edit", ToolSort::Edit),
        tool("apply_patch", ToolSort::Patch),
        tool("grep", ToolSort::Grep),
        tool("glob", ToolSort::Glob),
        tool("list", ToolSort::List),
        tool("webfetch", ToolSort::Fetch),
        tool("websearch", ToolSort::WebSearch),
        tool("task", ToolSort::Agent),
    ],
    mcp: Mcp::Single,
};

const PI_TOOLS: HostTools = HostTools {
    rows: &[
        tool("bash", ToolSort::Shell),
        tool("read", ToolSort::Read),
        tool("write", ToolSort::Write),
        tool("edit", ToolSort::Edit),
        tool("grep", ToolSort::Grep),
        tool("find", ToolSort::Glob),
        tool("ls", ToolSort::List),
    ],
    mcp: Mcp::Double,
};

/// The tools of a host with a plugin, as far as they are known.
pub fn tools(host: &str) -> &'static HostTools {
    match host {
        "opencode" | "kilo" => &OPENCODE_TOOLS,
        "pi" | "omp" => &PI_TOOLS,
        _ => &HostTools::NONE,
    }
}

/// Every host with a plugin, by its name on the command line.
pub const PLUGINS: &[(&str, &[PluginEvent])] = &[
    ("opencode", OPENCODE),
    ("kilo", OPENCODE),
    ("amp", AMP),
    ("pi", PI),
    ("omp", OMP),
    ("openclaw", OPENCLAW),
];
