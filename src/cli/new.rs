//! `hookrun new`: writes a hook from a template, with test cases.

use std::io::Write;
use std::path::PathBuf;

use super::files::{FileWrite, WritePlan};
use crate::cli::args::NewArgs;
use crate::cli::events::COMMON;
use crate::cli::exit::{ExitStatus, Result};
use crate::config::discover::is_passed_over;
use crate::config::layer::COMMANDS;
use crate::config::{Config, ConfigScope, Environment};
use crate::decide::find_event;
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog::{command_event, command_name, is_command_name};
use crate::engine::event::{EventSpec, JsonType, Schedule};
use crate::engine::exec::command::first_line;
use crate::engine::harmless::plain;

pub(crate) fn new(args: &NewArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let config = Config::load(&args.place.choice(env), env, ConfigScope::Event(""));
    let hooks = args.place.folder(&config, env)?;
    let Some(event) = &args.event else {
        return Err(no_event(&args.name));
    };
    let plan = hook_of(args, event, &config, hooks)?;
    if !args.place.dry_run && plan.changes.iter().all(FileWrite::is_done) {
        let name = plain(&args.name);
        writeln!(out, "{name} already exists; nothing was changed")?;
        return Ok(ExitStatus::Yes);
    }
    args.place.carry_out(&plan, env, out)?;
    Ok(ExitStatus::Yes)
}

fn no_event(name: &str) -> Complaint {
    let mut common = String::new();
    for (event, about) in COMMON {
        common.push_str(&format!("\n{event:<16}  {about}"));
    }
    let help = format!(
        "`hookrun new {name} --event EVENT`; `hookrun events` lists all events, and these are the common ones:{common}"
    );
    Complaint::with_cure("no event given", help)
}

fn hook_of(args: &NewArgs, event: &str, config: &Config, hooks: PathBuf) -> Result<WritePlan> {
    let spec = find_spec(config, event)?;
    let sort = SORTS
        .iter()
        .find(|sort| (sort.fits)(&spec))
        .expect("one sort has every event");
    let languages: Vec<&Language> = languages(sort).collect();
    let language = match &args.lang {
        Some(name) => languages.iter().find(|language| language.name == *name),
        None => languages
            .iter()
            .find(|language| args.name.ends_with(&format!(".{}", language.ending)))
            .or(languages.first()),
    };
    let Some(language) = language else {
        let names: Vec<&str> = languages.iter().map(|language| language.name).collect();
        return Err(Complaint::with_cure(
            format!(
                "`{event}` has no template in the language `{}`",
                args.lang.as_deref().unwrap_or_default()
            ),
            format!("`--lang` accepts {}", names.join(", ")),
        ));
    };
    let ending = format!(".{}", language.ending);
    let stem = args.name.strip_suffix(&ending).unwrap_or(&args.name);
    let file = format!("{stem}{ending}");
    check_name(&args.name, stem, &file, &spec)?;
    let folder = match command_name(&spec.name) {
        Some(_) => COMMANDS,
        None => spec.name.as_ref(),
    };
    let text = text_of(sort, &spec, language, &file);
    let hook = FileWrite::new(hooks.join(folder).join(&file), text);
    let text = cases_of(sort, &spec, language, &file);
    let cases = FileWrite::cases(&hooks, stem, text);
    let named = args.place.option();
    let event = &spec.name;
    Ok(WritePlan {
        hooks,
        changes: vec![hook, cases],
        hints: vec![
            format!("`hookrun test {event}{named} --hook {file}` runs the hook"),
            format!("`hookrun test --suite{named}` runs the test cases"),
        ],
    })
}

/// The event; a command is created with its hook.
fn find_spec(config: &Config, event: &str) -> Result<EventSpec> {
    match command_name(event) {
        Some(name) if is_command_name(name) => Ok(command_event(name, None)),
        _ => Ok(find_event(config, event)?.as_ref().clone()),
    }
}

