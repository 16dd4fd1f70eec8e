//! The `hooks` of a profile, `agent.json`, of ownware, which runs on loom.
//!
//! Source: ownware, `packages/cortex/src/profile/schema.ts` and `hooks.ts`, docs/agents/hooks.md.

use super::row::{Bucket, BucketShape, OperatorSwitch};

const fn bucket(key: &'static str, event: &'static str) -> Bucket {
    Bucket { key, event }
}

pub(super) const PROFILE: BucketShape = BucketShape {
    name: "agent.json",
    section: "hooks",
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
    command: "command",
    not_run: &["log", "save_json", "approve", "webhook"],
    kill_switch: OperatorSwitch {
        name: "OWNWARE_DISABLE_HOOKS",
        about: "`1`: no hook of a profile runs; they are listed as idle",
    },
    commands: OperatorSwitch {
        name: "OWNWARE_ALLOW_COMMAND_HOOKS",
        about: "`1`: the `command` hooks of profiles may run; without it they are errors",
    },
};
