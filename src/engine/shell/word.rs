//! One word as the shell reads it: quotes taken off, substitutions found.

use std::collections::HashMap;

use brush_parser::word::{self, Parameter, ParameterExpr, SpecialParameter, WordPiece};

use super::line::ShellWord;
use super::quotes::{ansi, options};
use super::scan::{FlatText, MARK, MissingEnd, Part, Piece};

/// Takes the place of what only a run knows, also in a text that a shell is given and that is
/// read again. It is a private character, so that nobody writes it; who does is not known either.
pub(super) const UNKNOWN: char = '\u{10fffd}';

/// Variables whose values are certain.
pub(super) type Constants = HashMap<String, String>;

/// A word after its quotes are taken off.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text, with [`UNKNOWN`] for each part that only a run knows.
    pub(super) value: String,
    /// Whether unquoted `*`, `?` or `[` may make other words of it.
    pub(super) is_pattern: bool,
    /// Whether it may become several words, or none.
    pub(super) may_split: bool,
    written: String,
}

impl Word {
    /// Any number of words that only a run knows.
    pub(super) fn unknown(written: &str) -> Word {
        let (value, written) = (UNKNOWN.to_string(), written.to_string());
        Word {
            value,
            written,
            may_split: true,
            is_pattern: false,
        }
    }

    pub(super) fn literal(text: &str) -> Word {
        Word {
            value: text.to_string(),
            written: text.to_string(),
            ..Word::default()
        }
    }

    /// Its text; `None` if a part of it is known at run time only.
    pub(super) fn text(&self) -> Option<&str> {
        (!self.value.contains(UNKNOWN)).then_some(&self.value)
    }

    /// Whether it is `<(…)` or a descriptor, and not a file that has a name.
    pub(super) fn is_stream(&self) -> bool {
        const STREAMS: &[&str] = &["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];
        self.written.starts_with("<(")
            || STREAMS.iter().any(|stream| self.value.starts_with(stream))
    }

    /// The same word with something else in place of a part, as `find -exec` has it of `{}`.
    pub(super) fn with_unknown(&self, part: &str) -> Word {
        Word {
            value: self.value.replace(part, &UNKNOWN.to_string()),
            ..self.clone()
        }
    }

    /// As it is shown: what is not known is an ellipsis.
    pub(super) fn shown(&self) -> String {
        self.written.replace(UNKNOWN, "…")
    }

    pub(super) fn into_word(self) -> ShellWord {
        ShellWord {
            text: self.text().map(str::to_string),
            written: self.shown(),
            is_pattern: self.is_pattern,
        }
    }
}

/// What reading a word came to: the word, and the texts in it that are commands.
#[derive(Default)]
pub(super) struct ReadWord {
    pub(super) word: Word,
    pub(super) scripts: Vec<String>,
}

/// Reads a word of a command.
pub(super) fn read(
    text: &str,
    flat: &FlatText,
    constants: Option<&Constants>,
) -> Result<ReadWord, MissingEnd> {
    if !text.contains(is_special) {
        let word = Word::literal(text);
        let scripts = Vec::new();
        return Ok(ReadWord { word, scripts });
    }
    let mut reader = WordReader::new(flat, constants);
    reader.read(text)?;
    // The tokenizer has taken more than one word for one.
    if reader.has_operator {
        return Err(unreadable(text));
    }
    Ok(reader.done(text))
}

/// Reads an operand of `[[`, where an expression may have blanks and operators, or an arithmetic
/// expression.
pub(super) fn read_part(
    text: &str,
    flat: &FlatText,
    constants: Option<&Constants>,
) -> Result<ReadWord, MissingEnd> {
    let mut reader = WordReader::new(flat, constants);
    reader.text(text, true)?;
    Ok(reader.done(text))
}

/// Reads the body of a here-document that is expanded.
pub(super) fn read_body(text: &str, constants: Option<&Constants>) -> Result<ReadWord, MissingEnd> {
    let flat = FlatText::of_body(text, true)?;
    let mut reader = WordReader::new(&flat, constants);
    // The parser is slow, and these texts may be large.
    if !flat.text.contains(['$', '\\', MARK]) {
        reader.push(&flat.text);
        return Ok(reader.done(&flat.text));
    }
    let pieces = word::parse_heredoc(&flat.text, &options()).map_err(|_| unreadable(text))?;
    for piece in pieces {
        reader.piece(&piece.piece, true)?;
    }
    Ok(reader.done(&flat.text))
}

fn unreadable(text: &str) -> MissingEnd {
    MissingEnd(text.chars().filter(|c| *c != MARK).take(20).collect())
}

/// Whether a word with it may be more than its letters.
fn is_special(c: char) -> bool {
    "\\'\"$`*?[()<>;&| \t\n".contains(c) || c == MARK || c == UNKNOWN
}

struct WordReader<'w> {
    flat: &'w FlatText,
    constants: Option<&'w Constants>,
    read: ReadWord,
    /// Whether a `]` is in the word. A lone `[` is the command, and `[` without its `]` is text.
    has_bracket: bool,
    /// Parentheses of `@(a|b)` that are open.
    glob_depth: usize,
    /// Whether an operator or a blank is in it without quotes.
    has_operator: bool,
}

