//! Resolves relative paths in commands from the configuring file, never from an agent's working
//! directory, where another file could replace a guard.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::engine::complaint::Complaint;
use crate::engine::exec::command::{INTERPRETERS, is_interpreter, without_version};
use crate::engine::hook::FILES;
use crate::engine::shell::{self, CommandWrapper, ShellCommand, ShellWord};

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
    let mut texts = all.iter().filter(|word| word.contains(char::is_whitespace));
    let line = shell_words::join(&line);
    let wrong = adrift(&line)
        .or_else(|| relative_assignment(&all.join(" ")))
        .or_else(|| texts.find_map(|text| program_beside(text, base)));
    let Some(word) = wrong else {
        return Ok(all);
    };
    let path = word.trim_start_matches("./");
    let cure = format!(
        "write an absolute path; or set `shell = true`, and write `\"$HOOKRUN_HOOK_DIR\"/{path}`"
    );
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
    let state = if base.join(word).exists() {
        "is not a file"
    } else {
        "does not exist"
    };
    let base = base.display();
    Err(if shown.starts_with('/') {
        let cause = format!("the script `{shown}` {state}");
        Complaint::with_cure(cause, "create it, or correct the path")
    } else {
        let cause = format!("the script `{shown}` {state} in {base}");
        Complaint::with_cure(cause, "create it there, or write its absolute path")
    })
}

/// Rejects a shell command line that runs a file of the event's working directory.
pub(super) fn check_line(line: &str, base: &Path) -> Result<(), Complaint> {
    let wrong = adrift(line)
        .or_else(|| relative_assignment(line))
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

/// A relative path in an assignment to `PATH`, where an empty one counts, or `BASH_ENV`.
fn relative_assignment(line: &str) -> Option<String> {
    let names = line
        .match_indices("PATH=")
        .chain(line.match_indices("BASH_ENV="));
    let mut paths = names.flat_map(|(at, name)| {
        let before = line[..at].trim_end_matches([' ', '\t']);
        let is_word = before.is_empty() || before.len() < at;
        let is_assignment = before.is_empty()
            || before.ends_with(['\n', ';', '&', '|', '(', '{'])
            || is_word && (before.ends_with("export") || before.ends_with("env"));
        let mut values = line[at + name.len()..].split([' ', '\t', '\n', ';', '&', '|']);
        let value = values.next().filter(|_| is_assignment);
        value.into_iter().flat_map(|value| value.split(':'))
    });
    let paths = paths.by_ref().map(|path| path.trim_matches(['"', '\'']));
    let mut paths = paths.map(|path| if path.is_empty() { "." } else { path });
    paths.find(|path| is_adrift(path)).map(str::to_string)
}

/// A word in a shell line, some program of which is unknown, that names a program or a shell script
/// beside the configuring file, also by a pattern: `cat tools/guard.sh | sh`, `for g in tools/*.sh`.
fn program_beside(line: &str, base: &Path) -> Option<String> {
    let read = shell::read(line);
    let mut commands = read.commands.iter();
    if read.doubt.is_none()
        && !commands.any(|command| !is_elsewhere(command) && is_unclear(command))
    {
        return None;
    }
    let lines = line
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let mut words = lines
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

/// Whether a command is unknown, or an interpreter with an unknown script.
fn is_unclear(command: &ShellCommand) -> bool {
    let is_ours = |word: &ShellWord| word.written.contains("HOOKRUN_");
    let Some(name) = command.name() else {
        return !is_ours(&command.program);
    };
    let mut args = command.args.iter();
    let has_unknown = args.any(|word| word.text.is_none() && !is_ours(word));
    let shown: Vec<&str> = command.args.iter().map(ShellWord::shown).collect();
    let has_script = !scripts(name, &shown).is_empty();
    has_unknown && !has_script && (is_interpreter(name) || matches!(name, "." | "source"))
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

/// The operands of an interpreter, usually with its script first; empty if it runs no file, or an
/// unknown one.
fn scripts<'w, W: AsRef<str>>(program: &str, arguments: &'w [W]) -> Vec<&'w str> {
    let name = without_version(base_name(program));
    let row = OPTIONS.iter().find(|row| row.names.contains(&name));
    let row = row.unwrap_or(&OPTIONS[0]);
    let mut operands = Vec::new();
    let mut is_value = false;
    for word in arguments.iter().map(AsRef::as_ref) {
        let is_option = word.starts_with(['-', '+']);
        if row.runs_no_file(word) {
            return Vec::new();
        }
        if word.contains(['$', '`', '~']) {
            break;
        }
        if !is_option && !is_value {
            operands.push(word);
        }
        let letters = word.strip_prefix('-').unwrap_or_default();
        let has_value = letters.len() > 1 && letters.starts_with(row.joined);
        is_value = is_option && !has_value && !word.starts_with("--") && word.ends_with(row.values);
    }
    // Their first operand is a command: `bun run lint`.
    if matches!(name, "deno" | "bun") {
        operands.retain(|word| is_dotted(word) || has_script_ending(word));
    }
    operands
}

/// The options of interpreters, by letter.
struct InterpreterOptions {
    names: &'static [&'static str],
    /// At the end of a word: it runs code or a module, or only checks the syntax.
    no_file: &'static [char],
    /// At the beginning of a word: the rest is its value.
    joined: &'static [char],
    /// At the end of a word: the next word is its value.
    values: &'static [char],
    words: &'static [&'static str],
}

