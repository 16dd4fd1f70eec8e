//! The rows of the tables: what is said of a system, of its events, of its tools.
//!
//! Nouns only. The files beside this one read them, and `dialects.rs` lists them.

use std::borrow::Cow;
use std::time::Duration;

use super::results::Results;
use crate::engine::event::{Conduct, Merge, OnFailure, Rewrite, Schedule};

/// What a host gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// One JSON document, or nothing.
    pub stdout: String,
    /// The reason of a refusal, else notices, one a line; or nothing.
    pub stderr: String,
    /// The exit status.
    pub status: u8,
}

/// One system's names, shapes and rules.
#[derive(Debug)]
pub struct Dialect {
    /// Its name, for `--dialect` and `dialect = "…"`.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line about it.
    pub summary: &'static str,
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
    /// Its events.
    pub events: &'static [DialectEvent],
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
    /// `tool_name`. The whole event as it came stands under `raw`, and keys that we do not know
    /// stand only there.
    Snake,
}

/// One event of a dialect: a row over a row of the catalog.
#[derive(Debug)]
pub struct DialectEvent {
    /// What the system calls it.
    pub name: &'static str,
    /// Other spellings of the name.
    pub aliases: &'static [&'static str],
    /// The canonical event.
    pub event: &'static str,
    /// The key, and the value in it, that tell this event from others of the same name, or that
    /// always go with it.
    pub when: Option<(&'static str, &'static str)>,
    /// Their context keys and ours, in the order in which they are read. Keys that are not listed
    /// are the same; of several for one of ours, hooks get the last.
    pub keys: &'static [(&'static str, &'static str)],
    /// Other names of keys, as `keys`, that are read and never told.
    pub also: &'static [(&'static str, &'static str)],
    /// Keys of theirs that tell a fact of ours too.
    pub stand_ins: &'static [StandIn],
    /// The tool that it tells of, where it tells of one alone.
    pub gather: Option<Gather>,
    /// It tells of the tools of MCP servers alone.
    pub is_of_servers: bool,
    /// Their keys that hold JSON as a string.
    pub as_text: &'static [&'static str],
    /// What its results say.
    pub results: Results,
    /// What a hook prints that is no JSON is text for the model.
    pub text_teaches: bool,
    /// Whether a hook may refuse it.
    pub blocks: bool,
    /// The fields, under our keys, that a hook may rewrite, and how several rewrites merge.
    pub rewrites: &'static [Rewrite],
    /// What a failing hook means.
    pub on_failure: OnFailure,
    /// What a hook has changed of its event before it throws an error stays changed.
    pub keeps_thrown: bool,
    /// How its hooks are run.
    pub schedule: Schedule,
    /// What else is different from the catalog.
    pub conduct: Conduct,
    /// How long the host waits, if it does not wait for ever.
    pub wait: Option<Wait>,
}

impl DialectEvent {
    /// A row with the catalog's usual rules for what can only be observed. Tables begin with it.
    pub const OBSERVER: DialectEvent = DialectEvent {
        name: "",
        aliases: &[],
        event: "",
        when: None,
        keys: &[],
        also: &[],
        stand_ins: &[],
        gather: None,
        is_of_servers: false,
        as_text: &[],
        results: Results::Keys(&[]),
        text_teaches: false,
        blocks: false,
        rewrites: &[],
        on_failure: OnFailure::Allow,
        keeps_thrown: false,
        schedule: Schedule::Sequential,
        conduct: Conduct::USUAL,
        wait: None,
    };
}

/// A key of a system that tells a fact of ours where the event does not have it under our key:
/// it stays what it is, and is read under our key as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandIn {
    /// Their key.
    pub theirs: &'static str,
    /// Our key.
    pub ours: &'static str,
    /// Whether hooks of that system get it, made from ours, where the event lacks it.
    pub is_made: bool,
}

/// A tool that has an event of its own: what is the tool's input elsewhere stands in the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gather {
    /// What the host calls the tool where it calls it anything.
    pub tool: &'static str,
    /// The keys of the event that are the tool's input.
    pub keys: &'static [&'static str],
}

/// A field, under our key, that hooks of an event may rewrite.
pub const fn rewrite(field: &'static str, merge: Merge) -> Rewrite {
    Rewrite { field: Cow::Borrowed(field), merge }
}

