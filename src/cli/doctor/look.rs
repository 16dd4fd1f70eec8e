//! What one settings file of a host says about hookrun, and what is wrong with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrun::config::{Environment, Problem, Severity};
use hookrun::dialect::Wait;
use hookrun::hook::duration_text;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::{Finding, error, never, warning};
use crate::args::SettingsScope;
use crate::install::edit::{Document, EditError, Found, HOOKS};
use crate::install::files::Target;
use crate::install::hosts::{Beside, Form, Host, Off, Row, Settings};
use crate::install::program::{call_of, is_own};
use crate::install::shim;

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
    pub(super) events: Vec<Event>,
    /// What the hooks call, each once.
    pub(super) programs: BTreeSet<String>,
}

/// An event that the host tells hookrun.
#[derive(Debug)]
pub(super) struct Event {
    /// The host's name for it.
    pub(super) name: String,
    /// How long the host waits, if that is said.
    pub(super) limit: Option<Duration>,
}

impl Event {
    pub(super) fn is(&self, row: &Row) -> bool {
        self.name == row.name
    }
}

/// Looks into a file. Nothing is installed where there is none, or none that can be read.
pub(super) fn into(
    host: &Host,
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
        Form::Settings(settings) => {
            let (installed, problems) = Settled { host, settings, path, place }.read(&text, env);
            (installed.map(|one| Installed { scope: Some(scope), ..one }), problems)
        }
        Form::Plugin => {
            let Some(plugin) = shim::read(&text) else { return (None, Vec::new()) };
            let events = plugin.events.into_iter();
            let events = events.map(|name| Event { name, limit: None }).collect();
            let (path, programs) = (path.to_path_buf(), BTreeSet::from([plugin.program]));
            (Some(Installed { place, scope: Some(scope), path, events, programs }), Vec::new())
        }
    }
}

/// Looks into the files that the host reads beside this one.
pub(super) fn beside(
    host: &Host,
    scope: SettingsScope,
    path: &Path,
    env: &Environment,
) -> Vec<(Option<Installed>, Vec<Problem>)> {
    let Form::Settings(settings) = host.form else { return Vec::new() };
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
                let settled = Settled { host, settings, path: &path, place };
                settled.read(&text, env)
            }
            Err(finding) => (None, vec![finding.in_file(&path, None)]),
        }
    };
    host.beside.iter().filter(is_read).map(look).collect()
}

/// What is in a file; `None` where there is none.
fn text_of(path: &Path) -> Result<Option<String>, Finding> {
    Target::read(path).map(|target| target.text).map_err(|failure| {
        let cure = failure.help.unwrap_or_else(|| "make it a file that may be read".into());
        error(failure.message, cure)
    })
}

/// The hooks of a TOML file, as JSON: the lists in its table `hooks`.
fn hooks_of_toml(text: &str) -> Result<String, Finding> {
    let document = DeTable::parse(text).map_err(|wrong| {
        error(format!("does not parse: {}", wrong.message()), "correct it; it was not touched")
    })?;
    let hooks = document.get_ref().get(HOOKS).and_then(|hooks| hooks.get_ref().as_table());
    let lists = hooks.into_iter().flatten().filter(|(_, value)| value.get_ref().is_array());
    let lists = lists.map(|(key, value)| (key.get_ref().to_string(), as_json(value.get_ref())));
    Ok(serde_json::json!({ HOOKS: Value::Object(lists.collect()) }).to_string())
}

fn as_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i64::from_str_radix(&digits, number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => {
            number.as_str().replace('_', "").parse::<f64>().map_or(Value::Null, Value::from)
        }
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(moment) => Value::from(moment.to_string()),
        DeValue::Array(all) => all.iter().map(|one| as_json(one.get_ref())).collect(),
        DeValue::Table(table) => {
            let each = table.iter();
            let each = each.map(|(key, one)| (key.get_ref().to_string(), as_json(one.get_ref())));
            Value::Object(each.collect())
        }
    }
}

/// A settings file of a host.
struct Settled<'a> {
    host: &'a Host,
    settings: Settings,
    path: &'a Path,
    place: String,
}

