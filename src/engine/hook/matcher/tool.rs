//! Tool matchers: kinds, names and globs.

use super::row::{Glob, Mismatch, tool_glob};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Action, ActionKind, Event};

#[derive(Debug, Clone)]
pub(super) struct ToolMatch {
    pub(super) written: String,
    pub(super) alternatives: Vec<ToolWord>,
}

#[derive(Debug, Clone)]
pub(super) enum ToolWord {
    /// Every tool of this kind.
    Class(ActionKind),
    /// This tool, in any case.
    Name(String),
    Form(Glob),
}

impl ToolMatch {
    pub(super) fn read(written: &str) -> Result<ToolMatch, Complaint> {
        let words = written.split('|').map(str::trim);
        Ok(ToolMatch {
            written: written.to_string(),
            alternatives: words.map(tool_word).collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn takes_name(&self, name: &str) -> bool {
        self.alternatives.iter().any(|word| word.takes_name(name))
    }

    pub(super) fn decide(&self, event: &Event) -> Result<(), Mismatch> {
        let name = event.given().string("toolName");
        let fits = self.alternatives.iter().any(|word| match word {
            ToolWord::Class(class) => event.action().is_some_and(|one| is_of_class(one, *class)),
            ToolWord::Name(_) | ToolWord::Form(_) => {
                name.as_deref().is_some_and(|name| word.takes_name(name))
            }
        });
        if fits {
            return Ok(());
        }
        let kind = event.action().map(|action| action.kind.word().to_string());
        let found = name.or(kind);
        Err(Mismatch::of("tool", "tool", self.written.clone(), found))
    }
}

impl ToolWord {
    fn takes_name(&self, name: &str) -> bool {
        match self {
            ToolWord::Class(kind) => ActionKind::of_tool(name) == *kind,
            ToolWord::Name(known) => name.eq_ignore_ascii_case(known),
            ToolWord::Form(form) => form.is_match(name),
        }
    }
}

/// Checks a pattern for [`Matcher::tool`](super::Matcher::tool).
pub fn check_tool(written: &str) -> Result<(), Complaint> {
    let mut words = written.split('|').map(str::trim);
    words.try_for_each(check_tool_word)
}

/// Rejects words that cannot be tool names and would never match.
fn check_tool_word(word: &str) -> Result<(), Complaint> {
    if word.is_empty() {
        return Err(Complaint::new("an alternative is empty"));
    }
    if let Some(sign) = [".*", ".+", ".?"].iter().find(|sign| word.contains(**sign)) {
        let glob = word.replace(sign, "*");
        return Err(Complaint::new(format!(
            "`tool` takes globs, not regular expressions: write `{glob}`"
        )));
    }
    if word.starts_with('.')
        || word.contains(|c: char| c.is_whitespace() || "^$(){}+,\\".contains(c))
    {
        return Err(Complaint::new(
            "a tool name cannot begin with `.`, or contain spaces or any of `^$(){}+,\\`",
        ));
    }
    tool_glob(word).map(drop)
}

/// Returns true if an action is of this kind. An unknown tool with a command line counts as a shell,
/// and a shell command with a patch also edits files.
fn is_of_class(action: &Action, class: ActionKind) -> bool {
    let edits = matches!(class, ActionKind::Edit | ActionKind::Write);
    action.kind == class
        || class == ActionKind::Shell && action.kind.is_unknown() && action.command.is_some()
        || edits && !action.patched().is_empty()
}

fn tool_word(word: &str) -> Result<ToolWord, Complaint> {
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