/// Checks that a hook of this name would run and is easy to type.
fn check_name(name: &str, stem: &str, file: &str, spec: &EventSpec) -> Result<()> {
    let is_plain = stem.starts_with(|c: char| c.is_ascii_alphanumeric())
        && stem
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let cure = match command_name(&spec.name) {
        _ if !is_plain => "use letters, digits, `-`, `_` and `.`, such as `10-guard`".to_string(),
        _ if is_passed_over(stem.as_ref()) || is_passed_over(file.as_ref()) => {
            "choose another name: hookrun ignores files with this name in hooks.d".to_string()
        }
        Some(command) if command != stem => format!(
            "name the hook after its command: `hookrun new {command} --event {}`",
            spec.name
        ),
        _ => return Ok(()),
    };
    let cause = format!("`{name}` cannot be the name of a hook");
    Err(Complaint::with_cure(cause, cure))
}

struct Language {
    name: &'static str,
    ending: &'static str,
    interpreter: &'static str,
    /// How to read values that are not in the environment.
    reading: &'static str,
}

/// A template for one kind of event. An event's rules decide its kind, never its name, so custom
/// events have one too.
struct TemplateSort {
    /// Events that get it, if no earlier row fits.
    fits: fn(&EventSpec) -> bool,
    directive: &'static str,
    /// The directive's explanation in the hook's comment.
    about: &'static str,
    /// The hook's code below its comment, by extension; a language may be missing.
    bodies: &'static [(&'static str, &'static str)],
    cases: &'static str,
}

impl TemplateSort {
    fn body(&self, language: &Language) -> Option<&'static str> {
        let mut bodies = self.bodies.iter();
        let body = bodies.find(|(ending, _)| *ending == language.ending);
        body.map(|(_, body)| *body)
    }
}

const LANGUAGES: &[Language] = &[
    Language {
        name: "sh",
        ending: "sh",
        interpreter: "sh",
        reading: FIELD,
    },
    Language {
        name: "bash",
        ending: "sh",
        interpreter: "bash",
        reading: FIELD,
    },
    Language {
        name: "python",
        ending: "py",
        interpreter: "python3",
        reading: "The event is on stdin as JSON; common values are also in the\n# environment (HOOKRUN_*).",
    },
];

const FIELD: &str = "The most common values are in the environment (HOOKRUN_*); the event is on stdin\n# as JSON, and `hookrun hook field KEY` prints one of its values.";

const CASES: &str = "# Test cases of @FILE@; run them with `hookrun test --suite`.

[defaults]
event = \"@EVENT@\"
hook = \"@FILE@\"

";

fn languages(sort: &TemplateSort) -> impl Iterator<Item = &'static Language> {
    LANGUAGES
        .iter()
        .filter(|language| sort.body(language).is_some())
}

