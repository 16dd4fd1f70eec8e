//! What one settings file of a host says about hookrun, and what is wrong with it.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::tree::Tree;
use crate::config::{Config, Environment, Problem};
use crate::engine::complaint::Complaint;
use crate::hosts::capability::ServedEvent;
use toml::de::DeTable;

use super::entries::{self, OwnHook};
use crate::cli::args::SettingsScope;
use crate::cli::host::install::document::Document;
use crate::cli::host::install::document::SettingsEntry;
use crate::cli::host::install::files::Target;
use crate::cli::host::install::host::HOOKS;
use crate::cli::host::install::program::{call_of, is_own, runs_hookrun};
use crate::cli::host::install::shim;
use crate::cli::look::validate::{error, warning};
use crate::hosts::Host;
use crate::hosts::settings::HostFile;

/// More seconds than anyone waits for a hook: they were meant as milliseconds.
const TOO_MANY_SECONDS: f64 = 5000.0;

/// A file in which a host may find hooks.
#[derive(Debug)]
pub(super) struct SearchedFile {
    pub(super) path: PathBuf,
    /// What people call it.
    pub(super) place: String,
    /// `None` for a file that `install` never writes.
    pub(super) scope: Option<SettingsScope>,
}

#[derive(Debug)]
pub(super) struct InstalledEntries {
    pub(super) file: SearchedFile,
    pub(super) events: Vec<InstalledEvent>,
    /// What the hooks call, each once.
    pub(super) programs: BTreeSet<String>,
    /// The PATH that the file sets for what the host starts.
    pub(super) search: Option<String>,
}

#[derive(Debug)]
pub(super) struct InstalledEvent {
    pub(super) name: String,
    pub(super) limit: Option<Duration>,
}

impl InstalledEntries {
    pub(super) fn path(&self) -> &Path {
        &self.file.path
    }

    pub(super) fn event(&self, row: &ServedEvent) -> Option<&InstalledEvent> {
        self.events.iter().find(|event| event.name == row.name)
    }
}

/// A host, and the configuration that it should run.
#[derive(Clone, Copy)]
pub(super) struct HostLook<'a> {
    pub(super) host: &'static Host,
    pub(super) config: &'a Config,
    pub(super) env: &'a Environment,
}

impl HostLook<'_> {
    /// The files of the host: the one that `install` writes, then those next to it.
    pub(super) fn files(self, scope: SettingsScope, folder: &Path) -> Vec<SearchedFile> {
        let Some(path) = self.host.path(scope, folder, self.env) else {
            return Vec::new();
        };
        let named = |path: &PathBuf| path.file_name().unwrap_or_default().display().to_string();
        let beside = self
            .host
            .files_beside(scope, &path)
            .into_iter()
            .map(|path| SearchedFile {
                place: format!("`{}` of {} scope", named(&path), scope.name()),
                path,
                scope: None,
            });
        let place = format!("{} scope", scope.name());
        let own = SearchedFile {
            path: path.clone(),
            place,
            scope: Some(scope),
        };
        std::iter::once(own).chain(beside).collect()
    }

    /// Reads all files: what each says about hookrun, and what is wrong with it.
    pub(super) fn read_all(self) -> Vec<(Option<InstalledEntries>, Vec<Problem>)> {
        let files = |scope| self.files(scope, self.config.nearest_folder());
        SettingsScope::ALL
            .into_iter()
            .flat_map(files)
            .map(|file| self.read(file))
            .collect()
    }

    /// Reads a file. Nothing is installed where it is missing or cannot be read.
    pub(super) fn read(self, file: SearchedFile) -> (Option<InstalledEntries>, Vec<Problem>) {
        let is_list = self.host.settings_file().is_some_and(|shape| shape.is_toml);
        let text = match text_of(&file, is_list) {
            Ok(Some(text)) => text,
            Ok(None) => return (None, Vec::new()),
            Err(wrong) => return (None, vec![wrong.in_file(&file.path, None)]),
        };
        if let Some(shape) = self.host.settings_file() {
            return self.read_settings(shape, file, &text);
        }
        let Some(plugin) = shim::read(&text) else {
            return (None, Vec::new());
        };
        let mode = file
            .path
            .metadata()
            .map_or(0, |meta| meta.permissions().mode());
        let is_stuck = text.starts_with("#!") && mode & 0o111 == 0;
        let stuck = is_stuck.then(|| {
            let cause = format!("it is not executable: {} does not run it", self.host.title);
            error(
                &file.path,
                cause,
                format!("`chmod +x {}`", file.path.display()),
            )
        });
        let events = plugin.events.into_iter();
        let event = |(name, limit)| InstalledEvent {
            name,
            limit: Some(limit),
        };
        let events = events.map(event).collect();
        let programs = BTreeSet::from([plugin.program]);
        let installed = InstalledEntries {
            file,
            events,
            programs,
            search: None,
        };
        (Some(installed), stuck.into_iter().collect())
    }
}

/// What is in a file, as JSON for settings but for a TOML file of a list of hooks; `None` where there is
/// none.
fn text_of(file: &SearchedFile, is_list: bool) -> Result<Option<String>, Complaint> {
    let target = Target::read(&file.path).map_err(|Complaint { cause, cure }| {
        let cure = cure.unwrap_or_else(|| "make it a file that may be read".into());
        Complaint::with_cure(cause, cure)
    })?;
    match target.text {
        Some(text) if !is_list && file.path.extension().is_some_and(|ending| ending == "toml") => {
            hooks_of_toml(&text).map(Some)
        }
        text => Ok(text),
    }
}

