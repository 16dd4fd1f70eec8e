//! The tokens of a text, as the parser takes them, and the limits that keep hostile texts cheap:
//! tokenizer and parser recurse, and some of their loops are quadratic.

use brush_parser::{ParserOptions, Token, uncached_tokenize_str, unquote_str};

use super::quotes::{BEFORE_COMMANDS, HereDocument, MissingEnd, after_unit, end_of_parentheses};

/// Longer texts are not read: a tool that is given more can hardly be told what it does.
const LONGEST_BYTES: usize = 1 << 20;
/// Of all texts in one text together; the parser takes 3 µs for each.
pub(super) const MOST_TOKENS: usize = 20_000;
const MOST_HERE_DOCUMENTS: usize = 200;
const MOST_INDICES: usize = 64;
/// Groups that begin like a sum, `((a); b)`.
const MOST_GROUPS: usize = 64;

/// What the parser is given.
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    /// How deep commands nest; the parser recurses for each.
    pub(super) depth: usize,
    pub(super) substitutions: Substitutions,
}

/// Substitutions are taken out of a text before it is divided, because the tokenizer recurses for
/// each, loses some of them in the line of a here-document, and knows no `case` in them. A number
/// between two of these stands for one.
const MARK: char = '\u{10fffc}';

/// What the marks stand for.
#[derive(Debug, Default)]
pub(super) struct Substitutions {
    taken: Vec<String>,
    /// Where the first here-documents of the text end.
    documents_end: Option<usize>,
}

impl Substitutions {
    /// A part of the divided text as it was written.
    pub(super) fn put_back(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        for (number, part) in text.split(MARK).enumerate() {
            let taken = if number % 2 == 1 {
                part.parse().ok()
            } else {
                None
            };
            written.push_str(
                taken
                    .and_then(|at: usize| self.taken.get(at))
                    .map_or(part, |it| it),
            );
        }
        written
    }

    /// Whether several commands follow a here-document of `text`. bash writes anew what is in
    /// `$( )`, and may lose what is between them (5.2.15: `$({ cat; } <<E`, then `a; b`).
    pub(super) fn may_lose_separators(&self, text: &str) -> bool {
        let rest = self.documents_end.and_then(|end| text.get(end..));
        rest.is_some_and(|rest| rest.trim().contains([';', '&', '|', '\n']))
    }

    /// Takes the substitutions out of a text.
    fn take_out(&mut self, text: &str) -> Result<String, MissingEnd> {
        let bytes = text.as_bytes();
        let mut flat = String::with_capacity(text.len());
        let (mut at, mut end_of_sum, mut is_quoted, mut is_start) = (0, 0, false, true);
        let (mut groups, mut between) = (0, "");
        let mut waiting = Vec::new();
        while at < text.len() {
            let start = at;
            let was_start = is_start && !is_quoted;
            is_start = b" \t\n;&|()<>".contains(&bytes[at]);
            match &bytes[at..] {
                [b'$', b'(' | b'{' | b'[', ..] | [b'`', ..] => at = after_unit(text, at, 0)?,
                [b'<' | b'>', b'(', ..] if !is_quoted && at >= end_of_sum => {
                    at = after_unit(text, at, 0)?
                }
                [b'"', ..] => {
                    is_quoted = !is_quoted;
                    at += 1;
                }
                [b'$', b'\'', ..] | [b'\'', ..] if !is_quoted => at = after_unit(text, at, 0)?,
                rest if misleads_the_tokenizer(rest, is_quoted) => {
                    return Err(MissingEnd("$".to_string()));
                }
                [b'\\', ..] | [b'$', b'$', ..] => at = after_unit(text, at, 0)?,
                [b'#', ..] if was_start => at += text[at..].find('\n').unwrap_or(text.len() - at),
                [b'(', ..] if was_start && at >= end_of_sum => {
                    groups += usize::from(bytes.get(at + 1) == Some(&b'('));
                    // Each looks for its end.
                    if groups > MOST_GROUPS {
                        return Err(MissingEnd("((".to_string()));
                    }
                    between = opening(text, at, &mut end_of_sum)?;
                    at += if end_of_sum > at { 2 } else { 1 };
                }
                // In the line of a here-document the parser takes `1 >a` for `1>a`.
                [b' ' | b'\t', ..] if !waiting.is_empty() && flat.ends_with(is_descriptor) => {
                    at += 1;
                    let is_before = text[at..].trim_start().starts_with(['<', '>']);
                    flat.push_str(if is_before { "''" } else { "" });
                }
                [b'<', b'<', b'<', ..] if !is_quoted => at += 3,
                [b'<', b'<', ..] if !is_quoted && at >= end_of_sum => {
                    let (document, after) = HereDocument::read(text, at + 2);
                    if !document.is_plain(&text[at + 2..after]) {
                        return Err(MissingEnd("<<".to_string()));
                    }
                    waiting.push(document);
                    at = after;
                }
                [b'\n', ..] if !is_quoted && !waiting.is_empty() => {
                    at = after_documents(text, at, &mut waiting)?;
                    self.documents_end.get_or_insert(at);
                }
                _ => at += 1,
            }
            // A step of one byte may be in the middle of a character.
            at = (at..).find(|at| text.is_char_boundary(*at)).unwrap_or(at);
            self.push(&text[start..at], &mut flat);
            flat.push_str(std::mem::take(&mut between));
        }
        if !waiting.is_empty() {
            return Err(MissingEnd("<<".to_string()));
        }
        Ok(flat)
    }