/// An event as one dialect has it.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The row.
    pub row: &'static DialectEvent,
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
        Wait { usual: Duration::from_millis(millis), longest: None, is_known: true }
    }

    /// A host that never waits longer than so many seconds, whatever its settings say.
    #[must_use]
    pub const fn at_most(mut self, seconds: u64) -> Wait {
        self.longest = Some(Duration::from_secs(seconds));
        self
    }
}

/// A variable that a host sets for its hooks.
#[derive(Debug)]
pub struct HostVariable {
    /// Its name.
    pub name: &'static str,
    /// What is in it.
    pub tells: Tells,
}

/// What a variable of a host tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// The project's root.
    Project,
    /// The working directory of the event, else the project's root.
    Folder,
    /// This fact of the context, where it is told.
    Fact(&'static str),
    /// This word.
    Word(&'static str),
}

/// A row of a table.
pub const fn variable(name: &'static str, tells: Tells) -> HostVariable {
    HostVariable { name, tells }
}

/// The tools of a host.
#[derive(Debug)]
pub struct HostTools {
    /// Those that are known. Of several with one sort the first is meant; of several with one
    /// name, what they are given tells.
    pub rows: &'static [Tool],
    /// What it calls the tools of MCP servers.
    pub mcp: Mcp,
}

impl HostTools {
    /// No tools of its own.
    pub const NONE: HostTools = HostTools { rows: &[], mcp: Mcp::Double };
}

/// A tool of a host.
#[derive(Debug)]
pub struct Tool {
    /// What the host calls it.
    pub name: &'static str,
    /// What it is.
    pub sort: ToolSort,
    /// Other names by which matchers mean it.
    pub also: &'static [&'static str],
    /// The keys of its input that are called otherwise elsewhere: the usual name, and its own.
    pub keys: &'static [(&'static str, &'static str)],
}

/// What a tool is, with the keys that its input usually has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSort {
    /// `command`.
    Shell,
    /// `file_path`.
    Read,
    /// `file_path`, `content`.
    Write,
    /// `file_path`, `old_string`, `new_string`; or `edits`, a list of both.
    Edit,
    /// `command`: a patch over any number of files.
    Patch,
    /// `pattern`, `path`.
    Grep,
    /// `pattern`, `path`.
    Glob,
    /// `path`.
    List,
    /// `url`.
    Fetch,
    /// `query`.
    WebSearch,
    /// `prompt`.
    Agent,
}

/// A row without other names and keys. Tables begin with it.
pub const fn tool(name: &'static str, sort: ToolSort) -> Tool {
    Tool { name, sort, also: &[], keys: &[] }
}

/// What a host calls the tool of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mcp {
    /// `mcp__server__tool`.
    Double,
    /// `mcp_server_tool`.
    Single,
    /// `server-tool`.
    Hyphen,
    /// `MCP:tool`: the server is not named.
    Bare,
}

impl Mcp {
    /// The name of a tool.
    pub fn write(self, server: &str, tool: &str) -> String {
        match self {
            Mcp::Double => format!("mcp__{server}__{tool}"),
            Mcp::Single => format!("mcp_{server}_{tool}"),
            Mcp::Hyphen => format!("{server}-{tool}"),
            Mcp::Bare => format!("MCP:{tool}"),
        }
    }
}

/// Why an event of a dialect cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It is another event than the one that was asked for.
    #[error("the context is of the event `{found}`, not of `{asked}`")]
    OtherEvent {
        /// The name that was asked for.
        asked: String,
        /// The name in the context.
        found: String,
    },
    /// The key that tells events of one name apart is missing or has no known value.
    #[error("`{key}` says which `{name}` it is, and {}: give one of {}", .found.as_ref().map_or("is missing".to_string(), |found| format!("`{found}` is none that is known")), .known.join(", "))]
    NotTold {
        /// The name of the event.
        name: String,
        /// The key.
        key: &'static str,
        /// What is in it.
        found: Option<String>,
        /// Its values.
        known: Vec<&'static str>,
    },
    /// A fact stands in the context under both names.
    #[error("`{theirs}` and `{ours}` are the same; give one of them")]
    Twice {
        /// The dialect's key.
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
