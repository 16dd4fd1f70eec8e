//! A simple command before it is known what its program runs.

use std::sync::Arc;

use super::line::{Assignment, CommandRedirect, CommandWrapper};
use super::scan::FlatText;
use super::word::Word;
use super::wrapped::Inner;

/// Where a command is.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    /// How many commands and texts it is in, at most.
    pub(super) depth: usize,
    /// The programs that it is run through.
    pub(super) through: &'p [Arc<CommandWrapper>],
    /// Whether it is surely run, and by the shell that reads the whole text.
    pub(super) is_certain: bool,
    /// Whether it is in the text of a substitution.
    pub(super) is_substituted: bool,
    /// The text that it is in.
    pub(super) flat: &'p FlatText,
}

impl Place<'_> {
    pub(super) fn uncertain(self) -> Self {
        Place {
            is_certain: false,
            ..self
        }
    }
}

/// What the stdin of a command is.
#[derive(Debug, Default, Clone)]
pub(super) enum Stdin {
    /// That of the shell: a terminal, or nothing.
    #[default]
    Inherited,
    /// A file that has a name.
    File,
    /// What another program writes, or a descriptor.
    Pipe,
    Text(String),
}

/// The words of a simple command and what is around them.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) words: Vec<Word>,
    pub(super) assigns: Vec<Assignment>,
    pub(super) redirects: Vec<CommandRedirect>,
    pub(super) stdin: Stdin,
}

impl Stdin {
    /// Whether a program that would read commands is the whole command: `bash < file` names a
    /// file.
    pub(super) fn is_of_command(&self, runs: &[Inner]) -> bool {
        runs.iter().all(|inner| match inner {
            Inner::Words(_) | Inner::Text(_) | Inner::Unknown => false,
            Inner::Stdin => matches!(self, Stdin::File),
            Inner::WrittenStdin => matches!(self, Stdin::File | Stdin::Inherited),
            Inner::ForeignStdin => matches!(self, Stdin::File | Stdin::Text(_)),
        })
    }
}

impl Parts {
    /// What `echo`, `printf` and `cat` print, where their words tell.
    pub(super) fn printed(&self) -> Option<String> {
        if self
            .words
            .iter()
            .any(|word| word.is_pattern || word.may_split)
        {
            return None;
        }
        let texts: Vec<&str> = self.words.iter().map(|word| word.value.as_str()).collect();
        match texts.as_slice() {
            ["echo", "-n" | "-e" | "-E", text @ ..] | ["echo", text @ ..] => {
                Some(text.join(" ")).filter(|text| !text.contains('\\'))
            }
            ["printf", "%s" | "%s\\n" | "%s\n", text] => Some(text.to_string()),
            ["printf", text] => Some(text.to_string()).filter(|text| !text.contains(['%', '\\'])),
            ["cat"] | ["cat", "-"] => match &self.stdin {
                Stdin::Text(text) => Some(text.clone()),
                Stdin::Inherited | Stdin::File | Stdin::Pipe => None,
            },
            _ => None,
        }
    }
}