fn text_of(sort: &TemplateSort, spec: &EventSpec, language: &Language, file: &str) -> String {
    let rule = match (spec.blocks, spec.on_failure.name()) {
        (false, _) => {
            "This event cannot be blocked. The hook's output is shown; a failure is reported, and the\n# host continues."
        }
        (true, "allow") => {
            "Exit 0 allows. Any other status blocks, and stderr is the reason. For this event, a\n# hook that hangs, crashes or is killed does not block."
        }
        (true, _) => {
            "Exit 0 allows. Any other status blocks, and stderr is the reason. A failure, such as a\n# mistake in this file, blocks too."
        }
    };
    let text = include_str!("new/templates/head.txt")
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

fn cases_of(sort: &TemplateSort, spec: &EventSpec, language: &Language, file: &str) -> String {
    // A shell cannot easily write JSON, so its output is text, or context.
    let is_python = language.name == "python";
    let field = if is_python || spec.conduct.text_is_context {
        "context"
    } else {
        "output"
    };
    let found = if is_python { "findings" } else { "output" };
    let text = format!("{CASES}{}", sort.cases);
    fill(
        &text.replace("@SAID@", field).replace("@FOUND@", found),
        spec,
        file,
    )
}

/// A template for any event from the files named `$stem`: code by extension, and test cases.
macro_rules! written {
    ($stem:literal: $($ending:literal)+) => {
        TemplateSort {
            fits: |_| true,
            directive: "timeout=5s",
            about: "how long this hook may run.",
            bodies: &[$(($ending, include_str!(concat!("new/templates/", $stem, ".", $ending)))),+],
            cases: include_str!(concat!("new/templates/", $stem, ".toml")),
        }
    };
}

/// All templates. An event gets the first that fits.
const SORTS: &[TemplateSort] = &[
    TemplateSort {
        fits: |spec| command_name(&spec.name).is_some(),
        directive: "description=\"describe what it does\"",
        about: "the host's list of commands shows the description.",
        ..written!("command": "sh" "py")
    },
    // A tool before it runs.
    TemplateSort {
        fits: |spec| spec.blocks && spec.carries("toolName"),
        directive: "tool=bash",
        about: "this hook runs only for shell tools, whatever the host\n# calls them.",
        ..written!("guard": "sh" "py")
    },
    // A commit or push with changed paths.
    TemplateSort {
        fits: |spec| spec.blocks && spec.carries("changes"),
        directive: "timeout=10s",
        about: "how long this hook may run; path=GLOB would limit\n# it to changes in matching paths.",
        ..written!("paths": "sh" "py")
    },
    // Keeps an agent from stopping until the tests pass.
    TemplateSort {
        fits: |spec| spec.blocks && spec.conduct.most_blocks.is_some(),
        directive: "timeout=2m",
        about: "how long the tests may run. This hook runs test.sh.",
        ..written!("test-gate": "sh" "py")
    },
    // An event with a characteristic text.
    TemplateSort {
        fits: |spec| spec.blocks && !looked_at(spec).0.is_empty(),
        about: "how long this hook may run; where.@KEY@=REGEX would\n# limit it to matching events.",
        ..written!("value": "sh" "py")
    },
    // A gate without a text.
    TemplateSort {
        fits: |spec| spec.blocks,
        ..written!("freeze": "sh" "py")
    },
    TemplateSort {
        fits: |spec| spec.schedule == Schedule::Detached,
        directive: "timeout=30s",
        about: "how long this hook may run; the host does not wait for it.",
        ..written!("watch": "sh" "py")
    },
    // Checks the files that a tool has written.
    TemplateSort {
        fits: |spec| !spec.blocks && spec.carries("toolInput") && spec.carries("result"),
        directive: "tool='write|edit'",
        about: "this hook runs only for tools that write, whatever\n# the host calls them.",
        ..written!("findings": "sh" "py")
    },
    written!("context": "sh" "py"),
];

/// Keys that policies usually check, with sample words; the first in the event is used.
const LOOKED_AT: &[(&str, &str)] = &[
    ("command", "rm -rf"),
    ("prompt", "password"),
    ("content", "password"),
    ("lastAssistantMessage", "to be done"),
    ("message", "wip"),
    ("branch", "main"),
    ("environment", "production"),
    ("model", "preview"),
    ("taskSubject", "everything"),
];

/// The text of an event that its new hook looks at, and a word in it; nothing for most events.
fn looked_at(spec: &EventSpec) -> (&'static str, &'static str) {
    let is_text = |name| matches!(spec.key(name), Some(key) if key.kind == JsonType::String);
    let found = LOOKED_AT.iter().find(|(name, _)| is_text(name));
    found.copied().unwrap_or_default()
}

fn fill(text: &str, spec: &EventSpec, file: &str) -> String {
    let (key, word) = looked_at(spec);
    let printed = if spec.conduct.text_is_context {
        "The output of this hook is for the model."
    } else {
        "The output of this hook is shown. To send text to the model, print JSON: {\"additionalContext\": \"...\"}"
    };
    text.replace("@PRINTED@", printed)
        .replace("@SUMMARY@", &spec.summary)
        .replace("@EVENT@", &spec.name)
        .replace("@FILE@", file)
        .replace("@COMMAND@", command_name(&spec.name).unwrap_or_default())
        .replace("@KEY@", key)
        .replace("@WORD@", word)
        .replace("@LOUD@", &word.to_uppercase())
}
