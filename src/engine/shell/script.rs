//! Walks the grammar of a text and collects its commands.

use std::sync::Arc;

use brush_parser::ast::{
    self, CommandPrefixOrSuffixItem as Item, CompoundCommand, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect,
};

use super::line::{
    Assignment, CommandLine, CommandRedirect, CommandWrapper, ShellCommand, ShellWord,
};
use super::parse::{expand_braces, parse};
use super::scan::{FlatText, MissingEnd, flat_text};
use super::word::{self, Constants, PLAIN_VALUE, ReadWord, UNKNOWN, Word};
use super::wrapped::{self, InDoubt, Inner, InnerCommands, Parts, Place, Stdin};

const DEEPEST: usize = 40;
const MOST_COMMANDS: usize = 10_000;
const MOST_WORDS_OF_BRACES: usize = 1_000;
const MOST_WRAPPERS: usize = 10;
/// Words of a command, times its wrappers.
const MOST_WRAPPED_WORDS: usize = 20_000;
const MOST_BYTES_SOUGHT: usize = 1 << 20;
/// Words in all texts of a line, with expanded braces.
const MOST_WORDS: usize = 40_000;

pub(super) struct ScriptReader<'t> {
    text: &'t str,
    line: CommandLine,
    left: SizeLeft,
    words_left: usize,
    /// Remaining assignments to look up: each is a search in the text.
    assignments_left: usize,
    constants: Constants,
}

#[derive(Clone, Copy)]
pub(super) struct SizeLeft {
    pub(super) bytes: usize,
    /// The parser takes 3 µs per token.
    pub(super) tokens: usize,
}

impl<'t> ScriptReader<'t> {
    pub(super) fn read(
        text: &'t str,
        line: CommandLine,
        left: SizeLeft,
    ) -> (CommandLine, SizeLeft) {
        let mut constants = Constants::new();
        for (name, usual) in word::USUAL {
            if text.contains(name) && word::changes(text, name) == 0 {
                constants.insert(name.to_string(), usual.to_string());
            }
        }
        let mut reader = ScriptReader {
            text,
            line,
            left,
            words_left: MOST_WORDS,
            assignments_left: MOST_BYTES_SOUGHT / text.len().max(1),
            constants,
        };
        let place = Place {
            depth: 0,
            through: &[],
            is_certain: true,
            is_substituted: false,
            flat: &FlatText::default(),
            folder: None,
        };
        reader.script(text, place);
        (reader.line, reader.left)
    }

    fn doubt(&mut self, why: impl Into<String>) {
        self.line.doubt.get_or_insert(why.into());
    }

    fn script(&mut self, text: &str, place: Place) {
        if text.trim().is_empty() {
            return;
        }
        let Some(left) = self.left.bytes.checked_sub(text.len()) else {
            return self.doubt("it is too long to read");
        };
        self.left.bytes = left;
        let flat = match flat_text(text, self.left.tokens) {
            Ok(flat) => flat,
            Err(why) => return self.doubt(why),
        };
        if place.is_substituted && flat.goes_on_after_document {
            self.doubt("cannot tell how the shell splits the text after a here-document in `$( )`");
        }
        let depth = place.depth + 1 + flat.depth;
        if depth > DEEPEST {
            return self.doubt("its commands are nested too deeply to read");
        }
        match parse(&flat.text) {
            Ok((program, tokens)) => {
                self.left.tokens = self.left.tokens.saturating_sub(tokens);
                let inside = Place {
                    depth,
                    flat: &flat,
                    ..place
                };
                for list in &program.complete_commands {
                    self.list(list, inside);
                }
            }
            Err(why) => self.doubt(why),
        }
    }

    fn list(&mut self, list: &ast::CompoundList, place: Place) {
        for ast::CompoundListItem(item, separator) in &list.0 {
            let is_waited_for = matches!(separator, ast::SeparatorOperator::Sequence);
            let mut folder: Option<Arc<str>> = place.folder.cloned();
            for (number, (operator, pipeline)) in item.iter().enumerate() {
                if operator == ast::PipelineOperator::Or {
                    folder = None;
                }
                let is_alone = pipeline.seq.len() == 1;
                let inside = Place {
                    is_certain: place.is_certain && is_waited_for && is_alone && number == 0,
                    folder: folder.as_ref(),
                    ..place
                };
                let before = self.line.commands.len();
                let mut stdin = Stdin::Inherited;
                for command in &pipeline.seq {
                    stdin = self.command(command, stdin, inside);
                }
                let entered = self.line.commands[before..].last();
                if let Some(entered) = entered
                    .filter(|_| is_alone)
                    .and_then(ShellCommand::entered_folder)
                {
                    folder = Some(match folder {
                        Some(folder) if !entered.starts_with(['/', '~']) => {
                            format!("{folder}/{entered}").into()
                        }
                        _ => entered.into(),
                    });
                }
            }
        }
    }

