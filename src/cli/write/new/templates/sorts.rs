//! The sorts of events, and what a new hook for each does. The bodies and cases are files here.

use crate::engine::event::catalog::command_name;
use crate::engine::event::{EventSpec, Schedule};

use super::places::looked_at;
use super::row::TemplateSort;

/// A template that no event gets by itself, of the files that are called so: its body in each
/// language, by the ending, and its cases.
macro_rules! written {
    ($stem:literal: $($ending:literal)+) => {
        TemplateSort {
            fits: never,
            name: "",
            suits: never,
            directive: "timeout=5s",
            about: "how long this hook may run.",
            bodies: &[$(($ending, include_str!(concat!($stem, ".", $ending)))),+],
            cases: include_str!(concat!($stem, ".toml")),
            only_adds: false,
        }
    };
}

/// Every sort. An event gets the first that fits it; those after the general one are only chosen by
/// `--template`.
pub(super) const SORTS: &[TemplateSort] = &[
    // A command of the user: its output is the answer.
    TemplateSort {
        fits: |spec| command_name(&spec.name).is_some(),
        directive: "description=\"say what it does\"",
        about: "the host's list of commands shows the description.",
        ..written!("command": "sh" "bash" "py")
    },
    // A tool that is about to run.
    TemplateSort {
        fits: |spec| spec.blocks && spec.carries("toolName"),
        name: "guard",
        suits: |spec| spec.blocks && spec.carries("toolName"),
        directive: "tool=bash",
        about: "this hook runs for shell tools only, under any host's\n# name for them.",
        ..written!("guard": "sh" "bash" "py")
    },
    // A commit or a push, with the paths that it changes.
    TemplateSort {
        fits: |spec| spec.blocks && spec.carries("changes"),
        directive: "timeout=10s",
        about: "how long this hook may run; path=GLOB would ask it only\n# about changes to such paths.",
        ..written!("paths": "sh" "bash" "py")
    },
    // A prompt, which is in a variable.
    TemplateSort {
        fits: |spec| spec.blocks && spec.carries("prompt"),
        ..written!("prompt": "sh" "bash" "py")
    },
    // An agent that wants to stop goes on until the tests pass.
    TemplateSort {
        fits: |spec| spec.blocks && spec.conduct.most_refusals.is_some(),
        name: "test-gate",
        suits: |spec| {
            spec.blocks && (spec.conduct.most_refusals.is_some() || spec.carries("changes"))
        },
        directive: "timeout=2m",
        about: "how long the tests may run. They are test.sh here.",
        ..written!("test-gate": "sh" "bash" "py")
    },
    // An event with a text in it that says what it is about.
    TemplateSort {
        fits: |spec| spec.blocks && !looked_at(spec).key.is_empty(),
        about: "how long this hook may run; where.@KEY@=REGEX would\n# ask it only about such events.",
        ..written!("value": "sh" "bash" "py")
    },
    // A gate whose events have nothing to look at.
    TemplateSort {
        fits: |spec| spec.blocks,
        ..written!("freeze": "sh" "bash" "py")
    },
    // An event that the host does not wait for.
    TemplateSort {
        fits: |spec| spec.schedule == Schedule::Detached,
        directive: "timeout=30s",
        about: "how long this hook may run; the host does not wait for it.",
        ..written!("watch": "sh" "py")
    },
    // A tool that has run: what it wrote is checked.
    TemplateSort {
        fits: has_written,
        name: "findings",
        suits: has_written,
        directive: "tool='write|edit'",
        about: "this hook runs for tools that write only, under any\n# host's name for them.",
        ..written!("findings": "sh" "py")
    },
    // An event that has happened, or cannot be blocked.
    TemplateSort {
        fits: |_| true,
        name: "context",
        suits: |spec| spec.conduct.text_teaches,
        only_adds: true,
        ..written!("context": "sh" "bash" "py")
    },
    // A person decides.
    TemplateSort {
        name: "ask",
        suits: |spec| spec.blocks && spec.carries("toolName"),
        directive: "tool=bash",
        about: "this hook runs for shell tools only, under any host's\n# name for them.",
        ..written!("ask": "sh" "py")
    },
    // Another command takes the place of one.
    TemplateSort {
        name: "rewrite",
        suits: |spec| spec.carries("toolName") && rewrites(spec, "toolInput"),
        directive: "rewrite tool=bash",
        about: "this hook may rewrite, and runs for shell tools only.",
        only_adds: true,
        ..written!("rewrite": "py")
    },
    // What the model must not see is taken out of a tool's result.
    TemplateSort {
        name: "redact",
        suits: |spec| spec.carries("toolName") && rewrites(spec, "result"),
        directive: "rewrite timeout=5s",
        about: "this hook may rewrite, and how long it may run.",
        only_adds: true,
        ..written!("redact": "py")
    },
];

fn never(_: &EventSpec) -> bool {
    false
}

fn has_written(spec: &EventSpec) -> bool {
    !spec.blocks && spec.carries("toolInput") && spec.carries("result")
}

fn rewrites(spec: &EventSpec, field: &str) -> bool {
    spec.rewrites.iter().any(|one| one.field == field)
}
