//! One word as the shell reads it: quotes taken off, substitutions found.
//!
//! The reader is linear in the length of the word but for nested substitutions, whose depth is
//! bounded. It knows no variables: a piece whose value only the run knows makes the word unknown.

use std::ops::Range;

use super::line::ShellWord;

/// What the reader found in a word.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text; `None` if a part of it is known at run time only.
    pub(super) text: Option<String>,
    /// Whether unquoted `*`, `?` or `[` may make other words of it.
    pub(super) is_pattern: bool,
    /// The word as a shell would have to be given it to read the same: unknown parts are `${_}`.
    pub(super) source: String,
    /// Its text with `${_}` for what is not known.
    raw: String,
    /// The word as it was written.
    written: String,
}

impl Word {
    /// A word that only the run knows.
    pub(super) fn unknown() -> Word {
        Word { source: "${_}".to_string(), ..Word::default() }
    }

    pub(super) fn into_word(self) -> ShellWord {
        ShellWord { text: self.text, written: self.written, is_pattern: self.is_pattern }
    }

    /// Its text with `${_}` for what is not known.
    pub(super) fn raw(&self) -> String {
        if self.raw.is_empty() { "${_}".to_string() } else { self.raw.clone() }
    }
}

/// A construct that the reader cannot find the end of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable(pub String);

/// How deep substitutions may nest in one word.
const DEEPEST: usize = 24;

/// What a text is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordMode {
    /// A word: quotes are taken off.
    Plain,
    /// Between double quotes, or the body of a here-document: single quotes are text.
    Quoted,
}

#[derive(Debug)]
struct WordReader<'t> {
    text: &'t str,
    at: usize,
    is_known: bool,
    is_pattern: bool,
    value: String,
    source: String,
    /// Texts of commands in it.
    scripts: Vec<String>,
}

/// Reads a word. The texts of its command substitutions are added to `scripts`.
pub(super) fn read(text: &str, scripts: &mut Vec<String>) -> Result<Word, Unreadable> {
    read_as(text, WordMode::Plain, scripts)
}

/// Reads the body of a here-document that is expanded, or an arithmetic expression.
pub(super) fn read_body(text: &str, scripts: &mut Vec<String>) -> Result<Word, Unreadable> {
    read_as(text, WordMode::Quoted, scripts)
}

fn read_as(text: &str, mode: WordMode, scripts: &mut Vec<String>) -> Result<Word, Unreadable> {
    let mut reader = WordReader {
        text,
        at: 0,
        is_known: true,
        is_pattern: false,
        value: String::new(),
        source: String::new(),
        scripts: Vec::new(),
    };
    match mode {
        WordMode::Plain => reader.plain()?,
        WordMode::Quoted => reader.quoted(text.len())?,
    }
    scripts.append(&mut reader.scripts);
    let raw = reader.value;
    let text = reader.is_known.then(|| raw.clone());
    let written = reader.text.to_string();
    Ok(Word { text, is_pattern: reader.is_pattern, source: reader.source, raw, written })
}

