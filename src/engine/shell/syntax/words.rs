//! Reads words with their quotes and expansions, assignments and redirections.

use std::rc::Rc;

use super::super::line::{
    CommandList, RedirectTarget, SourceAssignment, SourceRedirect, SourceWord, WordPiece,
    WordPieceKind,
};
use super::super::quotes::{HereDocument, ansi, without_backtick_escapes};
use super::super::word::is_of_name;
use super::{Parser, SyntaxResult, is_boundary, unreadable};

/// Longest first.
const REDIRECTS: &[&str] = &[
    "<<<", "&>>", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "<", ">",
];

impl<'t> Parser<'t> {
    pub(super) fn begins_word(&self) -> bool {
        let rest = self.rest();
        let is_text = self.char().is_some_and(|c| !is_boundary(c));
        is_text || rest.starts_with("<(") || rest.starts_with(">(")
    }

    /// Reads a word, which begins here.
    pub(super) fn word(&mut self) -> SyntaxResult<SourceWord> {
        if !self.begins_word() {
            return Err(self.unreadable());
        }
        self.count()?;
        self.word_or_nothing()
    }

    pub(super) fn word_or_nothing(&mut self) -> SyntaxResult<SourceWord> {
        let start = self.at;
        let mut pieces = Vec::new();
        // Open parentheses of patterns.
        let mut patterns = 0;
        while let Some(c) = self.char() {
            let last = pieces.last().and_then(WordPiece::unquoted);
            // `@(a|b)`
            let is_marked = last.is_some_and(|text| text.ends_with(['@', '!', '?', '+', '*']));
            let opens_pattern = c == '(' && (patterns > 0 || is_marked);
            if is_boundary(c) && patterns == 0 && !opens_pattern && !self.begins_word() {
                break;
            }
            match c {
                '(' => patterns += 1,
                ')' => patterns -= 1,
                _ => {}
            }
            self.piece(false, &mut pieces)?;
        }
        if patterns > 0 {
            return Err(unreadable(&self.text[start..]));
        }
        Ok(pieces)
    }

