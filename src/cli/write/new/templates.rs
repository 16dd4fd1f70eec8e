//! What new hooks look like: a table by the sort of the event and the language.
//!
//! A sort is found by the rules of the event, never by its name, so that every event has one, those
//! of one's own too. `@WORDS@` in capitals stand for what is known of the event and the hook.

mod chosen;
mod sorts;

use crate::engine::event::catalog::command;
use crate::engine::event::{EventSpec, JsonType};

use chosen::CHOSEN;
use sorts::SORTS;

/// A language that hooks are written in.
pub(crate) struct Language {
    /// What `--lang` calls it.
    pub(crate) name: &'static str,
    /// What the file ends with.
    pub(crate) ending: &'static str,
    /// The first line.
    pub(crate) shebang: &'static str,
    /// How values are read in it, beside the environment.
    reading: &'static str,
    /// Its body among those of a sort.
    body: fn(&Bodies) -> &'static str,
}

/// Every language, the usual one first.
pub(crate) const LANGUAGES: &[Language] = &[
    Language {
        name: "sh",
        ending: "sh",
        shebang: "#!/bin/sh",
        reading: FIELD,
        body: |bodies| bodies.sh,
    },
    Language {
        name: "bash",
        ending: "sh",
        shebang: "#!/usr/bin/env bash",
        reading: FIELD,
        // What is written for every shell is for this one, too.
        body: |bodies| if bodies.bash.is_empty() { bodies.sh } else { bodies.bash },
    },
    Language {
        name: "python",
        ending: "py",
        shebang: "#!/usr/bin/env python3",
        reading: "The event is on stdin as JSON; the most common values are also in the\n# environment (HOOKRUN_*).",
        body: |bodies| bodies.python,
    },
];

const FIELD: &str = "The most common values are in the environment (HOOKRUN_*); the event is on stdin\n# as JSON, and `hookrun field KEY` prints a value of it.";

/// A sort of event, and what a new hook for one does.
pub(crate) struct TemplateSort {
    /// What `--template` calls it; empty where only the event chooses it.
    name: &'static str,
    /// The events for which `--template` may choose it.
    suits: fn(&EventSpec) -> bool,
    /// The directive.
    directive: &'static str,
    /// What the directive above it says.
    about: &'static str,
    /// The hook below its comment, in every language.
    bodies: Bodies,
    /// The first cases, as TOML.
    cases: &'static str,
}

/// A hook below its comment; empty in a language that would need too much for it.
struct Bodies {
    sh: &'static str,
    bash: &'static str,
    python: &'static str,
}

/// The sort of an event: the first that it fits.
pub(crate) fn sort_of(spec: &EventSpec) -> &'static TemplateSort {
    let found = SORTS.iter().find(|(fits, _)| fits(spec));
    found.map(|(_, sort)| sort).expect("the last sort has every event")
}

fn templates() -> impl Iterator<Item = &'static TemplateSort> {
    SORTS.iter().map(|(_, sort)| sort).chain(CHOSEN).filter(|sort| !sort.name.is_empty())
}

/// What `--template` takes.
pub(crate) fn names() -> Vec<&'static str> {
    templates().map(|sort| sort.name).collect()
}

/// The template of that name.
///
/// # Errors
/// Those that suit the event, if this one does not.
pub(crate) fn chosen(
    name: &str,
    spec: &EventSpec,
) -> std::result::Result<&'static TemplateSort, Vec<&'static str>> {
    let suiting: Vec<_> = templates().filter(|sort| (sort.suits)(spec)).collect();
    let found = suiting.iter().find(|sort| sort.name == name);
    found.copied().ok_or_else(|| suiting.iter().map(|sort| sort.name).collect())
}

impl TemplateSort {
    /// The languages that it is written in.
    pub(crate) fn languages(&self) -> impl Iterator<Item = &'static Language> {
        LANGUAGES.iter().filter(|language| !(language.body)(&self.bodies).is_empty())
    }
}

