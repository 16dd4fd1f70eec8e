//! Shows hooks' stderr and results on a terminal while they run.
//! Output that stderr cannot take immediately is dropped.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex};

use crate::engine::exec::{Callback, HookProgress, Watcher};
use crate::engine::harmless::plain;
use crate::engine::hook::Hook;
use crate::engine::outcome::Decision;
use crate::engine::run::{Ending, Trace};

use crate::cli::streams;
use crate::lab::report::CheckFormat;

/// Whether a user sees the progress of hooks on stderr.
pub(crate) fn is_watched(format: Option<CheckFormat>) -> bool {
    format.is_none() && io::stderr().is_terminal()
}

pub(crate) fn watcher(format: Option<CheckFormat>) -> Option<Watcher> {
    // How many bytes of each hook's stderr are printed.
    let shown: Mutex<HashMap<usize, usize>> = Mutex::default();
    if !is_watched(format) {
        return None;
    }
    let watch = move |hook: &Hook, place: usize, progress: &HookProgress<'_>| {
        let Ok(mut shown) = shown.lock() else { return };
        let from = shown.remove(&place).unwrap_or_default();
        match progress {
            HookProgress::Wrote(stderr) => {
                let last = stderr.iter().rposition(|byte| *byte == b'\n');
                let end = last.map_or(0, |at| at + 1);
                let whole = stderr.get(from..end).unwrap_or_default();
                streams::glimpse(&lines(&hook.name, &String::from_utf8_lossy(whole)));
                shown.insert(place, from.max(end));
            }
            HookProgress::Ended(trace) => streams::glimpse(&ended(hook, trace, from)),
        }
    };
    Some(Callback(Arc::new(watch)))
}

/// A hook's output, each line with its name.
pub(crate) fn lines(hook: &str, stderr: &str) -> String {
    let lines = stderr.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| format!("{}: {}\n", plain(hook), plain(line)))
        .collect()
}

/// The rest of a hook's output, and its result.
fn ended(hook: &Hook, trace: &Trace, from: usize) -> String {
    let kept = &trace.stderr.head;
    let rest = kept.get(from..).unwrap_or_default();
    let mut text = lines(&hook.name, &String::from_utf8_lossy(rest));
    let unshown = trace.stderr.total_bytes.saturating_sub(kept.len() as u64);
    if unshown > 0 {
        text.push_str(&format!("{}: … {unshown} more bytes\n", plain(&hook.name)));
    }
    let mark = match trace.ending.verdict().map(|verdict| &verdict.decision) {
        // A rule or a function without a message.
        Some(Decision::Allow) if hook.handler.is_function() => return text,
        Some(Decision::Allow) => "ok",
        Some(Decision::Ask { .. }) => "ask",
        Some(Decision::Block { .. }) => "BLOCKED",
        None if matches!(trace.ending, Ending::Voided) => "skip",
        None => "fail",
    };
    let seconds = trace.took.as_secs_f64();
    format!("{text}{mark} {} {seconds:.1}s\n", plain(&hook.name))
}
