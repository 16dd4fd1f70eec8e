//! Hooks of git that pre-commit, lefthook and husky run.

use crate::hosts::git::{self, Argument, GitHook};
use serde_json::Value;

use super::{ImportSource, ImportedHook, ImportedHooks, anchored};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;

/// These tools set no limit; hookrun always has one.
const TIMEOUT: &str = "\"10m\"";

/// Puts the file of the commit message where a hook of git has it.
const MESSAGE_FILE: &str = "set -- \"$(hookrun hook field filePath)\"; ";

/// An entry, or the reason why there is none.
type Entry = std::result::Result<ImportedHook, String>;

fn entry(source: &ImportSource<'_>, what: &str, hook: &GitHook, line: &str) -> ImportedHook {
    ImportedHook::new(source.tool, what, hook.event, line)
        .with("shell", "true")
        .with("timeout", TIMEOUT)
}

/// Gives a line the arguments that git gives the hook, if it uses them.
fn with_arguments(hook: &GitHook, line: &str) -> std::result::Result<String, String> {
    if hook.arguments.first() == Some(&Argument::MessageFile) {
        return Ok(format!("{MESSAGE_FILE}{line}"));
    }
    if ["$1", "$@", "$*", "${1"]
        .iter()
        .any(|word| line.contains(word))
    {
        let event = hook.event;
        return Err(format!("it reads arguments, but hooks of {event} get JSON"));
    }
    Ok(line.to_string())
}

fn text<'v>(table: &'v Value, key: &str) -> &'v str {
    table[key].as_str().unwrap_or_default()
}

