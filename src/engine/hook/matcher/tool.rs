//! Tool matchers: sorts of tools, names and globs over names.

use super::row::{Glob, MatcherError, Mismatch, tool_glob};
use crate::engine::event::{ActionKind, Event};

#[derive(Debug, Clone)]
pub(super) struct ToolMatch {
    pub(super) written: String,
    pub(super) alternatives: Vec<ToolWord>,
}

#[derive(Debug, Clone)]
pub(super) enum ToolWord {
    /// Every tool of this sort, under any name.
    Class(ActionKind),
    /// This one tool, in any case.
    Name(String),
    /// Tool names of this form.
    Form(Glob),
}

impl ToolMatch {
    /// # Errors
    /// When an alternative is empty or its glob is not valid.
    pub(super) fn read(written: &str) -> Result<ToolMatch, MatcherError> {
        let mut alternatives = Vec::new();
        for word in written.split('|').map(str::trim) {
            alternatives.push(tool_word(word)?);
        }
        Ok(ToolMatch {
            written: written.to_string(),
            alternatives,
        })
    }

    pub(super) fn decide(&self, event: &Event) -> Result<(), Mismatch> {
        let name = event.context().string("toolName");
        let kind = event.action().map(|action| action.kind);
        let fits = self.alternatives.iter().any(|word| match word {
            ToolWord::Class(class) => {
                kind == Some(*class) || class_fits_unknown(*class, event) || is_patch(*class, event)
            }
            ToolWord::Name(known) => name
                .as_deref()
                .is_some_and(|n| n.eq_ignore_ascii_case(known)),
            ToolWord::Form(form) => name.as_deref().is_some_and(|name| form.is_match(name)),
        });
        if fits {
            return Ok(());
        }
        let found = name.or_else(|| kind.map(|kind| kind.word().to_string()));
        Err(Mismatch::of("tool", "tool", self.written.clone(), found))
    }
}

/// Whether `Matcher::tool` would take `written`.
///
/// # Errors
/// As `Matcher::tool`.
pub fn check_tool(written: &str) -> Result<(), MatcherError> {
    written
        .split('|')
        .map(str::trim)
        .try_for_each(check_tool_word)
}

/// Whether a tool can have such a name: a mistake would never match.
fn check_tool_word(word: &str) -> Result<(), MatcherError> {
    let problem = |problem: &str| {
        Err(MatcherError {
            problem: problem.to_string(),
        })
    };
    if word.is_empty() {
        return problem("an alternative is empty");
    }
    if let Some(sign) = [".*", ".+", ".?"].iter().find(|sign| word.contains(**sign)) {
        let glob = word.replace(sign, "*");
        return problem(&format!(
            "it is a glob, not a regular expression: write `{glob}`"
        ));
    }
    if word.starts_with('.')
        || word.contains(|c: char| c.is_whitespace() || "^$(){}+,\\".contains(c))
    {
        return problem("no tool is called that; it is neither a list nor a regular expression");
    }
    tool_glob(word).map(drop)
}

/// An unknown tool counts as a shell if it is given a command line.
fn class_fits_unknown(class: ActionKind, event: &Event) -> bool {
    class == ActionKind::Shell
        && event
            .action()
            .is_some_and(|one| one.kind.is_unknown() && one.command.is_some())
}

/// A shell command with a patch in it edits files, too.
fn is_patch(class: ActionKind, event: &Event) -> bool {
    matches!(class, ActionKind::Edit | ActionKind::Write)
        && event
            .action()
            .is_some_and(|action| !action.patched().is_empty())
}

fn tool_word(word: &str) -> Result<ToolWord, MatcherError> {
    check_tool_word(word)?;
    if word.contains(['*', '?', '[']) {
        return Ok(ToolWord::Form(Glob::new(&tool_glob(word)?)?));
    }
    if let Some(kind) = ActionKind::from_word(word) {
        return Ok(ToolWord::Class(kind));
    }
    let kind = ActionKind::of_tool(word);
    Ok(if kind.is_unknown() {
        ToolWord::Name(word.to_string())
    } else {
        ToolWord::Class(kind)
    })
}
