//! Walks the grammar of a text and finds the commands in it.

use brush_parser::ast::{
    self, CommandPrefixOrSuffixItem as Item, CompoundCommand, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

use super::braces;
use super::limits::{
    DEEPEST_SCRIPT, LONGEST_BYTES, MOST_BYTES_READ, MOST_HERE_DOCUMENTS, MOST_SUBSTITUTIONS,
    MOST_WORDS_OF_BRACES, as_the_parser_takes_them, is_too_deep, substitutions_that_may_nest,
};
use super::line::{Assignment, CommandLine, CommandRedirect};
use super::word::{self, Unreadable, Word};
use super::wrapped::text_of;

/// Reads a text and all texts in it.
pub(super) struct ScriptReader {
    pub(super) line: CommandLine,
    bytes_left: usize,
}

/// Where a text is: how many texts it is in, and through which programs it is run.
#[derive(Clone, Copy)]
pub(super) struct ScriptPlace<'p> {
    pub(super) depth: usize,
    pub(super) through: &'p [String],
}

/// The words of a simple command and what is around them.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) words: Vec<Word>,
    pub(super) assigns: Vec<Assignment>,
    pub(super) redirects: Vec<CommandRedirect>,
    /// The text on its stdin, if the command line has it.
    pub(super) stdin: Option<String>,
    /// Whether another command writes to its stdin, or a file is.
    pub(super) has_stdin: bool,
}

/// Reads command texts, each on its own.
pub(super) fn read(texts: &[impl AsRef<str>]) -> CommandLine {
    let mut reader = ScriptReader { line: CommandLine::default(), bytes_left: MOST_BYTES_READ };
    for text in texts {
        reader.script(text.as_ref(), ScriptPlace { depth: 0, through: &[] });
    }
    reader.line
}

impl ScriptReader {
    pub(super) fn doubt(&mut self, why: impl Into<String>) {
        self.line.doubt.get_or_insert(why.into());
    }

    pub(super) fn script(&mut self, text: &str, place: ScriptPlace) {
        if text.trim().is_empty() {
            return;
        }
        if place.depth > DEEPEST_SCRIPT {
            return self.doubt("commands in commands, too deep to read");
        }
        if text.len() > LONGEST_BYTES.min(self.bytes_left) {
            return self.doubt("it is too long to read");
        }
        self.bytes_left -= text.len();
        if text.matches("<<").count() > MOST_HERE_DOCUMENTS {
            return self.doubt("it has too many here-documents to read");
        }
        if substitutions_that_may_nest(text) > MOST_SUBSTITUTIONS {
            return self.doubt("it has too many substitutions in each other to read");
        }
        let options = ParserOptions::default();
        let tokens = match uncached_tokenize_str(text, &options.tokenizer_options()) {
            Ok(tokens) => as_the_parser_takes_them(tokens),
            Err(error) => return self.doubt(format!("it cannot be read: {error}")),
        };
        if is_too_deep(&tokens) {
            return self.doubt("its commands are nested too deeply to read");
        }
        match parse_tokens(&tokens, &options) {
            Ok(program) => {
                for list in &program.complete_commands {
                    self.list(list, place);
                }
            }
            Err(error) => self.doubt(format!("it cannot be read: {error}")),
        }
    }

    fn list(&mut self, list: &ast::CompoundList, place: ScriptPlace) {
        for item in &list.0 {
            for (_, pipeline) in item.0.iter() {
                for (number, command) in pipeline.seq.iter().enumerate() {
                    self.command(command, number > 0, place);
                }
            }
        }
    }

