//! How the process of a hook started: warm, or cold for a reason.

use crate::engine::names::names;

/// How the process of a hook that may start warm has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStart {
    /// It was forked from its interpreter before the event came, or has answered events before.
    Warm,
    /// Its interpreter began anew, for this reason.
    Cold(ColdReason),
}

impl ProcessStart {
    /// The name in output and in the log: `warm`, or the reason.
    pub fn name(self) -> &'static str {
        match self {
            ProcessStart::Warm => "warm",
            ProcessStart::Cold(reason) => reason.name(),
        }
    }
}

/// Why a hook that may start warm was started as any other hook: its interpreter began anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColdReason {
    NoScript,
    Shim,
    Options,
    Variables,
    Bounds,
    OneEvent,
    NoSubreaper,
    NotReady,
    Died,
    TooMany,
    TooLarge,
    Unusable,
}

names! {
    ColdReason: NoScript "no-script", Shim "shim", Options "options", Variables "variables",
    Bounds "bounds", OneEvent "one-event", NoSubreaper "no-subreaper", NotReady "not-ready", Died "died", TooMany "too-many", TooLarge "too-large",
    Unusable "unusable"
}

impl ColdReason {
    /// The same for people: what is in the way, and what to do if there is something to do.
    pub fn about(self) -> &'static str {
        match self {
            ColdReason::NoScript => {
                "it is no Python script with a first line such as `#!/usr/bin/env python3`, no command such as `python3 FILE`, or the path of its interpreter is relative"
            }
            ColdReason::Shim => {
                "its interpreter is a script itself, such as a shim of pyenv; name the real one, or put its folder first in PATH"
            }
            ColdReason::Options => {
                "its interpreter has options other than -b, -B, -E, -I, -O, -P, -q, -s, -S and -u"
            }
            ColdReason::Variables => {
                "a variable changes how its interpreter starts, such as PYTHONPATH"
            }
            ColdReason::Bounds => {
                "it has a process namespace (`containment = \"pidns\"`) or fewer than 32 `limits.files`; for `warm = \"serve\"`, any `sandbox`, `containment`, `limits.memory` or `limits.files`"
            }
            ColdReason::OneEvent => {
                "it has `limits.cpu` or `background = \"detach\"`, which are for one event"
            }
            ColdReason::NoSubreaper => {
                "this program does not adopt processes (`Runner::subreaper`), or this system is not Linux"
            }
            ColdReason::NotReady => "no interpreter or program was ready, as for the first event",
            ColdReason::Died => {
                "the process that had waited for it was killed, or ended, before the script began"
            }
            ColdReason::TooMany => {
                "eight other interpreters are kept, which other hooks use as often"
            }
            ColdReason::TooLarge => "its environment and arguments are larger than 128 KiB",
            ColdReason::Unusable => "its interpreter is not CPython 3.8 or later, or ended at once",
        }
    }
}
