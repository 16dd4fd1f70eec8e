//! Imports lefthook's commands and jobs with their globs. Whatever else a file has is reported.

use regex::Regex;
use serde_json::Value;

use super::git::{entry, entry_of_git, items, others, plain_glob, text, texts};
use super::{Entry, ImportSource, ImportedHooks, anchored};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::engine::names::words;
use crate::hosts::git::{self, Changes, GitHook};

/// Top-level keys that do not affect a run.
const OF_FILE: &[&str] = words!(
    "assert_lefthook_installed" "colors" "glob_matcher" "min_version" "no_auto_install" "no_tty"
    "output"
);

const OF_HOOK: &[&str] =
    words!("parallel" "commands" "jobs" "skip" "only" "exclude" "files" "glob");

/// Keys of a job that are imported, or do not affect a run.
const OF_JOB: &[&str] =
    words!("name" "run" "glob" "env" "tags" "fail_text" "stage_fixed" "skip" "use_stdin");

/// The first job's priority; later jobs count up.
const FIRST: usize = 100;

const NOT_CONVERTED: &str = "`hookrun import` does not convert it";

pub(super) fn read(source: &ImportSource<'_>, imported: &mut ImportedHooks) -> Result<()> {
    if source.shown().contains("lefthook-local.") {
        // It changes jobs of the other file.
        imported.leave(source.shown(), NOT_CONVERTED);
        return Ok(());
    }
    let config = source.value()?;
    for (name, table) in config.as_object().into_iter().flatten() {
        let place = format!("{}, {name}", source.shown());
        let Some(at) = git::find(name).filter(|at| at.name == name) else {
            if table["commands"].is_object() || table["jobs"].is_array() {
                imported.leave(place, &format!("`{name}` is not a git hook"));
            } else if !OF_FILE.contains(&name.as_str()) {
                imported.leave(place, NOT_CONVERTED);
            }
            continue;
        };
        for key in others(table, OF_HOOK) {
            imported.leave(format!("{place}.{key}"), NOT_CONVERTED);
        }
        for (number, (what, job)) in jobs_of(table).into_iter().enumerate() {
            let mut taken = of_job(source, &what, &job, at);
            if table["parallel"] != true {
                let priority = (FIRST + number).to_string();
                taken = taken.map(|hook| hook.with("parallel", "false").with("priority", priority));
            }
            imported.take(format!("{place}.{what}"), taken);
        }
    }
    Ok(())
}

/// A hook's jobs with their names, each with the keys of the hook that it lacks.
fn jobs_of(table: &Value) -> Vec<(String, Value)> {
    let commands = table["commands"].as_object().into_iter().flatten();
    let mut jobs: Vec<(String, Value)> = commands
        .map(|(what, job)| (what.clone(), job.clone()))
        .collect();
    for job in items(&table["jobs"]) {
        let names = ["name", "run"].map(|key| text(job, key));
        let what = names.into_iter().find(|name| !name.is_empty());
        jobs.push((what.unwrap_or("job").to_string(), job.clone()));
    }
    for (_, job) in &mut jobs {
        for key in ["skip", "only", "exclude", "files", "glob"] {
            if !table[key].is_null() && job[key].is_null() {
                job[key] = table[key].clone();
            }
        }
    }
    jobs
}

fn of_job(source: &ImportSource<'_>, what: &str, job: &Value, at: &GitHook) -> Entry {
    for key in others(job, OF_JOB) {
        if !job[key].is_null() && job[key] != false {
            return Err(format!("`hookrun import` does not convert `{key}`"));
        }
    }
    let mut line = text(job, "run").to_string();
    let files = match at.changes {
        Changes::Index => "{staged_files}",
        Changes::Sent | Changes::Received => "{push_files}",
        Changes::Unknown => "{0}",
    };
    let takes_files = at.changes != Changes::Unknown && line.contains(files);
    for form in [&format!("'{files}'"), &format!("\"{files}\""), files] {
        line = line.replace(form, "\"$@\"");
    }
    for number in (1..=3).filter(|_| !takes_files) {
        line = line.replace(&format!("{{{number}}}"), &format!("\"${number}\""));
    }
    // Other files, or a template.
    let placeholder = Regex::new(r"(?:^|[^$])(\{[\w.-]+\})").expect("it is constant");
    if let Some(other) = placeholder.captures(&line) {
        return Err(format!("`hookrun import` does not convert `{}`", &other[1]));
    }
    if line.trim().is_empty() {
        return Err("this job has no command".to_string());
    }
    if line.contains("git add") {
        return Err("it stages files itself: use `stage_fixed` instead".to_string());
    }
    for (name, value) in job["env"].as_object().into_iter().flatten() {
        let text = value.as_str().map_or(value.to_string(), str::to_string);
        line = format!("export {name}={}; {line}", shell_words::quote(&text));
    }
    let line = anchored(line.trim())?;
    let mut made = if takes_files {
        entry(source, what, at, &line)
            .with("shell", "true")
            .with("files", "true")
    } else {
        entry_of_git(source, what, at, &line)
    };
    let globs = texts(&job["glob"]).into_iter().map(wide);
    made = made.matching("path", &globs.collect::<std::result::Result<Vec<_>, _>>()?);
    if !made.filter.is_empty() && at.changes == Changes::Unknown {
        let event = at.event;
        return Err(format!("its `glob` has no effect: {event} has no files"));
    }
    if !job["skip"].is_null() {
        made = made.with("unless", skipped_in(&job["skip"])?);
    }
    if job["stage_fixed"] == true && !takes_files {
        return Err("`stage_fixed` without `{staged_files}`: hookrun stages only files that it passes to the hook".to_string());
    } else if job["stage_fixed"] == true {
        made = made.with("fixes", toml_text("stage"));
    }
    Ok(made)
}

/// The glob with `**` for lefthook's `*`, which also matches `/`.
fn wide(glob: &str) -> std::result::Result<String, String> {
    let (folder, name) = plain_glob(glob)?.rsplit_once('/').unwrap_or(("**", glob));
    let is_whole = |part: &str| matches!(part, "*" | "**") || !part.contains('*');
    if !folder.split('/').all(is_whole) || name.trim_start_matches('*').contains('*') {
        return Err(format!(
            "in the glob `{glob}`, lefthook's `*` also matches `/`; write `path` by hand"
        ));
    }
    Ok(match folder.ends_with("**") || name.starts_with("**") {
        true => format!("{folder}/{name}"),
        false => format!("{folder}/**/{name}"),
    })
}

/// The states of git in which a job is skipped.
fn skipped_in(skip: &Value) -> std::result::Result<String, String> {
    let one = std::slice::from_ref(skip);
    for state in skip.as_array().map_or(one, Vec::as_slice) {
        if *state != "merge" && *state != "rebase" {
            return Err(format!("`hookrun import` does not convert `skip: {state}`"));
        }
    }
    let pattern = toml_text(&format!("^({})$", texts(skip).join("|")));
    Ok(format!("{{ where = {{ state = {pattern} }} }}"))
}