/// The text of a hook for `spec` whose file is called `file`.
pub(crate) fn hook(
    sort: &TemplateSort,
    spec: &EventSpec,
    language: &Language,
    file: &str,
) -> String {
    let rule = if spec.blocks {
        "Exit 0 allows. Any other status blocks, and stderr is the reason; so does a failure,\n# such as a slip in this file."
    } else {
        "This event cannot be blocked. What it prints is shown; a failure is reported, and the\n# host goes on."
    };
    let rule = match spec.on_failure.name() {
        "allow" if spec.blocks => {
            "Exit 0 allows. Any other status blocks, and stderr is the reason; here a hook that hangs,\n# crashes or is killed does not block."
        }
        _ => rule,
    };
    let head = "@SHEBANG@
# Runs when @SUMMARY@.
#
# @READING@
# @RULE@
# `hookrun events @EVENT@` shows the keys, `hookrun test @EVENT@` what this hook
# says, and hooks.d/tests/ has its cases.
#
# The line below is a directive: @ABOUT@
#
# hookrun: @DIRECTIVE@

";
    let text = head
        .replace("@SHEBANG@", language.shebang)
        .replace("@READING@", language.reading)
        .replace("@RULE@", rule)
        .replace("@ABOUT@", sort.about)
        .replace("@DIRECTIVE@", sort.directive);
    filled(&(text + (language.body)(&sort.bodies)), spec, file)
}

/// The text of its first cases.
pub(crate) fn cases(
    sort: &TemplateSort,
    spec: &EventSpec,
    language: &Language,
    file: &str,
) -> String {
    let head = "# What @FILE@ decides; `hookrun test --suite` plays these cases.

[defaults]
event = \"@EVENT@\"
hook = \"@FILE@\"
";
    // A shell has no way to write JSON; what it prints is text to show, or text for the model.
    let is_for_model = language.name == "python" || spec.conduct.text_teaches;
    let said = if is_for_model { "context" } else { "output" };
    let found = if language.name == "python" { "findings" } else { "output" };
    // Some only add something: that is no slip of a gate's cases.
    let never = match spec.blocks {
        true => {
            "\n[[never]]\nhook = \"@FILE@\"\npoint = \"refused\"\nwhy = \"it only adds or rewrites\"\n"
        }
        false => "",
    };
    let text = format!("{head}{}", sort.cases).replace("@SAID@", said);
    let text = text.replace("@FOUND@", found).replace("@NEVER@", never);
    filled(&text, spec, file)
}

fn filled(text: &str, spec: &EventSpec, file: &str) -> String {
    let Looked { key, word, sample } = looked_at(spec);
    let printed = match spec.conduct.text_teaches {
        true => "What a hook of this event prints is for the model.",
        false => {
            "What a hook prints is shown. For the model it would be JSON: {\"additionalContext\": \"...\"}"
        }
    };
    text.replace("@PRINTED@", printed)
        .replace("@SUMMARY@", &spec.summary)
        .replace("@EVENT@", &spec.name)
        .replace("@FILE@", file)
        .replace("@COMMAND@", command::name_of(&spec.name).unwrap_or_default())
        .replace("@KEY@", key)
        .replace("@WORD@", word)
        .replace("@BAD@", &sample.replace("@", word))
        .replace("@LOUD@", &sample.replace("@", &word.to_uppercase()))
        .replace("@GOOD@", &sample.replace("@", "all is well"))
}

/// A key of a context, and a word that must not be in it.
struct Looked<'s> {
    key: &'s str,
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
const PASSED_OVER: &[&str] =
    &["sessionId", "cwd", "transcriptPath", "permissionMode", "toolUseId", "agentId"];

/// The key of an event that its new hook looks at; none is called "".
fn looked_at(spec: &EventSpec) -> Looked<'_> {
    let is_text = |kind| !matches!(kind, JsonType::Boolean | JsonType::Integer | JsonType::Number);
    let keys = || {
        let keys = spec.context.iter().filter(|key| is_text(key.kind));
        keys.filter(|key| !PASSED_OVER.contains(&key.name.as_ref()))
    };
    let known = LOOKED_AT
        .iter()
        .find_map(|(name, word)| Some((keys().find(|key| key.name == *name)?, *word)));
    let Some((key, word)) = known.or_else(|| Some((keys().next()?, "forbidden"))) else {
        return Looked { key: "", word: "", sample: "" };
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
    Looked { key: &key.name, word, sample }
}
