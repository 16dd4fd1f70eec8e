//! `runs`: which commands a hook is about, word by word.
//!
//! The first word is the program, by its base name. Words with a `-` are options, which may be
//! anywhere; the others are operands, in their order, and more of them may follow. `|` divides
//! alternatives, `*`, `?` and `[…]` stand for characters of a word, `**` for any number of
//! operands, and a last `$` for the end of the operands. `--option=VALUE` and `-o=VALUE` also want
//! a value, however it is given.

use super::programs::{self, ProgramOptions};
use super::row::MatcherError;
use super::wild;
use crate::engine::shell::{CommandLine, CommandWrapper, ShellCommand, ShellWord};

/// The commands that are meant.
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
    /// One word, of one of these forms.
    Word(Vec<String>),
    /// Any number of words: `**`.
    Rest,
    /// No word: `$`.
    End,
}

/// A command that is meant, or that may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunsMatch {
    /// The command as it is written, or the whole line where that cannot be read.
    pub(crate) command: Option<String>,
    /// What cannot be told, in words that follow "cannot tell".
    pub(crate) doubt: Option<String>,
}

/// How far something matches, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    /// A word that only a run can tell may make it match.
    Maybe,
    Yes,
}

impl RunsForm {
    /// Reads a form.
    ///
    /// # Errors
    /// When it is empty, begins with an option, has an empty alternative, an option that is no
    /// option, or a word after the `$`.
    pub(super) fn read(written: &str) -> Result<RunsForm, MatcherError> {
        let wrong = |problem: &str| MatcherError { problem: problem.to_string() };
        let words = shell_words::split(written).map_err(|_| wrong("a quote is not closed"))?;
        let Some((program, rest)) = words.split_first() else {
            return Err(wrong("it names no program"));
        };
        if program.starts_with('-') || matches!(program.as_str(), "$" | "**") {
            return Err(wrong("it begins with the program, or with `*` for any"));
        }
        let alternatives = |word: &str| -> Result<Vec<String>, MatcherError> {
            let all: Vec<String> = word.split('|').map(str::to_string).collect();
            if all.iter().any(String::is_empty) {
                return Err(wrong("an alternative is empty"));
            }
            Ok(all)
        };
        let (mut options, mut operands) = (Vec::new(), Vec::new());
        for word in rest {
            if matches!(operands.last(), Some(OperandForm::End)) {
                return Err(wrong("`$` is the end, and a word follows it"));
            }
            let all = alternatives(word)?;
            let is_option = |word: &String| word.len() > 1 && word.starts_with('-') && word != "--";
            match word.as_str() {
                "$" => operands.push(OperandForm::End),
                "**" => operands.push(OperandForm::Rest),
                "--" => {
                    return Err(wrong("`--` is neither an option nor an operand; leave it out"));
                }
                _ if all.iter().all(is_option) => {
                    options.push(all.iter().map(|one| OptionForm::read(one)).collect());
                }
                _ if all.iter().any(is_option) => {
                    return Err(wrong("options and operands cannot be alternatives of each other"));
                }
                _ => operands.push(OperandForm::Word(all)),
            }
        }
        let program = alternatives(program)?;
        Ok(RunsForm { written: written.to_string(), program, options, operands })
    }

    /// The first command of a line that is meant and not left out. With `in_doubt`, else one that
    /// may be.
    pub(super) fn find(
        &self,
        line: &CommandLine,
        in_doubt: bool,
        is_left_out: &dyn Fn(&ShellCommand) -> bool,
    ) -> Option<RunsMatch> {
        let mut doubtful = None;
        for command in line.commands.iter().filter(|command| !is_left_out(command)) {
            match self.fit(command) {
                Fit::Yes => {
                    return Some(RunsMatch { command: Some(self.words(command)), doubt: None });
                }
                Fit::Maybe if doubtful.is_none() => doubtful = Some(command),
                Fit::Maybe | Fit::No => {}
            }
        }
        let maybe = doubtful.map(|command| RunsMatch {
            command: Some(written(command)),
            doubt: Some(what_cannot_be_told(command)),
        });
        let whole = || {
            let why = line.doubt.as_ref()?;
            Some(RunsMatch { command: None, doubt: Some(format!("all that it runs: {why}")) })
        };
        maybe.or_else(whole).filter(|_| in_doubt)
    }

