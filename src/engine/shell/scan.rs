//! Cuts a text into parts that brush-parser reads correctly.
//!
//! brush-parser recurses for each substitution in a word, and supports neither `case` nor comments
//! and here-documents inside. So substitutions, sums and here-document bodies are replaced by a
//! number between two [`MARK`]s. Substitutions are parsed separately. Cutting is linear in the
//! length of the text, except for nested substitutions, whose depth is limited.

use super::quotes::{HereDocument, without_backtick_escapes};

/// A private-use character. A command that contains it is in doubt.
pub(super) const MARK: char = '\u{10fffc}';

const LONGEST_BYTES: usize = 1 << 20;
/// Nesting of substitutions in one word.
const DEEPEST: usize = 24;
/// Parentheses that may begin a sum; each searches for its end.
const MOST_SUMS: usize = 64;
pub(super) const BOUNDARIES: &[u8] = b" \t\n;&|()<>";
/// Words after which a command may begin.
const BEFORE_COMMANDS: &[&str] = &[
    "then", "do", "else", "elif", "{", "}", "if", "while", "until", "!", "time", "fi", "done",
    "esac",
];
/// Words that begin a compound command, in which the parser recurses.
const OPENINGS: &[&str] = &[
    "{", "if", "while", "until", "for", "case", "select", "[[", "function", "coproc",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingEnd(pub(super) String);

#[derive(Debug)]
pub(super) enum Part {
    /// `$(…)`, backticks, or `<(…)` if `is_file`.
    Commands { text: String, is_file: bool },
    /// Inside of `$((…))`.
    Sum(String),
    /// Inside of `((…))` or `$[…]`.
    Expression(String),
    /// Inside of `${…}`.
    Parameter { text: String, is_quoted: bool },
    /// Body of a here-document.
    Document { body: String, is_expanded: bool },
}

#[derive(Debug, Default)]
pub(super) struct FlatText {
    pub(super) text: String,
    pub(super) depth: usize,
    parts: Vec<(Part, String)>,
    /// Whether several commands follow the first here-documents.
    pub(super) goes_on_after_document: bool,
}

pub(super) enum Piece<'f> {
    Text(&'f str),
    Part(&'f Part),
}

impl FlatText {
    pub(super) fn of_commands(text: &str) -> Result<FlatText, MissingEnd> {
        let mut scanner = TextScanner::new(text, 0, 0, true);
        scanner.commands(false)?;
        Ok(scanner.flat)
    }

    /// Cuts a text without quoting: a here-document, a sum, the inside of `${…}`. The latter may
    /// have quotes, so that too much is read, but never executed.
    pub(super) fn of_body(text: &str, is_quoted: bool) -> Result<FlatText, MissingEnd> {
        let mut scanner = TextScanner::new(text, 0, 0, true);
        while let Some(byte) = scanner.byte() {
            match byte {
                b'\\' => scanner.escape(),
                b'$' | b'`' | b'<' | b'>' if scanner.part(is_quoted)? => {}
                _ => scanner.advance_to_special(),
            }
        }
        Ok(scanner.flat)
    }

    pub(super) fn pieces<'f>(&'f self, text: &'f str) -> impl Iterator<Item = Piece<'f>> {
        let pieces = text.split(MARK).enumerate();
        pieces.filter_map(|(number, piece)| {
            if number % 2 == 0 {
                return Some(Piece::Text(piece));
            }
            let (part, _) = self.parts.get(piece.parse::<usize>().ok()?)?;
            Some(Piece::Part(part))
        })
    }

    /// Returns the here-document body of a mark, and whether it is expanded.
    pub(super) fn document<'f>(&'f self, text: &'f str) -> Option<(&'f str, bool)> {
        match self.pieces(text).nth(1) {
            Some(Piece::Part(Part::Document { body, is_expanded })) => Some((body, *is_expanded)),
            _ => None,
        }
    }

    /// Restores the source of a part of the flat text.
    pub(super) fn written(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        for (number, piece) in text.split(MARK).enumerate() {
            let part = piece.parse().ok().filter(|_| number % 2 == 1);
            match part.and_then(|at: usize| self.parts.get(at)) {
                Some((_, part)) => written.push_str(part),
                None => written.push_str(piece),
            }
        }
        written
    }

    fn cut(&mut self, part: Part, written: &str) {
        let number = self.parts.len();
        self.text.push_str(&format!("{MARK}{number}{MARK}"));
        self.parts.push((part, written.to_string()));
    }
}

struct TextScanner<'t> {
    text: &'t str,
    at: usize,
    nesting: usize,
    /// Whether to build the flat text; otherwise only finds the end.
    keeps: bool,
    flat: FlatText,
    waiting: Vec<HereDocument>,
    sums: usize,
}

