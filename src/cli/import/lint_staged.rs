//! Imports lint-staged, which husky usually runs: globs and commands, in `package.json` or its own
//! file.

use serde_json::Value;

use super::git::{Filter, entry, plain_glob, texts};
use super::{ImportSource, ImportedHooks};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::hosts::git::{self, GitHook};

pub(super) fn read(source: &ImportSource<'_>) -> Result<ImportedHooks> {
    let mut imported = ImportedHooks::default();
    let config = source.value()?;
    let is_package = source
        .file
        .file_name()
        .is_some_and(|name| name == "package.json");
    let table = if is_package {
        &config["lint-staged"]
    } else {
        &config
    };
    let at = git::find("pre-commit").expect("git has it");
    for (glob, commands) in table.as_object().into_iter().flatten() {
        let place = format!("{}, {glob}", source.shown());
        imported.take(place, of_glob(source, glob, commands, at));
    }
    Ok(imported)
}

/// A hook for a glob: its commands run in order, and fixes are staged.
fn of_glob(
    source: &ImportSource<'_>,
    glob: &str,
    commands: &Value,
    at: &GitHook,
) -> super::git::Entry {
    let glob = plain_glob(glob)?;
    let commands = texts(commands);
    let first = commands.first().ok_or("it has no command")?;
    let program = first.split_whitespace().next().unwrap_or_default();
    let lines: Vec<String> = commands
        .iter()
        .map(|command| format!("{command} \"$@\""))
        .collect();
    let line = format!(
        "PATH=\"$PWD/node_modules/.bin:$PATH\"; {}",
        lines.join(" && ")
    );
    let words = format!("sh -c {} sh {{files}}", shell_words::quote(&line));
    let filter = Filter {
        // micromatch's `matchBase`: a glob without a slash matches names in every folder.
        paths: vec![if glob.contains('/') {
            glob.to_string()
        } else {
            format!("**/{glob}")
        }],
        ..Filter::default()
    };
    let made = filter.put_into(entry(source, program, at, &words));
    Ok(made
        .with("fixes", toml_text("stage"))
        .with("link", "[\"node_modules\"]"))
}
