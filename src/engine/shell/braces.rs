//! Expands braces: `{a,b}` and `{1..3}`.

/// Bytes of all words that one expands to.
const MOST_BYTES: usize = 1 << 20;
/// Open braces in a word.
const MOST_BRACES: usize = 64;
const MOST_MEMBERS: u64 = 1_000;
/// Digits of a number that surely fits.
const MOST_DIGITS: usize = 18;

/// Words, or parts of one that follow each other.
type Words = Vec<Vec<Letter>>;

/// Braces of which the result is unknown, or too large.
struct Uncertain;

/// A part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letter {
    /// An unquoted character.
    Plain(char),
    /// A quoted or expanded part, by its index.
    Piece(usize),
}

/// Expands the braces of an unquoted text; `None` if there are more than `most` results, or the
/// result is uncertain.
pub(crate) fn expand_braces(text: &str, most: usize) -> Option<Vec<String>> {
    let letters: Vec<Letter> = text.chars().map(Letter::Plain).collect();
    let words = expand(&letters, most)?;
    Some(words.iter().map(|word| plain_text(word)).collect())
}

fn plain_text(letters: &[Letter]) -> String {
    let plain = letters.iter().filter_map(|letter| match letter {
        Letter::Plain(c) => Some(c),
        Letter::Piece(_) => None,
    });
    plain.collect()
}

/// Expands as bash does: braces without a comma or a sequence are text.
pub(super) fn expand(word: &[Letter], most: usize) -> Option<Vec<Vec<Letter>>> {
    words(word, most).ok()
}

fn words(word: &[Letter], most: usize) -> Result<Words, Uncertain> {
    let braces = word.iter().filter(|letter| **letter == Letter::Plain('{'));
    if braces.count() > MOST_BRACES {
        return Err(Uncertain);
    }
    let mut words = vec![Vec::new()];
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let is_first = rest.len() == word.len();
        let choices = match first {
            Letter::Plain('{') if is_first && after.first() == Some(&Letter::Plain('}')) => None,
            Letter::Plain('{') => choices(after, most)?,
            Letter::Plain(_) | Letter::Piece(_) => None,
        };
        let Some((choices, end)) = choices else {
            words.iter_mut().for_each(|word| word.push(*first));
            rest = after;
            continue;
        };
        let bytes = |words: &[Vec<Letter>]| words.iter().map(Vec::len).sum::<usize>();
        let count = words.len() * choices.len();
        let letters = words.len() * bytes(&choices) + choices.len() * bytes(&words);
        if count > most || letters > MOST_BYTES {
            return Err(Uncertain);
        }
        let joined = words.iter().flat_map(|word| {
            choices
                .iter()
                .map(move |choice| [word.as_slice(), choice].concat())
        });
        words = joined.collect();
        rest = &after[end..];
    }
    Ok(words)
}

/// Returns the words of braces that are open here, and where the text after them begins.
fn choices(inside: &[Letter], most: usize) -> Result<Option<(Words, usize)>, Uncertain> {
    const PLAIN_DOT: Letter = Letter::Plain('.');
    let mut depth = 0;
    let mut commas = Vec::new();
    let mut has_dots = false;
    let mut end = None;
    for (at, letter) in inside.iter().enumerate() {
        match letter {
            Letter::Plain('{') => depth += 1,
            Letter::Plain('}') if depth == 0 && (has_dots || !commas.is_empty()) => {
                end = Some(at);
                break;
            }
            Letter::Plain('}') if depth > 0 => depth -= 1,
            Letter::Plain(',') if depth == 0 => commas.push(at),
            Letter::Plain('.') if depth == 0 => {
                let after = inside.get(at + 1..at + 3).unwrap_or_default();
                has_dots |=
                    after.first() == Some(&PLAIN_DOT) && after.last() != Some(&Letter::Plain('}'));
            }
            Letter::Plain(_) | Letter::Piece(_) => {}
        }
    }
    let Some(end) = end else {
        return Ok(None);
    };
    if commas.is_empty() {
        let text = &inside[..end];
        let members = match sequence(text)? {
            Some(members) => members,
            None if text.contains(&Letter::Plain(',')) => words(text, most)?,
            None => {
                let braces = [Letter::Plain('{'), Letter::Plain('}')];
                vec![[&braces[..1], text, &braces[1..]].concat()]
            }
        };
        return Ok(Some((members, end + 1)));
    }
    commas.push(end);
    let mut choices = Vec::new();
    let mut start = 0;
    for comma in commas {
        choices.extend(words(&inside[start..comma], most)?);
        start = comma + 1;
    }
    Ok(Some((choices, end + 1)))
}

/// Returns the members of `1..3` or `a..e..2`.
fn sequence(inside: &[Letter]) -> Result<Option<Words>, Uncertain> {
    let text = plain_text(inside);
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Ok(None),
    };
    if inside
        .iter()
        .any(|letter| matches!(letter, Letter::Piece(_)))
    {
        return Ok(None);
    }
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
        let numbers = steps(from, to, step)?.into_iter();
        let words = numbers.map(|n| format!("{n:0width$}").chars().map(Letter::Plain).collect());
        return Ok(Some(words.collect()));
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
    Ok(Some(
        letters
            .map(|c| vec![Letter::Plain(char::from(c))])
            .collect(),
    ))
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
