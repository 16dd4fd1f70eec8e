//! The types of a host's table. The files beside this one read them; `hosts.rs` lists the hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::HostEvent;
use super::settings::{FailsClosed, HostFile, Install};
use super::tool::{Mcp, Tool};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// One JSON document, or empty.
    pub stdout: String,
    /// The reason for a block, else notices, one a line; may be empty.
    pub stderr: String,
    pub status: u8,
}

#[derive(Debug)]
pub struct Host {
    /// The name for `--host`, `install` and `dialect = "…"`.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub title: &'static str,
    /// The name of its program, if different from `name`.
    pub program: Option<&'static str>,
    /// Hooks are functions of a program.
    pub is_system: bool,
    /// The event key that holds the event's name.
    pub names_event_by: &'static str,
    /// The spelling of keys that a row does not list.
    pub spelling: KeySpelling,
    /// Its hooks are specs with `type` and `timeoutMs`, and several can have one name.
    pub has_specs: bool,
    /// Of identical hooks of one event, only the first runs.
    pub runs_once: bool,
    /// The known tools. The first of several with one sort is preferred; of several with one name,
    /// the input decides.
    pub tools: &'static [Tool],
    /// How it names tools of MCP servers.
    pub mcp: Mcp,
    /// Variables that it sets for its hooks.
    pub variables: &'static [(&'static str, VariableValue)],
    /// Event keys that name the opened folder or folders.
    pub roots: &'static [&'static str],
    /// The host whose hooks also work here, where both have an event of one name.
    pub like: Option<&'static str>,
    /// Its events; empty for a host with a plugin.
    pub events: &'static [HostEvent],
    /// Key patterns that identify a context of this host.
    pub signs: &'static [Sign],
    /// Words that identify a script for this host: keys of its events and results that hookrun does
    /// not have.
    pub words: &'static [&'static str],
    pub fails_closed: FailsClosed,
    /// Tools and calls without an event.
    pub unseen: &'static [&'static str],
    /// The user's step before it runs any hook; `None` if nothing is known.
    pub trust: Option<&'static str>,
    /// Hosts whose settings it also reads and whose hooks it runs.
    pub reads: &'static [&'static str],
    /// Hosts whose plugins it converts, including their hooks.
    pub converts: &'static [&'static str],
    /// The settings file in which commands are hooks.
    pub settings: Option<HostFile>,
    pub install: Install,
    /// Project files, or folders of files, whose hooks `hookrun import` reads.
    pub imports: &'static [&'static str],
}

impl Host {
    /// A system with native spelling, without tools and files; the base of tables.
    pub const PLAIN: Host = Host {
        name: "",
        aliases: &[],
        title: "",
        program: None,
        is_system: false,
        names_event_by: "type",
        spelling: KeySpelling::Camel,
        has_specs: false,
        runs_once: false,
        tools: &[],
        mcp: Mcp::Double,
        variables: &[],
        roots: &[],
        like: None,
        events: &[],
        signs: &[],
        words: &[],
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

/// How a system spells event keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySpelling {
    /// `toolName`, as hookrun does. Unknown keys stay in the context.
    Camel,
    /// `tool_name`. The original event is under `raw`, and only there are unknown keys.
    Snake,
}

/// An event of one dialect.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    pub dialect: &'static Host,
    pub row: &'static HostEvent,
}

/// Bindings are equal if they share the row.
impl PartialEq for Binding {
    fn eq(&self, other: &Binding) -> bool {
        std::ptr::eq(self.row, other.row)
    }
}

impl Eq for Binding {}

/// The content of a host's variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableValue {
    Project,
    /// The event's working directory, by default the project's root.
    Folder,
    /// This key of the context, if present.
    Fact(&'static str),
    Word(&'static str),
}

/// A pattern that identifies a dialect's context.
#[derive(Debug)]
pub struct Sign {
    pub named: SignedEvents,
    pub has: &'static [&'static str],
    pub lacks: &'static [&'static str],
}

/// The host implied by an event's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedEvents {
    /// Only this dialect has it.
    Alone,
    /// This dialect has it.
    Known,
    /// This dialect has it, and the given one does not.
    KnownNotIn(&'static str),
    /// This dialect has it, or no dialect does.
    KnownOrNew,
    /// It is in hookrun's catalog, or custom with a dot.
    Ours,
    /// The context names no event.
    Nowhere,
}

pub(super) const fn sign(
    named: SignedEvents,
    has: &'static [&'static str],
    lacks: &'static [&'static str],
) -> Sign {
    Sign { named, has, lacks }
}

/// Keys of agents that neither hook systems nor hookrun use.
pub(super) const NOT_OF_SYSTEMS: &[&str] = &["hook_event_name", "session_id", "conversation_id"];
