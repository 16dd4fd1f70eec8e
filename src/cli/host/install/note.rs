//! The hooks in a host's files as `install` left them, and the scripts that they name: malware
//! writes itself there, so that it starts with every session.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::Document;
use super::files::{InstallRecord, read_value};
use super::row::{InstallHost, NAME};
use crate::cli::args::SettingsScope;
use crate::config::trust::{FileList, FileMark, files_named};
use crate::config::{Environment, Problem};
use crate::engine::complaint::Complaint;
use crate::engine::harmless::plain;
use crate::engine::hook::Handler;
use crate::hosts::folders;

/// A hook in a file of a host, hookrun's or another, at one moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct NotedHook {
    file: PathBuf,
    /// The host's name for the event.
    event: String,
    command: String,
    /// All its keys, and the matcher of its group.
    entry: Value,
    /// The scripts that it names, by their paths below `/`.
    scripts: Vec<FileMark>,
}

impl InstallHost {
    /// The other files with hooks that it reads in the folder of `path`, its file of this scope.
    pub(crate) fn files_beside(&self, scope: SettingsScope, path: &Path) -> Vec<PathBuf> {
        let is_read = |is_of_user: bool| is_of_user || scope == SettingsScope::Project;
        let beside = self.beside.iter().filter(|one| is_read(one.is_of_user));
        beside.map(|one| path.with_file_name(one.file)).collect()
    }

    /// The hooks in `path`, its file of this scope, and in those beside it; with a project's also
    /// those of the user, which run in it too. `None` where a file cannot be read, which is reported
    /// elsewhere. A plugin is one hook.
    pub(crate) fn hooks_now(
        &self,
        scope: SettingsScope,
        path: &Path,
        env: &Environment,
    ) -> Option<Vec<NotedHook>> {
        let Some(shape) = self.settings() else {
            let (file, command) = (path.to_path_buf(), path.display().to_string());
            let (entry, scripts) = (Value::Null, vec![mark(path)]);
            return Some(vec![NotedHook {
                file,
                event: "plugin".into(),
                command,
                entry,
                scripts,
            }]);
        };
        let of_user = (scope == SettingsScope::Project).then_some(SettingsScope::User);
        let of_user = of_user.and_then(|user| Some((user, self.path(user, path, env)?)));
        let own = [(scope, path.to_path_buf())].into_iter().chain(of_user);
        let files = own.flat_map(|(scope, path)| {
            let beside = self.files_beside(scope, &path);
            let folders = Rc::new(ScriptFolders::of(self, scope, &path, env));
            std::iter::once(path)
                .chain(beside)
                .map(move |file| (file, Rc::clone(&folders)))
        });
        let (mut noted, table) = (Vec::new(), shape.table());
        for (file, folders) in files.filter(|(file, _)| file.exists()) {
            let mut value = read_value(&file)?;
            let Some(hooks) = value.get_mut(table) else {
                continue;
            };
            if let Some(events) = hooks.as_object_mut() {
                events.retain(|_, list| list.is_array());
            }
            let document = Document::of_hooks(hooks, shape).ok()?;
            noted.extend(document.hooks().into_iter().map(|hook| {
                let lines = hook.command_lines();
                let scripts = folders.scripts(&lines);
                let entry = json!({ "matcher": hook.matcher, "keys": hook.keys });
                let command = lines
                    .into_iter()
                    .next()
                    .unwrap_or_else(|| entry.to_string());
                NotedHook {
                    file: file.clone(),
                    event: hook.event,
                    command,
                    entry,
                    scripts,
                }
            }));
        }
        Some(noted)
    }

    /// What is not as the record of `path` notes it; nothing where nothing was noted.
    pub(crate) fn changed_hooks(
        &self,
        scope: SettingsScope,
        path: &Path,
        record: &InstallRecord,
        env: &Environment,
    ) -> Vec<Problem> {
        let noted = record
            .kept_hooks()
            .and_then(|note| serde_json::from_str(&note).ok());
        let noted: Option<Vec<NotedHook>> = noted;
        let Some((noted, now)) = noted.zip(self.hooks_now(scope, path, env)) else {
            return Vec::new();
        };
        let mut changes = Vec::new();
        for hook in &now {
            let alike = || noted.iter().filter(|old| old.is_like(hook));
            match alike().find(|old| old.entry == hook.entry) {
                Some(old) => changes.extend(hook.changed_scripts(old)),
                None if alike().next().is_some() => changes.push((hook, hook.shown(), CHANGED)),
                None => changes.push((hook, hook.shown(), "is new")),
            }
        }
        let gone = noted
            .iter()
            .filter(|old| !now.iter().any(|hook| hook.is_like(old)));
        changes.extend(gone.map(|old| (old, old.shown(), GONE)));
        let install = format!("`hookrun install {} --scope {}`", self.name, scope.name());
        let cure = format!("look at it; once all is as you want it, {install} notes it anew");
        let problem = |(hook, what, how): (&NotedHook, String, &str)| {
            let cause = format!("{what} {how} since `hookrun install` noted it");
            Complaint::with_cure(cause, &*cure).warning(&hook.file, None)
        };
        changes.into_iter().map(problem).collect()
    }
}

