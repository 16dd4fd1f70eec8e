//! Hooks of git that pre-commit, lefthook and husky run.

use crate::hosts::git::{self, Argument, GitHook};
use serde_json::{Map, Value};

use super::source::{FoundHook, ImportSource, SourceHooks, anchored};
use crate::cli::exit::Result;

/// These tools set no limit; hookrun always has one.
const TIMEOUT: &str = "\"10m\"";

/// The staged files that are there, each ended by a NUL.
const STAGED: &str = "git diff --cached --name-only -z --diff-filter=d";

/// Puts the file of the commit message where a hook of git has it.
const MESSAGE_FILE: &str = "set -- \"$(hookrun field filePath)\"; ";

/// What a regular expression of Python may have, and means something else for `grep -E`, or cannot
/// be written in single quotes.
const OF_PYTHON: &[&str] = &[
    "(?", "*?", "+?", "??", "*+", "++", "?+", "{", "[:", "[=", "[[.", "'",
];

/// Why an entry that runs nothing is left out.
const NOTHING: &str = "it has no command";

type Found = std::result::Result<FoundHook, String>;

fn entry(source: &ImportSource<'_>, what: &str, hook: &GitHook, line: &str) -> FoundHook {
    let found = FoundHook::new(source.tool, what, hook.event, line);
    found.with("shell", "true").with("timeout", TIMEOUT)
}

/// Gives a line the arguments that git gives the hook, if it uses them.
fn with_arguments(hook: &GitHook, line: &str) -> std::result::Result<String, String> {
    let uses = ["$1", "$@", "$*", "${1"]
        .iter()
        .any(|word| line.contains(word));
    match hook.arguments.first() {
        Some(Argument::MessageFile) => Ok(format!("{MESSAGE_FILE}{line}")),
        _ if uses => Err(format!(
            "it reads arguments, and hooks of {} get JSON",
            hook.event
        )),
        _ => Ok(line.to_string()),
    }
}

/// A line with the staged files as its `$@`; without any it does not run. `select` takes some.
fn over_staged(select: &str, line: &str) -> String {
    let line = shell_words::quote(line).into_owned();
    format!("{STAGED}{select} | xargs -0 -r sh -c {line} sh")
}

fn text<'v>(table: &'v Value, key: &str) -> &'v str {
    table[key].as_str().unwrap_or_default()
}

