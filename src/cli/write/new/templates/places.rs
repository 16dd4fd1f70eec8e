//! The places of a template, `@WORDS@` in capitals, and what an event puts there.

use crate::engine::event::catalog::command_name;
use crate::engine::event::{EventSpec, JsonType};

pub(super) struct LookResult<'s> {
    /// Empty for an event without any.
    pub(super) key: &'s str,
    word: &'static str,
    /// A value of that key as TOML, with the text for `@`.
    sample: &'static str,
}

/// Keys that policies look at, and words that show how; the first that an event has is taken.
const LOOKED_AT: &[(&str, &str)] = &[
    ("command", "rm -rf"),
    ("content", "password"),
    ("lastAssistantMessage", "to be done"),
    ("message", "wip"),
    ("branch", "main"),
    ("environment", "production"),
    ("model", "preview"),
    ("taskSubject", "everything"),
];

/// Keys that every event of a session has, which say nothing about it.
const PASSED_OVER: &[&str] = &[
    "sessionId",
    "cwd",
    "transcriptPath",
    "permissionMode",
    "toolUseId",
    "agentId",
];

/// The key of an event that its new hook looks at.
pub(super) fn looked_at(spec: &EventSpec) -> LookResult<'_> {
    let is_text = |kind| {
        !matches!(
            kind,
            JsonType::Boolean | JsonType::Integer | JsonType::Number
        )
    };
    let keys = || {
        let keys = spec.context.iter().filter(|key| is_text(key.kind));
        keys.filter(|key| !PASSED_OVER.contains(&key.name.as_ref()))
    };
    let known = LOOKED_AT
        .iter()
        .find_map(|(name, word)| Some((keys().find(|key| key.name == *name)?, *word)));
    let Some((key, word)) = known.or_else(|| Some((keys().next()?, "forbidden"))) else {
        return LookResult {
            key: "",
            word: "",
            sample: "",
        };
    };
    let sample = match key.kind {
        JsonType::Object => "{ text = \"@\" }",
        JsonType::Array => "[\"@\"]",
        JsonType::String
        | JsonType::Any
        | JsonType::Boolean
        | JsonType::Integer
        | JsonType::Number => "\"@\"",
    };
    LookResult {
        key: &key.name,
        word,
        sample,
    }
}

/// A template with the places that the event and the hook's file decide.
pub(super) fn fill(text: &str, spec: &EventSpec, file: &str) -> String {
    let LookResult { key, word, sample } = looked_at(spec);
    let printed = if spec.conduct.text_teaches {
        "What a hook of this event prints is for the model."
    } else {
        "What a hook prints is shown. For the model it would be JSON: {\"additionalContext\": \"...\"}"
    };
    text.replace("@PRINTED@", printed)
        .replace("@SUMMARY@", &spec.summary)
        .replace("@EVENT@", &spec.name)
        .replace("@FILE@", file)
        .replace("@COMMAND@", command_name(&spec.name).unwrap_or_default())
        .replace("@KEY@", key)
        .replace("@WORD@", word)
        .replace("@BAD@", &sample.replace("@", word))
        .replace("@LOUD@", &sample.replace("@", &word.to_uppercase()))
        .replace("@GOOD@", &sample.replace("@", "all is well"))
}
