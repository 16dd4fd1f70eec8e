//! Hooks in the settings of agent hosts, by the rows of their files.

use std::time::Duration;

use crate::engine::complaint::Complaint;
use crate::hosts::settings::{HostFile, HostHookKey, MatcherSubject};
use crate::hosts::{self, Host, HostEvent};
use regex::Regex;
use serde_json::Value;

use super::source::{FoundHook, ImportSource, SourceHooks, anchored};
use crate::cli::exit::Result;
use crate::cli::host::install::program::runs_hookrun;
use crate::cli::write::files::toml_text;

/// A hook in a file, and what is around it.
struct ImportedHook<'a> {
    source: &'a ImportSource<'a>,
    file: &'static HostFile,
    dialect: &'static Host,
    row: &'static HostEvent,
    hook: &'a Value,
    /// Of the group.
    matcher: &'a Value,
    is_in_order: bool,
}

pub(super) fn read(source: &ImportSource<'_>) -> Result<SourceHooks> {
    let (file, dialect) = (hosts::settings_file(source.tool), hosts::find(source.tool));
    let (Some(file), Some(dialect)) = (file, dialect) else {
        return Err(Complaint::new("no such host"));
    };
    let value = source.value()?;
    let mut found = SourceHooks::default();
    let place = format!("{}, hooks", source.shown());
    let Some(events) = value["hooks"].as_object() else {
        if value["hooks"].is_null() {
            return Ok(found);
        }
        found
            .left
            .push((place, "it is no table of events".to_string()));
        return Ok(found);
    };
    for (event, items) in events
        .iter()
        .filter(|(event, _)| !file.beside.contains(&event.as_str()))
    {
        let place = format!("{place}.{event}");
        let Some(row) = dialect.events.iter().find(|row| row.name == *event) else {
            let why = "hookrun knows no such event of this host";
            found.left.push((place, why.to_string()));
            continue;
        };
        for (number, item) in found.list(&place, items).iter().enumerate() {
            let place = format!("{place}[{number}]");
            let hooks = match file.groups(event) {
                true => found.list(&format!("{place}.hooks"), &item["hooks"]),
                false => std::slice::from_ref(item),
            };
            let is_in_order = !file.runs_at_once || item["sequential"] == true;
            for (inner, hook) in hooks.iter().enumerate() {
                let inner = if file.groups(event) {
                    format!(".hooks[{inner}]")
                } else {
                    String::new()
                };
                let place = format!("{place}{inner}");
                let matcher = &item["matcher"];
                let at = ImportedHook {
                    source,
                    file,
                    dialect,
                    row,
                    hook,
                    matcher,
                    is_in_order,
                };
                found.take(place, at.entry());
            }
        }
    }
    Ok(found)
}

impl ImportedHook<'_> {
    fn get(&self, says: HostHookKey) -> Option<&Value> {
        let rows = self.file.hook.iter().filter(|row| row.says == says);
        rows.map(|row| &self.hook[row.name])
            .find(|value| !value.is_null())
    }

    fn text(&self, says: HostHookKey) -> Option<&str> {
        self.get(says).and_then(Value::as_str)
    }

    fn entry(&self) -> std::result::Result<FoundHook, String> {
        let host = self.dialect.name;
        let kind = self.text(HostHookKey::Kind);
        if let Some(kind) = kind.filter(|kind| *kind != "command") {
            return Err(format!("a hook of the kind `{kind}` is not run by hookrun"));
        }
        if self
            .get(HostHookKey::Async)
            .is_some_and(|value| *value == true)
        {
            return Err("it is not waited for, and hookrun waits for what decides".to_string());
        }
        if let Some(condition) = self.text(HostHookKey::Condition) {
            return Err(format!(
                "`if: {condition}` has no key; write it as `match.runs`"
            ));
        }
        let (command, is_shell) = self.command()?;
        if runs_hookrun(&command, self.source.env) {
            return Err("it runs hookrun itself".to_string());
        }
        let mut entry = FoundHook::new(host, &program_of(&command), self.row.name, &command);
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
        if closed.is_some_and(|value| value.to_string() == self.file.closed) {
            entry = entry.with("on_failure", "\"block\"");
        }
        if let Some(form) = self.matching()? {
            entry = entry.with("match", form);
        }
        let about = self
            .text(HostHookKey::About)
            .or(self.text(HostHookKey::Name));
        Ok(
            match about.filter(|about| !about.trim().is_empty() && !about.contains('\n')) {
                Some(about) => entry.with("description", toml_text(about)),
                None => entry,
            },
        )
    }

    /// What is run, and whether a shell runs it.
    fn command(&self) -> std::result::Result<(String, bool), String> {
        let program = self.text(HostHookKey::Program);
        let line = program.or_else(|| self.text(HostHookKey::OwnCommand));
        let line = line.or_else(|| self.text(HostHookKey::Command));
        let line = line
            .filter(|line| !line.trim().is_empty())
            .ok_or("it has no command")?;
        let words: Option<Vec<&str>> = match self.get(HostHookKey::Arguments) {
            Some(words) => words
                .as_array()
                .and_then(|all| all.iter().map(Value::as_str).collect()),
            None => program.map(|_| Vec::new()),
        };
        let own = self
            .text(HostHookKey::Shell)
            .or(Some(self.file.shell.program()));
        let (mut line, mut is_shell) = match (words, own) {
            (Some(words), _) => (shell_words::join(std::iter::once(line).chain(words)), false),
            (None, Some("sh")) => (anchored(line)?, true),
            (None, Some("bash")) => (
                format!("bash -c {}", shell_words::quote(&anchored(line)?)),
                false,
            ),
            (None, other) => {
                return Err(format!("a shell `{}` runs it", other.unwrap_or_default()));
            }
        };
        let variables = self.get(HostHookKey::Variables).and_then(Value::as_object);
        for (name, value) in variables.into_iter().flatten() {
            let value = value
                .as_str()
                .ok_or_else(|| format!("`{name}` is no text"))?;
            line = format!("{name}={} {line}", shell_words::quote(value));
            // A variable goes before a program; a list of commands has several.
            is_shell = match is_shell {
                true => return Err("it sets variables for a line of commands".to_string()),
                false => true,
            };
        }
        if let Some(folder) = self.text(HostHookKey::Folder) {
            (line, is_shell) = (format!("cd {} && {line}", shell_words::quote(folder)), true);
        }
        Ok((line, is_shell))
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
        let is_of_list = |c: char| c.is_ascii_alphanumeric() || "_|".contains(c);
        let whole = own
            .strip_prefix('^')
            .and_then(|own| own.strip_suffix('$'))
            .unwrap_or(own);
        let whole = whole
            .strip_prefix('(')
            .and_then(|it| it.strip_suffix(')'))
            .unwrap_or(whole);
        let names: Vec<&str> = whole.split(['|', ',']).map(str::trim).collect();
        let is_tool = |name: &&str| {
            self.dialect
                .tools
                .rows
                .iter()
                .any(|tool| tool.name == *name)
        };
        if subject == MatcherSubject::Tool && names.iter().all(is_tool) {
            return Ok(Some(format!(
                "{{ tool = {} }}",
                toml_text(&names.join("|"))
            )));
        }
        let is_list = rule
            .list
            .is_some_and(|more| own.chars().all(|c| is_of_list(c) || more.contains(c)));
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
                "the matcher `{own}` is no regular expression of hookrun"
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
