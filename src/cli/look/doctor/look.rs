//! What one settings file of a host says about hookrun, and what is wrong with it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{Environment, Problem, Severity};
use toml::de::DeTable;

use super::{DoctorFinding, error, never, own, warning};
use crate::cli::args::SettingsScope;
use crate::cli::host::install::edit::{Document, EditError, HOOKS, SettingsEntry};
use crate::cli::host::install::files::Target;
use crate::cli::host::install::hosts::{
    Beside, FileKind, HostEventRow, InstallHost, SettingsShape,
};
use crate::cli::host::install::program::{call_of, is_own, runs_hookrun};
use crate::cli::host::install::{shim, value};

/// More seconds than anybody means to wait for a hook: somebody wrote milliseconds.
const TOO_MANY_SECONDS: f64 = 5000.0;

/// hookrun in one settings file.
#[derive(Debug)]
pub(super) struct Installed {
    /// What people call the place.
    pub(super) place: String,
    /// What it was installed for; `None` for a file that `install` never writes.
    pub(super) scope: Option<SettingsScope>,
    pub(super) path: PathBuf,
    pub(super) events: Vec<InstalledEvent>,
    /// What the hooks call, each once.
    pub(super) programs: BTreeSet<String>,
    /// The PATH that the file sets for what the host starts.
    pub(super) search: Option<String>,
}

/// An event that the host tells hookrun.
#[derive(Debug)]
pub(super) struct InstalledEvent {
    /// The host's name for it.
    pub(super) name: String,
    /// How long the host waits, if that is said.
    pub(super) limit: Option<Duration>,
}

impl InstalledEvent {
    pub(super) fn is(&self, row: &HostEventRow) -> bool {
        self.name == row.name
    }
}

/// Looks into a file. Nothing is installed where there is none, or none that can be read.
pub(super) fn into(
    host: &InstallHost,
    scope: SettingsScope,
    path: &Path,
    env: &Environment,
) -> (Option<Installed>, Vec<Problem>) {
    let text = match text_of(path) {
        Ok(Some(text)) => text,
        Ok(None) => return (None, Vec::new()),
        Err(finding) => return (None, vec![finding.in_file(path, None)]),
    };
    let place = format!("{} scope", scope.name());
    match host.form {
        FileKind::Settings(settings) => {
            let (installed, problems) =
                SettingsFile { host, settings, path, place }.read(&text, env);
            (installed.map(|one| Installed { scope: Some(scope), ..one }), problems)
        }
        FileKind::Plugin => {
            let Some(plugin) = shim::read(&text) else { return (None, Vec::new()) };
            let events = plugin.events.into_iter();
            let events = events.map(|name| InstalledEvent { name, limit: None }).collect();
            let (path, programs) = (path.to_path_buf(), BTreeSet::from([plugin.program]));
            let scope = Some(scope);
            let installed = Installed { place, scope, path, events, programs, search: None };
            (Some(installed), Vec::new())
        }
    }
}

/// Looks into the files that the host reads beside this one.
pub(super) fn beside(
    host: &InstallHost,
    scope: SettingsScope,
    path: &Path,
    env: &Environment,
) -> Vec<(Option<Installed>, Vec<Problem>)> {
    let FileKind::Settings(settings) = host.form else { return Vec::new() };
    let is_read = |beside: &&Beside| beside.is_of_user || scope == SettingsScope::Project;
    let look = |beside: &Beside| {
        let path = path.with_file_name(beside.file);
        let text = match text_of(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return (None, Vec::new()),
            Err(finding) => return (None, vec![finding.in_file(&path, None)]),
        };
        let text = match beside.is_toml {
            true => hooks_of_toml(&text),
            false => Ok(text),
        };
        let place = format!("`{}` of {} scope", beside.file, scope.name());
        match text {
            Ok(text) => {
                let settled = SettingsFile { host, settings, path: &path, place };
                settled.read(&text, env)
            }
            Err(finding) => (None, vec![finding.in_file(&path, None)]),
        }
    };
    host.beside.iter().filter(is_read).map(look).collect()
}

/// What is in a file; `None` where there is none.
fn text_of(path: &Path) -> Result<Option<String>, DoctorFinding> {
    Target::read(path).map(|target| target.text).map_err(|failure| {
        let cure = failure.help.unwrap_or_else(|| "make it a file that may be read".into());
        error(failure.message, cure)
    })
}

/// The hooks of a TOML file, as JSON: the lists in its table `hooks`.
fn hooks_of_toml(text: &str) -> Result<String, DoctorFinding> {
    let document = DeTable::parse(text).map_err(|wrong| {
        error(format!("does not parse: {}", wrong.message()), "correct it; it was not touched")
    })?;
    let mut whole = value::of_toml(document.get_ref());
    let mut hooks = whole[HOOKS].take();
    if let Some(hooks) = hooks.as_object_mut() {
        hooks.retain(|_, value| value.is_array());
    }
    let hooks = if hooks.is_object() { hooks } else { serde_json::json!({}) };
    Ok(serde_json::json!({ HOOKS: hooks }).to_string())
}