    /// Whether this command surely is one that is meant.
    pub(super) fn meets(&self, command: &ShellCommand) -> bool {
        self.fit(command) == Fit::Yes
    }

    fn fit(&self, command: &ShellCommand) -> Fit {
        let through = command.through.iter().map(|wrapper| self.fit_wrapper(wrapper));
        through.max().unwrap_or(Fit::No).max(self.fit_command(command))
    }

    fn fit_command(&self, command: &ShellCommand) -> Fit {
        let program = match (command.name(), command.program.known()) {
            (Some(name), Some(whole)) if self.is_program(name, whole) => Fit::Yes,
            (Some(_), Some(_)) => Fit::No,
            _ => self.unknown_program(&command.program),
        };
        if program == Fit::No {
            return Fit::No;
        }
        // What an unknown program is may bring any words with it.
        let name = command.name().or_else(|| known_name(&command.program.written));
        if name.is_none() && command.program.text.is_none() {
            return Fit::Maybe;
        }
        let given = GivenWords::read(name, &command.args);
        let options = self.options.iter().map(|wanted| given.option(wanted, given.has_open)).min();
        program.min(options.unwrap_or(Fit::Yes)).min(given.operands(&self.operands))
    }

    /// As [`RunsForm::fit_command`]. An unknown word of a wrapper is no option of it: the reader
    /// would not know where its command begins.
    fn fit_wrapper(&self, wrapper: &CommandWrapper) -> Fit {
        if !self.is_program(&wrapper.name, &wrapper.name) {
            return Fit::No;
        }
        let given = GivenWords::read(Some(&wrapper.name), &wrapper.args);
        let options = self.options.iter().map(|wanted| given.option(wanted, false)).min();
        options.unwrap_or(Fit::Yes).min(given.operands(&self.operands))
    }

    /// The words that are meant: the command's, or those of a program that it is run through.
    fn words(&self, command: &ShellCommand) -> String {
        let mut through = command.through.iter();
        match through.find(|wrapper| self.fit_wrapper(wrapper) > self.fit_command(command)) {
            Some(wrapper) => joined(&wrapper.name, &wrapper.args),
            None => written(command),
        }
    }

    fn is_program(&self, name: &str, whole: &str) -> bool {
        let is_meant =
            |form: &String| wild::is_match(form, if form.contains('/') { whole } else { name });
        self.program.iter().any(is_meant)
    }

    fn unknown_program(&self, program: &ShellWord) -> Fit {
        if let Some(name) = known_name(&program.written) {
            return if self.is_program(name, &program.written) { Fit::Yes } else { Fit::No };
        }
        let start = match (&program.text, program.is_pattern) {
            (Some(text), true) => text.rsplit('/').next().unwrap_or_default(),
            _ => "",
        };
        let start = start.split(['*', '?', '[']).next().unwrap_or_default();
        let may_be = self.program.iter().any(|form| wild::may_match(form, start));
        if may_be { Fit::Maybe } else { Fit::No }
    }
}

impl OptionForm {
    fn read(written: &str) -> OptionForm {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (written, None),
        };
        OptionForm { name: name.to_string(), value }
    }
}

