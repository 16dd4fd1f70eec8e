//! The rows of the tables: what hookrun knows of a system, its events and its tools.
//!
//! Nouns only. The files next to this one read them, and `hosts.rs` lists them.

mod tool;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use tool::{HostTools, Mcp, Tool, ToolSort, tool};

use super::results::{ReplyForm, ReplyKey, Results};
use crate::engine::event::{Conduct, Merge, OnFailure, Schedule};

/// What a host gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// One JSON document, or nothing.
    pub stdout: String,
    /// The reason of a block, else notices, one a line; or nothing.
    pub stderr: String,
    pub status: u8,
}

/// One system's names, shapes and rules.
#[derive(Debug)]
pub struct Host {
    /// Its name, for `--dialect` and `dialect = "…"`.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// The key of its events that holds their name.
    pub names_event_by: &'static str,
    /// Which of the hooks that are found run.
    pub discovery: Discovery,
    /// How it spells the keys that a row does not list.
    pub spelling: KeySpelling,
    /// Of hooks of one event that run the same, the first runs.
    pub runs_once: bool,
    /// What it calls its tools and gives them.
    pub tools: &'static HostTools,
    /// The variables that it sets for its hooks.
    pub variables: &'static [HostVariable],
    /// The keys of its events that name what its user has opened: a folder, or a list of them.
    pub roots: &'static [&'static str],
    /// The host that hooks of this one are written for as well, where both have an event of one name.
    pub like: Option<&'static str>,
    /// Lines `{"type": "progress", …}` of a hook are for people, and no part of its answer.
    pub has_progress: bool,
    pub events: &'static [HostEvent],
}

impl Host {
    /// A system with our own spelling and no tools. Tables begin with it.
    pub const PLAIN: Host = Host {
        name: "",
        aliases: &[],
        names_event_by: "type",
        discovery: Discovery::All,
        spelling: KeySpelling::Camel,
        runs_once: false,
        tools: &HostTools::NONE,
        variables: &[],
        roots: &[],
        like: None,
        has_progress: false,
        events: &[],
    };
}

/// Which of the hooks that are found run in a host of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discovery {
    /// All of them.
    All,
    /// Of several hooks with one event, tool matcher and name that of the nearest layer (explicit,
    /// project, user, system). A hook with a mistake does not run, and the others do.
    FirstWins,
}

impl Discovery {
    /// What it means, in words; nothing for the usual way.
    pub fn about(self) -> Option<&'static str> {
        match self {
            Discovery::All => None,
            Discovery::FirstWins => Some(
                "Of hooks with one event, tool matcher and name the nearest layer's runs, and \
                 all of the system's run too. A hook with an error does not run; meanwhile a gate \
                 that fails closed blocks.",
            ),
        }
    }
}

/// How a system spells the keys of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySpelling {
    /// As we do: `toolName`. Keys that we do not know stay in the context.
    Camel,
    /// `tool_name`. The whole event as it came is under `raw`, and keys that we do not know are
    /// only there.
    Snake,
}

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

/// A function for each column, so that most rows of a table are one line.
macro_rules! columns {
    ($($seen:vis $name:ident($($part:ident: $type:ty),*) $column:ident = $value:expr;)*) => {
        impl HostEvent {$(
            /// The same row with this column.
            #[must_use]
            $seen const fn $name(mut self, $($part: $type),*) -> HostEvent {
                self.$column = $value;
                self
            }
        )*}
    };
}

type Texts = &'static [&'static str];
type KeyPairs = &'static [(&'static str, &'static str)];
type FormOfHost = &'static ReplyForm;

columns! {
    pub aliases(names: Texts) aliases = names;
    pub when(key: &'static str, value: &'static str) when = Some((key, value));
    pub keys(keys: KeyPairs) keys = keys;
    pub(super) also(keys: KeyPairs) also = keys;
    pub stand_ins(keys: &'static [StandIn]) stand_ins = keys;
    pub(super) inside(objects: &'static [InnerFacts]) inside = objects;
    pub(super) of_tool(tool: &'static str, keys: Texts) gather = Some(Gather { tool, keys });
    pub(super) of_servers() is_of_servers = true;
    pub(super) in_parts(keys: Texts) in_parts = keys;
    pub(super) text_keys(keys: Texts) as_text = keys;
    pub results(keys: &'static [ReplyKey]) results = Results::Keys(keys);
    pub(super) form(form: FormOfHost) results = Results::Form(form);
    pub whole(field: &'static str, merge: Merge) results = Results::Whole(field, merge);
    pub(super) teaches() text_teaches = true;
    pub blocks(blocks: bool) blocks = blocks;
    pub on_failure(on_failure: OnFailure) on_failure = on_failure;
    pub schedule(schedule: Schedule) schedule = schedule;
    pub conduct(conduct: Conduct) conduct = conduct;
    pub waits(wait: Wait) wait = Some(wait);
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
    pub(super) const fn told(
        self,
        name: &'static str,
        event: &'static str,
        form: FormOfHost,
    ) -> Self {
        self.form(form)
            .schedule(Schedule::Parallel)
            .conduct(READS_ON)
            .named(name, event)
    }

    /// The row of an event that a hook of a host may block, and that a failure blocks.
    pub(super) const fn gate(
        self,
        name: &'static str,
        event: &'static str,
        form: FormOfHost,
    ) -> Self {
        self.form(form)
            .blocks(true)
            .on_failure(OnFailure::Block)
            .named(name, event)
    }

    /// The row of an event that a hook of a host may block; a failure lets it go on.
    pub(super) const fn open_gate(
        self,
        name: &'static str,
        event: &'static str,
        form: FormOfHost,
    ) -> Self {
        self.form(form)
            .blocks(true)
            .conduct(READS_ON)
            .named(name, event)
    }
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

/// An event as one dialect has it.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    pub dialect: &'static Host,
    pub row: &'static HostEvent,
}

/// Bindings are equal when they are of the same row.
impl PartialEq for Binding {
    fn eq(&self, other: &Binding) -> bool {
        std::ptr::eq(self.row, other.row)
    }
}

impl Eq for Binding {}

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

/// A variable that a host sets for its hooks.
#[derive(Debug)]
pub struct HostVariable {
    pub name: &'static str,
    pub tells: Tells,
}

/// What is in a variable of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// The project's root.
    Project,
    /// The working directory of the event, else the project's root.
    Folder,
    /// This fact of the context, if it has it.
    Fact(&'static str),
    Word(&'static str),
}

/// A row of a table.
pub const fn variable(name: &'static str, tells: Tells) -> HostVariable {
    HostVariable { name, tells }
}

/// Why an event of a dialect cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It is another event than the wanted one.
    #[error("the context is of the event `{found}`, not of `{asked}`")]
    OtherEvent { asked: String, found: String },
    /// The key that distinguishes events of one name is missing or has no known value.
    #[error("`{key}` says which `{name}` it is, and {}: give one of {}", .found.as_ref().map_or("is missing".to_string(), |found| format!("`{found}` is none that is known")), .known.join(", "))]
    NotTold {
        name: String,
        key: &'static str,
        /// What is in it.
        found: Option<String>,
        known: Vec<&'static str>,
    },
    /// The context has a fact under both names.
    #[error("`{theirs}` and `{ours}` are the same; give one of them")]
    Twice {
        theirs: &'static str,
        /// Our key.
        ours: &'static str,
    },
    /// A tool is to be decided, and the context does not say which.
    #[error("`{key}` is missing, so no hook can know which tool it is")]
    NoTool {
        /// The dialect's key.
        key: String,
    },
}
