//! The words that a word becomes by braces, and one word as the shell reads it: quotes taken off,
//! substitutions found.

use std::collections::HashMap;

use brush_parser::ParserOptions;
use brush_parser::word::{
    self, BraceExpressionMember, BraceExpressionOrText, Parameter, ParameterExpr, SpecialParameter,
    WordPiece,
};

use super::line::ShellWord;
use super::scan::{FlatText, MARK, MissingEnd, Part, Piece};

/// Takes the place of what only a run knows, also in a text that a shell is given and that is
/// read again. It is a private character, so that nobody writes it; who does is not known either.
pub(super) const UNKNOWN: char = '\u{10fffd}';

/// Of all words that one becomes by braces.
const MOST_BYTES: usize = 1 << 20;
/// Braces of a word, and braces in each other: the parser takes three times as long for each.
const MOST_BRACES: usize = 64;
const DEEPEST_BRACES: usize = 5;
/// Members of `{1..9}`.
const MOST_MEMBERS: u64 = 1_000;
/// Longer numbers in braces make the parser panic.
const MOST_DIGITS: usize = 18;

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
    let pieces = word::parse_heredoc(&flat.text, &options()).map_err(|_| unreadable(text))?;
    let mut reader = WordReader::new(&flat, constants);
    for piece in pieces {
        reader.piece(&piece.piece, true)?;
    }
    Ok(reader.done(&flat.text))
}

