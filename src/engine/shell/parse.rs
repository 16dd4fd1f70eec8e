//! Calls brush-parser within limits, since its tokenizer and parser recurse and some of their loops
//! are quadratic. Also expands braces: `{a,b}` and `{1..3}`.

use brush_parser::word::{self, BraceExpressionMember, BraceExpressionOrText, WordPiece};
use brush_parser::{ParserOptions, ast, parse_tokens, uncached_tokenize_str};

/// Nested indices, `a[b[c]]`: the parser recurses for each.
const MOST_INDICES: usize = 64;
/// All words that one expands to.
const MOST_BYTES: usize = 1 << 20;
/// Braces in a word, and their nesting: each triples the parser's time.
const MOST_BRACES: usize = 64;
const DEEPEST_BRACES: usize = 5;
const MOST_MEMBERS: u64 = 1_000;
/// The parser panics on longer numbers.
const MOST_DIGITS: usize = 18;

/// Expands the braces of a word and keeps quotes; `None` if there are more than `most` results or
/// the result is uncertain.
pub(crate) fn expand_braces(word: &str, most: usize) -> Option<Vec<String>> {
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
    // The parser drops the zeros of `{01..10}`.
    let is_misread =
        |digits: &str| digits.len() > 1 && digits.starts_with('0') || digits.len() > MOST_DIGITS;
    let has_misread_number = word.contains("..") && numbers.any(is_misread);
    if braces > MOST_BRACES || deepest > DEEPEST_BRACES || has_misread_number {
        return None;
    }
    let expanded = word::parse_brace_expansions(word, &options()).ok()??;
    product(&expanded, most, false)
}

/// Returns all combinations of the pieces of a word.
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
        // Between upper-case and lower-case letters are characters that bash quotes.
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

pub(super) fn options() -> ParserOptions {
    ParserOptions {
        tilde_expansion_at_word_start: false,
        tilde_expansion_after_colon: false,
        ..ParserOptions::default()
    }
}

pub(super) fn parse(text: &str) -> Result<(ast::Program, usize), String> {
    let options = ParserOptions::default();
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options())
        .map_err(|error| format!("it cannot be read: {error}"))?;
    if tokens
        .iter()
        .any(|token| indices(token.to_str()) > MOST_INDICES)
    {
        return Err("its indices are nested too deeply to read".to_string());
    }
    let program = parse_tokens(&tokens, &options);
    let program = program.map_err(|error| format!("it cannot be read: {error}"))?;
    Ok((program, tokens.len()))
}

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
