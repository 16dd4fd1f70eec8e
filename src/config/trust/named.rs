//! The files that the commands of a set name: they are as much part of it as those in `hooks.d`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::engine::hook::Handler;
use crate::engine::shell;

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
        Handler::File(_) | Handler::Function(_) | Handler::Rule(_) | Handler::Elsewhere { .. } => {}
    }
    words.iter().filter_map(|word| in_repository(word, base, folder, root)).collect()
}

/// All words of a line for the shell, wherever they are.
fn words_of_line(line: &str, base: &Path, folder: &Path) -> Vec<String> {
    let mut filled = line.to_string();
    for (name, value) in [("HOOKRUN_HOOK_DIR", base), ("HOOKRUN_PROJECT_DIR", folder)] {
        let value = value.to_string_lossy();
        let braced = filled.replace(&format!("${{{name}}}"), &value);
        filled = braced.replace(&format!("${name}"), &value);
    }
    let mut words = Vec::new();
    for command in shell::read(&filled).commands {
        let targets = command.redirects.into_iter().map(|redirect| redirect.target);
        let through = command.through.iter().flat_map(|wrapper| wrapper.args.clone());
        let all = std::iter::once(command.program).chain(command.args).chain(targets);
        words.extend(all.chain(through).filter_map(|word| word.text));
    }
    words
}

/// The path below `folder` of a file that a word names; one with a `/` also if it is not there: it
/// may come later.
fn in_repository(word: &str, base: &Path, folder: &Path, root: &Path) -> Option<PathBuf> {
    let whole = base.join(word);
    let is_path = word.contains('/') && !word.contains("://") && word.len() <= LONGEST_PATH;
    let is_meant = if is_path { !whole.is_dir() } else { !word.is_empty() && whole.is_file() };
    if !is_meant {
        return None;
    }
    if Path::new(word).is_absolute() {
        return Some(up_to(folder, root).join(whole.strip_prefix(root).ok()?));
    }
    Some(base.strip_prefix(folder).unwrap_or(Path::new("")).join(word))
}

/// The longest path that the system takes, in bytes.
const LONGEST_PATH: usize = 4096;

/// From `folder` to `root`, which it is in.
fn up_to(folder: &Path, root: &Path) -> PathBuf {
    let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
    below.components().map(|_| "..").collect()
}
