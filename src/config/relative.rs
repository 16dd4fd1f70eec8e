//! Resolves relative paths in commands from the configuring file, never from an agent's working
//! directory, where another file could replace a guard.

use std::path::{Path, PathBuf};

use crate::engine::complaint::Complaint;
use crate::engine::exec::command::{INTERPRETERS, is_interpreter};
use crate::engine::hook::FILES;
use crate::engine::shell;

/// Programs that run their operand as a program, besides the shell reader's wrappers.
const RUNNERS: &[&str] = &["uv", "poetry", "pipenv", "npx", "bunx"];

/// Interpreters' options that run no file.
const INLINE: &[&str] = &[
    "-c",
    "-e",
    "-m",
    "-p",
    "-r",
    "-E",
    "-",
    "--eval",
    "--print",
    "--version",
];

const WITH_VALUES: &[&str] = &["-o", "-O", "-W", "-X", "-I"];

/// The words of a command, with paths to files below `base` made absolute.
pub(super) fn anchored(words: &[String], base: &Path) -> Result<Vec<String>, Complaint> {
    let interpreter = interpreter(words);
    let mut all = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let is_operand = interpreter.is_some_and(|own| at > own);
        match beside(word, base, is_operand).filter(|_| at > 0) {
            Some(path) => all.push(path),
            None => all.push(word.clone()),
        }
    }
    // `sh -c '…'` and `env -S '…'` have a command line.
    let is_shell = interpreter.is_some_and(|at| base_name(&words[at]).ends_with("sh"));
    let mut awaits_line = false;
    for (before, word) in words.iter().zip(all.iter().skip(1)) {
        awaits_line |= is_shell && is_cluster_of_c(before) || before == "-S";
        let is_option = word.starts_with(['-', '+']) || WITH_VALUES.contains(&before.as_str());
        if awaits_line && !is_option {
            check_line(word)?;
            break;
        }
    }
    let Some(interpreter) = interpreter else {
        return Ok(all);
    };
    let scripts = scripts(&all[interpreter + 1..]);
    // `bash -n {files}` checks files of the event.
    let is_found = scripts
        .iter()
        .any(|word| *word == FILES || base.join(word).is_file());
    let Some(word) = scripts.first().filter(|_| !is_found) else {
        return Ok(all);
    };
    let shown = word
        .strip_prefix(&format!("{}/", base.display()))
        .unwrap_or(word);
    let cause = format!("the script `{shown}` is not next to the file that names it");
    let cure = format!("put it in {}, or write its absolute path", base.display());
    Err(Complaint::with_cure(cause, cure))
}

/// Rejects a shell command line that runs a file of the event's working directory.
pub(super) fn check_line(line: &str) -> Result<(), Complaint> {
    let Some(word) = adrift(line) else {
        return Ok(());
    };
    let cause = format!(
        "the shell would look for `{word}` in the event's working directory, not next to this file"
    );
    let path = word.trim_start_matches("./");
    let cure =
        format!("write `\"$HOOKRUN_HOOK_DIR\"/{path}`; the variable names the folder of this file");
    Err(Complaint::with_cure(cause, cure))
}

/// The absolute path of a word that names a file beside the configuring file.
fn beside(word: &str, base: &Path, is_operand: bool) -> Option<String> {
    if let Some((option, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
        return is_dotted(value).then(|| format!("{option}={}", joined(base, value)));
    }
    if is_dotted(word) && !word.contains(char::is_whitespace) {
        return Some(joined(base, word));
    }
    if word.is_empty() || word.contains(char::is_whitespace) || word.starts_with(['/', '-', '~']) {
        return None;
    }
    let path = base.join(word);
    let is_meant = if word.contains('/') {
        path.exists()
    } else {
        (is_operand || word.contains('.')) && path.is_file()
    };
    is_meant.then(|| joined(base, word))
}

fn is_dotted(word: &str) -> bool {
    word.starts_with("./") || word.starts_with("../")
}

fn joined(base: &Path, word: &str) -> String {
    let path: PathBuf = base.join(word.trim_start_matches("./"));
    path.to_string_lossy().into_owned()
}

fn interpreter<W: AsRef<str>>(words: &[W]) -> Option<usize> {
    let first = base_name(words.first()?.as_ref());
    let is_wrapped = RUNNERS.contains(&first) || shell::is_wrapper(first);
    let among = if is_wrapped { words.len() } else { 1 };
    words[..among]
        .iter()
        .position(|word| is_interpreter(base_name(word.as_ref())))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The operands of an interpreter, usually with its script first; empty if unknown.
fn scripts<W: AsRef<str>>(arguments: &[W]) -> Vec<&str> {
    let words = || arguments.iter().map(AsRef::as_ref);
    let is_inline = |word: &str| INLINE.contains(&word) || is_cluster_of_c(word);
    if words().any(|word| is_inline(word) || word.contains(['$', '`', '~'])) {
        return Vec::new();
    }
    let before = std::iter::once("").chain(words());
    let operands = words()
        .zip(before)
        .filter(|(word, before)| !word.starts_with(['-', '+']) && !WITH_VALUES.contains(before));
    operands.map(|(word, _)| word).collect()
}

/// Whether an option such as `-c` or `-euc` takes a command line.
fn is_cluster_of_c(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
}

/// The program `bin/x` or script in a shell command line that the working directory resolves.
pub(crate) fn adrift(line: &str) -> Option<String> {
    shell::read(line).commands.iter().find_map(|command| {
        // An unknown word keeps its prefix: `"$HOME"/x`.
        let words = std::iter::once(&command.program).chain(&command.args);
        // `$PWD/x` names the working directory, even if the shell reader expands it.
        let words: Vec<&str> = words
            .map(|word| {
                if word.written.contains("PWD") {
                    word.written.trim_start_matches('"')
                } else {
                    word.shown()
                }
            })
            .collect();
        let program = words[0];
        if program.contains('/') && is_adrift(program) {
            return Some(program.to_string());
        }
        let mut inputs = command.redirects.iter().filter(|one| one.operator == "<");
        if is_interpreter(base_name(program))
            && let Some(input) = inputs.find(|input| is_adrift(input.target.shown()))
        {
            return Some(input.target.shown().to_string());
        }
        if matches!(program, "." | "source") {
            return words
                .get(1)
                .filter(|sourced| is_adrift(sourced))
                .map(|word| (*word).to_string());
        }
        let scripts = scripts(&words[interpreter(&words)? + 1..]);
        let is_script = |word: &&&str| {
            let ending = Path::new(word)
                .extension()
                .and_then(|ending| ending.to_str());
            let is_known = |ending| INTERPRETERS.iter().any(|(all, _)| all.contains(&ending));
            is_dotted(word) || is_adrift(word) && ending.is_some_and(is_known)
        };
        let first = scripts.first().filter(|word| is_adrift(word));
        first
            .or_else(|| scripts.iter().find(is_script))
            .map(|word| (*word).to_string())
    })
}

fn is_adrift(word: &str) -> bool {
    !word.is_empty() && !word.starts_with(['/', '$', '~', '-', '<', '`'])
}
