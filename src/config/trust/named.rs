//! The files that the commands of a set name: they are as much part of it as those in `hooks.d`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::engine::hook::Handler;
use crate::engine::shell;
use crate::hosts::folders;

/// The files that `handler` names, below `folder` or beside it in the repository at `root`. `base`
/// is the folder of the configuring file.
///
/// Programs of the system and other files elsewhere did not come with the project. Files that a
/// named script reads in turn are not found.
pub(crate) fn files_named(
    handler: &Handler,
    base: &Path,
    folder: &Path,
    root: &Path,
) -> BTreeSet<PathBuf> {
    let mut words = Vec::new();
    match handler {
        Handler::Words { words: all, .. } => {
            for word in all {
                let value = word.split_once('=').filter(|_| word.starts_with('-'));
                words.push(value.map_or(word.as_str(), |(_, value)| value).to_string());
                if word.contains(|c: char| c.is_whitespace() || "$\"'`;".contains(c)) {
                    words.extend(words_of_line(word, base, folder));
                }
            }
        }
        Handler::Shell(line) => words.extend(words_of_line(line, base, folder)),
        Handler::File(_) | Handler::Function(_) | Handler::Rule(_) => {}
    }
    words
        .iter()
        .filter_map(|word| in_repository(word, base, folder, root))
        .collect()
}

/// All words of a line for the shell, wherever they are.
fn words_of_line(line: &str, base: &Path, folder: &Path) -> Vec<String> {
    let mut filled = line.to_string();
    let of_hosts = folders::variables().map(|name| (name, folder));
    for (name, value) in [("HOOKRUN_HOOK_DIR", base), ("HOOKRUN_PROJECT_DIR", folder)]
        .into_iter()
        .chain(of_hosts)
    {
        filled = fill(&filled, name, &value.to_string_lossy());
    }
    let mut words = Vec::new();
    for command in shell::read(&filled).commands {
        let targets = command
            .redirects
            .into_iter()
            .map(|redirect| redirect.target);
        let through = command
            .through
            .iter()
            .flat_map(|wrapper| wrapper.args.clone());
        let all = std::iter::once(command.program)
            .chain(command.args)
            .chain(targets);
        words.extend(all.chain(through).filter_map(|word| word.text));
    }
    // `BASH_ENV=FILE`, whichever command gets it.
    let values = shell_words::split(&filled).unwrap_or_default();
    let values = values
        .iter()
        .filter_map(|word| Some(word.split_once('=')?.1.to_string()));
    words.extend(values);
    words
}

/// A text with `$NAME`, `${NAME}` and `${NAME:?…}` filled.
fn fill(text: &str, name: &str, value: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let plain = rest[1..].strip_prefix(name);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let braced = rest[1..]
            .strip_prefix('{')
            .and_then(|rest| rest.strip_prefix(name));
        let after = match (plain, braced) {
            (Some(after), _) if !after.starts_with(is_name) => Some(after),
            (_, Some(after)) if after.starts_with(['}', ':', '-', '?']) => {
                after.split_once('}').map(|(_, after)| after)
            }
            _ => None,
        };
        filled.push_str(if after.is_some() { value } else { "$" });
        rest = after.unwrap_or(&rest[1..]);
    }
    filled + rest
}

/// The path below `folder` of a file that a word names; one with a `/` also if it is not there: it
/// may come later.
fn in_repository(word: &str, base: &Path, folder: &Path, root: &Path) -> Option<PathBuf> {
    let whole = base.join(word);
    let is_path = word.contains('/') && !word.contains("://") && word.len() <= LONGEST_PATH;
    let is_meant = if is_path {
        !whole.is_dir()
    } else {
        !word.is_empty() && whole.is_file()
    };
    if !is_meant {
        return None;
    }
    if !Path::new(word).is_absolute() && base.starts_with(folder) {
        return Some(base.strip_prefix(folder).unwrap_or(base).join(word));
    }
    let found = whole.canonicalize().unwrap_or(whole);
    Some(up_to(folder, root).join(found.strip_prefix(root).ok()?))
}

/// The longest path that the system takes, in bytes.
const LONGEST_PATH: usize = 4096;

/// From `folder` to `root`, which it is in.
fn up_to(folder: &Path, root: &Path) -> PathBuf {
    let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
    below.components().map(|_| "..").collect()
}
