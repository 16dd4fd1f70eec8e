//! Reads a text with brush-parser, within limits that keep hostile texts cheap: its tokenizer and
//! parser recurse, and some of their loops are quadratic.

use brush_parser::{ParserOptions, ast, parse_tokens, uncached_tokenize_str};

use super::scan::{FlatText, MARK, MissingEnd};

/// Longer texts are not read: no real command is this long.
const LONGEST_BYTES: usize = 1 << 20;
/// Indices in each other, `a[b[c]]`; the parser recurses for each.
const MOST_INDICES: usize = 64;

/// The commands of a flat text, and how many tokens it has.
pub(super) fn parse(text: &str) -> Result<(ast::Program, usize), String> {
    let options = ParserOptions::default();
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options())
        .map_err(|error| format!("it cannot be read: {error}"))?;
    if tokens
        .iter()
        .any(|token| indices(token.to_str()) > MOST_INDICES)
    {
        return Err("it has too many indices in each other to read".to_string());
    }
    let program = parse_tokens(&tokens, &options);
    let program = program.map_err(|error| format!("it cannot be read: {error}"))?;
    Ok((program, tokens.len()))
}

/// Cuts up a text, or says why it cannot be read. There may be `most` words in it.
pub(super) fn flat_text(text: &str, most: usize) -> Result<FlatText, String> {
    if text.len() > LONGEST_BYTES {
        return Err("it is too long to read".to_string());
    }
    if text.contains(['\0', MARK]) {
        return Err("it has a character that no text has".to_string());
    }
    let flat = FlatText::of_commands(text)
        .map_err(|MissingEnd(part)| format!("it cannot be read at `{part}`"))?;
    if least_tokens(&flat.text) > most {
        return Err("it has too many words to read".to_string());
    }
    Ok(flat)
}

/// Tokens that a text has in any case: operators, and words between blanks.
fn least_tokens(text: &str) -> usize {
    let ends = |pair: &&[u8]| {
        b";&|()<>\n".contains(&pair[1]) || pair[1] == b' ' && !b" \t\n".contains(&pair[0])
    };
    text.as_bytes().windows(2).filter(ends).count() / 2
}

/// How deep the indices of `a[b[c]]` may nest.
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
