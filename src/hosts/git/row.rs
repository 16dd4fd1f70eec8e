//! The row of a git hook, and its input.

use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, PartialEq, Eq)]
pub struct GitHook {
    pub name: &'static str,
    pub event: &'static str,
    pub arguments: &'static [Argument],
    pub lines: Option<StdinLines>,
    pub changes: Changes,
    pub presence: Presence,
    /// Whether its context has the branch and the operation in progress.
    pub has_head: bool,
    /// The operation it always belongs to.
    pub operation: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A text under this key; empty if git omits it.
    Text(&'static str),
    /// A boolean under this key: `1` or `0`.
    Flag(&'static str),
    /// The commit message file: the context gets `filePath`, and its text as `message`.
    MessageFile,
    /// The remaining arguments, as a list under this key.
    Rest(&'static str),
}

impl Argument {
    pub fn key(&self) -> &'static str {
        match self {
            Argument::Text(key) | Argument::Flag(key) | Argument::Rest(key) => key,
            Argument::MessageFile => "filePath",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StdinLines {
    pub key: &'static str,
    /// The keys of a line's words. Only the first word may contain spaces (`:/some text` in a
    /// push).
    pub words: &'static [&'static str],
}

/// How git treats the presence of a hook's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// git runs it and changes nothing else.
    Plain,
    /// git runs it so often that it is installed only for existing hooks.
    Costly,
    /// git leaves its own work to the hook.
    Replaces,
}

#[derive(Debug, Clone, Default)]
pub struct GitInput {
    pub arguments: Vec<OsString>,
    pub stdin: Vec<u8>,
    pub cwd: PathBuf,
    pub variables: Vec<(String, String)>,
    pub message: Option<Vec<u8>>,
}

/// The input from git contradicts its manual, so no policy can tell what is about to happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("git gave {hook} something unexpected: {problem}")]
pub struct GitError {
    pub hook: &'static str,
    pub problem: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    Unknown,
    /// Staged changes against `HEAD`.
    Index,
    /// Commits to push that the remote, as far as known here, does not have.
    Sent,
    /// Received commits without a ref yet.
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
