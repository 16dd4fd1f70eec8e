//! Imports pre-commit's hooks, key by key. A local hook without an environment runs its command;
//! any other runs by `pre-commit run`, because it needs pre-commit's environment.

use regex::Regex;
use serde_json::Value;

use super::git::{entry, entry_of_git, items, others, text, texts};
use super::{Entry, ImportSource, ImportedHook, ImportedHooks};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::engine::names::words;
use crate::hosts::git::{self, Argument, Changes, GitHook};

/// Top-level keys that are imported, or do not affect a run.
const OF_FILE: &[&str] = words!(
    "repos" "default_stages" "files" "exclude" "ci" "default_language_version"
    "minimum_pre_commit_version"
);

/// Keys of a hook that runs without pre-commit.
const OF_HOOK: &[&str] = words!(
    "id" "name" "alias" "entry" "language" "args" "files" "exclude" "types" "pass_filenames"
    "always_run" "require_serial" "stages" "description" "verbose" "language_version"
    "minimum_pre_commit_version"
);

/// Languages without an environment. The last two are their names since 4.4.
const OF_SYSTEM: &[&str] = &["system", "script", "unsupported", "unsupported_script"];

pub(super) fn read(source: &ImportSource<'_>, imported: &mut ImportedHooks) -> Result<()> {
    let config = source.value()?;
    for key in others(&config, OF_FILE) {
        let why = match key {
            "default_install_hook_types" => {
                "hooks without `stages` are imported for pre-commit only"
            }
            "fail_fast" => "add `stop = \"first\"` to `[event.\"commit.pre\"]`",
            _ => "this key has no equivalent in hookrun",
        };
        imported.leave(format!("{}, {key}", source.shown()), why);
    }
    // Without stages a hook runs at every git hook that is installed, as far as its repository allows.
    let mut usual = texts(&config["default_stages"]);
    if usual.is_empty() {
        usual = texts(&config["default_install_hook_types"]);
        if usual.is_empty() || usual.contains(&"pre-commit") {
            usual = vec!["pre-commit"];
        }
    }
    for repo in items(&config["repos"]) {
        for hook in items(&repo["hooks"]) {
            let mut stages = texts(&hook["stages"]);
            if stages.is_empty() {
                stages = usual.clone();
            }
            for stage in stages {
                let stage = match stage {
                    "commit" | "push" | "merge-commit" => format!("pre-{stage}"),
                    stage => stage.to_string(),
                };
                let place = format!("{}, {} ({stage})", source.shown(), text(hook, "id"));
                let taken = match git::find(&stage) {
                    Some(at) => of_hook(source, &config, repo, hook, at),
                    None => Err(format!("`{stage}` is not a git hook")),
                };
                // `pre-commit run ID` runs every hook with that id.
                let is_repeated = taken.as_ref().is_ok_and(|hook| {
                    let mut hooks = imported.hooks.iter();
                    hooks.any(|known| known.is_same(hook))
                });
                if !is_repeated {
                    imported.take(place, taken);
                }
            }
        }
    }
    Ok(())
}

fn of_hook(
    source: &ImportSource<'_>,
    config: &Value,
    repo: &Value,
    hook: &Value,
    at: &GitHook,
) -> Entry {
    if let Some(command) = own_command(hook, text(repo, "repo")) {
        if command.is_empty() {
            return Err("this hook has no command".to_string());
        }
        let own = of_own(source, config, hook, at, &command);
        if let Some(own) = own.filter(|own| own.problem().is_none()) {
            return Ok(own);
        }
    }
    // Only prek has globs and hooks of its own.
    let text = config.to_string();
    let is_for_prek = text.contains("\"glob\":") || text.contains("\"repo\":\"builtin\"");
    let runner = if is_for_prek { "prek" } else { "pre-commit" };
    by_runner(source, runner, hook, at)
}

/// The command line of a local hook without an environment.
fn own_command(hook: &Value, repo: &str) -> Option<String> {
    let language = text(hook, "language");
    let needs_more = !others(hook, OF_HOOK).is_empty() || !OF_SYSTEM.contains(&language);
    if repo != "local" || needs_more {
        return None;
    }
    let arguments = shell_words::join(texts(&hook["args"]));
    let entry = text(hook, "entry").trim();
    let is_script = language.ends_with("script") && !entry.starts_with(['.', '/']);
    let folder = if is_script { "./" } else { "" };
    let line = format!("{folder}{entry} {arguments}");
    Some(line.trim_end().to_string())
}