impl<'w> WordReader<'w> {
    fn new(flat: &'w FlatText, constants: Option<&'w Constants>) -> WordReader<'w> {
        WordReader {
            flat,
            constants,
            read: ReadWord::default(),
            has_bracket: false,
            glob_depth: 0,
            has_operator: false,
        }
    }

    fn done(mut self, text: &str) -> ReadWord {
        self.read.word.written = self.flat.written(text);
        self.read
    }

    fn read(&mut self, text: &str) -> Result<(), MissingEnd> {
        self.has_bracket = text.contains(']');
        let pieces = word::parse(text, &options()).map_err(|_| unreadable(text))?;
        for piece in pieces {
            self.piece(&piece.piece, false)?;
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        self.read.word.value.push_str(text);
    }

    fn unknown(&mut self, is_quoted: bool) {
        self.read.word.value.push(UNKNOWN);
        self.read.word.may_split |= !is_quoted;
    }

    fn piece(&mut self, piece: &WordPiece, is_quoted: bool) -> Result<(), MissingEnd> {
        match piece {
            WordPiece::Text(text) => self.text(text, is_quoted)?,
            WordPiece::SingleQuotedText(text) => self.push(text),
            WordPiece::AnsiCQuotedText(text) => match ansi(text) {
                Some(value) => self.push(&value),
                None => self.unknown(true),
            },
            // What is translated is so only where there are translations.
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                for piece in pieces {
                    self.piece(&piece.piece, true)?;
                }
            }
            WordPiece::EscapeSequence(text) => self.push(&text[1..]),
            WordPiece::ParameterExpansion(ParameterExpr::Parameter { parameter, .. }) => {
                match parameter {
                    Parameter::Named(name) => self.variable(name, is_quoted),
                    // `"$@"` is as many words as there are.
                    Parameter::Special(SpecialParameter::AllPositionalParameters {
                        concatenate: false,
                    }) => self.unknown(false),
                    Parameter::Positional(_)
                    | Parameter::Special(_)
                    | Parameter::NamedWithIndex { .. }
                    | Parameter::NamedWithAllIndices { .. } => self.unknown(is_quoted),
                }
            }
            // They are cut out before.
            WordPiece::ParameterExpansion(_)
            | WordPiece::CommandSubstitution(_)
            | WordPiece::BackquotedCommandSubstitution(_)
            | WordPiece::ArithmeticExpression(_)
            | WordPiece::TildeExpansion(_) => return Err(MissingEnd("$".to_string())),
        }
        Ok(())
    }

    fn text(&mut self, text: &str, is_quoted: bool) -> Result<(), MissingEnd> {
        for piece in self.flat.pieces(text) {
            match piece {
                Piece::Part(part) => self.part(part, is_quoted)?,
                Piece::Text(text) if is_quoted => self.push(text),
                Piece::Text(text) => self.unquoted(text),
            }
        }
        Ok(())
    }

    fn unquoted(&mut self, text: &str) {
        let mut before = None;
        for c in text.chars() {
            let opens_glob = c == '(' && before.is_some_and(|c| "@!?+*".contains(c));
            match c {
                '(' if opens_glob || self.glob_depth > 0 => self.glob_depth += 1,
                ')' if self.glob_depth > 0 => self.glob_depth -= 1,
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => {
                    self.has_operator |= self.glob_depth == 0;
                }
                _ => {}
            }
            let is_pattern = opens_glob || matches!(c, '*' | '?') || c == '[' && self.has_bracket;
            self.read.word.is_pattern |= is_pattern;
            self.read.word.may_split |= c == UNKNOWN;
            before = Some(c);
        }
        self.push(text);
    }

    fn part(&mut self, part: &Part, is_quoted: bool) -> Result<(), MissingEnd> {
        match part {
            Part::Commands { is_file, .. } => self.unknown(is_quoted || *is_file),
            Part::Sum(_) | Part::Expression(_) => self.unknown(is_quoted),
            Part::Parameter { text, .. } => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if text.chars().all(is_part) {
                    self.variable(text, is_quoted);
                } else {
                    self.unknown(is_quoted && !text.contains('@'));
                }
            }
            Part::Document { .. } => return Err(MissingEnd("<<".to_string())),
        }
        self.scripts(part)
    }

    /// The value of a variable.
    fn variable(&mut self, name: &str, is_quoted: bool) {
        let value = self.constants.and_then(|known| known.get(name));
        match value {
            Some(value) if is_quoted || !may_split(value) => {
                self.read.word.value.push_str(value);
            }
            Some(_) | None => self.unknown(is_quoted),
        }
    }

    /// The texts of a part that are commands.
    fn scripts(&mut self, part: &Part) -> Result<(), MissingEnd> {
        let (text, is_quoted) = match part {
            Part::Commands { text, .. } => {
                self.read.scripts.push(text.clone());
                return Ok(());
            }
            Part::Document { .. } => return Ok(()),
            Part::Parameter { text, is_quoted } => (text, *is_quoted),
            Part::Sum(text) | Part::Expression(text) => (text, true),
        };
        // Commands that only look like a sum are read as commands too.
        if matches!(part, Part::Sum(_)) && text.contains(['\n', ';']) {
            self.read.scripts.push(format!("({text})"));
        }
        let flat = FlatText::of_body(text, is_quoted)?;
        for piece in flat.pieces(&flat.text) {
            if let Piece::Part(part) = piece {
                self.scripts(part)?;
            }
        }
        Ok(())
    }
}

