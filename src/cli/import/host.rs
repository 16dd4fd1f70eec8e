//! Hooks in the settings of agent hosts, by the rows of their files.

use std::time::Duration;

use crate::engine::complaint::Complaint;
use crate::hosts::settings::{HostFile, HostHookKey, MatcherSubject};
use crate::hosts::{self, Host, HostEvent};
use regex::Regex;
use serde_json::Value;

use super::{ImportSource, ImportedHook, ImportedHooks, anchored};
use crate::cli::exit::Result;
use crate::cli::files::toml_text;
use crate::cli::host::command::runs_hookrun;

/// A hook in a file, and what is around it.
struct HostHook<'a> {
    source: &'a ImportSource<'a>,
    file: &'static HostFile,
    dialect: &'static Host,
    row: &'static HostEvent,
    hook: &'a Value,
    /// Of the group.
    matcher: &'a Value,
    is_in_order: bool,
}

pub(super) fn read(source: &ImportSource<'_>) -> Result<ImportedHooks> {
    let file = hosts::settings_file(source.tool);
    let dialect = hosts::find(source.tool);
    let (Some(file), Some(dialect)) = (file, dialect) else {
        return Err(Complaint::new("no such host"));
    };
    let value = source.value()?;
    let mut imported = ImportedHooks::default();
    let place = format!("{}, hooks", source.shown());
    let Some(events) = value["hooks"].as_object() else {
        if !value["hooks"].is_null() {
            let why = "it is not a table of events".to_string();
            imported.left.push((place, why));
        }
        return Ok(imported);
    };
    for (event, items) in events {
        if file.beside.contains(&event.as_str()) {
            continue;
        }
        let place = format!("{place}.{event}");
        let Some(row) = dialect.events.iter().find(|row| row.name == *event) else {
            let why = "hookrun does not know this event".to_string();
            imported.left.push((place, why));
            continue;
        };
        for (number, item) in imported.list(&place, items).iter().enumerate() {
            let place = format!("{place}[{number}]");
            let is_group = file.groups(event);
            let hooks = if is_group {
                imported.list(&format!("{place}.hooks"), &item["hooks"])
            } else {
                std::slice::from_ref(item)
            };
            let is_in_order = !file.runs_at_once || item["sequential"] == true;
            for (inner, hook) in hooks.iter().enumerate() {
                let hook = HostHook {
                    source,
                    file,
                    dialect,
                    row,
                    hook,
                    matcher: &item["matcher"],
                    is_in_order,
                };
                let inner = if is_group {
                    format!(".hooks[{inner}]")
                } else {
                    String::new()
                };
                imported.take(format!("{place}{inner}"), hook.entry());
            }
        }
    }
    Ok(imported)
}

