//! `runs`: patterns for commands, word by word.
//!
//! The first word is the program's base name. Words with a `-` are options, anywhere; others are
//! operands, in order, which more may follow. `|` separates alternatives; `*`, `?` and `[…]` match
//! characters, `**` any number of operands, and a final `$` their end. `--option=VALUE` and
//! `-o=VALUE` require a value, in any notation.

use super::row::{has_form, may_have_form};
use crate::engine::complaint::Complaint;
use crate::engine::shell::{
    CommandLine, CommandWrapper, GivenOperand, GivenWords, OptionWord, ShellCommand, ShellWord,
    is_prefix,
};

#[derive(Debug, Clone)]
pub(crate) struct RunsForm {
    pub(super) written: String,
    program: Vec<String>,
    options: Vec<Vec<OptionForm>>,
    operands: Vec<OperandForm>,
}

#[derive(Debug, Clone)]
struct OptionForm {
    /// With its `-`.
    name: String,
    value: Option<String>,
}

#[derive(Debug, Clone)]
enum OperandForm {
    /// One word that matches an alternative.
    Word(Vec<String>),
    /// `**`: any number of words.
    Rest,
    /// `$`: no more words.
    End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunsMatch {
    /// Source of the command, with wrappers such as `sudo`; `None` if the line is unreadable.
    pub(crate) command: Option<String>,
    pub(crate) program: Option<String>,
    /// Unknown part: `cannot tell what …`.
    pub(crate) doubt: Option<String>,
}

/// Degree of a match, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    /// An unknown word may make it match.
    Maybe,
    Yes,
}

impl Fit {
    fn only_if(self, is_met: bool) -> Fit {
        if is_met { self } else { Fit::No }
    }
}

impl RunsForm {
    /// Parses a pattern. Fails if it is empty, begins with an option, has an empty alternative,
    /// `--`, alternatives of options and operands, or a word after `$`.
    pub(crate) fn read(written: &str) -> Result<RunsForm, Complaint> {
        let words = shell_words::split(written);
        let words = words.map_err(|_| Complaint::new("a quote is not closed"))?;
        let Some((program, rest)) = words.split_first() else {
            return Err(Complaint::new("it does not name a program"));
        };
        if program.starts_with('-') || matches!(program.as_str(), "$" | "**") {
            return Err(Complaint::new(
                "it must begin with a program, or with `*` for any",
            ));
        }
        // A group of a regular expression.
        let mut groups = rest
            .iter()
            .filter(|word| word.starts_with('(') && word.ends_with(')'));
        if let Some(group) = groups.find(|word| word.contains('|')) {
            let problem = format!("`{group}` has parentheses, which are not allowed");
            return Err(Complaint::new(problem));
        }
        let program = alternatives(program)?;
        let mut options = Vec::new();
        let mut operands = Vec::new();
        for word in rest {
            if matches!(operands.last(), Some(OperandForm::End)) {
                return Err(Complaint::new("`$` marks the end, but a word follows it"));
            }
            let all = alternatives(word)?;
            match word.as_str() {
                "$" => operands.push(OperandForm::End),
                "**" => operands.push(OperandForm::Rest),
                "--" => {
                    return Err(Complaint::new(
                        "`--` is neither an option nor an operand; leave it out",
                    ));
                }
                _ if all.iter().all(is_option) => {
                    let forms: Vec<OptionForm> =
                        all.iter().map(|one| OptionForm::read(one)).collect();
                    if forms.iter().any(|one| one.value.is_some() && one.is_form()) {
                        return Err(Complaint::new(
                            "the name of an option with a value cannot have `*`, `?` or `[`",
                        ));
                    }
                    options.push(forms);
                }
                _ if all.iter().any(is_option) => {
                    return Err(Complaint::new(
                        "an option and an operand cannot be alternatives in one word",
                    ));
                }
                _ => operands.push(OperandForm::Word(all)),
            }
        }
        Ok(RunsForm {
            written: written.to_string(),
            program,
            options,
            operands,
        })
    }