impl WordReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn literal(&mut self, text: &str) {
        self.value.push_str(text);
        self.source.push('\'');
        self.source.push_str(&text.replace('\'', r"'\''"));
        self.source.push('\'');
    }

    /// A piece that only the run knows.
    fn unknown(&mut self) {
        self.is_known = false;
        self.source.push_str("${_}");
        self.value.push_str("${_}");
    }

    fn plain(&mut self) -> Result<(), Unreadable> {
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\\' => {
                    let mut rest = self.rest().chars();
                    rest.next();
                    let escaped = rest.next();
                    self.at += 1 + escaped.map_or(0, char::len_utf8);
                    match escaped {
                        Some('\n') => {}
                        Some(c) => self.literal(c.encode_utf8(&mut [0; 4])),
                        None => self.literal("\\"),
                    }
                }
                '\'' => {
                    let end = self.find('\'', 1)?;
                    let text = self.text[self.at + 1..end].to_string();
                    self.literal(&text);
                    self.at = end + 1;
                }
                '"' => {
                    let end = end_of_double_quotes(self.text, self.at, 0)?;
                    self.at += 1;
                    self.literal("");
                    self.quoted(end)?;
                    self.at = end + 1;
                }
                '$' | '`' => self.substitution(true)?,
                '<' | '>' if self.rest()[1..].starts_with('(') => {
                    let start = self.at + 2;
                    let end = end_of_parentheses(self.text, start, 0)?;
                    self.scripts.push(self.text[start..end].to_string());
                    self.unknown();
                    self.at = end + 1;
                }
                _ => {
                    // A lone `[` is the command, and `[` without its `]` is text.
                    self.is_pattern |=
                        matches!(c, '*' | '?') || c == '[' && self.rest().contains(']');
                    self.value.push(c);
                    self.source.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        Ok(())
    }

    /// What stands between double quotes, up to `end`.
    fn quoted(&mut self, end: usize) -> Result<(), Unreadable> {
        while self.at < end {
            let Some(c) = self.rest().chars().next() else { break };
            match c {
                '\\' => {
                    let next = self.rest()[1..].chars().next().filter(|_| self.at + 1 < end);
                    match next {
                        Some('\n') => self.at += 2,
                        Some(c @ ('$' | '`' | '"' | '\\')) => {
                            self.literal(c.encode_utf8(&mut [0; 4]));
                            self.at += 2;
                        }
                        _ => {
                            self.literal("\\");
                            self.at += 1;
                        }
                    }
                }
                '$' | '`' => self.substitution(false)?,
                _ => {
                    let length =
                        self.text[self.at..end].find(['\\', '$', '`']).unwrap_or(end - self.at);
                    let text = self.text[self.at..self.at + length].to_string();
                    self.literal(&text);
                    self.at += length;
                }
            }
        }
        Ok(())
    }

    /// What begins with `$` or a backtick.
    fn substitution(&mut self, quotes: bool) -> Result<(), Unreadable> {
        let text = self.text;
        let start = self.at;
        let mut rest = self.rest().chars();
        let first = rest.next();
        let second = rest.next();
        let after = start + 2;
        match (first, second) {
            (Some('`'), _) => {
                let end = end_of_backticks(text, start)?;
                self.scripts.push(without_backtick_escapes(&text[start + 1..end], !quotes));
                self.unknown();
                self.at = end + 1;
            }
            (_, Some('(')) => {
                let end = end_of_parentheses(text, after, 0)?;
                self.parentheses(&text[after..end])?;
                self.at = end + 1;
            }
            (_, Some('[')) => {
                let end = self.find(']', 2)?;
                self.inside(after..end)?;
                self.at = end + 1;
            }
            (_, Some('{')) => {
                let end = end_of_braces(text, after, 0)?;
                self.inside(after..end)?;
                self.at = end + 1;
            }
            (_, Some('\'')) if quotes => {
                let end = end_of_ansi_quotes(text, after)?;
                match ansi(&text[after..end]) {
                    Some(value) => self.literal(&value),
                    None => self.unknown(),
                }
                self.at = end + 1;
            }
            (_, Some('"')) if quotes => {
                let end = end_of_double_quotes(text, start + 1, 0)?;
                self.at = after;
                self.literal("");
                self.quoted(end)?;
                self.at = end + 1;
            }
            (_, Some(c)) if c.is_ascii_alphabetic() || c == '_' => {
                let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let length = text[start + 1..].find(|c| !name(c));
                self.at = length.map_or(text.len(), |length| start + 1 + length);
                self.unknown();
            }
            (_, Some(c)) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at = after;
                self.unknown();
            }
            _ => {
                self.literal("$");
                self.at = start + 1;
            }
        }
        Ok(())
    }

    /// `$( … )`: a command substitution, or `$(( … ))`: arithmetic.
    fn parentheses(&mut self, inner: &str) -> Result<(), Unreadable> {
        let is_arithmetic = inner.starts_with('(')
            && inner.ends_with(')')
            && end_of_parentheses(inner, 1, 0).is_ok_and(|end| end + 1 == inner.len());
        self.unknown();
        if is_arithmetic {
            let body = &inner[1..inner.len() - 1];
            // Commands that only look like arithmetic are read as commands too.
            if body.contains(['\n', ';']) {
                self.scripts.push(inner.to_string());
            }
            read_body(body, &mut self.scripts)?;
        } else {
            self.scripts.push(inner.to_string());
        }
        Ok(())
    }

    /// Commands in a parameter expansion or an arithmetic one; its value is not known.
    fn inside(&mut self, range: Range<usize>) -> Result<(), Unreadable> {
        self.unknown();
        let inner = &self.text[range];
        // Read twice, because quotes count in some of its places and not in others.
        let mut scripts = Vec::new();
        let plain = read(inner, &mut scripts);
        let quoted = read_body(inner, &mut scripts);
        if plain.is_err() && quoted.is_err() {
            return Err(Unreadable(format!("${{{inner}}}")));
        }
        scripts.dedup();
        self.scripts.append(&mut scripts);
        Ok(())
    }

    fn find(&self, wanted: char, skipped: usize) -> Result<usize, Unreadable> {
        let from = self.at + skipped;
        let found = self.text[from..].find(wanted).map(|at| from + at);
        found.ok_or_else(|| Unreadable(self.rest().chars().take(20).collect()))
    }
}

fn unreadable(text: &str, at: usize) -> Unreadable {
    let start = text[..at.min(text.len())].rfind('$').unwrap_or(0);
    Unreadable(text[start..].chars().take(20).collect())
}

/// Where the quote at `start` ends.
fn end_of_double_quotes(text: &str, start: usize, depth: usize) -> Result<usize, Unreadable> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at),
            b'\\' => at += 2,
            b'`' => at = end_of_backticks(text, at)? + 1,
            b'$' => at = end_of_dollar(text, at, depth)?,
            _ => at += 1,
        }
    }
    Err(unreadable(text, start))
}

