//! Settings files of hosts: the shapes that are known, and what may stand in them.
//!
//! Tables only. `config` reads the files by them, and never asks what a host is called.

pub mod hosts;
mod loom;
mod pi;

pub use loom::summary;

/// Every shape of a settings file that is known, in the order in which they are tried.
pub const SHAPES: &[BucketShape] = &[loom::PROFILE];

/// Every kind of settings file that lists the files of hooks.
pub const LISTINGS: &[ListingShape] = &[pi::SETTINGS];

/// The dialect that is called `name`, if its system has settings with hooks.
pub fn whose(name: &str) -> Option<&'static str> {
    let systems = SHAPES.iter().map(|shape| shape.dialect);
    let mut systems = systems.chain(LISTINGS.iter().map(|listing| listing.dialect));
    let of_host = hosts::of(name).map(|host| host.dialect);
    of_host.or_else(|| systems.find(|dialect| *dialect == name))
}

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

/// Variables that move the folder of a user's settings of a host (documents of Claude Code and
/// Codex).
pub const FOLDERS: &[&str] = &["CLAUDE_CONFIG_DIR", "CODEX_HOME"];

/// A kind of settings file: buckets, one for each moment, that hold lists of actions.
#[derive(Debug)]
pub struct BucketShape {
    /// What people call such a file.
    pub name: &'static str,
    /// The top-level key below which its hooks stand.
    pub section: &'static str,
    /// The top-level key that names what the file is the settings of.
    pub owner: &'static str,
    /// The convention that its commands are written for.
    pub dialect: &'static str,
    /// What may stand in the section.
    pub buckets: &'static [Bucket],
    /// The key of an entry that names its action.
    pub action: &'static str,
    /// The other keys of an entry.
    pub keys: &'static [EntryKey],
    /// What an entry can do.
    pub actions: &'static [EntryAction],
    /// `1` in this variable: no hook of such a file runs.
    pub kill_switch: OperatorSwitch,
    /// `1` in this variable: commands may be run.
    pub commands: OperatorSwitch,
    /// URL prefixes in this variable, divided by commas: nothing is sent elsewhere.
    pub destinations: OperatorSwitch,
}

impl BucketShape {
    /// The variables of its operator.
    pub fn switches(&self) -> [&OperatorSwitch; 3] {
        [&self.kill_switch, &self.commands, &self.destinations]
    }
}

/// A bucket: the hooks of one moment.
#[derive(Debug)]
pub struct Bucket {
    /// Its key.
    pub key: &'static str,
    /// The canonical name of the event.
    pub event: &'static str,
}

/// A key of an entry.
#[derive(Debug)]
pub struct EntryKey {
    /// The key.
    pub name: &'static str,
    /// What it takes.
    pub takes: EntryValue,
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryValue {
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// One of these words; the first where the key is missing.
    OneOf(&'static [&'static str]),
}

impl EntryValue {
    /// What is expected, for messages.
    pub fn describe(self) -> String {
        match self {
            EntryValue::Text => "a string".to_string(),
            EntryValue::Texts => "a list of strings".to_string(),
            EntryValue::OneOf(words) => format!("one of \"{}\"", words.join("\", \"")),
        }
    }
}

/// Something that an entry can do.
#[derive(Debug)]
pub struct EntryAction {
    /// The word for it.
    pub name: &'static str,
    /// What it is.
    pub does: Does,
    /// The key that it cannot do without.
    pub needs: Option<&'static str>,
    /// A key that it may have.
    pub may: Option<&'static str>,
    /// The only bucket that it can stand in.
    pub only_in: Option<&'static str>,
    /// What it does, for people.
    pub about: &'static str,
}

/// What an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Writes a line into the log of actions.
    Log,
    /// Appends the event to a file.
    Save,
    /// Sends the event to a URL.
    Post,
    /// Asks a person.
    Ask,
    /// Runs a command line.
    Run,
}

/// A variable by which the operator, and not the file, decides.
#[derive(Debug)]
pub struct OperatorSwitch {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::catalog;

    #[test]
    fn the_tables_hang_together() {
        for shape in SHAPES {
            for bucket in shape.buckets {
                assert!(catalog::EVENTS.iter().any(|spec| spec.name == bucket.event), "{bucket:?}");
            }
            for action in shape.actions {
                for key in [action.needs, action.may].into_iter().flatten() {
                    assert!(shape.keys.iter().any(|known| known.name == key), "{action:?}");
                }
                if let Some(only) = action.only_in {
                    assert!(shape.buckets.iter().any(|bucket| bucket.key == only), "{action:?}");
                }
            }
        }
    }
}
