//! Whether a hook of hookrun's still is as `install` writes it: failures block, it runs for every
//! call, and hookrun decides before the host gives up.

use std::path::Path;
use std::time::Duration;

use crate::config::Problem;
use crate::engine::hook::duration_text;
use crate::hosts::Wait;
use crate::hosts::capability::ServedEvent;
use serde_json::Value;

use crate::cli::host::install::document::SettingsEntry;
use crate::cli::host::install::program::InstalledCommand;
use crate::cli::host::install::row::{InstallHost, SettingsShape};
use crate::cli::look::validate::{error, warning};

pub(super) struct OwnHook<'a> {
    pub(super) hook: &'a SettingsEntry,
    pub(super) call: &'a InstalledCommand,
    pub(super) row: ServedEvent,
    pub(super) host: &'a InstallHost,
    pub(super) shape: SettingsShape,
    pub(super) path: &'a Path,
}

/// How long the host waits for a hook, if it says so.
pub(super) fn limit(hook: &SettingsEntry, shape: SettingsShape) -> Option<Duration> {
    let written = hook.keys.get(shape.timeout())?.as_f64()?;
    #[expect(clippy::cast_precision_loss, reason = "it is 1 or 1000")]
    let seconds = written / shape.file.time.per_second as f64;
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
        let (waits, budget) = (duration_text(waits), duration_text(budget));
        let (title, event) = (self.host.title, self.row.name);
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
