//! Parses a text into the commands of bash's grammar.
//!
//! This file reads commands, `words` reads words, assignments and redirections. One pass over the
//! text, except after two parentheses that are not arithmetic. Text that bash rejects may be
//! accepted, since none of it runs; text that shells read differently is an error.

mod words;

use super::line::{
    AndOrList, CommandList, CommandNode, CommandPart, CompoundPart, Pipeline, SourceWord, Syntax,
    WordPiece,
};
use super::quotes::HereDocument;

/// The tree, or why the text is unreadable.
type SyntaxResult<T> = Result<T, String>;

/// Nesting of commands and expansions.
const DEEPEST: usize = 40;
const LONGEST_BYTES: usize = 1 << 20;

const RESERVED: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "select", "then", "time", "until", "while", "{", "}",
];
/// Words that end a list.
const ENDS: &[&str] = &["then", "do", "done", "fi", "elif", "else", "esac", "}"];

/// Parses a text that is `depth` levels deep in other texts.
pub(super) fn parse(text: &str, depth: usize, tokens_left: usize) -> SyntaxResult<Syntax> {
    if text.len() > LONGEST_BYTES {
        return Err("it is too long to read".to_string());
    }
    if text.contains('\0') {
        return Err("it contains a NUL".to_string());
    }
    let mut parser = Parser::new(text, depth, tokens_left);
    let list = parser.list()?;
    parser.end()?;
    Ok(Syntax {
        list,
        documents: parser.documents,
        tokens_left: parser.tokens_left,
    })
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    tokens_left: usize,
    documents: Vec<SourceWord>,
    /// Here-documents that begin after this line.
    pending: Vec<HereDocument>,
    /// End of the first here-documents of these commands.
    after_documents: Option<usize>,
}

