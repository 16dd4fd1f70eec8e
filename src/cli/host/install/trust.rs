//! What a person must have accepted before a host runs hookrun, as the host itself keeps it.
//!
//! Sources: the sources of Codex and Gemini CLI, and what Codex CLI 0.169.0 and Gemini CLI 0.61.0
//! did when measured; the documents of openclaw 2026.9.6; the sources of pi 0.73.1 and oh-my-pi
//! 18.3.4.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::files::read_value;
use super::row::{Distrust, HOOKS, TrustQuestion};
use crate::hosts::snake;
use crate::log::report::present;

const ACCEPT: &str = "start `codex` here, and accept the hooks in `/hooks`";

/// openclaw: a plugin by its path, and its access to conversations, both in the user's
/// `openclaw.json`.
pub(crate) fn openclaw(question: &TrustQuestion<'_>) -> Vec<Distrust> {
    let file = question.user.join("openclaw.json");
    let plugins = read_value(&file).unwrap_or_default()["plugins"].take();
    let is_own = |path: &Value| {
        let path = path.as_str().unwrap_or_default();
        let below_home = path.strip_prefix("~/").map(Path::new);
        below_home.map_or(Path::new(path) == question.file, |path| {
            question.file.ends_with(path)
        })
    };
    let own = &plugins["entries"]["hookrun"];
    let wrong = [
        (
            !plugins["load"]["paths"]
                .as_array()
                .is_some_and(|paths| paths.iter().any(is_own)),
            "openclaw does not load the plugin",
            "add its path to `plugins.load.paths`",
        ),
        (
            plugins["enabled"] == false || own["enabled"] == false,
            "openclaw's plugin is switched off",
            "take `\"enabled\": false` out",
        ),
        (
            own["hooks"]["allowConversationAccess"] != true,
            "openclaw keeps prompts and stops from the plugin",
            "set `plugins.entries.hookrun.hooks.allowConversationAccess` to true",
        ),
    ];
    let found = wrong.into_iter().filter(|(is_wrong, ..)| *is_wrong);
    let distrust = |cause: &str, cure| Distrust {
        file: file.clone(),
        cause: cause.into(),
        cure,
    };
    found
        .map(|(_, cause, cure)| distrust(cause, cure))
        .collect()
}

/// pi: the list `extensions` in the settings next to its folder leaves files out by `!PATTERN` and
/// `-PATH`, and takes them in again by `+PATH`. What a flag switches off nobody sees here.
pub(crate) fn pi(question: &TrustQuestion<'_>) -> Vec<Distrust> {
    let Some(folder) = question.file.ancestors().nth(2) else {
        return Vec::new();
    };
    let file = folder.join("settings.json");
    let settings = read_value(&file).unwrap_or_default();
    let whole = question.file.to_string_lossy();
    let below = question
        .file
        .strip_prefix(folder)
        .unwrap_or(question.file)
        .to_string_lossy();
    let name = below.rsplit('/').next().unwrap_or_default();
    let list = settings["extensions"].as_array().into_iter().flatten();
    let entries: Vec<&str> = list.filter_map(Value::as_str).collect();
    let is_it = |path: &str| path.trim_start_matches("./") == below || path == whole;
    let is_like = |pattern: &str| {
        [&*below, name, &*whole]
            .iter()
            .any(|one| fits(pattern, one))
    };
    let find = |sign: char, is_meant: &dyn Fn(&str) -> bool| {
        entries
            .iter()
            .copied()
            .find(|entry| entry.strip_prefix(sign).is_some_and(is_meant))
    };
    // In this order, wherever they are in the list.
    let left_out = find('!', &is_like).filter(|_| find('+', &is_it).is_none());
    let left_out = find('-', &is_it).or(left_out);
    let distrust = |entry: &str| Distrust {
        file: file.clone(),
        cause: format!("`extensions` has `{entry}`: pi does not load hookrun's extension"),
        cure: "take it out",
    };
    left_out.map(distrust).into_iter().collect()
}

/// oh-my-pi: `disabledExtensions` in any of its settings, most of which are YAML.
pub(crate) fn omp(question: &TrustQuestion<'_>) -> Vec<Distrust> {
    let Some(folder) = question.file.ancestors().nth(2) else {
        return Vec::new();
    };
    let names = ["config.yml", "config.yaml", "settings.json"];
    let files = names.into_iter().map(|name| folder.join(name));
    let switched_off = files.filter(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines()
            .any(|line| !line.trim_start().starts_with('#') && line.contains(OMP_NAME))
    });
    let cause = format!(
        "`{OMP_NAME}` is among what is disabled: oh-my-pi does not load hookrun's extension"
    );
    let distrust = |file| Distrust {
        file,
        cause: cause.clone(),
        cure: "take it out",
    };
    switched_off.map(distrust).collect()
}

/// What oh-my-pi calls our extension in `disabledExtensions`.
const OMP_NAME: &str = "extension-module:hookrun";

/// Whether a text is like a pattern in which `*` is any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut left) = text.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for piece in middle.split('*') {
        let Some((_, after)) = left.split_once(piece) else {
            return false;
        };
        left = after;
    }
    left.ends_with(last)
}

