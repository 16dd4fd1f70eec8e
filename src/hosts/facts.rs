//! Facts of a host besides its events and its files: how well it is known, what it makes of a
//! hookrun that fails, what it never shows, which shell runs its commands, and whose hooks it runs as
//! well. Types, and what they say in words.

use HostFailure::{Crash, Nonsense, Start, Timeout};
use HostShell::{Account, BuiltIn, Named, Unstated};

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

    /// Which shell, in words.
    pub fn about(self) -> String {
        match self {
            Named(shell) => format!("`{shell} -c`"),
            Account => "the shell of the account".to_string(),
            BuiltIn => "a shell that is part of it".to_string(),
            Unstated => format!("not stated; `{} -c` is assumed", self.program()),
        }
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
    pub const ALL: &[HostFailure] = &[Start, Crash, Nonsense, Timeout];

    /// Whether the command that `install` writes blocks then, where status 2 blocks.
    pub fn is_guarded(self) -> bool {
        matches!(self, Start | Crash)
    }

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

pub(super) const fn measured(version: &'static str, date: &'static str) -> Option<MeasuredVersion> {
    Some(MeasuredVersion { version, date })
}

/// Another host's settings that it always reads.
pub(super) const fn always(host: &'static str) -> OtherSettings {
    OtherSettings {
        host,
        is_of_project_alone: false,
        switch: None,
    }
}

/// Another host's settings that it reads by this key.
pub(super) const fn switched(
    host: &'static str,
    file: &'static str,
    key: &'static [&'static str],
    usual: bool,
) -> OtherSettings {
    OtherSettings {
        switch: Some(ReadingSwitch { file, key, usual }),
        ..always(host)
    }
}
