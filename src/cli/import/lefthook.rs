//! Imports lefthook's hooks, key by key. Keys without a counterpart are reported on every level.

use serde_json::Value;

use super::git::{Entry, Filter, entry, entry_of_git, items, others, plain_glob, text, texts};
use super::{ImportSource, ImportedHooks, anchored};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::engine::names::words;
use crate::hosts::git::{self, Changes, GitHook};

/// Top-level keys that do not affect a run.
const OF_FILE: &[&str] = words!(
    "assert_lefthook_installed" "colors" "glob_matcher" "min_version" "no_auto_install" "no_tty"
    "output" "source_dir" "templates"
);

const OF_GROUP: &[&str] = words!(
    "parallel" "piped" "commands" "jobs" "scripts" "skip" "only" "exclude" "files" "glob"
);

/// Keys of a job that are imported, or do not affect a run.
const OF_JOB: &[&str] = words!(
    "name" "run" "script" "runner" "args" "glob" "exclude" "file_types" "env" "tags" "priority"
    "fail_text" "stage_fixed" "skip" "only" "timeout" "use_stdin" "root"
);

/// The first job's priority; later jobs count up.
const FIRST: i64 = 100;

struct LefthookJob {
    name: String,
    place: String,
    value: Value,
    is_parallel: bool,
    priority: i64,
}

pub(super) fn read(source: &ImportSource<'_>, imported: &mut ImportedHooks) -> Result<()> {
    let config = source.value()?;
    for (name, table) in config.as_object().into_iter().flatten() {
        let place = format!("{}, {name}", source.shown());
        let Some(at) = git::find(name).filter(|at| at.name == name) else {
            if table["commands"].is_object() || table["jobs"].is_array() {
                imported.leave(place, "it is not a git hook");
            } else if !OF_FILE.contains(&name.as_str()) {
                imported.leave(place, "it has no equivalent in hookrun");
            }
            continue;
        };
        let mut jobs = Vec::new();
        jobs_of(table, &place, FIRST, &mut jobs, imported);
        for job in jobs {
            let taken = of_job(source, &job, &config, at);
            imported.take(job.place, taken);
        }
    }
    Ok(())
}

/// Collects the jobs of a hook or group with inherited settings.
fn jobs_of(
    table: &Value,
    place: &str,
    first: i64,
    jobs: &mut Vec<LefthookJob>,
    imported: &mut ImportedHooks,
) {
    for key in others(table, OF_GROUP) {
        imported.leave(format!("{place}.{key}"), "it has no equivalent in hookrun");
    }
    if table["piped"] == true {
        let why = "add `stop = \"group\"` to the event's table; the imported jobs already run one after the other";
        imported.leave(format!("{place}.piped"), why);
    }
    let mut found: Vec<(String, Value)> = Vec::new();
    for key in ["commands", "scripts"] {
        for (what, job) in table[key].as_object().into_iter().flatten() {
            let mut job = job.clone();
            if key == "scripts" {
                job["script"] = what.as_str().into();
            }
            found.push((what.clone(), job));
        }
    }
    // lefthook sorts commands and scripts by `priority`; jobs keep their order.
    found.sort_by_key(|(_, job)| {
        let priority = job["priority"].as_i64().filter(|it| *it > 0);
        priority.unwrap_or(i64::MAX)
    });
    for job in items(&table["jobs"]) {
        let what = ["name", "run", "script"].map(|key| text(job, key));
        let what = what.into_iter().find(|what| !what.is_empty());
        found.push((what.unwrap_or("job").to_string(), job.clone()));
    }
    let is_parallel = table["parallel"] == true;
    for (number, (name, mut value)) in found.into_iter().enumerate() {
        let place = format!("{place}.{name}");
        let priority = first + if is_parallel { 0 } else { number as i64 };
        for key in ["skip", "only", "exclude", "files", "glob"] {
            if !table[key].is_null() && value[key].is_null() {
                value[key] = table[key].clone();
            }
        }
        if value["group"].is_object() {
            let mut group = value["group"].clone();
            for key in ["skip", "only", "exclude", "root", "glob"] {
                if !value[key].is_null() {
                    group[key] = value[key].clone();
                }
            }
            jobs_of(&group, &place, priority, jobs, imported);
            continue;
        }
        jobs.push(LefthookJob {
            name,
            place,
            value,
            is_parallel,
            priority,
        });
    }
}

