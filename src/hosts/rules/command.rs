//! What a permission rule says of a command: `git *`. A guard had better run once too often.

use std::borrow::Cow;

use regex::Regex;

use crate::engine::hook::matcher::{MatcherError, expression_error};
use crate::engine::shell::{Assignment, CommandLine, ShellCommand, ShellWord};

/// In a longer row of options nothing looks for the command's own words behind them.
const MOST_OPTIONS: usize = 64;

/// The form of a command.
#[derive(Debug, Clone)]
pub(super) struct CommandForm {
    form: Regex,
    /// A form with signs of the shell in it is about a line, and may be anywhere in one.
    within: Option<Regex>,
    /// What is before the first `*`, and whether more than the end is left open.
    start: String,
    is_open: bool,
}

impl CommandForm {
    /// `*` is any text, and what is before ` *` or `:*` at the end is enough.
    pub(super) fn read(written: &str) -> Result<CommandForm, MatcherError> {
        let (start, end) = match written
            .strip_suffix(":*")
            .or_else(|| written.strip_suffix(" *"))
        {
            Some(start) => (start, r"(?:\s.*)?"),
            None => (written, ""),
        };
        let known = start.split('*').next().unwrap_or_default().to_string();
        let is_open = start.contains('*');
        let start = start
            .split('*')
            .map(regex::escape)
            .collect::<Vec<_>>()
            .join(".*");
        let is_of_line = written.contains(['&', '|', ';', '<', '>', '\n']);
        let within = if is_of_line {
            Some(expression_of(&format!("(?s){start}"))?)
        } else {
            None
        };
        Ok(CommandForm {
            form: expression_of(&format!("(?s)^{start}{end}$"))?,
            within,
            start: known,
            is_open,
        })
    }

    /// Whether a command line, or one of the commands in it, has this form; on a gate, whether it
    /// may.
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
        commands.any(|one| self.fits_command(one, is_gate))
    }

    fn fits_command(&self, command: &ShellCommand, is_gate: bool) -> bool {
        texts(command, &self.start).into_iter().any(|one| {
            let known = one.known.and_then(|known| one.text.get(..known));
            self.form.is_match(&one.text) || is_gate && known.is_some_and(|it| self.may_begin(it))
        })
    }

    /// Whether what a word becomes when the line runs may be what this form wants.
    fn may_begin(&self, known: &str) -> bool {
        // An unknown word may also become none.
        self.start.starts_with(known)
            || self.start == known.trim_end()
            || self.is_open && known.starts_with(&self.start)
    }
}

fn expression_of(form: &str) -> Result<Regex, MatcherError> {
    Regex::new(form).map_err(|error| expression_error(&error.to_string()))
}

/// A command as a form is compared with it.
#[derive(Default)]
struct CommandText {
    text: String,
    /// How much of the text is known before the line runs, where that is not all.
    known: Option<usize>,
}

/// A word of such a text, and where it goes on as only the run knows.
#[derive(Clone)]
struct TextWord<'c> {
    text: Cow<'c, str>,
    open_at: Option<usize>,
}

/// A command with and without the folder of its program, the variables that it is given, and the
/// options before its first operand; its words unquoted, and as they are written. Those only that
/// may begin with `start`.
fn texts(command: &ShellCommand, start: &str) -> Vec<CommandText> {
    let words: Vec<&ShellWord> = std::iter::once(&command.program)
        .chain(&command.args)
        .collect();
    let before: Vec<TextWord> = command.assigns.iter().map(TextWord::of_variable).collect();
    let is_quoted = words
        .iter()
        .any(|word| word.text.as_ref() != Some(&word.written));
    let rest = [TextWord {
        text: Cow::Borrowed(""),
        open_at: Some(0),
    }];
    let mut all = Vec::new();
    for is_written in [false, true].into_iter().take(1 + usize::from(is_quoted)) {
        let words: Vec<TextWord> = words
            .iter()
            .map(|word| TextWord::read(word, is_written))
            .collect();
        let Some((program, args)) = words.split_first() else {
            continue;
        };
        for program in std::iter::once(program.clone()).chain(program.without_folder()) {
            let mut forms: Vec<(&[TextWord], &[TextWord])> = vec![(&before, args)];
            if !start.is_empty() {
                forms.push((&[], args));
            }
            if start.trim_end().contains(' ') {
                for (number, at) in starts(args).take(MOST_OPTIONS + 1).enumerate() {
                    let is_known = number < MOST_OPTIONS;
                    forms.push((&[], if is_known { &args[at..] } else { &rest }));
                }
            }
            for (before, args) in forms {
                let first = before.first().unwrap_or(&program);
                let is_open = first.open_at.is_some();
                if is_open || start.starts_with(&*first.text) || first.text.starts_with(start) {
                    let words = before.iter().chain([&program]).chain(args);
                    all.push(words.fold(CommandText::default(), CommandText::with));
                }
            }
            if start.is_empty() {
                // A form that begins with `*` takes any beginning.
                break;
            }
        }
    }
    all
}

/// Where the words after a command's options may begin: what follows one may be its value.
fn starts(args: &[TextWord<'_>]) -> impl Iterator<Item = usize> {
    let mut follows_option = false;
    let before = args.iter().take_while(move |word| {
        let is_option = word.text.starts_with('-');
        is_option | std::mem::replace(&mut follows_option, is_option)
    });
    (1..).zip(before).map(|(at, _)| at)
}

impl CommandText {
    fn with(mut self, word: &TextWord<'_>) -> CommandText {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.known = self.known.or(word.open_at.map(|at| self.text.len() + at));
        self.text.push_str(&word.text);
        self
    }
}

impl<'c> TextWord<'c> {
    fn known(text: &'c str) -> TextWord<'c> {
        TextWord {
            text: Cow::Borrowed(text),
            open_at: None,
        }
    }

    fn read(word: &'c ShellWord, is_written: bool) -> TextWord<'c> {
        match &word.text {
            Some(_) | None if is_written => TextWord::known(&word.written),
            Some(text) if word.is_pattern => {
                let open_at = text.find(['*', '?', '[']).unwrap_or_default();
                TextWord {
                    text: Cow::Borrowed(text),
                    open_at: Some(open_at),
                }
            }
            Some(text) => TextWord::known(text),
            None => TextWord {
                text: Cow::Borrowed(&word.written),
                open_at: Some(0),
            },
        }
    }

    fn of_variable(variable: &'c Assignment) -> TextWord<'c> {
        let value = variable.value.as_deref();
        let text = format!("{}={}", variable.name, value.unwrap_or_default());
        let open_at = value.is_none().then_some(text.len());
        TextWord {
            text: Cow::Owned(text),
            open_at,
        }
    }

    fn without_folder(&self) -> Option<TextWord<'c>> {
        let start = self.text[..self.open_at.unwrap_or(self.text.len())].rfind('/')? + 1;
        let text = Cow::Owned(self.text[start..].to_string());
        Some(TextWord {
            text,
            open_at: self.open_at.map(|at| at - start),
        })
    }
}