/// The base name of a program of which only the folder is unknown: `"$HOME"/bin/tool`.
fn known_name(written: &str) -> Option<&str> {
    let name = written.trim_end_matches('"').rsplit_once('/')?.1;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

/// A command as it is written; one that nobody can see is what reads it.
pub(super) fn written(command: &ShellCommand) -> String {
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

fn what_cannot_be_told(command: &ShellCommand) -> String {
    let is_open = |word: &&ShellWord| word.known().is_none();
    if command.program.known().is_none() {
        let name = match command.program.written.as_str() {
            "" | "…" => command.through.last().map_or("it", |one| &one.name),
            written => written,
        };
        return format!("what `{name}` runs");
    }
    match command.args.iter().find(is_open) {
        Some(word) => format!("what `{}` is in `{}`", word.written, written(command)),
        None => format!("which words of `{}` belong to its options", written(command)),
    }
}

/// What is known of one word that a program is given.
#[derive(Debug, Clone, Copy)]
enum Given<'c> {
    Known(&'c str),
    /// One word that begins like this.
    Begins(&'c str),
    /// Any number of words.
    Open,
}

impl<'c> Given<'c> {
    fn read(word: &'c ShellWord) -> Given<'c> {
        if let Some(text) = word.known() {
            return Given::Known(text);
        }
        let is_quoted = word.written.starts_with('"') && word.written.ends_with('"');
        let bare = word.written.strip_prefix('"').unwrap_or(&word.written);
        let end = bare.find(|c: char| "$`\\'\"*?[<>({~…".contains(c)).unwrap_or(bare.len());
        match &bare[..end] {
            "" if !is_quoted && !word.is_pattern => Given::Open,
            start => Given::Begins(start),
        }
    }

    fn fits(self, forms: &[String]) -> Fit {
        match self {
            Given::Known(text) if forms.iter().any(|form| wild::is_match(form, text)) => Fit::Yes,
            Given::Known(_) => Fit::No,
            Given::Begins(start) if !forms.iter().any(|form| wild::may_match(form, start)) => {
                Fit::No
            }
            Given::Begins(_) | Given::Open => Fit::Maybe,
        }
    }

    /// What is known of it, if it is an option.
    fn option(self) -> Option<&'c str> {
        match self {
            Given::Known(text) | Given::Begins(text) => {
                Some(text).filter(|text| text.len() > 1 && text.starts_with('-'))
            }
            Given::Open => None,
        }
    }

    /// Whether it may be an option that is not known.
    fn may_be_option(self) -> bool {
        matches!(self, Given::Open | Given::Begins("" | "-"))
    }
}

struct GivenOption<'c> {
    /// The word up to a `=`: `--force`, `-fu`.
    word: &'c str,
    /// What is after the `=`.
    attached: Option<Given<'c>>,
    next: Option<Given<'c>>,
}

struct GivenOperand<'c> {
    given: Given<'c>,
    /// It may be the value of the option before it.
    may_be_value: bool,
}

/// The words of a command, divided as its program divides them.
struct GivenWords<'c> {
    row: Option<&'static ProgramOptions>,
    options: Vec<GivenOption<'c>>,
    operands: Vec<GivenOperand<'c>>,
    /// A word that may be any option.
    has_open: bool,
}

impl<'c> GivenWords<'c> {
    fn read(name: Option<&str>, args: &'c [ShellWord]) -> GivenWords<'c> {
        let row = name.and_then(programs::find);
        let mut all =
            GivenWords { row, options: Vec::new(), operands: Vec::new(), has_open: false };
        let words: Vec<Given<'c>> = args.iter().map(Given::read).collect();
        let mut at = 0;
        let mut after_unknown_option = false;
        while let Some(given) = words.get(at).copied() {
            at += 1;
            if matches!(given, Given::Known("--")) {
                let rest = words[at..].iter();
                all.operands.extend(rest.map(|&given| GivenOperand { given, may_be_value: false }));
                break;
            }
            let Some(text) = given.option() else {
                all.has_open |= given.may_be_option();
                let may_be_value = std::mem::take(&mut after_unknown_option);
                all.operands.push(GivenOperand { given, may_be_value });
                continue;
            };
            let next = words.get(at).copied();
            let (word, attached) = match text.split_once('=') {
                Some((word, value)) if matches!(given, Given::Known(_)) => {
                    (word, Some(Given::Known(value)))
                }
                Some((word, value)) => (word, Some(Given::Begins(value))),
                None => (text, None),
            };
            let takes_next = attached.is_none() && all.takes_next(word);
            at += usize::from(takes_next);
            after_unknown_option = row.is_none() && attached.is_none();
            all.options.push(GivenOption { word, attached, next });
        }
        all
    }

    /// Whether the next word belongs to this option.
    fn takes_next(&self, word: &str) -> bool {
        let Some(row) = self.row else { return false };
        if row.has_long_dash || word.starts_with("--") {
            return row.takes_value(word);
        }
        // Of a cluster the last letter does; what follows a letter before it is its value.
        let valued = word[1..].char_indices().find(|(_, letter)| row.takes_value(&dashed(*letter)));
        valued.is_some_and(|(at, letter)| 1 + at + letter.len_utf8() == word.len())
    }

    /// Whether one of these options is given. With `is_open`, one that is not seen may be.
    fn option(&self, wanted: &[OptionForm], is_open: bool) -> Fit {
        let least = if is_open { Fit::Maybe } else { Fit::No };
        wanted.iter().map(|form| self.has(form)).max().unwrap_or(Fit::No).max(least)
    }

    fn has(&self, form: &OptionForm) -> Fit {
        let is_long = form.name.starts_with("--") || self.row.is_some_and(|row| row.has_long_dash);
        let letters: Vec<char> = form.name.chars().skip(1).collect();
        if !is_long && letters.len() > 1 && form.value.is_none() {
            let whole = self.options.iter().any(|given| given.word == form.name);
            let each = letters.iter().all(|letter| self.letter(*letter).next().is_some());
            return if whole || each { Fit::Yes } else { Fit::No };
        }
        let value = |given: Given<'_>| match &form.value {
            Some(value) => given.fits(std::slice::from_ref(value)),
            None => Fit::Yes,
        };
        let best = |values: [Option<Given<'_>>; 2]| {
            let is_plain = form.value.is_none();
            let fits = values.into_iter().flatten().map(value).max();
            if is_plain { Fit::Yes } else { fits.unwrap_or(Fit::No) }
        };
        if is_long {
            let named = self.options.iter().filter(|given| self.is_named(given.word, &form.name));
            return named.map(|given| best([given.attached, given.next])).max().unwrap_or(Fit::No);
        }
        let lettered = letters.first().into_iter().flat_map(|letter| self.letter(*letter));
        let fits = lettered.map(|(given, rest)| {
            let rest = (!rest.is_empty()).then_some(Given::Known(rest));
            best([rest.or(given.attached), given.next])
        });
        fits.max().unwrap_or(Fit::No)
    }

