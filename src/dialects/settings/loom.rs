//! The `hooks` of a profile, `agent.json`, of ownware, whose engine loom is.
//!
//! Source: ownware, `packages/cortex/src/profile/schema.ts` and `hooks.ts`, docs/agents/hooks.md.

use super::row::{Bucket, BucketShape, Does, EntryAction, EntryKey, EntryValue, OperatorSwitch};
use crate::engine::event::Context;

const fn bucket(key: &'static str, event: &'static str) -> Bucket {
    Bucket { key, event }
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
        EntryKey { name: "level", takes: EntryValue::OneOf(&["info", "warn", "error"]) },
        EntryKey { name: "path", takes: EntryValue::Text },
        EntryKey { name: "command", takes: EntryValue::Text },
        EntryKey { name: "tools", takes: EntryValue::Texts },
        EntryKey { name: "url", takes: EntryValue::Text },
    ],
    actions: &[
        EntryAction {
            name: "log",
            does: Does::Log,
            needs: None,
            may: Some("level"),
            only_in: None,
            about: "a line about the event, names and sizes only, in \
                    `$XDG_STATE_HOME/hookrun/actions.log`",
        },
        EntryAction {
            name: "save_json",
            does: Does::Save,
            needs: Some("path"),
            may: None,
            only_in: None,
            about: "the event as one line of JSON at the end of a file in the folder of the profile",
        },
        EntryAction {
            name: "command",
            does: Does::Run,
            needs: Some("command"),
            may: None,
            only_in: None,
            about: "a command line for `/bin/sh -c`, by loom's contract; off until the operator \
                    allows it",
        },
        EntryAction {
            name: "approve",
            does: Does::Ask,
            needs: None,
            may: Some("tools"),
            only_in: Some("onToolCall"),
            about: "an `ask` before the tool runs; `tools` are the names it is about, with `*`, \
                    and `.` for `_` as well",
        },
        EntryAction {
            name: "webhook",
            does: Does::Post,
            needs: Some("url"),
            may: None,
            only_in: None,
            about: "the event as JSON, sent by `curl` within 3.5 s; what becomes of it changes \
                    nothing",
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

/// How a fact is told in the log.
enum LogForm {
    /// As it is.
    Plain,
    /// How long it is, in UTF-16 units: its content is nobody's business.
    Length,
    /// Dollars.
    Cost,
}

/// A fact: the word for it, the key of the context, how it is told.
type Fact = (&'static str, &'static str, LogForm);

/// What the log tells of each event: words, and the keys of the context. Never what a tool was
/// given or gave back.
const SUMMARIES: &[(&str, &[Fact])] = &[
    (
        "session.start",
        &[("model", "model", LogForm::Plain), ("session", "sessionId", LogForm::Plain)],
    ),
    ("tool.pre", &[("tool", "toolName", LogForm::Plain), ("turn", "turnIndex", LogForm::Plain)]),
    (
        "tool.post",
        &[
            ("tool", "toolName", LogForm::Plain),
            ("turn", "turnIndex", LogForm::Plain),
            ("error", "isError", LogForm::Plain),
            ("resultChars", "result", LogForm::Length),
        ],
    ),
    (
        "model.pre",
        &[
            ("model", "model", LogForm::Plain),
            ("turn", "turnIndex", LogForm::Plain),
            ("messages", "messageCount", LogForm::Plain),
        ],
    ),
    (
        "model.post",
        &[
            ("model", "model", LogForm::Plain),
            ("turn", "turnIndex", LogForm::Plain),
            ("stop", "stopReason", LogForm::Plain),
            ("in", "inputTokens", LogForm::Plain),
            ("out", "outputTokens", LogForm::Plain),
            ("cost", "costUsd", LogForm::Cost),
            ("tools", "toolCallCount", LogForm::Plain),
        ],
    ),
    (
        "session.end",
        &[("reason", "reason", LogForm::Plain), ("session", "sessionId", LogForm::Plain)],
    ),
    ("error", &[("code", "code", LogForm::Plain), ("message", "message", LogForm::Plain)]),
];

/// One line about an event for a log: its name, and names and sizes from its context. A fact that
/// the context lacks is left out.
pub fn summary(event: &str, context: &Context) -> String {
    let facts =
        SUMMARIES.iter().find(|(name, _)| *name == event).map_or(&[][..], |(_, facts)| facts);
    let mut line = event.to_string();
    for (word, key, form) in facts {
        let Some(text) = context.text(key) else { continue };
        let told = match form {
            LogForm::Plain => text,
            LogForm::Length => text.encode_utf16().count().to_string(),
            LogForm::Cost => text.parse::<f64>().map_or(text, |cost| format!("${cost:.4}")),
        };
        line.push_str(&format!(" {word}={told}"));
    }
    line.replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::summary;
    use crate::engine::event::Context;

    #[test]
    fn a_summary_tells_names_and_sizes_and_no_content() {
        let context = Context::parse(
            r#"{"toolName":"read","turnIndex":2,"isError":false,"toolInput":{"path":"/secret"},"result":"hush\n"}"#,
        )
        .unwrap();
        let line = summary("tool.post", &context);
        assert_eq!(line, "tool.post tool=read turn=2 error=false resultChars=5");
        let context = Context::parse(r#"{"model":"m\nx","costUsd":0.01234}"#).unwrap();
        assert_eq!(summary("model.post", &context), "model.post model=m x cost=$0.0123");
        assert_eq!(summary("deploy.pre", &context), "deploy.pre");
    }
}
