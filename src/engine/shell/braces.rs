//! Brace expansion: `{a,b}` and `{1..3}` make several words of one.

use super::quotes::after_unit;

/// Of all words that one becomes.
const MOST_BYTES: usize = 1 << 20;
/// Each group looks for its end.
const MOST_GROUPS: usize = 64;

/// The words that a word becomes, quotes kept; `None` if they are more than `most`.
pub(super) fn expand(word: &str, most: usize) -> Option<Vec<String>> {
    if word.matches('{').count() > MOST_GROUPS {
        return None;
    }
    let mut done = Vec::new();
    let mut waiting = vec![word.to_string()];
    while let Some(word) = waiting.pop() {
        match first_group(&word) {
            Some(group)
                if done.len() + waiting.len() + group.members.len() <= most
                    && (group.members.len() + waiting.len()) * word.len() <= MOST_BYTES =>
            {
                let (before, after) = (&word[..group.start], &word[group.end..]);
                let made = group.members.iter().rev();
                waiting.extend(made.map(|member| format!("{before}{member}{after}")));
            }
            Some(_) => return None,
            None => done.push(word),
        }
    }
    Some(done)
}

struct BraceGroup {
    start: usize,
    end: usize,
    members: Vec<String>,
}

/// The first group of braces that makes words.
fn first_group(word: &str) -> Option<BraceGroup> {
    let bytes = word.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => {
                if let Some(group) = group_at(word, at) {
                    return Some(group);
                }
                at += 1;
            }
            _ => at = after_unit(word, at, 0).unwrap_or(word.len()),
        }
    }
    None
}

fn group_at(word: &str, start: usize) -> Option<BraceGroup> {
    let bytes = word.as_bytes();
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'{' => {
                depth += 1;
                at += 1;
            }
            b'}' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    break;
                }
            }
            b',' if depth == 1 => {
                commas.push(at);
                at += 1;
            }
            _ => at = after_unit(word, at, 0).unwrap_or(word.len()),
        }
    }
    let members = if commas.is_empty() {
        sequence(&word[start + 1..at - 1])?
    } else {
        let starts = std::iter::once(start + 1).chain(commas.iter().map(|comma| comma + 1));
        let ends = commas.iter().copied().chain([at - 1]);
        starts
            .zip(ends)
            .map(|(start, end)| word[start..end].to_string())
            .collect()
    };
    Some(BraceGroup {
        start,
        end: at,
        members,
    })
}

/// `1..5`, `a..e`, `1..9..2`: at most a thousand.
fn sequence(text: &str) -> Option<Vec<String>> {
    let mut parts = text.split("..");
    let (first, last, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let step = step
        .map_or(Some(1), |step| step.parse::<i64>().ok())?
        .unsigned_abs()
        .max(1);
    let single = |text: &str| {
        let mut chars = text.chars();
        chars
            .next()
            .filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
    };
    let numbers = first.parse::<i64>().ok().zip(last.parse::<i64>().ok());
    let letters = single(first).zip(single(last));
    let (from, to, is_number) = match (numbers, letters) {
        (Some((from, to)), _) => (from, to, true),
        (None, Some((from, to))) => (i64::from(from as u32), i64::from(to as u32), false),
        (None, None) => return None,
    };
    let width = [first, last]
        .iter()
        .filter(|end| {
            let digits = end.trim_start_matches('-');
            digits.len() > 1 && digits.starts_with('0')
        })
        .map(|end| end.len())
        .max()
        .unwrap_or(0);
    let count = from.abs_diff(to) / step;
    let sign = if from <= to { 1 } else { -1 };
    // Beyond that many the caller gives up, so one more is enough to know.
    let numbers =
        (0..=count.min(1_000)).map(|n| from + sign * i64::try_from(n * step).unwrap_or(0));
    let text = |n: i64| match is_number {
        true => format!("{n:0width$}"),
        false => u32::try_from(n)
            .ok()
            .and_then(char::from_u32)
            .map_or_else(String::new, String::from),
    };
    Some(numbers.map(text).collect())
}
