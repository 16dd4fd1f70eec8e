//! Single hooks in a host's settings: whether one of hookrun's still is as `install` writes it
//! (failures block, it runs for every call, and hookrun decides before the host gives up), and
//! whether any hook can ever run there.

use std::path::Path;
use std::time::Duration;

use crate::config::Problem;
use crate::engine::event::action::{ActionKind, TOOLS};
use crate::engine::event::catalog;
use crate::engine::hook::duration_text;
use crate::engine::spelling::did_you_mean;
use crate::hosts::capability::ServedEvent;
use crate::hosts::settings::HostFile;
use crate::hosts::{Host, HostEvent, ToolSort, Wait};
use regex::Regex;
use serde_json::Value;

use crate::cli::host::install::document::SettingsEntry;
use crate::cli::host::install::program::InstalledCommand;
use crate::cli::look::validate::{error, warning};

pub(super) struct OwnHook<'a> {
    pub(super) hook: &'a SettingsEntry,
    pub(super) call: &'a InstalledCommand,
    pub(super) row: ServedEvent,
    pub(super) host: &'a Host,
    pub(super) shape: &'static HostFile,
    pub(super) path: &'a Path,
}

/// How long the host waits for a hook, if it says so.
pub(super) fn limit(hook: &SettingsEntry, shape: &'static HostFile) -> Option<Duration> {
    let written = hook.keys.get(shape.timeout())?.as_f64()?;
    #[expect(clippy::cast_precision_loss, reason = "it is 1 or 1000")]
    let seconds = written / f64::from(shape.per_second);
    Duration::try_from_secs_f64(seconds).ok()
}

impl OwnHook<'_> {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let found = [self.open_end(), self.unguarded(), self.too_late()];
        let narrowed = self.hook.narrowed().into_iter().map(|why| {
            let cause = format!("hookrun's hook for {} was changed: {why}", self.row.name);
            self.by_gate(cause, self.again("puts it right"))
        });
        found.into_iter().flatten().chain(narrowed).collect()
    }

    /// An error where a failure should block, else a warning.
    fn by_gate(&self, cause: String, cure: String) -> Problem {
        let problem = if self.row.fails_closed {
            error
        } else {
            warning
        };
        problem(self.path, cause, cure)
    }

    fn again(&self, what: &str) -> String {
        format!("`hookrun install {}` {what}", self.host.name)
    }

    /// The host does not wait as long as hookrun takes to block.
    fn too_late(&self) -> Option<Problem> {
        let usual = self.row.wait?;
        let longest = usual.longest.unwrap_or(Duration::MAX);
        let written = limit(self.hook, self.shape);
        let waits = written.map_or(usual.usual, |written| written.min(longest));
        let budget = self.call.budget.unwrap_or(Wait::budget(usual.usual));
        if budget < waits {
            return None;
        }
        let waits = duration_text(waits);
        let budget = duration_text(budget);
        let title = self.host.title;
        let event = self.row.name;
        let cause = format!(
            "{title} waits {waits} for {event}, and hookrun takes up to {budget}: a later block is \
             lost"
        );
        Some(self.by_gate(cause, self.again("writes times that fit")))
    }

    /// A gate without the host's switch to block on failures.
    fn open_end(&self) -> Option<Problem> {
        let (key, value) = self.shape.closed().filter(|_| self.row.fails_closed)?;
        let is = self.hook.keys.get(key);
        if is == Some(&value) {
            return None;
        }
        let is = is.map_or_else(|| "missing".to_string(), Value::to_string);
        let cause = format!(
            "`{key}` of {} is {is}: if hookrun fails, it is allowed",
            self.row.name
        );
        Some(error(self.path, cause, self.again("sets it")))
    }

    /// A command that an older hookrun wrote: nothing blocks if hookrun is missing or killed, unless
    /// the host's own switch does.
    fn unguarded(&self) -> Option<Problem> {
        if !self.row.is_guarded() || self.call.is_guarded {
            return None;
        }
        let event = self.row.name;
        let cause =
            format!("the command for {event} does not block if hookrun is missing or killed");
        let cure = self.again("writes one that does");
        Some(match self.shape.closed() {
            Some((key, _)) => {
                let cause = format!("{cause} where {} does not know `{key}`", self.host.title);
                warning(self.path, cause, cure)
            }
            None => error(self.path, cause, cure),
        })
    }
}

/// Why a hook never runs, if that is certain as far as hookrun knows the host.
pub(super) fn never_runs(hook: &SettingsEntry, host: &Host, file: &Path) -> Option<Problem> {
    let dialect = host.asking_dialect()?;
    let Some(row) = dialect
        .events
        .iter()
        .find(|row| is_of(&hook.event, row, host))
    else {
        let cause = format!(
            "{} has no event `{}`: its hooks never run",
            host.title, hook.event
        );
        let cure = did_you_mean(dialect.nearest(&hook.event), || {
            format!("`hookrun events --host {}` lists them", host.name)
        });
        return Some(warning(file, cause, cure));
    };
    let matcher = hook
        .matcher
        .as_deref()
        .filter(|matcher| !matches!(*matcher, "" | "*"))?;
    let matching = host.settings_file()?.matching;
    let is_whole = matching.list.is_some() || matching.is_anchored;
    if !is_whole && !matching.is_plain {
        return None;
    }
    let shell = dialect
        .tools
        .rows
        .iter()
        .find(|tool| tool.sort == ToolSort::Shell)?;
    if !catalog::find(row.event).is_some_and(|spec| spec.carries("toolName")) {
        return None;
    }
    let place = format!("the matcher `{matcher}` of {}", hook.event);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-,| ".contains(c);
    if !matcher.chars().all(is_plain) {
        // Other engines know more syntax; such a matcher is not judged.
        let is_ours = !matcher.contains("(?") && !matcher.contains('\\');
        let is_broken = is_ours && Regex::new(matcher).is_err();
        let cause = format!("{place} is no regular expression: its hooks never run");
        return is_broken.then(|| warning(file, cause, "correct it"));
    }
    let words = || matcher.split(['|', ',']).map(str::trim);
    let fits = |word: &str| {
        if is_whole {
            word == shell.name || shell.also.contains(&word)
        } else {
            shell.name.contains(word)
        }
    };
    if words().any(fits) || !words().all(is_a_shell) {
        return None;
    }
    let cause = format!(
        "{place} fits no tool of {}: its hooks never run",
        host.title
    );
    Some(warning(
        file,
        cause,
        format!("did you mean `{}`?", shell.name),
    ))
}

/// Whether the host takes the name for this event: letter by letter. A host that sends no names has
/// each event under a PascalCase name as well.
fn is_of(name: &str, row: &HostEvent, host: &Host) -> bool {
    let is_pascal = || {
        let rest = |name: &str| name.get(1..).map(str::to_string);
        let names_event = host.settings_file().is_some_and(|shape| shape.names_event);
        names_event && row.is_called(name) && rest(name) == rest(row.name)
    };
    row.name == name || row.aliases.contains(&name) || is_pascal()
}

/// Whether any host calls its shell that. PowerShell is a different tool.
fn is_a_shell(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let mut shells = TOOLS.iter().filter(|class| class.kind == ActionKind::Shell);
    word != "powershell"
        && shells.any(|class| class.word == word || class.names.contains(&word.as_str()))
}
