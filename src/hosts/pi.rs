//! pi: one `session` event with ten reasons, the agent's turns, and its tools.
//!
//! Source: its "Hooks" document of 24 December 2025. `tool_call` has no time limit, because a
//! person may answer, and blocks when a hook throws; other events have 30 s, and errors are logged
//! and ignored. Rows after those of the document are from its later extensions (0.73), as clients
//! send them.

use serde_json::Value as Json;

use super::prelude::*;
use super::results::KeyMeaning::{Block, Entry, Field, Reason};
use super::results::ReplySlot;
use super::wolli::INPUT;
use crate::engine::event::Merge::{Append, Chain, Last};

const TIMED: Conduct = Conduct {
    timeout: Some(Duration::from_secs(30)),
    ..Conduct::USUAL
};

/// The last result counts, and every hook sees the original event.
const LATEST: Conduct = Conduct {
    last_result: true,
    isolated: true,
    ..TIMED
};

/// The session file, which is part of a hook's context in pi.
const FILE: (&str, &str) = ("sessionFile", "transcriptPath");

const SESSION_KEYS: &[(&str, &str)] = &[FILE, ("previousSessionFile", "previousSession")];

/// A session is identified by its file.
const SESSION: &[StandIn] = &[StandIn {
    theirs: "sessionFile",
    ours: "sessionId",
    is_made: false,
}];

const OBSERVED: HostEvent = HostEvent::OBSERVER
    .keys(&[FILE])
    .stand_ins(SESSION)
    .conduct(TIMED);

const CANCEL: ReplyKey = key("cancel", Block(true));

const fn session(reason: &'static str, event: &'static str) -> HostEvent {
    OBSERVED
        .named("session", event)
        .when("reason", reason)
        .keys(SESSION_KEYS)
}

const fn session_before(reason: &'static str, event: &'static str) -> HostEvent {
    OBSERVED
        .named("session", event)
        .results(&[CANCEL])
        .blocks(true)
        .conduct(LATEST)
        .when("reason", reason)
        .keys(SESSION_KEYS)
}

const TOOL_KEYS: &[(&str, &str)] = &[
    FILE,
    ("input", "toolInput"),
    ("toolCallId", "toolUseId"),
    ("content", "result"),
];

/// Keys of a running tool in later extensions.
const EXECUTION_KEYS: &[(&str, &str)] = &[FILE, ("args", "toolInput"), ("toolCallId", "toolUseId")];

pub(super) const PLUGIN_RESULT: &[ReplySlot] =
    &[New("result"), New("details"), New("isError"), Context];

pub(super) const PLUGIN_INPUT: HostEvent = asks(
    "input",
    "prompt.submit",
    &[ReplySlot::Block, New("prompt"), Context],
);

pub(super) const PLUGIN_CALL: HostEvent = asks(
    "tool_call",
    "tool.pre",
    &[ReplySlot::Block, Question, New("toolInput"), Context],
);

/// A hook may compact in its place.
pub(super) const PLUGIN_COMPACT: HostEvent = asks(
    "session_before_compact",
    "compact.pre",
    &[ReplySlot::Block, New("compaction")],
);

pub(super) const PLUGIN_MESSAGES: HostEvent = asks("context", "model.pre", &[New("messages")]);

const PLUGIN_EVENTS: &[HostEvent] = &[
    asks("session_start", "session.start", &[Context]),
    reports("session_shutdown", "session.end"),
    asks("session_before_switch", "session.switch.pre", BLOCKS),
    asks("session_before_fork", "session.branch.pre", BLOCKS),
    asks("session_before_tree", "session.tree.pre", BLOCKS),
    PLUGIN_COMPACT,
    reports("session_compact", "compact.post"),
    PLUGIN_INPUT,
    PLUGIN_CALL,
    PLUGIN_MESSAGES,
    asks("tool_result", "tool.post", PLUGIN_RESULT),
    asks("user_bash", "user.bash", BLOCKS),
    reports("turn_start", "turn.start"),
    reports("turn_end", "turn.end"),
    reports("agent_end", "agent.end"),
];

/// Also loaded by oh-my-pi, a fork of pi.
pub(super) const PLUGIN_TEXT: &str = include_str!("plugin/pi.js");