    /// Returns the first matching command that is not left out. With `in_doubt`, else a possible
    /// match.
    pub(crate) fn find(
        &self,
        line: &CommandLine,
        in_doubt: bool,
        is_left_out: &dyn Fn(&ShellCommand) -> bool,
    ) -> Option<RunsMatch> {
        let mut doubtful = None;
        for command in line.commands.iter().filter(|command| !is_left_out(command)) {
            match self.fit(command) {
                Fit::Yes => return Some(self.found(command)),
                Fit::Maybe if doubtful.is_none() => doubtful = Some(command),
                Fit::Maybe | Fit::No => {}
            }
        }
        if !in_doubt {
            return None;
        }
        if let Some(command) = doubtful {
            return Some(RunsMatch {
                command: Some(whole(command)),
                program: Some(command.program.written.clone()),
                doubt: Some(doubt_about(command)),
            });
        }
        let why = line.doubt.as_ref()?;
        Some(RunsMatch {
            command: None,
            program: None,
            doubt: Some(format!("cannot tell what the command line runs: {why}")),
        })
    }

    pub(super) fn meets(&self, command: &ShellCommand) -> bool {
        let mut names = self.options.iter().flatten().map(|option| &option.name);
        self.fit(command) == Fit::Yes && !names.any(|name| is_switched_off(name, command))
    }

    fn fit(&self, command: &ShellCommand) -> Fit {
        let through = command.through.iter().map(|one| self.fit_wrapper(one));
        through
            .max()
            .unwrap_or(Fit::No)
            .max(self.fit_command(command))
    }

    fn fit_command(&self, command: &ShellCommand) -> Fit {
        let program = match (command.name(), command.program.known()) {
            (Some(name), Some(whole)) => Fit::Yes.only_if(self.is_program(name, whole)),
            _ => self.unknown_program(&command.program),
        };
        if program == Fit::No {
            return Fit::No;
        }
        // An unknown program may have any words.
        let known = known_name(&command.program.written);
        let name = command.name().or(known);
        if name.is_none() && command.program.text.is_none() {
            return Fit::Maybe;
        }
        let given = GivenWords::read(name.unwrap_or_default(), &command.args);
        let before_dashes = given.before_dashes.unwrap_or(given.operands.len());
        let has_open = given.operands[..before_dashes].iter().any(|operand| {
            let is_known = operand.word.known().is_some() || operand.word.is_plain;
            !is_known && matches!(operand.word.beginning(), "" | "-")
        });
        program.min(self.fit_words(&given, Fit::Maybe.only_if(has_open)))
    }

    /// Like [`RunsForm::fit_command`]. Unknown words of a wrapper are not options: otherwise its
    /// command could not be located.
    fn fit_wrapper(&self, wrapper: &CommandWrapper) -> Fit {
        if !self.is_program(&wrapper.name, &wrapper.name) {
            return Fit::No;
        }
        self.fit_words(&GivenWords::read(&wrapper.name, &wrapper.args), Fit::No)
    }

    /// `least` is the match of an option that is not found.
    fn fit_words(&self, given: &GivenWords<'_>, least: Fit) -> Fit {
        let mut whole = fit_operands(&given.operands, &self.operands);
        for forms in &self.options {
            let fits = forms.iter().map(|form| form.fit(&given.words));
            whole = whole.min(fits.max().unwrap_or(Fit::No).max(least));
        }
        whole
    }

    /// Returns the match of a command or one of its wrappers.
    fn found(&self, command: &ShellCommand) -> RunsMatch {
        let mut through = command.through.iter();
        let wrapper = through.find(|one| self.fit_wrapper(one) > self.fit_command(command));
        let (words, program) = match wrapper {
            Some(wrapper) => (joined(&wrapper.name, &wrapper.args), wrapper.name.clone()),
            None => (whole(command), command.program.written.clone()),
        };
        RunsMatch {
            command: Some(words),
            program: Some(program),
            doubt: None,
        }
    }

    pub(super) fn may_meet(&self, command: &ShellCommand) -> bool {
        self.fit(command) > Fit::No
    }

    fn is_program(&self, name: &str, whole: &str) -> bool {
        let mut forms = self.program.iter();
        forms.any(|form| has_form(form, if form.contains('/') { whole } else { name }))
    }

    fn unknown_program(&self, program: &ShellWord) -> Fit {
        if let Some(name) = known_name(&program.written) {
            return Fit::Yes.only_if(self.is_program(name, &program.written));
        }
        let start = match (&program.text, program.is_pattern) {
            (Some(text), true) => text.rsplit('/').next().unwrap_or_default(),
            _ => "",
        };
        let start = start.split(['*', '?', '[']).next().unwrap_or_default();
        Fit::Maybe.only_if(self.program.iter().any(|form| may_have_form(form, start)))
    }
}

