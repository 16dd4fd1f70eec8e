//! "Did you mean": finds the known word that a misspelled one was meant to be.

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
