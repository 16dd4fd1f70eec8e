//! What `hookrun install` needs to know of a host: its file, its form, and what is left to a person.
//! Types only.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::event::HostEvent;
use super::tool::HostTools;

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
}

#[derive(Debug, Clone, Copy)]
pub struct Beside {
    pub file: &'static str,
    /// Whether a user's settings have one too, and not only a project's.
    pub is_of_user: bool,
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