/// One text, or a list of them.
fn texts(value: &Value) -> Vec<&str> {
    let one = std::slice::from_ref(value);
    value
        .as_array()
        .map_or(one, Vec::as_slice)
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// YAML of two ages: `no` is false in Python's.
fn is_set(value: &Value, otherwise: bool) -> bool {
    let word = value
        .as_str()
        .map(|word| ["yes", "on"].contains(&word.to_lowercase().as_str()));
    value.as_bool().or(word).unwrap_or(otherwise)
}

/// `.pre-commit-config.yaml`: what is local runs by itself, all else by pre-commit.
pub(super) fn pre_commit(source: &ImportSource<'_>) -> Result<SourceHooks> {
    let config = source.value()?;
    let mut found = SourceHooks::default();
    for repo in items(&config["repos"]) {
        for hook in items(&repo["hooks"]) {
            let stages = [&hook["stages"], &config["default_stages"]].map(texts);
            let stages = stages.into_iter().find(|stages| !stages.is_empty());
            for stage in stages.unwrap_or_else(|| vec!["pre-commit"]) {
                let stage = match stage {
                    "commit" | "push" | "merge-commit" => format!("pre-{stage}"),
                    stage => stage.to_string(),
                };
                let place = format!("{}, {} at {stage}", source.shown(), text(hook, "id"));
                let carried = match git::find(&stage) {
                    Some(at) => of_pre_commit(source, &config, repo, hook, at),
                    None => Err(format!("`{stage}` is no hook of git")),
                };
                found.take(place, carried);
            }
        }
    }
    Ok(found)
}

fn of_pre_commit(
    source: &ImportSource<'_>,
    config: &Value,
    repo: &Value,
    hook: &Value,
    at: &GitHook,
) -> Found {
    let id = text(hook, "id");
    let language = text(hook, "language");
    let is_own = text(repo, "repo") == "local"
        && ["system", "script", "unsupported", "unsupported_script"].contains(&language);
    let line = match if is_own {
        local_line(config, hook, at)?
    } else {
        None
    } {
        Some(line) if line.starts_with(STAGED) => line,
        Some(line) => with_arguments(at, &line)?,
        None => {
            let mut search = source.env.search.iter().flat_map(std::env::split_paths);
            if !search.any(|folder| folder.join("pre-commit").is_file()) {
                return Err("only `pre-commit` can run it, and it is not in PATH".to_string());
            }
            let stage = at.name;
            let line = format!(
                "pre-commit run {} --hook-stage {stage}",
                shell_words::quote(id)
            );
            match at.arguments.first() {
                None => line,
                Some(Argument::MessageFile) => {
                    with_arguments(at, &format!("{line} --commit-msg-filename \"$1\""))?
                }
                Some(_) => return Err(format!("pre-commit wants arguments of {stage}, not JSON")),
            }
        }
    };
    Ok(entry(source, id, at, &line))
}

/// What a local hook runs; `None` where only pre-commit can tell for which files.
fn local_line(
    config: &Value,
    hook: &Value,
    at: &GitHook,
) -> std::result::Result<Option<String>, String> {
    let folder = if text(hook, "language").ends_with("script") {
        "./"
    } else {
        ""
    };
    let arguments: Vec<String> = items(&hook["args"]).iter().map(plain_text).collect();
    let arguments = shell_words::join(arguments);
    let entry = text(hook, "entry");
    if entry.trim().is_empty() {
        return Err(NOTHING.to_string());
    }
    let line = format!("{folder}{entry} {arguments}");
    let line = anchored(line.trim_end())?;
    let has_message = at.arguments.first() == Some(&Argument::MessageFile);
    let passes = is_set(&hook["pass_filenames"], true);
    let mut select = String::new();
    let filters = [config, hook].map(|one| [("", &one["files"]), ("v", &one["exclude"])]);
    for (how, form) in filters.into_iter().flatten() {
        let form = form.as_str().filter(|form| !form.is_empty());
        if form.is_some_and(|form| !is_for_grep(form)) {
            return Ok(None);
        }
        // Names are bytes: in another locale `grep` finds nothing in those that are not UTF-8.
        select.extend(form.map(|form| format!(" | LC_ALL=C grep -{how}E '{form}'")));
    }
    let has_types = ["types", "types_or", "exclude_types"]
        .iter()
        .any(|key| !hook[key].is_null());
    if has_message {
        return Ok(Some(if passes {
            format!("{line} \"$1\"")
        } else {
            line
        }));
    }
    if !passes && (is_set(&hook["always_run"], false) || select.is_empty() && !has_types) {
        return Ok(Some(line));
    }
    if has_types || at.name != "pre-commit" {
        return Ok(None);
    }
    if !select.is_empty() {
        select = format!(" | tr '\\0' '\\n'{select} | tr '\\n' '\\0'");
    }
    let line = if passes {
        format!("{line} \"$@\"")
    } else {
        line
    };
    Ok(Some(over_staged(&select, &line)))
}

/// Whether `grep -E` takes a regular expression of Python as Python does. In brackets it keeps a
/// backslash as a character.
fn is_for_grep(form: &str) -> bool {
    let has_other_escapes = form.replace("\\.", "").contains('\\');
    let is_in_brackets = form.contains('[') && form.contains('\\');
    !has_other_escapes && !is_in_brackets && !OF_PYTHON.iter().any(|part| form.contains(part))
}

fn plain_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_string)
}

/// `lefthook.yml`: its commands, jobs and scripts, by the hooks of git that they are for.
pub(super) fn lefthook(source: &ImportSource<'_>) -> Result<SourceHooks> {
    let config = source.value()?;
    let mut found = SourceHooks::default();
    for (name, table) in config.as_object().into_iter().flatten() {
        let place = |what: &str| format!("{}, {name}.{what}", source.shown());
        let Some(at) = git::find(name).filter(|at| at.name == name) else {
            if ["extends", "remotes"].contains(&name.as_str()) || table["commands"].is_object() {
                found
                    .left
                    .push((place("*"), "it is no hook of git".to_string()));
            }
            continue;
        };
        let is_parallel = is_set(&table["parallel"], false);
        let commands = table["commands"].as_object().into_iter().flatten();
        let jobs = items(&table["jobs"])
            .iter()
            .map(|job| (text(job, "name"), job.clone()));
        let mut all: Vec<(String, Value)> = commands
            .map(|(what, job)| (what.clone(), job.clone()))
            .collect();
        all.extend(jobs.map(|(what, job)| (what.to_string(), job)));
        for (file, job) in table["scripts"].as_object().into_iter().flatten() {
            let mut job = job.as_object().cloned().unwrap_or_else(Map::new);
            job.insert("script".to_string(), file.as_str().into());
            all.push((file.clone(), Value::from(job)));
        }
        for (what, job) in all {
            let what = if what.is_empty() {
                text(&job, "run")
            } else {
                &what
            };
            let carried = of_lefthook(source, what, &job, at);
            let carried = carried.map(|hook| match is_parallel {
                true => hook.with("parallel", "true"),
                false => hook,
            });
            found.take(place(what), carried);
        }
    }
    Ok(found)
}

