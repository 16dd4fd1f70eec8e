//! Hooks in the settings of agents, as `--settings` reads them.

use std::path::Path;

use crate::config::Severity;
use crate::config::settings::hooks_in;
use crate::engine::complaint::Complaint;
use crate::engine::hook::{Background, Handler, Hook};
use crate::hosts::find;
use crate::hosts::rules::WantedEvents;
use crate::hosts::settings::MatcherSubject;
use regex::Regex;
use serde_json::Value;

use super::{Entry, ImportSource, ImportedHook, ImportedHooks, anchored};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::cli::host::command::runs_hookrun;

use crate::cli::streams;
use crate::lab::report::style::counted;

pub(super) fn read(source: &ImportSource<'_>, imported: &mut ImportedHooks) -> Result<()> {
    if find(source.tool).is_some_and(|host| host.settings.is_none()) {
        read_specs(source, &source.value()?, imported);
        return Ok(());
    }
    let text = source.text()?;
    let (hooks, mut problems) = hooks_in(&text, source.file, source.env, source.tool);
    problems.retain(|problem| problem.severity != Severity::Note);
    let mut severities = problems.iter().map(|problem| problem.severity);
    if hooks.is_empty() && severities.any(|severity| severity == Severity::Error) {
        streams::problems(&problems, source.paths);
        let cause = format!("no hook in `{}` can be read", source.shown());
        return Err(Complaint::with_cure(cause, "correct the file"));
    }
    for (hook, wanted) in hooks {
        let place = format!("{}, {}", source.shown(), hook.name);
        imported.take(place, entry(source, &hook, &wanted));
    }
    imported.problems.extend(problems);
    let title = find(source.tool).map_or(source.tool, |host| host.title);
    // The problems say why a file does not parse.
    let value = source.value().unwrap_or_default();
    for key in ["permissions.deny", "permissions.ask"] {
        let rules = value.pointer(&format!("/{}", key.replace('.', "/")));
        let count = rules.and_then(Value::as_array).map_or(0, Vec::len);
        if count > 0 {
            let what = format!("{}, {key}", source.shown());
            let rules = counted(count, "rule");
            imported.leave(what, &format!("{title} still applies the {rules} there"));
        }
    }
    Ok(())
}

/// Reads specs in JSON, lists by event at the top of a file or under `hooks`.
fn read_specs(source: &ImportSource<'_>, value: &Value, imported: &mut ImportedHooks) {
    let events = value.get("hooks").unwrap_or(value);
    for (event, specs) in events.as_object().into_iter().flatten() {
        for spec in specs.as_array().into_iter().flatten() {
            let name = spec["name"].as_str().unwrap_or("hook");
            let place = format!("{}, {name}", source.shown());
            imported.take(place, of_spec(source.tool, event, name, spec));
        }
    }
}

fn of_spec(host: &str, event: &str, name: &str, spec: &Value) -> Entry {
    let kind = spec["type"].as_str().unwrap_or("command");
    if kind != "command" {
        return Err(format!("only {host} can run a spec of type `{kind}`"));
    }
    let Some(command) = spec["command"].as_str() else {
        return Err("it has no command".to_string());
    };
    if find(host).is_none_or(|host| host.called(event).is_empty()) {
        return Err(format!("{host} has no event `{event}`"));
    }
    // The host starts it with `/bin/sh -c`.
    let mut entry = ImportedHook::new(host, name, event, &anchored(command)?)
        .with("shell", "true")
        .with("dialect", toml_text(host));
    if let Some(milliseconds) = spec["timeoutMs"].as_u64() {
        entry = entry.with("timeout", format!("\"{milliseconds}ms\""));
    }
    Ok(entry)
}

