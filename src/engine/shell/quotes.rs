//! Here-documents, quotes with escapes of their own, `$'…'` and backticks, and brace expansion:
//! `{a,b}` and `{1..3}` make several words of one.

use brush_parser::ParserOptions;
use brush_parser::word::{self, BraceExpressionMember, BraceExpressionOrText, WordPiece};

/// A here-document.
pub(super) struct HereDocument {
    /// Its tag as it is written.
    tag: String,
    strips_tabs: bool,
    /// The number of its part.
    pub(super) part: usize,
}

impl HereDocument {
    /// Reads what follows `<<`, and tells where that ends.
    pub(super) fn read(text: &str, start: usize) -> (HereDocument, usize) {
        let strips_tabs = text[start..].starts_with('-');
        let rest = text[start + usize::from(strips_tabs)..].trim_start_matches([' ', '\t']);
        let end = rest.find([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']);
        let end = end.unwrap_or(rest.len());
        let document = HereDocument {
            tag: rest[..end].to_string(),
            strips_tabs,
            part: 0,
        };
        (document, text.len() - rest.len() + end)
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.tag.contains(['\'', '"', '\\'])
    }

    /// Whether its tag is a name, perhaps in quotes, which every shell reads alike.
    pub(super) fn is_plain(&self) -> bool {
        let name = self.name();
        let is_part = |c: char| c.is_alphanumeric() || "_-.+:!%@=/".contains(c);
        let forms = ["{}", "'{}'", "\"{}\"", "\\{}"].map(|form| form.replace("{}", &name));
        !name.is_empty() && name.chars().all(is_part) && forms.contains(&self.tag)
    }

    fn name(&self) -> String {
        self.tag.replace(['\'', '"', '\\'], "")
    }

    /// Its body, which begins at `start`, and where the line of its closing tag ends.
    pub(super) fn body(&self, text: &str, start: usize) -> Option<(String, usize)> {
        let name = self.name();
        let mut body = String::new();
        let mut at = start;
        while at < text.len() {
            let line = text[at..].split_inclusive('\n').next()?;
            at += line.len();
            let line = if self.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line.trim_end_matches('\n') == name {
                return Some((body, at));
            }
            body.push_str(line);
        }
        None
    }
}

/// The text of a substitution between backticks.
pub(super) fn without_backtick_escapes(text: &str, in_quotes: bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let escaped =
            rest.next_if(|next| c == '\\' && ("`$\\".contains(*next) || in_quotes && *next == '"'));
        plain.push(escaped.unwrap_or(c));
    }
    plain
}

/// The text of `$'…'`; `None` if it is no text in UTF-8.
pub(super) fn ansi(quoted: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.chars().peekable();
    while let Some(c) = rest.next() {
        let escape = if c == '\\' { rest.next() } else { None };
        let Some(escape) = escape else {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        };
        let mut number = |radix: u32, most: usize, first: u32| {
            let digit = |c: &mut std::iter::Peekable<std::str::Chars<'_>>| {
                let digit = c.peek()?.to_digit(radix)?;
                c.next();
                Some(digit)
            };
            let digits: Vec<u32> = (0..most).map_while(|_| digit(&mut rest)).collect();
            let value = digits
                .iter()
                .fold(first, |value, digit| value.wrapping_mul(radix) | digit);
            (!digits.is_empty()).then_some(value)
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
            '0'..='7' => {
                let first = escape as u32 - '0' as u32;
                bytes.push(u8::try_from(number(8, 2, first).unwrap_or(first) & 0xff).ok()?);
            }
            'c' => bytes.push(u8::try_from(rest.next()?.to_ascii_uppercase()).ok()? & 0x1f),
            'x' | 'u' | 'U' => {
                let most = [('x', 2), ('u', 4), ('U', 8)]
                    .iter()
                    .find(|(name, _)| *name == escape);
                match (number(16, most.map_or(0, |(_, most)| *most), 0), escape) {
                    (None, _) => bytes.extend([b'\\', escape as u8]),
                    (Some(value), 'x') => bytes.push(u8::try_from(value).ok()?),
                    (Some(value), _) => {
                        let c = char::from_u32(value)?;
                        bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                    }
                }
            }
            other => {
                bytes.push(b'\\');
                bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }
    // A zero byte ends the text.
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    bytes.truncate(end);
    String::from_utf8(bytes).ok()
}

/// Of all words that one becomes.
const MOST_BYTES: usize = 1 << 20;
/// Braces of a word, and braces in each other: the parser takes three times as long for each.
const MOST_BRACES: usize = 64;
const DEEPEST_BRACES: usize = 5;
/// Members of `{1..9}`.
const MOST_MEMBERS: u64 = 1_000;
/// Longer numbers in braces make the parser panic.
const MOST_DIGITS: usize = 18;

/// The words that a word of a flat text becomes by `{a,b}` and `{1..3}`, quotes kept; `None` if
/// they are more than `most`, or cannot be told.
pub(super) fn expand_braces(word: &str, most: usize) -> Option<Vec<String>> {
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
    // The parser loses the zeros of `{01..10}`.
    let is_misread =
        |digits: &str| digits.len() > 1 && digits.starts_with('0') || digits.len() > MOST_DIGITS;
    let has_misread_number = word.contains("..") && numbers.any(is_misread);
    if braces > MOST_BRACES || deepest > DEEPEST_BRACES || has_misread_number {
        return None;
    }
    let expanded = word::parse_brace_expansions(word, &options()).ok()??;
    product(&expanded, most, false)
}

/// All ways to choose from the pieces of a word.
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
        // Between the letters of both cases are other characters, which bash quotes.
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

/// Words are read without `~`, which stays as it is.
pub(super) fn options() -> ParserOptions {
    ParserOptions {
        tilde_expansion_at_word_start: false,
        tilde_expansion_after_colon: false,
        ..ParserOptions::default()
    }
}