/// One text, or a list of them.
fn texts(value: &Value) -> Vec<&str> {
    match value.as_array() {
        Some(items) => items.iter().filter_map(Value::as_str).collect(),
        None => value.as_str().into_iter().collect(),
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// YAML of two ages: `no` is false in Python's.
fn is_false(value: &Value) -> bool {
    *value == false || ["no", "off"].contains(&value.as_str().unwrap_or_default())
}

/// `.pre-commit-config.yaml`: a local hook that takes no files runs by itself, and any other by
/// `pre-commit run`, which selects its files.
pub(super) fn pre_commit(source: &ImportSource<'_>) -> Result<ImportedHooks> {
    let config = source.value()?;
    let mut imported = ImportedHooks::default();
    for repo in items(&config["repos"]) {
        for hook in items(&repo["hooks"]) {
            let mut stages = texts(&hook["stages"]);
            if stages.is_empty() {
                stages = texts(&config["default_stages"]);
            }
            if stages.is_empty() {
                stages = vec!["pre-commit"];
            }
            for stage in stages {
                let stage = match stage {
                    "commit" | "push" | "merge-commit" => format!("pre-{stage}"),
                    stage => stage.to_string(),
                };
                let place = format!("{}, {} at {stage}", source.shown(), text(hook, "id"));
                let taken = match git::find(&stage) {
                    Some(at) => of_pre_commit(source, repo, hook, at),
                    None => Err(format!("`{stage}` is no hook of git")),
                };
                imported.take(place, taken);
            }
        }
    }
    Ok(imported)
}

fn of_pre_commit(source: &ImportSource<'_>, repo: &Value, hook: &Value, at: &GitHook) -> Entry {
    let id = text(hook, "id");
    let language = text(hook, "language");
    let takes_files = !is_false(&hook["pass_filenames"])
        || ["files", "exclude", "types", "types_or", "exclude_types"]
            .iter()
            .any(|key| !hook[key].is_null());
    if text(repo, "repo") == "local" && language == "system" && !takes_files {
        let arguments = shell_words::join(texts(&hook["args"]));
        let line = format!("{} {arguments}", text(hook, "entry"));
        if line.trim().is_empty() {
            return Err("it has no command".to_string());
        }
        let line = anchored(line.trim_end())?;
        return Ok(entry(source, id, at, &with_arguments(at, &line)?));
    }
    let stage = at.name;
    let line = format!(
        "pre-commit run {} --hook-stage {stage}",
        shell_words::quote(id)
    );
    match at.arguments.first() {
        None => Ok(entry(source, id, at, &line)),
        Some(Argument::MessageFile) => {
            let line = format!("{MESSAGE_FILE}{line} --commit-msg-filename \"$1\"");
            Ok(entry(source, id, at, &line))
        }
        Some(_) => Err(format!("pre-commit wants arguments of {stage}, not JSON")),
    }
}

/// `lefthook.yml`: its commands, jobs and scripts, by the hooks of git that they are for.
pub(super) fn lefthook(source: &ImportSource<'_>) -> Result<ImportedHooks> {
    let config = source.value()?;
    let mut imported = ImportedHooks::default();
    for (name, table) in config.as_object().into_iter().flatten() {
        let place = format!("{}, {name}", source.shown());
        let Some(at) = git::find(name).filter(|at| at.name == name) else {
            if ["extends", "remotes"].contains(&name.as_str()) || table["commands"].is_object() {
                let why = "it is not a git hook".to_string();
                imported.left.push((place, why));
            }
            continue;
        };
        let mut jobs: Vec<(String, Value)> = Vec::new();
        for (what, job) in table["commands"].as_object().into_iter().flatten() {
            jobs.push((what.clone(), job.clone()));
        }
        for job in items(&table["jobs"]) {
            let what = [text(job, "name"), text(job, "run"), text(job, "script")];
            let what = what.into_iter().find(|what| !what.is_empty());
            jobs.push((what.unwrap_or_default().to_string(), job.clone()));
        }
        for (file, job) in table["scripts"].as_object().into_iter().flatten() {
            let mut job = job.as_object().cloned().unwrap_or_default();
            job.insert("script".to_string(), file.as_str().into());
            jobs.push((file.clone(), Value::from(job)));
        }
        for (what, job) in jobs {
            let mut taken = of_lefthook(source, &what, &job, at);
            if table["parallel"] == true {
                taken = taken.map(|hook| hook.with("parallel", "true"));
            }
            imported.take(format!("{place}.{what}"), taken);
        }
    }
    Ok(imported)
}

/// The keys of a job that are carried over, or that change nothing about what runs.
const OF_JOBS: &[&str] = &[
    "name",
    "run",
    "glob",
    "script",
    "runner",
    "tags",
    "priority",
    "fail_text",
];

fn of_lefthook(source: &ImportSource<'_>, what: &str, job: &Value, at: &GitHook) -> Entry {
    for (key, _) in job.as_object().into_iter().flatten() {
        if !OF_JOBS.contains(&key.as_str()) {
            return Err(format!("`{key}` has no key in hookrun"));
        }
    }
    let run = if job["script"].is_string() {
        let file = format!(".lefthook/{}/{}", at.name, text(job, "script"));
        let has_message = at.arguments.first() == Some(&Argument::MessageFile);
        let message = if has_message { " \"$1\"" } else { "" };
        format!("{} {file}{message}", text(job, "runner"))
    } else {
        text(job, "run").to_string()
    };
    if run.trim().is_empty() {
        return Err("it has no command".to_string());
    }
    if run.contains("files}") || run.contains("{0}") || run.contains("{1}") {
        return Err(format!(
            "`{run}` has placeholders that only lefthook replaces"
        ));
    }
    let line = with_arguments(at, &anchored(run.trim())?)?;
    let hook = entry(source, what, at, &line);
    let globs = texts(&job["glob"]);
    if globs.is_empty() {
        return Ok(hook);
    }
    if at.name != "pre-commit" || globs.iter().any(|glob| glob.contains('/')) {
        return Err("its `glob` means other files in hookrun".to_string());
    }
    let globs: Vec<String> = globs.into_iter().map(toml_text).collect();
    Ok(hook.with("match", format!("{{ path = [{}] }}", globs.join(", "))))
}

/// `.husky/`: each file is a hook of git of its name.
pub(super) fn husky(source: &ImportSource<'_>) -> Result<ImportedHooks> {
    let mut imported = ImportedHooks::default();
    let name = source.file.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let Some(at) = git::find(&name).filter(|at| at.name == name) else {
        return Ok(imported);
    };
    let run =
        format!("PATH=\"node_modules/.bin:$PATH\" sh -e \"$HOOKRUN_PROJECT_DIR\"/.husky/{name}");
    let script = source.text()?;
    let taken = if script.contains("while read") {
        Err("it reads git's input, but hookrun's hooks get JSON".to_string())
    } else if at.arguments.first() == Some(&Argument::MessageFile) {
        Ok(format!("{MESSAGE_FILE}{run} \"$1\""))
    } else {
        with_arguments(at, &script).map(|_| run)
    };
    imported.take(
        source.shown(),
        taken.map(|line| entry(source, &name, at, &line)),
    );
    Ok(imported)
}