fn is_boundary(c: char) -> bool {
    " \t\n;&|()<>".contains(c)
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, depth: usize, tokens_left: usize) -> Parser<'t> {
        Parser {
            text,
            at: 0,
            depth,
            tokens_left,
            documents: Vec::new(),
            pending: Vec::new(),
            after_documents: None,
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn unreadable(&self) -> String {
        unreadable(self.rest())
    }

    /// Counts a word or a nested command against the limits.
    fn count(&mut self) -> SyntaxResult<()> {
        let left = self.tokens_left.checked_sub(1);
        self.tokens_left = left.ok_or("it has too many words to read")?;
        if self.depth > DEEPEST {
            return Err("its commands are nested too deeply to read".to_string());
        }
        Ok(())
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> SyntaxResult<T>) -> SyntaxResult<T> {
        self.depth += 1;
        self.count()?;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Parses another text with the same limits and here-documents.
    fn inner<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Parser) -> SyntaxResult<T>,
    ) -> SyntaxResult<T> {
        let mut parser = Parser::new(text, self.depth, self.tokens_left);
        parser.documents = std::mem::take(&mut self.documents);
        let value = parser.nested(read)?;
        self.documents = parser.documents;
        self.tokens_left = parser.tokens_left;
        Ok(value)
    }

    fn end(&self) -> SyntaxResult<()> {
        if !self.rest().is_empty() {
            return Err(self.unreadable());
        }
        if !self.pending.is_empty() {
            return Err("it cannot be parsed at `<<`: the here-document has no end".to_string());
        }
        Ok(())
    }

    /// Skips blanks, continued lines and a comment before the next token.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t']) {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else if rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    /// Skips blanks and line ends, and reads the here-documents between them.
    fn skip_lines(&mut self) -> SyntaxResult<()> {
        loop {
            self.skip_blanks();
            if !self.take("\n") {
                return Ok(());
            }
            if self.pending.is_empty() {
                continue;
            }
            for document in std::mem::take(&mut self.pending) {
                let Some((body, end)) = document.body(self.text, self.at) else {
                    return Err("it cannot be parsed at `<<`".to_string());
                };
                self.documents[document.index] = if document.is_quoted() {
                    vec![WordPiece::text(body, true)]
                } else {
                    self.inner(&body, |parser| parser.document())?
                };
                self.at = end;
            }
            self.after_documents.get_or_insert(self.at);
        }
    }

    fn take(&mut self, text: &str) -> bool {
        let is_here = self.rest().starts_with(text);
        if is_here {
            self.at += text.len();
        }
        is_here
    }

    fn expect(&mut self, text: &str) -> SyntaxResult<()> {
        self.skip_blanks();
        let is_here = self.take(text);
        is_here.then_some(()).ok_or_else(|| self.unreadable())
    }

    /// Returns the reserved word here, and its end.
    fn reserved(&self) -> Option<(&'static str, usize)> {
        let mut word = String::new();
        let mut end = self.at;
        loop {
            let rest = &self.text[end..];
            if rest.starts_with("\\\n") {
                end += 2;
                continue;
            }
            match rest.chars().next().filter(|c| !is_boundary(*c)) {
                Some(c) if word.len() < 10 => {
                    word.push(c);
                    end += c.len_utf8();
                }
                Some(_) => return None,
                None => break,
            }
        }
        let reserved = RESERVED.iter().find(|reserved| **reserved == word)?;
        Some((reserved, end))
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        match self.reserved() {
            Some((reserved, end)) if reserved == word => {
                self.at = end;
                true
            }
            _ => false,
        }
    }

    fn expect_word(&mut self, word: &str) -> SyntaxResult<()> {
        let is_here = self.take_word(word);
        is_here.then_some(()).ok_or_else(|| self.unreadable())
    }

    /// Parses commands up to the word or operator that ends them.
    fn list(&mut self) -> SyntaxResult<CommandList> {
        let mut list = CommandList::new();
        loop {
            self.skip_lines()?;
            let rest = self.rest();
            let ends = self
                .reserved()
                .is_some_and(|(word, _)| ENDS.contains(&word));
            if ends || rest.is_empty() || rest.starts_with(')') || is_end_of_case(rest) {
                return Ok(list);
            }
            let mut and_or = AndOrList {
                pipelines: self.pipelines()?,
                is_background: false,
            };
            let has_next = if is_end_of_case(self.rest()) {
                false
            } else if self.take("&") {
                and_or.is_background = true;
                true
            } else {
                self.take(";") || self.rest().starts_with('\n')
            };
            list.push(and_or);
            if !has_next {
                return Ok(list);
            }
        }
    }

    fn pipelines(&mut self) -> SyntaxResult<Vec<Pipeline>> {
        let mut pipelines = Vec::new();
        let mut is_alternative = false;
        loop {
            let commands = self.pipeline()?;
            pipelines.push(Pipeline {
                commands,
                is_alternative,
            });
            is_alternative = self.rest().starts_with("||");
            if !is_alternative && !self.rest().starts_with("&&") {
                return Ok(pipelines);
            }
            self.at += 2;
            self.skip_lines()?;
        }
    }

    fn pipeline(&mut self) -> SyntaxResult<Vec<CommandNode>> {
        let mut commands = Vec::new();
        loop {
            self.skip_marks();
            commands.push(self.command()?);
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.take("|") {
                return Ok(commands);
            }
            self.take("&");
            self.skip_lines()?;
        }
    }

    /// Skips `!` and `time` before a pipeline.
    fn skip_marks(&mut self) {
        loop {
            self.skip_blanks();
            match self.reserved() {
                Some(("!", end)) => self.at = end,
                Some(("time", end)) => {
                    let start = std::mem::replace(&mut self.at, end);
                    self.skip_blanks();
                    while let Some("-p" | "--") = self.rest().split(is_boundary).next() {
                        self.at += 2;
                        self.skip_blanks();
                    }
                    if self.rest().starts_with('-') {
                        // Not an option of bash's `time`, so a shell may run the program.
                        self.at = start;
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    fn command(&mut self) -> SyntaxResult<CommandNode> {
        self.skip_blanks();
        match self.nested(Parser::compound)? {
            Some((is_group, parts)) => self.with_redirects(is_group, parts),
            None => self.simple(),
        }
    }

    fn with_redirects(
        &mut self,
        is_group: bool,
        parts: Vec<CompoundPart>,
    ) -> SyntaxResult<CommandNode> {
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(CommandNode::Compound {
            is_group,
            parts,
            redirects,
        })
    }

    /// Parses a compound command without its redirections, if one begins here.
    fn compound(&mut self) -> SyntaxResult<Option<(bool, Vec<CompoundPart>)>> {
        if let Some(expression) = self.arithmetic()? {
            return Ok(Some((false, vec![CompoundPart::Word(expression)])));
        }
        if self.take("(") {
            let list = self.list()?;
            self.expect(")")?;
            return Ok(Some((false, vec![CompoundPart::List(list)])));
        }
        let Some((word, end)) = self.reserved() else {
            return Ok(None);
        };
        let start = std::mem::replace(&mut self.at, end);
        let mut parts = Vec::new();
        match word {
            "{" => self.block("}", &mut parts)?,
            "if" => loop {
                self.block("then", &mut parts)?;
                parts.push(CompoundPart::List(self.list()?));
                if self.take_word("elif") {
                    continue;
                }
                if self.take_word("else") {
                    parts.push(CompoundPart::List(self.list()?));
                }
                self.expect_word("fi")?;
                break;
            },
            "while" | "until" => {
                self.block("do", &mut parts)?;
                self.block("done", &mut parts)?;
            }
            "for" | "select" => self.loop_over(&mut parts)?,
            "case" => self.case(&mut parts)?,
            "[[" => parts.push(CompoundPart::Word(self.test()?)),
            "function" => {
                self.skip_blanks();
                parts.push(CompoundPart::Word(self.word()?));
                self.skip_blanks();
                if self.take("(") {
                    self.expect(")")?;
                }
                self.function_body(&mut parts)?;
            }
            "coproc" => self.coprocess(&mut parts)?,
            // With an option, another shell runs the program.
            "time" => {
                self.at = start;
                return Ok(None);
            }
            _ => {
                self.at = start;
                return Err(self.unreadable());
            }
        }
        Ok(Some((word == "{", parts)))
    }

    /// Parses a list and the reserved word after it.
    fn block(&mut self, end: &str, parts: &mut Vec<CompoundPart>) -> SyntaxResult<()> {
        parts.push(CompoundPart::List(self.list()?));
        self.expect_word(end)
    }

    fn loop_over(&mut self, parts: &mut Vec<CompoundPart>) -> SyntaxResult<()> {
        self.skip_blanks();
        let mut name = SourceWord::new();
        let mut words = Vec::new();
        if let Some(expression) = self.arithmetic()? {
            parts.push(CompoundPart::Word(expression));
        } else {
            name = self.word()?;
            self.skip_lines()?;
            if self.take_word("in") {
                self.skip_blanks();
                while self.begins_word() {
                    words.push(self.word()?);
                    self.skip_blanks();
                }
            }
        }
        self.skip_blanks();
        self.take(";");
        self.skip_lines()?;
        let end = if self.take_word("{") { "}" } else { "done" };
        if end == "done" {
            self.expect_word("do")?;
        }
        let name = name.iter().map(|piece| piece.written.as_str()).collect();
        parts.push(CompoundPart::Loop(name, words, self.list()?));
        self.expect_word(end)
    }

    fn case(&mut self, parts: &mut Vec<CompoundPart>) -> SyntaxResult<()> {
        self.skip_blanks();
        parts.push(CompoundPart::Word(self.word()?));
        self.skip_lines()?;
        self.expect_word("in")?;
        loop {
            self.skip_lines()?;
            if self.take_word("esac") {
                return Ok(());
            }
            self.take("(");
            loop {
                self.skip_blanks();
                parts.push(CompoundPart::Word(self.word()?));
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.expect(")")?;
            parts.push(CompoundPart::List(self.list()?));
            if ![";;&", ";;", ";&"].iter().any(|end| self.take(end)) {
                return self.expect_word("esac");
            }
        }
    }

    fn function_body(&mut self, parts: &mut Vec<CompoundPart>) -> SyntaxResult<()> {
        self.skip_lines()?;
        let body = self.nested(Parser::command)?;
        parts.push(CompoundPart::List(vec![AndOrList {
            pipelines: vec![Pipeline {
                commands: vec![body],
                is_alternative: false,
            }],
            is_background: false,
        }]));
        Ok(())
    }

    /// Parses a coprocess, of which only a compound command may have a name.
    fn coprocess(&mut self, parts: &mut Vec<CompoundPart>) -> SyntaxResult<()> {
        self.skip_blanks();
        let start = self.at;
        if self.reserved().is_none() && self.begins_word() {
            let name = self.word()?;
            self.skip_blanks();
            let is_compound = self.reserved().is_some_and(|(word, _)| word != "in");
            if is_compound || self.rest().starts_with('(') {
                // bash expands the name.
                parts.push(CompoundPart::Word(name));
            } else {
                self.at = start;
            }
        }
        let command = self.command()?;
        parts.push(CompoundPart::Coprocess(Box::new(command)));
        Ok(())
    }

    fn simple(&mut self) -> SyntaxResult<CommandNode> {
        let mut parts = Vec::new();
        let mut words = 0;
        loop {
            if let Some(redirect) = self.redirect()? {
                parts.push(CommandPart::Redirect(redirect));
            } else if let Some(assignment) = self.assignment(words == 0)? {
                parts.push(CommandPart::Assignment(assignment));
            } else if self.begins_word() {
                words += 1;
                parts.push(CommandPart::Word(self.word()?));
            } else if self.rest().starts_with('(') {
                let Some(CommandPart::Word(name)) = parts.pop().filter(|_| parts.is_empty()) else {
                    return Err(self.unreadable());
                };
                self.at += 1;
                self.expect(")")?;
                let mut parts = vec![CompoundPart::Word(name)];
                self.function_body(&mut parts)?;
                return self.with_redirects(false, parts);
            } else if parts.is_empty() {
                return Err(self.unreadable());
            } else {
                return Ok(CommandNode::Simple(parts));
            }
        }
    }
}

fn is_end_of_case(rest: &str) -> bool {
    rest.starts_with(";;") || rest.starts_with(";&")
}

fn unreadable(rest: &str) -> String {
    let shown: String = rest.chars().take(20).collect();
    if shown.is_empty() {
        return "it is incomplete".to_string();
    }
    format!("it cannot be parsed at `{shown}`")
}
