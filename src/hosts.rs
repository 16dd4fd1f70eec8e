//! How hosts and other hook systems name events, shape JSON and decide: tables over the catalog.
//!
//! A dialect is used on two sides. On the host's side an event comes in with its names and keys
//! and the outcome goes out as its result; on the hook's side a hook that was written for it
//! gets that system's event and answers in its words. The functions here read rows; a new
//! system is a table, not code. The native way is hookrun's own contract turned round, so that
//! a set of hooks is itself a hook.

mod agy;
mod answer;
pub mod capability;
mod claude;
mod cline;
mod codex;
mod context;
mod convention;
mod copilot;
mod crush;
mod cursor;
mod devin;
mod factory;
pub mod facts;
pub mod folders;
mod gemini;
pub mod git;
mod goose;
mod grok;
mod judge;
mod kimi;
mod kiro;
mod loom;
pub mod native;
mod omp;
mod openclaw;
mod parts;
mod pi;
pub mod plugins;
mod qwen;
mod reply;
mod results;
mod row;
pub mod rules;
pub mod settings;
pub mod signs;
pub mod tools;
mod vscode;
mod wait;
mod windsurf;
mod wolli;

use crate::engine::complaint::Complaint;
use crate::engine::event::{Conduct, EventSpec, catalog};
use crate::engine::spelling;

#[cfg(feature = "cli")]
pub(crate) use context::snake;
#[cfg(feature = "serve")]
pub(crate) use reply::refusal_of_any;
pub use results::{
    Act, KeyMeaning, Refuses, ReplyForm, ReplyKey, ReplyRule, ReplySlot, ReplyValue, Results, key,
};
pub use row::{
    Binding, DecodeError, Discovery, Gather, Host, HostEvent, HostTools, HostVariable, InnerFacts,
    KeySpelling, Mcp, Reply, StandIn, Tells, Tool, ToolSort, Wait, tool, variable,
};
pub use wait::{LATEST, MARGIN};

/// The hook systems: there hooks are functions of a program.
pub const SYSTEMS: &[&Host] = &[
    &loom::LOOM,
    &wolli::WOLLI,
    &omp::OMP,
    &pi::PI,
    &openclaw::OPENCLAW,
];

/// Every dialect that comes with hookrun: the hook systems, then the hosts.
pub const DIALECTS: &[&Host] = &[
    &loom::LOOM,
    &wolli::WOLLI,
    &omp::OMP,
    &pi::PI,
    &openclaw::OPENCLAW,
    &claude::CLAUDE,
    &codex::CODEX,
    &gemini::GEMINI,
    &cursor::CURSOR,
    &copilot::COPILOT,
    &qwen::QWEN,
    &vscode::VSCODE,
    &factory::FACTORY,
    &windsurf::WINDSURF,
    &devin::DEVIN,
    &crush::CRUSH,
    &goose::GOOSE,
    &agy::AGY,
    &grok::GROK,
    &kiro::KIRO,
    &kimi::KIMI,
    &cline::CLINE,
];

/// The dialect that is called `name`, in any case; `None` also for `native`, which needs no table.
pub fn find(name: &str) -> Option<&'static Host> {
    let is_called = |dialect: &&&Host| {
        let names = std::iter::once(&dialect.name).chain(dialect.aliases);
        names.into_iter().any(|one| one.eq_ignore_ascii_case(name))
    };
    DIALECTS.iter().find(is_called).copied()
}

/// The canonical events that `name` may mean, to hookrun and in any dialect.
pub(crate) fn events_called(name: &str) -> Vec<&'static str> {
    let of_dialects = DIALECTS.iter().flat_map(|dialect| dialect.called(name));
    let own = catalog::find(name).map(|spec| spec.name.as_ref());
    of_dialects
        .map(|binding| binding.row.event)
        .chain(own)
        .collect()
}