/// The keys of a job that are carried over, or that change nothing about what runs.
const OF_JOBS: &[&str] = &[
    "name",
    "run",
    "glob",
    "exclude",
    "env",
    "root",
    "script",
    "runner",
    "tags",
    "priority",
    "fail_text",
];

fn of_lefthook(source: &ImportSource<'_>, what: &str, job: &Value, at: &GitHook) -> Found {
    let keys = job.as_object().into_iter().flatten().map(|(key, _)| key);
    if let Some(key) = keys
        .into_iter()
        .find(|key| !OF_JOBS.contains(&key.as_str()))
    {
        return Err(format!("`{key}` has no key in hookrun"));
    }
    let has_message = at.arguments.first() == Some(&Argument::MessageFile);
    let message = if has_message { " \"$1\"" } else { "" };
    let (runner, script) = (text(job, "runner"), text(job, "script"));
    let script = format!("{runner} .lefthook/{}/{script}{message}", at.name);
    let run = if job["script"].is_string() {
        script.trim_start()
    } else {
        text(job, "run")
    };
    if run.trim().is_empty() {
        return Err(NOTHING.to_string());
    }
    let takes_files = run.contains("{staged_files}");
    let filled = run
        .replace("{staged_files}", "\"$@\"")
        .replace("{all_files}", "$(git ls-files)");
    let mut line = anchored(&filled)?;
    if line.contains("files}") || line.contains("{0}") || line.contains("{1}") {
        return Err(format!("`{run}` has placeholders that only lefthook fills"));
    }
    for (name, value) in job["env"].as_object().into_iter().flatten() {
        line = format!(
            "export {name}={}; {line}",
            shell_words::quote(&plain_text(value))
        );
    }
    let quoted = |form: &&str| shell_words::quote(form).into_owned();
    let mut paths: Vec<String> = texts(&job["glob"]).iter().map(quoted).collect();
    let not = |form: &&str| shell_words::quote(&format!(":(exclude){form}")).into_owned();
    paths.extend(texts(&job["exclude"]).iter().map(not));
    let select = if paths.is_empty() {
        String::new()
    } else {
        format!(" -- {}", paths.join(" "))
    };
    let root = job["root"]
        .as_str()
        .map(|root| format!("cd {} && ", shell_words::quote(root)));
    if root.is_some() && (takes_files || !select.is_empty()) {
        return Err("`root` changes the names of its files".to_string());
    }
    line = format!("{}{line}", root.unwrap_or_default());
    if takes_files || !select.is_empty() {
        if at.name != "pre-commit" {
            return Err(format!(
                "which files {} is about, only lefthook tells",
                at.name
            ));
        }
        return Ok(entry(source, what, at, &over_staged(&select, &line)));
    }
    Ok(entry(source, what, at, &with_arguments(at, &line)?))
}

/// `.husky/`: each file is a hook of git of its name.
pub(super) fn husky(source: &ImportSource<'_>) -> Result<SourceHooks> {
    let mut found = SourceHooks::default();
    let name = source
        .file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let Some(at) = git::find(&name).filter(|at| at.name == name) else {
        return Ok(found);
    };
    let script = source.text()?;
    let run =
        format!("PATH=\"node_modules/.bin:$PATH\" sh -e \"$HOOKRUN_PROJECT_DIR\"/.husky/{name}");
    let carried = match script {
        script if script.contains("while read") => {
            Err("it reads what git writes to it, and hooks of hookrun get JSON".to_string())
        }
        script => with_arguments(at, &script).map(|_| match at.arguments.first() {
            Some(Argument::MessageFile) => format!("{MESSAGE_FILE}{run} \"$1\""),
            _ => run,
        }),
    };
    let carried = carried.map(|line| entry(source, &name, at, &line));
    found.take(source.shown(), carried);
    Ok(found)
}
