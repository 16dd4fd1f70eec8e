//! The tokens of a text, as the parser takes them, and the limits that keep hostile texts cheap:
//! tokenizer and parser recurse, and some of their loops are quadratic.

use brush_parser::{ParserOptions, Token, uncached_tokenize_str, unquote_str};

/// Longer texts are not read: a tool that is given more can hardly be told what it does.
const LONGEST_BYTES: usize = 1 << 20;
/// The parser takes 3 µs a token.
const MOST_TOKENS: usize = 20_000;
/// The tokenizer recurses for substitutions that hold more than a plain name or words.
const MOST_SUBSTITUTIONS: usize = 100;
const MOST_HERE_DOCUMENTS: usize = 200;

/// What the parser is given.
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    /// How deep commands nest; the parser recurses for each.
    pub(super) depth: usize,
}

/// Reads the tokens of a text, or says why it cannot be read.
pub(super) fn read(text: &str, options: &ParserOptions) -> Result<Tokens, String> {
    if text.len() > LONGEST_BYTES {
        return Err("it is too long to read".to_string());
    }
    if text.contains('\0') {
        return Err("it has a zero byte".to_string());
    }
    if text.matches("<<").count() > MOST_HERE_DOCUMENTS {
        return Err("it has too many here-documents to read".to_string());
    }
    if substitutions_that_may_nest(text) > MOST_SUBSTITUTIONS {
        return Err("it has too many substitutions in each other to read".to_string());
    }
    if least_tokens(text) > MOST_TOKENS {
        return Err("it has too many words to read".to_string());
    }
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options())
        .map_err(|error| format!("it cannot be read: {error}"))?;
    if !has_whole_here_documents(&tokens) {
        return Err("its here-documents cannot be read".to_string());
    }
    let list = as_the_parser_takes_them(tokens, text);
    let depth = depth(&list);
    Ok(Tokens { list, depth })
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

/// bash takes some things that the parser does not: `|&` after any command, `!` after `|`,
/// `select`, a name before the group of `coproc`, `{name}>file`, and `<( )` for any word.
fn as_the_parser_takes_them(tokens: Vec<Token>, text: &str) -> Vec<Token> {
    let mut taken: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut is_after_pipe = false;
    let mut begins = true;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1).map(Token::to_str);
        if let Some((word, end)) = process_substitution(&tokens, at, text) {
            taken.push(word);
            begins = false;
            at = end;
            continue;
        }
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
            token => taken.push(token.clone()),
        }
        is_after_pipe =
            matches!(token.to_str(), "|" | "|&") || is_after_pipe && token.to_str() == "\n";
    }
    taken
}

/// Words that begin a compound command.
const OPENINGS: &[&str] =
    &["{", "(", "if", "while", "until", "for", "case", "select", "[[", "function", "coproc"];

/// Whether a command may begin after a token.
fn begins_command(token: &Token, begun: bool) -> bool {
    const BEFORE: &[&str] =
        &["then", "do", "else", "elif", "{", "if", "while", "until", "!", "time"];
    match token {
        Token::Operator(text, _) => !text.starts_with(['<', '>']) && text != "&>" && text != "&>>",
        Token::Word(text, _) => begun && BEFORE.contains(&text.as_str()),
    }
}

/// A process substitution that begins here, as one word, and where it ends.
fn process_substitution(tokens: &[Token], start: usize, text: &str) -> Option<(Token, usize)> {
    let (Token::Operator(sign, place), open) = (&tokens[start], tokens.get(start + 1)?) else {
        return None;
    };
    let is_one = matches!(sign.as_str(), "<" | ">") && open.to_str() == "(";
    if !is_one || !is_contiguous(&tokens[start], open) {
        return None;
    }
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start + 1) {
        let Token::Operator(operator, end) = token else { continue };
        match operator.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "<<" | "<<-" => return None,
            _ => {}
        }
        if depth == 0 {
            let (start, end_index) = (place.start.index, end.end.index);
            let written: String = match text.is_ascii() {
                true => text.get(start..end_index)?.to_string(),
                false => text.chars().skip(start).take(end_index - start).collect(),
            };
            let is_whole = written.starts_with(sign.as_str()) && written.ends_with(')');
            let location =
                brush_parser::SourceSpan { start: place.start.clone(), end: end.end.clone() };
            return is_whole.then(|| (Token::Word(written, location), at + 1));
        }
    }
    None
}

/// How many substitutions may have others in them: all but those that end before anything that
/// could begin one or hide their end.
fn substitutions_that_may_nest(text: &str) -> usize {
    let bytes = text.as_bytes();
    let opens = |at: &usize| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        b"({[".contains(&bytes[*at])
            && before
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"$<>@!?*+=(_[".contains(&byte))
    };
    let may_nest = |at: &usize| {
        let close = match bytes[*at] {
            b'(' => b')',
            b'{' => b'}',
            _ => b']',
        };
        let end = bytes[at + 1..]
            .iter()
            .find(|byte| **byte == close || b"$`'\"\\#\n({[<>".contains(byte));
        end != Some(&close)
    };
    (0..bytes.len()).filter(opens).filter(may_nest).take(MOST_SUBSTITUTIONS + 1).count()
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
            || matches!(text, "then" | "do" | "else" | "{" | "}" | "fi" | "done" | "esac" | "!");
        deepest = deepest.max(depth + parentheses + marks);
    }
    deepest
}