/// Returns true for `--dry-run=false`, `--dry-run false` and `--no-dry-run`.
fn is_switched_off(name: &str, command: &ShellCommand) -> bool {
    const OFF: &[&str] = &["false", "0", "no", "none", "off"];
    let Some(long) = name.strip_prefix("--") else {
        return false;
    };
    let words = command
        .args
        .iter()
        .map(|word| word.known().unwrap_or_default());
    let words: Vec<&str> = words.collect();
    let next = words.iter().skip(1).copied().chain([""]);
    words.iter().zip(next).any(|(word, next)| {
        let value = word
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('='));
        let value = value.or((*word == name).then_some(next));
        value.is_some_and(|value| OFF.contains(&value.to_ascii_lowercase().as_str()))
            || word.strip_prefix("--no-") == Some(long)
    })
}

fn alternatives(word: &str) -> Result<Vec<String>, Complaint> {
    let all: Vec<String> = word.split('|').map(str::to_string).collect();
    if all.iter().any(String::is_empty) {
        return Err(Complaint::new("an alternative is empty"));
    }
    Ok(all)
}

fn is_option(word: &String) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

impl OptionForm {
    fn read(written: &str) -> OptionForm {
        let mut parts = written.splitn(2, '=').map(str::to_string);
        OptionForm {
            name: parts.next().unwrap_or_default(),
            value: parts.next(),
        }
    }

