//! One word as the shell reads it: quotes taken off, substitutions found.

use std::collections::HashMap;
use std::ops::Range;

use super::line::ShellWord;
use super::quotes::{
    MissingEnd, ansi, end_of_braces, end_of_double_quotes, end_of_escaped, end_of_parentheses,
    end_of_single_quotes, missing_end, without_backtick_escapes,
};

/// Takes the place of what only a run knows, also in a text that a shell is given and that is
/// read again. It is a private character, so that nobody writes it; who does is not known either.
pub(super) const UNKNOWN: char = '\u{10fffd}';

/// How deep `${a:-${b:-…}}` may nest: each is read twice.
const MOST_EXPANSIONS: usize = 6;

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

/// What a text is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordMode {
    /// A word of a command: an operator or a blank in it is a mistake of the tokenizer.
    Token,
    /// A part of a word, which may hold anything.
    Part,
    /// Between double quotes.
    Quoted,
    /// The body of a here-document: quotes are text.
    Body,
}

struct WordReader<'t> {
    text: &'t str,
    mode: WordMode,
    constants: Option<&'t Constants>,
    at: usize,
    /// How many `${…}` it is in.
    depth: usize,
    word: Word,
    /// Texts of commands in it.
    scripts: Vec<String>,
}

/// The texts of the commands that a word runs, and the word.
pub(super) struct ReadWord {
    pub(super) word: Word,
    pub(super) scripts: Vec<String>,
}

/// Reads a word of a command.
pub(super) fn read(text: &str, constants: Option<&Constants>) -> Result<ReadWord, MissingEnd> {
    read_as(text, WordMode::Token, constants, 0)
}

/// Reads an operand of `[[`, where an expression may have blanks and operators.
pub(super) fn read_part(text: &str, constants: Option<&Constants>) -> Result<ReadWord, MissingEnd> {
    read_as(text, WordMode::Part, constants, 0)
}

/// Reads the body of a here-document that is expanded, or an arithmetic expression.
pub(super) fn read_body(text: &str, constants: Option<&Constants>) -> Result<ReadWord, MissingEnd> {
    read_as(text, WordMode::Body, constants, 0)
}

fn read_as(
    text: &str,
    mode: WordMode,
    constants: Option<&Constants>,
    depth: usize,
) -> Result<ReadWord, MissingEnd> {
    let word = Word {
        written: text.to_string(),
        ..Word::default()
    };
    let mut reader = WordReader {
        text,
        mode,
        constants,
        at: 0,
        depth,
        word,
        scripts: Vec::new(),
    };
    match mode {
        WordMode::Token | WordMode::Part => reader.plain()?,
        WordMode::Quoted | WordMode::Body => reader.quoted(text.len(), mode)?,
    }
    Ok(ReadWord {
        word: reader.word,
        scripts: reader.scripts,
    })
}