struct CommandPlace {
    starts_word: bool,
    begins_command: bool,
    is_after_pipe: bool,
    /// Open compound commands, parentheses and `case`s, and consecutive `!`s.
    compounds: usize,
    parentheses: usize,
    cases: usize,
    negations: usize,
}

impl<'t> TextScanner<'t> {
    fn new(text: &'t str, at: usize, nesting: usize, keeps: bool) -> TextScanner<'t> {
        TextScanner {
            text,
            at,
            nesting,
            keeps,
            flat: FlatText::default(),
            waiting: Vec::new(),
            sums: 0,
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn missing_end(&self) -> MissingEnd {
        let before = &self.text[..self.at.min(self.text.len())];
        let start = before.rfind('$').unwrap_or(0);
        MissingEnd(self.text[start..].chars().take(20).collect())
    }

    fn push(&mut self, text: &str) {
        if self.keeps {
            self.flat.text.push_str(text);
        }
    }

    fn advance(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        self.push(&self.text[self.at..end]);
        self.at = end;
    }

    /// Advances at least one character, to the next special byte.
    fn advance_to_special(&mut self) {
        let next = self
            .rest()
            .bytes()
            .skip(1)
            .position(|byte| b"\\'\"$`}".contains(&byte) || BOUNDARIES.contains(&byte));
        self.advance(next.map_or(self.text.len(), |at| at + 1));
    }

    /// Reads a backslash and the escaped character. Joins continued lines.
    fn escape(&mut self) {
        match self.rest()[1..].chars().next() {
            Some('\n') => self.at += 2,
            escaped => self.advance(1 + escaped.map_or(0, char::len_utf8)),
        }
    }

    /// Reads commands up to the end, or up to the closing parenthesis.
    fn commands(&mut self, is_closed: bool) -> Result<(), MissingEnd> {
        if self.nesting > DEEPEST {
            return Err(self.missing_end());
        }
        let mut place = CommandPlace {
            starts_word: true,
            begins_command: true,
            is_after_pipe: false,
            compounds: 0,
            parentheses: 0,
            cases: 0,
            negations: 0,
        };
        while let Some(byte) = self.byte() {
            let starts_word = place.starts_word;
            place.starts_word = BOUNDARIES.contains(&byte);
            match byte {
                b'\\' if self.rest().starts_with("\\\n") => {
                    self.at += 2;
                    place.starts_word = starts_word;
                }
                b')' if is_closed && place.parentheses == 0 && place.cases == 0 => return Ok(()),
                b'\\' | b'\'' | b'"' | b'$' | b'`' => {
                    self.quoted_or_part()?;
                    place.begins_command = false;
                    place.is_after_pipe = false;
                }
                b'#' if starts_word => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                    place.starts_word = true;
                }
                b'<' | b'>' if self.part(false)? => {}
                b'<' if self.rest().starts_with("<<<") => self.advance(3),
                b'<' if self.rest().starts_with("<<") => self.here_document()?,
                b'(' if starts_word && self.sum()? => {}
                b'(' => {
                    place.parentheses += 1;
                    place.begins_command = true;
                    self.advance(1);
                    if starts_word {
                        self.part_groups();
                    }
                }
                b')' => {
                    place.parentheses = place.parentheses.saturating_sub(1);
                    place.begins_command = true;
                    self.advance(1);
                }
                b'\n' => {
                    place.begins_command = true;
                    self.advance(1);
                    self.documents()?;
                }
                b';' | b'&' | b'|' => {
                    place.begins_command = true;
                    place.is_after_pipe = byte == b'|';
                    self.advance(1);
                    // The parser rejects `|&` after `[[ ]]`.
                    if byte == b'|' && self.byte() == Some(b'&') {
                        self.at += 1;
                    }
                }
                b' ' | b'\t' | b'<' | b'>' => self.advance(1),
                _ if starts_word => self.word(&mut place),
                _ => self.advance_to_special(),
            }
            let depth = place.compounds + place.parentheses + place.negations;
            self.flat.depth = self.flat.depth.max(depth);
        }
        if is_closed {
            return Err(self.missing_end());
        }
        if !self.waiting.is_empty() {
            return Err(MissingEnd("<<".to_string()));
        }
        Ok(())
    }

    /// Reads the beginning of a word. Rewrites bash syntax that the parser rejects: `select`, `!`
    /// after `|`, `esac )`, and `{name}>file`.
    fn word(&mut self, place: &mut CommandPlace) {
        let mut bytes = self.rest().bytes();
        let end = bytes.position(|byte| BOUNDARIES.contains(&byte));
        let word = &self.rest()[..end.unwrap_or(self.rest().len())];
        let after = &self.rest()[word.len()..];
        let begins = place.begins_command;
        let is_after_pipe = std::mem::take(&mut place.is_after_pipe);
        place.begins_command = begins && BEFORE_COMMANDS.contains(&word);
        place.negations = if word == "!" { place.negations + 1 } else { 0 };
        if OPENINGS.contains(&word) {
            place.compounds += 1;
        } else if begins && matches!(word, "}" | "fi" | "done" | "esac") {
            place.compounds = place.compounds.saturating_sub(1);
        }
        match word {
            "case" if begins => place.cases += 1,
            "in" if place.cases > 0 => place.begins_command = true,
            "select" if begins => {
                self.push("for");
                self.at += word.len();
                return;
            }
            "!" if begins && is_after_pipe => {
                place.is_after_pipe = true;
                self.at += 1;
                return;
            }
            "esac" if begins => {
                place.cases = place.cases.saturating_sub(1);
                if after.trim_start_matches([' ', '\t']).starts_with(')') {
                    self.push("esac;");
                    self.at += word.len();
                    return;
                }
            }
            _ if is_descriptor_name(word) && after.starts_with(['<', '>']) => {
                self.at += word.len();
                return;
            }
            _ => {}
        }
        self.advance_to_special();
    }

    /// Reads a quote, an escape, or text that begins with `$` or a backtick.
    fn quoted_or_part(&mut self) -> Result<(), MissingEnd> {
        match self.rest().as_bytes() {
            // The tokenizer misreads these.
            [b'$', b'$', b'(' | b'{' | b'[' | b'\'', ..] | [b'\\', b'$', b'\'', ..] => {
                return Err(MissingEnd("$".to_string()));
            }
            [b'\\', ..] => self.escape(),
            [b'\'', ..] => match self.rest()[1..].find('\'') {
                Some(end) => self.advance(end + 2),
                None => return Err(self.missing_end()),
            },
            [b'$', b'\'', ..] => {
                let end = self.end_of_escaped(self.at + 2, b'\'')?;
                self.advance(end + 1 - self.at);
            }
            [b'"', ..] => self.double_quotes()?,
            _ if self.part(false)? => {}
            [b'$', b'$' | b'!' | b'#' | b'?' | b'-' | b'@' | b'*', ..] => self.advance(2),
            _ => self.advance(1),
        }
        Ok(())
    }

    fn double_quotes(&mut self) -> Result<(), MissingEnd> {
        self.advance(1);
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => {
                    self.advance(1);
                    return Ok(());
                }
                b'\\' => self.escape(),
                b'$' if self.rest().starts_with("$$") => {
                    if self.rest()[2..].starts_with(['(', '{', '[']) {
                        return Err(MissingEnd("$".to_string()));
                    }
                    self.advance(2);
                }
                b'$' | b'`' if self.part(true)? => {}
                _ => self.advance_to_special(),
            }
        }
        Err(self.missing_end())
    }

