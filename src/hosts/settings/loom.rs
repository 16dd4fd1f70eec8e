//! The `hooks` of a profile, `agent.json`, of ownware, which runs on loom.
//!
//! Source: ownware, `packages/cortex/src/profile/schema.ts` and `hooks.ts`, docs/agents/hooks.md.

use super::row::{Bucket, BucketShape, Does, EntryAction, EntryKey, EntryValue, OperatorSwitch};
use crate::engine::event::Context;

const fn bucket(key: &'static str, event: &'static str) -> Bucket {
    Bucket { key, event }
}

const fn action(name: &'static str, does: Does, about: &'static str) -> EntryAction {
    EntryAction {
        name,
        does,
        needs: None,
        may: None,
        only_in: None,
        about,
    }
}

const fn text(name: &'static str) -> EntryKey {
    EntryKey {
        name,
        takes: EntryValue::Text,
    }
}

pub(super) const PROFILE: BucketShape = BucketShape {
    name: "agent.json",
    section: "hooks",
    owner: "name",
    dialect: "loom",
    buckets: &[
        bucket("onStart", "session.start"),
        bucket("onToolCall", "tool.pre"),
        bucket("onToolEnd", "tool.post"),
        bucket("onModelCall", "model.pre"),
        bucket("onModelEnd", "model.post"),
        bucket("onComplete", "session.end"),
        bucket("onError", "error"),
    ],
    action: "action",
    keys: &[
        EntryKey {
            name: "level",
            takes: EntryValue::OneOf(&["info", "warn", "error"]),
        },
        text("path"),
        text("command"),
        EntryKey {
            name: "tools",
            takes: EntryValue::Texts,
        },
        text("url"),
    ],
    actions: &[
        EntryAction {
            may: Some("level"),
            ..action(
                "log",
                Does::Log,
                "a line about the event, names and sizes only, in \
                 `$XDG_STATE_HOME/hookrun/actions.log`",
            )
        },
        EntryAction {
            needs: Some("path"),
            ..action(
                "save_json",
                Does::Save,
                "the event as one line of JSON at the end of a file in the folder of the profile",
            )
        },
        EntryAction {
            needs: Some("command"),
            ..action(
                "command",
                Does::Run,
                "a command line for `/bin/sh -c`, by loom's contract; off until the operator \
                 allows it",
            )
        },
        EntryAction {
            may: Some("tools"),
            only_in: Some("onToolCall"),
            ..action(
                "approve",
                Does::Ask,
                "an `ask` before the tool runs; `tools` are the names it is about, with `*`, and \
                 `.` for `_` as well",
            )
        },
        EntryAction {
            needs: Some("url"),
            ..action(
                "webhook",
                Does::Post,
                "the event as JSON, sent by `curl` within 3.5 s; what becomes of it changes \
                 nothing",
            )
        },
    ],
    kill_switch: OperatorSwitch {
        name: "OWNWARE_DISABLE_HOOKS",
        about: "`1`: no hook of a profile runs; they are listed as idle",
    },
    commands: OperatorSwitch {
        name: "OWNWARE_ALLOW_COMMAND_HOOKS",
        about: "`1`: the `command` hooks of profiles may run; without it they are errors",
    },
    destinations: OperatorSwitch {
        name: "OWNWARE_HOOK_WEBHOOK_ALLOWLIST",
        about: "prefixes of URLs, divided by commas: a `webhook` to any other is an error",
    },
};

/// What the log says of each event: words, and the keys of the context. Never the input or the result of
/// a tool.
const SUMMARIES: &[(&str, &[(&str, &str)])] = &[
    (
        "session.start",
        &[("model", "model"), ("session", "sessionId")],
    ),
    ("tool.pre", &[("tool", "toolName"), ("turn", "turnIndex")]),
    (
        "tool.post",
        &[
            ("tool", "toolName"),
            ("turn", "turnIndex"),
            ("error", "isError"),
            LENGTH,
        ],
    ),
    (
        "model.pre",
        &[
            ("model", "model"),
            ("turn", "turnIndex"),
            ("messages", "messageCount"),
        ],
    ),
    (
        "model.post",
        &[
            ("model", "model"),
            ("turn", "turnIndex"),
            ("stop", "stopReason"),
            ("in", "inputTokens"),
            ("out", "outputTokens"),
            COST,
            ("tools", "toolCallCount"),
        ],
    ),
    (
        "session.end",
        &[("reason", "reason"), ("session", "sessionId")],
    ),
    ("error", &[("code", "code"), ("message", "message")]),
];

/// How long a result is, in UTF-16 units; its content stays out of the log.
const LENGTH: (&str, &str) = ("resultChars", "result");

/// In dollars.
const COST: (&str, &str) = ("cost", "costUsd");

/// One line about an event for a log: its name, and names and sizes from its context. A fact that
/// the context lacks is left out.
pub fn summary(event: &str, context: &Context) -> String {
    let facts = SUMMARIES.iter().find(|(name, _)| *name == event);
    let mut line = event.to_string();
    for fact in facts.into_iter().flat_map(|(_, facts)| *facts) {
        let Some(mut text) = context.text(fact.1) else {
            continue;
        };
        if *fact == LENGTH {
            text = text.encode_utf16().count().to_string();
        } else if *fact == COST {
            text = text
                .parse::<f64>()
                .map_or(text, |cost| format!("${cost:.4}"));
        }
        line.push_str(&format!(" {}={text}", fact.0));
    }
    line.replace(|c: char| c.is_control(), " ")
}
