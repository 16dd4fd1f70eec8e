//! What a shell would run: every simple command of a command text, wherever it is.
//!
//! `scan` cuts substitutions and here-documents out of a text, brush-parser reads the grammar of
//! what is left and its words, `word` takes quotes off, `wrapped` tells what a program runs, and
//! `script` walks through all of it. `programs` is the table of what is known of programs,
//! `program_index` finds in it, and by it `options` divides their words. Nothing is run, and
//! a variable has a value only if the text sets it once, so much is unknown. A text that cannot be
//! read, or that is too large or too deep to read safely, leaves the line in doubt.

mod line;
mod options;
mod parse;
mod programs;
mod quotes;
mod scan;
mod script;
mod word;
mod wrapped;

pub(crate) use line::{TOP_FOLDER, UNKNOWN_PART, found_files};
pub(crate) use options::{GivenOperand, GivenWords, OptionWord};
pub(crate) use parse::expand_braces;
pub(crate) use programs::{Operands, find as find_program};

use script::{ScriptReader, SizeLeft};

/// What is read of all texts of a line together, in bytes and in the parser's tokens.
const MOST_BYTES: usize = 4 << 20;
const MOST_TOKENS: usize = 20_000;

pub use line::{Assignment, CommandLine, CommandRedirect, CommandWrapper, ShellCommand, ShellWord};

/// Reads the text of a command line as bash would. Never fails: what cannot be read is in doubt.
pub fn read(text: &str) -> CommandLine {
    read_all(&[text])
}

/// Reads several texts as [`read`] does, each on its own: none of them changes what another means.
/// What is too much for all of them together is in doubt.
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

/// Whether the words after a program end in those of the command that it runs: `sudo rm x`.
pub(crate) fn is_prefix(program: &str) -> bool {
    programs::find(program).is_some_and(|row| row.is_prefix())
}

/// Whether a program runs the one that its words name.
pub fn is_wrapper(program: &str) -> bool {
    programs::find(program).is_some_and(|row| row.is_wrapper())
}
