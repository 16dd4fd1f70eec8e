//! Finds hookrun's hooks in a host's files, and compares them with the configured hooks, for
//! `doctor`, `list` and `uninstall`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Map, Value};

use super::command::{InstalledCommand, NAME, read_plugin, runs_hookrun};
use super::document::Document;
use super::files::{Target, read_value};
use crate::cli::args::SettingsScope;
use crate::config::{Config, Environment, Problem};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Schedule, catalog};
use crate::engine::harmless::plain;
use crate::engine::hook::{Hook, Matcher};
use crate::hosts::settings::{HostFile, HostForm, HostHookKey};
use crate::hosts::{self, Host, HostEvent, Wait, installable};

/// The timeout that hosts are given, if they allow it. hookrun's budget is shorter by a margin.
const WAIT: Duration = Duration::from_secs(600);

impl Host {
    /// Its settings file, if hookrun is installed into it.
    pub(crate) fn settings_file(&self) -> Option<&'static HostFile> {
        match self.install.form {
            HostForm::Settings => hosts::settings_file(self.name),
            HostForm::Nothing | HostForm::Plugin(_) | HostForm::Scripts(_) => None,
        }
    }

    pub(crate) fn rows(&self) -> Vec<&'static HostEvent> {
        let mut rows: Vec<&HostEvent> = self.served_events().iter().collect();
        rows.retain(|row| !self.install.but.contains(&row.name));
        rows
    }

    pub(crate) fn row(&self, name: &str) -> Option<&'static HostEvent> {
        self.rows().into_iter().find(|row| row.name == name)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct HostSite<'a> {
    pub(crate) host: &'static Host,
    pub(crate) config: &'a Config,
    pub(crate) env: &'a Environment,
}

impl HostSite<'_> {
    /// The settings that disable hookrun, with their files. The first file decides, a project's before
    /// a user's.
    pub(crate) fn switches_off(self) -> Vec<(PathBuf, Complaint)> {
        let Some(shape) = self.host.settings_file() else {
            return Vec::new();
        };
        let mut files = self.files();
        files.sort_by_key(|file| {
            let is_user = file.scope == SettingsScope::User;
            let is_shared = file.scope == SettingsScope::Project && !file.is_beside;
            (is_user, is_shared, !file.is_beside)
        });
        let mut values: Vec<(PathBuf, Value)> = Vec::new();
        for file in files {
            values.extend(read_value(&file.path).map(|value| (file.path, value)));
        }
        let mut switches = Vec::new();
        for (path, disables) in shape.off {
            let at = path.join(".");
            let pointer = format!("/{}", path.join("/"));
            let mut files = values.iter();
            let decides = files.find_map(|(file, whole)| Some((file, whole.pointer(&pointer)?)));
            if let Some((file, value)) = decides
                && value == disables
            {
                let cause = format!("`{at}` is {value}, so hookrun does not run");
                let cure = format!("remove `{at}`");
                switches.push((file.clone(), Complaint::with_cure(cause, cure)));
            }
        }
        for path in shape.disabled {
            let at = path.join(".");
            let pointer = format!("/{}", path.join("/"));
            for (file, whole) in &values {
                let names = whole.pointer(&pointer).and_then(Value::as_array);
                if names.is_some_and(|names| names.iter().any(|name| name == NAME)) {
                    let cause = format!("`{at}` lists `{NAME}`, so hookrun does not run");
                    let cure = format!("remove `{NAME}` from this list");
                    switches.push((file.clone(), Complaint::with_cure(cause, cure)));
                }
            }
        }
        switches
    }
}

#[derive(Debug, Clone)]
pub(crate) struct HookFile {
    pub(crate) path: PathBuf,
    pub(crate) scope: SettingsScope,
    /// Whether `install` writes another file of this scope beside this one.
    pub(crate) is_beside: bool,
}

impl HookFile {
    pub(crate) fn place(&self) -> String {
        let scope = self.scope.name();
        if self.is_beside {
            let name = self.path.file_name().unwrap_or_default().display();
            return format!("`{name}` in {scope} scope");
        }
        format!("{scope} scope")
    }

    /// Whether the file exists and mentions hookrun.
    pub(crate) fn may_run_hookrun(&self) -> bool {
        // Reading a pipe would block.
        self.path.is_file()
            && fs::read(&self.path)
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(NAME))
    }
}

#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) file: HookFile,
    pub(crate) text: String,
    pub(crate) hooks: Vec<InstalledHook>,
    /// Other hooks that run hookrun, not written by `install`: event and command.
    pub(crate) others: Vec<(String, String)>,
    pub(crate) dropped: Option<Box<Problem>>,
}