impl Settled<'_> {
    /// What its text says about hookrun, and what is wrong with it.
    fn read(self, text: &str, env: &Environment) -> (Option<Installed>, Vec<Problem>) {
        let Settled { host, settings, path, place } = self;
        let problem = |finding: Finding, at| finding.in_file(path, at);
        let unreadable = |wrong: EditError, severity| {
            let finding = Finding { severity, cause: wrong.cause, cure: wrong.cure };
            problem(finding, wrong.at)
        };
        let document = match Document::read(text, settings) {
            Ok(document) => document,
            Err(wrong) => return (None, vec![unreadable(wrong, Severity::Error)]),
        };
        let hooks = document.hooks();
        let doubt = document.doubt().map(|wrong| unreadable(wrong, Severity::Warning));
        let mut problems: Vec<Problem> = doubt.into_iter().collect();
        problems.extend(document.strays().into_iter().map(|stray| {
            let cause = format!("{stray}; {} may not read the file", host.title);
            problem(warning(cause, "correct it, or take it out"), None)
        }));
        let units = hooks.iter().filter_map(|hook| unit_mistake(hook, host, settings));
        let idle = hooks.iter().filter_map(|hook| never::fires(hook, host));
        problems.extend(units.chain(idle).map(|finding| problem(finding, None)));
        let is_own = |text: &str| is_own(text, host, env);
        let own: Vec<&Found> =
            hooks.iter().filter(|hook| hook.command.as_deref().is_some_and(is_own)).collect();
        if own.is_empty() {
            return (None, problems);
        }
        if document.is_switched_off() {
            let cause = "`disableAllHooks` is true: hookrun is not asked";
            problems.push(problem(error(cause, "remove it"), None));
        }
        problems.extend(host.off.and_then(|off| switched_off(path, off)));
        for hook in &own {
            let found = [open_end(hook, host, settings), too_late(hook, host, settings)];
            problems.extend(found.into_iter().flatten().map(|finding| problem(finding, None)));
        }
        let event =
            |hook: &&Found| Event { name: hook.event.clone(), limit: limit(hook, settings) };
        let program = |hook: &&Found| Some(call_of(hook.command.as_deref()?, host)?.program);
        let programs = own.iter().filter_map(program).collect();
        let events = own.iter().map(event).collect();
        let path = path.to_path_buf();
        (Some(Installed { place, scope: None, path, events, programs }), problems)
    }
}

/// That a switch beside the settings is off.
fn switched_off(settings: &Path, off: Off) -> Option<Problem> {
    let file = settings.with_file_name(off.file);
    let text = fs::read_to_string(&file).ok()?;
    let (document, _) = DeTable::parse_recoverable(&text);
    let table = document.get_ref().get(off.table)?.get_ref().as_table()?;
    if table.get(off.key)?.get_ref().as_bool() != Some(false) {
        return None;
    }
    let cause = format!("`{}.{}` is false: hookrun is not asked", off.table, off.key);
    Some(error(cause, "remove it").in_file(&file, None))
}

/// How long the host waits for a hook, if it says so.
fn limit(hook: &Found, settings: Settings) -> Option<Duration> {
    let written = hook.keys.get(settings.timeout.key)?.as_f64()?;
    #[expect(clippy::cast_precision_loss, reason = "it is 1 or 1000")]
    let seconds = written / settings.timeout.per_second as f64;
    Duration::try_from_secs_f64(seconds).ok()
}

/// A hook that the host does not wait for as long as hookrun takes to refuse.
fn too_late(hook: &Found, host: &Host, settings: Settings) -> Option<Finding> {
    let row = host.rows().into_iter().find(|row| row.name == hook.event)?;
    let usual = row.wait?;
    let written = limit(hook, settings);
    let longest = usual.longest.unwrap_or(Duration::MAX);
    let waits = written.map_or(usual.usual, |written| written.min(longest));
    let call = call_of(hook.command.as_deref()?, host)?;
    let budget = call.budget.unwrap_or(Wait::budget(usual.usual));
    if budget < waits {
        return None;
    }
    let (waits, budget) = (duration_text(waits), duration_text(budget));
    let event = row.name;
    let cause =
        format!("{} waits {waits} for {event}, and hookrun takes up to {budget}", host.title);
    let finding = if row.is_closed { error } else { warning };
    let cure = format!("`hookrun install {}` writes times that fit", host.name);
    Some(finding(format!("{cause}: what it refuses later is allowed"), cure))
}

/// A time that was hardly meant in the unit of the host.
fn unit_mistake(hook: &Found, host: &Host, settings: Settings) -> Option<Finding> {
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

/// A hook for a gate without the host's switch to refuse on failures.
fn open_end(hook: &Found, host: &Host, settings: Settings) -> Option<Finding> {
    let (key, value) = settings.closed?;
    let row = host.rows().into_iter().find(|row| row.name == hook.event && row.is_closed)?;
    if hook.keys.get(key) == Some(&value.json()) {
        return None;
    }
    let is = hook.keys.get(key).map_or_else(|| "missing".to_string(), Value::to_string);
    let cause = format!("`{key}` of {} is {is}: if hookrun fails, it is allowed", row.name);
    Some(error(cause, format!("`hookrun install {}` sets it", host.name)))
}