impl Host {
    /// The events that are meant by `name`: by the system's own name for them, in any case, else
    /// by the canonical one. Several events can have one name, and a key that distinguishes them
    /// (pi's `session`); of several names for a canonical event the first row is meant.
    pub fn called(&'static self, name: &str) -> Vec<Binding> {
        let own = self.events.iter().filter(|row| row.is_called(name));
        let mut rows: Vec<&HostEvent> = own.collect();
        if rows.is_empty() {
            rows.extend(
                self.events
                    .iter()
                    .find(|row| row.event.eq_ignore_ascii_case(name)),
            );
        }
        rows.into_iter()
            .map(|row| Binding { dialect: self, row })
            .collect()
    }

    /// The name of an event of this dialect that is nearest to `name`.
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        spelling::nearest(name, self.events.iter().map(|row| row.name))
    }

    /// What to say of an event that it does not have.
    pub(crate) fn unknown_event(&self, name: &str) -> Complaint {
        let cause = format!("`{name}` is no event of {}", self.name);
        let all = || format!("its events are {}", self.names().join(", "));
        Complaint::with_cure(cause, spelling::did_you_mean(self.nearest(name), all))
    }

    /// Whether its events have a [`ReplyForm`]: a host reads nothing else on stdout.
    pub fn has_forms(&self) -> bool {
        self.events
            .iter()
            .any(|row| matches!(row.results, Results::Form(_)))
    }

    /// The names of all events, each once.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self.events.iter().map(|row| row.name).collect();
        names.dedup();
        names
    }
}

impl HostEvent {
    /// Its name, and what distinguishes it from others of the same name: `session (reason = start)`.
    pub fn full_name(&self) -> String {
        match self.when {
            Some((key, value)) => format!("{} ({key} = {value})", self.name),
            None => self.name.to_string(),
        }
    }

    /// How the verdicts of several hooks come together, in words.
    pub fn merging(&self) -> String {
        let conduct = self.conduct;
        let mut rules: Vec<String> = Vec::new();
        if self.blocks || conduct.refusal_ends {
            rules.push("the first block ends it".to_string());
        }
        if conduct.last_result {
            rules.push("the last result counts".to_string());
        }
        if conduct.isolated {
            rules.push("each sees it as it came".to_string());
        }
        if conduct.first_question {
            rules.push("the first question counts and freezes the rest".to_string());
        }
        if conduct.keeps_said {
            rules.push("what earlier hooks said stays".to_string());
        }
        for rewrite in self
            .results
            .rewrites()
            .iter()
            .filter(|_| !conduct.last_result)
        {
            rules.push(format!("`{}`: {}", rewrite.field, rewrite.merge.name()));
        }
        let has_field = |key: &ReplyKey| matches!(key.says, KeyMeaning::Field(..));
        if self.keeps_thrown && self.results.reads().any(has_field) {
            rules.push("what one changes before it throws stays".to_string());
        }
        if rules.is_empty() {
            "all hooks run".to_string()
        } else {
            rules.join("; ")
        }
    }

    /// Whether the system calls it `name`, in any case.
    pub fn is_called(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.name).chain(self.aliases);
        names.any(|one| one.eq_ignore_ascii_case(name))
    }
}

impl Binding {
    /// The row of the catalog with this dialect's rules.
    pub fn spec(self) -> EventSpec {
        let row = self.row;
        let of_catalog = catalog::find(row.event).cloned();
        let mut spec = of_catalog.expect("every row is over one of the catalog: tested");
        spec.blocks = row.blocks;
        spec.rewrites = row.results.rewrites().into();
        spec.on_failure = row.on_failure;
        spec.schedule = row.schedule;
        let most_refusals = row.conduct.most_refusals.or(spec.conduct.most_refusals);
        let text_teaches = spec.conduct.text_teaches;
        spec.conduct = Conduct {
            most_refusals,
            text_teaches,
            ..row.conduct
        };
        spec
    }
}
