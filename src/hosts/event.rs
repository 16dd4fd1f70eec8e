//! The row of a host's event: its names, the spelling of its context and results, and its timeout.

use std::time::Duration;

use super::results::{ReplyForm, ReplyKey, ReplySlot, Results};
use crate::engine::event::{Conduct, Merge, OnFailure, Schedule};

#[derive(Debug)]
pub struct HostEvent {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub event: &'static str,
    /// A key and value that distinguish this event from others of the same name, or always occur.
    pub when: Option<(&'static str, &'static str)>,
    /// Their keys and ours, in reading order. If several map to one of ours, hooks get the last.
    pub keys: &'static [(&'static str, &'static str)],
    /// Further key names that are read but never written.
    pub also: &'static [(&'static str, &'static str)],
    /// Their keys that also hold one of our facts.
    pub stand_ins: &'static [StandIn],
    /// Objects that hold the event's facts (one per event), with the keys inside that are read as if
    /// they were at the top; empty if all are there.
    pub inside: &'static [(&'static str, &'static [&'static str])],
    /// The single tool that the event is about.
    pub gather: Option<Gather>,
    /// The event is about tools of MCP servers only.
    pub is_of_servers: bool,
    /// Their keys that hold a text in parts: `[{"type": "text", "text": "…"}]`.
    pub in_parts: &'static [&'static str],
    /// Their keys that hold JSON as a string.
    pub as_text: &'static [&'static str],
    pub results: Results,
    /// Text on a hook's stdout that is not JSON is context for the model.
    pub text_is_context: bool,
    pub blocks: bool,
    pub on_failure: OnFailure,
    /// Changes that a hook made before it threw an error stay.
    pub keeps_thrown: bool,
    pub schedule: Schedule,
    pub conduct: Conduct,
    /// The host's timeout; `None` if it waits forever.
    pub wait: Option<Wait>,
}

impl HostEvent {
    /// A row with the catalog's rules for observed events; the base of tables.
    pub const OBSERVER: HostEvent = HostEvent {
        name: "",
        aliases: &[],
        event: "",
        when: None,
        keys: &[],
        also: &[],
        stand_ins: &[],
        inside: &[],
        gather: None,
        is_of_servers: false,
        in_parts: &[],
        as_text: &[],
        results: Results::Keys(&[]),
        text_is_context: false,
        blocks: false,
        on_failure: OnFailure::Allow,
        keeps_thrown: false,
        schedule: Schedule::Sequential,
        conduct: Conduct::USUAL,
        wait: None,
    };
}

/// Defines a builder function for each column, so that table rows stay short.
macro_rules! columns {
    ($($column:ident: $kind:ty,)+) => {
        $(
            #[must_use]
            pub const fn $column(mut self, $column: $kind) -> HostEvent {
                self.$column = $column;
                self
            }
        )+
    };
}

impl HostEvent {
    columns! {
        aliases: &'static [&'static str],
        keys: &'static [(&'static str, &'static str)],
        also: &'static [(&'static str, &'static str)],
        stand_ins: &'static [StandIn],
        inside: &'static [(&'static str, &'static [&'static str])],
        in_parts: &'static [&'static str],
        as_text: &'static [&'static str],
        is_of_servers: bool,
        text_is_context: bool,
        blocks: bool,
        on_failure: OnFailure,
        schedule: Schedule,
        conduct: Conduct,
    }

    #[must_use]
    pub(super) const fn when(mut self, key: &'static str, value: &'static str) -> HostEvent {
        self.when = Some((key, value));
        self
    }

    #[must_use]
    pub(super) const fn of_tool(
        mut self,
        tool: &'static str,
        keys: &'static [&'static str],
    ) -> HostEvent {
        self.gather = Some(Gather { tool, keys });
        self
    }

    #[must_use]
    pub const fn results(mut self, keys: &'static [ReplyKey]) -> HostEvent {
        self.results = Results::Keys(keys);
        self
    }

    #[must_use]
    pub(super) const fn form(mut self, form: &'static ReplyForm) -> HostEvent {
        self.results = Results::Form(form);
        self
    }

    #[must_use]
    pub(super) const fn whole(mut self, field: &'static str, merge: Merge) -> HostEvent {
        self.results = Results::Whole(field, merge);
        self
    }

    /// Sets a fixed timeout in seconds, after which the host goes on.
    #[must_use]
    pub(super) const fn within(self, seconds: u64) -> HostEvent {
        self.waits(Wait::seconds(seconds).at_most(seconds))
    }

    #[must_use]
    pub const fn waits(mut self, wait: Wait) -> HostEvent {
        self.wait = Some(wait);
        self
    }
}