pub(super) static PI: Host = Host {
    name: "pi",
    aliases: &["pi-mono"],
    title: "pi",
    events: &[
        session("start", "session.start"),
        session_before("before_switch", "session.switch.pre").keys(&[
            FILE,
            ("previousSessionFile", "previousSession"),
            ("targetSessionFile", "targetSession"),
        ]),
        session("switch", "session.switch"),
        session_before("before_clear", "session.clear.pre"),
        session("clear", "session.clear"),
        session_before("before_branch", "session.branch.pre").results(&[
            CANCEL,
            key(
                "skipConversationRestore",
                Field("skipConversationRestore", Last),
            ),
        ]),
        session("branch", "session.branch"),
        session_before("before_compact", "compact.pre")
            .results(&[CANCEL, key("compactionEntry", Field("compaction", Last))]),
        session("compact", "compact.post"),
        session("shutdown", "session.end"),
        OBSERVED.named("agent_start", "agent.begin"),
        OBSERVED.named("agent_end", "agent.end"),
        OBSERVED.named("turn_start", "turn.start"),
        OBSERVED.named("turn_end", "turn.end"),
        OBSERVED
            .named("tool_call", "tool.pre")
            .keys(TOOL_KEYS)
            .blocks(true)
            .on_failure(OnFailure::Block)
            .conduct(Conduct {
                timeout: Some(Duration::MAX),
                ..LATEST
            })
            .results(&[key("block", Block(true)), key("reason", Reason)]),
        OBSERVED
            .named("tool_result", "tool.post")
            .keys(TOOL_KEYS)
            .conduct(LATEST)
            .results(&[
                key("content", Field("result", Last)),
                key("details", Field("details", Last)),
                key("isError", Field("isError", Last)),
            ]),
        // From its later extensions.
        HostEvent {
            results: INPUT.results,
            ..OBSERVED.named("input", "prompt.submit")
        }
        .keys(&[FILE, ("text", "prompt")])
        .blocks(true),
        OBSERVED
            .named("before_agent_start", "agent.start")
            .results(&[
                key("message", Entry("messages", Append)),
                key("systemPrompt", Field("systemPrompt", Chain)),
            ]),
        OBSERVED
            .named("context", "model.pre")
            .results(&[key("messages", Field("messages", Chain))]),
        OBSERVED.named("after_provider_response", "provider.response"),
        OBSERVED.named("resources_discover", "resources.discover"),
        OBSERVED
            .named("session_start", "session.start")
            .keys(SESSION_KEYS),
        OBSERVED.named("session_shutdown", "session.end"),
        OBSERVED.named("message_start", "message.start"),
        OBSERVED.named("message_end", "message.end"),
        OBSERVED
            .named("tool_execution_start", "tool.start")
            .keys(EXECUTION_KEYS),
        OBSERVED
            .named("tool_execution_end", "tool.end")
            .keys(EXECUTION_KEYS),
    ],
    is_system: true,
    fails_closed: FailsClosed::Always,
    signs: &[sign(SignedEvents::Alone, &[], NOT_OF_SYSTEMS)],
    trust: Some(
        "trust the project when pi asks; with `-p`, where it does not ask, add `--approve`",
    ),
    install: Install {
        project: ".pi/extensions/hookrun.js",
        user: moved("PI_CODING_AGENT_DIR", ".pi/agent", "extensions/hookrun.js"),
        form: HostForm::Plugin(Plugin {
            events: PLUGIN_EVENTS,
            text: PLUGIN_TEXT,
        }),
        cannot: &["with `-p`, nobody can answer, so a hook that asks blocks"],
        distrust: Some(distrust),
        ..Install::NONE
    },
    ..Host::PLAIN
};

/// pi 0.79 and later (`@earendil-works/pi-coding-agent`) loads a project's extensions only if the
/// nearest folder in the user's `trust.json` is trusted or, without an entry, if
/// `defaultProjectTrust` is `always`. Source: its security document.
fn distrust(question: &TrustQuestion<'_>) -> Vec<Distrust> {
    let Some(project) = question.project else {
        return Vec::new();
    };
    let agent = question.user.parent().unwrap_or(question.user);
    let file = agent.join("trust.json");
    let decisions = (question.read)(&file);
    let real = project.canonicalize();
    let project = real.unwrap_or_else(|_| project.to_path_buf());
    let mut folders = project.ancestors();
    let nearest = folders.find_map(|folder| decisions.get(folder.to_str()?)?.as_bool());
    let is_trusted = nearest.unwrap_or_else(|| {
        let settings = (question.read)(&agent.join("settings.json"));
        settings.get("defaultProjectTrust") == Some(&Json::from("always"))
    });
    if is_trusted {
        return Vec::new();
    }
    vec![Distrust {
        file,
        cause: "the project is not trusted: pi 0.79 and later skip its extensions silently"
            .to_string(),
        cure: "start `pi` here and trust the project, run it with `--approve`, or \
               run `hookrun install pi --scope user`",
    }]
}
