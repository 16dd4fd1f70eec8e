//! The command form of a permission rule: `git *`. Running a guard too often is safer.

use regex::Regex;

use crate::engine::hook::matcher::{MatcherError, RunsForm, expression_error, written};
use crate::engine::shell::{CommandLine, ShellCommand};

#[derive(Debug, Clone)]
pub(super) struct CommandForm {
    form: Regex,
    /// For a form with shell operators: it matches anywhere in a line.
    within: Option<Regex>,
    /// The same form by words, with global options allowed in between.
    runs: Option<RunsForm>,
}

impl CommandForm {
    /// `*` is any text; a final ` *` or `:*` also matches nothing.
    pub(super) fn read(rule: &str) -> Result<CommandForm, MatcherError> {
        let start = rule.strip_suffix(":*").or_else(|| rule.strip_suffix(" *"));
        let end = if start.is_some() { r"(?:\s.*)?" } else { "" };
        let start = start.unwrap_or(rule);
        let parts: Vec<String> = start.split('*').map(regex::escape).collect();
        let parts = parts.join(".*");
        let is_of_line = rule.contains(['&', '|', ';', '<', '>', '\n']);
        let within = if is_of_line {
            Some(expression_of(&format!("(?s){parts}"))?)
        } else {
            None
        };
        Ok(CommandForm {
            form: expression_of(&format!("(?s)^{parts}{end}$"))?,
            within,
            runs: words_of(start).filter(|_| !is_of_line),
        })
    }

    /// Whether a command line, or a command in it, has this form; on a gate, whether it may have.
    pub(super) fn fits(&self, text: &str, line: &CommandLine, is_gate: bool) -> bool {
        if self.form.is_match(text.trim()) {
            return true;
        }
        let is_within = self.within.as_ref().is_some_and(|form| form.is_match(text));
        if is_gate && (line.doubt.is_some() || is_within) {
            return true;
        }
        let wrappers = line.wrappers();
        let mut commands = line.commands.iter().chain(&wrappers);
        let runs = self.runs.as_ref();
        commands.any(|one| self.fits_command(one))
            || runs.is_some_and(|runs| runs.find(line, is_gate, &|_| false).is_some())
    }

    /// Whether a command has this form as written or unquoted, with or without its assignments.
    fn fits_command(&self, command: &ShellCommand) -> bool {
        let words = std::iter::once(&command.program).chain(&command.args);
        let unquoted: Vec<&str> = words.map(|word| word.shown()).collect();
        let mut given = String::new();
        for one in &command.assigns {
            let value = one.value.as_deref().unwrap_or_default();
            given.push_str(&format!("{}={value} ", one.name));
        }
        let texts = [written(command), unquoted.join(" ")];
        texts
            .iter()
            .any(|text| self.form.is_match(text) || self.form.is_match(&format!("{given}{text}")))
    }
}

/// The words of a form; `*` as a word matches any number of words.
fn words_of(start: &str) -> Option<RunsForm> {
    let mut words: Vec<&str> = start.split_whitespace().collect();
    for word in words.iter_mut().skip(1) {
        if *word == "*" {
            *word = "**";
        }
    }
    RunsForm::read(&words.join(" ")).ok()
}

fn expression_of(form: &str) -> Result<Regex, MatcherError> {
    Regex::new(form).map_err(|error| expression_error(&error.to_string()))
}