/// The entry of a local hook; `None` if only pre-commit can select its files.
fn of_own(
    source: &ImportSource<'_>,
    config: &Value,
    hook: &Value,
    at: &GitHook,
    command: &str,
) -> Option<ImportedHook> {
    let is_always_run = hook["always_run"] == true;
    if at.changes == Changes::Unknown && !is_always_run {
        return None;
    }
    let passed = &hook["pass_filenames"];
    let passes_files = *passed != false;
    let is_known = passed.is_null() || passed.is_boolean();
    if !is_known || passes_files && is_always_run {
        return None;
    }
    let files = if passes_files { " {files}" } else { "" };
    let mut made = entry(source, text(hook, "id"), at, &format!("{command}{files}"));
    if passes_files {
        made = made.with("fixes", toml_text("block"));
    }
    // As many files as possible in one call.
    if passes_files && hook["require_serial"] == true {
        made = made.with("batch", "1000000");
    }
    if is_always_run {
        return Some(made);
    }
    // A file must match all of them.
    let paths = [globs_at(config, "files")?, globs_at(hook, "files")?].concat();
    let types: Vec<&str> = texts(&hook["types"]);
    if paths.len() > 1 || types.len() > 1 {
        return None;
    }
    let not = [globs_at(config, "exclude")?, globs_at(hook, "exclude")?].concat();
    let types: Vec<String> = types.into_iter().map(str::to_string).collect();
    made = made.matching("path", &paths).matching("not", &not);
    Some(made.matching("type", &types))
}

/// The glob of a key with an expression; empty for any path, `None` for another form.
fn globs_at(table: &Value, key: &str) -> Option<Vec<String>> {
    if table[key].is_null() {
        return Some(Vec::new());
    }
    glob_of(table[key].as_str()?).map(|glob| vec![glob])
}

/// A hook that runs by `pre-commit run`, not in parallel, because each run locks the index.
fn by_runner(source: &ImportSource<'_>, runner: &str, hook: &Value, at: &GitHook) -> Entry {
    let names = ["alias", "id"].map(|key| text(hook, key));
    let id = names.into_iter().find(|name| !name.is_empty());
    let id = id.unwrap_or_default();
    let id_word = shell_words::quote(id);
    let line = format!("{runner} run {id_word} --hook-stage {}", at.name);
    let made = match at.arguments.first() {
        None => entry(source, id, at, &line),
        Some(Argument::MessageFile) => {
            let line = format!("{line} --commit-msg-filename \"$1\"");
            entry_of_git(source, id, at, &line)
        }
        Some(_) => {
            let why = "hookrun cannot pass git's arguments to pre-commit at this stage";
            return Err(format!("{why}; keep this hook in pre-commit"));
        }
    };
    Ok(made.with("parallel", "false"))
}

/// The glob for an expression of a usual form: `\.(js|ts)$`, `^src/`, `^src/.*\.py$` or
/// `^setup\.cfg$`.
fn glob_of(pattern: &str) -> Option<String> {
    const PART: &str = r"[\w-]|\\\.|\([\w-]+(?:\|[\w-]+)*\)";
    let form = format!(r"^(\^?)((?:{PART}|/)*?)((?:\.\*)?)((?:{PART})*)(\$?)$");
    let parts = Regex::new(&form).ok()?.captures(pattern)?;
    let [start, folder, any, name, end] = parts.extract().1;
    let glob = match (start, any, end) {
        ("^", "", "") if folder.ends_with('/') && name.is_empty() => format!("{folder}**"),
        ("^", "", "$") => format!("{folder}{name}"),
        ("^", _, "$") if folder.is_empty() || folder.ends_with('/') => {
            format!("{folder}**/*{name}")
        }
        ("", _, "$") if folder.is_empty() => format!("**/*{name}"),
        _ => return None,
    };
    let glob = glob.replace("\\.", ".").replace('|', ",");
    Some(glob.replace('(', "{").replace(')', "}"))
}