    /// Returns the name of a variable that begins here.
    pub(super) fn name(&mut self) -> &'t str {
        let rest = self.rest();
        let name = &rest[..rest.len() - rest.trim_start_matches(is_of_name).len()];
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return "";
        }
        self.at += name.len();
        name
    }

    /// Parses a redirection with its descriptor, `2` or `{name}`.
    pub(super) fn redirect(&mut self) -> SyntaxResult<Option<SourceRedirect>> {
        self.skip_blanks();
        let rest = self.rest();
        let named = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let after = match named {
            Some((name, after)) if is_descriptor_name(name) => after,
            _ => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        };
        let descriptor = &rest[..rest.len() - after.len()];
        let mut operators = REDIRECTS.iter();
        let operator = operators.find(|operator| after.starts_with(**operator));
        let is_stream = after.starts_with("<(") || after.starts_with(">(");
        let is_of_command = after.starts_with('&') && !descriptor.is_empty();
        let Some(operator) = operator.filter(|_| !is_stream && !is_of_command) else {
            return Ok(None);
        };
        self.at += descriptor.len() + operator.len();
        let target = if *operator == "<<" {
            let (document, end) = HereDocument::read(self.text, self.at, self.documents.len());
            if !document.is_plain() {
                return Err("it cannot be parsed at `<<`".to_string());
            }
            self.at = end;
            self.pending.push(document);
            self.documents.push(SourceWord::default());
            RedirectTarget::Document(self.documents.len() - 1)
        } else {
            self.skip_blanks();
            RedirectTarget::Word(self.word()?)
        };
        Ok(Some(SourceRedirect {
            operator,
            is_stdin: descriptor.chars().all(|c| c == '0'),
            target,
        }))
    }

    /// Parses `name=value` before a command, or a list of values anywhere.
    pub(super) fn assignment(&mut self, is_first: bool) -> SyntaxResult<Option<SourceAssignment>> {
        let start = self.at;
        let name = self.name();
        if is_first && !name.is_empty() && self.continues_assignment() {
            return Err(self.unreadable());
        }
        let mut besides = Vec::new();
        if is_first && !name.is_empty() && self.take("[") {
            besides = self.matched('[', ']')?;
            self.at += 1;
        }
        let appends = self.take("+");
        if name.is_empty() || !self.take("=") || !is_first && !self.rest().starts_with('(') {
            self.at = start;
            return Ok(None);
        }
        let mut value = None;
        if self.take("(") {
            self.skip_lines()?;
            while !self.take(")") {
                besides.extend(self.word()?);
                self.skip_lines()?;
            }
        } else if appends {
            besides.extend(self.word_or_nothing()?);
        } else {
            value = Some(self.word_or_nothing()?);
        }
        Ok(Some(SourceAssignment {
            name: name.to_string(),
            besides,
            value,
            written: self.text[start..self.at].to_string(),
        }))
    }

    /// Returns true if the name of a variable goes on in the next line.
    fn continues_assignment(&self) -> bool {
        let mut rest = self.rest();
        while let Some(after) = rest.strip_prefix("\\\n") {
            rest = after.trim_start_matches(is_of_name);
        }
        rest.len() < self.rest().len() && rest.starts_with(['=', '+', '['])
    }

    /// Reads the body of a here-document.
    pub(super) fn document(&mut self) -> SyntaxResult<SourceWord> {
        let mut pieces = Vec::new();
        while !self.rest().is_empty() {
            self.quoted_piece(true, &mut pieces)?;
        }
        Ok(pieces)
    }

    /// Reads the inside of `[[ ]]`, which may have operators.
    pub(super) fn test(&mut self) -> SyntaxResult<Vec<WordPiece>> {
        let mut pieces = Vec::new();
        loop {
            let rest = self.rest();
            let end = rest.strip_prefix("]]");
            if end.is_some_and(|after| after.is_empty() || after.starts_with(is_boundary)) {
                self.at += 2;
                return Ok(pieces);
            }
            let ends_line = rest.starts_with('\n') && !self.pending.is_empty();
            if rest.is_empty() || rest.starts_with('#') || ends_line {
                return Err(self.unreadable());
            }
            if self.begins_word() {
                pieces.extend(self.word()?);
            } else {
                self.at += 1;
            }
        }
    }

    /// Reads `((…))`. Groups may begin alike: `((a); b)`.
    pub(super) fn arithmetic(&mut self) -> SyntaxResult<Option<Vec<WordPiece>>> {
        let start = self.at;
        if !self.take("((") {
            return Ok(None);
        }
        let inner = self.matched('(', ')')?;
        if self.take("))") {
            return Ok(Some(inner));
        }
        self.at = start;
        Ok(None)
    }

    /// Reads arithmetic up to an unmatched `close`.
    pub(super) fn matched(&mut self, open: char, close: char) -> SyntaxResult<Vec<WordPiece>> {
        let start = self.at;
        let mut pieces = Vec::new();
        let mut depth = 0;
        loop {
            match self.char() {
                None => return Err(unreadable(&self.text[start..])),
                Some(c) if c == open => depth += 1,
                Some(c) if c == close && depth == 0 => return Ok(pieces),
                Some(c) if c == close => depth -= 1,
                Some(_) => {}
            }
            self.inside(true, &mut pieces)?;
        }
    }

    /// Reads a part of an expansion. Single quotes may be text there, so their inside is read too.
    fn inside(&mut self, is_quoted: bool, pieces: &mut Vec<WordPiece>) -> SyntaxResult<()> {
        let rest = self.rest();
        let Some(quoted) = rest.strip_prefix('\'') else {
            return self.piece(is_quoted, pieces);
        };
        let end = quoted.find('\'').ok_or_else(|| unreadable(rest))?;
        let inner = self.inner(&quoted[..end], |parser| parser.document())?;
        pieces.extend(inner);
        self.at += end + 2;
        Ok(())
    }

    /// Reads a quote, an expansion or text. `is_expanded_in_quotes` is true in an expansion in
    /// double quotes.
    fn piece(
        &mut self,
        is_expanded_in_quotes: bool,
        pieces: &mut Vec<WordPiece>,
    ) -> SyntaxResult<()> {
        let start = self.at;
        let rest = self.rest();
        match rest.as_bytes() {
            [b'\\', b'\n', ..] => self.at += 2,
            [b'\\'] => return Err(self.unreadable()),
            [b'\\', ..] => {
                let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
                self.at += 1 + escaped;
                self.push_text(start, &rest[1..=escaped], true, pieces);
            }
            [b'\'', ..] => {
                let end = rest[1..].find('\'').ok_or_else(|| self.unreadable())?;
                self.at += end + 2;
                self.push_text(start, &rest[1..=end], true, pieces);
            }
            [b'$', b'\'', ..] => {
                let end = self.end_of_escaped(start + 2, b'\'')?;
                self.at = end + 1;
                match ansi(&self.text[start + 2..end]) {
                    Some(text) => self.push_text(start, &text, true, pieces),
                    None => {
                        let kind = WordPieceKind::expansion("$'", Vec::new());
                        pieces.push(self.piece_of(start, kind, true));
                    }
                }
            }
            [b'"', ..] | [b'$', b'"', ..] => self.double_quotes(pieces)?,
            _ if self.expansion(is_expanded_in_quotes, pieces)? => {}
            _ => {
                let end = rest
                    .char_indices()
                    .skip(1)
                    .find(|(_, c)| is_boundary(*c) || "\\'\"$`[]{}".contains(*c));
                let text = &rest[..end.map_or(rest.len(), |(at, _)| at)];
                self.at += text.len();
                self.push_text(start, text, false, pieces);
            }
        }
        Ok(())
    }

    fn double_quotes(&mut self, pieces: &mut Vec<WordPiece>) -> SyntaxResult<()> {
        let start = self.at;
        self.take("$");
        self.at += 1;
        self.push_text(start, "", true, pieces);
        loop {
            let last = self.at;
            if self.take("\"") {
                self.push_text(last, "", true, pieces);
                return Ok(());
            }
            if self.rest().is_empty() {
                return Err(unreadable(&self.text[start..]));
            }
            self.quoted_piece(false, pieces)?;
        }
    }

    /// Reads an escape, an expansion or text in double quotes or a here-document.
    fn quoted_piece(&mut self, is_document: bool, pieces: &mut Vec<WordPiece>) -> SyntaxResult<()> {
        let start = self.at;
        let rest = self.rest();
        match rest.as_bytes() {
            [b'\\', b'\n', ..] => self.at += 2,
            [b'\\', b'$' | b'`' | b'\\', ..] => {
                self.at += 2;
                self.push_text(start, &rest[1..2], true, pieces);
            }
            [b'\\', b'"', ..] if !is_document => {
                self.at += 2;
                self.push_text(start, "\"", true, pieces);
            }
            _ if self.expansion(true, pieces)? => {}
            _ => {
                let first = self.char().map_or(0, char::len_utf8);
                let end = rest[first..].find(['\\', '"', '$', '`']);
                let text = &rest[..end.map_or(rest.len(), |at| first + at)];
                self.at += text.len();
                self.push_text(start, text, true, pieces);
            }
        }
        Ok(())
    }

    /// Reads an expansion, if one begins here.
    fn expansion(&mut self, is_quoted: bool, pieces: &mut Vec<WordPiece>) -> SyntaxResult<bool> {
        let start = self.at;
        if !self.rest().starts_with(['$', '`', '<', '>']) {
            return Ok(false);
        }
        let Some(kind) = self.nested(|parser| parser.expanded(is_quoted))? else {
            return Ok(false);
        };
        // The name of a file is never split.
        let is_file = self.text[start..].starts_with(['<', '>']);
        pieces.push(self.piece_of(start, kind, is_quoted || is_file));
        Ok(true)
    }

    fn expanded(&mut self, is_quoted: bool) -> SyntaxResult<Option<WordPieceKind>> {
        let start = self.at;
        let mut inner = Vec::new();
        let text = match self.rest().as_bytes() {
            [b'`', ..] => {
                let end = self.end_of_escaped(start + 1, b'`')?;
                let text = without_backtick_escapes(&self.text[start + 1..end], is_quoted);
                let list = self.inner(&text, |parser| parser.commands_to_end())?;
                self.at = end + 1;
                return Ok(Some(WordPieceKind::commands(text, list)));
            }
            [b'$', b'(', ..] => match self.sum()? {
                Some(sum) => {
                    inner = sum;
                    ""
                }
                None => return self.commands().map(Some),
            },
            [b'<' | b'>', b'(', ..] if !is_quoted => return self.commands().map(Some),
            [b'$', b'{', ..] => {
                self.at += 2;
                while !self.rest().starts_with('}') {
                    if self.rest().is_empty() {
                        return Err(unreadable(&self.text[start..]));
                    }
                    self.inside(is_quoted, &mut inner)?;
                }
                self.at += 1;
                &self.text[start + 2..self.at - 1]
            }
            [b'$', b'[', ..] => {
                self.at += 2;
                inner = self.matched('[', ']')?;
                self.at += 1;
                ""
            }
            // Shells read these differently.
            [b'$', b'$', b'(' | b'{' | b'[', ..] | [b'$', b'\\', b'\n', ..] => {
                return Err(self.unreadable());
            }
            [b'$', c, ..] if c.is_ascii_digit() || b"$!#?-@*".contains(c) => {
                self.at += 2;
                &self.text[start + 1..self.at]
            }
            [b'$', ..] => {
                self.at += 1;
                let name = self.name();
                if name.is_empty() {
                    self.at = start;
                    return Ok(None);
                }
                // A continued line makes a longer name of it.
                let after = self.rest().trim_start_matches("\\\n");
                let is_continued = after.len() < self.rest().len();
                if is_continued && after.starts_with(|c| is_of_name(c) || "[+=".contains(c)) {
                    return Err(unreadable(&self.text[start..]));
                }
                name
            }
            _ => return Ok(None),
        };
        Ok(Some(WordPieceKind::expansion(text, inner)))
    }

    /// Reads `$((…))`.
    fn sum(&mut self) -> SyntaxResult<Option<Vec<WordPiece>>> {
        let start = self.at;
        self.at += 1;
        let Some(mut inner) = self.arithmetic()? else {
            self.at = start;
            return Ok(None);
        };
        let text = &self.text[start + 2..self.at - 1];
        // Commands that look like a sum are read as commands too.
        if text.contains(['\n', ';']) {
            let list = self.inner(text, |parser| parser.commands_to_end())?;
            let kind = WordPieceKind::commands(text.to_string(), list);
            inner.push(self.piece_of(start, kind, true));
        }
        Ok(Some(inner))
    }

    /// Reads `$(…)` or `<(…)`.
    fn commands(&mut self) -> SyntaxResult<WordPieceKind> {
        let start = self.at;
        self.at += 2;
        let pending = std::mem::take(&mut self.pending);
        let after_documents = self.after_documents.take();
        let list = self.list()?;
        if !self.rest().starts_with(')') {
            return Err(unreadable(&self.text[start..]));
        }
        self.check_documents()?;
        self.pending = pending;
        self.after_documents = after_documents;
        self.at += 1;
        let text = self.text[start + 2..self.at - 1].to_string();
        Ok(WordPieceKind::commands(text, list))
    }

    fn commands_to_end(&mut self) -> SyntaxResult<CommandList> {
        let list = self.list()?;
        self.end()?;
        self.check_documents()?;
        Ok(list)
    }

    /// Shells differ in how they go on after a here-document in a substitution.
    fn check_documents(&self) -> SyntaxResult<()> {
        if !self.pending.is_empty() {
            return Err("it cannot be parsed at `<<`".to_string());
        }
        let after = self
            .after_documents
            .map_or("", |end| &self.text[end..self.at]);
        if after.trim().contains([';', '&', '|', '\n']) {
            let why = "shells differ in how they split the text after a here-document in `$( )`";
            return Err(why.to_string());
        }
        Ok(())
    }

    /// Returns the end of backticks or `$'…'`, skipping escapes.
    fn end_of_escaped(&self, start: usize, end: u8) -> SyntaxResult<usize> {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while let Some(byte) = bytes.get(at) {
            match byte {
                byte if *byte == end => return Ok(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        Err(self.unreadable())
    }

    fn piece_of(&self, start: usize, kind: WordPieceKind, is_quoted: bool) -> WordPiece {
        WordPiece {
            kind,
            is_quoted,
            written: self.text[start..self.at].to_string(),
        }
    }

    /// Adds text, to the piece before it if that is text with the same quoting.
    fn push_text(&self, start: usize, text: &str, is_quoted: bool, pieces: &mut Vec<WordPiece>) {
        let written = &self.text[start..self.at];
        if let Some(last) = pieces.last_mut()
            && last.is_quoted == is_quoted
            && let WordPieceKind::Text(before) = &mut last.kind
        {
            before.push_str(text);
            last.written.push_str(written);
            return;
        }
        let kind = WordPieceKind::Text(text.to_string());
        pieces.push(self.piece_of(start, kind, is_quoted));
    }
}

impl WordPieceKind {
    fn commands(text: String, list: CommandList) -> WordPieceKind {
        let list = Rc::new(list);
        WordPieceKind::Commands { text, list }
    }

    fn expansion(text: &str, inner: Vec<WordPiece>) -> WordPieceKind {
        let text = text.to_string();
        WordPieceKind::Expansion { text, inner }
    }
}

/// Matches the inside of `{name}` before a redirection.
fn is_descriptor_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| is_of_name(c) || "[]".contains(c))
}