#[rustfmt::skip]
const OPTIONS: &[InterpreterOptions] = &[
    InterpreterOptions { names: &["sh", "dash", "ksh", "bash", "zsh", "fish"], no_file: &['c', 's'], joined: &[], values: &['o', 'O'], words: &[] },
    InterpreterOptions { names: &["python"], no_file: &['c', 'm'], joined: &['W', 'X'], values: &['W', 'X'], words: &["-"] },
    InterpreterOptions { names: &["perl", "ruby"], no_file: &['c', 'e', 'E'], joined: &['M', 'm', 'I', 'r'], values: &['I', 'r'], words: &["-"] },
    InterpreterOptions { names: &["node", "tsx", "ts-node", "deno", "bun"], no_file: &['c', 'e', 'p'], joined: &[], values: &['r'], words: &["-", "--check", "--eval", "--print"] },
    InterpreterOptions { names: &["php", "lua", "Rscript"], no_file: &['e', 'l', 'r'], joined: &[], values: &[], words: &["-"] },
    InterpreterOptions { names: &["pwsh"], no_file: &['c'], joined: &[], values: &[], words: &["-Command"] },
];

impl InterpreterOptions {
    fn runs_no_file(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or_default();
        if self.words.contains(&name) || matches!(word, "--version" | "--help") {
            return true;
        }
        let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
            return false;
        };
        let is_shell = self.words.is_empty();
        // `-n` checks the syntax; `-norc` is a long option.
        let is_cluster = letters
            .chars()
            .all(|c| "abefhilnprtuvxkmBCEHPTcs".contains(c));
        if is_shell && (!is_cluster || letters.starts_with("nor")) {
            return false;
        }
        !letters.starts_with(self.joined) && letters.ends_with(self.no_file)
            || is_shell && letters.contains('n')
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
            && let Some(folder) = relative_start(find)
            && runs_found(&words)
        {
            return Some(folder);
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

/// A relative folder in which `find` starts; without any, the working directory.
fn relative_start(find: &CommandWrapper) -> Option<String> {
    let words = find.args.iter().map(ShellWord::shown);
    let words = words.skip_while(|word| matches!(*word, "-H" | "-L" | "-P"));
    let starts: Vec<&str> = words
        .take_while(|word| !word.starts_with(['-', '(', '!']))
        .collect();
    if starts.is_empty() {
        return Some(".".to_string());
    }
    let mut starts = starts.into_iter();
    starts.find(|start| is_adrift(start)).map(str::to_string)
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
