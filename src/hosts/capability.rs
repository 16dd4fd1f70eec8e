//! What a hook can decide in each agent host: a view of its events, plugin and facts. What
//! `install` and `doctor` say of a host, `hookrun events`, and the tables of the documents come from here.

use super::event::{HostEvent, Wait};
use super::install::{HostFailure, HostShell};
use super::install::{HostForm, Plugin};
use super::results::ReplySlot;
use super::row::Host;
use super::tool::HostTools;
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

const GATE: &str = "tool.pre";

impl ServedEvent {
    pub fn of(row: &HostEvent) -> ServedEvent {
        let refusal = row
            .results
            .form()
            .and_then(|form| form.say(ReplySlot::Refusal));
        ServedEvent {
            name: row.name,
            event: row.event,
            tool: row.gather.map(|gather| gather.tool),
            blocks: row.blocks,
            fails_closed: row.blocks && row.on_failure == OnFailure::Block,
            takes_status: refusal.is_some_and(|say| say.status == 2),
            says: row.results.says(),
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

impl Host {
    /// Whether hookrun can be installed into it.
    pub fn is_installable(&self) -> bool {
        !matches!(self.install.form, HostForm::Nothing)
    }

    pub fn plugin(&self) -> Option<&Plugin> {
        match &self.install.form {
            HostForm::Plugin(plugin) => Some(plugin),
            HostForm::Nothing | HostForm::Settings | HostForm::Scripts(_) => None,
        }
    }

    /// What runs the command of a hook; `None` where it runs no command of a hook's.
    pub fn shell(&self) -> Option<HostShell> {
        self.settings.as_ref().map(|file| file.shell)
    }

    /// Its events in its own words; else those that its plugin passes on.
    pub fn all_events(&'static self) -> &'static [HostEvent] {
        match self.plugin() {
            Some(plugin) if self.events.is_empty() => plugin.events,
            _ => self.events,
        }
    }

    /// Its events as hookrun serves them.
    pub fn served_events(&self) -> Vec<ServedEvent> {
        let rows = self.plugin().map_or(self.events, |plugin| plugin.events);
        rows.iter().map(ServedEvent::of).collect()
    }

    /// The tools that its events show, as far as they are known.
    pub fn shown_tools(&self) -> &'static HostTools {
        self.plugin().map_or(self.tools, |plugin| plugin.tools)
    }

    /// The event of the host for this one of ours: of several the first, which covers the others.
    pub fn served_event(&self, event: &str) -> Option<ServedEvent> {
        self.served_events()
            .into_iter()
            .find(|it| it.event == event)
    }

    pub fn blocks(&self, event: &str) -> bool {
        self.served_event(event).is_some_and(|it| it.blocks)
    }

    /// Whether hookrun can say this before a tool.
    fn says_before_a_tool(&self, is_it: impl Fn(&ReplySlot) -> bool) -> bool {
        self.served_event(GATE)
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

    /// How well the host is known, in a sentence.
    pub fn known(&self) -> String {
        let measured = match self.measured {
            Some(it) => format!("Measured with version {} on {}", it.version, it.date),
            None => "Not measured: no client was run".to_string(),
        };
        format!(
            "{measured}; its documents were read on {}.",
            self.documented
        )
    }

    /// With which failures of hookrun it lets a tool run, in words; nothing where there is none.
    pub fn open_on(&self) -> Vec<&'static str> {
        self.opens().map(HostFailure::about).collect()
    }

    /// The same with what `install` writes: where status 2 blocks, the command blocks in hookrun's place.
    pub fn open_when_installed(&self) -> Vec<&'static str> {
        self.opens()
            .filter(|one| !one.is_guarded())
            .map(HostFailure::about)
            .collect()
    }

    fn opens(&self) -> impl Iterator<Item = HostFailure> {
        HostFailure::ALL
            .iter()
            .copied()
            .filter(|one| !self.closed_on.contains(one))
    }

    /// Whether it may run the hooks that were written for another host.
    pub fn runs_hooks_of(&self, host: &str) -> bool {
        self.reads.contains(&host) || self.converts.contains(&host)
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
        let open = self.open_when_installed();
        let is_guarded = open.len() < self.open_on().len();
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
            self.unseen
                .iter()
                .map(|what| format!("no hook sees {what}")),
        );
        let read: Vec<String> = self.reads.iter().map(|one| format!("`{one}`")).collect();
        if !read.is_empty() {
            let hosts = read.join(" and ");
            limits.push(format!(
                "it also runs the hooks in the settings of {hosts}: hookrun decides a call once"
            ));
        }
        limits.extend(self.install.cannot.iter().map(ToString::to_string));
        limits
    }
}
