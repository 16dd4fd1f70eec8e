//! What is wrong with a configuration: file, line, column, cause and cure.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether it keeps gates closed.
    pub severity: Severity,
    /// The file or folder that it is in.
    pub file: PathBuf,
    /// Where in the file; `None` when it is about the file as a whole.
    pub at: Option<Position>,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub cure: Option<String>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
}

/// Whether a problem keeps gates closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// `run` refuses every event that can be refused until it is mended.
    Error,
    /// Something that is hardly meant; hooks run.
    Warning,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A cause and a cure, before it is known where they belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub cure: Option<String>,
}

impl Fault {
    pub(crate) fn new(cause: impl Into<String>, cure: impl Into<String>) -> Fault {
        Fault { cause: cause.into(), cure: Some(cure.into()) }
    }

    pub(crate) fn in_file(self, file: &Path, at: Option<Position>) -> Problem {
        let Fault { cause, cure } = self;
        Problem { severity: Severity::Error, file: file.to_path_buf(), at, cause, cure }
    }
}

impl Position {
    /// The position of a byte offset in `text`.
    pub(crate) fn of(text: &str, offset: usize) -> Position {
        let before = text.get(..offset.min(text.len())).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl Problem {
    /// The place, as compilers write it: `hookrun.toml:4:1`.
    pub fn place(&self) -> String {
        match self.at {
            Some(at) => format!("{}:{}:{}", self.file.display(), at.line, at.column),
            None => self.file.display().to_string(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity.name(), self.place(), self.cause)?;
        if let Some(cure) = &self.cure {
            write!(f, "\n  help: {cure}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let text = "a\nüb c\n";
        assert_eq!(Position::of(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, 5), Position { line: 2, column: 3 });
        assert_eq!(Position::of(text, 99), Position { line: 3, column: 1 });
    }
}
