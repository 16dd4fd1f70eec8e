//! The sorts of events, and what a new hook for each does. The bodies and cases are files here.

use crate::engine::event::catalog::command;
use crate::engine::event::{EventSpec, Schedule};

use super::places::looked_at;
use super::row::TemplateSort;

/// Every sort. An event gets the first that fits it; those after the general one are only chosen by
/// `--template`.
pub(super) const SORTS: &[TemplateSort] = &[
    // A command of the user: its output is the answer.
    TemplateSort {
        fits: |spec| command::name_of(&spec.name).is_some(),
        name: "",
        suits: never,
        directive: "description=\"say what it does\"",
        about: "the host's list of commands shows the description.",
        bodies: &[
            ("sh", include_str!("command.sh")),
            ("bash", include_str!("command.bash")),
            ("python", include_str!("command.py")),
        ],
        cases: include_str!("command.toml"),
        only_adds: false,
    },
    // A tool that is about to run.
    TemplateSort {
        fits: |spec| spec.blocks && spec.carries("toolName"),
        name: "guard",
        suits: |spec| spec.blocks && spec.carries("toolName"),
        directive: "tool=bash",
        about: "this hook runs for shell tools only, under any host's\n# name for them.",
        bodies: &[
            ("sh", include_str!("guard.sh")),
            ("bash", include_str!("guard.bash")),
            ("python", include_str!("guard.py")),
        ],
        cases: include_str!("guard.toml"),
        only_adds: false,
    },
    // A commit or a push, with the paths that it changes.
    TemplateSort {
        fits: |spec| spec.blocks && spec.carries("changes"),
        name: "",
        suits: never,
        directive: "timeout=10s",
        about: "how long this hook may run; path=GLOB would ask it only\n# about changes to such paths.",
        bodies: &[
            ("sh", include_str!("paths.sh")),
            ("bash", include_str!("paths.bash")),
            ("python", include_str!("paths.py")),
        ],
        cases: include_str!("paths.toml"),
        only_adds: false,
    },
    // A prompt, which is in a variable.
    TemplateSort {
        fits: |spec| spec.blocks && spec.carries("prompt"),
        name: "",
        suits: never,
        directive: "timeout=5s",
        about: "how long this hook may run.",
        bodies: &[
            ("sh", include_str!("prompt.sh")),
            ("bash", include_str!("prompt.bash")),
            ("python", include_str!("prompt.py")),
        ],
        cases: include_str!("prompt.toml"),
        only_adds: false,
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
        bodies: &[
            ("sh", include_str!("test-gate.sh")),
            ("bash", include_str!("test-gate.bash")),
            ("python", include_str!("test-gate.py")),
        ],
        cases: include_str!("test-gate.toml"),
        only_adds: false,
    },
    // An event with a text in it that says what it is about.
    TemplateSort {
        fits: |spec| spec.blocks && !looked_at(spec).key.is_empty(),
        name: "",
        suits: never,
        directive: "timeout=5s",
        about: "how long this hook may run; where.@KEY@=REGEX would\n# ask it only about such events.",
        bodies: &[
            ("sh", include_str!("value.sh")),
            ("bash", include_str!("value.bash")),
            ("python", include_str!("value.py")),
        ],
        cases: include_str!("value.toml"),
        only_adds: false,
    },
    // A gate whose events have nothing to look at.
    TemplateSort {
        fits: |spec| spec.blocks,
        name: "",
        suits: never,
        directive: "timeout=5s",
        about: "how long this hook may run.",
        bodies: &[
            ("sh", include_str!("freeze.sh")),
            ("bash", include_str!("freeze.bash")),
            ("python", include_str!("freeze.py")),
        ],
        cases: include_str!("freeze.toml"),
        only_adds: false,
    },
    // An event that the host does not wait for.
    TemplateSort {
        fits: |spec| spec.schedule == Schedule::Detached,
        name: "",
        suits: never,
        directive: "timeout=30s",
        about: "how long this hook may run; the host does not wait for it.",
        bodies: &[("sh", include_str!("watch.sh")), ("python", include_str!("watch.py"))],
        cases: include_str!("watch.toml"),
        only_adds: false,
    },
    // A tool that has run: what it wrote is checked.
    TemplateSort {
        fits: has_written,
        name: "findings",
        suits: has_written,
        directive: "tool='write|edit'",
        about: "this hook runs for tools that write only, under any\n# host's name for them.",
        bodies: &[("sh", include_str!("findings.sh")), ("python", include_str!("findings.py"))],
        cases: include_str!("findings.toml"),
        only_adds: false,
    },
    // An event that has happened, or cannot be blocked.
    TemplateSort {
        fits: |_| true,
        name: "context",
        suits: |spec| spec.conduct.text_teaches,
        directive: "timeout=5s",
        about: "how long this hook may run.",
        bodies: &[
            ("sh", include_str!("context.sh")),
            ("bash", include_str!("context.bash")),
            ("python", include_str!("context.py")),
        ],
        cases: include_str!("context.toml"),
        only_adds: true,
    },
    // A person decides.
    TemplateSort {
        fits: never,
        name: "ask",
        suits: |spec| spec.blocks && spec.carries("toolName"),
        directive: "tool=bash",
        about: "this hook runs for shell tools only, under any host's\n# name for them.",
        bodies: &[("sh", include_str!("ask.sh")), ("python", include_str!("ask.py"))],
        cases: include_str!("ask.toml"),
        only_adds: false,
    },
    // Another command takes the place of one.
    TemplateSort {
        fits: never,
        name: "rewrite",
        suits: |spec| spec.carries("toolName") && rewrites(spec, "toolInput"),
        directive: "rewrite tool=bash",
        about: "this hook may rewrite, and runs for shell tools only.",
        bodies: &[("python", include_str!("rewrite.py"))],
        cases: include_str!("rewrite.toml"),
        only_adds: true,
    },
    // What the model must not see is taken out of a tool's result.
    TemplateSort {
        fits: never,
        name: "redact",
        suits: |spec| spec.carries("toolName") && rewrites(spec, "result"),
        directive: "rewrite timeout=5s",
        about: "this hook may rewrite, and how long it may run.",
        bodies: &[("python", include_str!("redact.py"))],
        cases: include_str!("redact.toml"),
        only_adds: true,
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