    fn part(&mut self, is_quoted: bool) -> Result<bool, MissingEnd> {
        let start = self.at;
        let (end, part) = match self.rest().as_bytes() {
            [b'`', ..] => {
                let end = self.end_of_escaped(start + 1, b'`')?;
                let text = without_backtick_escapes(&self.text[start + 1..end], is_quoted);
                let is_file = false;
                (end, Part::Commands { text, is_file })
            }
            [b'$', b'(', ..] => {
                let end = self.end_of_commands(start + 2)?;
                let inner = &self.text[start + 2..end];
                (end, self.commands_or_sum(inner))
            }
            [b'<' | b'>', b'(', ..] if !is_quoted => {
                let end = self.end_of_commands(start + 2)?;
                let text = self.text[start + 2..end].to_string();
                let is_file = true;
                (end, Part::Commands { text, is_file })
            }
            [b'$', b'{', ..] => {
                let end = self.end_of_braces(start + 2)?;
                let text = self.text[start + 2..end].to_string();
                (end, Part::Parameter { text, is_quoted })
            }
            [b'$', b'[', ..] => {
                let length = self.rest().find(']').ok_or_else(|| self.missing_end())?;
                let inner = self.text[start + 2..start + length].to_string();
                (start + length, Part::Expression(inner))
            }
            _ => return Ok(false),
        };
        if self.keeps {
            self.flat.cut(part, &self.text[start..=end]);
        }
        self.at = end + 1;
        Ok(true)
    }

    fn commands_or_sum(&self, inner: &str) -> Part {
        if self.keeps
            && let Some(sum) = inner.strip_prefix('(').and_then(|it| it.strip_suffix(')'))
            && end_of_commands(inner, 1, 0).is_ok_and(|end| end + 1 == inner.len())
        {
            return Part::Sum(sum.to_string());
        }
        Part::Commands {
            text: inner.to_string(),
            is_file: false,
        }
    }

    fn end_of_commands(&self, start: usize) -> Result<usize, MissingEnd> {
        end_of_commands(self.text, start, self.nesting + 1)
    }

