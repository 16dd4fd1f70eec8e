//! What is known of a kind of settings file: nouns only.

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
    /// The top-level key that names what the file is the settings of.
    pub owner: &'static str,
    /// The convention that its commands are written for.
    pub dialect: &'static str,
    /// What the section may hold.
    pub buckets: &'static [Bucket],
    /// The key of an entry that names its action.
    pub action: &'static str,
    pub keys: &'static [EntryKey],
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
    pub key: &'static str,
    pub event: &'static str,
}

#[derive(Debug)]
pub struct EntryKey {
    pub name: &'static str,
    pub takes: EntryValue,
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryValue {
    Text,
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
    pub name: &'static str,
    pub does: Does,
    /// The key that it cannot do without.
    pub needs: Option<&'static str>,
    pub may: Option<&'static str>,
    /// The only bucket that can hold it.
    pub only_in: Option<&'static str>,
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
    Ask,
    /// Runs a command line.
    Run,
}

/// A variable by which the operator, and not the file, decides.
#[derive(Debug)]
pub struct OperatorSwitch {
    pub name: &'static str,
    pub about: &'static str,
}
