//! What is known of each agent host besides its events, tools and settings: how well it is known, what
//! it makes of a hookrun that fails, what it never shows, what a person has to accept, which shell runs
//! its commands, and whose hooks it runs as well. Help, pages, `events`, `doctor`, `install` and
//! `--settings` read this table.

use HostFailure::{Crash, Nonsense, Start, Timeout};
use HostShell::{Account, BuiltIn, Named, Unstated};

/// A row of the table.
#[derive(Debug)]
pub struct HostFacts {
    /// Its name on the command line.
    pub host: &'static str,
    /// When its documents were read.
    pub documented: &'static str,
    /// The version that hookrun was measured with, and when; `None` for documents alone.
    pub measured: Option<MeasuredVersion>,
    /// Where it was not measured: what was tried, when, and what kept it from running.
    pub tried: Option<&'static str>,
    /// The failures of hookrun with which it blocks a tool by itself, with the switches that `install`
    /// sets. With the others it lets the tool run, unless the command says status 2.
    pub closed_on: &'static [HostFailure],
    /// Tools and calls that no event shows.
    pub unseen: &'static [UnseenTool],
    /// What a person has to do before it runs hooks at all; `None` where nothing is known to be needed.
    pub trust: Option<&'static str>,
    /// What runs the command of a hook; `None` where it runs no command of a hook's.
    pub shell: Option<HostShell>,
    /// Whose settings it reads too: it runs the hooks in them as its own.
    pub reads: &'static [OtherSettings],
    /// The hosts whose plugins it converts, with the hooks in them.
    pub converts: &'static [&'static str],
}

/// A tool, or calls of tools, that reach no hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnseenTool {
    /// What the host calls it; `None` for calls of several tools.
    pub tool: Option<&'static str>,
    pub about: &'static str,
}

impl std::fmt::Display for UnseenTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tool {
            Some(tool) => write!(f, "`{tool}`: {}", self.about),
            None => f.write_str(self.about),
        }
    }
}

/// The settings of another host that a host reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherSettings {
    pub host: &'static str,
    /// Those of a project, and no user's.
    pub is_of_project_alone: bool,
    /// By what a user switches that off; `None` where no such key is known.
    pub switch: Option<ReadingSwitch>,
}

/// A key of a host by which it reads the settings of another one, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingSwitch {
    /// Its file, below the user's home folder.
    pub file: &'static str,
    pub key: &'static [&'static str],
    /// What counts where the file does not say.
    pub usual: bool,
}

/// What runs the command of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostShell {
    /// This one, by `-c`.
    Named(&'static str),
    /// The shell of the account, by `-c` and without its profile.
    Account,
    /// One that is part of the host.
    BuiltIn,
    /// Its documents do not say.
    Unstated,
}

impl HostShell {
    /// The shell that hookrun takes for it.
    pub fn program(self) -> &'static str {
        match self {
            Named(shell) => shell,
            // What most accounts have.
            Account => "bash",
            BuiltIn | Unstated => "sh",
        }
    }

    /// Which shell the host takes, where that is not the one that hookrun takes.
    pub fn differs(self) -> Option<&'static str> {
        match self {
            Named(_) | Unstated => None,
            Account => Some("the shell of the account"),
            BuiltIn => Some("a shell that is part of it"),
        }
    }

    /// Which shell, in words.
    pub fn about(self) -> String {
        match (self, self.differs()) {
            (Unstated, _) => format!("not stated; `{} -c` is assumed", self.program()),
            (Named(shell), _) => format!("`{shell} -c`"),
            (_, differs) => differs.unwrap_or_default().to_string(),
        }
    }
}

impl HostFacts {
    /// How well the host is known, in a sentence.
    pub fn known(&self) -> String {
        let measured = match self.measured {
            Some(it) => format!("Measured with version {} on {}", it.version, it.date),
            None => "Not measured: no client was run".to_string(),
        };
        let tried = self
            .tried
            .map_or(String::new(), |it| format!(" Tried on {it}."));
        format!(
            "{measured}; its documents were read on {}.{tried}",
            self.documented
        )
    }

