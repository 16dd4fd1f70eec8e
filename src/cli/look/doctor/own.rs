//! Whether a hook of hookrun's still is as `install` writes it: that failures block, that it is
//! asked about every call, and that hookrun says its decision before the host gives up.

use std::time::Duration;

use crate::dialects::Wait;
use crate::engine::hook::duration_text;
use serde_json::Value;

use super::{DoctorFinding, error, warning};
use crate::cli::host::install::edit::SettingsEntry;
use crate::cli::host::install::hosts::{HostEventRow, InstallHost, SettingsShape};
use crate::cli::host::install::narrowing::narrowed;
use crate::cli::host::install::program::{InstalledCommand, call_of};

/// What is wrong with a hook that asks hookrun.
pub(super) fn problems(
    hook: &SettingsEntry,
    host: &InstallHost,
    settings: SettingsShape,
) -> Vec<DoctorFinding> {
    let row = host.rows().into_iter().find(|row| row.name == hook.event);
    let call = hook.command.as_deref().and_then(|command| call_of(command, host));
    let (Some(row), Some(call)) = (row, call) else { return Vec::new() };
    let found = [
        open_end(hook, &row, host, settings),
        unguarded(&call, &row, host, settings),
        too_late(hook, &call, &row, host, settings),
    ];
    let mut problems: Vec<DoctorFinding> = found.into_iter().flatten().collect();
    problems.extend(narrowed(hook).into_iter().map(|why| {
        let cause = format!("hookrun's hook for {} was changed: {why}", row.name);
        let finding = if row.is_closed { error } else { warning };
        finding(cause, format!("`hookrun install {}` puts it right", host.name))
    }));
    problems
}

/// How long the host waits for a hook, if it says so.
pub(super) fn limit(hook: &SettingsEntry, settings: SettingsShape) -> Option<Duration> {
    let written = hook.keys.get(settings.timeout.key)?.as_f64()?;
    #[expect(clippy::cast_precision_loss, reason = "it is 1 or 1000")]
    let seconds = written / settings.timeout.per_second as f64;
    Duration::try_from_secs_f64(seconds).ok()
}

/// A hook that the host does not wait for as long as hookrun takes to refuse.
fn too_late(
    hook: &SettingsEntry,
    call: &InstalledCommand,
    row: &HostEventRow,
    host: &InstallHost,
    settings: SettingsShape,
) -> Option<DoctorFinding> {
    let usual = row.wait?;
    let written = limit(hook, settings);
    let longest = usual.longest.unwrap_or(Duration::MAX);
    let waits = written.map_or(usual.usual, |written| written.min(longest));
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
    Some(finding(format!("{cause}: a later block is lost"), cure))
}

/// A hook for a gate without the host's switch to refuse on failures.
fn open_end(
    hook: &SettingsEntry,
    row: &HostEventRow,
    host: &InstallHost,
    settings: SettingsShape,
) -> Option<DoctorFinding> {
    let (key, value) = settings.closed.filter(|_| row.is_closed)?;
    if hook.keys.get(key) == Some(&value.json()) {
        return None;
    }
    let is = hook.keys.get(key).map_or_else(|| "missing".to_string(), Value::to_string);
    let cause = format!("`{key}` of {} is {is}: if hookrun fails, it is allowed", row.name);
    Some(error(cause, format!("`hookrun install {}` sets it", host.name)))
}

/// A command that an older hookrun wrote: nothing blocks if hookrun is missing or killed, unless
/// the host's own switch does.
fn unguarded(
    call: &InstalledCommand,
    row: &HostEventRow,
    host: &InstallHost,
    settings: SettingsShape,
) -> Option<DoctorFinding> {
    if !row.is_guarded || call.is_guarded {
        return None;
    }
    let cause = format!("the command for {} does not block if hookrun is missing", row.name);
    let cure = format!("`hookrun install {}` writes one that does", host.name);
    Some(match settings.closed {
        Some((key, _)) => {
            warning(format!("{cause} or killed where {} does not know `{key}`", host.title), cure)
        }
        None => error(format!("{cause} or killed"), cure),
    })
}