/// A hook written by `install`.
#[derive(Debug)]
pub(crate) struct InstalledHook {
    pub(crate) event: String,
    pub(crate) command: InstalledCommand,
    pub(crate) limit: Option<Duration>,
    /// All keys in the settings; empty in a plugin.
    pub(crate) keys: Map<String, Value>,
    pub(crate) matcher: Option<String>,
}

impl Installation {
    pub(crate) fn hook(&self, row: &HostEvent) -> Option<&InstalledHook> {
        self.hooks.iter().find(|hook| hook.event == row.name)
    }
}

impl HostSite<'_> {
    /// The host's files: for each scope the one that `install` writes, then others beside it.
    pub(crate) fn files(self) -> Vec<HookFile> {
        let mut files = Vec::new();
        for scope in SettingsScope::value_variants() {
            let project = self.config.nearest_folder();
            let Some(path) = self.host.path(*scope, project, self.env) else {
                continue;
            };
            let own = HookFile {
                path,
                scope: *scope,
                is_beside: false,
            };
            files.push(own.clone());
            if *scope != SettingsScope::Local {
                files.extend(self.host.install.beside.iter().map(|name| HookFile {
                    path: own.path.with_file_name(name),
                    is_beside: true,
                    ..own
                }));
            }
        }
        files
    }

    pub(crate) fn installed(self) -> Vec<Installation> {
        let read = self.files().into_iter().map(|file| self.read(file));
        read.filter_map(|read| read.ok().flatten()).collect()
    }

    /// Reads a file; `None` if it does not run hookrun.
    pub(crate) fn read(self, file: HookFile) -> Result<Option<Installation>, Box<Problem>> {
        let target =
            Target::read(&file.path).map_err(|wrong| Box::new(wrong.in_file(&file.path, None)))?;
        let Some(text) = target.text else {
            return Ok(None);
        };
        let Some(shape) = self.host.settings_file() else {
            return Ok(self.plugin(file, text));
        };
        if !shape.is_toml && file.path.extension().is_some_and(|ending| ending == "toml") {
            return Ok(None);
        }
        let document = Document::read(&text, shape, &file.path)?;
        let mut hooks = Vec::new();
        let mut others = Vec::new();
        let arguments = shape.key(HostHookKey::Arguments);
        for (event, handler) in document.handlers() {
            let mut keys = document.keys(&handler);
            let own = document.command(&handler).unwrap_or_default();
            let line = document.command_line(&handler);
            if own != line {
                arguments.and_then(|key| keys.remove(key));
            }
            match InstalledCommand::read(&line, self.host, self.env) {
                Some(command) if own == line || arguments.is_some() => hooks.push(InstalledHook {
                    command,
                    limit: limit(&keys, shape),
                    matcher: document.matcher(&event, &handler),
                    event,
                    keys,
                }),
                _ if runs_hookrun(&line, self.env) => others.push((event, line)),
                _ => {}
            }
        }
        if hooks.is_empty() && others.is_empty() {
            return Ok(None);
        }
        Ok(Some(Installation {
            file,
            hooks,
            others,
            dropped: document.dropped(),
            text,
        }))
    }

    fn plugin(self, file: HookFile, text: String) -> Option<Installation> {
        let (launch, events) = read_plugin(&text)?;
        let hooks = events.into_iter().map(|(event, limit)| InstalledHook {
            event,
            command: InstalledCommand {
                launch: launch.clone(),
                budget: None,
                is_guarded: true,
            },
            limit: Some(limit),
            keys: Map::new(),
            matcher: None,
        });
        Some(Installation {
            file,
            text,
            hooks: hooks.collect(),
            others: Vec::new(),
            dropped: None,
        })
    }
}

/// How long the host waits, if the hook says so.
fn limit(keys: &Map<String, Value>, shape: &HostFile) -> Option<Duration> {
    let written = keys.get(shape.key(HostHookKey::Time)?)?.as_f64()?;
    Duration::try_from_secs_f64(written / f64::from(shape.per_second)).ok()
}

/// Whether the user has the host, or the project its file.
pub(crate) fn is_here(host: &Host, config: &Config, env: &Environment) -> bool {
    let path = host.path(SettingsScope::Project, config.nearest_folder(), env);
    host.is_installed(env) || path.is_some_and(|path| path.exists())
}

/// Lines about events of new hooks for which an installed host does not run hookrun.
pub(crate) fn missing_events(config: &Config, env: &Environment) -> Vec<String> {
    let wanted = HooksByEvent::of(&config.hooks);
    let mut lines = Vec::new();
    for host in installable() {
        let installed = HostSite { host, config, env }.installed();
        let Some(first) = installed.first() else {
            continue;
        };
        let mut rows = wanted.rows(host);
        rows.retain(|row| installed.iter().all(|one| one.hook(row).is_none()));
        let mut events: Vec<&str> = rows.iter().map(|row| row.event).collect();
        events.sort_unstable();
        events.dedup();
        if !events.is_empty() {
            let title = host.title;
            let events = events.join(", ");
            let again = install_again(host, first.file.scope);
            lines.push(format!(
                "{title} does not send {events} to hookrun: run {again}"
            ));
        }
    }
    lines
}