    /// With which failures of hookrun it lets a tool run, in words; nothing where there is none.
    pub fn open_on(&self) -> Vec<&'static str> {
        self.opens().map(HostFailure::about).collect()
    }

    /// The same with what `install` writes: where status 2 blocks, the command blocks in hookrun's place.
    pub fn open_when_installed(&self) -> Vec<&'static str> {
        self.opens()
            .filter(|one| !one.is_guarded())
            .map(HostFailure::about)
            .collect()
    }

    fn opens(&self) -> impl Iterator<Item = HostFailure> {
        HostFailure::ALL
            .iter()
            .copied()
            .filter(|one| !self.closed_on.contains(one))
    }

    /// Whether it may run the hooks that were written for another host.
    pub fn runs_hooks_of(&self, host: &str) -> bool {
        self.reads.iter().any(|one| one.host == host) || self.converts.contains(&host)
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

/// A host that is open on every failure, and that nothing else is known of.
const OPEN: HostFacts = HostFacts {
    host: "",
    documented: "2026-11-22",
    measured: None,
    tried: None,
    closed_on: &[],
    unseen: &[],
    trust: None,
    shell: Some(Unstated),
    reads: &[],
    converts: &[],
};

/// A host that runs no commands: its plugin starts hookrun.
const PLUGIN: HostFacts = HostFacts {
    closed_on: ALL,
    shell: None,
    ..OPEN
};

const fn measured(version: &'static str, date: &'static str) -> Option<MeasuredVersion> {
    Some(MeasuredVersion { version, date })
}

/// A tool that no event shows.
const fn tool(name: &'static str, about: &'static str) -> UnseenTool {
    UnseenTool {
        tool: Some(name),
        about,
    }
}

/// Calls that no event shows.
const fn calls(about: &'static str) -> UnseenTool {
    UnseenTool { tool: None, about }
}

/// Another host's settings that it always reads.
const fn always(host: &'static str) -> OtherSettings {
    OtherSettings {
        host,
        is_of_project_alone: false,
        switch: None,
    }
}

/// Another host's settings that it reads by this key.
const fn by(
    host: &'static str,
    file: &'static str,
    key: &'static [&'static str],
    usual: bool,
) -> OtherSettings {
    let switch = Some(ReadingSwitch { file, key, usual });
    OtherSettings {
        switch,
        ..always(host)
    }
}

const SUBAGENTS: &[UnseenTool] = &[calls("tools of subagents")];

