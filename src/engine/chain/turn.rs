//! One hook's turn at an event, and what is read off its end.

use std::sync::Arc;

use crate::engine::event::Event;
use crate::engine::event::payload::Payload;
use crate::engine::hook::{EventPart, GivenPart, Hook, Permit};
use crate::engine::outcome::Decision;
use crate::engine::run::{Ending, Trace};
use crate::engine::ui::Connection;

/// Why a path matcher matches an event that names no such path.
const MORE_GUESSES: &str =
    "the tool's input has more texts that may be paths than hookrun looks at: every `path` matches";

/// A turn and the values that its job borrows.
pub(crate) struct PreparedTurn<'t> {
    pub(super) turn: &'t HookTurn,
    pub(super) payload: Arc<Payload>,
    pub(super) connection: Option<Connection>,
    pub(super) variables: Vec<(&'t str, String)>,
    /// Our variables in hookrun's environment that the hook does not get.
    pub(super) absent: Vec<&'t str>,
}

pub(crate) struct HookTurn {
    pub(crate) hook: Arc<Hook>,
    /// The part of the event that it decides.
    pub(crate) part: EventPart,
}

impl HookTurn {
    pub(super) fn permit<'e>(&'e self, seen: &'e Event) -> Permit<'e> {
        let EventPart { number, call, id } = &self.part;
        let is_whole = call.is_none() && id.is_none();
        let given = GivenPart {
            event: seen,
            part: *number,
            id: id.as_deref(),
        };
        let given = Some(given).filter(|_| !is_whole);
        Permit {
            spec: seen.spec(),
            hook: &self.hook,
            given,
            about: Some(seen),
        }
    }
}

/// Adds notes to the runs of these hooks: for processes, that they run in another folder; for path
/// matchers, that some paths could not be looked up.
pub(super) fn add_notes(
    cwd: Option<String>,
    seen: &Event,
    hooks: &[Arc<Hook>],
    traces: &mut [Trace],
) {
    let is_cut = seen.links().is_some_and(|links| !links.has_all_guesses);
    let own = hooks
        .iter()
        .zip(traces)
        .filter(|(hook, _)| !hook.handler.is_function());
    for (hook, trace) in own {
        trace.notes.extend(cwd.clone());
        if is_cut && hook.matcher.needs_paths() {
            trace.notes.push(MORE_GUESSES.to_string());
        }
    }
}

/// Whether an ending blocks a gate. With `failures_close` every failure does.
pub(super) fn refuses(ending: &Ending, failures_close: bool) -> bool {
    match ending.verdict() {
        Some(verdict) => matches!(verdict.decision, Decision::Block { .. }),
        None => failures_close && ending.failure().is_some(),
    }
}
