//! A row of the catalog as its parts write it: the sorts of event, and the form of the table.

use std::borrow::Cow::{self, Borrowed};

use crate::engine::event::spec::{
    Conduct, ContextKey, EventSpec, Merge, OnFailure, Rewrite, Schedule,
};

/// An [`EventSpec`] without what needs memory, so that the table can be built by the compiler.
#[derive(Clone, Copy)]
pub(super) struct EventRow {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) context: &'static [ContextKey],
    pub(super) required: &'static [Cow<'static, str>],
    pub(super) rewrites: &'static [Rewrite],
    pub(super) blocks: bool,
    pub(super) on_failure: OnFailure,
    pub(super) schedule: Schedule,
    pub(super) most_refusals: Option<u32>,
    pub(super) text_teaches: bool,
}

/// May block what is about to happen, and blocks if it fails.
pub(super) const GATE: EventRow = EventRow {
    blocks: true,
    on_failure: OnFailure::Block,
    schedule: Schedule::Sequential,
    ..OBSERVER
};

/// May block; if it fails, the event goes on. For a block that a failing hook would turn into a
/// trap: "not done yet" keeps an agent working for ever, and a session that cannot be compacted, or
/// a message that never arrives, is lost.
pub(super) const OPEN_GATE: EventRow = EventRow {
    on_failure: OnFailure::Allow,
    ..GATE
};

/// May keep somebody at work by blocking. After eight blocks in a row it cannot: that many have not
/// helped, and hosts that set a limit have this one.
pub(super) const STOP_GATE: EventRow = EventRow {
    most_refusals: Some(8),
    ..OPEN_GATE
};

/// May rewrite, cannot block.
pub(super) const TRANSFORM: EventRow = EventRow {
    schedule: Schedule::Sequential,
    ..OBSERVER
};

/// Can only look on, and the host waits: its output and context still reach the model.
pub(super) const OBSERVER: EventRow = EventRow {
    name: "",
    summary: "",
    aliases: &[],
    context: &[],
    required: &[],
    rewrites: &[],
    blocks: false,
    on_failure: OnFailure::Allow,
    schedule: Schedule::Parallel,
    most_refusals: None,
    text_teaches: false,
};

/// Can only look on, and the host does not wait: no model could read an answer.
pub(super) const NOTICE: EventRow = EventRow {
    schedule: Schedule::Detached,
    ..OBSERVER
};

/// The rows of one part: name, sort and summary; what hosts also call it, the keys that it has, those
/// that it needs, its rewrites, and whether its text teaches the model. A macro, because a row is
/// readable only in a form that rustfmt leaves alone.
macro_rules! events {
    ($(
        $name:literal $sort:ident $summary:literal
        $(, also [$($alias:literal)+])?
        , has [$($key:ident)+]
        $(, needs [$($needed:literal)+])?
        $(, rewrites [$($merge:ident $field:literal),+])?
        $(, teaches $teaches:literal)?
        ;
    )+) => {
        pub(super) const ROWS: &[EventRow] = &[$(EventRow {
            name: $name,
            summary: $summary,
            $(aliases: &[$($alias),+],)?
            context: &[$($key),+],
            $(required: &[$(std::borrow::Cow::Borrowed($needed)),+],)?
            $(rewrites: &[$(rewrite($field, crate::engine::event::spec::Merge::$merge)),+],)?
            $(text_teaches: $teaches,)?
            ..$sort
        }),+];
    };
}

pub(super) use events;

pub(super) const fn rewrite(field: &'static str, merge: Merge) -> Rewrite {
    Rewrite {
        field: Borrowed(field),
        merge,
    }
}

impl EventRow {
    pub(super) const fn spec(self) -> EventSpec {
        EventSpec {
            name: Borrowed(self.name),
            summary: Borrowed(self.summary),
            aliases: self.aliases,
            context: Borrowed(self.context),
            required: Borrowed(self.required),
            blocks: self.blocks,
            rewrites: Borrowed(self.rewrites),
            on_failure: self.on_failure,
            schedule: self.schedule,
            conduct: Conduct {
                most_refusals: self.most_refusals,
                text_teaches: self.text_teaches,
                ..Conduct::USUAL
            },
        }
    }
}
