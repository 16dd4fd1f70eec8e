//! Resolves relative paths in commands from the configuring file, never from an agent's working
//! directory, where another file could replace a guard.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::engine::complaint::Complaint;
use crate::engine::exec::command::{INTERPRETERS, is_interpreter};
use crate::engine::hook::FILES;
use crate::engine::shell::{self, ShellCommand};

/// Programs that run their operand as a program, besides the shell reader's wrappers.
const RUNNERS: &[&str] = &["uv", "poetry", "pipenv", "npx", "bunx"];

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
    check_script(&all, interpreter, base)?;
    // What wrappers run, and the lines of `sh -c '…'` and `env -S '…'`.
    let mut line = all.clone();
    line[0] = joined(base, &all[0]);
    let mut texts = all.iter().filter(|word| {
        let is_assignment = word.contains('=') && !word.starts_with('-');
        is_assignment || word.contains(char::is_whitespace)
    });
    let wrong = adrift(&shell_words::join(&line))
        .or_else(|| texts.find_map(|text| program_beside(text, base)));
    let Some(word) = wrong else {
        return Ok(all);
    };
    let cure = format!("put it in {}, or write its absolute path", base.display());
    Err(in_working_folder(&word, cure))
}

/// Rejects a script that does not exist.
fn check_script(
    words: &[String],
    interpreter: Option<usize>,
    base: &Path,
) -> Result<(), Complaint> {
    let Some(interpreter) = interpreter else {
        return Ok(());
    };
    let scripts = scripts(&words[interpreter], &words[interpreter + 1..]);
    // `bash -n {files}` checks files of the event.
    let is_found = scripts
        .iter()
        .any(|word| *word == FILES || base.join(word).is_file());
    let Some(word) = scripts.first().filter(|_| !is_found) else {
        return Ok(());
    };
    let shown = word
        .strip_prefix(&format!("{}/", base.display()))
        .unwrap_or(word);
    let base = base.display();
    Err(if shown.starts_with('/') {
        let cause = format!("the script `{shown}` does not exist");
        Complaint::with_cure(cause, "create it, or correct the path")
    } else {
        let cause = format!("the script `{shown}` does not exist in {base}");
        Complaint::with_cure(cause, "create it there, or write its absolute path")
    })
}

/// Rejects a shell command line that runs a file of the event's working directory.
pub(super) fn check_line(line: &str, base: &Path) -> Result<(), Complaint> {
    if enters_known_folder(line) {
        return Ok(());
    }
    let wrong = adrift(line)
        .or_else(|| folder_in_path(line))
        .or_else(|| program_beside(line, base));
    let Some(word) = wrong else {
        return Ok(());
    };
    let path = word.trim_start_matches("./");
    let cure =
        format!("write `\"$HOOKRUN_HOOK_DIR\"/{path}`; the variable names the folder of this file");
    Err(in_working_folder(&word, cure))
}

fn in_working_folder(word: &str, cure: String) -> Complaint {
    let cause = format!(
        "`{word}` would be looked up in the event's working directory, not next to this file"
    );
    Complaint::with_cure(cause, cure)
}

/// Whether a line first changes to a folder that no event can choose.
fn enters_known_folder(line: &str) -> bool {
    let folder = line.trim_start().strip_prefix("cd ").unwrap_or_default();
    let name = folder.trim_start_matches(['"', '$', '{', ' ']);
    name.starts_with("HOOKRUN_HOOK_DIR") || name.starts_with("HOOKRUN_PROJECT_DIR")
}

/// A relative folder in `PATH=…`.
fn folder_in_path(line: &str) -> Option<String> {
    let mut values = line.match_indices("PATH=").filter_map(|(at, name)| {
        let is_name = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let mut values = line[at + name.len()..].split([' ', '\t', '\n', ';', '&', '|']);
        values.next().filter(|_| !is_name)
    });
    values.find_map(|value| {
        let mut folders = value.split(':').map(|folder| folder.trim_matches('"'));
        folders.find(|folder| is_adrift(folder)).map(str::to_string)
    })
}

/// A word anywhere in a shell line that names a program or a shell script beside the configuring
/// file, also by a pattern: `cat tools/guard.sh | sh`, `for g in tools/*.sh`.
fn program_beside(line: &str, base: &Path) -> Option<String> {
    let read = shell::read(line);
    if read.commands.iter().any(is_elsewhere) {
        return None;
    }
    let without_comments = line.lines().flat_map(|line| line.split(" #").next());
    let mut words = without_comments
        .flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && !"_./-+@*?[]".contains(c)));
    words
        .find(|word| {
            let at = word.as_ptr().addr() - line.as_ptr().addr();
            // The rest of a word that begins with a variable, an escape or a host, or a quoted pattern.
            let is_rest = line[..at].ends_with(['$', '}', '~', '\\', '^', ':', '%']);
            let is_quoted = line[..at].ends_with(['\'', '"']) && word.contains('*');
            !is_rest
                && !is_quoted
                && (word.contains('/') || is_shell_script(word))
                && is_adrift(word)
                && names_program(&base.join(word))
        })
        .map(str::to_string)
}

