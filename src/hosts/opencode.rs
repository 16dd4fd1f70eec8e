//! OpenCode, its fork Kilo Code, and Amp: a plugin starts hookrun and applies the decision.
//!
//! Sources: OpenCode 1.18.33 and Kilo Code 7.7.9, measured; the types of OpenCode and of Amp.

use super::prelude::*;

const PLUGIN_EVENTS: &[HostEvent] = &[
    reports("session.created", "session.start"),
    asks(
        "chat.message",
        "prompt.submit",
        &[Block, New("prompt"), Context],
    ),
    asks(
        "tool.execute.before",
        "tool.pre",
        &[Block, New("toolInput")],
    ),
    asks("tool.execute.after", "tool.post", &[New("result"), Context]),
    reports("session.idle", "agent.end"),
    reports("session.compacted", "compact.post"),
    reports("session.error", "error"),
];

/// Also loaded by Kilo Code.
const PLUGIN: Plugin = Plugin {
    events: PLUGIN_EVENTS,
    text: include_str!("plugin/opencode.js"),
};

const BASE: Host = Host {
    name: "opencode",
    title: "OpenCode",
    fails_closed: FailsClosed::Always,
    unseen: &["tool calls of subagents"],
    install: Install {
        project: ".opencode/plugins/hookrun.js",
        user: UserFile::Config("opencode/plugins/hookrun.js"),
        form: HostForm::Plugin(PLUGIN),
        must: &["restart the agent, because it reads plugins only when it starts"],
        ..Install::NONE
    },
    ..Host::PLAIN
};

pub(super) static OPENCODE: Host = BASE;

pub(super) static KILO: Host = Host {
    name: "kilo",
    title: "Kilo Code",
    install: Install {
        project: ".kilo/plugin/hookrun.js",
        user: UserFile::Config("kilo/plugin/hookrun.js"),
        ..BASE.install
    },
    ..BASE
};

/// From Amp's types. It has no gate for prompts or stops.
const AMP_EVENTS: &[HostEvent] = &[
    reports("session.start", "session.start"),
    asks("agent.start", "agent.start", &[Context]),
    asks("tool.call", "tool.pre", &[Block, New("toolInput")]),
    asks("tool.result", "tool.post", &[New("result")]),
    reports("agent.end", "agent.end"),
];

pub(super) static AMP: Host = Host {
    name: "amp",
    title: "Amp",
    fails_closed: FailsClosed::Always,
    install: Install {
        project: ".amp/plugins/hookrun.ts",
        user: UserFile::Config("amp/plugins/hookrun.ts"),
        form: HostForm::Plugin(Plugin {
            events: AMP_EVENTS,
            text: include_str!("plugin/amp.js"),
        }),
        cannot: &[
            "the plugin follows Amp's types and documentation, but is untested, because Amp needs its own server",
        ],
        must: &["reload Amp's plugins (`plugins: reload`), or restart Amp"],
        ..Install::NONE
    },
    ..Host::PLAIN
};
