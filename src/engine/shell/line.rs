//! The nouns: what a command text would run.

/// What a command text would run, as far as that can be told without running it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// Every simple command, wherever it is, with wrappers taken off.
    pub commands: Vec<ShellCommand>,
    /// Why it may run something else too; `None` if `commands` is all.
    pub doubt: Option<String>,
}

/// One simple command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its program.
    pub program: ShellWord,
    /// The words after it. One that is not known may become any number of words.
    pub args: Vec<ShellWord>,
    /// The programs that it is run through, the outermost first.
    pub through: Vec<String>,
    /// Variables that are set for it.
    pub assigns: Vec<Assignment>,
    /// Files that it reads or writes.
    pub redirects: Vec<CommandRedirect>,
}

/// A word, its quotes taken off.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// What the program is given; `None` if only a run can tell.
    pub text: Option<String>,
    /// The word in the text of the command.
    pub written: String,
    /// Unquoted `*`, `?` or `[` in it may make other words of it.
    pub is_pattern: bool,
}

impl ShellWord {
    /// Its text, if a program is surely given just that.
    pub fn known(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| !self.is_pattern)
    }
}

/// `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub value: Option<String>,
}

/// A file that a command reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRedirect {
    /// `<`, `>`, `>>`, `<>`, `>|`, `<&`, `>&`, `&>` or `&>>`.
    pub operator: &'static str,
    pub target: ShellWord,
}

impl ShellCommand {
    /// The base name of its program; `None` if only a run can tell.
    pub fn name(&self) -> Option<&str> {
        let program = self.program.known()?;
        Some(program.rsplit('/').next().unwrap_or(program))
    }
}
