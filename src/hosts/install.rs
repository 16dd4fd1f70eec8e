//! What `hookrun install` and `doctor` need to know of a host: its file, its form, what is left to a
//! person, how well it is known, what it makes of a hookrun that fails, which shell runs its commands,
//! and whose hooks it runs as well. Types, and what they say in words.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::event::HostEvent;
use super::tool::HostTools;
use HostFailure::{Crash, Nonsense, Start, Timeout};
use HostShell::{Account, BuiltIn, Named, Unstated};

/// How hookrun is installed into a host.
#[derive(Debug)]
pub struct Install {
    /// The file of a project, below its root; empty where it reads none.
    pub project: &'static str,
    pub user: UserFile,
    pub form: HostForm,
    /// Events of the host that hookrun is not installed for. Of several events for the same moment
    /// only the one that covers the others stays: two would run every hook twice.
    pub but: &'static [&'static str],
    /// What it cannot do, beyond what its events say.
    pub cannot: &'static [&'static str],
    /// What its user has to do.
    pub must: &'static [&'static str],
    /// Further keys that switch its hooks off, and the values that do.
    pub switches: &'static [(&'static str, bool)],
    /// Finds what a person has not accepted yet.
    pub distrust: Option<fn(&TrustQuestion<'_>) -> Vec<Distrust>>,
    /// Other files with hooks, in the folder of the one that hookrun is installed into.
    pub beside: &'static [Beside],
}

impl Install {
    /// A host that hookrun cannot be installed into. Tables begin with it.
    pub const NONE: Install = Install {
        project: "",
        user: UserFile::Home(""),
        form: HostForm::Nothing,
        but: &[],
        cannot: &[],
        must: &[],
        switches: &[],
        distrust: None,
        beside: &[],
    };

    /// A host that runs the commands in its settings.
    pub(super) const SETTINGS: Install = Install {
        form: HostForm::Settings,
        ..Install::NONE
    };
}

#[derive(Debug, Clone, Copy)]
pub struct Beside {
    pub file: &'static str,
    /// Whether a user's settings have one too, and not only a project's.
    pub is_of_user: bool,
}

pub(super) const fn beside(file: &'static str, is_of_user: bool) -> Beside {
    Beside { file, is_of_user }
}

/// Where the file of a user is.
#[derive(Debug, Clone, Copy)]
pub enum UserFile {
    Home(&'static str),
    /// In the folder that a variable names, else in the usual one below the home folder.
    Moved {
        variable: &'static str,
        usual: &'static str,
        file: &'static str,
    },
    Config(&'static str),
}

/// A folder of a user that a variable moves.
pub(super) const fn moved(
    variable: &'static str,
    usual: &'static str,
    file: &'static str,
) -> UserFile {
    UserFile::Moved {
        variable,
        usual,
        file,
    }
}

/// What hookrun writes into a host.
#[derive(Debug, Clone, Copy)]
pub enum HostForm {
    /// It cannot be installed.
    Nothing,
    /// Commands in the host's settings.
    Settings,
    Plugin(Plugin),
    /// A script for each event, named after it: this one, with gaps.
    Scripts(&'static str),
}

/// A program that asks hookrun in hookrun's own words, and carries the decision out in the host.
#[derive(Debug, Clone, Copy)]
pub struct Plugin {
    /// The events that it passes on.
    pub events: &'static [HostEvent],
    /// The tools that it sees, as far as they are known.
    pub tools: &'static HostTools,
    /// How it carries a decision out in the host.
    pub text: &'static str,
}

/// Where hookrun is installed, as a host sees it that runs only what a person has accepted.
#[derive(Clone, Copy)]
pub struct TrustQuestion<'a> {
    pub file: &'a Path,
    pub settings: &'a Value,
    pub project: Option<&'a Path>,
    /// The folder of the user's settings.
    pub user: &'a Path,
    /// Whether a command is hookrun's.
    pub is_own: &'a dyn Fn(&str) -> bool,
    /// Reads a JSON or TOML file; `null` where that is not possible.
    pub read: fn(&Path) -> Value,
}

impl std::fmt::Debug for TrustQuestion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TrustQuestion")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// Something that a person has not accepted: the host does not run hookrun.
#[derive(Debug)]
pub struct Distrust {
    pub file: PathBuf,
    pub cause: String,
    pub cure: &'static str,
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
