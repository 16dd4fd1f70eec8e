//! Settings files of hosts: the known shapes, and what they may hold. Types only; `config` reads the
//! files by them.

pub mod files;

/// A kind of settings file that lists the files of hooks.
#[derive(Debug)]
pub struct ListingShape {
    /// What people call such a file.
    pub name: &'static str,
    /// The convention that its hooks are written for.
    pub dialect: &'static str,
    /// The top-level key of the list.
    pub section: &'static str,
    /// The top-level key of the time, in milliseconds, that hooks of this convention have which
    /// do not say so themselves; events without a time limit keep having none.
    pub timeout: &'static str,
}

/// A kind of settings file: buckets, one for each moment, that hold lists of actions.
#[derive(Debug)]
pub struct BucketShape {
    /// What people call such a file.
    pub name: &'static str,
    /// The top-level key of its hooks.
    pub section: &'static str,
    /// The convention that its commands are written for.
    pub dialect: &'static str,
    /// What the section may hold.
    pub buckets: &'static [Bucket],
    /// The key of an entry that names its action.
    pub action: &'static str,
    /// The action that runs a command line, and the key of that line.
    pub command: &'static str,
    /// The other actions, which the host does itself.
    pub not_run: &'static [&'static str],
    /// `1` in this variable: no hook of such a file runs.
    pub kill_switch: OperatorSwitch,
    /// `1` in this variable: commands may be run.
    pub commands: OperatorSwitch,
}

impl BucketShape {
    /// The variables of its operator.
    pub fn switches(&self) -> [&OperatorSwitch; 2] {
        [&self.kill_switch, &self.commands]
    }
}

/// A bucket: the hooks of one moment.
#[derive(Debug)]
pub struct Bucket {
    pub key: &'static str,
    pub event: &'static str,
}

/// A variable by which the operator, and not the file, decides.
#[derive(Debug)]
pub struct OperatorSwitch {
    pub name: &'static str,
    pub about: &'static str,
}

/// The folders of one system.
#[derive(Debug, PartialEq, Eq)]
pub struct SystemFolders {
    /// The name of its dialect, which hooks in these folders are written for.
    pub dialect: &'static str,
    /// The folder of a user, below the home folder.
    pub user: &'static str,
    /// The folder of a project, below the working directory.
    pub project: &'static str,
    /// How the names of modules end that only the system itself can load.
    pub modules: &'static [&'static str],
}