    /// Adds a piece of a text, or the mark of a substitution.
    fn push(&mut self, piece: &str, flat: &mut String) {
        if is_substitution(piece.as_bytes()) {
            flat.push_str(&format!("{MARK}{}{MARK}", self.taken.len()));
            self.taken.push(piece.to_string());
        } else {
            flat.push_str(piece);
        }
    }
}

/// Whether what ends with it may be the number of a redirection.
fn is_descriptor(c: char) -> bool {
    c.is_ascii_digit() || c == '}'
}

/// Looks whether a parenthesis begins a sum, and notes its end. The parser takes two parentheses
/// for a sum also with blanks between them, and where the shell finds two groups: what is returned
/// is put between those, and changes nothing.
fn opening(text: &str, at: usize, end_of_sum: &mut usize) -> Result<&'static str, MissingEnd> {
    let inner = &text[at + 1..];
    if inner.starts_with('(') {
        let end = end_of_parentheses(text, at + 2, 0)?;
        if text.as_bytes().get(end + 1) == Some(&b')') {
            *end_of_sum = end;
            return Ok("");
        }
    }
    let opens = inner
        .trim_start_matches([' ', '\t'])
        .starts_with(['(', '\\']);
    Ok(if opens { " ! ! " } else { "" })
}

/// What follows the here-documents that begin after the line break at `at`.
fn after_documents(
    text: &str,
    mut at: usize,
    waiting: &mut Vec<HereDocument>,
) -> Result<usize, MissingEnd> {
    for document in waiting.drain(..) {
        at = document
            .after(text, at)
            .ok_or_else(|| MissingEnd("<<".to_string()))?;
    }
    Ok((at + 1).min(text.len()))
}

/// Reads the tokens of a text, or says why it cannot be read. There may be `most` of them.
pub(super) fn read(text: &str, most: usize, options: &ParserOptions) -> Result<Tokens, String> {
    if text.len() > LONGEST_BYTES {
        return Err("it is too long to read".to_string());
    }
    if text.contains(['\0', MARK]) {
        return Err("it has a character that no text has".to_string());
    }
    if text.matches("<<").count() > MOST_HERE_DOCUMENTS {
        return Err("it has too many here-documents to read".to_string());
    }
    let mut substitutions = Substitutions::default();
    let flat = substitutions
        .take_out(text)
        .map_err(|MissingEnd(part)| format!("it cannot be read at `{part}`"))?;
    if least_tokens(&flat) > most {
        return Err("it has too many words to read".to_string());
    }
    let tokens = uncached_tokenize_str(&flat, &options.tokenizer_options())
        .map_err(|error| format!("it cannot be read: {error}"))?;
    if !has_whole_here_documents(&tokens) {
        return Err("its here-documents cannot be read".to_string());
    }
    if tokens
        .iter()
        .any(|token| indices(token.to_str()) > MOST_INDICES)
    {
        return Err("it has too many indices in each other to read".to_string());
    }
    let list = as_the_parser_takes_them(tokens);
    let depth = depth(&list);
    Ok(Tokens {
        list,
        depth,
        substitutions,
    })
}

/// How deep the indices of `a[b[c]]` may nest; the parser recurses for each.
fn indices(word: &str) -> usize {
    let name = word
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(0);
    if word[name..].starts_with('[') {
        word.matches('[').count()
    } else {
        0
    }
}

/// Tokens that a text has in any case: operators, and words between blanks.
fn least_tokens(text: &str) -> usize {
    let ends = |pair: &[u8]| {
        b";&|()<>\n".contains(&pair[1]) || pair[1] == b' ' && !b" \t\n".contains(&pair[0])
    };
    text.as_bytes().windows(2).filter(|pair| ends(pair)).count() / 2
}

