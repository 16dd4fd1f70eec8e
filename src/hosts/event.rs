//! An event of a host: what it is called, how its context and its results are spelled, and how long
//! the host waits. Types only.

use std::time::Duration;

use super::results::{ReplyForm, ReplyKey, ReplySlot, Results};
use crate::engine::event::{Conduct, Merge, OnFailure, Schedule};

/// One event of a dialect: a row over a row of the catalog.
#[derive(Debug)]
pub struct HostEvent {
    /// What the system calls it.
    pub name: &'static str,
    /// Other spellings of the name.
    pub aliases: &'static [&'static str],
    pub event: &'static str,
    /// The key, and the value in it, that distinguish this event from others of the same name, or
    /// always go with it.
    pub when: Option<(&'static str, &'static str)>,
    /// Their context keys and ours, in the order in which they are read. Keys that are not listed
    /// are the same; of several for one of ours, hooks get the last.
    pub keys: &'static [(&'static str, &'static str)],
    /// Other names of keys, as `keys`, that are read and never written.
    pub also: &'static [(&'static str, &'static str)],
    /// Keys of theirs that hold a fact of ours too.
    pub stand_ins: &'static [StandIn],
    /// The objects in which facts of it are, of which an event has one; none where all are at the
    /// top.
    pub inside: &'static [InnerFacts],
    /// The tool that it is about, where it is about one alone.
    pub gather: Option<Gather>,
    /// It is about the tools of MCP servers alone.
    pub is_of_servers: bool,
    /// Their keys that hold a text in parts: `[{"type": "text", "text": "…"}]`.
    pub in_parts: &'static [&'static str],
    /// Their keys that hold JSON as a string.
    pub as_text: &'static [&'static str],
    pub results: Results,
    /// What a hook prints that is no JSON is text for the model.
    pub text_teaches: bool,
    /// Whether a hook may block it.
    pub blocks: bool,
    /// What a failing hook means.
    pub on_failure: OnFailure,
    /// What a hook has changed of its event before it throws an error stays changed.
    pub keeps_thrown: bool,
    pub schedule: Schedule,
    /// What else is different from the catalog.
    pub conduct: Conduct,
    /// How long the host waits, if it does not wait for ever.
    pub wait: Option<Wait>,
}

impl HostEvent {
    /// A row with the catalog's usual rules for what can only be observed. Tables begin with it.
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
        text_teaches: false,
        blocks: false,
        on_failure: OnFailure::Allow,
        keeps_thrown: false,
        schedule: Schedule::Sequential,
        conduct: Conduct::USUAL,
        wait: None,
    };
}

/// Gives each column a function that makes the same row with another value there, so that most rows
/// of a table are short.
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
        inside: &'static [InnerFacts],
        in_parts: &'static [&'static str],
        as_text: &'static [&'static str],
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
    pub(super) const fn of_servers(mut self) -> HostEvent {
        self.is_of_servers = true;
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

    #[must_use]
    pub(super) const fn teaches(mut self) -> HostEvent {
        self.text_teaches = true;
        self
    }

    /// With so many seconds to decide: less than the host waits, since it then goes on.
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
    /// The row for an event of this name, over this one of the catalog.
    #[must_use]
    pub const fn named(mut self, name: &'static str, event: &'static str) -> HostEvent {
        self.name = name;
        self.event = event;
        self
    }

    /// The row of an event that a hook of a host can only watch.
    #[must_use]
    pub(super) const fn told(
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

    /// The row of an event that a hook of a host may block, and that a failure blocks.
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

    /// The row of an event that a hook of a host may block; a failure lets it go on.
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

/// An event that hookrun's plugin passes on, and that can only be watched.
pub(super) const fn reports(name: &'static str, event: &'static str) -> HostEvent {
    asks(name, event, &[])
}

/// An event that hookrun's plugin passes on, and what hookrun can answer there.
pub(super) const fn asks(
    name: &'static str,
    event: &'static str,
    says: &'static [ReplySlot],
) -> HostEvent {
    let mut row = HostEvent::OBSERVER.named(name, event);
    row.results = Results::Plugin(says);
    let mut number = 0;
    while number < says.len() {
        if matches!(says[number], ReplySlot::Refusal) {
            row = row.blocks(true).on_failure(OnFailure::Block);
        }
        number += 1;
    }
    row
}

/// A broken configuration is reported and no more: what the host has done already stays done, and
/// an agent that may never stop could not be stopped in a host that sets no limit (Codex).
const READS_ON: Conduct = Conduct {
    reads_on: true,
    ..Conduct::USUAL
};

/// A key of a system that holds a fact of ours where the event does not have it under our key:
/// it stays what it is, and is read under our key as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandIn {
    pub theirs: &'static str,
    pub ours: &'static str,
    /// Whether hooks of that system get it, made from ours, where the event lacks it.
    pub is_made: bool,
}

/// An object of a host's event that holds facts of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerFacts {
    /// Its key at the top.
    pub object: &'static str,
    /// Its own keys that are read as if they were at the top.
    pub keys: &'static [&'static str],
}

/// A tool with a special event, which holds what is the tool's input elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gather {
    /// What the host calls the tool where it calls it anything.
    pub tool: &'static str,
    /// The keys of the event that are the tool's input.
    pub keys: &'static [&'static str],
}

/// How long a host waits for a hook of an event. Then it goes on as if the hook had allowed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Where its settings say nothing else.
    pub usual: Duration,
    /// The longest that its settings may say; `None` for any time.
    pub longest: Option<Duration>,
    /// Whether it was measured, or the host's documents say so. Else it is what we think safe.
    pub is_known: bool,
}

impl Wait {
    /// A host that waits so many seconds, and as long as its settings say.
    pub const fn seconds(seconds: u64) -> Wait {
        Wait::millis(1000 * seconds)
    }

    /// A host that does not say how long it waits: what we think safe.
    pub(super) const fn guessed(seconds: u64) -> Wait {
        Wait {
            is_known: false,
            ..Wait::seconds(seconds)
        }
    }

    /// A host that waits so many milliseconds, and as long as its settings say.
    pub const fn millis(millis: u64) -> Wait {
        Wait {
            usual: Duration::from_millis(millis),
            longest: None,
            is_known: true,
        }
    }

    /// A host that never waits longer than so many seconds, with any settings.
    #[must_use]
    pub const fn at_most(mut self, seconds: u64) -> Wait {
        self.longest = Some(Duration::from_secs(seconds));
        self
    }
}

/// What hookrun keeps of a host's time: its own start on a loaded machine (the host's time runs
/// before hookrun does), and what comes after the budget. Hooks get 200 ms to end by themselves,
/// their output is waited for 100 ms, what cannot be killed is given up after 1 s; and where
/// the system itself hangs, the watchdog looks twice.
pub const MARGIN: Duration = Duration::from_secs(5);

/// How long after the end of a budget a watchdog has the last word at the latest.
pub const LATEST: Duration = Duration::from_millis(750);

impl Wait {
    /// How long hookrun may take where the host waits for `limit`: all of it but for [`MARGIN`],
    /// at least a half.
    pub fn budget(limit: Duration) -> Duration {
        limit - MARGIN.min(limit / 2)
    }

    /// When a watchdog has to answer at the latest, after the start, where the budget is `budget`:
    /// when three quarters of what [`Wait::budget`] has kept are gone, and [`LATEST`] at most.
    pub fn last_word(budget: Duration) -> Duration {
        budget.saturating_add((budget * 3 / 4).min(LATEST))
    }
}
