//! Answers among other text. Log lines around an answer change nothing.

use super::object::{all_of, breaks_off, ends_text, is_list_of_answers, objects_in};
use super::search::search;
use crate::engine::hook::Permit;
use crate::engine::outcome::Decision;

/// The meaning of text that is not just one JSON object.
pub(crate) enum InText<'t> {
    /// It blocks or asks.
    Decision(Decision),
    /// One answer, with text before it and none after it.
    Answer(&'t str),
    /// It contains an apparent answer that cannot be used.
    Malformed(String),
    /// It contains no answer.
    Nothing,
}

pub(crate) fn read_text<'t>(text: &'t str, permit: Permit<'_>) -> InText<'t> {
    let vocabulary = permit.vocabulary();
    let (mut objects, is_whole) = objects_in(text);
    objects.retain(|object| {
        all_of(&text[object.clone()]).is_some_and(|all| vocabulary.is_answer(&all))
    });
    // An answer after other text is read like one alone.
    let last = objects
        .last()
        .filter(|last| ends_text(text, last))
        .map(|last| last.start);
    let (before, answer) = text.split_at(last.unwrap_or(text.len()));
    let found = search(before, vocabulary).and(search(answer, vocabulary));
    if let Some(decision) = found.decision() {
        return InText::Decision(decision);
    }
    let problem = found
        .unreadable
        .or_else(|| unusable(text, found.is_cut || !is_whole));
    match (problem, objects.len()) {
        (Some(problem), _) => InText::Malformed(problem),
        (None, 0) => InText::Nothing,
        (None, 1) if last.is_some() => InText::Answer(answer),
        (None, 1) => InText::Malformed(
            "there is other text after an answer, or on its line; print it alone, and logs to stderr"
                .into(),
        ),
        (None, _) => InText::Malformed("it has several answers; print one JSON object".into()),
    }
}

/// Why text may contain an answer that cannot be read.
fn unusable(text: &str, is_cut: bool) -> Option<String> {
    let has_nuls = || text.contains('\0') && text.replace('\0', "").trim_start().starts_with('{');
    let problem = if !text.contains('{') {
        return None;
    } else if has_nuls() {
        "it has NULs between its letters; print it as UTF-8"
    } else if is_list_of_answers(text) {
        "an answer is one JSON object, not a list of them"
    } else if is_cut {
        "text with too many nested JSON objects; print the JSON alone"
    } else if breaks_off(text) {
        "a JSON object begins at its end and breaks off; print it whole and alone"
    } else {
        return None;
    };
    Some(problem.to_string())
}

/// The text without colour escape sequences; `None` if it has none.
pub(crate) fn without_colours(text: &str) -> Option<String> {
    if !text.contains('\u{1b}') {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let last = after.trim_start_matches(|c: char| ('0'..='?').contains(&c));
        // Only a letter ends such a sequence, and a brace may begin an answer.
        rest = last
            .strip_prefix(|c: char| c.is_ascii_alphabetic())
            .unwrap_or_else(|| {
                plain.push_str("\u{1b}[");
                after
            });
    }
    plain.push_str(rest);
    Some(plain)
}