const CHANGED: &str = "has changed";
const GONE: &str = "is gone";

/// How much of a command is shown, in characters.
const LONGEST_SHOWN: usize = 200;

impl NotedHook {
    fn is_like(&self, other: &NotedHook) -> bool {
        let key = |hook: &NotedHook| (hook.file.clone(), hook.event.clone(), hook.command.clone());
        key(self) == key(other)
    }

    fn shown(&self) -> String {
        let begin: String = self.command.chars().take(LONGEST_SHOWN).collect();
        let rest = if begin.len() < self.command.len() {
            "…"
        } else {
            ""
        };
        plain(&format!("`{begin}{rest}` of {}", self.event))
    }

    /// Scripts that are not as they were when `old` was noted, and how.
    fn changed_scripts(&self, old: &NotedHook) -> Vec<(&NotedHook, String, &'static str)> {
        let changed = self
            .scripts
            .iter()
            .filter(|mark| !old.scripts.contains(mark));
        let how = |mark: &FileMark| {
            if mark.content == "missing" {
                GONE
            } else {
                CHANGED
            }
        };
        let is_left_out = |mark: &&FileMark| self.scripts.iter().all(|now| now.path != mark.path);
        let gone = old
            .scripts
            .iter()
            .filter(is_left_out)
            .map(|mark| (mark, GONE));
        let all = changed.map(|mark| (mark, how(mark))).chain(gone);
        let what =
            |mark: &FileMark| format!("`/{}`, named by {},", plain(&mark.path), self.shown());
        all.map(|(mark, how)| (self, what(mark), how)).collect()
    }
}

/// Where the words of commands lead.
struct ScriptFolders {
    /// That of the project, or for a user's settings that of the file, the same for every project.
    base: PathBuf,
    home: PathBuf,
    /// What a shell replaces, and by what.
    values: Vec<(String, String)>,
}

impl ScriptFolders {
    fn of(host: &InstallHost, scope: SettingsScope, path: &Path, env: &Environment) -> Self {
        let is_project = scope == SettingsScope::Project;
        let depth = if is_project {
            Path::new(host.project).components().count()
        } else {
            1
        };
        let base = path.ancestors().nth(depth).unwrap_or(path);
        let home = env.home.as_deref().unwrap_or(base);
        let projects = folders::variables()
            .filter(|_| is_project)
            .map(|name| (name, base));
        let moved = env
            .host_folders
            .iter()
            .map(|(name, folder)| (*name, folder.as_path()));
        let mut values = vec![("~/".to_string(), format!("{}/", home.display()))];
        for (name, folder) in projects.chain(moved).chain([("HOME", home)]) {
            let folder = folder.display().to_string();
            values.push((format!("${{{name}}}"), folder.clone()));
            values.push((format!("${name}"), folder));
        }
        ScriptFolders {
            base: base.to_path_buf(),
            home: home.to_path_buf(),
            values,
        }
    }

    /// What lines for a shell name in the home folder or below the base. Programs of the system
    /// change with its updates, and hookrun with its own.
    fn scripts(&self, lines: &[String]) -> Vec<FileMark> {
        let root = Path::new("/");
        let filled = lines.iter().map(|line| {
            self.values
                .iter()
                .fold(line.clone(), |line, (from, to)| line.replace(from, to))
        });
        let named = filled
            .flat_map(|line| files_named(&Handler::Shell(line), &self.base, root, root))
            .map(|path| root.join(path));
        let is_meant = |path: &PathBuf| {
            let is_near = path.starts_with(&self.base) || path.starts_with(&self.home);
            is_near && path.file_name().is_some_and(|name| name != NAME)
        };
        named.filter(is_meant).map(|path| mark(&path)).collect()
    }
}

/// How a file is now.
fn mark(file: &Path) -> FileMark {
    let root = Path::new("/");
    let below = file.strip_prefix(root).unwrap_or(file).to_path_buf();
    let read = FileList::of(root, std::slice::from_ref(&below)).and_then(|list| list.read());
    let mut files = read.unwrap_or_default().files.into_iter();
    let unreadable = || FileMark {
        path: below.display().to_string(),
        mode: String::new(),
        content: "unreadable".to_string(),
        link: None,
    };
    files.next().map_or_else(unreadable, |file| file.mark)
}
