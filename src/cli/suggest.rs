//! What was meant by a word that the command line does not know: a slip of the fingers, or the word
//! of another tool. A suggestion that only looks a little like it would mislead.

use crate::engine::spelling;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Words that people try first, and the command for it. Words that mean the same are aliases.
const WORDS: &[(&str, &str)] = &[
    ("init", "`hookrun new NAME --event EVENT` writes a first hook, and its cases"),
    ("add", "`hookrun new NAME --event EVENT` writes a hook, and its cases"),
    ("create", "`hookrun new NAME --event EVENT` writes a hook, and its cases"),
    ("explain", "`hookrun why` explains the last decision"),
    ("history", "`hookrun why --all --brief` lists what was decided"),
    ("stats", "`hookrun why --stats` counts what was decided"),
    ("status", "`hookrun doctor` says what is wrong, `hookrun list` which hooks there are"),
    (
        "record",
        "`hookrun run --record FILE` records events, and `hookrun replay` decides them again",
    ),
    ("exec", "`hookrun run EVENT` decides an event, `hookrun test EVENT` shows how"),
    ("watch", "`hookrun test --watch` plays the suite again at every change"),
    ("coverage", "`hookrun test --coverage` shows what no case has tested"),
    ("setup", "`hookrun install HOST` makes a host ask hookrun"),
    ("remove", "`hookrun uninstall HOST`; a hook is removed with its file"),
];

/// The pairs of what was typed and what clap suggests for it.
const PAIRS: &[(ContextKind, ContextKind)] = &[
    (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
    (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    (ContextKind::InvalidValue, ContextKind::SuggestedValue),
];

/// Keeps suggestions that correct a slip, and translates words of other tools.
pub(crate) fn mend(error: &mut clap::Error) {
    for (typed, suggested) in PAIRS {
        let Some(ContextValue::String(word)) = error.get(*typed).cloned() else { continue };
        let known = match error.get(*suggested) {
            Some(ContextValue::String(known)) => vec![known.clone()],
            Some(ContextValue::Strings(known)) => known.clone(),
            Some(_) | None => continue,
        };
        let nearest = spelling::nearest(&word, known.iter().map(String::as_str));
        match nearest.map(str::to_string) {
            Some(nearest) => error.insert(*suggested, ContextValue::String(nearest)),
            None => error.remove(*suggested),
        };
    }
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    if let Some((_, help)) = WORDS.iter().find(|(known, _)| known == word) {
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(*help)]);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, tip);
    }
}
