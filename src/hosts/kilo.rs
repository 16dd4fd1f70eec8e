//! Kilo Code, a fork of OpenCode, with the same plugin.

use super::prelude::*;

pub(super) static KILO: Host = Host {
    name: "kilo",
    title: "Kilo Code",
    fails_closed: FailsClosed::Always,
    measured: measured("7.7.9", "2026-11-23"),
    unseen: &["tools of subagents"],
    install: Install {
        project: ".kilo/plugin/hookrun.js",
        user: UserFile::Config("kilo/plugin/hookrun.js"),
        form: HostForm::Plugin(super::opencode::PLUGIN),
        must: &["start it again: plugins are read when it starts"],
        ..Install::NONE
    },
    ..Host::PLAIN
};
