//! What the engine reads in a command line, without running it.

mod bash;
mod bombs;
mod forms;
mod lines;

use hookrun::internals::shell::{self, ShellCommand, ShellWord};

/// The commands of a text, one in a line: what it is run through, and its words. `?` is a word
/// that only a run knows, `…` at the end of one that may become others. A doubt comes last.
fn shown(text: &str) -> String {
    let line = shell::read(text);
    let mut lines: Vec<String> = line.commands.iter().map(command).collect();
    lines.extend(line.doubt.map(|doubt| format!("doubt: {doubt}")));
    lines.join("\n")
}

fn command(command: &ShellCommand) -> String {
    let through = command.through.iter().map(|one| format!("{}>", one.name));
    let assigns = command
        .assigns
        .iter()
        .map(|one| format!("{}={}", one.name, one.value.as_deref().unwrap_or("?")));
    let words = std::iter::once(&command.program)
        .chain(&command.args)
        .map(word);
    let redirects = command
        .redirects
        .iter()
        .map(|one| format!("{}{}", one.operator, word(&one.target)));
    through
        .chain(assigns)
        .chain(words)
        .chain(redirects)
        .collect::<Vec<_>>()
        .join(" ")
}

fn word(word: &ShellWord) -> String {
    let text = word.text.as_deref().unwrap_or("?");
    let quoted = if text.is_empty() || text.contains([' ', '\n']) {
        format!("'{text}'")
    } else {
        text.to_string()
    };
    if word.is_pattern {
        quoted + "…"
    } else {
        quoted
    }
}
