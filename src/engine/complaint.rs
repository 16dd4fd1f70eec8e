//! Problems with their cures, among them "did you mean", and the texts of panics.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A problem and its cure, without a location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// Problem: lower case, no full stop.
    pub cause: String,
    pub cure: Option<String>,
}

impl Complaint {
    pub fn new(cause: impl Into<String>) -> Complaint {
        Complaint {
            cause: cause.into(),
            cure: None,
        }
    }

    pub fn of(error: impl fmt::Display) -> Complaint {
        Complaint::new(error.to_string())
    }

    pub fn with_cure(cause: impl Into<String>, cure: impl Into<String>) -> Complaint {
        Complaint {
            cause: cause.into(),
            cure: Some(cure.into()),
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cure {
            Some(cure) => write!(out, "{}; {cure}", self.cause),
            None => out.write_str(&self.cause),
        }
    }
}

impl std::error::Error for Complaint {}

/// Returns the message of a caught panic: `panicked: …`.
pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // Dropping it may panic too.
    std::mem::forget(panic);
    match text {
        Some(text) => format!("panicked: {text}"),
        None => "panicked".to_string(),
    }
}

/// Suggests the nearest known word, else returns another cure.
pub fn did_you_mean(nearest: Option<&str>, otherwise: impl FnOnce() -> String) -> String {
    nearest.map_or_else(otherwise, |nearest| format!("did you mean `{nearest}`?"))
}

/// Returns the candidate nearest to `word`, if it may be a typo.
///
/// Ignores case, `_`, `-` and `.`. Up to three letters must match exactly; up to six letters allow
/// one edit, longer words one edit per three letters, at most four.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let plain = plain(candidate);
        // A lower bound of the edits.
        if wanted.chars().count().abs_diff(plain.chars().count()) > allowed_edits(candidate) {
            continue;
        }
        let distance = strsim::osa_distance(&wanted, &plain);
        if distance <= allowed_edits(candidate) && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Pairs unknown words with the missing known words that were probably meant. Checks only the first
/// 1,000 unknown words.
pub(crate) fn near_misses<'k>(
    found: impl Iterator<Item = &'k str> + Clone,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Vec<(&'k str, &'k str)> {
    const MOST: usize = 1000;
    let strange: Vec<&str> = found
        .clone()
        .filter(|key| !known.clone().any(|one| one == *key))
        .take(MOST)
        .collect();
    if strange.is_empty() {
        return Vec::new();
    }
    let missing: Vec<&str> = known
        .filter(|one| !found.clone().any(|key| key == *one))
        .collect();
    strange
        .into_iter()
        .filter_map(|key| Some((key, nearest(key, missing.iter().copied())?)))
        .collect()
}

/// Normalizes a word for comparison: lower case, without separators.
pub fn plain(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-' | '.'))
        .flat_map(char::to_lowercase)
        .collect()
}

fn allowed_edits(candidate: &str) -> usize {
    match candidate.chars().count() {
        0..=3 => 0,
        4..=6 => 1,
        length => (length / 3).min(4),
    }
}