    fn end_of_braces(&self, start: usize) -> Result<usize, MissingEnd> {
        let mut inside = TextScanner::new(self.text, start, self.nesting + 1, false);
        if inside.nesting > DEEPEST {
            return Err(inside.missing_end());
        }
        while let Some(byte) = inside.byte() {
            match byte {
                b'}' => return Ok(inside.at),
                b'\\' | b'\'' | b'"' | b'$' | b'`' => inside.quoted_or_part()?,
                b'<' | b'>' if inside.part(false)? => {}
                _ => inside.advance_to_special(),
            }
        }
        Err(inside.missing_end())
    }

    /// Returns the end of backticks or `$'…'`, skipping escapes.
    fn end_of_escaped(&self, start: usize, end: u8) -> Result<usize, MissingEnd> {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while let Some(byte) = bytes.get(at) {
            match byte {
                byte if *byte == end => return Ok(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        Err(self.missing_end())
    }

    /// Cuts out the inside of `((…))`; a loop's head keeps three parts for the parser. Returns
    /// `false` for groups that begin alike: `((a); b)`.
    fn sum(&mut self) -> Result<bool, MissingEnd> {
        if !self.keeps || !self.rest().starts_with("((") {
            return Ok(false);
        }
        self.sums += 1;
        if self.sums > MOST_SUMS {
            return Err(MissingEnd("((".to_string()));
        }
        let start = self.at + 2;
        let end = self.end_of_commands(start)?;
        if self.text.as_bytes().get(end + 1) != Some(&b')') {
            return Ok(false);
        }
        let is_head_of_loop = self.flat.text.trim_end().ends_with("for");
        let sum = &self.text[start..end];
        self.push("((");
        self.flat.cut(Part::Expression(sum.to_string()), sum);
        self.push(if is_head_of_loop { "; 1; 1))" } else { "))" });
        self.at = end + 2;
        Ok(true)
    }

    /// Separates groups: the parser takes two parentheses for a sum even with blanks between them.
    /// The inserted text changes nothing.
    fn part_groups(&mut self) {
        let inner = self.rest().trim_start_matches([' ', '\t']);
        if inner.starts_with(['(', '\\']) {
            self.push(" ! ! ");
        }
    }

    /// Replaces a here-document by a here-string; the body is cut out at the end of the line.
    fn here_document(&mut self) -> Result<(), MissingEnd> {
        let (mut document, end) = HereDocument::read(self.text, self.at + 2);
        if self.keeps {
            if !document.is_plain() {
                return Err(MissingEnd("<<".to_string()));
            }
            self.push("<<<");
            let part = Part::Document {
                body: String::new(),
                is_expanded: false,
            };
            self.flat.cut(part, "");
        }
        document.part = self.flat.parts.len().saturating_sub(1);
        self.waiting.push(document);
        self.at = end;
        Ok(())
    }

    fn documents(&mut self) -> Result<(), MissingEnd> {
        let has_documents = !self.waiting.is_empty();
        for document in std::mem::take(&mut self.waiting) {
            let Some((body, end)) = document.body(self.text, self.at) else {
                return Err(MissingEnd("<<".to_string()));
            };
            if self.keeps {
                let is_expanded = !document.is_quoted();
                self.flat.parts[document.part].0 = Part::Document { body, is_expanded };
            }
            self.at = end;
        }
        if has_documents {
            let goes_on = self.rest().trim().contains([';', '&', '|', '\n']);
            self.flat.goes_on_after_document |= goes_on;
        }
        Ok(())
    }
}

fn end_of_commands(text: &str, start: usize, nesting: usize) -> Result<usize, MissingEnd> {
    let mut inside = TextScanner::new(text, start, nesting, false);
    inside.commands(true)?;
    Ok(inside.at)
}

/// Matches `{name}` before a redirection.
fn is_descriptor_name(word: &str) -> bool {
    let name = word.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    name.is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_[]".contains(c))
    })
}

/// Cuts a text of at most `most` words; the error says why it is unreadable.
pub(super) fn flat_text(text: &str, most: usize) -> Result<FlatText, String> {
    if text.len() > LONGEST_BYTES {
        return Err("it is too long to read".to_string());
    }
    if text.contains(['\0', MARK]) {
        return Err("it contains an invalid character".to_string());
    }
    let flat = FlatText::of_commands(text)
        .map_err(|MissingEnd(part)| format!("it cannot be read at `{part}`"))?;
    if least_tokens(&flat.text) > most {
        return Err("it has too many words to read".to_string());
    }
    Ok(flat)
}

/// Returns a lower bound of the text's tokens: operators, and words between blanks.
fn least_tokens(text: &str) -> usize {
    let ends = text.as_bytes().windows(2).filter(|pair| {
        b";&|()<>\n".contains(&pair[1]) || pair[1] == b' ' && !b" \t\n".contains(&pair[0])
    });
    ends.count() / 2
}
