//! What is known of a hook of git, and what git gives it.

use std::ffi::OsString;
use std::path::PathBuf;

/// One hook of git.
#[derive(Debug, PartialEq, Eq)]
pub struct GitHook {
    /// What git calls it: the name of its file.
    pub name: &'static str,
    pub event: &'static str,
    pub arguments: &'static [Argument],
    /// What is in a line on its stdin.
    pub lines: Option<StdinLines>,
    /// Which paths change if it lets it happen.
    pub changes: Changes,
    /// When `install` writes it.
    pub presence: Presence,
    /// Whether its context says which branch is checked out, and which operation is in progress.
    pub has_head: bool,
    /// The operation that it is always part of.
    pub operation: Option<&'static str>,
}

/// What one argument of a hook says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// The text of this key. One that git leaves out is an empty text.
    Text(&'static str),
    /// Whether this key holds: `1` or `0`.
    Flag(&'static str),
    /// The file of the commit message; it becomes `filePath`, its text `message`.
    MessageFile,
    /// All arguments that are left, as a list under this key.
    Rest(&'static str),
}

impl Argument {
    /// The key under which a hook finds it.
    pub fn key(&self) -> &'static str {
        match self {
            Argument::Text(key) | Argument::Flag(key) | Argument::Rest(key) => key,
            Argument::MessageFile => "filePath",
        }
    }
}

/// What the lines on a hook's stdin say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StdinLines {
    /// The key of the list that they become.
    pub key: &'static str,
    /// The keys of the words of a line. Only the first word may have spaces in it (`:/some text`
    /// in a push).
    pub words: &'static [&'static str],
}

/// What the presence of a hook's file means to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Nothing but that it is run.
    Plain,
    /// It is run so often that it should be there only for a hook that wants it.
    Costly,
    /// git leaves to it what it otherwise does itself.
    Replaces,
}

/// What git gave a hook.
#[derive(Debug, Clone, Default)]
pub struct GitInput {
    pub arguments: Vec<OsString>,
    /// What was on stdin, for hooks that have a row of lines.
    pub stdin: Vec<u8>,
    /// The folder in which git runs the hook.
    pub cwd: PathBuf,
    /// The variables with names that begin with `GIT_`.
    pub variables: Vec<(String, String)>,
    /// The text in the message file, for hooks that have one.
    pub message: Option<Vec<u8>>,
}

/// What git gave is not what its manual describes, so no policy could tell what is about to happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("git gave {hook} something unexpected: {problem}")]
pub struct GitError {
    pub hook: &'static str,
    pub problem: String,
}

/// Where the changed paths of an event are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// Nothing is known of paths.
    Unknown,
    /// What is staged, against the commit that is checked out.
    Index,
    /// The commits that are about to be sent, and that the remote does not have as far as is
    /// known here.
    Sent,
    /// The commits that have arrived and that no reference holds yet.
    Received,
}

impl GitHook {
    pub(super) const fn lines(mut self, lines: StdinLines) -> GitHook {
        self.lines = Some(lines);
        self
    }

    pub(super) const fn changes(mut self, changes: Changes) -> GitHook {
        self.changes = changes;
        self
    }

    pub(super) const fn with_head(mut self) -> GitHook {
        self.has_head = true;
        self
    }

    pub(super) const fn within(mut self, operation: &'static str) -> GitHook {
        self.operation = Some(operation);
        self
    }

    pub(super) const fn presence(mut self, presence: Presence) -> GitHook {
        self.presence = presence;
        self
    }

    pub(super) fn wrong(&self, problem: &str) -> GitError {
        GitError {
            hook: self.name,
            problem: problem.to_string(),
        }
    }
}
