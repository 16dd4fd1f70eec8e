//! Brace expansion, as bash does it.

use super::line::{SourceWord, WordPiece, WordPieceKind};

/// Words that a glob expands to, and their letters.
const MOST_LETTERS: usize = 1 << 20;
/// Open braces in a word.
const MOST_BRACES: usize = 64;
const MOST_MEMBERS: u64 = 1_000;
/// Digits of a number that surely fits.
const MOST_DIGITS: usize = 18;

/// Expands the braces of a word; `None` if that makes more words and letters than are left, or is
/// uncertain.
pub(super) fn expand_word(word: &SourceWord, left: &mut usize) -> Option<Vec<SourceWord>> {
    if !word.pieces.iter().any(|piece| piece.written.contains('{')) {
        return Some(vec![word.clone()]);
    }
    let mut letters = Vec::new();
    for piece in &word.pieces {
        if let WordPieceKind::Text(text) = &piece.kind
            && !piece.is_quoted
        {
            letters.extend(text.chars().map(WordPiece::plain));
        } else {
            letters.push(piece.clone());
        }
    }
    let Ok(mut words) = expand(&letters, *left) else {
        // It may have cost all of them.
        *left /= 2;
        return None;
    };
    *left = left.saturating_sub(words.len() + length(&words));
    // Empty braces expand to no word.
    words.retain(|pieces| !pieces.is_empty());
    let words = words.into_iter().map(|pieces| SourceWord { pieces });
    Some(words.collect())
}

/// Braces of which the result is unknown, or too large.
struct Uncertain;

/// A part of a word.
pub(super) trait Letter: Clone {
    /// Creates an unquoted character.
    fn plain(c: char) -> Self;

    /// Returns the character, if it is unquoted.
    fn as_plain(&self) -> Option<char>;
}

impl Letter for char {
    fn plain(c: char) -> char {
        c
    }

    fn as_plain(&self) -> Option<char> {
        Some(*self)
    }
}

impl Letter for WordPiece {
    fn plain(c: char) -> WordPiece {
        WordPiece {
            kind: WordPieceKind::Text(c.to_string()),
            is_quoted: false,
            written: c.to_string(),
        }
    }

    fn as_plain(&self) -> Option<char> {
        match &self.kind {
            WordPieceKind::Text(text) if !self.is_quoted => text.chars().next(),
            WordPieceKind::Text(_)
            | WordPieceKind::Commands { .. }
            | WordPieceKind::Expansion { .. } => None,
        }
    }
}

/// Expands the braces of an unquoted text; `None` if that makes too much, or is uncertain.
pub(crate) fn expand_braces(text: &str) -> Option<Vec<String>> {
    let letters: Vec<char> = text.chars().collect();
    let words = expand(&letters, MOST_LETTERS).ok()?;
    Some(words.iter().map(|word| word.iter().collect()).collect())
}

/// Expands as bash does: braces without a comma or a sequence are text.
fn expand<L: Letter>(word: &[L], most: usize) -> Result<Vec<Vec<L>>, Uncertain> {
    let braces = word.iter().filter(|letter| letter.as_plain() == Some('{'));
    if braces.count() > MOST_BRACES {
        return Err(Uncertain);
    }
    let mut words = vec![Vec::new()];
    let mut size = 0;
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let is_first = rest.len() == word.len();
        let is_empty = is_first && after.first().and_then(L::as_plain) == Some('}');
        let choices = if first.as_plain() == Some('{') && !is_empty {
            choices(after, most)?
        } else {
            None
        };
        size += words.len();
        if let Some((choices, _)) = &choices {
            size = words.len() * (choices.len() + length(choices)) + choices.len() * size;
        }
        if size > most && size > word.len() {
            return Err(Uncertain);
        }
        let Some((choices, end)) = choices else {
            words.iter_mut().for_each(|word| word.push(first.clone()));
            rest = after;
            continue;
        };
        let joined = words.iter().flat_map(|word| {
            let words = choices.iter();
            words.map(move |choice| [word.as_slice(), choice].concat())
        });
        words = joined.collect();
        rest = &after[end..];
    }
    Ok(words)
}

fn length<L>(words: &[Vec<L>]) -> usize {
    words.iter().map(Vec::len).sum()
}

