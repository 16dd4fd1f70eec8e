//! The decision of one event, once its hooks are loaded: what `run` and `serve` have in common.

use crate::config::Config;
use crate::engine::event::Event;
use crate::engine::exec::{Abort, Budget};
use crate::engine::outcome::{Outcome, Settled};
use crate::engine::run::Run;
use crate::engine::runner::Runner;
use crate::hosts::Binding;

use crate::cli::decide::ask::{self, Person};
use crate::cli::decide::request::HostReply;

/// What a configuration says about one event besides its hooks.
#[derive(Debug)]
pub(crate) struct EventNotes {
    /// Its mistakes.
    complaint: Option<String>,
    /// Hooks that do not run because they are not trusted.
    held: Option<String>,
    /// There is not a single hook, and the event could be blocked.
    is_bare: bool,
}

impl EventNotes {
    pub(crate) fn of(config: &Config, event: &Event) -> EventNotes {
        EventNotes {
            complaint: config.complaint(),
            held: config.trust.held(&event.spec().name),
            is_bare: config.layers.is_empty() && event.spec().blocks,
        }
    }

    /// Whether to say that no hook is bound, where no person reads stderr. A gate without a single
    /// hook allows everything.
    pub(crate) fn says_nobody_bound(&self, host: HostReply) -> bool {
        self.is_in_order() && self.is_bare && !host.binding.is_some_and(Binding::reads_stderr)
    }

    pub(crate) fn is_in_order(&self) -> bool {
        self.complaint.is_none()
    }
}

/// An event, and what decides it.
pub(crate) struct AskedEvent<'a> {
    pub(crate) event: &'a Event,
    pub(crate) host: HostReply,
    pub(crate) notes: &'a EventNotes,
    pub(crate) runner: &'a Runner,
    pub(crate) person: Option<&'a Person>,
    pub(crate) budget: Option<Budget>,
    pub(crate) abort: &'a Abort,
}

impl AskedEvent<'_> {
    /// Decides it by `handle`, and asks the person what the host cannot ask. `is_asking` is called before that.
    pub(crate) fn decide(self, handle: impl FnOnce() -> Run, is_asking: impl FnOnce()) -> Run {
        let AskedEvent {
            event,
            host,
            runner,
            budget,
            abort,
            ..
        } = self;
        let mut run = handle();
        is_asking();
        if !host.binding.is_some_and(Binding::can_ask)
            && matches!(run.outcome.settled, Settled::Asked { .. })
        {
            let (person, request) = (self.person, runner.request());
            let about = ask::Inquiry {
                event,
                request,
                person,
                budget,
                abort,
            };
            run.outcome = ask::settle(run.outcome, &about);
            // The answer may be one block too many in a row.
            runner.keep_from_looping(&mut run);
        }
        run.outcome = with_complaint(run.outcome, self.notes.complaint.clone());
        run.outcome = with_complaint(run.outcome, self.notes.held.clone());
        run
    }
}

/// The outcome with the configuration's mistakes, if it does not name them: an event that goes on
/// in spite of them must not do so in silence.
pub(crate) fn with_complaint(outcome: Outcome, complaint: Option<String>) -> Outcome {
    let is_named = |complaint: &String| {
        outcome
            .refusal()
            .is_some_and(|refusal| refusal.reason.contains(complaint))
    };
    match complaint.filter(|complaint| !is_named(complaint)) {
        Some(complaint) => outcome.with_notice(complaint),
        None => outcome,
    }
}
