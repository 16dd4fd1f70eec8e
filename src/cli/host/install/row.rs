//! What is known of a host that hookrun is installed into. Types only.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::hosts::Wait;
use crate::hosts::capability::ServedEvent;
use crate::hosts::plugins::PluginEvent;
use crate::hosts::settings::files::{HostFile, HostHookKey};
use serde_json::Value;

/// What this program is called where PATH finds it.
pub(crate) const NAME: &str = "hookrun";

/// The key below which hooks are, in every host.
pub(crate) const HOOKS: &str = "hooks";

/// How long a host waits for hookrun, if it allows that much. Hookrun's own deadlines come first:
/// its budget is this less a margin.
const WAIT: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(crate) struct InstallHost {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What its program is called, where that is not its name.
    pub(crate) program: Option<&'static str>,
    /// What people call it.
    pub(crate) title: &'static str,
    /// The file of a project, below its root; empty where it reads none.
    pub(crate) project: &'static str,
    pub(crate) user: UserFile,
    pub(crate) form: HostForm,
    /// Events of its dialect that hookrun is not installed for. Of several events for the same
    /// moment only the one that covers the others stays: two would run every hook twice.
    pub(crate) but: &'static [&'static str],
    pub(crate) cannot: &'static [&'static str],
    pub(crate) must: &'static [&'static str],
    /// Further keys that switch its hooks off, and the values that do.
    pub(crate) switches: &'static [(&'static str, bool)],
    pub(crate) trust: Option<fn(&TrustQuestion<'_>) -> Vec<Distrust>>,
    /// Other files with hooks, in the folder of the one that hookrun is installed into.
    pub(crate) beside: &'static [Beside],
}

impl InstallHost {
    /// A host without a file. Tables begin with it.
    pub(super) const PLAIN: InstallHost = InstallHost {
        name: "",
        program: None,
        title: "",
        project: "",
        user: UserFile::Home(""),
        form: HostForm::Plugin(PluginShape {
            events: &[],
            text: "",
        }),
        but: &[],
        cannot: &[],
        must: &[],
        switches: &[],
        trust: None,
        beside: &[],
    };
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) file: &'static str,
    /// Whether a user's settings have one too, and not only a project's.
    pub(crate) is_of_user: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum UserFile {
    Home(&'static str),
    /// In the folder that a variable names, else in the usual one below the home folder.
    Moved {
        variable: &'static str,
        usual: &'static str,
        file: &'static str,
    },
    Config(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum HostForm {
    Settings(SettingsShape),
    Plugin(PluginShape),
    /// A script for each event, named after it: this one, with gaps.
    Scripts(&'static str),
}

/// A program that asks hookrun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PluginShape {
    /// The events that it passes on.
    pub(crate) events: &'static [PluginEvent],
    /// How it carries a decision out in the host.
    pub(crate) text: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SettingsShape {
    /// Its keys and their meanings, which the reader of settings shares.
    pub(crate) file: &'static HostFile,
    /// The value of `version` at the top, as JSON, where there is one.
    pub(crate) version: Option<&'static str>,
    pub(crate) comments: Comments,
    /// Whether it reads a file that begins with a byte order mark, as far as is known.
    pub(crate) takes_mark: bool,
    /// The command has to name the event: the context does not.
    pub(crate) names_event: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// Comments, but no trailing commas.
    Read,
    Refused,
    /// Its documents do not say.
    Unknown,
}

/// Where hookrun is installed, as a host sees it that runs only what a person has accepted.
pub(crate) struct TrustQuestion<'a> {
    pub(crate) file: &'a Path,
    pub(crate) settings: &'a Value,
    pub(crate) project: Option<&'a Path>,
    pub(crate) user: &'a Path,
    pub(crate) is_own: &'a dyn Fn(&str) -> bool,
}

/// Something that a person has not accepted: the host does not run hookrun.
#[derive(Debug)]
pub(crate) struct Distrust {
    pub(crate) file: PathBuf,
    pub(crate) cause: String,
    pub(crate) cure: &'static str,
}

impl SettingsShape {
    /// A file that may or may not have comments, as far as is known.
    pub(super) const fn of(file: &'static HostFile) -> SettingsShape {
        SettingsShape {
            file,
            version: None,
            comments: Comments::Unknown,
            takes_mark: true,
            names_event: false,
        }
    }

    /// The first key of a hook with this meaning, which is the one that is written.
    pub(crate) fn key(self, says: HostHookKey) -> Option<&'static str> {
        self.file
            .hook
            .iter()
            .find(|key| key.says == says)
            .map(|key| key.name)
    }

    /// The key at the top below which hookrun's hooks are.
    pub(crate) fn table(self) -> &'static str {
        if self.file.has_sets { NAME } else { HOOKS }
    }

    pub(crate) fn command(self) -> &'static str {
        self.key(HostHookKey::Command).unwrap_or("command")
    }

    pub(crate) fn timeout(self) -> &'static str {
        self.key(HostHookKey::Time).unwrap_or("timeout")
    }

    /// The key by which a failure blocks, and its value.
    pub(crate) fn closed(self) -> Option<(&'static str, Value)> {
        self.file.hook.iter().find_map(|key| {
            if let HostHookKey::Closed(word) = key.says {
                return Some((key.name, Value::from(word)));
            }
            (key.says == HostHookKey::ClosedFlag).then(|| (key.name, Value::from(true)))
        })
    }
}

impl ServedEvent {
    /// The timeout that the host is given.
    pub(crate) fn timeout(&self) -> Duration {
        let longest = self.wait.and_then(|wait| wait.longest);
        longest.map_or(WAIT, |longest| longest.min(WAIT))
    }

    /// The budget of hookrun that goes with it, where it is not the usual one.
    pub(crate) fn budget(&self) -> Option<Duration> {
        let timeout = self.timeout();
        let differs = self.wait.is_some_and(|wait| wait.usual != timeout);
        differs.then(|| Wait::budget(timeout))
    }

    /// Whether the shell that starts hookrun blocks in its place.
    pub(crate) fn is_guarded(&self) -> bool {
        self.fails_closed && self.takes_status
    }
}