impl HostHook<'_> {
    fn get(&self, says: HostHookKey) -> Option<&Value> {
        let rows = self.file.hook.iter().filter(|row| row.says == says);
        rows.map(|row| &self.hook[row.name])
            .find(|value| !value.is_null())
    }

    fn text(&self, says: HostHookKey) -> Option<&str> {
        self.get(says).and_then(Value::as_str)
    }

    fn entry(&self) -> std::result::Result<ImportedHook, String> {
        let host = self.dialect.name;
        let kind = self.text(HostHookKey::Kind);
        if let Some(kind) = kind.filter(|kind| *kind != "command") {
            return Err(format!("a hook of the kind `{kind}` is not run by hookrun"));
        }
        if self
            .get(HostHookKey::Async)
            .is_some_and(|value| *value == true)
        {
            return Err("it runs in the background, but hookrun waits for hooks".to_string());
        }
        if let Some(condition) = self.text(HostHookKey::Condition) {
            return Err(format!(
                "`if: {condition}` has no key; write it as `match.runs`"
            ));
        }
        for says in [HostHookKey::Variables, HostHookKey::Folder] {
            if self.get(says).is_some() {
                return Err("its variables or folder have no key in hookrun".to_string());
            }
        }
        let (command, is_shell) = self.command()?;
        if runs_hookrun(&command, self.source.env) {
            return Err("it runs hookrun itself".to_string());
        }
        let mut entry = ImportedHook::new(host, &program_of(&command), self.row.name, &command);
        if is_shell {
            entry = entry.with("shell", "true");
        }
        entry = entry
            .with("dialect", toml_text(host))
            .with("timeout", self.timeout()?);
        if !self.is_in_order {
            entry = entry.with("parallel", "true");
        }
        let closed = self.get(HostHookKey::Closed);
        let words = closed.map(ToString::to_string);
        if words.is_some_and(|words| words == self.file.closed) {
            entry = entry.with("on_failure", "\"block\"");
        }
        if let Some(form) = self.matching()? {
            entry = entry.with("match", form);
        }
        if let Some(about) = self
            .text(HostHookKey::About)
            .or(self.text(HostHookKey::Name))
            && !about.trim().is_empty()
            && !about.contains('\n')
        {
            entry = entry.with("description", toml_text(about));
        }
        Ok(entry)
    }

    /// The command line, and whether a shell runs it.
    fn command(&self) -> std::result::Result<(String, bool), String> {
        let program = self.text(HostHookKey::Program);
        let line = program
            .or_else(|| self.text(HostHookKey::OwnCommand))
            .or_else(|| self.text(HostHookKey::Command))
            .filter(|line| !line.trim().is_empty())
            .ok_or("it has no command")?;
        let arguments = self.get(HostHookKey::Arguments);
        if program.is_some() || arguments.is_some() {
            let mut words = vec![line];
            if let Some(arguments) = arguments {
                let texts = arguments.as_array().into_iter().flatten();
                words.extend(texts.filter_map(Value::as_str));
                if words.len() != 1 + arguments.as_array().map_or(1, Vec::len) {
                    return Err("its arguments are not a list of strings".to_string());
                }
            }
            return Ok((shell_words::join(words), false));
        }
        let shell = self.text(HostHookKey::Shell);
        match shell.unwrap_or(self.file.shell()) {
            "sh" => Ok((anchored(line)?, true)),
            "bash" => {
                let line = anchored(line)?;
                Ok((format!("bash -c {}", shell_words::quote(&line)), false))
            }
            other => Err(format!("a shell `{other}` runs it")),
        }
    }

    fn timeout(&self) -> std::result::Result<String, String> {
        let time = match self.get(HostHookKey::Time) {
            None => HostFile::usual_time(self.row),
            Some(value) => {
                let number = value.as_f64().filter(|number| *number > 0.0);
                let per_second = f64::from(self.file.per_second);
                let time = number.and_then(|it| Duration::try_from_secs_f64(it / per_second).ok());
                let time = time.filter(|time| time.as_millis() > 0);
                time.ok_or_else(|| format!("its timeout is {value}"))?
            }
        };
        Ok(toml_text(
            &format!("{}ms", time.as_millis()).replace("000ms", "s"),
        ))
    }

    /// The table `match`, if it does not take every event.
    fn matching(&self) -> std::result::Result<Option<String>, String> {
        if !self.matcher.is_null() && !self.matcher.is_string() {
            return Err(format!("its matcher is {}", self.matcher));
        }
        let own = self
            .text(HostHookKey::Matcher)
            .or(self.matcher.as_str())
            .unwrap_or_default();
        let subject = self.file.subject(self.row.name);
        let Some(subject) = subject.filter(|_| !matches!(own, "" | "*")) else {
            return Ok(None);
        };
        let rule = self.file.matching;
        let whole = own
            .strip_prefix('^')
            .and_then(|own| own.strip_suffix('$'))
            .unwrap_or(own);
        let whole = whole
            .strip_prefix('(')
            .and_then(|it| it.strip_suffix(')'))
            .unwrap_or(whole);
        let names: Vec<&str> = whole.split(['|', ',']).map(str::trim).collect();
        let tools = self.dialect.tools.rows;
        let are_tools = names
            .iter()
            .all(|name| tools.iter().any(|tool| tool.name == *name));
        if subject == MatcherSubject::Tool && are_tools {
            let names = toml_text(&names.join("|"));
            return Ok(Some(format!("{{ tool = {names} }}")));
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
            own.to_string()
        };
        if Regex::new(&form).is_err() {
            return Err(format!(
                "the matcher `{own}` is not a valid regular expression"
            ));
        }
        let form = toml_text(&form);
        Ok(Some(match subject {
            MatcherSubject::Tool => format!("{{ where = {{ toolName = {form} }} }}"),
            MatcherSubject::Command => format!("{{ command = {form} }}"),
            MatcherSubject::Fact(key) => format!("{{ where = {{ {key} = {form} }} }}"),
        }))
    }
}

/// What people would call a command line: the first file that it names, else its program.
fn program_of(line: &str) -> String {
    let words = shell_words::split(line).unwrap_or_default();
    let words: Vec<&str> = match words.as_slice() {
        [shell, flag, inner] if shell == "bash" && flag == "-c" => inner.split(' ').collect(),
        words => words.iter().map(String::as_str).collect(),
    };
    let named = words
        .iter()
        .find(|word| word.contains('/'))
        .or(words.first());
    let name = named.and_then(|word| std::path::Path::new(word).file_stem());
    name.unwrap_or_default().to_string_lossy().into_owned()
}