/// Every agent host. git has its own pages.
pub const FACTS: &[HostFacts] = &[
    HostFacts {
        host: "claude",
        measured: measured("2.1.329", "2026-11-21"),
        closed_on: ALL,
        trust: Some("trust the folder when it asks; with `-p` it does not ask, and hooks run"),
        shell: Some(Named("sh")),
        ..OPEN
    },
    HostFacts {
        host: "codex",
        measured: measured("0.169.0", "2026-11-21"),
        unseen: &[
            tool(
                "write_stdin",
                "text for a shell or interpreter that already runs",
            ),
            tool(
                "web_search",
                "it runs at the provider, as other hosted tools do",
            ),
        ],
        trust: Some(
            "trust the project, and accept the hooks in `/hooks`, again after every change of their \
             command: until then they are skipped without a word",
        ),
        shell: Some(Account),
        ..OPEN
    },
    HostFacts {
        host: "gemini",
        measured: measured("0.61.0", "2026-11-21"),
        trust: Some(
            "trust the folder, and accept its hooks when it asks: `--skip-trust` runs without the \
             hooks of the project, GEMINI_CLI_TRUST_WORKSPACE=true with them",
        ),
        shell: Some(Named("bash")),
        ..OPEN
    },
    HostFacts {
        host: "cursor",
        tried: Some(
            "2026-11-23: npm, PyPI, crates.io and Debian do not have it: npm's `cursor-agent` 1.0.3 is \
             another program",
        ),
        closed_on: ALL,
        unseen: &[calls("tools of cloud agents, which run no hooks of a user")],
        trust: Some("trust the workspace"),
        reads: &[always("claude")],
        ..OPEN
    },
    HostFacts {
        host: "copilot",
        measured: measured("1.0.102", "2026-11-23"),
        closed_on: &[Start, Crash],
        trust: Some("trust the folder; with `-p` the hooks of a project run only in a trusted one"),
        shell: Some(Named("bash")),
        reads: &[OtherSettings {
            is_of_project_alone: true,
            ..always("claude")
        }],
        ..OPEN
    },
    HostFacts {
        host: "qwen",
        measured: measured("0.24.4", "2026-11-23"),
        trust: Some("trust the folder, where `security.folderTrust` is on"),
        shell: Some(Named("bash")),
        converts: &["claude"],
        ..OPEN
    },
    HostFacts {
        host: "vscode",
        tried: Some(
            "2026-11-23: npm, PyPI, crates.io and Debian do not have it: npm's `code-server` 4.139.1, the \
             editor for a browser, was not run",
        ),
        trust: Some("trust the workspace"),
        reads: &[
            by(
                "claude",
                ".config/Code/User/settings.json",
                &["chat.useClaudeHooks"],
                false,
            ),
            always("copilot"),
        ],
        ..OPEN
    },
    HostFacts {
        host: "factory",
        measured: measured("0.225.2", "2026-11-23"),
        unseen: &[calls(
            "prompts of `droid exec`: no `UserPromptSubmit` comes there (0.225.2)",
        )],
        ..OPEN
    },
    HostFacts {
        host: "windsurf",
        tried: Some(
            "2026-11-23: npm, PyPI, crates.io and Debian do not have it: npm's `windsurf` 0.0.1 is empty",
        ),
        unseen: &[calls(
            "tools that are no command, file or MCP tool: search, web, browser",
        )],
        shell: Some(Named("bash")),
        ..OPEN
    },
    HostFacts {
        host: "devin",
        tried: Some(
            "2026-11-23: npm, PyPI, crates.io and Debian do not have it: PyPI's `devin-cli` 1.5.1 is \
             another program",
        ),
        reads: &[by(
            "claude",
            ".config/devin/config.json",
            &["read_config_from", "claude"],
            true,
        )],
        ..OPEN
    },
    HostFacts {
        host: "crush",
        tried: Some(
            "2026-11-23: npm's `@charmland/crush` 0.96.1 fetches the program from GitHub, which the \
             probe cannot reach",
        ),
        unseen: SUBAGENTS,
        shell: Some(BuiltIn),
        ..OPEN
    },
    HostFacts {
        host: "goose",
        measured: measured("1.52.0", "2026-11-23"),
        closed_on: ALL,
        shell: Some(Named("sh")),
        ..OPEN
    },
    HostFacts {
        host: "agy",
        tried: Some(
            "2026-11-23: npm, PyPI, crates.io and Debian do not have it: npm's `antigravity-cli` 0.0.1 \
             is empty, PyPI's `google-antigravity` 0.1.22 is a library",
        ),
        closed_on: ALL,
        ..OPEN
    },
    HostFacts {
        host: "grok",
        measured: measured("1.0.41", "2026-11-23"),
        trust: Some(
            "have a git repository: it reads the hooks of a project nowhere else; and trust them: \
             `/hooks-trust`, or start it with `--trust`",
        ),
        reads: &[
            by(
                "claude",
                ".grok/config.toml",
                &["compat", "claude", "hooks"],
                true,
            ),
            by(
                "cursor",
                ".grok/config.toml",
                &["compat", "cursor", "hooks"],
                true,
            ),
        ],
        ..OPEN
    },
    HostFacts {
        host: "kiro",
        tried: Some(
            "2026-11-23: npm, PyPI, crates.io and Debian do not have it: PyPI's `kiro-cli` 1.0.2 is \
             another program",
        ),
        unseen: &[calls(
            "the input of a tool in Kiro's IDE: it was seen to send `{}` (1.0.165)",
        )],
        ..OPEN
    },
    HostFacts {
        host: "kimi",
        measured: measured("2.1.0", "2026-11-23"),
        ..OPEN
    },
    HostFacts {
        host: "cline",
        measured: measured("3.0.65 (command line)", "2026-11-23"),
        closed_on: &[Start, Crash],
        trust: Some("in the extension switch hooks on, and each of these in its list"),
        shell: None,
        ..OPEN
    },
    HostFacts {
        host: "opencode",
        measured: measured("1.18.33", "2026-11-23"),
        unseen: SUBAGENTS,
        ..PLUGIN
    },
    HostFacts {
        host: "kilo",
        measured: measured("7.7.9", "2026-11-23"),
        unseen: SUBAGENTS,
        ..PLUGIN
    },
    HostFacts {
        host: "amp",
        tried: Some(
            "2026-11-23: npm's `@ampcode/cli-linux-x64` 0.0.1790142911-g7618fb asks Amp's server before \
             anything else, and ends without it",
        ),
        ..PLUGIN
    },
    HostFacts {
        host: "pi",
        measured: measured("0.73.1", "2026-11-23"),
        ..PLUGIN
    },
    HostFacts {
        host: "omp",
        measured: measured("18.2.3", "2026-11-23"),
        ..PLUGIN
    },
    HostFacts {
        host: "openclaw",
        trust: Some(
            "in `openclaw.json` add the file to `plugins.load.paths`, and set \
             `plugins.entries.hookrun.hooks.allowConversationAccess` to true",
        ),
        ..PLUGIN
    },
];

/// What is known of the host that is called `name`.
pub fn of(name: &str) -> Option<&'static HostFacts> {
    FACTS.iter().find(|facts| facts.host == name)
}