impl WordReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn push(&mut self, text: &str) {
        self.word.value.push_str(text);
    }

    fn unknown(&mut self, is_quoted: bool) {
        self.word.value.push(UNKNOWN);
        self.word.may_split |= !is_quoted;
    }

    fn plain(&mut self) -> Result<(), MissingEnd> {
        let mut glob_depth = 0_usize;
        while let Some(c) = self.rest().chars().next() {
            let start = self.at;
            match c {
                '\\' => {
                    let escaped = self.rest()[1..].chars().next();
                    self.at += 1 + escaped.map_or(0, char::len_utf8);
                    match escaped {
                        Some('\n') => {}
                        Some(c) => self.word.value.push(c),
                        None => self.word.value.push('\\'),
                    }
                }
                '\'' => {
                    let end = end_of_single_quotes(self.text, start + 1)?;
                    self.word.value.push_str(&self.text[start + 1..end]);
                    self.at = end + 1;
                }
                '"' => {
                    let end = end_of_double_quotes(self.text, start + 1, 0)?;
                    self.at += 1;
                    self.quoted(end, WordMode::Quoted)?;
                    self.at = end + 1;
                }
                '$' | '`' => self.substitution(false)?,
                '<' | '>' if self.rest()[1..].starts_with('(') => {
                    let end = end_of_parentheses(self.text, start + 2, 0)?;
                    self.scripts.push(self.text[start + 2..end].to_string());
                    self.unknown(true);
                    self.at = end + 1;
                }
                _ => {
                    let opens_glob =
                        c == '(' && self.text[..start].ends_with(['@', '!', '?', '+', '*']);
                    match c {
                        '(' if opens_glob || glob_depth > 0 => glob_depth += 1,
                        ')' if glob_depth > 0 => glob_depth -= 1,
                        ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
                            if glob_depth == 0 && self.mode == WordMode::Token =>
                        {
                            return Err(missing_end(self.text, start));
                        }
                        _ => {}
                    }
                    // A lone `[` is the command, and `[` without its `]` is text.
                    self.word.is_pattern |= opens_glob
                        || matches!(c, '*' | '?')
                        || c == '[' && self.rest().contains(']');
                    self.word.may_split |= c == UNKNOWN;
                    self.word.value.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        Ok(())
    }

    /// What is between double quotes or in a body, up to `end`.
    fn quoted(&mut self, end: usize, mode: WordMode) -> Result<(), MissingEnd> {
        while self.at < end {
            let rest = &self.text[self.at..end];
            match rest.as_bytes() {
                [b'\\', b'\n', ..] => self.at += 2,
                [b'\\', c @ (b'$' | b'`' | b'"' | b'\\'), ..]
                    if *c != b'"' || mode == WordMode::Quoted =>
                {
                    self.word.value.push(char::from(*c));
                    self.at += 2;
                }
                [b'$' | b'`', ..] => self.substitution(true)?,
                _ => {
                    let next = rest
                        .bytes()
                        .skip(1)
                        .position(|byte| b"\\$`".contains(&byte));
                    let length = next.map_or(rest.len(), |at| at + 1);
                    self.push(&self.text[self.at..self.at + length]);
                    self.at += length;
                }
            }
        }
        Ok(())
    }

    /// What begins with `$` or a backtick.
    fn substitution(&mut self, is_quoted: bool) -> Result<(), MissingEnd> {
        let (text, start) = (self.text, self.at);
        let after = start + 2;
        self.at = match &text.as_bytes()[start..] {
            [b'`', ..] => {
                let end = end_of_escaped(text, start + 1, b'`')?;
                self.scripts
                    .push(without_backtick_escapes(&text[start + 1..end], is_quoted));
                self.unknown(is_quoted);
                end + 1
            }
            [_, b'(', ..] => {
                let end = end_of_parentheses(text, after, 0)?;
                self.unknown(is_quoted);
                self.parentheses(&text[after..end])?;
                end + 1
            }
            [_, b'[', ..] => {
                let end = text[after..]
                    .find(']')
                    .ok_or_else(|| missing_end(text, start))?
                    + after;
                self.unknown(is_quoted);
                self.inside(after..end)?;
                end + 1
            }
            [_, b'{', ..] => {
                let end = end_of_braces(text, after, 0)?;
                if !self.variable(&text[after..end], is_quoted) {
                    self.inside(after..end)?;
                }
                end + 1
            }
            [_, b'\'', ..] if !is_quoted => {
                let end = end_of_escaped(text, after, b'\'')?;
                match ansi(&text[after..end]) {
                    Some(value) => self.push(&value),
                    None => self.unknown(true),
                }
                end + 1
            }
            // `$"…"` is translated, where there are translations.
            [_, b'"', ..] if !is_quoted => start + 1,
            [_, c, ..] if c.is_ascii_alphabetic() || *c == b'_' => {
                let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = text[after..]
                    .find(|c| !name(c))
                    .map_or(text.len(), |at| after + at);
                self.variable(&text[start + 1..end], is_quoted);
                end
            }
            [_, c, ..] if c.is_ascii_digit() || b"@*#?-$!".contains(c) => {
                // `"$@"` is as many words as there are.
                self.unknown(is_quoted && *c != b'@');
                after
            }
            _ => {
                self.push("$");
                start + 1
            }
        };
        Ok(())
    }

    /// The value of a variable. Whether it is all that is between the braces.
    fn variable(&mut self, name: &str, is_quoted: bool) -> bool {
        let splits = |value: &String| {
            value.is_empty() || value.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
        };
        match self
            .constants
            .and_then(|known| known.get(name))
            .filter(|value| is_quoted || !splits(value))
        {
            Some(value) => self.word.value.push_str(value),
            None => self.unknown(is_quoted && !name.contains('@')),
        }
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// `$( … )`: a command substitution, or `$(( … ))`: arithmetic.
    fn parentheses(&mut self, inner: &str) -> Result<(), MissingEnd> {
        let is_arithmetic = inner.starts_with('(')
            && inner.ends_with(')')
            && end_of_parentheses(inner, 1, 0).is_ok_and(|end| end + 1 == inner.len());
        if !is_arithmetic {
            self.scripts.push(inner.to_string());
            return Ok(());
        }
        let body = &inner[1..inner.len() - 1];
        // Commands that only look like arithmetic are read as commands too.
        if body.contains(['\n', ';']) {
            self.scripts.push(inner.to_string());
        }
        let mut read = read_as(body, WordMode::Body, self.constants, self.depth)?;
        self.scripts.append(&mut read.scripts);
        Ok(())
    }

    /// Commands in a parameter expansion or an arithmetic one; its value is not known.
    fn inside(&mut self, range: Range<usize>) -> Result<(), MissingEnd> {
        let inner = &self.text[range];
        if self.depth >= MOST_EXPANSIONS {
            return Err(missing_end(self.text, self.at));
        }
        // Read twice, because quotes count in some of its places and not in others.
        let both = [WordMode::Part, WordMode::Body]
            .map(|mode| read_as(inner, mode, self.constants, self.depth + 1));
        if both.iter().all(Result::is_err) {
            return Err(missing_end(self.text, self.at));
        }
        for script in both.into_iter().flatten().flat_map(|read| read.scripts) {
            if !self.scripts.contains(&script) {
                self.scripts.push(script);
            }
        }
        Ok(())
    }
}
