//! Imports pre-commit's hooks, key by key. A local hook without an environment runs its command;
//! any other runs by `pre-commit run`, because it needs pre-commit's environment.

use serde_json::Value;

use super::git::{Entry, Filter, entry, entry_of_git, items, others, text, texts};
use super::{ImportSource, ImportedHook, ImportedHooks};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::hosts::git::{self, Argument, Changes, GitHook};

/// Top-level keys that are imported, or do not affect a run.
const OF_FILE: &[&str] = &[
    "repos",
    "default_stages",
    "files",
    "exclude",
    "ci",
    "default_install_hook_types",
    "default_language_version",
    "minimum_pre_commit_version",
];

/// Keys of a hook that are imported, or do not affect a run.
const OF_HOOK: &[&str] = &[
    "id",
    "name",
    "alias",
    "entry",
    "language",
    "args",
    "files",
    "exclude",
    "types",
    "types_or",
    "pass_filenames",
    "always_run",
    "require_serial",
    "stages",
    "description",
    "verbose",
    "language_version",
    "minimum_pre_commit_version",
];

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
    let passes_files = !is_false(&hook["pass_filenames"]);
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
    if !passes_files {
        let made = entry(source, id, at, command);
        let made = if is_always_run {
            made
        } else {
            filter.put_into(made)
        };
        return Ok(Some(made));
    }
    let made = entry(source, id, at, &format!("{command} {{files}}"));
    let mut made = filter.put_into(made).with("fixes", toml_text("block"));
    if hook["require_serial"] == true {
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
    filter.types = types.iter().map(|name| type_called(name)).collect();
    Some(filter)
}

/// The globs of a key: a regular expression, or a table of prek's with `glob`.
fn globs_at(table: &Value, key: &str) -> Option<Vec<String>> {
    let pattern = &table[key];
    if !pattern.is_object() {
        return globs_of(text(table, key));
    }
    let globs = texts(&pattern["glob"]).into_iter().map(str::to_string);
    others(pattern, &["glob"])
        .is_empty()
        .then(|| globs.collect())
}

fn type_called(name: &str) -> String {
    let other = match name {
        "javascript" | "jsx" => "js",
        "tsx" => "ts",
        "c++" => "cpp",
        "c#" => "csharp",
        same => same,
    };
    other.to_string()
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
            let why = "at this stage, pre-commit selects files based on git's input";
            return Err(format!("{why}: leave {} to pre-commit", at.name));
        }
    };
    Ok(made.with("parallel", "false"))
}

/// Also accepts YAML 1.1's `no`, as Python does.
fn is_false(value: &Value) -> bool {
    *value == false || ["no", "off"].contains(&value.as_str().unwrap_or_default())
}

/// The globs that match the same paths as `pattern`; empty for any path, `None` if impossible.
fn globs_of(pattern: &str) -> Option<Vec<String>> {
    if pattern.is_empty() {
        return Some(Vec::new());
    }
    let without_start = pattern.strip_prefix('^');
    let rest = without_start.unwrap_or(pattern);
    let without_end = rest.strip_suffix('$');
    let rest = without_end.unwrap_or(rest);
    let mut globs = Vec::new();
    for way in alternatives(rest)? {
        let mut glob = glob_of(&way)?;
        if without_start.is_none() && !glob.starts_with("**/") {
            // Not anchored at the start: at or within a name.
            let before = if glob.starts_with('/') { "**" } else { "**/*" };
            glob.insert_str(0, before);
        }
        if without_end.is_some() {
            globs.push(glob);
        } else if glob.ends_with('/') {
            globs.push(format!("{glob}**"));
        } else {
            // Not anchored at the end: within the last name or a folder's.
            globs.push(format!("{glob}*"));
            globs.push(format!("{glob}*/**"));
        }
    }
    Some(globs)
}

/// The text with each alternative of its group.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let Some((before, after)) = text.split_once('(') else {
        return Some(vec![text.to_string()]);
    };
    let (inside, after) = after.split_once(')')?;
    let inside = inside.strip_prefix("?:").unwrap_or(inside);
    let ways = inside.split('|').map(|way| format!("{before}{way}{after}"));
    Some(ways.collect())
}

fn glob_of(text: &str) -> Option<String> {
    let mut glob = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '.' if chars.next_if_eq(&'*').is_some() => {
                let is_folder = glob.is_empty() || glob.ends_with('/');
                let is_last_name = !chars.clone().any(|c| c == '/');
                if !is_folder || !is_last_name {
                    return None;
                }
                glob.push_str("**/*");
            }
            '\\' => glob.push(chars.next().filter(char::is_ascii_punctuation)?),
            _ if "[]{}()*+?|^$.!".contains(c) => return None,
            _ => glob.push(c),
        }
    }
    Some(glob)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_globs_can_say() {
        for (pattern, globs) in [
            ("", ""),
            (r"\.py$", "**/*.py"),
            (r".*\.py$", "**/*.py"),
            (r"^src/", "src/**"),
            (r"^src/.*\.py$", "src/**/*.py"),
            (r"\.(js|ts)$", "**/*.js **/*.ts"),
            (r"^(docs|web)/", "docs/** web/**"),
            (r"^setup\.cfg$", "setup.cfg"),
            (r"/migrations/", "**/migrations/**"),
            (r"vendor", "**/*vendor* **/*vendor*/**"),
        ] {
            let globs: Vec<&str> = globs.split_whitespace().collect();
            assert_eq!(globs_of(pattern).unwrap(), globs, "{pattern}");
        }
        for pattern in [
            r"^src/.*/a$",
            r"(?i)\.py$",
            r"a\b",
            r"(",
            r"[^a]x",
            r"^a.*b$",
            "a|b",
        ] {
            assert_eq!(globs_of(pattern), None, "{pattern}");
        }
    }
}
