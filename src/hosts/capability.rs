//! What a hook can decide in each agent host: a view of the tables of dialects, plugins and facts. What
//! `install` and `doctor` say of a host, `hookrun events`, and the tables of the documents come from here.

use super::facts::{self, FACTS, HostFacts};
use super::plugins::{self, PLUGINS, PluginEvent};
use super::results::{ReplyRule, ReplySlot, Results};
use super::row::{HostEvent, HostTools, Wait};
use crate::engine::event::OnFailure;

/// An event of a host, as hookrun serves it by a command or a plugin.
#[derive(Debug, Clone)]
pub struct ServedEvent {
    /// The host's name for it.
    pub name: &'static str,
    /// Ours.
    pub event: &'static str,
    /// The tool that it is about, where it is about one alone.
    pub tool: Option<&'static str>,
    pub blocks: bool,
    /// A failing hook blocks it.
    pub fails_closed: bool,
    /// Exit status 2 blocks it, so the shell that starts hookrun can block in its place.
    pub takes_status: bool,
    /// What hookrun can say there.
    pub says: Vec<ReplySlot>,
    pub wait: Option<Wait>,
}

/// What a host can do.
#[derive(Debug)]
pub struct Capabilities {
    pub facts: &'static HostFacts,
    pub events: Vec<ServedEvent>,
    /// The tools that its events show, as far as they are known.
    pub tools: &'static HostTools,
}

const GATE: &str = "tool.pre";

/// Every agent host, in the order of reports.
pub fn all() -> impl Iterator<Item = Capabilities> {
    FACTS.iter().filter_map(|facts| of(facts.host))
}

/// What the host of this name can do.
pub fn of(host: &str) -> Option<Capabilities> {
    let facts = facts::of(host)?;
    let by_plugin = PLUGINS.iter().find(|(name, _)| *name == host);
    let dialect = super::find(host);
    let events = match by_plugin {
        Some((_, events)) => events.iter().map(ServedEvent::of_plugin).collect(),
        None => dialect?
            .events
            .iter()
            .map(ServedEvent::of_dialect)
            .collect(),
    };
    let tools = match (by_plugin, dialect) {
        (None, Some(dialect)) => dialect.tools,
        _ => plugins::tools(host),
    };
    Some(Capabilities {
        facts,
        events,
        tools,
    })
}

impl ServedEvent {
    /// The event that a plugin passes on.
    pub fn of_plugin(row: &PluginEvent) -> ServedEvent {
        let PluginEvent {
            name,
            event,
            wait,
            says,
        } = *row;
        let blocks = row.can_refuse();
        ServedEvent {
            name,
            event,
            tool: None,
            blocks,
            fails_closed: blocks && event != "agent.stop",
            takes_status: false,
            says: says.to_vec(),
            wait,
        }
    }

    /// The event by which a host asks itself.
    pub fn of_dialect(row: &HostEvent) -> ServedEvent {
        let writes: &[ReplyRule] = match row.results {
            Results::Form(form) => form.writes,
            Results::Native | Results::Keys(_) | Results::Whole(..) => &[],
        };
        ServedEvent {
            name: row.name,
            event: row.event,
            tool: row.gather.map(|gather| gather.tool),
            blocks: row.blocks,
            fails_closed: row.blocks && row.on_failure == OnFailure::Block,
            takes_status: writes
                .iter()
                .any(|say| say.on == ReplySlot::Refusal && say.status == 2),
            says: writes.iter().map(|say| say.on).collect(),
            wait: row.wait,
        }
    }

    /// What a hook can decide in it, in a few words; nothing where it can only be watched.
    pub fn decides(&self) -> Vec<String> {
        let block = self.blocks.then(|| "block".to_string());
        let others = self.says.iter().filter_map(|on| match on {
            ReplySlot::Refusal | ReplySlot::Output | ReplySlot::Consent => None,
            ReplySlot::Objection => Some("object".to_string()),
            ReplySlot::Question => Some("ask".to_string()),
            ReplySlot::New(field) => Some(format!("rewrite `{field}`")),
            ReplySlot::Context => Some("context".to_string()),
        });
        block.into_iter().chain(others).collect()
    }
}

impl Capabilities {
    /// The event of the host for this one of ours: of several the first, which covers the others.
    pub fn called(&self, event: &str) -> Option<&ServedEvent> {
        self.events.iter().find(|it| it.event == event)
    }

    pub fn blocks(&self, event: &str) -> bool {
        self.called(event).is_some_and(|it| it.blocks)
    }

    /// Whether hookrun can say this before a tool.
    fn says_before_a_tool(&self, is_it: impl Fn(&ReplySlot) -> bool) -> bool {
        self.called(GATE)
            .is_some_and(|it| it.says.iter().any(is_it))
    }

    /// Whether the host asks its user about a tool; else a question blocks.
    pub fn asks(&self) -> bool {
        self.says_before_a_tool(|on| *on == ReplySlot::Question)
    }

    /// Whether a tool can get a new input.
    pub fn rewrites(&self) -> bool {
        self.says_before_a_tool(|on| matches!(on, ReplySlot::New(_)))
    }

    /// Whether a hook before a tool can tell the model something.
    pub fn teaches(&self) -> bool {
        self.says_before_a_tool(|on| *on == ReplySlot::Context)
    }

    /// What it cannot do, and what no hook sees.
    pub fn limits(&self) -> Vec<String> {
        let mut limits = Vec::new();
        if !self.asks() {
            limits.push("it cannot ask: a question from a hook blocks".to_string());
        }
        match (self.blocks("prompt.submit"), self.blocks("agent.stop")) {
            (true, true) => {}
            (false, true) => limits.push("a prompt cannot be blocked".to_string()),
            (true, false) => limits.push("a stop cannot be blocked".to_string()),
            (false, false) => {
                limits.push("neither a prompt nor a stop can be blocked".to_string());
            }
        }
        if !self.rewrites() {
            limits.push("a tool gets no new input: a hook that rewrites it blocks it".to_string());
        }
        if !self.teaches() {
            let text = "what a hook says for the model before a tool does not reach it";
            limits.push(text.to_string());
        }
        let open = self.facts.open_when_installed();
        let is_guarded = open.len() < self.facts.open_on().len();
        let open = (!open.is_empty())
            .then(|| format!("a hookrun that {} lets the tool run", open.join(" or ")));
        if is_guarded {
            let guard = "it has no switch for failures: the command that `install` writes blocks \
                         where hookrun is missing or killed";
            limits.push(open.map_or(guard.to_string(), |open| format!("{guard}; {open}")));
        } else {
            limits.extend(open);
        }
        limits.extend(
            self.facts
                .unseen
                .iter()
                .map(|what| format!("no hook sees {what}")),
        );
        let read: Vec<String> = self
            .facts
            .reads
            .iter()
            .map(|one| format!("`{}`", one.host))
            .collect();
        if !read.is_empty() {
            let hosts = read.join(" and ");
            limits.push(format!(
                "it also runs the hooks in the settings of {hosts}: hookrun decides a call once"
            ));
        }
        limits
    }
}