/// The words of braces, and the length of the text up to the closing one.
type Choices<L> = (Vec<Vec<L>>, usize);

/// Returns the words of braces that are open here.
fn choices<L: Letter>(inside: &[L], most: usize) -> Result<Option<Choices<L>>, Uncertain> {
    let mut depth = 0;
    let mut commas = Vec::new();
    let mut has_dots = false;
    let mut end = None;
    for (at, letter) in inside.iter().enumerate() {
        match letter.as_plain() {
            Some('{') => depth += 1,
            Some('}') if depth == 0 && (has_dots || !commas.is_empty()) => {
                end = Some(at);
                break;
            }
            Some('}') if depth > 0 => depth -= 1,
            Some(',') if depth == 0 => commas.push(at),
            Some('.') if depth == 0 => {
                let mut after = inside[at + 1..].iter().map(L::as_plain);
                has_dots |= after.next() == Some(Some('.')) && after.next() != Some(Some('}'));
            }
            _ => {}
        }
    }
    let Some(end) = end else {
        return Ok(None);
    };
    if commas.is_empty() {
        let text = &inside[..end];
        let members = match sequence(text)? {
            Some(members) => members
                .iter()
                .map(|member| member.chars().map(L::plain).collect())
                .collect(),
            None if text.iter().any(|letter| letter.as_plain() == Some(',')) => expand(text, most)?,
            None => vec![[&[L::plain('{')], text, &[L::plain('}')]].concat()],
        };
        return Ok(Some((members, end + 1)));
    }
    commas.push(end);
    let mut choices = Vec::new();
    let mut left = most;
    let mut start = 0;
    for comma in commas {
        let words = expand(&inside[start..comma], left)?;
        left = left
            .checked_sub(words.len() + length(&words))
            .ok_or(Uncertain)?;
        choices.extend(words);
        start = comma + 1;
    }
    Ok(Some((choices, end + 1)))
}

/// Returns the members of `1..3` or `a..e..2`.
fn sequence<L: Letter>(inside: &[L]) -> Result<Option<Vec<String>>, Uncertain> {
    let Some(text) = inside.iter().map(L::as_plain).collect::<Option<String>>() else {
        return Ok(None);
    };
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Ok(None),
    };
    if parts.iter().any(|part| part.len() > MOST_DIGITS) {
        return Err(Uncertain);
    }
    let Ok(step) = step.parse() else {
        return Ok(None);
    };
    if let (Ok(from), Ok(to)) = (first.parse(), last.parse()) {
        let width = if is_padded(first) || is_padded(last) {
            first.len().max(last.len())
        } else {
            0
        };
        let numbers = steps(from, to, step)?;
        let padded = numbers.iter().map(|number| format!("{number:0width$}"));
        return Ok(Some(padded.collect()));
    }
    let ([from], [to]) = (first.as_bytes(), last.as_bytes()) else {
        return Ok(None);
    };
    if !from.is_ascii_alphabetic() || !to.is_ascii_alphabetic() {
        return Ok(None);
    }
    // Between upper-case and lower-case letters are characters that bash quotes.
    if from.is_ascii_lowercase() != to.is_ascii_lowercase() {
        return Err(Uncertain);
    }
    let codes = steps(i64::from(*from), i64::from(*to), step)?.into_iter();
    let letters = codes.filter_map(|code| u8::try_from(code).ok());
    Ok(Some(letters.map(|c| char::from(c).to_string()).collect()))
}

/// Returns true for a number with leading zeros, which bash keeps: `01`.
fn is_padded(number: &str) -> bool {
    let digits = number.trim_start_matches(['-', '+']);
    digits.len() > 1 && digits.starts_with('0')
}

fn steps(from: i64, to: i64, step: i64) -> Result<Vec<i64>, Uncertain> {
    let step = step.unsigned_abs().max(1);
    let count = from.abs_diff(to) / step;
    if count >= MOST_MEMBERS {
        return Err(Uncertain);
    }
    let step = i64::try_from(step).map_err(|_| Uncertain)?;
    let direction = if from <= to { step } else { -step };
    let mut numbers = Vec::new();
    let mut number = from;
    for _ in 0..=count {
        numbers.push(number);
        number = number.saturating_add(direction);
    }
    Ok(numbers)
}