fn entry(source: &ImportSource<'_>, hook: &Hook, wanted: &WantedEvents) -> Entry {
    if let Some(why) = &hook.idle {
        return Err(format!("this hook does not run: {why}"));
    }
    if hook.background == Background::Detach {
        return Err("this hook runs in the background, but hookrun waits for hooks".to_string());
    }
    if let Some(condition) = &wanted.condition {
        return Err(format!(
            "`if: {condition}` cannot be imported; write it as `match.runs`"
        ));
    }
    if !hook.variables.is_empty() {
        return Err("the hook's environment variables cannot be imported".to_string());
    }
    if hook.folder.is_some() {
        return Err("the hook's working directory cannot be imported".to_string());
    }
    let Handler::Words { words, .. } = &hook.handler else {
        return Err("it has no command".to_string());
    };
    let plain = shell_words::join(words);
    let (line, command, is_shell) = match words.as_slice() {
        [shell, flag, line] if flag == "-c" => match shell.as_str() {
            "sh" => (line, anchored(line)?, true),
            "bash" => {
                let inner = shell_words::quote(&anchored(line)?).into_owned();
                (line, format!("bash -c {inner}"), false)
            }
            _ => {
                return Err(format!(
                    "this hook runs in the shell `{shell}`, which `hookrun import` does not support"
                ));
            }
        },
        _ => (&plain, plain.clone(), false),
    };
    if runs_hookrun(&command, source.env) {
        return Err("this hook already runs hookrun".to_string());
    }
    let host = wanted.dialect.name;
    let mut entry = ImportedHook::new(host, &program_of(line), wanted.event, &command)
        .with("dialect", toml_text(host));
    if is_shell {
        entry = entry.with("shell", "true");
    }
    if let Some(timeout) = hook.limits.timeout {
        let timeout = format!("{}ms", timeout.as_millis()).replace("000ms", "s");
        entry = entry.with("timeout", toml_text(&timeout));
    }
    if hook.parallel == Some(true) {
        entry = entry.with("parallel", "true");
    }
    if let Some(effect) = hook.on_failure {
        entry = entry.with("on_failure", format!("\"{}\"", effect.name()));
    }
    if let Some(about) = &hook.description {
        entry = entry.with("description", toml_text(about));
    }
    entry.filter.extend(filter(wanted)?);
    Ok(entry)
}

/// The key of `match`; `None` if the hook matches every event.
fn filter(wanted: &WantedEvents) -> std::result::Result<Option<String>, String> {
    let Some((rule, subject, own)) = &wanted.matcher else {
        return Ok(None);
    };
    if matches!(own.as_str(), "" | "*") {
        return Ok(None);
    }
    let inner = own.strip_prefix('^').and_then(|own| own.strip_suffix('$'));
    let inner = inner.unwrap_or(own);
    let bare = inner.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    let names: Vec<&str> = bare
        .unwrap_or(inner)
        .split(['|', ','])
        .map(str::trim)
        .collect();
    let tools = wanted.dialect.tools;
    let mut are_tools = names
        .iter()
        .map(|name| tools.iter().any(|tool| tool.name == *name));
    if *subject == MatcherSubject::Tool && are_tools.all(|is_tool| is_tool) {
        return Ok(Some(format!("tool = {}", toml_text(&names.join("|")))));
    }
    let is_list = rule.list.is_some_and(|more| {
        own.chars()
            .all(|c| c.is_ascii_alphanumeric() || "_|".contains(c) || more.contains(c))
    });
    let form = if rule.is_plain && matches!(subject, MatcherSubject::Fact(_)) {
        format!("^{}$", regex::escape(own))
    } else if is_list {
        let names: Vec<String> = names.iter().map(|name| regex::escape(name)).collect();
        format!("^({})$", names.join("|"))
    } else if rule.is_anchored {
        format!("^(?:{own})$")
    } else {
        own.clone()
    };
    if Regex::new(&form).is_err() {
        return Err(format!(
            "the matcher `{own}` is not a valid regular expression"
        ));
    }
    let form = toml_text(&form);
    Ok(Some(match subject {
        MatcherSubject::Tool => format!("where = {{ toolName = {form} }}"),
        MatcherSubject::Command => format!("command = {form}"),
        MatcherSubject::Fact(key) => format!("where = {{ {key} = {form} }}"),
    }))
}

/// A name for a command line: the first file in it, else its program.
fn program_of(line: &str) -> String {
    let words = shell_words::split(line).unwrap_or_default();
    let named = words.iter().find(|word| word.contains('/'));
    let name = named
        .or(words.first())
        .and_then(|word| Path::new(word).file_stem());
    name.unwrap_or_default().to_string_lossy().into_owned()
}
