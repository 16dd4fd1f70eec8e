//! What the hooks of a case wrote to their streams: it tells why a case fails.

use super::MOST_LINES;
use crate::engine::run::{Fate, HookRun};
use crate::lab::report::human::cut;
use crate::lab::report::plain;
use crate::lab::scenario::Played;

/// A stream that a hook wrote something to.
#[derive(Debug)]
pub(in crate::lab::report) struct Written {
    /// `stdout` or `stderr`.
    pub(in crate::lab::report) stream: &'static str,
    /// Its last lines, harmless.
    pub(in crate::lab::report) text: String,
}

/// What hooks wrote in a case that is not as expected, each under the names of stream and hook.
pub(in crate::lab::report) fn written(played: &Played) -> Vec<Written> {
    let steps = played.steps.iter().filter(|_| played.end.is_bad());
    let hooks = steps.flat_map(|decided| decided.hooks());
    let titled = |run: &HookRun| {
        let hook = plain(&run.hook);
        let title = move |Written { stream, text }| Written {
            stream,
            text: format!("{stream} of {hook}:\n{text}"),
        };
        streams(run).into_iter().map(title)
    };
    hooks.flat_map(titled).collect()
}

/// What one hook wrote.
pub(super) fn streams(run: &HookRun) -> Vec<Written> {
    let Fate::Ran(trace) = &run.fate else { return Vec::new() };
    let both = [("stdout", &trace.stdout), ("stderr", &trace.stderr)];
    let both =
        both.map(|(stream, captured)| Written { stream, text: last_lines(&captured.text()) });
    both.into_iter().filter(|written| !written.text.is_empty()).collect()
}

/// The end of a text: what went wrong stands there.
fn last_lines(text: &str) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let hidden = all.len().saturating_sub(MOST_LINES);
    let mut lines: Vec<String> = all[hidden..].iter().map(|line| cut(&plain(line))).collect();
    if hidden > 0 {
        lines.insert(0, format!("… {hidden} lines before; --format json has them"));
    }
    lines.join("\n")
}
