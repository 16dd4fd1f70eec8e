//! The data of a host for `hookrun install` and `doctor`: its file, its form, manual steps, and its
//! reaction if hookrun fails.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::event::HostEvent;
use super::tool::Tool;

#[derive(Debug)]
pub struct Install {
    /// The project's settings file, relative to its root; empty if the host reads none.
    pub project: &'static str,
    /// The name of the personal settings file beside it.
    pub local: Option<&'static str>,
    pub user: UserFile,
    pub form: HostForm,
    /// Events to leave out, mostly because another one covers them: both would run hooks twice.
    pub but: &'static [&'static str],
    /// Limits beyond those of its events.
    pub cannot: &'static [&'static str],
    /// Manual steps for the user.
    pub must: &'static [&'static str],
    /// Finds files and hooks that the user has not approved in the host.
    pub distrust: Option<fn(&TrustQuestion<'_>) -> Vec<Distrust>>,
    pub beside: &'static [&'static str],
    /// Keys for which the host drops the whole file if a value has another type.
    pub typed: &'static [TypedKey],
}

impl Install {
    /// A host without an installation; the base of tables.
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

    pub(super) const SETTINGS: Install = Install {
        form: HostForm::Settings,
        ..Install::NONE
    };
}

/// A key of a host's settings, as a JSON pointer, and its required type.
#[derive(Debug, Clone, Copy)]
pub struct TypedKey {
    pub pointer: &'static str,
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

#[derive(Debug, Clone, Copy)]
pub enum UserFile {
    Home(&'static str),
    /// In the variable's folder, by default the usual one in the home folder.
    Moved {
        variable: &'static str,
        usual: &'static str,
        file: &'static str,
    },
    Config(&'static str),
}

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

/// How hookrun connects to a host.
#[derive(Debug, Clone, Copy)]
pub enum HostForm {
    Nothing,
    Settings,
    Plugin(Plugin),
    /// A script for each event, named after it; the text is a template.
    Scripts(&'static str),
}

/// A program in the host that sends events to hookrun and applies its decision.
#[derive(Debug, Clone, Copy)]
pub struct Plugin {
    pub events: &'static [HostEvent],
    pub tools: &'static [Tool],
    pub text: &'static str,
}

/// An installation, for hosts that run only approved hooks.
#[derive(Clone, Copy)]
pub struct TrustQuestion<'a> {
    pub file: &'a Path,
    pub settings: &'a Value,
    pub project: Option<&'a Path>,
    pub user: &'a Path,
    pub is_own: &'a dyn Fn(&str) -> bool,
    /// Reads a JSON or TOML file; `null` if it is unreadable.
    pub read: fn(&Path) -> Value,
}

impl std::fmt::Debug for TrustQuestion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TrustQuestion")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// A missing approval: the host does not run hookrun.
#[derive(Debug)]
pub struct Distrust {
    pub file: PathBuf,
    pub cause: String,
    pub cure: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredVersion {
    pub version: &'static str,
    /// As `2026-11-22`.
    pub date: &'static str,
}

/// When a host blocks a tool because hookrun failed, with the switches that `install` sets.
/// Otherwise the tool runs, unless the command exits with status 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailsClosed {
    Never,
    /// If hookrun cannot start or is killed.
    OnCrash,
    /// Also if its output is invalid or it hangs.
    Always,
}

pub(super) const fn measured(version: &'static str, date: &'static str) -> Option<MeasuredVersion> {
    Some(MeasuredVersion { version, date })
}
