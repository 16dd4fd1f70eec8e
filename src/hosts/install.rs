//! What `hookrun install` and `doctor` need to know of a host: its file, its form, what is left to a
//! person, how well it is known, and what it makes of a hookrun that fails. Types only.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::event::HostEvent;
use super::tool::HostTools;

/// How hookrun is installed into a host.
#[derive(Debug)]
pub struct Install {
    /// The file of a project, below its root; empty where it reads none.
    pub project: &'static str,
    /// The name of the file, next to that of a project, of one person in it.
    pub local: Option<&'static str>,
    pub user: UserFile,
    pub form: HostForm,
    /// Events of the host that hookrun is not installed for. Of several events for the same moment
    /// only the one that covers the others stays: two would run every hook twice.
    pub but: &'static [&'static str],
    /// What it cannot do, beyond what its events say.
    pub cannot: &'static [&'static str],
    /// What its user has to do.
    pub must: &'static [&'static str],
    /// Finds what a person has not accepted yet.
    pub distrust: Option<fn(&TrustQuestion<'_>) -> Vec<Distrust>>,
    /// Other files with hooks, in the folder of the one that hookrun is installed into.
    pub beside: &'static [&'static str],
    /// Keys for which it drops the file, its hooks with it, unless their values are of this type.
    pub typed: &'static [TypedKey],
}

impl Install {
    /// A host that hookrun cannot be installed into. Tables begin with it.
    pub const NONE: Install = Install {
        project: "",
        local: None,
        user: UserFile::Home(""),
        form: HostForm::Nothing,
        but: &[],
        cannot: &[],
        must: &[],
        distrust: None,
        beside: &[],
        typed: &[],
    };

    /// A host that runs the commands in its settings.
    pub(super) const SETTINGS: Install = Install {
        form: HostForm::Settings,
        ..Install::NONE
    };
}

/// A key of a host's settings, as a JSON pointer, and the only values that it takes.
#[derive(Debug, Clone, Copy)]
pub struct TypedKey {
    pub pointer: &'static str,
    /// What it has to be, in words.
    pub what: &'static str,
    pub is_valid: fn(&Value) -> bool,
}

pub(super) const fn typed(
    pointer: &'static str,
    what: &'static str,
    is_valid: fn(&Value) -> bool,
) -> TypedKey {
    TypedKey {
        pointer,
        what,
        is_valid,
    }
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

/// Which version of a host was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredVersion {
    pub version: &'static str,
    /// The day, as `2026-11-22`.
    pub date: &'static str,
}

/// When a host blocks a tool by itself because hookrun has failed, with the switches that `install`
/// sets. Else it lets the tool run, unless the command says status 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailsClosed {
    Never,
    /// Where hookrun cannot be started or is killed.
    OnCrash,
    /// Also where it prints invalid output or hangs.
    Always,
}

pub(super) const fn measured(version: &'static str, date: &'static str) -> Option<MeasuredVersion> {
    Some(MeasuredVersion { version, date })
}
