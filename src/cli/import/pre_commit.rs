//! Imports pre-commit's hooks, key by key. A local hook without an environment runs its command;
//! any other runs by `pre-commit run`, because it needs pre-commit's environment.

use regex::Regex;
use serde_json::Value;

use super::git::{Entry, Filter, entry, entry_of_git, items, others, text, texts};
use super::{ImportSource, ImportedHook, ImportedHooks};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::engine::names::words;
use crate::hosts::git::{self, Argument, Changes, GitHook};

/// Top-level keys that are imported, or do not affect a run.
const OF_FILE: &[&str] = words!(
    "repos" "default_stages" "files" "exclude" "ci" "default_install_hook_types"
    "default_language_version" "minimum_pre_commit_version"
);

/// Keys of a hook that are imported, or do not affect a run.
const OF_HOOK: &[&str] = words!(
    "id" "name" "alias" "entry" "language" "args" "files" "exclude" "types" "types_or"
    "pass_filenames" "always_run" "require_serial" "stages" "description" "verbose"
    "language_version" "minimum_pre_commit_version"
);

/// Languages without an environment. The last two are their names since 4.4.
const OF_SYSTEM: &[&str] = &["system", "script", "unsupported", "unsupported_script"];

/// A batch size that puts as many files into one call as possible.
const SERIAL: &str = "1000000";

pub(super) fn read(source: &ImportSource<'_>, imported: &mut ImportedHooks) -> Result<()> {
    let config = source.value()?;
    for key in others(&config, OF_FILE) {
        let why = match key {
            "fail_fast" => "add `stop = \"first\"` to `[event.\"commit.pre\"]`",
            _ => "it has no equivalent in hookrun",
        };
        imported.leave(format!("{}, {key}", source.shown()), why);
    }
    // Without stages a hook runs at every git hook that is installed, as far as its repository allows.
    let mut usual = texts(&config["default_stages"]);
    let installed = texts(&config["default_install_hook_types"]);
    if usual.is_empty() && !installed.is_empty() && !installed.contains(&"pre-commit") {
        usual = installed;
    } else if usual.is_empty() {
        usual = vec!["pre-commit"];
        if installed.len() > 1 {
            let why = "hooks without `stages` are imported for pre-commit only";
            imported.leave(
                format!("{}, default_install_hook_types", source.shown()),
                why,
            );
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
                    hooks.any(|known| known.event == hook.event && known.keys == hook.keys)
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
    let own = match own_command(hook, text(repo, "repo")) {
        Some(command) => of_own(source, config, hook, at, &command)?,
        None => None,
    };
    match own {
        Some(own) if own.problem().is_none() => Ok(own),
        _ => {
            // Only prek has globs and hooks of its own.
            let text = config.to_string();
            let is_for_prek = text.contains("\"glob\":") || text.contains("\"repo\":\"builtin\"");
            let runner = if is_for_prek { "prek" } else { "pre-commit" };
            by_runner(source, runner, hook, at)
        }
    }
}

fn own_command(hook: &Value, repo: &str) -> Option<String> {
    let language = text(hook, "language");
    let needs_more = !others(hook, OF_HOOK).is_empty() || !OF_SYSTEM.contains(&language);
    if repo != "local" || needs_more {
        return None;
    }
    let arguments = shell_words::join(texts(&hook["args"]));
    let mut entry = text(hook, "entry").trim().to_string();
    let is_script = language.ends_with("script") && !entry.starts_with(['.', '/']);
    if is_script {
        entry.insert_str(0, "./");
    }
    Some(format!("{entry} {arguments}").trim_end().to_string())
}

/// The entry of a hook; `None` if only pre-commit can select its files.
fn of_own(
    source: &ImportSource<'_>,
    config: &Value,
    hook: &Value,
    at: &GitHook,
    command: &str,
) -> std::result::Result<Option<ImportedHook>, String> {
    let id = text(hook, "id");
    if command.is_empty() {
        return Err("it has no command".to_string());
    }
    // YAML 1.1, which Python reads, has further words for false.
    let pass_filenames = &hook["pass_filenames"];
    let passes_files =
        *pass_filenames != false && !["no", "off"].contains(&text(hook, "pass_filenames"));
    if at.changes == Changes::Unknown {
        let has_message = at.arguments.first() == Some(&Argument::MessageFile);
        let line = match passes_files && has_message {
            true => format!("{command} \"$1\""),
            false => command.to_string(),
        };
        return Ok(Some(entry_of_git(source, id, at, &line)));
    }
    let is_always_run = hook["always_run"] == true;
    let Some(filter) = filter_of(config, hook).filter(|_| !(passes_files && is_always_run)) else {
        return Ok(None);
    };
    let files = if passes_files { " {files}" } else { "" };
    let mut made = entry(source, id, at, &format!("{command}{files}"));
    if !is_always_run {
        made = filter.put_into(made);
    }
    if passes_files {
        made = made.with("fixes", toml_text("block"));
    }
    if passes_files && hook["require_serial"] == true {
        made = made.with("batch", SERIAL);
    }
    Ok(Some(made))
}

/// A hook's files; `None` if globs and types cannot express the selection.
fn filter_of(config: &Value, hook: &Value) -> Option<Filter> {
    let mut filter = Filter::default();
    let own = globs_at(hook, "files")?;
    let general = globs_at(config, "files")?;
    filter.paths = match (own.is_empty(), general.is_empty()) {
        (_, true) => own,
        (true, false) => general,
        (false, false) => return None,
    };
    for table in [config, hook] {
        filter.not.extend(globs_at(table, "exclude")?);
    }
    // All of `types` and one of `types_or` must match. Every file is a `file`.
    let mut types = texts(&hook["types"]);
    types.retain(|name| *name != "file");
    let either = texts(&hook["types_or"]);
    let types = match (types.as_slice(), either.as_slice()) {
        ([], either) => either,
        ([one], []) => &[*one],
        _ => return None,
    };
    for name in types {
        let same = match *name {
            "javascript" | "jsx" => "js",
            "tsx" => "ts",
            "c++" => "cpp",
            "c#" => "csharp",
            same => same,
        };
        filter.types.push(same.to_string());
    }
    Some(filter)
}

/// The globs of a key: a regular expression, or a table of prek's with `glob`; empty for any path,
/// `None` for another form.
fn globs_at(table: &Value, key: &str) -> Option<Vec<String>> {
    let pattern = &table[key];
    if pattern.is_object() {
        let globs = texts(&pattern["glob"]).into_iter().map(str::to_string);
        return others(pattern, &["glob"])
            .is_empty()
            .then(|| globs.collect());
    }
    match text(table, key) {
        "" => Some(Vec::new()),
        pattern => glob_of(pattern).map(|glob| vec![glob]),
    }
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
        Some(Argument::MessageFile) => entry_of_git(
            source,
            id,
            at,
            &format!("{line} --commit-msg-filename \"$1\""),
        ),
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
