//! Brace expansion, as bash does it.

use super::line::{SourceWord, WordPiece};

/// Limit on the words that the braces of a line or of a glob expand to, plus their letters.
pub(super) const MOST_LETTERS: usize = 1 << 17;
/// Open braces in a word.
const MOST_BRACES: usize = 64;
const MOST_MEMBERS: u64 = 1_000;
/// Digits of a number that surely fits.
const MOST_DIGITS: usize = 18;

/// Braces of which the result is unknown, or too large.
struct Uncertain;

#[derive(Clone, Copy)]
enum Letter<'p> {
    /// An unquoted character.
    Plain(char),
    Piece(&'p WordPiece),
}

type Letters<'p> = Vec<Letter<'p>>;

impl Letter<'_> {
    fn as_plain(&self) -> Option<char> {
        match self {
            Letter::Plain(c) => Some(*c),
            Letter::Piece(_) => None,
        }
    }

    fn has_quoted_comma(&self) -> bool {
        matches!(self, Letter::Piece(piece) if piece.written.contains(','))
    }
}

/// Expands the braces of a word; `None` if that copies more words and letters than are `left`, or
/// is uncertain.
pub(super) fn expand_word(word: &SourceWord, left: &mut usize) -> Option<Vec<SourceWord>> {
    let mut texts = word.iter().filter_map(WordPiece::unquoted);
    if !texts.any(|text| text.contains('{')) {
        return Some(vec![word.clone()]);
    }
    let mut letters = Letters::new();
    for piece in word {
        match piece.unquoted() {
            Some(text) => letters.extend(text.chars().map(Letter::Plain)),
            None => letters.push(Letter::Piece(piece)),
        }
    }
    let mut words = expand(&letters, left).ok()?;
    // Empty braces expand to no word.
    words.retain(|letters| !letters.is_empty());
    let words = words.iter().map(|letters| {
        let pieces = letters.iter().map(|letter| match letter {
            Letter::Plain(c) => WordPiece::text(c.to_string(), false),
            Letter::Piece(piece) => (*piece).clone(),
        });
        pieces.collect()
    });
    Some(words.collect())
}

/// Expands the braces of an unquoted text; `None` if that makes too much, or is uncertain.
pub(crate) fn expand_braces(text: &str) -> Option<Vec<String>> {
    let letters: Letters = text.chars().map(Letter::Plain).collect();
    let words = expand(&letters, &mut { MOST_LETTERS }).ok()?;
    let texts = words
        .iter()
        .map(|word| word.iter().filter_map(Letter::as_plain).collect());
    Some(texts.collect())
}

/// Takes what a copy of words and letters costs.
fn spend(left: &mut usize, cost: usize) -> Result<(), Uncertain> {
    *left = left.checked_sub(cost).ok_or(Uncertain)?;
    Ok(())
}

/// Expands as bash does: braces without a comma or a sequence are text.
fn expand<'p>(word: &[Letter<'p>], left: &mut usize) -> Result<Vec<Letters<'p>>, Uncertain> {
    let braces = word.iter().filter(|letter| letter.as_plain() == Some('{'));
    if braces.count() > MOST_BRACES {
        return Err(Uncertain);
    }
    let mut words = vec![Letters::new()];
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let is_first = rest.len() == word.len();
        let is_empty = is_first && after.first().and_then(Letter::as_plain) == Some('}');
        let choices = if first.as_plain() == Some('{') && !is_empty {
            choices(after, left)?
        } else {
            None
        };
        let Some((choices, end)) = choices else {
            spend(left, words.len())?;
            words.iter_mut().for_each(|word| word.push(*first));
            rest = after;
            continue;
        };
        let copied_choices = words.len() * (choices.len() + length(&choices));
        spend(left, copied_choices + choices.len() * length(&words))?;
        let joined = words.iter().flat_map(|word| {
            let words = choices.iter();
            words.map(move |choice| [word.as_slice(), choice].concat())
        });
        words = joined.collect();
        rest = &after[end..];
    }
    Ok(words)
}

fn length(words: &[Letters]) -> usize {
    words.iter().map(Vec::len).sum()
}

/// The words of braces, and the length of the text up to the closing one.
type Choices<'p> = (Vec<Letters<'p>>, usize);

/// Returns the words of braces that are open here.
fn choices<'p>(inside: &[Letter<'p>], left: &mut usize) -> Result<Option<Choices<'p>>, Uncertain> {
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
                let mut after = inside[at + 1..].iter().map(Letter::as_plain);
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
                .map(|member| member.chars().map(Letter::Plain).collect())
                .collect(),
            // A quoted comma counts for bash, depending on the quotes.
            None if text.iter().any(Letter::has_quoted_comma) => return Err(Uncertain),
            None if text.iter().any(|letter| letter.as_plain() == Some(',')) => expand(text, left)?,
            None => vec![[&[Letter::Plain('{')], text, &[Letter::Plain('}')]].concat()],
        };
        return Ok(Some((members, end + 1)));
    }
    commas.push(end);
    let mut choices = Vec::new();
    let mut start = 0;
    for comma in commas {
        choices.extend(expand(&inside[start..comma], left)?);
        start = comma + 1;
    }
    Ok(Some((choices, end + 1)))
}

/// Returns the members of `1..3` or `a..e..2`.
fn sequence(inside: &[Letter]) -> Result<Option<Vec<String>>, Uncertain> {
    let text: Option<String> = inside.iter().map(Letter::as_plain).collect();
    let Some(text) = text else {
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
    let members = (0..=count).map(|nth| {
        if from <= to {
            from.saturating_add_unsigned(nth * step)
        } else {
            from.saturating_sub_unsigned(nth * step)
        }
    });
    Ok(members.collect())
}
