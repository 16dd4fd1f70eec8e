//! The rows of the tables: what hookrun knows of a system, its events and its tools.
//!
//! Nouns only. The files next to this one read them, and `hosts.rs` lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::HostEvent;
use super::install::Install;
use super::install::{FailsClosed, MeasuredVersion};
use super::settings::HostFile;
use super::tool::HostTools;

/// What a host gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// One JSON document, or nothing.
    pub stdout: String,
    /// The reason of a block, else notices, one a line; or nothing.
    pub stderr: String,
    pub status: u8,
}

/// An agent or another hook system, with all that is known of it.
#[derive(Debug)]
pub struct Host {
    /// Its name, for `--host`, `install`, `--host` and `dialect = "…"`.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// What people call it.
    pub title: &'static str,
    /// What its program is called, where that is not its name.
    pub program: Option<&'static str>,
    /// Hooks there are functions of a program.
    pub is_system: bool,
    /// The key of its events that holds their name.
    pub names_event_by: &'static str,
    /// Of several hooks with one event, tool matcher and name that of the nearest layer (explicit,
    /// project, user, system) runs. A hook with a mistake does not run, and the others do.
    pub nearest_wins: bool,
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
    /// Its events; none for a host that only a plugin of hookrun's translates.
    pub events: &'static [HostEvent],
    /// What shows that a context is of this host, by its keys alone.
    pub signs: &'static [Sign],
    /// Words in the text of a script that show that it was written for this host: keys of its events
    /// and results that hookrun does not have.
    pub words: &'static [&'static str],
    /// The version that hookrun was measured with, and when; `None` for documents alone.
    pub measured: Option<MeasuredVersion>,
    pub fails_closed: FailsClosed,
    /// Tools and calls that no event shows.
    pub unseen: &'static [&'static str],
    /// What a person has to do before it runs hooks at all; `None` where nothing is known to be needed.
    pub trust: Option<&'static str>,
    /// Whose settings it reads too: it runs the hooks in them as its own.
    pub reads: &'static [&'static str],
    /// The hosts whose plugins it converts, with the hooks in them.
    pub converts: &'static [&'static str],
    /// Its settings file, in which commands are hooks.
    pub settings: Option<HostFile>,
    pub install: Install,
    /// Files below a project whose hooks `hookrun import` reads. Of a folder it is every file in it.
    pub imports: &'static [&'static str],
}

impl Host {
    /// A system with our own spelling, no tools and no files. Tables begin with it.
    pub const PLAIN: Host = Host {
        name: "",
        aliases: &[],
        title: "",
        program: None,
        is_system: false,
        names_event_by: "type",
        nearest_wins: false,
        spelling: KeySpelling::Camel,
        runs_once: false,
        tools: &HostTools::NONE,
        variables: &[],
        roots: &[],
        like: None,
        events: &[],
        signs: &[],
        words: &[],
        measured: None,
        fails_closed: FailsClosed::Never,
        unseen: &[],
        trust: None,
        reads: &[],
        converts: &[],
        settings: None,
        install: Install::NONE,
        imports: &[],
    };
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

/// What shows that a context is a dialect's.
#[derive(Debug)]
pub struct Sign {
    /// What the event's name must be.
    pub named: SignedEvents,
    pub has: &'static [&'static str],
    pub lacks: &'static [&'static str],
}

/// What the name of an event says about its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedEvents {
    /// It is one of the dialect's, and of no other's.
    Alone,
    /// It is one of the dialect's.
    Known,
    /// It is one of the dialect's, and none of this other one's.
    KnownNotIn(&'static str),
    /// It is one of the dialect's, or not known yet.
    KnownOrNew,
    /// It is one of ours: of the catalog, or made up with a dot in it.
    Ours,
    /// No name is there.
    Nowhere,
}

/// A sign: what the event's name must be, and keys that the context has and lacks.
pub(super) const fn sign(
    named: SignedEvents,
    has: &'static [&'static str],
    lacks: &'static [&'static str],
) -> Sign {
    Sign { named, has, lacks }
}

/// Keys that are in no context of a hook system, nor in ours.
pub(super) const NOT_OF_SYSTEMS: &[&str] = &["hook_event_name", "session_id", "conversation_id"];
