//! Finds every simple command that a shell would run for a command text.
//!
//! `syntax` parses a text into the tree of `line`, with `quotes` for here-documents and `$'…'`;
//! `braces` and `word` expand its words, and `script` walks it.
//! `programs` is the table of known programs, by which `options` divides arguments and `wrapped`
//! finds inner commands. Nothing is executed. Text that is unreadable, too large or nested too
//! deeply puts the line in doubt.

mod braces;
mod line;
mod options;
mod programs;
mod quotes;
mod script;
mod syntax;
mod word;
mod wrapped;

pub(crate) use braces::expand_braces;
pub(crate) use line::{TOP_FOLDER, UNKNOWN_PART, found_files};
pub(crate) use options::{GivenOperand, GivenWords, OptionWord};
pub(crate) use programs::{Operands, find as find_program};
pub(crate) use word::ANY_NAME;

use script::{ScriptReader, SizeLeft};

/// Maximum bytes of all texts of a line.
const MOST_BYTES: usize = 4 << 20;

/// Maximum words and nested commands in all texts of a line.
const MOST_TOKENS: usize = 20_000;

pub use line::{Assignment, CommandLine, CommandRedirect, CommandWrapper, ShellCommand, ShellWord};

/// Parses a command line as bash does. Never fails: unreadable text is in doubt.
pub fn read(text: &str) -> CommandLine {
    read_all(&[text])
}

/// Parses several independent texts as [`read`] does. The size limit applies to all of them
/// together.
pub(crate) fn read_all(texts: &[impl AsRef<str>]) -> CommandLine {
    let mut line = CommandLine::default();
    let mut left = SizeLeft {
        bytes: MOST_BYTES,
        tokens: MOST_TOKENS,
    };
    for text in texts.iter().map(AsRef::as_ref) {
        (line, left) = ScriptReader::read(text, line, left);
    }
    line
}

/// Returns true if a program's arguments end in the command that it runs: `sudo rm x`.
pub(crate) fn is_prefix(program: &str) -> bool {
    programs::find(program).is_some_and(|row| row.is_prefix())
}

/// Returns true if a program runs a command from its arguments.
pub fn is_wrapper(program: &str) -> bool {
    programs::find(program).is_some_and(|row| row.is_wrapper())
}
