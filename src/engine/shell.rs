//! What a shell would run: every simple command of a command text, wherever it is.
//!
//! brush-parser reads the grammar; [`word`] takes quotes off and finds substitutions, [`braces`]
//! makes several words of one, and [`wrappers`] knows which programs run another one. Nothing is
//! run and no variable has a value, so what only a run can tell is unknown. A text that cannot be
//! read, or that is too large or too deep to read safely, leaves the line in doubt.

mod line;

#[cfg(feature = "shell")]
mod braces;
#[cfg(feature = "shell")]
mod limits;
#[cfg(feature = "shell")]
mod script;
#[cfg(feature = "shell")]
mod word;
#[cfg(feature = "shell")]
mod wrapped;
#[cfg(feature = "shell")]
mod wrappers;

pub use line::{Assignment, CommandLine, CommandRedirect, ShellCommand, ShellWord};

/// Reads the text of a command line as bash would. Never fails: what cannot be read is in doubt,
/// and so is every text where hookrun was built without its feature `shell`.
pub(crate) fn read(text: &str) -> CommandLine {
    read_all(&[text])
}

/// Reads several texts as [`read`] does, each on its own: none of them changes what another means.
pub(crate) fn read_all(texts: &[impl AsRef<str>]) -> CommandLine {
    #[cfg(feature = "shell")]
    return script::read(texts);
    #[cfg(not(feature = "shell"))]
    CommandLine {
        commands: Vec::new(),
        doubt: texts
            .iter()
            .any(|text| !text.as_ref().trim().is_empty())
            .then(|| "hookrun was built without its feature `shell`".to_string()),
    }
}

/// How many operands a program that runs another one takes before that; `None` for a program that
/// runs none.
pub(crate) fn operands_before(program: &str) -> Option<usize> {
    #[cfg(feature = "shell")]
    return wrappers::find(program).map(|row| row.operands);
    #[cfg(not(feature = "shell"))]
    None
}