/// Codex: a project by its path, and a hook by a sum of what it runs, both in the user's
/// `config.toml`.
pub(crate) fn codex(question: &TrustQuestion<'_>) -> Vec<Distrust> {
    let file = question.user.join("config.toml");
    let config = read_value(&file).unwrap_or_default();
    let distrust = |cause: String, cure| Distrust {
        file: file.clone(),
        cause,
        cure,
    };
    let is_trusted = |project: &Path| {
        let level = |folder: &Path| config["projects"].get(folder.to_str()?)?.get("trust_level");
        project
            .ancestors()
            .find_map(level)
            .is_some_and(|level| level == "trusted")
    };
    let mut found = Vec::new();
    if let Some(project) = question.project
        && !is_trusted(project)
        && !project
            .canonicalize()
            .is_ok_and(|project| is_trusted(&project))
    {
        let cause = "the project is not trusted: Codex reads none of its hooks";
        found.push(distrust(
            cause.to_string(),
            "start `codex` here, and trust the folder",
        ));
    }
    let mut skipped: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (event, place, group, hook) in own_hooks(question) {
        let state = |file: &Path| {
            let key = format!("{}:{}:{place}", file.display(), snake(event));
            config[HOOKS]["state"].get(key)
        };
        let real = || state(&question.file.canonicalize().ok()?);
        let state = state(question.file).or_else(real).unwrap_or(&Value::Null);
        let why = match state["trusted_hash"].as_str() {
            _ if state["enabled"] == false => "is switched off in `/hooks`",
            None => "is untrusted, it was never accepted",
            Some(sum) if sum != codex_sum(event, group, hook) => {
                "is modified, it has changed since it was accepted"
            }
            Some(_) => continue,
        };
        skipped.entry(why).or_default().push(event.to_string());
    }
    for (why, events) in skipped {
        let cause = format!(
            "Codex skips hookrun: its hook {why} ({})",
            events.join(", ")
        );
        found.push(distrust(cause, ACCEPT));
    }
    found
}

/// Every hook of hookrun's: its event, its place as Codex counts, its group and itself.
fn own_hooks<'a>(question: &'a TrustQuestion<'_>) -> Vec<(&'a str, String, &'a Value, &'a Value)> {
    let mut own = Vec::new();
    let events = question.settings[HOOKS].as_object().into_iter().flatten();
    for (event, groups) in events {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (below, hook) in group[HOOKS].as_array().into_iter().flatten().enumerate() {
                if hook["command"].as_str().is_some_and(question.is_own) {
                    own.push((event.as_str(), format!("{at}:{below}"), group, hook));
                }
            }
        }
    }
    own
}

/// The sum by which Codex knows a hook again: of compact JSON with its keys in order, and without
/// the path of the file.
fn codex_sum(event: &str, group: &Value, hook: &Value) -> String {
    let hook = present(json!({
        "async": hook["async"] == true,
        "command": hook["command"],
        "statusMessage": hook["statusMessage"].as_str(),
        "timeout": hook["timeout"].as_u64().unwrap_or(600).max(1),
        "type": "command",
    }));
    let matcher = group["matcher"].as_str();
    let identity =
        present(json!({ "event_name": snake(event), "hooks": [hook], "matcher": matcher }));
    let sum = Sha256::digest(identity.to_string());
    let digits: Vec<String> = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", digits.concat())
}

/// Gemini CLI: a project's folder, or one around it, in the user's `trustedFolders.json`; the
/// nearest one counts.
pub(crate) fn gemini(question: &TrustQuestion<'_>) -> Vec<Distrust> {
    let Some(project) = question.project else {
        return Vec::new();
    };
    let settings = read_value(&question.user.join("settings.json")).unwrap_or_default();
    if settings.pointer("/security/folderTrust/enabled") == Some(&Value::Bool(false)) {
        return Vec::new();
    }
    let file = question.user.join("trustedFolders.json");
    let rules = read_value(&file).unwrap_or_default();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let project = real(project);
    let mut nearest: Option<(usize, bool)> = None;
    for (path, level) in rules.as_object().into_iter().flatten() {
        let path = Path::new(path);
        let is_parent = level == "TRUST_PARENT";
        let folder = real(if is_parent {
            path.parent().unwrap_or(path)
        } else {
            path
        });
        let rank = (folder.as_os_str().len(), level != "DO_NOT_TRUST");
        let is_nearer = nearest.is_none_or(|(length, _)| rank.0 > length);
        let is_as_near = nearest.is_some_and(|(length, _)| rank.0 == length);
        if project.starts_with(&folder) && (is_nearer || (is_as_near && !rank.1)) {
            nearest = Some(rank);
        }
    }
    if nearest.is_some_and(|(_, is_trusted)| is_trusted) {
        return Vec::new();
    }
    let cause = "the folder is not trusted: Gemini CLI runs no hook of the project, with \
                 `--skip-trust` neither";
    let cure =
        "start `gemini` here and trust the folder; in CI set GEMINI_CLI_TRUST_WORKSPACE=true";
    vec![Distrust {
        file,
        cause: cause.to_string(),
        cure,
    }]
}
