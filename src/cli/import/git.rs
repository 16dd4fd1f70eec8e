//! Shared parts of entries for git hooks; husky, whose files run unchanged; and lint-staged, which
//! husky usually runs.

use serde_json::Value;

use super::{Entry, ImportSource, ImportedHook, ImportedHooks};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::hosts::git::{self, GitHook};

/// These tools set no timeout; hookrun always has one.
const TIMEOUT: &str = "\"10m\"";

/// The programs of npm packages can be called by name.
const OWN_PROGRAMS: &str = "PATH=\"$PWD/node_modules/.bin:$PATH\"";

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

/// A glob, or the reason why hookrun cannot match it: `!(a|b)` and the like have no equivalent.
pub(super) fn plain_glob(glob: &str) -> std::result::Result<&str, String> {
    if glob.contains('(') || glob.starts_with('!') {
        return Err(format!(
            "hookrun does not support the glob `{glob}`; use `path` and `not` instead"
        ));
    }
    Ok(glob)
}

/// `.husky/`: each file is the git hook of its name, which husky runs with `sh -e`.
pub(super) fn husky(source: &ImportSource<'_>, imported: &mut ImportedHooks) -> Result<()> {
    let name = source.file.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let Some(at) = git::find(&name).filter(|at| at.name == name) else {
        return Ok(());
    };
    let line = format!("{OWN_PROGRAMS} sh -e \"$HOOKRUN_PROJECT_DIR\"/.husky/{name} \"$@\"");
    imported.take(source.shown(), Ok(entry_of_git(source, &name, at, &line)));
    Ok(())
}

/// Globs and commands, in `package.json` or lint-staged's own file.
pub(super) fn lint_staged(source: &ImportSource<'_>, imported: &mut ImportedHooks) -> Result<()> {
    let config = source.value()?;
    let table = if source.file.ends_with("package.json") {
        &config["lint-staged"]
    } else {
        &config
    };
    let at = git::find("pre-commit").expect("git has it");
    for (glob, commands) in table.as_object().into_iter().flatten() {
        let place = format!("{}, {glob}", source.shown());
        imported.take(place, of_glob(source, glob, commands, at));
    }
    Ok(())
}

/// A hook for a glob: its commands run in order, and fixes are staged.
fn of_glob(source: &ImportSource<'_>, glob: &str, commands: &Value, at: &GitHook) -> Entry {
    let glob = plain_glob(glob)?;
    let commands = texts(commands);
    let first = commands.first().ok_or("the glob has no command")?;
    let program = first.split_whitespace().next().unwrap_or_default();
    let lines: Vec<String> = commands
        .iter()
        .map(|command| format!("{command} \"$@\""))
        .collect();
    let line = format!("{OWN_PROGRAMS}; {}", lines.join(" && "));
    // micromatch's `matchBase`: a glob without a slash matches names in every folder.
    let folder = if glob.contains('/') { "" } else { "**/" };
    Ok(entry(source, program, at, &line)
        .with("shell", "true")
        .with("files", "true")
        .with("fixes", toml_text("stage"))
        .matching("path", &[format!("{folder}{glob}")]))
}
