//! "Did you mean": the known word that a mistyped one was probably meant to be.
//!
//! Used for event names, configuration keys and the keys of an answer. Pure.

/// A cure that names the nearest known word, else another one.
pub fn did_you_mean(nearest: Option<&str>, otherwise: impl FnOnce() -> String) -> String {
    nearest.map_or_else(otherwise, |nearest| format!("did you mean `{nearest}`?"))
}

/// The candidate nearest to `word`, if one is near enough to be a slip of the fingers.
///
/// Case, `_`, `-` and `.` are ignored. Words of up to three letters must be spelled with the
/// same letters; up to six letters allow one edit, longer ones one edit for every three letters.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let plain = plain(candidate);
        // It takes at least so many edits.
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

/// The words of `found` that were probably meant as one of `known` that is missing, each with that
/// one. Of very many unknown words only the first are looked at.
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

/// `word` as it is compared: lower case, without separators.
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
