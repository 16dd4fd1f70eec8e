//! Documents name only commands, options and manual pages that exist, and the examples in the
//! manual pages work.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use serde_json::Value;

use super::habits::tracked;
use super::{pages, read};
use crate::sandbox::Sandbox;

/// The manual pages that are written by hand.
const MANUAL: &[&str] = &[
    "man/hookrun-hook.5",
    "man/hookrun-suite.5",
    "man/hookrun.toml.5",
];

/// Options of other programs that the documents mention.
const FOREIGN_OPTIONS: &[&str] = &[
    "--always-approve",
    "--approve",
    "--force",
    "--force-with-lease",
    "--no-verify",
    "--option",
    "--password",
    "--size",
    "--skip-trust",
    "--target",
];

/// Words after the name of the program that are not commands: how hookrun starts itself, and
/// messages.
const NOT_COMMANDS: &[&str] = &["confine", "is", "itself", "was"];

/// The hook that the personal settings in the manual disable.
const TSC: &str = "[[hook]]\nname = 'tsc'\nevent = 'commit.pre'\ncommand = 'true'\n";

/// The text of a manual page without the escapes of roff.
fn unescaped(text: &str) -> String {
    let escapes = [
        ("\\-", "-"),
        ("\\(aq", "'"),
        ("\\*(Aq", "'"),
        ("\\(ha", "^"),
        ("\\(ti", "~"),
        ("\\(ga", "`"),
        ("\\&", ""),
        ("\\e", "\\"),
    ];
    let mut text = text.to_string();
    for (escape, character) in escapes {
        text = text.replace(escape, character);
    }
    text
}

/// The commands as their manual pages name them (`hookrun-sets-add`), with their options.
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let option = Regex::new(r"\\fB(--[a-z-]+)").unwrap();
    let mut commands = BTreeMap::new();
    for page in tracked(&["man"]) {
        let page = page.to_str().unwrap();
        let Some(name) = page
            .strip_prefix("man/")
            .and_then(|file| file.strip_suffix(".1"))
        else {
            continue;
        };
        let text = unescaped(&read(page));
        let options = option
            .captures_iter(&text)
            .map(|found| found[1].to_string());
        commands.insert(name.to_string(), options.collect());
    }
    assert!(commands.contains_key("hookrun-run"), "{commands:?}");
    commands
}

/// The examples of a manual page.
fn examples(page: &str) -> Vec<String> {
    let text = unescaped(&read(page));
    let example = Regex::new(r"(?s)\n\.EX\n(.*?)\.EE\n").unwrap();
    let examples = example.captures_iter(&text);
    examples.map(|found| found[1].to_string()).collect()
}

/// The code in a page: what stands in bold or backquotes, and every line of an example.
fn code(page: &str) -> Vec<String> {
    let (text, span, block) = if page.ends_with(".md") {
        (read(page), "`([^`\n]+)`", r"(?s)```[^\n]*\n(.*?)```")
    } else {
        (
            unescaped(&read(page)),
            r"\\fB(.*?)\\fR",
            r"(?s)\n\.EX\n(.*?)\.EE\n",
        )
    };
    let block = Regex::new(block).unwrap();
    let mut code = Vec::new();
    for found in block.captures_iter(&text) {
        code.extend(found[1].lines().map(str::to_string));
    }
    let prose = block.replace_all(&text, "\n");
    let spans = Regex::new(span).unwrap();
    code.extend(
        spans
            .captures_iter(&prose)
            .map(|found| found[1].to_string()),
    );
    code
}

