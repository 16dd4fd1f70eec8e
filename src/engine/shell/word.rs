//! Parses a word: removes quotes and finds substitutions.

use std::collections::HashMap;

use brush_parser::word::{self, Parameter, ParameterExpr, SpecialParameter, WordPiece};

use super::line::{ShellWord, TOP_FOLDER, UNKNOWN_PART};
use super::parse::options;
use super::quotes::ansi;
use super::scan::{FlatText, MARK, MissingEnd, Part, Piece};

/// Placeholder for unknown text, also in text that is parsed again. It is a private-use character,
/// so real text does not contain it; text that does is unknown.
pub(super) const UNKNOWN: char = '\u{10fffd}';

const TOP: char = '\u{10fffb}';

/// Value of a variable of which only [`ShellWord::is_plain`] is known.
pub(super) const PLAIN_VALUE: &str = "\u{10fffa}";

/// Programs that print one word that is not an option, or variables for `eval`.
const PLAIN: &[&str] = &[
    "git branch --show-current",
    "git rev-parse ",
    "git describe",
    "date",
    "hostname",
    "whoami",
    "id -",
    "nproc",
    "uname",
    "ssh-agent",
    "direnv hook ",
    "direnv export ",
    "brew shellenv",
    "pyenv init",
    "rbenv init",
    "mise activate",
    "fnm env",
    "starship init",
    "zoxide init",
    "opam env",
    "conda shell",
    "dircolors",
    "minikube docker-env",
];

/// Variables with conventional values.
pub(super) const USUAL: &[(&str, &str)] = &[
    ("HOME", "~"),
    ("PWD", "."),
    ("TMPDIR", "/tmp"),
    ("EDITOR", "vi"),
    ("VISUAL", "vi"),
    ("PAGER", "less"),
    ("PY", "python"),
    ("PYTHON", "python"),
    ("CC", "cc"),
    ("CXX", "c++"),
    ("CARGO", "cargo"),
    ("MAKE", "make"),
];

pub(super) type Constants = HashMap<String, String>;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Text with [`UNKNOWN`] for unknown parts.
    pub(super) value: String,
    /// Whether unquoted `*`, `?` or `[` may expand it.
    pub(super) is_pattern: bool,
    /// Whether it may become several words, or none.
    pub(super) may_split: bool,
    pub(super) is_plain: bool,
    /// Glob of the paths that it becomes, if it is not text.
    files: Option<String>,
    written: String,
}

impl Word {
    pub(super) fn unknown(written: &str) -> Word {
        Word {
            value: UNKNOWN.to_string(),
            written: written.to_string(),
            may_split: true,
            ..Word::default()
        }
    }

    pub(super) fn assignment(&self) -> Option<(&str, &str)> {
        let (name, value) = self.value.split_once('=')?;
        let mut letters = name.chars();
        let is_name = letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_name && !name.is_empty()).then_some((name, value))
    }

    pub(super) fn literal(text: &str) -> Word {
        Word {
            value: text.to_string(),
            written: text.to_string(),
            ..Word::default()
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        (!self.value.contains([UNKNOWN, TOP])).then_some(&self.value)
    }

    /// Returns true for `<(…)` and descriptors.
    pub(super) fn is_stream(&self) -> bool {
        const STREAMS: &[&str] = &["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];
        self.written.starts_with("<(")
            || STREAMS.iter().any(|stream| self.value.starts_with(stream))
    }

    /// Replaces `part` by unknown text, as `xargs` does for `{}`.
    pub(super) fn with_unknown(&self, part: &str) -> Word {
        Word {
            value: self.value.replace(part, &UNKNOWN.to_string()),
            ..self.clone()
        }
    }

    /// Creates a word for an unknown path of this glob.
    pub(super) fn with_files(&self, files: &str) -> Word {
        Word {
            files: Some(files.to_string()),
            is_plain: !files.starts_with('-'),
            may_split: false,
            ..self.clone()
        }
    }

    /// Replaces the input of `xargs` by these files.
    pub(super) fn or_files(&self, files: &[String]) -> Vec<Word> {
        let is_read = self.value.chars().eq([UNKNOWN]) && !self.written.contains(['$', '`']);
        if is_read {
            files.iter().map(|file| self.with_files(file)).collect()
        } else {
            vec![self.clone()]
        }
    }

    pub(super) fn shown(&self) -> String {
        self.written.replace(UNKNOWN, "…")
    }

    pub(super) fn into_word(self) -> ShellWord {
        let text = self.text().map(str::to_string);
        let parts = self.value.replace(UNKNOWN, &UNKNOWN_PART.to_string());
        let parts = self.files.clone().or(Some(parts.replace(TOP, TOP_FOLDER)));
        ShellWord {
            parts: parts.filter(|_| text.is_none()),
            text,
            written: self.shown(),
            is_pattern: self.is_pattern,
            is_plain: self.is_plain,
        }
    }
}

#[derive(Default)]
pub(super) struct ReadWord {
    pub(super) word: Word,
    pub(super) scripts: Vec<String>,
}

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
    // The tokenizer has joined several words.
    if reader.has_operator {
        return Err(unreadable(text));
    }
    Ok(reader.done(text))
}

/// Reads an operand of `[[`, which may have blanks and operators, or an arithmetic expression.
pub(super) fn read_part(
    text: &str,
    flat: &FlatText,
    constants: Option<&Constants>,
) -> Result<ReadWord, MissingEnd> {
    let mut reader = WordReader::new(flat, constants);
    reader.text(text, true)?;
    Ok(reader.done(text))
}

