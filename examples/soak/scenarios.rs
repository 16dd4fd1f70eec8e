//! The scenarios: what hooks there are, how often they run, and what must come out.

use std::time::Duration;

use hookrun::internals::outcome::Cause;

use crate::hook::PHOTO_FINISH;

/// For hooks that are to end by themselves, however busy the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// For hooks that are to be ended.
pub(crate) const SHORT: Duration = Duration::from_millis(50);

/// One sort of event with its hooks.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// How often it is picked, in relation to the others.
    pub(crate) weight: u64,
    pub(crate) size: Size,
    /// In plan order.
    pub(crate) parts: &'static [Part],
    /// What may come out; more than one only where two clocks race.
    pub(crate) expected: &'static [Expected],
    /// Its hook leaves processes behind that are no longer in its group.
    pub(crate) leaves_group: bool,
    /// What the trace of a hook must say beside the decision.
    pub(crate) note: Option<&'static str>,
}

/// How large the event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    /// 1 MiB: more than any pipe takes at once.
    Large,
}

/// One hook of a scenario.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) what: What,
    pub(crate) timeout: Duration,
    pub(crate) parallel: bool,
    pub(crate) rewrite: bool,
    /// Its `command` matcher.
    pub(crate) command: Option<&'static str>,
    /// Its limit on output.
    pub(crate) output_bytes: Option<u64>,
    /// It runs in a sandbox.
    pub(crate) sandboxed: bool,
}

/// What a hook is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// This program, as `--hook NAME`.
    Act(&'static [&'static str]),
    /// A file with this content, with a run bit or without.
    File {
        text: &'static str,
        is_executable: bool,
    },
    /// A command line for `sh -c`.
    Shell(&'static str),
}

/// What comes out: the decision, and the class of the reason, which is the rule or the failure
/// by which the deciding hook ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expected {
    /// It goes on. Every hook ends like this, and the text (if any) was said or rewritten.
    Allowed {
        class: &'static str,
        text: &'static str,
    },
    /// It does not happen, because of the hook at this place.
    Blocked {
        place: usize,
        cause: Cause,
        class: &'static str,
        reason: &'static str,
    },
}

const fn act(words: &'static [&'static str]) -> Part {
    part(What::Act(words))
}

const fn part(what: What) -> Part {
    Part {
        what,
        timeout: LONG,
        parallel: false,
        rewrite: false,
        command: None,
        output_bytes: None,
        sandboxed: false,
    }
}

impl Part {
    const fn within(self, timeout: Duration) -> Part {
        Part { timeout, ..self }
    }

    const fn beside(self) -> Part {
        Part {
            parallel: true,
            ..self
        }
    }

    const fn rewrites(self) -> Part {
        Part {
            rewrite: true,
            ..self
        }
    }

    const fn at_most(self, output_bytes: u64) -> Part {
        Part {
            output_bytes: Some(output_bytes),
            ..self
        }
    }

    const fn sandboxed(self) -> Part {
        Part {
            sandboxed: true,
            ..self
        }
    }

    const fn only(self, command: &'static str) -> Part {
        Part {
            command: Some(command),
            ..self
        }
    }
}

const fn allowed(class: &'static str, text: &'static str) -> Expected {
    Expected::Allowed { class, text }
}

const fn refused(class: &'static str, reason: &'static str) -> Expected {
    refused_by(0, class, reason)
}

const fn refused_by(place: usize, class: &'static str, reason: &'static str) -> Expected {
    Expected::Blocked {
        place,
        cause: Cause::Policy,
        class,
        reason,
    }
}

const fn failed(class: &'static str, reason: &'static str) -> Expected {
    Expected::Blocked {
        place: 0,
        cause: Cause::Failure,
        class,
        reason,
    }
}

const TIMED_OUT: Expected = failed("timed-out", "timed out after 50ms (fail closed)");

const fn scenario(
    name: &'static str,
    weight: u64,
    parts: &'static [Part],
    expected: &'static [Expected],
) -> Scenario {
    Scenario {
        name,
        weight,
        size: Size::Small,
        parts,
        expected,
        leaves_group: false,
        note: None,
    }
}

