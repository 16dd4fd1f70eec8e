//! The parts of a folder's hook set: its files, the files that commands run, and its repository.
//! Content trusted in one worktree is trusted in all.
//!
//! The repository is found from files only, without git or variables (`GIT_DIR`). A `.git` file
//! that git would not have written is ignored.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use crate::config::layer::{HIDDEN, LOCAL, Layer};
use crate::config::sets::LOCK;
use crate::engine::exec::command::{is_interpreter, without_version, words_of_first_line};
use crate::engine::hook::Handler;
use crate::engine::names::words;
use crate::engine::shell;
use crate::hosts::project_variables;

/// The parts of a layer's hook set in `folder`: its files, files that `handlers` name, the lock
/// file, and its own settings; of a shared set declared by `folder`, only the folder's files that
/// it names. Each handler comes with its configuring file.
pub(crate) fn parts<'h>(
    layer: &Layer,
    folder: &Path,
    handlers: impl Iterator<Item = (&'h Path, &'h Handler)>,
) -> Vec<PathBuf> {
    let root = LazyCell::new(|| find_repository(folder).root);
    let mut parts = BTreeSet::new();
    if layer.declared_in.is_none() {
        for path in layer.manifests.iter().chain(&layer.drop_ins) {
            let below = path.strip_prefix(&layer.folder).unwrap_or(path);
            parts.insert(below.to_path_buf());
        }
        // Pins of shared sets, the local file, and the whole hidden folder.
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

/// The files that `handler` runs, below `folder` or beside it in the repository at `root`. `base`
/// is the configuring file's folder.
///
/// System programs and other files elsewhere did not come with the project. Files that a script
/// reads in turn are not found, and data operands do not count.
fn files_named(handler: &Handler, base: &Path, folder: &Path, root: &Path) -> BTreeSet<PathBuf> {
    let line = match handler {
        Handler::Words { words, .. } => shell_words::join(words),
        Handler::Shell(line) => line.clone(),
        Handler::File(_) | Handler::Function(_) | Handler::Rule(_) => return BTreeSet::new(),
    };
    let line = filled(&line, base, folder);
    let mut words = Vec::new();
    if let Handler::Words { words: all, .. } = handler {
        words.extend(assigned(&line));
        for word in all {
            words.push(value_of(word).to_string());
            if word.contains(|c: char| c.is_whitespace() || "$\"'`;".contains(c)) {
                words.extend(words_of_line(&filled(word, base, folder)));
            }
        }
    } else {
        words.extend(words_of_line(&line));
    }
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for word in words {
        if let Some(file) = in_repository(&word, base, folder, root) {
            files.push((word, file));
        }
    }
    // Most commands name no file and need no parsing.
    if !files.is_empty()
        && let Some(code) = words_that_run(&line)
    {
        files.retain(|(word, file)| code.contains(word) || is_program(&folder.join(file)));
    }
    files.into_iter().map(|(_, file)| file).collect()
}

fn is_program(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether the first line of a script may run a program, or another script, in the working directory.
pub(super) fn has_relative_interpreter(script: &[u8]) -> bool {
    let start = &script[..script.len().min(256)];
    let Some(line) = start.strip_prefix(b"#!").map(String::from_utf8_lossy) else {
        return false;
    };
    let (program, argument) = words_of_first_line(&line);
    let argument = argument.unwrap_or_default();
    if !program.starts_with('/') {
        return true;
    }
    if !program.ends_with("/env") {
        // Their first operand is a command: `deno run`, `busybox sh`.
        let is_command = matches!(base_name(program), "deno" | "bun" | "busybox" | "toybox");
        let is_operand = !argument.is_empty() && !argument.starts_with(['-', '/']);
        return is_operand && !is_command || words_run_relative(&format!("{program} {argument}"));
    }
    // `env` also has escapes, quotes and variables, and may change the folder.
    let of_env = argument.strip_prefix("-S").unwrap_or(argument).trim_start();
    of_env.contains(['\\', '"', '\'', '$']) || of_env.starts_with('-') || words_run_relative(of_env)
}

/// Whether words that `env` runs name a relative path, or a script of an interpreter.
fn words_run_relative(words: &str) -> bool {
    let is_relative = |path: &str| !path.starts_with('/') && !path.contains("://");
    let mut interpreter = None;
    let mut is_value = false;
    for word in words.split_ascii_whitespace() {
        let name = base_name(word);
        let assigned = word
            .split_once('=')
            .filter(|(name, _)| !name.starts_with('-'));
        if let Some((name, value)) = assigned {
            // `PATH=.`, `BASH_ENV=run`, `PERL5OPT=-Mx`
            let names_code = ["PATH", "LIB", "OPT", "OPTIONS"]
                .iter()
                .any(|end| name.ends_with(end))
                || matches!(name, "BASH_ENV" | "ENV" | "ZDOTDIR");
            if names_code && value.split(':').any(is_relative) {
                return true;
            }
            continue;
        }
        let path = word.rsplit('=').next().unwrap_or_default();
        if path.contains('/') && is_relative(path) {
            return true;
        }
        let is_reader = is_interpreter(name) || RUN_A_SCRIPT.contains(&without_version(name));
        if word.starts_with(['-', '+']) {
            let reads_file = matches!(interpreter, Some("awk" | "gawk" | "mawk" | "sed"));
            if reads_file && word.starts_with("-f") && word.len() > 2 && is_relative(&word[2..]) {
                return true;
            }
            is_value = !word.starts_with("--") && word.ends_with(['o', 'O', 'W', 'X']);
        } else if interpreter.is_none() && is_reader {
            interpreter = Some(name);
        } else if let Some(name) = interpreter
            && !is_value
            && is_relative(word)
        {
            // `deno run`, `bun run`
            return !matches!(name, "deno" | "bun");
        } else {
            is_value = false;
        }
    }
    false
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Programs that run a script, besides hookrun's interpreters.
const RUN_A_SCRIPT: &[&str] = words!("." "source" "python" "awk" "gawk" "mawk" "sed");

/// Programs whose words may all be code, or name a file of tasks.
const RUN_ANYTHING: &[&str] = words!(
    "make" "gmake" "just" "task" "npm" "npx" "pnpm" "yarn" "bunx" "uv" "uvx" "poetry" "pdm" "hatch"
    "pipenv" "pipx" "go" "cargo" "docker" "podman" "nix" "php" "eval"
);

/// The words that name programs and scripts, and options; `None` if any word may be run.
fn words_that_run(line: &str) -> Option<HashSet<String>> {
    let read = shell::read(line);
    if read.doubt.is_some() {
        return None;
    }
    let mut code = HashSet::new();
    for command in read.commands.iter().chain(&read.wrappers()) {
        let mut words = vec![command.program.text.as_deref()?];
        for word in &command.args {
            words.push(word.text.as_deref().unwrap_or(UNKNOWN));
        }
        code.insert(words[0].to_string());
        for (place, word) in words.iter().enumerate() {
            let name = match base_name(word) {
                "." if place == 0 => ".",
                name => without_version(name),
            };
            let rest = &words[place + 1..];
            if RUN_ANYTHING.contains(&name) {
                code.extend(rest.iter().map(|word| (*word).to_string()));
            } else if RUN_A_SCRIPT.contains(&name) || is_interpreter(name) {
                let script = up_to_script(rest)?;
                code.extend(script.iter().map(|word| value_of(word).to_string()));
            }
        }
    }
    code.extend(assigned(line));
    Some(code)
}

/// Stands for an unknown word, which may be stdin.
const UNKNOWN: &str = "-";

/// Letters of options, in any interpreter, that take a value and do not end the options.
const VALUE_LETTERS: &str = "CEFIMOWXdlorvz";

/// The words of an interpreter up to its script; `None` if the script is on stdin.
fn up_to_script<'w>(words: &'w [&'w str]) -> Option<&'w [&'w str]> {
    let mut is_value = false;
    for (place, word) in words.iter().enumerate() {
        if matches!(*word, "-" | "-s" | "/dev/stdin") {
            return None;
        }
        if word.starts_with('-') {
            let is_long = word.starts_with("--") && !word.contains('=');
            is_value = is_long || word.ends_with(|c| VALUE_LETTERS.contains(c));
        } else if is_value {
            is_value = false;
        } else {
            return Some(&words[..=place]);
        }
    }
    None
}

/// The value of an option, `FILE` in `--require=FILE`; any other word unchanged.
fn value_of(word: &str) -> &str {
    let value = word.split_once('=').filter(|_| word.starts_with('-'));
    value.map_or(word, |(_, value)| value)
}

/// The values of all assignments in a line: `BASH_ENV=FILE`.
fn assigned(line: &str) -> Vec<String> {
    let mut values = Vec::new();
    for word in shell_words::split(line).unwrap_or_default() {
        if let Some((name, value)) = word.split_once('=')
            && !name.starts_with('-')
        {
            values.push(value.to_string());
        }
    }
    values
}

fn filled(line: &str, base: &Path, folder: &Path) -> String {
    let mut filled = line.to_string();
    let of_hosts = project_variables().map(|name| (name, folder));
    for (name, value) in [("HOOKRUN_HOOK_DIR", base), ("HOOKRUN_PROJECT_DIR", folder)]
        .into_iter()
        .chain(of_hosts)
    {
        filled = fill(&filled, name, &value.to_string_lossy());
    }
    filled
}

fn words_of_line(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for command in shell::read(line).commands {
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
        for word in all.chain(through).filter_map(|word| word.text) {
            words.push(value_of(&word).to_string());
        }
    }
    words.extend(assigned(line));
    words
}

/// Fills `$NAME`, `${NAME}` and `${NAME:?…}`.
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

/// The relative path of a file that a word names; with a `/` also a missing one.
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
        let part = base.strip_prefix(folder).unwrap_or(base).join(word);
        let names = part.components().filter(|name| *name != Component::CurDir);
        return Some(names.collect());
    }
    let found = whole.canonicalize().unwrap_or(whole);
    Some(up_to(folder, root).join(found.strip_prefix(root).ok()?))
}

/// The longest path of the system, in bytes.
const LONGEST_PATH: usize = 4096;

fn up_to(folder: &Path, root: &Path) -> PathBuf {
    let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
    below.components().map(|_| "..").collect()
}

/// The longest `.git` file that is read, in bytes.
const LONGEST_LINK: u64 = 4096;

pub(super) struct Origin {
    /// The git folder that all worktrees share; outside git the hooks' folder.
    pub(super) identity: PathBuf,
    pub(super) root: PathBuf,
}

pub(super) fn find_repository(folder: &Path) -> Origin {
    let found = folder.ancestors().find_map(|root| {
        let git = root.join(".git");
        let kind = git.symlink_metadata().ok()?.file_type();
        let identity = if kind.is_dir() {
            git
        } else if kind.is_file() {
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

/// The main worktree's folder for `folder` (canonical) in a linked worktree.
pub(crate) fn same_in_main_work_tree(folder: &Path) -> Option<PathBuf> {
    let Origin { identity, root } = find_repository(folder);
    let main = identity.parent().filter(|_| identity.ends_with(".git"))?;
    let below = folder.strip_prefix(&root).ok()?;
    (main != root).then(|| main.join(below).components().collect())
}

/// The folder that a `.git` file names, as in a linked worktree or a submodule.
fn linked_folder(root: &Path, git: &Path) -> Option<PathBuf> {
    let text = short_text(git)?;
    root.join(text.strip_prefix("gitdir:")?.trim())
        .canonicalize()
        .ok()
}

/// The repository of a linked worktree's or a submodule's `.git` file, if git wrote it.
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