/// Where what begins with `$` ends, if it has an end of its own; else what follows the `$`.
fn end_of_dollar(text: &str, at: usize, depth: usize) -> Result<usize, Unreadable> {
    if depth > DEEPEST {
        return Err(unreadable(text, at));
    }
    match text.as_bytes().get(at + 1) {
        Some(b'(') => Ok(end_of_parentheses(text, at + 2, depth + 1)? + 1),
        Some(b'{') => Ok(end_of_braces(text, at + 2, depth + 1)? + 1),
        _ => Ok(at + 1),
    }
}

fn end_of_backticks(text: &str, start: usize) -> Result<usize, Unreadable> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'`' => return Ok(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err(unreadable(text, start))
}

fn end_of_ansi_quotes(text: &str, start: usize) -> Result<usize, Unreadable> {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\'' => return Ok(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err(unreadable(text, start))
}

fn end_of_single_quotes(text: &str, start: usize) -> Result<usize, Unreadable> {
    text[start + 1..].find('\'').map(|at| start + 1 + at).ok_or_else(|| unreadable(text, start))
}

/// Where the `)` is that ends what begins at `start`. Quotes, comments and nested parentheses
/// are skipped.
fn end_of_parentheses(text: &str, start: usize, depth: usize) -> Result<usize, Unreadable> {
    let bytes = text.as_bytes();
    let mut open = 0_usize;
    let mut at = start;
    let mut is_start_of_word = true;
    while let Some(byte) = bytes.get(at) {
        let was_start = is_start_of_word;
        is_start_of_word = matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')');
        match byte {
            b')' if open == 0 => return Ok(at),
            b')' => {
                open -= 1;
                at += 1;
            }
            b'(' => {
                open += 1;
                at += 1;
            }
            b'\\' => at += 2,
            b'\'' if bytes.get(at.wrapping_sub(1)) == Some(&b'$') && at > start => {
                at = end_of_ansi_quotes(text, at + 1)? + 1;
            }
            b'\'' => at = end_of_single_quotes(text, at)? + 1,
            b'"' => at = end_of_double_quotes(text, at, depth)? + 1,
            b'`' => at = end_of_backticks(text, at)? + 1,
            b'$' => at = end_of_dollar(text, at, depth)?,
            b'#' if was_start => {
                at = text[at..].find('\n').map_or(text.len(), |line| at + line);
            }
            _ => at += 1,
        }
    }
    Err(unreadable(text, start))
}

/// Where the `}` of a parameter expansion is.
fn end_of_braces(text: &str, start: usize, depth: usize) -> Result<usize, Unreadable> {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'}' => return Ok(at),
            b'\\' => at += 2,
            b'\'' => at = end_of_single_quotes(text, at)? + 1,
            b'"' => at = end_of_double_quotes(text, at, depth)? + 1,
            b'`' => at = end_of_backticks(text, at)? + 1,
            b'$' => at = end_of_dollar(text, at, depth)?,
            _ => at += 1,
        }
    }
    Err(unreadable(text, start))
}

fn without_backtick_escapes(text: &str, in_quotes: bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let taken = |next: &char| matches!(next, '`' | '$' | '\\') || in_quotes && *next == '"';
        match (c, rest.peek()) {
            ('\\', Some(next)) if taken(next) => {}
            _ => plain.push(c),
        }
        if c == '\\' && rest.peek().is_some_and(taken) {
            plain.extend(rest.next());
        }
    }
    plain
}

/// The text of `$'…'`; `None` if it is no text in UTF-8.
fn ansi(quoted: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let Some(escape) = rest.next() else {
            bytes.push(b'\\');
            break;
        };
        let mut digits = |radix: u32, most: usize, first: Option<char>| {
            let mut value = first.and_then(|c| c.to_digit(radix)).unwrap_or(0);
            let mut count = usize::from(first.is_some());
            while count < most {
                let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else { break };
                value = value * radix + digit;
                rest.next();
                count += 1;
            }
            (value, count)
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
            'x' => match digits(16, 2, None) {
                (_, 0) => bytes.extend(b"\\x"),
                (value, _) => bytes.push(u8::try_from(value).ok()?),
            },
            '0'..='7' => {
                let (value, _) = digits(8, 3, Some(escape));
                bytes.push(u8::try_from(value & 0xff).ok()?);
            }
            'u' | 'U' => match digits(16, if escape == 'u' { 4 } else { 8 }, None) {
                (_, 0) => bytes.extend([b'\\', escape as u8]),
                (value, _) => {
                    let c = char::from_u32(value)?;
                    bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                }
            },
            'c' => {
                let c = rest.next()?;
                bytes.push(u8::try_from(c.to_ascii_uppercase()).ok()? & 0x1f);
            }
            other => {
                bytes.push(b'\\');
                bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }
    // A zero byte ends the text.
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8(bytes).ok()
}