/// Whether a value may become other words where it has no quotes.
fn may_split(value: &str) -> bool {
    value.is_empty() || value.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
}

/// What may change a variable without naming it, or what its value means.
const CHANGERS: &str = "IFS declare eval export getopts local mapfile printf read readarray readonly shopt \
    source typeset unset set";
/// The shell sets them itself.
const OWN: &str = "BASH COMP DIRSTACK EPOCH EUID FUNCNAME GROUPS HIST IFS LINENO MAPFILE OLDPWD OPT PATH \
    PPID PWD RANDOM READLINE REPLY SECONDS SHELLOPTS SRANDOM UID _";

/// Whether a text, in which `name` is assigned somewhere, only reads it everywhere else. Any word
/// that is its name counts as a change.
pub(super) fn is_constant(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if OWN.split(' ').any(|own| name.starts_with(own)) || text.starts_with(". ") {
        return false;
    }
    let mut named = 0;
    let mut at = 0;
    for word in text.split(|c| !is_part(c)) {
        let before = &text[..at];
        at += word.len()
            + text[at + word.len()..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
        if CHANGERS.split(' ').any(|changer| changer == word) {
            return false;
        }
        named += usize::from(word == name && !before.ends_with('$') && !before.ends_with("${"));
    }
    // `. file` reads commands that may change it.
    named == 1
        && ![" . ", ";. ", "&. ", "|. ", "\n. "]
            .iter()
            .any(|dot| text.contains(dot))
}