/// The hooks of a TOML file, as JSON: the lists in its table `hooks`.
fn hooks_of_toml(text: &str) -> Result<String, Complaint> {
    let document = DeTable::parse(text).map_err(|wrong| {
        let cause = format!("does not parse: {}", wrong.message());
        Complaint::with_cure(cause, "correct it; it was not touched")
    })?;
    let mut hooks = Tree::of_toml(&document).to_json()[HOOKS].take();
    match hooks.as_object_mut() {
        Some(events) => events.retain(|_, value| value.is_array()),
        None => hooks = serde_json::json!({}),
    }
    Ok(serde_json::json!({ HOOKS: hooks }).to_string())
}

impl HostLook<'_> {
    fn read_settings(
        self,
        shape: &'static HostFile,
        file: SearchedFile,
        text: &str,
    ) -> (Option<InstalledEntries>, Vec<Problem>) {
        let path = file.path.as_path();
        let document = match Document::read(text, shape) {
            Ok(document) => document,
            Err(wrong) => return (None, vec![wrong.complaint.in_file(path, wrong.at)]),
        };
        let mut problems = self.unread(path, &document);
        let hooks = document.hooks();
        problems.extend(
            hooks
                .iter()
                .filter_map(|hook| self.unit_mistake(shape, path, hook)),
        );
        let idle = hooks
            .iter()
            .filter_map(|hook| entries::never_runs(hook, self.host, path));
        problems.extend(idle);
        let command = |hook: &&SettingsEntry| hook.command.clone().unwrap_or_default();
        let (own, others): (Vec<_>, Vec<_>) = hooks
            .iter()
            .partition(|hook| is_own(&command(hook), self.host, self.env));
        let others: Vec<&SettingsEntry> = others
            .into_iter()
            .filter(|hook| runs_hookrun(&command(hook), self.env))
            .collect();
        let is_asked = !(own.is_empty() && others.is_empty());
        problems.extend(others.into_iter().map(|hook| self.other(path, hook)));
        if !is_asked {
            return (None, problems);
        }
        let calls: Vec<_> = own
            .iter()
            .filter_map(|hook| Some((*hook, call_of(&command(hook), self.host)?)))
            .collect();
        for (hook, call) in &calls {
            let Some(row) = self.host.row(&hook.event) else {
                continue;
            };
            let own = OwnHook {
                hook,
                call,
                row,
                host: self.host,
                shape,
                path,
            };
            problems.extend(own.problems());
        }
        let event = |hook: &&SettingsEntry| InstalledEvent {
            name: hook.event.clone(),
            limit: entries::limit(hook, shape),
        };
        let programs = calls.into_iter().map(|(_, call)| call.program).collect();
        let installed = InstalledEntries {
            events: own.iter().map(event).collect(),
            programs,
            search: document.search(),
            file,
        };
        (Some(installed), problems)
    }

    /// What the host may not take.
    fn unread(self, path: &Path, document: &Document) -> Vec<Problem> {
        let title = self.host.title;
        let dropped = document.dropped().into_iter().map(|wrong| {
            let mut problem = wrong.complaint.in_file(path, wrong.at);
            problem
                .cause
                .push_str(&format!(": {title} reads nothing of the file"));
            problem
        });
        let doubt = document
            .doubt()
            .map(|wrong| wrong.complaint.warning(path, wrong.at));
        let strays = document.strays().into_iter().map(|stray| {
            let cause = format!("{stray}; {title} may not read the file");
            warning(path, cause, "correct it, or take it out")
        });
        dropped.chain(doubt).chain(strays).collect()
    }

    /// A hook that runs hookrun, and that `install` never wrote.
    fn other(self, path: &Path, hook: &SettingsEntry) -> Problem {
        let is_closed = self
            .host
            .row(&hook.event)
            .is_some_and(|row| row.fails_closed);
        let problem = if is_closed { error } else { warning };
        let cause = format!(
            "`{}` of {} runs hookrun, and not as `install` writes it: what it blocks may be \
             allowed, or what it allows blocked",
            hook.command.as_deref().unwrap_or_default(),
            hook.event
        );
        let cure = format!("take it out, then `hookrun install {}`", self.host.name);
        problem(path, cause, cure)
    }

    /// A time that was hardly meant in the unit of the host.
    fn unit_mistake(
        self,
        shape: &'static HostFile,
        path: &Path,
        hook: &SettingsEntry,
    ) -> Option<Problem> {
        let key = shape.timeout();
        let title = self.host.title;
        let written = hook.keys.get(key)?.as_f64()?;
        // Other kinds of hooks may be timed otherwise.
        hook.command.as_ref()?;
        let place = format!("a hook of {} has `\"{key}\": {written}`", hook.event);
        match shape.per_second {
            1000 if written > 0.0 && written < 1000.0 => {
                let cause =
                    format!("{place}, and {title} counts milliseconds: it is ended at once");
                Some(error(
                    path,
                    cause,
                    format!("did you mean {}?", written * 1000.0),
                ))
            }
            1 if written >= TOO_MANY_SECONDS => {
                let cause =
                    format!("{place}, and {title} counts seconds: a hook that hangs holds it up");
                Some(warning(
                    path,
                    cause,
                    format!("did you mean {}?", written / 1000.0),
                ))
            }
            _ => None,
        }
    }
}
