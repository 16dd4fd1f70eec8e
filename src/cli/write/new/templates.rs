//! What new hooks look like: a table by the sort of the event and the language.
//!
//! The rules of an event decide its sort, never its name, so every event has one, including those
//! that a user declares.

mod places;
mod row;
mod sorts;

use crate::engine::event::EventSpec;
use crate::engine::exec::command::first_line;

use places::fill;
pub(crate) use row::{Language, TemplateSort};
use sorts::SORTS;

/// Every language, the usual one first.
pub(crate) const LANGUAGES: &[Language] = &[
    Language {
        name: "sh",
        ending: "sh",
        interpreter: "sh",
        reading: FIELD,
        runs: &["sh"],
    },
    Language {
        name: "bash",
        ending: "sh",
        interpreter: "bash",
        reading: FIELD,
        runs: &["bash", "sh"],
    },
    Language {
        name: "python",
        ending: "py",
        interpreter: "python3",
        reading: "The event is on stdin as JSON; the most common values are also in the\n# environment (HOOKRUN_*).",
        runs: &["py"],
    },
];

const FIELD: &str = "The most common values are in the environment (HOOKRUN_*); the event is on stdin\n# as JSON, and `hookrun field KEY` prints a value of it.";

const CASES: &str = "# What @FILE@ decides; `hookrun test --suite` plays these cases.

[defaults]
event = \"@EVENT@\"
hook = \"@FILE@\"

";

/// That a hook which only adds something does not block is no gap in its cases.
const NEVER: &str =
    "\n[[never]]\nhook = \"@FILE@\"\npoint = \"blocked\"\nwhy = \"it only adds or rewrites\"\n";

pub(crate) fn sort_of(spec: &EventSpec) -> &'static TemplateSort {
    SORTS
        .iter()
        .find(|sort| (sort.fits)(spec))
        .expect("one sort has every event")
}

fn templates() -> impl Iterator<Item = &'static TemplateSort> {
    SORTS.iter().filter(|sort| !sort.name.is_empty())
}

/// What `--template` takes.
pub(crate) fn names() -> Vec<&'static str> {
    templates().map(|sort| sort.name).collect()
}

/// The template of that name; else the names of those that suit the event.
pub(crate) fn chosen(
    name: &str,
    spec: &EventSpec,
) -> std::result::Result<&'static TemplateSort, Vec<&'static str>> {
    let suiting: Vec<_> = templates().filter(|sort| (sort.suits)(spec)).collect();
    let found = suiting.iter().find(|sort| sort.name == name);
    found
        .copied()
        .ok_or_else(|| suiting.iter().map(|sort| sort.name).collect())
}

pub(crate) fn languages(sort: &TemplateSort) -> impl Iterator<Item = &'static Language> {
    LANGUAGES
        .iter()
        .filter(|language| sort.body(language).is_some())
}

pub(crate) fn hook(
    sort: &TemplateSort,
    spec: &EventSpec,
    language: &Language,
    file: &str,
) -> String {
    let rule = match (spec.blocks, spec.on_failure.name()) {
        (false, _) => {
            "This event cannot be blocked. What it prints is shown; a failure is reported, and the\n# host goes on."
        }
        (true, "allow") => {
            "Exit 0 allows. Any other status blocks, and stderr is the reason; here a hook that hangs,\n# crashes or is killed does not block."
        }
        (true, _) => {
            "Exit 0 allows. Any other status blocks, and stderr is the reason; so does a failure,\n# such as a slip in this file."
        }
    };
    let text = include_str!("templates/head.txt")
        .replace("@SHEBANG@", &first_line(language.interpreter))
        .replace("@READING@", language.reading)
        .replace("@RULE@", rule)
        .replace("@ABOUT@", sort.about)
        .replace("@DIRECTIVE@", sort.directive);
    fill(
        &(text + sort.body(language).unwrap_or_default()),
        spec,
        file,
    )
}

pub(crate) fn cases(
    sort: &TemplateSort,
    spec: &EventSpec,
    language: &Language,
    file: &str,
) -> String {
    // A shell has no way to write JSON; what it prints is text to show, or text for the model.
    let is_python = language.name == "python";
    let said = if is_python || spec.conduct.text_teaches {
        "context"
    } else {
        "output"
    };
    let found = if is_python { "findings" } else { "output" };
    let never = if sort.only_adds && spec.blocks {
        NEVER
    } else {
        ""
    };
    let text = format!("{CASES}{}{never}", sort.cases);
    fill(
        &text.replace("@SAID@", said).replace("@FOUND@", found),
        spec,
        file,
    )
}
