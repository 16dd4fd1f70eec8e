//! Amp: it runs no commands; its plugin starts hookrun and carries out the decision.
//!
//! Source: its types.

use super::prelude::*;

/// Its types name them. It asks no hook whether a prompt or a stop may pass.
const PLUGIN_EVENTS: &[HostEvent] = &[
    reports("session.start", "session.start"),
    asks("agent.start", "agent.start", &[Context]),
    asks("tool.call", "tool.pre", &[Refusal, New("toolInput")]),
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
            events: PLUGIN_EVENTS,
            tools: &HostTools::NONE,
            text: include_str!("plugin/amp.js"),
        }),
        cannot: &["written by its types and documents, and not run: it asks its own server first"],
        must: &["reload its plugins (`plugins: reload`), or start it again"],
        ..Install::NONE
    },
    ..Host::PLAIN
};
