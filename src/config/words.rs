//! A command string becomes the words of a command, as a shell would split it, without a shell.

use crate::engine::complaint::Complaint;

/// Characters that mean something to a shell outside quotes. A command that uses them needs
/// `shell = true`; splitting it into words would silently pass them on as arguments.
const SHELL_SYNTAX: &str = "|&;<>()$`*?[]{}~#\n";

/// Characters that mean something to a shell even within double quotes.
const QUOTED_SYNTAX: &str = "$`";

/// Splits `command` into words.
///
/// # Errors
/// When it is empty, a quote is not closed, or it needs a shell.
pub fn split(command: &str) -> Result<Vec<String>, Complaint> {
    if let Some(found) = shell_syntax(command) {
        let cure = "set `shell = true`, or quote it if it is meant literally";
        return Err(Complaint::with_cure(
            format!("`{found}` in a command needs a shell"),
            cure,
        ));
    }
    let words = shell_words::split(command).map_err(|_| {
        let cause = "a quote in the command is not closed";
        Complaint::with_cure(cause, "close it, or escape it with `\\`")
    })?;
    let Some(program) = words.first() else {
        return Err(Complaint::with_cure(
            "the command is empty",
            "write the program to run",
        ));
    };
    if program.contains('=') && !program.contains('/') {
        let cause = format!("`{program}` sets a variable, which needs a shell");
        let cure = "set `shell = true`, or use `env NAME=value program`";
        return Err(Complaint::with_cure(cause, cure));
    }
    Ok(words)
}

fn shell_syntax(command: &str) -> Option<char> {
    let mut quote: Option<char> = None;
    let mut characters = command.trim().chars();
    while let Some(c) = characters.next() {
        match quote {
            Some('\'') if c == '\'' => quote = None,
            Some('\'') => {}
            Some(_) if c == '"' => quote = None,
            Some(_) if QUOTED_SYNTAX.contains(c) => return Some(c),
            None if c == '\'' || c == '"' => quote = Some(c),
            None if SHELL_SYNTAX.contains(c) => return Some(c),
            // The character after a backslash is itself.
            Some(_) | None if c == '\\' => drop(characters.next()),
            Some(_) | None => {}
        }
    }
    None
}
