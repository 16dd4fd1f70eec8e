//! Walks the grammar of a text and collects its commands.

use std::sync::Arc;

use super::braces;
use super::line::{
    Assignment, CommandLine, CommandList, CommandNode, CommandPart, CommandRedirect,
    CommandWrapper, CompoundPart, RedirectTarget, ShellCommand, ShellWord, SourceAssignment,
    SourceRedirect, SourceWord, WordPieceKind,
};
use super::syntax::parse;
use super::word::{self, Constants, PLAIN_VALUE, UNKNOWN, Word};
use super::wrapped::{self, InDoubt, Inner, InnerCommands, Parts, Place, Stdin};

const MOST_COMMANDS: usize = 10_000;
const MOST_WORDS_OF_BRACES: usize = 1_000;
const MOST_ROUNDS: usize = 64;
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
    letters_left: usize,
    /// Remaining assignments to look up: each is a search in the text.
    assignments_left: usize,
    constants: Constants,
    /// Remaining words of loops for which the body is read.
    rounds_left: usize,
}

#[derive(Clone, Copy)]
pub(super) struct SizeLeft {
    pub(super) bytes: usize,
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
            letters_left: braces::MOST_LETTERS,
            assignments_left: MOST_BYTES_SOUGHT / text.len().max(1),
            constants,
            rounds_left: MOST_ROUNDS,
        };
        let place = Place {
            depth: 0,
            through: &[],
            is_certain: true,
            documents: &[],
            folder: None,
        };
        reader.script(text, place);
        (reader.line, reader.left)
    }

    fn doubt(&mut self, why: impl Into<String>) {
        self.line.doubt.get_or_insert(why.into());
    }

    fn script(&mut self, text: &str, place: Place) {
        let Some(left) = self.left.bytes.checked_sub(text.len()) else {
            return self.doubt("it is too long to read");
        };
        self.left.bytes = left;
        match parse(text, place.depth, self.left.tokens) {
            Ok(syntax) => {
                self.left.tokens = syntax.tokens_left;
                let inside = Place {
                    documents: &syntax.documents,
                    ..place
                };
                self.list(&syntax.list, inside);
            }
            Err(why) => self.doubt(why),
        }
    }

    fn list(&mut self, list: &CommandList, place: Place) {
        for and_or in list {
            let mut folder: Option<Arc<str>> = place.folder.cloned();
            for (number, pipeline) in and_or.pipelines.iter().enumerate() {
                if pipeline.is_alternative {
                    folder = None;
                }
                let is_alone = pipeline.commands.len() == 1;
                let is_first = is_alone && number == 0;
                let inside = Place {
                    depth: place.depth + 1,
                    is_certain: place.is_certain && !and_or.is_background && is_first,
                    folder: folder.as_ref(),
                    ..place
                };
                let before = self.line.commands.len();
                let mut stdin = Stdin::Inherited;
                for command in &pipeline.commands {
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
    fn command(&mut self, command: &CommandNode, stdin: Stdin, place: Place) -> Stdin {
        let (is_group, compound, redirects) = match command {
            CommandNode::Simple(parts) => return self.simple(parts, stdin, place),
            CommandNode::Compound {
                is_group,
                parts,
                redirects,
            } => (*is_group, parts, redirects),
        };
        let inside = if is_group { place } else { place.uncertain() };
        for part in compound {
            match part {
                CompoundPart::List(list) => self.list(list, inside),
                CompoundPart::Word(word) => self.pieces(word, inside),
                CompoundPart::Loop(name, words, body) => self.loop_over(name, words, body, inside),
                CompoundPart::Coprocess(command) => {
                    self.command(command, Stdin::Pipe, inside);
                }
            }
        }
        // The redirections of a group are a command of their own, as in `: > file`.
        let mut parts = Parts::default();
        for redirect in redirects {
            self.redirect(redirect, &mut parts, place);
        }
        self.push(parts, place);
        Stdin::Pipe
    }

    /// Reads the body of a loop once for each of its words, if they are few and known.
    fn loop_over(&mut self, name: &str, sources: &[SourceWord], body: &CommandList, place: Place) {
        let words = sources.iter().flat_map(|word| self.words(word, place));
        let words: Vec<Word> = words.collect();
        let values: Option<Vec<String>> = words.iter().map(Word::as_constant).collect();
        let values = values.filter(|values| !values.is_empty() && values.len() <= self.rounds_left);
        let is_free = !self.constants.contains_key(name);
        match values {
            Some(values) if is_free && word::is_of_loops(self.text, name) => {
                self.rounds_left -= values.len();
                for value in values {
                    self.constants.insert(name.to_string(), value);
                    self.list(body, place);
                }
                self.constants.remove(name);
            }
            Some(_) | None => self.list(body, place),
        }
    }

    fn simple(&mut self, simple: &[CommandPart], stdin: Stdin, place: Place) -> Stdin {
        let mut parts = Parts {
            stdin,
            ..Parts::default()
        };
        let mut has_word = false;
        for part in simple {
            match part {
                CommandPart::Redirect(redirect) => self.redirect(redirect, &mut parts, place),
                CommandPart::Word(word) => {
                    has_word = true;
                    parts.words.extend(self.words(word, place));
                }
                CommandPart::Assignment(source) => {
                    let assignment = self.assignment(source, place);
                    if has_word {
                        parts.words.push(Word::unknown(&source.written));
                    } else {
                        parts.assigns.push(assignment);
                    }
                }
            }
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
            if word::is_constant(self.text, name) {
                let known = value.iter().map(|value| (name.clone(), value.clone()));
                self.constants.extend(known);
            }
        }
    }

    fn assignment(&mut self, assignment: &SourceAssignment, place: Place) -> Assignment {
        self.pieces(&assignment.besides, place);
        let value = assignment.value.as_ref().and_then(|word| {
            let word = self.word(word, place);
            let is_plain = word.is_plain && word.value.chars().eq([UNKNOWN]);
            let text = word.text().or(is_plain.then_some(PLAIN_VALUE));
            text.map(str::to_string)
        });
        let name = assignment.name.clone();
        Assignment { name, value }
    }

    fn redirect(&mut self, redirect: &SourceRedirect, parts: &mut Parts, place: Place) {
        let operator = redirect.operator;
        let source = match &redirect.target {
            RedirectTarget::Document(number) => place.documents.get(*number),
            RedirectTarget::Word(word) => Some(word),
        };
        let Some(source) = source else {
            return;
        };
        if operator.starts_with("<<") {
            let word = self.word(source, place);
            if redirect.is_stdin {
                parts.stdin = Stdin::Text(word.value);
            }
            return;
        }
        // bash expands braces to one file, zsh to several, and other shells not at all.
        for word in self.words(source, place) {
            let text = word.value.trim_end_matches('-');
            let is_descriptor = operator.ends_with('&') && text.chars().all(|c| c.is_ascii_digit());
            let is_stream = is_descriptor || word.is_stream();
            if redirect.is_stdin && operator.starts_with('<') {
                parts.stdin = if is_stream { Stdin::Pipe } else { Stdin::File };
            }
            if !is_stream {
                let target = word.into_word();
                parts.redirects.push(CommandRedirect { operator, target });
            }
        }
    }

    fn words(&mut self, source: &SourceWord, place: Place) -> Vec<Word> {
        let made = braces::expand_word(source, &mut self.letters_left);
        let most = MOST_WORDS_OF_BRACES.min(self.words_left);
        let Some(made) = made.filter(|made| made.len() <= most) else {
            self.doubt("its braces cannot be expanded");
            return Vec::new();
        };
        self.words_left -= made.len();
        let constants = self.constants(place);
        let words = made.iter().map(|word| word::evaluate(word, constants));
        let words = words.collect();
        self.pieces(source, place);
        words
    }

    fn word(&mut self, source: &SourceWord, place: Place) -> Word {
        let word = word::evaluate(source, self.constants(place));
        self.pieces(source, place);
        word
    }

    /// Reads the commands that run for a word.
    fn pieces(&mut self, word: &SourceWord, place: Place) {
        for piece in word {
            match &piece.kind {
                WordPieceKind::Text(_) => {}
                WordPieceKind::Commands { list, .. } => self.list(list, place.uncertain()),
                WordPieceKind::Expansion { inner, .. } => self.pieces(inner, place),
            }
        }
    }

    /// Returns the known variables, unless the command runs in another process.
    fn constants(&self, place: Place) -> Option<&Constants> {
        let is_own = |wrapper: &Arc<CommandWrapper>| {
            matches!(wrapper.name.as_str(), "trap" | "eval" | "command")
        };
        place.through.iter().all(is_own).then_some(&self.constants)
    }

    /// Adds a simple command, or the commands that its program runs.
    fn run(&mut self, mut parts: Parts, place: Place) {
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
        let args = parts.words[1..].iter().cloned();
        let args = args.map(Word::into_word).collect();
        let through = [place.through, &[Arc::new(CommandWrapper { name, args })]].concat();
        let inside = Place {
            through: &through,
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