pub(crate) fn install_again(host: &Host, scope: SettingsScope) -> String {
    if scope == host.usual_scope() {
        return format!("`hookrun install {}`", host.name);
    }
    format!("`hookrun install {} --scope {}`", host.name, scope.name())
}

impl HostEvent {
    /// The timeout to set in the host.
    pub(crate) fn timeout(&self) -> Duration {
        let longest = self.wait.and_then(|wait| wait.longest);
        longest.map_or(WAIT, |longest| longest.min(WAIT))
    }

    /// The matching budget, if it differs from the default.
    pub(crate) fn budget(&self) -> Option<Duration> {
        let timeout = self.timeout();
        let differs = self.wait.is_some_and(|wait| wait.usual != timeout);
        differs.then(|| Wait::budget(timeout))
    }

    /// Whether the shell line blocks if hookrun fails.
    pub(crate) fn is_guarded(&self) -> bool {
        self.fails_closed() && self.takes_status()
    }
}

#[derive(Debug, Default)]
pub(crate) struct HooksByEvent {
    events: BTreeMap<String, EventHooks>,
}

#[derive(Debug, Default)]
pub(crate) struct EventHooks {
    hooks: Vec<String>,
    matchers: Vec<Matcher>,
    pub(crate) longest: Duration,
}

/// More hooks of one event are not named.
const MOST_NAMED: usize = 8;

impl EventHooks {
    pub(crate) fn names(&self) -> String {
        if self.hooks.len() > MOST_NAMED {
            return format!("{} hooks", self.hooks.len());
        }
        let names = self.hooks.iter().map(|name| format!("`{}`", plain(name)));
        names.collect::<Vec<_>>().join(", ")
    }
}

impl HooksByEvent {
    pub(crate) fn of<'a>(hooks: impl IntoIterator<Item = &'a Hook>) -> HooksByEvent {
        let mut events: BTreeMap<String, EventHooks> = BTreeMap::new();
        for hook in hooks {
            if !hook.is_on() {
                continue;
            }
            let bound = events.entry(hook.event.clone()).or_default();
            bound.hooks.push(hook.name.clone());
            bound.matchers.push(hook.matcher.clone());
            let spec = catalog::find(&hook.event);
            if spec.is_some_and(|spec| spec.schedule != Schedule::Detached) {
                bound.longest = bound.longest.saturating_add(hook.usual_timeout());
            }
        }
        HooksByEvent { events }
    }

    pub(crate) fn bound(&self, event: &str) -> Option<&EventHooks> {
        self.events.get(event)
    }

    /// The rows of `host` that a hook needs.
    pub(crate) fn rows(&self, host: &Host) -> Vec<&'static HostEvent> {
        let mut rows = host.rows();
        rows.retain(|row| self.wants(row));
        rows
    }

    fn wants(&self, row: &HostEvent) -> bool {
        let Some(bound) = self.events.get(row.event) else {
            return false;
        };
        row.gather.is_none_or(|gather| {
            let mut matchers = bound.matchers.iter();
            matchers.any(|one| one.takes_tool(&[gather.tool]))
        })
    }

    /// Missing features that hooks need: an event, or one that hooks can block.
    pub(crate) fn lacks(&self, host: &Host) -> Vec<String> {
        let mut lacks = Vec::new();
        for (event, bound) in &self.events {
            let mut rows = host.rows();
            rows.retain(|row| row.event == event);
            let names = bound.names();
            if rows.is_empty() {
                if installable().any(|host| host.rows().iter().any(|row| row.event == event)) {
                    let title = host.title;
                    lacks.push(format!(
                        "{title} does not send {event}, so {names} cannot run there"
                    ));
                }
                continue;
            }
            let may = catalog::find(event).is_some_and(|spec| spec.blocks);
            if may && rows.iter().all(|row| !row.blocks) {
                let what = format!("{} only reports {event}", host.title);
                lacks.push(format!("{what}, so {names} cannot block there"));
            }
        }
        lacks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_events_that_the_catalog_and_its_dialect_have() {
        for host in installable() {
            assert!(!host.rows().is_empty(), "{}", host.name);
            for row in host.rows() {
                let known = catalog::find(row.name).map(|spec| spec.name.as_ref());
                assert_eq!(known, Some(row.event), "{}: {}", host.name, row.name);
            }
            for name in host.install.but {
                let mut events = host.events.iter();
                assert!(events.any(|row| row.name == *name), "{}: {name}", host.name);
            }
        }
    }
}