    fn command(&mut self, command: &ast::Command, is_piped: bool, place: ScriptPlace) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, is_piped, place),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound, is_piped, place);
                self.redirects(redirects.as_ref(), place);
            }
            ast::Command::Function(function) => {
                self.word(&function.fname.value, place);
                self.compound(&function.body.0, false, place);
                self.redirects(function.body.1.as_ref(), place);
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr, place);
                self.redirects(redirects.as_ref(), place);
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, is_piped: bool, place: ScriptPlace) {
        match compound {
            CompoundCommand::Arithmetic(command) => self.body(&command.expr.value, place),
            CompoundCommand::ArithmeticForClause(command) => {
                let parts = [&command.initializer, &command.condition, &command.updater];
                for part in parts.into_iter().flatten() {
                    self.body(&part.value, place);
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
                    clause.condition.iter().for_each(|list| self.list(list, place));
                    self.list(&clause.body, place);
                }
            }
            CompoundCommand::WhileClause(command) | CompoundCommand::UntilClause(command) => {
                self.list(&command.0, place);
                self.list(&command.1.list, place);
            }
            CompoundCommand::Coprocess(command) => self.command(&command.body, is_piped, place),
        }
    }

    fn test(&mut self, test: &ast::ExtendedTestExpr, place: ScriptPlace) {
        match test {
            ast::ExtendedTestExpr::And(left, right) | ast::ExtendedTestExpr::Or(left, right) => {
                self.test(left, place);
                self.test(right, place);
            }
            ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner, place);
            }
            ast::ExtendedTestExpr::UnaryTest(_, word) => drop(self.word(&word.value, place)),
            ast::ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(&left.value, place);
                self.word(&right.value, place);
            }
        }
    }

    /// The redirections of a group; they are a command's of their own, as in `: > file`.
    fn redirects(&mut self, list: Option<&ast::RedirectList>, place: ScriptPlace) {
        let mut parts = Parts::default();
        for redirect in list.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, &mut parts, place);
        }
        self.push(parts, place.through);
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, is_piped: bool, place: ScriptPlace) {
        let mut parts = Parts { has_stdin: is_piped, ..Parts::default() };
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, true, &mut parts, place);
        }
        if let Some(name) = &simple.word_or_name {
            self.words(&name.value, &mut parts, place);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, false, &mut parts, place);
        }
        self.run(parts, place);
    }

    fn item(&mut self, item: &Item, is_prefix: bool, parts: &mut Parts, place: ScriptPlace) {
        match item {
            Item::IoRedirect(redirect) => self.redirect(redirect, parts, place),
            Item::Word(word) => self.words(&word.value, parts, place),
            Item::AssignmentWord(_, word) if !is_prefix => self.words(&word.value, parts, place),
            Item::AssignmentWord(assignment, _) => {
                let name = match &assignment.name {
                    ast::AssignmentName::VariableName(name) => name.clone(),
                    ast::AssignmentName::ArrayElementName(name, index) => {
                        self.body(index, place);
                        name.clone()
                    }
                };
                let value = match &assignment.value {
                    ast::AssignmentValue::Scalar(word) => self.word(&word.value, place).text,
                    ast::AssignmentValue::Array(elements) => {
                        for (key, value) in elements {
                            key.iter().for_each(|key| self.body(&key.value, place));
                            self.word(&value.value, place);
                        }
                        None
                    }
                };
                parts.assigns.push(Assignment { name, value });
            }
            Item::ProcessSubstitution(_, shell) => {
                self.list(&shell.list, place);
                parts.words.push(Word::unknown());
            }
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect, parts: &mut Parts, place: ScriptPlace) {
        match redirect {
            IoRedirect::File(fd, kind, IoFileRedirectTarget::Filename(word)) => {
                let operator = match kind {
                    IoFileRedirectKind::Read => "<",
                    IoFileRedirectKind::Write => ">",
                    IoFileRedirectKind::Append => ">>",
                    IoFileRedirectKind::ReadAndWrite => "<>",
                    IoFileRedirectKind::Clobber => ">|",
                    IoFileRedirectKind::DuplicateInput => "<&",
                    IoFileRedirectKind::DuplicateOutput => ">&",
                };
                parts.has_stdin |=
                    fd.is_none_or(|fd| fd == 0) && matches!(operator, "<" | "<>" | "<&");
                let target = self.word(&word.value, place).into_word();
                parts.redirects.push(CommandRedirect { operator, target });
            }
            IoRedirect::File(fd, kind, IoFileRedirectTarget::Duplicate(word)) => {
                let target = self.word(&word.value, place).into_word();
                let is_file = target.text.as_ref().is_none_or(|target| {
                    !target.trim_end_matches('-').chars().all(|c| c.is_ascii_digit())
                });
                let is_input = matches!(kind, IoFileRedirectKind::DuplicateInput);
                parts.has_stdin |= is_input && fd.is_none_or(|fd| fd == 0);
                if is_file {
                    parts.redirects.push(CommandRedirect {
                        operator: if is_input { "<&" } else { ">&" },
                        target,
                    });
                }
            }
            IoRedirect::File(_, _, IoFileRedirectTarget::Fd(_)) => {}
            IoRedirect::File(_, kind, IoFileRedirectTarget::ProcessSubstitution(_, shell)) => {
                parts.has_stdin |= matches!(kind, IoFileRedirectKind::Read);
                self.list(&shell.list, place);
            }
            IoRedirect::HereDocument(_, document) => {
                let text = match document.requires_expansion {
                    true => self
                        .read(|scripts| word::read_body(&document.doc.value, scripts), place)
                        .raw(),
                    false => document.doc.value.clone(),
                };
                parts.has_stdin = true;
                parts.stdin = Some(text);
            }
            IoRedirect::HereString(_, word) => {
                parts.has_stdin = true;
                parts.stdin = Some(text_of(&self.word(&word.value, place)));
            }
            IoRedirect::OutputAndError(word, appends) => {
                let operator = if *appends { "&>>" } else { "&>" };
                let target = self.word(&word.value, place).into_word();
                parts.redirects.push(CommandRedirect { operator, target });
            }
        }
    }

    /// The words that a word becomes.
    fn words(&mut self, text: &str, parts: &mut Parts, place: ScriptPlace) {
        let made = match text.contains('{') {
            true => braces::expand(text, MOST_WORDS_OF_BRACES),
            false => Some(vec![text.to_string()]),
        };
        let Some(made) = made else {
            return self.doubt("its braces make too many words");
        };
        for text in made {
            let word = self.word(&text, place);
            parts.words.push(word);
        }
    }

    fn word(&mut self, text: &str, place: ScriptPlace) -> Word {
        self.read(|scripts| word::read(text, scripts), place)
    }

    /// The commands in a here-document or an arithmetic expression.
    fn body(&mut self, text: &str, place: ScriptPlace) {
        self.read(|scripts| word::read_body(text, scripts), place);
    }

    fn read(
        &mut self,
        read: impl FnOnce(&mut Vec<String>) -> Result<Word, Unreadable>,
        place: ScriptPlace,
    ) -> Word {
        let mut scripts = Vec::new();
        let word = read(&mut scripts).unwrap_or_else(|Unreadable(text)| {
            self.doubt(format!("it cannot be read at `{text}`"));
            Word::unknown()
        });
        for script in scripts {
            self.script(&script, ScriptPlace { depth: place.depth + 1, ..place });
        }
        word
    }
}
