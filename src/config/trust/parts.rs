//! What belongs to the hooks of a folder: their files, the files that their commands name, and the
//! repository that they are in. What is trusted in one work tree is trusted in all of them.
//!
//! The repository is found from the files alone: git is not run, and no variable (`GIT_DIR`) counts.
//! A `.git` file that leads elsewhere than git makes it lead is ignored.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::layer::{HIDDEN, LOCAL, Layer};
use crate::config::sets::LOCK;
use crate::engine::hook::Handler;
use crate::engine::shell;
use crate::hosts::project_variables;

/// The parts of the hook set of a layer in `folder`: its files, those that `handlers` name, the lock
/// file of its shared sets, and what it says as a set itself; of a shared set that `folder`
/// declares, the files of the folder that it names. Each handler comes with the file that
/// configures it.
pub(crate) fn parts<'h>(
    layer: &Layer,
    folder: &Path,
    handlers: impl Iterator<Item = (&'h Path, &'h Handler)>,
) -> Vec<PathBuf> {
    let root = LazyCell::new(|| find_repository(folder).root);
    let mut parts = BTreeSet::new();
    if layer.declared_in.is_none() {
        let files = layer.manifests.iter().chain(&layer.drop_ins);
        for path in files.chain(&layer.loose) {
            let below = path.strip_prefix(&layer.folder).unwrap_or(path);
            parts.insert(below.to_path_buf());
        }
        // The pins of shared sets, the switches of one person, and all of the hidden folder.
        for beside in [LOCK, LOCAL, HIDDEN] {
            if folder.join(beside).symlink_metadata().is_ok() {
                parts.insert(PathBuf::from(beside));
            }
        }
    }
    for (file, handler) in handlers {
        let base = file.parent().unwrap_or(folder);
        let base = base
            .strip_prefix(&layer.folder)
            .map_or(base.to_path_buf(), |below| {
                if layer.declared_in.is_none() {
                    folder.join(below)
                } else {
                    base.to_path_buf()
                }
            });
        parts.extend(files_named(handler, &base, folder, &root));
    }
    parts.into_iter().collect()
}

/// The files that `handler` names, below `folder` or beside it in the repository at `root`. `base`
/// is the folder of the configuring file.
///
/// Programs of the system and other files elsewhere did not come with the project. Files that a
/// named script reads in turn are not found.
fn files_named(handler: &Handler, base: &Path, folder: &Path, root: &Path) -> BTreeSet<PathBuf> {
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
    let of_hosts = project_variables().map(|name| (name, folder));
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

/// The longest `.git` file that is read, in bytes.
const LONGEST_LINK: u64 = 4096;

/// A repository, and the folder in which its work tree begins.
pub(super) struct Origin {
    /// The folder that all its work trees share; outside git the folder of the hooks itself.
    pub(super) identity: PathBuf,
    pub(super) root: PathBuf,
}

/// The repository of a folder, whose path is canonical.
pub(super) fn find_repository(folder: &Path) -> Origin {
    let found = folder.ancestors().find_map(|root| {
        let git = root.join(".git");
        let identity = if git.symlink_metadata().ok()?.is_file() {
            common_folder(&git, &linked_folder(root, &git)?)?
        } else {
            git.canonicalize().ok()?
        };
        Some(Origin {
            identity,
            root: root.to_path_buf(),
        })
    });
    found.unwrap_or_else(|| Origin {
        identity: folder.to_path_buf(),
        root: folder.to_path_buf(),
    })
}

/// The folder that a `.git` file names, as that of a linked work tree or a submodule does.
fn linked_folder(root: &Path, git: &Path) -> Option<PathBuf> {
    let text = short_text(git)?;
    root.join(text.strip_prefix("gitdir:")?.trim())
        .canonicalize()
        .ok()
}

/// The folder of the repository that a `.git` file leads to: of the main work tree, if `folder` is
/// that of a linked one, which names the file in turn; else of a submodule, which is in the folder
/// of a repository around it. `None` for anything else.
fn common_folder(file: &Path, folder: &Path) -> Option<PathBuf> {
    let Some(common) = short_text(&folder.join("commondir")) else {
        let mut around = file
            .ancestors()
            .skip(2)
            .map(|up| up.join(".git").canonicalize());
        let is_in = |git: PathBuf| folder.starts_with(git.join("modules"));
        return around
            .any(|git| git.is_ok_and(is_in))
            .then(|| folder.to_path_buf());
    };
    let named = short_text(&folder.join("gitdir"))?;
    let is_named = folder.join(named.trim()).canonicalize().ok()? == file.canonicalize().ok()?;
    let common = folder.join(common.trim()).canonicalize().ok()?;
    (is_named && folder.starts_with(common.join("worktrees"))).then_some(common)
}

fn short_text(file: &Path) -> Option<String> {
    let is_short = file
        .metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_LINK);
    if is_short {
        fs::read_to_string(file).ok()
    } else {
        None
    }
}
