//! What is known of each agent host besides its events, tools and settings: how well it is known, what
//! it makes of a hookrun that fails, and what it never shows. Help, pages, `events`, `doctor` and
//! `install` read this table.

use HostFailure::{Crash, Nonsense, Start, Timeout};

/// A row of the table.
#[derive(Debug)]
pub struct HostFacts {
    /// Its name on the command line.
    pub host: &'static str,
    /// When its documents were read.
    pub documented: &'static str,
    /// The version that hookrun was measured with, and when; `None` for documents alone.
    pub measured: Option<MeasuredVersion>,
    /// The failures of hookrun with which it blocks a tool by itself, with the switches that `install`
    /// sets. With the others it lets the tool run, unless the command says status 2.
    pub closed_on: &'static [HostFailure],
    /// Calls of tools that reach no hook.
    pub unseen: &'static [&'static str],
}

impl HostFacts {
    /// How well the host is known, in a sentence.
    pub fn known(&self) -> String {
        let measured = match self.measured {
            Some(it) => format!("Measured with version {} on {}", it.version, it.date),
            None => "Not measured: no client was run".to_string(),
        };
        format!("{measured}; its documents were read on {}.", self.documented)
    }

    /// With which failures of hookrun it lets a tool run, in words; nothing where there is none.
    pub fn open_on(&self) -> Vec<&'static str> {
        let open = HostFailure::ALL.iter().filter(|one| !self.closed_on.contains(one));
        open.map(|one| one.about()).collect()
    }
}

/// Which version of a host was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredVersion {
    pub version: &'static str,
    /// The day, as `2026-11-22`.
    pub date: &'static str,
}

/// How a hook of a host can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostFailure {
    /// It cannot be started.
    Start,
    /// It is killed, or ends with a status that says nothing.
    Crash,
    /// It prints what the host cannot read.
    Nonsense,
    /// It takes longer than the host waits.
    Timeout,
}

impl HostFailure {
    /// Whether the command that `install` writes blocks then, where status 2 blocks.
    pub fn is_guarded(self) -> bool {
        matches!(self, Start | Crash)
    }

    pub const ALL: &[HostFailure] = &[Start, Crash, Nonsense, Timeout];

    /// What happens, in words.
    pub fn about(self) -> &'static str {
        match self {
            Start => "cannot start",
            Crash => "is killed",
            Nonsense => "prints nonsense",
            Timeout => "hangs",
        }
    }
}

const ALL: &[HostFailure] = HostFailure::ALL;

/// A host that is open on every failure.
const OPEN: HostFacts =
    HostFacts { host: "", documented: "2026-11-22", measured: None, closed_on: &[], unseen: &[] };

const fn measured(version: &'static str, date: &'static str) -> Option<MeasuredVersion> {
    Some(MeasuredVersion { version, date })
}

/// Every agent host. git has its own pages.
pub const FACTS: &[HostFacts] = &[
    HostFacts {
        host: "claude",
        measured: measured("2.1.329", "2026-11-21"),
        closed_on: ALL,
        ..OPEN
    },
    HostFacts {
        host: "codex",
        measured: measured("0.169.0", "2026-11-21"),
        unseen: &[
            "`write_stdin` into a shell or interpreter that already runs",
            "web search and other hosted tools",
        ],
        ..OPEN
    },
    HostFacts { host: "gemini", measured: measured("0.61.0", "2026-11-21"), ..OPEN },
    HostFacts { host: "cursor", closed_on: ALL, ..OPEN },
    HostFacts { host: "copilot", closed_on: &[Start, Crash], ..OPEN },
    HostFacts { host: "qwen", measured: measured("0.24.4", "2026-11-23"), ..OPEN },
    HostFacts { host: "vscode", ..OPEN },
    HostFacts { host: "factory", ..OPEN },
    HostFacts {
        host: "windsurf",
        unseen: &["tools that are no command, file or MCP tool: search, web, browser"],
        ..OPEN
    },
    HostFacts { host: "devin", ..OPEN },
    HostFacts { host: "crush", unseen: &["tools of subagents"], ..OPEN },
    HostFacts { host: "goose", closed_on: ALL, ..OPEN },
    HostFacts { host: "agy", closed_on: ALL, ..OPEN },
    HostFacts { host: "grok", ..OPEN },
    HostFacts {
        host: "kiro",
        unseen: &["the input of a tool in Kiro's IDE: it was seen to send `{}` (1.0.165)"],
        ..OPEN
    },
    HostFacts { host: "kimi", measured: measured("2.1.0", "2026-11-23"), ..OPEN },
    HostFacts {
        host: "cline",
        measured: measured("3.0.65 (command line)", "2026-11-23"),
        closed_on: &[Start, Crash],
        ..OPEN
    },
    HostFacts {
        host: "opencode",
        measured: measured("1.18.33", "2026-11-23"),
        closed_on: ALL,
        unseen: &["tools of subagents"],
        ..OPEN
    },
    HostFacts {
        host: "kilo",
        measured: measured("7.7.9", "2026-11-23"),
        closed_on: ALL,
        unseen: &["tools of subagents"],
        ..OPEN
    },
    HostFacts { host: "amp", closed_on: ALL, ..OPEN },
    HostFacts { host: "pi", measured: measured("0.73.1", "2026-11-23"), closed_on: ALL, ..OPEN },
    HostFacts { host: "omp", measured: measured("18.2.3", "2026-11-23"), closed_on: ALL, ..OPEN },
    HostFacts { host: "openclaw", closed_on: ALL, ..OPEN },
];

/// What is known of the host that is called `name`.
pub fn of(name: &str) -> Option<&'static HostFacts> {
    FACTS.iter().find(|facts| facts.host == name)
}