#[test]
fn documents_name_only_commands_and_options_that_exist() {
    let commands = commands();
    let all: BTreeSet<&String> = commands.values().flatten().collect();
    let option = Regex::new(r"^--[a-z][a-z-]*").unwrap();
    let call = Regex::new(r"(?:^|[$|;&] |\$\()hookrun ([a-z][^|;&><)`]*)").unwrap();
    let sandbox = Sandbox::new();
    let mut wrong = Vec::new();
    let mut calls = 0;
    let documents = pages()
        .into_iter()
        .chain(MANUAL.iter().map(|page| (*page).to_string()));
    for page in documents {
        for code in code(&page) {
            if let Some(found) = option.find(&code) {
                let name = found.as_str().to_string();
                if !all.contains(&name) && !FOREIGN_OPTIONS.contains(&name.as_str()) {
                    wrong.push(format!("{page}: no command has {name}"));
                }
            }
            for found in call.captures_iter(&code) {
                calls += 1;
                let words: Vec<&str> = found[1].split_whitespace().collect();
                let mut command = "hookrun".to_string();
                for word in &words {
                    let below = format!("{command}-{word}");
                    if !commands.contains_key(&below) {
                        break;
                    }
                    command = below;
                }
                if command == "hookrun" {
                    // Hidden commands and aliases have no page.
                    if !NOT_COMMANDS.contains(&words[0])
                        && sandbox.hookrun(&[words[0], "--help"], b"").status != 0
                    {
                        wrong.push(format!("{page}: no command: {code}"));
                    }
                    continue;
                }
                let named = words.iter().take_while(|word| **word != "--");
                for name in named.filter_map(|word| option.find(word)) {
                    if !commands[&command].contains(name.as_str()) {
                        wrong.push(format!("{page}: {command} has no {}", name.as_str()));
                    }
                }
            }
        }
    }
    assert!(calls > 100, "only {calls} calls");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn documents_name_only_manual_pages_that_exist() {
    let named = Regex::new(r"(hookrun[a-z.-]*)(?:\\fR|`)?\((\d)\)").unwrap();
    let mut wrong = Vec::new();
    let manual = tracked(&["man"]).into_iter();
    let manual: BTreeSet<String> = manual
        .map(|page| page.to_str().unwrap().to_string())
        .collect();
    for page in pages().into_iter().chain(manual.iter().cloned()) {
        for found in named.captures_iter(&unescaped(&read(&page))) {
            let target = format!("man/{}.{}", &found[1], &found[2]);
            if !manual.contains(&target) {
                wrong.push(format!("{page}: there is no {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_examples_of_configuration_and_scripts_in_the_manual_load() {
    let mut loaded = 0;
    for page in ["man/hookrun.toml.5", "man/hookrun-hook.5"] {
        for example in examples(page) {
            let hooks: String = example.lines().enumerate().fold(String::new(), |hooks, (at, line)| {
                format!("{hooks}[[hook]]\nname = '{at}'\nevent = 'tool.pre'\ncommand = 'true'\n{line}\n")
            });
            let sandbox = match example.as_str() {
                script if script.starts_with("#!") => {
                    Sandbox::new().script("hooks.d/tool.post/10-example", script)
                }
                personal if personal.starts_with("[hook.") => Sandbox::new()
                    .file("hookrun.toml", TSC)
                    .file("hookrun.local.toml", personal),
                toml if toml.starts_with('[') => Sandbox::new().file("hookrun.toml", toml),
                keys if keys.starts_with("match = ") => Sandbox::new().file("hookrun.toml", &hooks),
                _ => continue,
            };
            loaded += 1;
            let listed = sandbox.hookrun(&["list"], b"");
            assert_eq!(listed.status, 0, "{page}:\n{example}\n{}", listed.stderr);
        }
    }
    assert!(loaded >= 8, "only {loaded} examples");
}

#[test]
fn the_page_of_the_configuration_names_every_value() {
    let schema = Sandbox::new().json(&["schema", "hookrun.toml"]);
    let text = unescaped(&read("man/hookrun.toml.5"));
    let mut values = BTreeSet::new();
    collect_values(&schema, &mut values);
    assert!(values.contains("same-role"), "{values:?}");
    values.retain(|value| {
        !text.contains(&format!("\\fB{value}\\fR")) && !text.contains(&format!("\"{value}\""))
    });
    assert!(
        values.is_empty(),
        "man/hookrun.toml.5 does not name {values:?}"
    );
}

/// Collects the words that keys take.
fn collect_values(schema: &Value, values: &mut BTreeSet<String>) {
    for (key, inner) in schema.as_object().into_iter().flatten() {
        if key == "enum" {
            let words = inner.as_array().into_iter().flatten();
            values.extend(words.filter_map(Value::as_str).map(str::to_string));
        }
        collect_values(inner, values);
    }
    for item in schema.as_array().into_iter().flatten() {
        collect_values(item, values);
    }
}

/// The cases in the manual are about the rule in the manual.
#[test]
fn the_examples_of_test_cases_in_the_manual_pass() {
    let rules = examples("man/hookrun.toml.5").into_iter();
    let mut rules = rules.filter(|example| example.contains("\"no-force-push\""));
    let mut sandbox = Sandbox::new().file("hookrun.toml", &rules.next().unwrap());
    let suites = examples("man/hookrun-suite.5");
    assert!(suites.len() >= 2, "{suites:?}");
    for (number, suite) in suites.iter().enumerate() {
        sandbox = sandbox.file(&format!("tests/{number}.toml"), suite);
    }
    sandbox.hookrun(&["test", "--suite"], b"").exits(0);
}