    /// Whether an option in full or shortened is this one.
    fn is_named(&self, word: &str, name: &str) -> bool {
        let is_short = self.row.is_some_and(|row| row.shortens)
            && word.len() > 2
            && name.starts_with(word)
            && !programs::WHOLE.contains(&word);
        word == name || is_short
    }

    /// The options that have this letter, and what is after it in their word.
    fn letter(&self, letter: char) -> impl Iterator<Item = (&GivenOption<'c>, &'c str)> {
        self.options.iter().filter_map(move |given| {
            let cluster = given.word.strip_prefix('-').filter(|word| !word.starts_with('-'))?;
            if self.row.is_some_and(|row| row.has_long_dash) {
                return (cluster.chars().eq([letter])).then_some((given, ""));
            }
            for (at, c) in cluster.char_indices() {
                let rest = &cluster[at + c.len_utf8()..];
                if c == letter {
                    return Some((given, rest));
                }
                if self.row.is_some_and(|row| row.takes_value(&dashed(c))) {
                    return None;
                }
            }
            None
        })
    }

    /// Whether the operands begin like these, by the table of how far each beginning of the forms
    /// fits the words that are left.
    fn operands(&self, forms: &[OperandForm]) -> Fit {
        let given = &self.operands;
        // With no form left, every rest fits.
        let mut below = vec![Fit::Yes; given.len() + 1];
        for form in forms.iter().rev() {
            let mut row = vec![Fit::No; given.len() + 1];
            for at in (0..=given.len()).rev() {
                let skipped = |most: Fit| row.get(at + 1).map_or(Fit::No, |fit| most.min(*fit));
                row[at] = match (form, given.get(at)) {
                    (OperandForm::Rest, None) => below[at],
                    (OperandForm::Rest, Some(_)) => below[at].max(skipped(Fit::Yes)),
                    (OperandForm::End, None) => below[at],
                    (OperandForm::End, Some(one)) if matches!(one.given, Given::Open) => {
                        skipped(Fit::Maybe)
                    }
                    (OperandForm::Word(_), None) => Fit::No,
                    (OperandForm::Word(_), Some(one)) if matches!(one.given, Given::Open) => {
                        // It may be no word, this word, or this word and more.
                        skipped(Fit::Maybe)
                            .max(below[at].min(Fit::Maybe))
                            .max(below[at + 1].min(Fit::Maybe))
                    }
                    (OperandForm::Word(words), Some(one)) => {
                        let taken = one.given.fits(words).min(below[at + 1]);
                        let passed = if one.may_be_value { skipped(Fit::Maybe) } else { Fit::No };
                        taken.max(passed)
                    }
                    (OperandForm::End, Some(one)) => {
                        if one.may_be_value {
                            skipped(Fit::Maybe)
                        } else {
                            Fit::No
                        }
                    }
                };
            }
            below = row;
        }
        below[0]
    }
}

fn dashed(letter: char) -> String {
    format!("-{letter}")
}