/// A settings file of a host.
struct SettingsFile<'a> {
    host: &'a InstallHost,
    settings: SettingsShape,
    path: &'a Path,
    place: String,
}

impl SettingsFile<'_> {
    /// What its text says about hookrun, and what is wrong with it.
    fn read(self, text: &str, env: &Environment) -> (Option<Installed>, Vec<Problem>) {
        let SettingsFile { host, settings, path, place } = self;
        let problem = |finding: DoctorFinding, at| finding.in_file(path, at);
        let unreadable = |wrong: EditError, severity| {
            let finding = DoctorFinding { severity, cause: wrong.cause, cure: Some(wrong.cure) };
            problem(finding, wrong.at)
        };
        let document = match Document::read(text, settings) {
            Ok(document) => document,
            Err(wrong) => return (None, vec![unreadable(wrong, Severity::Error)]),
        };
        let hooks = document.hooks();
        let doubt = document.doubt().map(|wrong| unreadable(wrong, Severity::Warning));
        let dropped = document.dropped().into_iter().map(|wrong| {
            let cause = format!("{}: {} reads nothing of the file", wrong.cause, host.title);
            unreadable(EditError { cause, ..wrong }, Severity::Error)
        });
        let mut problems: Vec<Problem> = dropped.chain(doubt).collect();
        problems.extend(document.strays().into_iter().map(|stray| {
            let cause = format!("{stray}; {} may not read the file", host.title);
            problem(warning(cause, "correct it, or take it out"), None)
        }));
        let units = hooks.iter().filter_map(|hook| unit_mistake(hook, host, settings));
        let idle = hooks.iter().filter_map(|hook| never::fires(hook, host));
        problems.extend(units.chain(idle).map(|finding| problem(finding, None)));
        let is_own = |text: &str| is_own(text, host, env);
        let own: Vec<&SettingsEntry> =
            hooks.iter().filter(|hook| hook.command.as_deref().is_some_and(is_own)).collect();
        let is_other = |command: &&str| !is_own(command) && runs_hookrun(command, env);
        let other =
            |hook: &SettingsEntry| hook.command.as_deref().filter(is_other).map(str::to_string);
        let others: Vec<(String, &SettingsEntry)> =
            hooks.iter().filter_map(|hook| Some((other(hook)?, hook))).collect();
        let is_asked = !(own.is_empty() && others.is_empty());
        problems.extend(others.into_iter().map(|(command, hook)| {
            let row = host.rows().into_iter().find(|row| row.name == hook.event);
            let finding = if row.is_some_and(|row| row.is_closed) { error } else { warning };
            let event = &hook.event;
            let cause = format!(
                "`{command}` of {event} runs hookrun, and not as `install` writes it: what it \
                 blocks may be allowed, or what it allows blocked"
            );
            let cure = format!("take it out, then `hookrun install {}`", host.name);
            problem(finding(cause, cure), None)
        }));
        if !is_asked {
            return (None, problems);
        }
        for hook in &own {
            let found = own::problems(hook, host, settings);
            problems.extend(found.into_iter().map(|finding| problem(finding, None)));
        }
        let limit = |hook: &SettingsEntry| own::limit(hook, settings);
        let event =
            |hook: &&SettingsEntry| InstalledEvent { name: hook.event.clone(), limit: limit(hook) };
        let program =
            |hook: &&SettingsEntry| Some(call_of(hook.command.as_deref()?, host)?.program);
        let programs = own.iter().filter_map(program).collect();
        let events = own.iter().map(event).collect();
        let (path, search) = (path.to_path_buf(), document.search());
        (Some(Installed { place, scope: None, path, events, programs, search }), problems)
    }
}

/// A time that was hardly meant in the unit of the host.
fn unit_mistake(
    hook: &SettingsEntry,
    host: &InstallHost,
    settings: SettingsShape,
) -> Option<DoctorFinding> {
    let key = settings.timeout.key;
    let written = hook.keys.get(key)?.as_f64()?;
    let place = format!("a hook of {} has `\"{key}\": {written}`", hook.event);
    let title = host.title;
    if settings.timeout.per_second == 1000 && written > 0.0 && written < 1000.0 {
        let cause = format!("{place}, and {title} counts milliseconds: it is ended at once");
        return Some(error(cause, format!("did you mean {}?", written * 1000.0)));
    }
    if settings.timeout.per_second == 1 && written >= TOO_MANY_SECONDS {
        let cause = format!("{place}, and {title} counts seconds: a hook that hangs holds it up");
        return Some(warning(cause, format!("did you mean {}?", written / 1000.0)));
    }
    None
}