impl Scenario {
    /// Whether one of its hooks runs in a sandbox.
    pub(crate) fn is_sandboxed(&self) -> bool {
        self.parts.iter().any(|part| part.sandboxed)
    }

    const fn large(self) -> Scenario {
        Scenario {
            size: Size::Large,
            ..self
        }
    }

    /// A process lives outside the group; that it was there must be told.
    const fn leaving(self) -> Scenario {
        Scenario {
            leaves_group: true,
            note: Some("the hook left "),
            ..self
        }
    }

    /// Processes are outside the group, or not yet, when the hook ends.
    const fn perhaps_leaving(self) -> Scenario {
        Scenario {
            leaves_group: true,
            ..self
        }
    }

    /// Whether a hook without descriptors of its own to open can play it: a shell loads libraries.
    pub(crate) fn is_frugal(&self) -> bool {
        self.parts.iter().all(|part| match part.what {
            What::Act(_) => true,
            What::File { .. } | What::Shell(_) => false,
        })
    }
}

/// Every scenario. The weights add up to 10,000.
pub(crate) const SCENARIOS: &[Scenario] = &[
    // Well-behaved.
    scenario(
        "allows silently",
        2400,
        &[act(&["silent"])],
        &[allowed("silence", "")],
    ),
    scenario(
        "allows with text",
        1300,
        &[act(&["text"])],
        &[allowed("text", "12 files checked")],
    ),
    scenario(
        "adds context",
        700,
        &[act(&["context"])],
        &[allowed("structured", "3 commits")],
    ),
    scenario(
        "refuses by JSON",
        900,
        &[act(&["refuse"])],
        &[refused("continue-false", "no")],
    ),
    scenario(
        "exits 1 with stderr",
        800,
        &[act(&["fail"])],
        &[refused("non-zero-exit", "not like")],
    ),
    scenario(
        "exits 2",
        600,
        &[act(&["exit-2"])],
        &[refused("non-zero-exit", "with status 2")],
    ),
    scenario(
        "rewrites the input",
        300,
        &[
            act(&["rewrite"]).rewrites(),
            act(&["silent"]).only("^never$"),
        ],
        &[allowed("structured", "make safe")],
    ),
    scenario(
        "guards what was rewritten",
        300,
        &[
            act(&["rewrite"]).rewrites(),
            act(&["guard"]).only("^make safe$"),
        ],
        &[refused_by(1, "non-zero-exit", "saw `make safe`")],
    ),
    scenario(
        "two in parallel",
        400,
        &[act(&["silent"]).beside(), act(&["silent"]).beside()],
        &[allowed("silence", "")],
    ),
    scenario(
        "two in parallel, one hangs",
        200,
        // That the other one hangs must not keep the refusal from being told.
        &[act(&["fail", "first"]).beside(), act(&["hang"]).beside()],
        &[refused("non-zero-exit", "first")],
    ),
    scenario(
        "ten in parallel",
        150,
        &[act(&["text"]).beside(); 10],
        &[allowed("text", "12 files checked")],
    ),
    scenario(
        "ten in parallel, two refuse",
        100,
        // Whichever ends first, the reason is that of the first in plan order.
        &[
            act(&["silent"]).beside(),
            act(&["silent"]).beside(),
            act(&["count"]).beside(),
            act(&["fail", "earlier"]).beside(),
            act(&["text"]).beside(),
            act(&["silent"]).beside(),
            act(&["fail", "later"]).beside(),
            act(&["text"]).beside(),
            act(&["silent"]).beside(),
            act(&["silent"]).beside(),
        ],
        &[refused_by(3, "non-zero-exit", "earlier")],
    ),
    scenario(
        "a script",
        100,
        &[part(What::File {
            text: "#!/bin/sh\necho script >&2\nexit 1\n",
            is_executable: true,
        })],
        &[refused("non-zero-exit", "script")],
    ),
    scenario(
        "a shell line",
        100,
        &[part(What::Shell("echo line"))],
        &[allowed("text", "line")],
    ),
    // Hostile.
    scenario(
        "is killed by a signal",
        300,
        &[act(&["signal"])],
        &[failed("killed", "killed by SIGUSR1")],
    ),
    scenario(
        "malformed JSON",
        300,
        &[act(&["malformed"])],
        &[failed("malformed", "is not valid JSON")],
    ),
    scenario(
        "noise round a refusal",
        300,
        &[act(&["noise"])],
        &[refused("continue-false", "found")],
    ),
    scenario(
        "not executable",
        200,
        &[part(What::File {
            text: "#!/bin/sh\n",
            is_executable: false,
        })],
        &[failed("not-started", "is not executable")],
    ),
    scenario(
        "missing interpreter",
        150,
        &[part(What::File {
            text: "#!/nowhere/sh\n",
            is_executable: true,
        })],
        &[failed("not-started", "does not exist: `/nowhere/sh`")],
    ),
    scenario(
        "an empty file",
        100,
        &[part(What::File {
            text: "",
            is_executable: true,
        })],
        &[failed(
            "not-started",
            "neither a program for this system nor a script",
        )],
    ),
    scenario(
        "2 MiB on stdout",
        40,
        &[act(&["flood-stdout"])],
        &[failed("malformed", "print at most 1 MiB")],
    ),
    scenario(
        "over its limit on output",
        300,
        &[act(&["flood-stdout"]).at_most(4096)],
        &[failed("over-limit", "over its limit on output")],
    ),
    scenario(
        "in a sandbox",
        1000,
        &[act(&["text"]).sandboxed()],
        &[allowed("text", "12 files checked")],
    ),
    scenario(
        "refuses in a sandbox",
        500,
        &[act(&["fail", "earlier"]).sandboxed()],
        &[refused("non-zero-exit", "earlier")],
    ),
    scenario(
        "2 MiB on stderr, exits 1",
        40,
        &[act(&["flood-stderr"])],
        &[refused("non-zero-exit", "bytes omitted")],
    ),
    scenario(
        "2 MiB on stderr, exits 0",
        40,
        &[act(&["babble"])],
        &[allowed("silence", "")],
    ),
    scenario(
        "never reads 1 MiB",
        40,
        &[act(&["silent"])],
        &[allowed("silence", "")],
    )
    .large(),
    scenario(
        "never reads 1 MiB and hangs",
        10,
        &[act(&["hang"]).within(SHORT)],
        &[TIMED_OUT],
    )
    .large(),
    scenario(
        "reads 1 MiB",
        40,
        &[act(&["count"])],
        &[allowed("text", "1048")],
    )
    .large(),
    scenario("hangs", 20, &[act(&["hang"]).within(SHORT)], &[TIMED_OUT]),
    scenario(
        "ends just at its timeout",
        20,
        &[act(&["photo-finish"]).within(PHOTO_FINISH)],
        &[
            allowed("silence", ""),
            failed("timed-out", "timed out after 20ms (fail closed)"),
        ],
    ),
    scenario(
        "closes its streams and stays",
        10,
        &[act(&["close-and-stay"]).within(SHORT)],
        &[TIMED_OUT],
    ),
    scenario(
        "ignores SIGTERM",
        8,
        &[act(&["ignore-sigterm"]).within(SHORT)],
        &[TIMED_OUT],
    ),
    scenario(
        "stops itself",
        10,
        &[act(&["stop"]).within(SHORT)],
        &[TIMED_OUT],
    ),
    // Each takes the second for which a gate waits.
    scenario(
        "a daemon holds the pipes",
        2,
        &[act(&["daemon"])],
        &[failed("malformed", "it may be incomplete")],
    )
    .leaving(),
    scenario(
        "a daemon by double fork",
        10,
        &[act(&["double-fork"])],
        &[allowed("silence", "")],
    )
    .leaving(),
    scenario(
        "50 processes stay behind",
        2,
        &[act(&["burst"])],
        &[allowed("silence", "")],
    )
    .perhaps_leaving(),
];