    fn fit(&self, words: &[OptionWord<'_>]) -> Fit {
        if self.is_form() {
            return self.fit_form(words);
        }
        let letters = self.name.strip_prefix('-');
        let letters = letters.filter(|rest| !rest.starts_with('-'));
        let whole = self.fit_words(&self.name, words);
        let Some(letters) = letters else { return whole };
        let mut names = words.iter().map(|word| word.text.split('=').next());
        if self.value.is_none() && names.any(|name| name == Some(&self.name)) {
            return Fit::Yes;
        }
        // All letters, or the one with the value.
        let wanted = self.value.as_ref().map_or(letters.len(), |_| 1);
        let each = letters.chars().take(wanted);
        let each = each.map(|letter| self.fit_words(letter.encode_utf8(&mut [0; 4]), words));
        whole.max(each.min().unwrap_or(Fit::No))
    }

    fn is_form(&self) -> bool {
        self.name.contains(['*', '?', '['])
    }

    /// Matches a name with `*`, `?` or `[…]` as it is written, abbreviations included.
    fn fit_form(&self, words: &[OptionWord<'_>]) -> Fit {
        let mut fit = Fit::No;
        for word in words {
            let name = word.text.split('=').next().unwrap_or_default();
            if has_form(&self.name, name) {
                return Fit::Yes;
            }
            if word.is_open && may_have_form(&self.name, word.text) {
                fit = Fit::Maybe;
            }
        }
        fit
    }

    fn fit_words(&self, name: &str, words: &[OptionWord<'_>]) -> Fit {
        let fits = words.iter().map(|word| self.fit_word(name, word));
        fits.max().unwrap_or(Fit::No)
    }

    /// Matches an option and its value in one word.
    fn fit_word(&self, name: &str, word: &OptionWord<'_>) -> Fit {
        let mut options = word.options.iter();
        let Some(option) = options.find(|option| word.row.is_named(option.name, name)) else {
            // More letters, or the rest of a long option, may follow.
            let may_follow = match word.text.strip_prefix("--") {
                Some(_) => name.starts_with(word.text),
                None => !name.starts_with('-') && !word.ends_in_value(),
            };
            return Fit::Maybe.only_if(word.is_open && may_follow);
        };
        let Some(value) = &self.value else {
            let is_whole = !word.is_open || !name.starts_with('-') || option.rest.is_some();
            return if is_whole { Fit::Yes } else { Fit::Maybe };
        };
        let rest = option.rest;
        let rest = rest.map(|rest| rest.strip_prefix('=').unwrap_or(rest));
        let joined = match word.is_open {
            true => Some(Given::Begins(rest.unwrap_or_default())),
            false => rest.map(Given::Known),
        };
        let given = joined.into_iter().chain(word.next.map(Given::read));
        let fits = given.map(|given| given.fits(std::slice::from_ref(value)));
        fits.max().unwrap_or(Fit::No)
    }
}

/// Returns the base name of a program in an unknown folder: `"$HOME"/bin/tool`.
fn known_name(written: &str) -> Option<&str> {
    let name = written.trim_end_matches('"').rsplit_once('/')?.1;
    let mut chars = name.chars();
    let is_plain = chars.all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
    (!name.is_empty() && is_plain).then_some(name)
}

/// Returns the source of a command with its wrappers: `sudo rm x`.
pub(super) fn whole(command: &ShellCommand) -> String {
    let before = command.through.iter().rev();
    match before.take_while(|wrapper| is_prefix(&wrapper.name)).last() {
        Some(wrapper) => joined(&wrapper.name, &wrapper.args),
        None => written(command),
    }
}

/// Returns the source of a command, or of the wrapper that reads an unknown command.
pub(crate) fn written(command: &ShellCommand) -> String {
    match command.through.last() {
        Some(wrapper) if matches!(command.program.written.as_str(), "" | "…") => {
            joined(&wrapper.name, &wrapper.args)
        }
        Some(_) | None => joined(&command.program.written, &command.args),
    }
}

fn joined(program: &str, args: &[ShellWord]) -> String {
    let words = std::iter::once(program).chain(args.iter().map(|word| word.written.as_str()));
    words.collect::<Vec<_>>().join(" ")
}

fn doubt_about(command: &ShellCommand) -> String {
    if command.program.known().is_none() {
        let name = match command.program.written.as_str() {
            "" | "…" => command.through.last().map_or("it", |one| &one.name),
            written => written,
        };
        return format!("cannot tell what `{name}` runs");
    }
    let whole = written(command);
    match command.args.iter().find(|word| word.known().is_none()) {
        Some(word) => format!("cannot tell what `{}` is in `{whole}`", word.written),
        None => format!("cannot tell which words of `{whole}` belong to its options"),
    }
}

#[derive(Debug, Clone, Copy)]
enum Given<'c> {
    Known(&'c str),
    Begins(&'c str),
    /// One word that begins with a letter or digit.
    Plain,
    Open,
}

impl<'c> Given<'c> {
    fn read(word: &'c ShellWord) -> Given<'c> {
        if let Some(text) = word.known() {
            return Given::Known(text);
        }
        let is_quoted = word.written.starts_with('"') && word.written.ends_with('"');
        match word.beginning() {
            "" if word.is_plain => Given::Plain,
            "" if !is_quoted && !word.is_pattern => Given::Open,
            start => Given::Begins(start),
        }
    }

    fn fits(self, forms: &[String]) -> Fit {
        match self {
            Given::Known(text) if forms.iter().any(|form| has_word(form, text)) => Fit::Yes,
            Given::Known(_) => Fit::No,
            Given::Begins(start) if !forms.iter().any(|form| may_have_form(form, start)) => Fit::No,
            Given::Plain if forms.iter().all(|form| form.starts_with(['+', '-', ':'])) => Fit::No,
            Given::Begins(_) | Given::Plain | Given::Open => Fit::Maybe,
        }
    }
}

/// Like `has_form`, but git configuration keys ignore case.
fn has_word(form: &str, text: &str) -> bool {
    let is_key = form.starts_with(|c: char| c.is_ascii_alphabetic()) && form.contains('.');
    has_form(form, text)
        || is_key && has_form(&form.to_ascii_lowercase(), &text.to_ascii_lowercase())
}

/// Matches the operands' beginning, by dynamic programming over suffixes of pattern and operands.
fn fit_operands(given: &[GivenOperand<'_>], forms: &[OperandForm]) -> Fit {
    // Without patterns left, every rest matches.
    let mut below = vec![Fit::Yes; given.len() + 1];
    for form in forms.iter().rev() {
        let mut row = vec![Fit::No; given.len() + 1];
        for at in (0..=given.len()).rev() {
            let skipped = row.get(at + 1).copied().unwrap_or(Fit::No);
            row[at] = match (form, given.get(at)) {
                (OperandForm::Rest | OperandForm::End, None) => below[at],
                (OperandForm::Word(_), None) => Fit::No,
                (OperandForm::Rest, Some(_)) => below[at].max(skipped),
                (OperandForm::Word(_) | OperandForm::End, Some(one)) => {
                    let word = Given::read(one.word);
                    let is_open = matches!(word, Given::Open);
                    // An open word may be empty, or this word and more.
                    let none = below[at].min(Fit::Maybe).only_if(is_open);
                    let taken = match form {
                        OperandForm::Word(words) => {
                            let usual = one.usual_name.map(Given::Known);
                            let usual = usual.map_or(Fit::No, |usual| usual.fits(words));
                            word.fits(words).max(usual).min(below[at + 1]).max(none)
                        }
                        OperandForm::Rest | OperandForm::End => Fit::No,
                    };
                    let is_passed = is_open || one.may_be_value;
                    taken.max(skipped.min(Fit::Maybe).only_if(is_passed))
                }
            };
        }
        below = row;
    }
    below[0]
}