impl HostEvent {
    #[must_use]
    pub const fn named(mut self, name: &'static str, event: &'static str) -> HostEvent {
        self.name = name;
        self.event = event;
        self
    }

    /// An observed event.
    #[must_use]
    pub(super) const fn observed(
        self,
        name: &'static str,
        event: &'static str,
        form: &'static ReplyForm,
    ) -> Self {
        self.form(form)
            .schedule(Schedule::Parallel)
            .conduct(READS_ON)
            .named(name, event)
    }

    /// A gate that a failure blocks.
    #[must_use]
    pub const fn gate(
        self,
        name: &'static str,
        event: &'static str,
        form: &'static ReplyForm,
    ) -> Self {
        self.form(form)
            .blocks(true)
            .on_failure(OnFailure::Block)
            .named(name, event)
    }

    /// A gate that a failure lets pass.
    #[must_use]
    pub const fn open_gate(
        self,
        name: &'static str,
        event: &'static str,
        form: &'static ReplyForm,
    ) -> Self {
        self.form(form)
            .blocks(true)
            .conduct(READS_ON)
            .named(name, event)
    }
}

/// An observed event that hookrun's plugin sends.
pub(super) const fn reports(name: &'static str, event: &'static str) -> HostEvent {
    asks(name, event, &[])
}

/// An event that hookrun's plugin sends, with the possible replies.
pub(super) const fn asks(
    name: &'static str,
    event: &'static str,
    says: &'static [ReplySlot],
) -> HostEvent {
    let mut row = HostEvent::OBSERVER.named(name, event);
    row.results = Results::Plugin(says);
    let mut number = 0;
    while number < says.len() {
        if matches!(says[number], ReplySlot::Block) {
            row = row.blocks(true).on_failure(OnFailure::Block);
        }
        number += 1;
    }
    row
}

/// Only report a broken configuration. A blocked stop might never end (Codex has no limit).
const READS_ON: Conduct = Conduct {
    reads_on: true,
    ..Conduct::USUAL
};

/// A host's key that also supplies our key where the event lacks it; the original key stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandIn {
    pub theirs: &'static str,
    pub ours: &'static str,
    /// Whether hooks of that system get it, derived from our key, where the event lacks it.
    pub is_made: bool,
}

/// A tool with an event for itself, which has the tool's input at the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gather {
    /// The host's usual name for the tool.
    pub tool: &'static str,
    pub keys: &'static [&'static str],
}

/// How long a host waits for a hook; after that it continues as if the hook had allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The default.
    pub usual: Duration,
    /// The longest configurable timeout; `None` if unlimited.
    pub longest: Option<Duration>,
    /// Measured or documented; otherwise a safe assumption.
    pub is_known: bool,
}

impl Wait {
    /// Waits so many seconds by default, and as long as its settings say.
    pub const fn seconds(seconds: u64) -> Wait {
        Wait::millis(1000 * seconds)
    }

    /// An assumed default for a host with an undocumented timeout.
    pub(super) const fn guessed(seconds: u64) -> Wait {
        Wait {
            is_known: false,
            ..Wait::seconds(seconds)
        }
    }

    /// As [`Wait::seconds`], in milliseconds.
    pub const fn millis(millis: u64) -> Wait {
        Wait {
            usual: Duration::from_millis(millis),
            longest: None,
            is_known: true,
        }
    }

    /// Limits the configurable timeout, in seconds.
    #[must_use]
    pub const fn at_most(mut self, seconds: u64) -> Wait {
        self.longest = Some(Duration::from_secs(seconds));
        self
    }
}

/// The part of a host's timeout that hookrun reserves: for its own start on a loaded machine (the
/// host's clock starts earlier), and for the end. Hooks get 200 ms to end by themselves, their
/// output 100 ms to arrive, processes that cannot be killed are abandoned after 1 s, and if the
/// system hangs, the watchdog looks twice.
pub const MARGIN: Duration = Duration::from_secs(5);

/// The latest time after a budget's end at which the watchdog replies.
pub const LATEST: Duration = Duration::from_millis(750);

impl Wait {
    /// hookrun's time if the host waits for `limit`: less [`MARGIN`], but at least half.
    pub fn budget(limit: Duration) -> Duration {
        limit - MARGIN.min(limit / 2)
    }

    /// The watchdog's deadline: the budget plus three quarters of it, at most [`LATEST`] later.
    pub fn last_word(budget: Duration) -> Duration {
        budget.saturating_add((budget * 3 / 4).min(LATEST))
    }
}
