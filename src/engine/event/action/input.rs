//! What a tool is given: its entries, and every text in it at any depth, each with its key.

use std::borrow::Cow;
use std::ptr;

use super::kind::ActionKind;
use crate::engine::event::context::ContextError;
use crate::engine::event::json::{distinct_entries, each_text, is_json, string_text};
use crate::engine::names::words;

/// Keys that hold a command line, in order of trust; without regard to case, `_` and `-`.
pub(super) const COMMAND_KEYS: &[&str] = &["command", "cmd", "script"];

/// Keys that hold one if a tool runs commands, or is unknown.
pub(super) const MORE_COMMAND_KEYS: &[&str] = &[
    "commandline",
    "shellcommand",
    "commands",
    "program",
    "executable",
    "argv",
];

/// Keys that hold the folder in which a tool works; a relative path is relative to it.
pub(super) const FOLDER_KEYS: &[&str] = words!(
    "workdir" "cwd" "workingdirectory" "workingdir" "dir" "directory" "dirpath" "folder" "basedir"
    "root"
);

/// A key without regard to case, `_` and `-`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn new(key: &str) -> Key {
        let letters = key.chars().filter(|c| !matches!(c, '_' | '-'));
        Key(letters.flat_map(char::to_lowercase).collect())
    }

    pub(super) fn is(&self, known: &str) -> bool {
        self.0 == known
    }

    pub(super) fn is_in(&self, keys: &[&str]) -> bool {
        keys.contains(&self.0.as_str())
    }

    /// Whether a command line is under it.
    pub(super) fn is_of_command(&self) -> bool {
        self.is_in(COMMAND_KEYS) || self.is_in(MORE_COMMAND_KEYS)
    }

    pub(super) fn ends_in(&self, endings: &[&str]) -> bool {
        endings.iter().any(|ending| self.0.ends_with(ending))
    }
}

/// The input of one call of a tool.
pub(super) struct ToolInput<'i> {
    pub(super) kind: ActionKind,
    /// As JSON text.
    pub(super) raw: &'i str,
    /// The keys of an input that is an object, each with its value as JSON text.
    pub(super) entries: Vec<(Key, &'i str)>,
}

impl<'i> ToolInput<'i> {
    /// The input that is at this place of the event.
    ///
    /// # Errors
    /// When one of its keys appears twice.
    pub(super) fn read(
        kind: ActionKind,
        raw: &'i str,
        place: &str,
    ) -> Result<ToolInput<'i>, ContextError> {
        let entries = distinct_entries(raw)
            .map_err(|key| ContextError::Duplicate(format!("{place}.{key}")))?;
        let entries = entries
            .into_iter()
            .map(|(key, raw)| (Key::new(&key), raw))
            .collect();
        Ok(ToolInput { kind, raw, entries })
    }
}

/// Calls `visit` for every text in a JSON text: with its key, with where that key is written (one
/// place for all texts of a list), and with the text itself as JSON.
pub(super) fn each_keyed_text<'i>(
    raw: &'i str,
    around: &Key,
    visit: &mut dyn FnMut(&Key, &'i str, &'i str),
) {
    let mut key = around.clone();
    let mut last = "";
    each_text(raw, &mut |place, text| {
        if !ptr::eq(place, last) {
            key = string_text(place).map_or_else(|| around.clone(), |key| Key::new(&key));
            last = place;
        }
        visit(&key, place, text);
    });
}

/// An input that is the text of a JSON object or list, as that.
pub(super) fn opened(input: &str) -> Cow<'_, str> {
    match inner_json(input) {
        Some(text) => Cow::Owned(text.trim().to_string()),
        None => Cow::Borrowed(input),
    }
}

/// The text of a JSON string that is a JSON object or list.
pub(super) fn inner_json(raw: &str) -> Option<String> {
    string_text(raw).filter(|text| text.trim_start().starts_with(['{', '[']) && is_json(text))
}
