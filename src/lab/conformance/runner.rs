//! The command line of a runner that is put to the test.

use std::ffi::OsString;
use std::path::Path;

/// The placeholders of a command, and their values.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    ("{host}", "the name of the host"),
    ("{event}", "the host's name for the event"),
    ("{hooks}", "the folder of the hooks"),
    (
        "{arguments}",
        "the host's arguments, one word each; without this place they go at the end",
    ),
];

/// The words of a command, with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandTemplate {
    words: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("the command `{0}` is empty, or a quote in it is not closed")]
    NoWords(String),
    #[error("`{0}` is none of {known}", known = known())]
    Unknown(String),
    #[error("`{0}`: `{{arguments}}` must be a separate word")]
    NotAlone(String),
}

fn known() -> String {
    let names: Vec<String> = PLACEHOLDERS
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    names.join(", ")
}

#[derive(Debug, Clone, Copy)]
pub struct TemplateValues<'a> {
    pub host: &'a str,
    pub event: &'a str,
    pub hooks: &'a Path,
    pub arguments: &'a [String],
}

const ARGUMENTS: &str = "{arguments}";

impl CommandTemplate {
    /// Reads a command as a shell splits words. No shell runs it.
    pub fn parse(text: &str) -> Result<CommandTemplate, CommandError> {
        let words = shell_words::split(text).unwrap_or_default();
        CommandTemplate::of(words)
            .ok_or_else(|| CommandError::NoWords(text.to_string()))?
            .checked()
    }

    pub fn of(words: Vec<String>) -> Option<CommandTemplate> {
        if words.is_empty() {
            None
        } else {
            Some(CommandTemplate { words })
        }
    }

    fn checked(self) -> Result<CommandTemplate, CommandError> {
        for word in &self.words {
            for place in places_in(word) {
                if !PLACEHOLDERS.iter().any(|(known, _)| *known == place) {
                    return Err(CommandError::Unknown(place.to_string()));
                }
                if place == ARGUMENTS && word != ARGUMENTS {
                    return Err(CommandError::NotAlone(word.clone()));
                }
            }
        }
        Ok(self)
    }

    /// The program and its arguments, with all placeholders filled. Without a placeholder for them,
    /// the host's arguments go at the end.
    pub fn filled(&self, places: &TemplateValues<'_>) -> (OsString, Vec<OsString>) {
        let mut words: Vec<OsString> = Vec::new();
        let given = || places.arguments.iter().map(OsString::from);
        for word in &self.words {
            if word == ARGUMENTS {
                words.extend(given());
            } else {
                words.push(filled(word, places));
            }
        }
        if !self.words.iter().any(|word| word == ARGUMENTS) {
            words.extend(given());
        }
        let program = words.remove(0);
        (program, words)
    }
}

fn places_in(word: &str) -> impl Iterator<Item = &str> {
    word.match_indices('{').filter_map(|(start, _)| {
        let rest = &word[start..];
        let end = rest.find('}')?;
        let name = &rest[1..end];
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_name.then(|| &rest[..=end])
    })
}

fn filled(word: &str, places: &TemplateValues<'_>) -> OsString {
    let word = word
        .replace("{host}", places.host)
        .replace("{event}", places.event);
    let mut whole = OsString::new();
    for (index, part) in word.split("{hooks}").enumerate() {
        if index > 0 {
            whole.push(places.hooks);
        }
        whole.push(part);
    }
    whole
}
