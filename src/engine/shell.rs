//! What a shell would run: every simple command of a command text, wherever it is.
//!
//! brush-parser reads the grammar from `tokens`; `word` takes quotes off and finds
//! substitutions, `braces` makes several words of one, `wrapped` tells what a program runs,
//! and `script` walks through all of it. `programs` is the table of what is known of programs,
//! `program_index` finds in it, and by it `options` divides their words. Nothing is run, and
//! a variable has a value only if the text sets it once, so much is unknown. A text that cannot be
//! read, or that is too large or too deep to read safely, leaves the line in doubt.

mod line;
mod options;
mod program_index;
#[cfg_attr(
    not(feature = "shell"),
    expect(
        dead_code,
        reason = "nothing asks what a program runs where no text is read"
    )
)]
mod programs;

#[cfg(feature = "shell")]
mod braces;
#[cfg(feature = "shell")]
mod parts;
#[cfg(feature = "shell")]
mod quotes;
#[cfg(feature = "shell")]
mod script;
#[cfg(feature = "shell")]
mod tokens;
#[cfg(feature = "shell")]
mod variables;
#[cfg(feature = "shell")]
mod word;
#[cfg(feature = "shell")]
mod wrapped;

pub(crate) use options::{GivenOperand, GivenOption, GivenWords, OptionWord};
pub(crate) use program_index::find as find_program;
pub(crate) use programs::Writes;

pub use line::{Assignment, CommandLine, CommandRedirect, CommandWrapper, ShellCommand, ShellWord};

/// Reads the text of a command line as bash would. Never fails: what cannot be read is in doubt,
/// and so is every text where hookrun was built without its feature `shell`.
pub fn read(text: &str) -> CommandLine {
    read_all(&[text])
}

/// Reads several texts as [`read`] does, each on its own: none of them changes what another means.
pub(crate) fn read_all(texts: &[impl AsRef<str>]) -> CommandLine {
    #[cfg(feature = "shell")]
    return script::read(texts);
    #[cfg(not(feature = "shell"))]
    CommandLine {
        doubt: texts
            .iter()
            .any(|text| !text.as_ref().trim().is_empty())
            .then(|| "hookrun was built without its feature `shell`".to_string()),
        ..CommandLine::default()
    }
}

/// Whether a program runs the one that its words name.
#[cfg(feature = "config")]
pub(crate) fn is_wrapper(program: &str) -> bool {
    program_index::find(program).is_some_and(|row| row.is_wrapper())
}