/// Reads the body of an expanded here-document.
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

fn is_special(c: char) -> bool {
    "\\'\"$`*?[()<>;&| \t\n".contains(c) || c == MARK || c == UNKNOWN
}

struct WordReader<'w> {
    flat: &'w FlatText,
    constants: Option<&'w Constants>,
    read: ReadWord,
    /// Whether the word contains `]`. A lone `[` is the command, and `[` without `]` is text.
    has_bracket: bool,
    /// Open parentheses of `@(a|b)`.
    glob_depth: usize,
    /// Whether it contains an unquoted operator or blank.
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
            // Translations are ignored.
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
                    // `"$@"` is any number of words.
                    Parameter::Special(SpecialParameter::AllPositionalParameters {
                        concatenate: false,
                    }) => self.unknown(false),
                    Parameter::Positional(_)
                    | Parameter::Special(_)
                    | Parameter::NamedWithIndex { .. }
                    | Parameter::NamedWithAllIndices { .. } => self.unknown(is_quoted),
                }
            }
            // Cut out before.
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
            Part::Commands { text, is_file } => self.output(text.trim(), is_quoted || *is_file),
            Part::Sum(_) | Part::Expression(_) => self.unknown(is_quoted),
            Part::Parameter { text, .. } => {
                let usual = text.strip_prefix("TMPDIR:-");
                if text.chars().all(is_of_name) {
                    self.variable(text, is_quoted);
                } else if let Some(folder) = usual.filter(|folder| folder.starts_with('/')) {
                    self.push(folder);
                } else {
                    self.unknown(is_quoted && !text.contains('@'));
                }
            }
            Part::Document { .. } => return Err(MissingEnd("<<".to_string())),
        }
        self.scripts(part)
    }

    fn output(&mut self, commands: &str, is_quoted: bool) {
        let is_simple = !commands.contains([';', '|', '&', '\n', '<', '>', '$', '`']);
        match commands {
            "pwd" => self.push("."),
            "git rev-parse --show-toplevel" => self.read.word.value.push(TOP),
            _ if is_simple && let Some(file) = new_file(commands) => self.push(&file),
            _ => {
                let is_first = self.read.word.value.is_empty();
                let is_plain = PLAIN.iter().any(|start| commands.starts_with(start));
                self.read.word.is_plain |= is_first && is_simple && is_plain;
                self.unknown(is_quoted);
            }
        }
    }

    fn variable(&mut self, name: &str, is_quoted: bool) {
        let value = self.constants.and_then(|known| known.get(name));
        match value.map(String::as_str) {
            Some(PLAIN_VALUE) => {
                self.read.word.is_plain |= self.read.word.value.is_empty();
                self.unknown(is_quoted);
            }
            Some(value) if is_quoted || !may_split(value) => {
                self.read.word.value.push_str(value);
            }
            Some(_) | None => self.unknown(is_quoted),
        }
    }

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
        // Commands that look like a sum are parsed as commands too.
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

/// Returns the path that a `mktemp` command creates.
fn new_file(commands: &str) -> Option<String> {
    let mut words = commands.split_whitespace();
    if words.next() != Some("mktemp") {
        return None;
    }
    let mut name = None;
    let mut is_in_tmp = false;
    for word in words {
        match word {
            "-d" | "-q" | "-u" | "--directory" | "-dq" => {}
            "-t" | "-dt" | "--tmpdir" => is_in_tmp = true,
            _ if word.starts_with('-') || name.is_some() => return None,
            _ => name = Some(word.trim_matches(['"', '\''])),
        }
    }
    match name {
        Some(name) if !is_in_tmp => Some(name.to_string()),
        _ => Some("/tmp/tmp.XXXXXXXXXX".to_string()),
    }
}

/// Returns true if an unquoted value may be split or expanded.
fn may_split(value: &str) -> bool {
    value.is_empty() || value.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
}

/// Commands that may change a variable without naming it, or change how it expands.
const CHANGERS: &str = "IFS declare eval export getopts local mapfile printf read readarray readonly shopt \
    source typeset unset set";
/// Prefixes of variables that the shell sets.
const OWN: &str = "BASH COMP DIRSTACK EPOCH EUID FUNCNAME GROUPS HIST IFS LINENO MAPFILE OLDPWD OPT PATH \
    PPID PWD RANDOM READLINE REPLY SECONDS SHELLOPTS SRANDOM UID _";

/// Returns true if a text assigns `name` only once. Any other bare occurrence counts as a change.
pub(super) fn is_constant(text: &str, name: &str) -> bool {
    if OWN.split(' ').any(|own| name.starts_with(own)) || text.starts_with(". ") {
        return false;
    }
    if variable_names(text).any(|word| CHANGERS.split(' ').any(|changer| changer == word)) {
        return false;
    }
    // `. file` may change variables.
    changes(text, name) == 1
        && ![" . ", ";. ", "&. ", "|. ", "\n. "]
            .iter()
            .any(|dot| text.contains(dot))
}

/// Counts occurrences of a variable's name other than `$NAME`.
pub(super) fn changes(text: &str, name: &str) -> usize {
    let named = text.match_indices(name).filter(|(at, _)| {
        let before = &text[..*at];
        let after = &text[at + name.len()..];
        // Or an option: `rm -f "$f"`.
        let is_read = before.ends_with(['$', '-']) || before.ends_with("${");
        !is_read && !before.ends_with(is_of_name) && !after.starts_with(is_of_name)
    });
    named.count()
}

fn variable_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_of_name(c))
}

pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