/// Words are read without `~`, which stays as it is.
fn options() -> ParserOptions {
    ParserOptions {
        tilde_expansion_at_word_start: false,
        tilde_expansion_after_colon: false,
        ..ParserOptions::default()
    }
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

/// The words that a word of a flat text becomes by `{a,b}` and `{1..3}`, quotes kept; `None` if
/// they are more than `most`, or cannot be told.
pub(super) fn expand_braces(word: &str, most: usize) -> Option<Vec<String>> {
    let pieces = if word.contains('{') {
        word::parse(word, &options()).ok()
    } else {
        None
    };
    let mut braces = 0;
    let mut depth = 0_usize;
    let mut deepest = 0;
    for piece in pieces.iter().flatten() {
        let WordPiece::Text(unquoted) = &piece.piece else {
            continue;
        };
        for c in unquoted.chars() {
            match c {
                '{' => {
                    braces += 1;
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    if braces == 0 {
        return Some(vec![word.to_string()]);
    }
    let mut numbers = word.split(|c: char| !c.is_ascii_digit());
    // The parser loses the zeros of `{01..10}`.
    let is_misread =
        |digits: &str| digits.len() > 1 && digits.starts_with('0') || digits.len() > MOST_DIGITS;
    let has_misread_number = word.contains("..") && numbers.any(is_misread);
    if braces > MOST_BRACES || deepest > DEEPEST_BRACES || has_misread_number {
        return None;
    }
    let expanded = word::parse_brace_expansions(word, &options()).ok()??;
    product(&expanded, most, false)
}

/// All ways to choose from the pieces of a word.
fn product(pieces: &[BraceExpressionOrText], most: usize, is_inner: bool) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    for piece in pieces {
        match piece {
            // The parser ends `{a,{b}}` at the first `}`.
            BraceExpressionOrText::Text(text) if is_inner && text.contains('{') => return None,
            BraceExpressionOrText::Text(text) => {
                words.iter_mut().for_each(|word| word.push_str(text));
            }
            BraceExpressionOrText::Expr(members) => {
                let mut choices = Vec::new();
                for member in members {
                    choices.extend(members_of(member, most)?);
                }
                let bytes: usize = choices.iter().map(String::len).sum();
                let written = words.iter().map(String::len).max().unwrap_or(0);
                let count = words.len() * choices.len();
                if count > most || words.len() * bytes + count * written > MOST_BYTES {
                    return None;
                }
                words = words
                    .iter()
                    .flat_map(|word| choices.iter().map(move |choice| format!("{word}{choice}")))
                    .collect();
            }
        }
    }
    Some(words)
}

fn members_of(member: &BraceExpressionMember, most: usize) -> Option<Vec<String>> {
    match member {
        BraceExpressionMember::Child(pieces) => product(pieces, most, true),
        BraceExpressionMember::NumberSequence {
            start,
            end,
            increment,
        } => Some(
            sequence(*start, *end, *increment)?
                .map(|n| n.to_string())
                .collect(),
        ),
        // Between the letters of both cases are other characters, which bash quotes.
        BraceExpressionMember::CharSequence { start, end, .. }
            if start.is_ascii_lowercase() != end.is_ascii_lowercase() =>
        {
            None
        }
        BraceExpressionMember::CharSequence {
            start,
            end,
            increment,
        } => {
            let codes = sequence(i64::from(*start as u32), i64::from(*end as u32), *increment)?;
            let chars = codes.filter_map(|code| char::from_u32(u32::try_from(code).ok()?));
            Some(chars.map(String::from).collect())
        }
    }
}

fn sequence(start: i64, end: i64, increment: i64) -> Option<impl Iterator<Item = i64>> {
    let step = increment.unsigned_abs().max(1);
    let count = start.abs_diff(end) / step;
    if count >= MOST_MEMBERS {
        return None;
    }
    let sign = if start <= end { 1 } else { -1 };
    Some((0..=count).filter_map(move |n| Some(start + sign * i64::try_from(n * step).ok()?)))
}

/// The text of `$'…'`; `None` if it is no text in UTF-8.
pub(super) fn ansi(quoted: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.chars().peekable();
    while let Some(c) = rest.next() {
        let escape = if c == '\\' { rest.next() } else { None };
        let Some(escape) = escape else {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        };
        let mut number = |radix: u32, most: usize, first: u32| {
            let digit = |c: &mut std::iter::Peekable<std::str::Chars<'_>>| {
                let digit = c.peek()?.to_digit(radix)?;
                c.next();
                Some(digit)
            };
            let digits: Vec<u32> = (0..most).map_while(|_| digit(&mut rest)).collect();
            let value = digits
                .iter()
                .fold(first, |value, digit| value.wrapping_mul(radix) | digit);
            (!digits.is_empty()).then_some(value)
        };
        match escape {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '\\' | '\'' | '"' | '?' => bytes.push(escape as u8),
            '0'..='7' => {
                let first = escape as u32 - '0' as u32;
                bytes.push(u8::try_from(number(8, 2, first).unwrap_or(first) & 0xff).ok()?);
            }
            'c' => bytes.push(u8::try_from(rest.next()?.to_ascii_uppercase()).ok()? & 0x1f),
            'x' | 'u' | 'U' => {
                let most = [('x', 2), ('u', 4), ('U', 8)]
                    .iter()
                    .find(|(name, _)| *name == escape);
                match (number(16, most.map_or(0, |(_, most)| *most), 0), escape) {
                    (None, _) => bytes.extend([b'\\', escape as u8]),
                    (Some(value), 'x') => bytes.push(u8::try_from(value).ok()?),
                    (Some(value), _) => {
                        let c = char::from_u32(value)?;
                        bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                    }
                }
            }
            other => {
                bytes.push(b'\\');
                bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }
    // A zero byte ends the text.
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    bytes.truncate(end);
    String::from_utf8(bytes).ok()
}

/// What may change a variable without naming it, or what its value means.
const CHANGERS: &[&str] = &[
    "IFS",
    "declare",
    "eval",
    "export",
    "getopts",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "shopt",
    "source",
    "typeset",
    "unset",
    "set",
];
/// The shell sets them itself.
const OWN: &[&str] = &[
    "BASH",
    "COMP",
    "DIRSTACK",
    "EPOCH",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HIST",
    "IFS",
    "LINENO",
    "MAPFILE",
    "OLDPWD",
    "OPT",
    "PATH",
    "PPID",
    "PWD",
    "RANDOM",
    "READLINE",
    "REPLY",
    "SECONDS",
    "SHELLOPTS",
    "SRANDOM",
    "UID",
    "_",
];

/// Whether a text, in which `name` is assigned somewhere, only reads it everywhere else. Any word
/// that is its name counts as a change.
pub(super) fn is_constant(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if OWN.iter().any(|own| name.starts_with(own)) || text.starts_with(". ") {
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
        if CHANGERS.contains(&word) {
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