/// Whether every `<<` has its body and its end, or is a shift between `((` and `))`.
fn has_whole_here_documents(tokens: &[Token]) -> bool {
    let is_operator = |at: usize, wanted: &str| matches!(tokens.get(at), Some(Token::Operator(text, _)) if text == wanted);
    let is_pair = |at: usize, wanted: &str| {
        is_operator(at, wanted)
            && is_operator(at + 1, wanted)
            && is_contiguous(&tokens[at], &tokens[at + 1])
    };
    let mut at = 0;
    while at < tokens.len() {
        if is_pair(at, "(") {
            let mut open = 2_usize;
            let mut has_shift = false;
            at += 2;
            while at < tokens.len() && !(open == 2 && is_pair(at, ")")) {
                has_shift |= is_operator(at, "<<") || is_operator(at, "<<-");
                open += usize::from(is_operator(at, "("));
                open = open.saturating_sub(usize::from(is_operator(at, ")")));
                at += 1;
            }
            if has_shift && at >= tokens.len() {
                return false;
            }
        } else if is_operator(at, "<<") || is_operator(at, "<<-") {
            match (tokens.get(at + 1), tokens.get(at + 3)) {
                (Some(tag), Some(end))
                    if unquote_str(tag.to_str()) == unquote_str(end.to_str()) => {}
                _ => return false,
            }
            at += 3;
        }
        at += 1;
    }
    true
}

fn is_contiguous(left: &Token, right: &Token) -> bool {
    left.location().end.index == right.location().start.index
}

/// Whether the tokenizer takes this for the beginning of something else.
fn misleads_the_tokenizer(rest: &[u8], is_quoted: bool) -> bool {
    match rest {
        [b'$', b'$', b'(' | b'{' | b'[', ..] => true,
        [b'$', b'$', b'\'', ..] | [b'\\', b'$', b'\'', ..] => !is_quoted,
        _ => false,
    }
}

/// Whether a piece of a text is a substitution.
fn is_substitution(piece: &[u8]) -> bool {
    match piece {
        [b'`', _, ..] => true,
        [first, second, ..] => b"({[".contains(second) && b"$<>".contains(first),
        _ => false,
    }
}

/// bash takes some things that the parser does not: `|&` after any command, `!` after `|`,
/// `select`, a name before the group of `coproc`, `{name}>file`, and `case` in parentheses.
fn as_the_parser_takes_them(tokens: Vec<Token>) -> Vec<Token> {
    let mut taken: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut is_after_pipe = false;
    let mut begins = true;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1).map(Token::to_str);
        at += 1;
        let begun = begins;
        begins = begins_command(token, begun);
        match token {
            Token::Operator(text, place) if text == "|&" => {
                taken.push(Token::Operator("|".to_string(), place.clone()));
            }
            Token::Word(text, _) if is_after_pipe && text == "!" => continue,
            Token::Word(text, place) if begun && text == "select" => {
                taken.push(Token::Word("for".to_string(), place.clone()));
            }
            Token::Word(text, _) if begun && text == "coproc" => {
                let after = tokens.get(at + 1).map(Token::to_str);
                let opens = |text: Option<&str>| text.is_some_and(|text| OPENINGS.contains(&text));
                at += usize::from(!opens(next) && opens(after));
            }
            Token::Word(text, _)
                if text.starts_with('{')
                    && text.ends_with('}')
                    && text.len() > 2
                    && next.is_some_and(|next| next.starts_with(['<', '>']))
                    && is_contiguous(token, &tokens[at]) => {}
            // The parser would take `esac )` for another pattern.
            Token::Word(text, place) if begun && text == "esac" && next == Some(")") => {
                taken.push(token.clone());
                taken.push(Token::Operator(";".to_string(), place.clone()));
            }
            Token::Word(..) | Token::Operator(..) => taken.push(token.clone()),
        }
        is_after_pipe =
            matches!(token.to_str(), "|" | "|&") || is_after_pipe && token.to_str() == "\n";
    }
    taken
}

/// Words that begin a compound command.
const OPENINGS: &[&str] = &[
    "{", "(", "if", "while", "until", "for", "case", "select", "[[", "function", "coproc",
];

/// Whether a command may begin after a token.
fn begins_command(token: &Token, begun: bool) -> bool {
    match token {
        Token::Operator(text, _) => !text.starts_with(['<', '>']) && text != "&>" && text != "&>>",
        Token::Word(text, _) => begun && BEFORE_COMMANDS.contains(&text.as_str()),
    }
}

/// How deep commands may nest. Only an end that is where a command begins counts as one, so that
/// words cannot hide the depth.
fn depth(tokens: &[Token]) -> usize {
    let (mut depth, mut parentheses, mut marks, mut deepest) = (0_usize, 0_usize, 0_usize, 0);
    let mut begins = true;
    for token in tokens {
        let text = token.to_str();
        let is_operator = matches!(token, Token::Operator(..));
        match text {
            "(" => parentheses += 1,
            // That of a pattern of `case` ends nothing.
            ")" if is_operator => parentheses = parentheses.saturating_sub(1),
            "}" | "fi" | "done" | "esac" if begins => depth = depth.saturating_sub(1),
            text if OPENINGS.contains(&text) => depth += 1,
            _ => {}
        }
        marks = if text == "!" { marks + 1 } else { 0 };
        begins = is_operator
            || matches!(
                text,
                "then" | "do" | "else" | "{" | "}" | "fi" | "done" | "esac" | "!"
            );
        deepest = deepest.max(depth + parentheses + marks);
    }
    deepest
}