/// Whether a path, or a pattern in its last name, names a program or a shell script.
fn names_program(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some((start, end)) = name.split_once(['*', '?', '[']) {
        let end = end.rsplit(['*', '?', ']']).next().unwrap_or_default();
        let folder = path.parent().and_then(|folder| fs::read_dir(folder).ok());
        return folder.into_iter().flatten().flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with(start) && name.ends_with(end) && names_program(&entry.path())
        });
    }
    path.metadata().is_ok_and(|meta| {
        meta.is_file() && (is_shell_script(&name) || meta.permissions().mode() & 0o111 != 0)
    })
}

fn is_shell_script(name: &str) -> bool {
    [".sh", ".bash", ".zsh"]
        .iter()
        .any(|end| name.ends_with(end))
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
fn scripts<'w, W: AsRef<str>>(program: &str, arguments: &'w [W]) -> Vec<&'w str> {
    let name = base_name(program);
    let is_shell = name.ends_with("sh") && name != "pwsh";
    let mut operands = Vec::new();
    let mut is_value = false;
    for word in arguments.iter().map(AsRef::as_ref) {
        if runs_no_file(word, is_shell) || word.contains(['$', '`', '~']) {
            return Vec::new();
        }
        let is_option = word.starts_with(['-', '+']);
        if !is_option && !is_value {
            operands.push(word);
        }
        let takes_value = if is_shell { ['o', 'O'] } else { ['W', 'X'] };
        is_value = is_option && !word.starts_with("--") && word.ends_with(takes_value);
    }
    // Their first operand is a command: `bun run lint`.
    if matches!(name, "deno" | "bun") {
        operands.retain(|word| is_dotted(word) || has_script_ending(word));
    }
    operands
}

/// Whether an option of an interpreter takes code or a module, or asks for neither: `-euc`, `-ne`,
/// `-Im`.
fn runs_no_file(word: &str, is_shell: bool) -> bool {
    const LETTERS: &[char] = &['c', 'e', 'E', 'm', 'p', 'r'];
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    match (letters, is_shell) {
        (Some("" | "s"), true) | (Some("" | "Command"), false) => true,
        // `-n` only checks the syntax.
        (Some(letters), true) => letters.ends_with('c') || letters.contains('n'),
        (Some(letters), false) => letters.ends_with(LETTERS),
        (None, _) => ["--eval", "--print", "--version"]
            .iter()
            .any(|option| word.starts_with(option)),
    }
}

fn has_script_ending(word: &str) -> bool {
    let ending = Path::new(word)
        .extension()
        .and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| INTERPRETERS.iter().any(|(all, _)| all.contains(&ending)))
}

/// Whether a command runs on another machine or in a container, with files of its own.
fn is_elsewhere(command: &ShellCommand) -> bool {
    const ELSEWHERE: &[&str] = &["docker", "podman", "nerdctl", "kubectl", "ssh", "vagrant"];
    let mut wrappers = command.through.iter();
    wrappers.any(|wrapper| ELSEWHERE.contains(&wrapper.name.as_str()))
}

/// The program `bin/x` or script in a shell command line that the working directory resolves.
pub(crate) fn adrift(line: &str) -> Option<String> {
    let commands = shell::read(line).commands;
    let mut commands = commands.iter().filter(|command| !is_elsewhere(command));
    commands.find_map(|command| {
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
        // What `find tools -exec sh {} \;` runs.
        let mut wrappers = command.through.iter();
        if let Some(find) = wrappers.find(|wrapper| wrapper.name == "find")
            && let Some(folder) = find.args.first().filter(|word| is_adrift(word.shown()))
            && runs_found(&words)
        {
            return Some(folder.shown().to_string());
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
        let interpreter = interpreter(&words)?;
        let scripts = scripts(words[interpreter], &words[interpreter + 1..]);
        let first = scripts.first().filter(|word| is_adrift(word));
        first
            .or_else(|| {
                scripts
                    .iter()
                    .find(|word| is_dotted(word) || is_adrift(word) && has_script_ending(word))
            })
            .map(|word| (*word).to_string())
    })
}

/// Whether a file that `find` prints is the program, or the script of an interpreter.
fn runs_found(words: &[&str]) -> bool {
    let script = interpreter(words).and_then(|at| {
        let scripts = scripts(words[at], &words[at + 1..]);
        scripts.first().copied()
    });
    words[0] == FOUND || script == Some(FOUND)
}

/// Stands for a file that `find` prints.
const FOUND: &str = "{}";

fn is_adrift(word: &str) -> bool {
    const KNOWN: &[char] = &['/', '$', '~', '-', '<', '`', '…'];
    let is_known = word.starts_with(KNOWN) || word.contains("://");
    !word.is_empty() && !is_known && word != FILES && word != FOUND
}