    /// Reads a command and returns the stdin of the next one in the pipeline.
    fn command(&mut self, command: &ast::Command, stdin: Stdin, place: Place) -> Stdin {
        match command {
            ast::Command::Simple(simple) => return self.simple(simple, stdin, place),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound, place);
                self.redirects(redirects.as_ref(), place);
            }
            ast::Command::Function(function) => {
                self.word(&function.fname.value, place);
                self.compound(&function.body.0, place.uncertain());
                self.redirects(function.body.1.as_ref(), place);
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr, place);
                self.redirects(redirects.as_ref(), place);
            }
        }
        Stdin::Pipe
    }

    fn compound(&mut self, compound: &CompoundCommand, place: Place) {
        let is_group = matches!(compound, CompoundCommand::BraceGroup(_));
        let place = if is_group { place } else { place.uncertain() };
        match compound {
            CompoundCommand::Arithmetic(command) => {
                self.part(&command.expr.value, place);
            }
            CompoundCommand::ArithmeticForClause(command) => {
                let parts = [&command.initializer, &command.condition, &command.updater];
                for part in parts.into_iter().flatten() {
                    self.part(&part.value, place);
                }
                self.list(&command.body.list, place);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list, place),
            CompoundCommand::Subshell(group) => self.list(&group.list, place),
            CompoundCommand::ForClause(command) => {
                for value in command.values.iter().flatten() {
                    self.word(&value.value, place);
                }
                self.list(&command.body.list, place);
            }
            CompoundCommand::CaseClause(command) => {
                self.word(&command.value.value, place);
                for case in &command.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value, place);
                    }
                    case.cmd.iter().for_each(|list| self.list(list, place));
                }
            }
            CompoundCommand::IfClause(command) => {
                self.list(&command.condition, place);
                self.list(&command.then, place);
                for clause in command.elses.iter().flatten() {
                    clause
                        .condition
                        .iter()
                        .for_each(|list| self.list(list, place));
                    self.list(&clause.body, place);
                }
            }
            CompoundCommand::WhileClause(command) | CompoundCommand::UntilClause(command) => {
                self.list(&command.0, place);
                self.list(&command.1.list, place);
            }
            CompoundCommand::Coprocess(command) => {
                self.command(&command.body, Stdin::Pipe, place);
            }
        }
    }

    fn test(&mut self, test: &ast::ExtendedTestExpr, place: Place) {
        match test {
            ast::ExtendedTestExpr::And(left, right) | ast::ExtendedTestExpr::Or(left, right) => {
                self.test(left, place);
                self.test(right, place);
            }
            ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner, place);
            }
            ast::ExtendedTestExpr::UnaryTest(_, word) => self.part(&word.value, place),
            ast::ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.part(&left.value, place);
                self.part(&right.value, place);
            }
        }
    }

    /// Adds the redirections of a group as a separate command, as in `: > file`.
    fn redirects(&mut self, list: Option<&ast::RedirectList>, place: Place) {
        let mut parts = Parts::default();
        for redirect in list.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, &mut parts, place);
        }
        self.push(parts, place);
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, stdin: Stdin, place: Place) -> Stdin {
        let mut parts = Parts {
            stdin,
            ..Parts::default()
        };
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, true, &mut parts, place);
        }
        if let Some(name) = &simple.word_or_name {
            self.words(&name.value, &mut parts, place);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, false, &mut parts, place);
        }
        // `a[1 + 2]=3` is one word in bash, but three for the parser.
        if parts.words.first().is_some_and(|word| {
            word.value.contains('[') && word.value.len() > 1 && !word.value.contains(']')
        }) {
            self.doubt("it cannot be read at an index");
        }
        if parts.words.is_empty() && place.is_certain {
            self.note_constants(&parts.assigns);
        }
        let printed = parts.output();
        self.run(parts, place);
        printed
    }

    /// Stores the values of variables that are set once.
    fn note_constants(&mut self, assigns: &[Assignment]) {
        for Assignment { name, value } in assigns.iter().take(self.assignments_left) {
            self.assignments_left -= 1;
            if let Some(value) = value
                .as_ref()
                .filter(|_| word::is_constant(self.text, name))
            {
                self.constants.insert(name.clone(), value.clone());
            }
        }
    }

    fn item(&mut self, item: &Item, is_prefix: bool, parts: &mut Parts, place: Place) {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect, parts, place),
            Item::Word(word) => self.words(&word.value, parts, place),
            Item::AssignmentWord(assignment, word) => {
                let is_list = matches!(assignment.value, ast::AssignmentValue::Array(_));
                if !is_prefix && !is_list {
                    return self.words(&word.value, parts, place);
                }
                let assignment = self.assignment(assignment, place);
                if is_prefix {
                    parts.assigns.push(assignment);
                } else {
                    parts.words.push(Word::unknown(&word.value));
                }
            }
            Item::ProcessSubstitution(_, shell) => {
                self.list(&shell.list, place.uncertain());
                parts.words.push(Word::unknown("<(…)"));
            }
        }
    }

    fn assignment(&mut self, assignment: &ast::Assignment, place: Place) -> Assignment {
        let name = match &assignment.name {
            ast::AssignmentName::VariableName(name) => name.clone(),
            ast::AssignmentName::ArrayElementName(name, index) => {
                self.part(index, place);
                name.clone()
            }
        };
        let value = match &assignment.value {
            ast::AssignmentValue::Scalar(word) => {
                let word = self.word(&word.value, place);
                let is_plain = word.is_plain && word.value.chars().eq([UNKNOWN]);
                word.text()
                    .or(is_plain.then_some(PLAIN_VALUE))
                    .filter(|_| !assignment.append)
                    .map(str::to_string)
            }
            ast::AssignmentValue::Array(elements) => {
                for (key, value) in elements {
                    key.iter().for_each(|key| self.part(&key.value, place));
                    self.word(&value.value, place);
                }
                None
            }
        };
        Assignment { name, value }
    }

    fn redirect(&mut self, redirect: &IoRedirect, parts: &mut Parts, place: Place) {
        match redirect {
            IoRedirect::File(fd, kind, target) => {
                let stdin = self.file(kind, target, parts, place);
                if fd.is_none_or(|fd| fd == 0) && reads(kind) {
                    parts.stdin = stdin;
                }
            }
            // Cut out before.
            IoRedirect::HereDocument(..) => self.doubt("it cannot be read at `<<`"),
            IoRedirect::HereString(fd, word) => {
                let text = match place.flat.document(&word.value) {
                    Some((body, true)) => self.body(body, place).value,
                    Some((body, false)) => body.to_string(),
                    None => self.word(&word.value, place).value,
                };
                if fd.is_none_or(|fd| fd == 0) {
                    parts.stdin = Stdin::Text(text);
                }
            }
            IoRedirect::OutputAndError(word, appends) => {
                let operator = if *appends { "&>>" } else { "&>" };
                let target = self.word(&word.value, place).into_word();
                parts.redirects.push(CommandRedirect { operator, target });
            }
        }
    }

    /// Adds the file of a redirection and returns the stdin that it provides.
    fn file(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        parts: &mut Parts,
        place: Place,
    ) -> Stdin {
        let word = match target {
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                self.word(&word.value, place)
            }
            IoFileRedirectTarget::Fd(_) => return Stdin::Pipe,
            IoFileRedirectTarget::ProcessSubstitution(_, shell) => {
                self.list(&shell.list, place.uncertain());
                return Stdin::Pipe;
            }
        };
        let operator = match kind {
            IoFileRedirectKind::Read => "<",
            IoFileRedirectKind::Write => ">",
            IoFileRedirectKind::Append => ">>",
            IoFileRedirectKind::ReadAndWrite => "<>",
            IoFileRedirectKind::Clobber => ">|",
            IoFileRedirectKind::DuplicateInput => "<&",
            IoFileRedirectKind::DuplicateOutput => ">&",
        };
        let is_descriptor = matches!(target, IoFileRedirectTarget::Duplicate(_))
            && word
                .value
                .trim_end_matches('-')
                .chars()
                .all(|c| c.is_ascii_digit());
        if is_descriptor || word.is_stream() {
            return Stdin::Pipe;
        }
        parts.redirects.push(CommandRedirect {
            operator,
            target: word.into_word(),
        });
        Stdin::File
    }

    fn words(&mut self, text: &str, parts: &mut Parts, place: Place) {
        let made = expand_braces(text, MOST_WORDS_OF_BRACES);
        let made = made.filter(|made| made.len() <= self.words_left);
        let Some(made) = made else {
            return self.doubt("it has too many words to read");
        };
        self.words_left -= made.len();
        // Empty braces expand to no word.
        for text in made.iter().filter(|text| !text.is_empty()) {
            parts.words.push(self.word(text, place));
        }
    }

    fn word(&mut self, text: &str, place: Place) -> Word {
        let read = word::read(text, place.flat, self.constants(place));
        self.take(read, place)
    }

    /// Reads an operand of `[[`, an index or an arithmetic expression.
    fn part(&mut self, text: &str, place: Place) {
        let read = word::read_part(text, place.flat, self.constants(place));
        self.take(read, place);
    }

    fn body(&mut self, text: &str, place: Place) -> Word {
        let read = word::read_body(text, self.constants(place));
        self.take(read, place)
    }

    /// Returns the known variables, unless the command runs in another process.
    fn constants(&self, place: Place) -> Option<&Constants> {
        let is_own = |wrapper: &Arc<CommandWrapper>| {
            matches!(wrapper.name.as_str(), "trap" | "eval" | "command")
        };
        place.through.iter().all(is_own).then_some(&self.constants)
    }

    fn take(&mut self, read: Result<ReadWord, MissingEnd>, place: Place) -> Word {
        match read {
            Ok(read) => {
                let inside = Place {
                    is_substituted: true,
                    ..place.uncertain()
                };
                for script in &read.scripts {
                    self.script(script, inside);
                }
                read.word
            }
            Err(MissingEnd(text)) => {
                self.doubt(format!("it cannot be read at `{text}`"));
                Word::unknown(&text)
            }
        }
    }

    /// Adds a simple command, or the commands that its program runs.
    fn run(&mut self, mut parts: Parts, place: Place) {
        // `time -- a` leaves `--` as the program.
        if parts.words.first().is_some_and(|word| word.value == "--") {
            parts.words.remove(0);
        }
        let InnerCommands {
            name,
            assigns,
            runs,
            is_command,
        } = match wrapped::read(&parts.words) {
            Ok(Some(wrapped)) if !parts.stdin.is_of_command(&wrapped.runs) => wrapped,
            Ok(_) => return self.push(parts, place),
            Err(InDoubt(words)) => {
                self.doubt(format!("cannot tell what `{words}` runs"));
                return self.push(parts, place);
            }
        };
        let wrapped_words = place.through.len() * parts.words.len();
        if place.through.len() >= MOST_WRAPPERS || wrapped_words > MOST_WRAPPED_WORDS {
            self.doubt("programs are nested too deeply to read");
            return self.push(parts, place);
        }
        let args = parts
            .words
            .iter()
            .skip(1)
            .cloned()
            .map(Word::into_word)
            .collect();
        let through = [place.through, &[Arc::new(CommandWrapper { name, args })]].concat();
        let inside = Place {
            through: &through,
            is_substituted: false,
            ..place.uncertain()
        };
        let stdin = parts.stdin.clone();
        parts.assigns.extend(assigns);
        let mut outer = Parts {
            redirects: std::mem::take(&mut parts.redirects),
            ..Parts::default()
        };
        let assigns = parts.assigns.clone();
        if is_command {
            parts.redirects = std::mem::take(&mut outer.redirects);
            self.push(parts, place);
        }
        for inner in runs {
            match (inner, &stdin) {
                (Inner::Words(mut words), _) => {
                    if let Stdin::Files(files) = &stdin {
                        words = words.iter().flat_map(|word| word.or_files(files)).collect();
                    }
                    let parts = Parts {
                        words,
                        assigns: assigns.clone(),
                        redirects: std::mem::take(&mut outer.redirects),
                        stdin: stdin.clone(),
                    };
                    self.run(parts, inside);
                }
                (Inner::Text(text), _) => self.script(&text, inside),
                (Inner::Stdin | Inner::WrittenStdin, Stdin::Text(text)) => {
                    self.script(text, inside);
                }
                (Inner::Stdin | Inner::WrittenStdin | Inner::ForeignStdin | Inner::Unknown, _) => {
                    self.line.commands.push(ShellCommand {
                        through: through.clone(),
                        ..ShellCommand::default()
                    });
                }
            }
        }
        self.push(outer, place);
    }

    fn push(&mut self, parts: Parts, place: Place) {
        let Parts {
            words,
            mut assigns,
            redirects,
            stdin: _,
        } = parts;
        for one in &mut assigns {
            one.value.take_if(|value| value == PLAIN_VALUE);
        }
        if words.is_empty() && redirects.is_empty() {
            return;
        }
        if self.line.commands.len() >= MOST_COMMANDS {
            return self.doubt("it has too many commands to read");
        }
        let mut words = words.into_iter().map(Word::into_word);
        // Redirections alone belong to a command that does nothing.
        let program = words.next().unwrap_or_else(|| ShellWord {
            text: Some(":".to_string()),
            ..ShellWord::default()
        });
        self.line.commands.push(ShellCommand {
            program,
            args: words.collect(),
            through: place.through.to_vec(),
            assigns,
            redirects,
            folder: place.folder.cloned(),
        });
    }
}

fn reads(kind: &IoFileRedirectKind) -> bool {
    matches!(
        kind,
        IoFileRedirectKind::Read
            | IoFileRedirectKind::ReadAndWrite
            | IoFileRedirectKind::DuplicateInput
    )
}