fn of_job(source: &ImportSource<'_>, job: &LefthookJob, config: &Value, at: &GitHook) -> Entry {
    let value = &job.value;
    for key in others(value, OF_JOB) {
        if !value[key].is_null() && value[key] != false {
            return Err(format!("`{key}` has no equivalent in hookrun"));
        }
    }
    let root = text(value, "root").trim_start_matches("./");
    let root = root.trim_end_matches(['/', '.']);
    let mut run = command_of(value, at, config)?;
    let placeholder = ["{staged_files}", "{push_files}"]
        .into_iter()
        .find(|name| run.contains(name));
    let takes_files = placeholder.is_some();
    if let Some(placeholder) = placeholder {
        let fits = (placeholder == "{staged_files}") == (at.changes == Changes::Index);
        if !fits || at.changes == Changes::Unknown {
            return Err(format!(
                "`{placeholder}` has no effect in {} hooks",
                at.event
            ));
        }
        run = run.replace(placeholder, "{files}");
    }
    // Before `stage_fixed`, people staged the fixes themselves.
    let mut stages = value["stage_fixed"] == true;
    if let Some((before, "")) = run.trim().rsplit_once("&& git add {files}") {
        run = before.trim_end().to_string();
        stages = true;
    }
    let adds = run.contains("git add");
    let unknown = ["{all_files}", "{files}", "{lefthook_job_name}"];
    let other = unknown.iter().find(|name| run.contains(**name));
    if let Some(other) = other.filter(|name| !(takes_files && **name == "{files}")) {
        return Err(format!("`{other}` has no equivalent in hookrun"));
    }
    let mut made = if takes_files {
        let is_plain = run.matches("{files}").count() == 1
            && !run.contains(|c: char| "|&;<>()$`\\\"'*?[#~=%\n".contains(c))
            && (root.is_empty() || !run.contains("./"));
        let words = if is_plain {
            run
        } else {
            let line = run.replace("'{files}'", "{files}");
            let line = line.replace("\"{files}\"", "{files}");
            let line = anchored(&line.replace("{files}", "\"$@\""), root)?;
            format!("sh -c {} sh {{files}}", shell_words::quote(&line))
        };
        entry(source, &job.name, at, &words)
    } else {
        entry_of_git(source, &job.name, at, &anchored(run.trim(), root)?)
    };
    made = filter_of(value, at)?.put_into(made);
    if let Some(condition) = condition_of(value, "skip")? {
        made = made.with("unless", format!("{{ {condition} }}"));
    }
    if !root.is_empty() {
        made = made.with("cwd", toml_text(root));
    }
    if stages {
        if !takes_files {
            return Err("`stage_fixed` without `{staged_files}`: hookrun stages only files that it passes to the hook".to_string());
        }
        made = made.with("fixes", toml_text("stage"));
    }
    if let Some(time) = value["timeout"].as_str() {
        made = made.with("timeout", toml_text(time));
    }
    if job.priority != FIRST {
        made = made.with("priority", job.priority.to_string());
    }
    if !job.is_parallel || adds {
        made = made.with("parallel", "false");
    }
    Ok(made)
}

/// The command line of a job, with templates and the script's path filled in.
fn command_of(job: &Value, at: &GitHook, config: &Value) -> std::result::Result<String, String> {
    // A script always gets git's arguments, a command only where it names them.
    let program = match job["script"].as_str() {
        Some(script) => {
            let folder = config["source_dir"].as_str().unwrap_or(".lefthook");
            let runner = text(job, "runner");
            format!("{runner} {folder}/{}/{script} {{0}}", at.name)
        }
        None => text(job, "run").to_string(),
    };
    let mut run = format!("{program} {}", text(job, "args"));
    for (name, becomes) in config["templates"].as_object().into_iter().flatten() {
        let becomes = becomes.as_str().unwrap_or_default();
        run = run.replace(&format!("{{{name}}}"), becomes);
    }
    run = run.replace("{0}", "\"$@\"");
    for number in 1..=3 {
        run = run.replace(&format!("{{{number}}}"), &format!("\"${number}\""));
    }
    if run.trim().is_empty() {
        return Err("it has no command".to_string());
    }
    let mut line = String::new();
    for (name, value) in job["env"].as_object().into_iter().flatten() {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_string);
        line.push_str(&format!("export {name}={}; ", shell_words::quote(&text)));
    }
    line.push_str(run.trim());
    Ok(line)
}

/// The files of a job. In lefthook `*` also matches `/`.
fn filter_of(job: &Value, at: &GitHook) -> std::result::Result<Filter, String> {
    let mut filter = Filter::default();
    for glob in texts(&job["glob"]) {
        filter.paths.push(wide(plain_glob(glob)?)?);
    }
    for glob in texts(&job["exclude"]) {
        filter.not.push(wide(plain_glob(glob)?)?);
    }
    let types = texts(&job["file_types"]).into_iter();
    filter.types = types.map(str::to_string).collect();
    filter.condition = condition_of(job, "only")?;
    if !filter.is_empty() && at.changes == Changes::Unknown {
        return Err(format!(
            "its `glob`, `exclude` or `file_types` has no effect: {} has no files",
            at.event
        ));
    }
    Ok(filter)
}

/// The glob with `**` for lefthook's `*`, which also matches `/`.
fn wide(glob: &str) -> std::result::Result<String, String> {
    let (folder, name) = glob.rsplit_once('/').unwrap_or(("**", glob));
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

/// The conditions of `skip` or `only` as keys of `match`; an error for an unsupported one.
fn condition_of(job: &Value, key: &str) -> std::result::Result<Option<String>, String> {
    let mut states = Vec::new();
    let mut branches = Vec::new();
    let single = [job[key].clone()];
    for one in job[key].as_array().map_or(single.as_slice(), Vec::as_slice) {
        match (one.as_str(), one["ref"].as_str()) {
            (Some("merge" | "merge-commit"), _) => states.push("merge".to_string()),
            (Some("rebase"), _) => states.push("rebase".to_string()),
            (None, Some(branch)) => branches.push(branch_pattern(branch)),
            (None, None) if one.is_null() || *one == (key == "only") => {}
            (None, None) if one.is_boolean() => return Err("it is always skipped".to_string()),
            _ => return Err(format!("`{key}: {one}` has no equivalent in hookrun")),
        }
    }
    let (name, values) = match (states.is_empty(), branches.is_empty()) {
        (true, true) => return Ok(None),
        (false, true) => ("state", states),
        (true, false) => ("branch", branches),
        (false, false) => {
            return Err(format!(
                "`{key}` names a state and a branch: write two hooks"
            ));
        }
    };
    let pattern = toml_text(&format!("^({})$", values.join("|")));
    Ok(Some(format!("where = {{ {name} = {pattern} }}")))
}

fn branch_pattern(glob: &str) -> String {
    let mut pattern = String::new();
    for c in glob.chars() {
        match c {
            '*' => pattern.push_str(".*"),
            '?' => pattern.push('.'),
            _ => pattern.push_str(&regex_syntax::escape(&c.to_string())),
        }
    }
    pattern
}
