//! Shared parts of entries for git hooks; and husky, whose files run unchanged.

use serde_json::Value;

use super::{ImportSource, ImportedHook, ImportedHooks};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::hosts::git::{self, GitHook};

/// These tools set no timeout; hookrun always has one.
const TIMEOUT: &str = "\"10m\"";

pub(super) type Entry = std::result::Result<ImportedHook, String>;

/// An entry with a command that runs without a shell.
pub(super) fn entry(
    source: &ImportSource<'_>,
    what: &str,
    hook: &GitHook,
    command: &str,
) -> ImportedHook {
    ImportedHook::new(source.tool, what, hook.event, command).with("timeout", TIMEOUT)
}

/// An entry with a command line that gets git's arguments (from `$1`) and stdin.
pub(super) fn entry_of_git(
    source: &ImportSource<'_>,
    what: &str,
    hook: &GitHook,
    line: &str,
) -> ImportedHook {
    let made = entry(source, what, hook, line).with("shell", "true");
    if hook.arguments.is_empty() && hook.lines.is_none() {
        return made;
    }
    made.with("dialect", toml_text(git::NAME))
}

pub(super) fn text<'v>(table: &'v Value, key: &str) -> &'v str {
    table[key].as_str().unwrap_or_default()
}

pub(super) fn texts(value: &Value) -> Vec<&str> {
    match value.as_array() {
        Some(items) => items.iter().filter_map(Value::as_str).collect(),
        None => value.as_str().into_iter().collect(),
    }
}

pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn others<'v>(table: &'v Value, known: &[&str]) -> Vec<&'v str> {
    let keys = table.as_object().into_iter().flat_map(|table| table.keys());
    let mut keys: Vec<&str> = keys.map(String::as_str).collect();
    keys.retain(|key| !known.contains(key));
    keys
}

/// A hook's files, as keys of `match`.
#[derive(Default)]
pub(super) struct Filter {
    pub(super) paths: Vec<String>,
    pub(super) not: Vec<String>,
    pub(super) types: Vec<String>,
    /// A further key of `match`.
    pub(super) condition: Option<String>,
}

impl Filter {
    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.not.is_empty() && self.types.is_empty()
    }

    pub(super) fn put_into(&self, hook: ImportedHook) -> ImportedHook {
        let keys = [
            ("path", &self.paths),
            ("not", &self.not),
            ("type", &self.types),
        ];
        let mut parts = Vec::new();
        for (key, values) in keys {
            let values: Vec<String> = values.iter().map(|value| toml_text(value)).collect();
            match values.as_slice() {
                [] => {}
                [one] => parts.push(format!("{key} = {one}")),
                several => parts.push(format!("{key} = [{}]", several.join(", "))),
            }
        }
        parts.extend(self.condition.clone());
        if parts.is_empty() {
            return hook;
        }
        hook.with("match", format!("{{ {} }}", parts.join(", ")))
    }
}

/// `.husky/`: each file is the git hook of its name, which husky runs with `sh -e`.
pub(super) fn husky(source: &ImportSource<'_>) -> Result<ImportedHooks> {
    let mut imported = ImportedHooks::default();
    let name = source.file.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let Some(at) = git::find(&name).filter(|at| at.name == name) else {
        return Ok(imported);
    };
    let line = format!(
        "PATH=\"node_modules/.bin:$PATH\" sh -e \"$HOOKRUN_PROJECT_DIR\"/.husky/{name} \"$@\""
    );
    let mut commands = source.text()?;
    commands = commands
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.contains("husky.sh"))
        .collect::<Vec<_>>()
        .join("\n");
    if at.name == "pre-commit" && RUNS_LINT_STAGED.contains(&commands.as_str()) {
        let why = "it runs lint-staged: `hookrun import lint-staged` imports its hooks";
        imported.leave(source.shown(), why);
        return Ok(imported);
    }
    imported.take(source.shown(), Ok(entry_of_git(source, &name, at, &line)));
    Ok(imported)
}

const RUNS_LINT_STAGED: &[&str] = &[
    "lint-staged",
    "npx lint-staged",
    "npx --no-install lint-staged",
    "pnpm lint-staged",
    "pnpm exec lint-staged",
    "yarn lint-staged",
    "bunx lint-staged",
];
