//! Agents and other hook systems, one file each: a `Host` with its events, keys, replies and
//! settings.
//!
//! hookrun uses a table in two directions: it decodes a host's events and encodes replies for it,
//! and it runs hooks that were written for that host. A new host is a table, not code. [`native`]
//! is hookrun's own contract, so that a set of hooks is itself a hook.

mod agy;
mod claude;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod factory;
mod gemini;
pub mod git;
mod goose;
mod grok;
mod kimi;
mod kiro;
pub mod native;
mod omp;
mod openclaw;
mod opencode;
mod pi;
mod qwen;
mod vscode;
mod windsurf;
mod wolli;

mod event;
mod prelude;
mod results;
mod row;
pub mod settings;
mod tool;

mod answer;
mod context;
mod convention;
mod reply;
pub mod rules;
pub mod signs;
pub mod tools;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::engine::complaint::{self, Complaint};
use crate::engine::event::{Conduct, Context, EventSpec, OnFailure, catalog};
use settings::{FailsClosed, HostFile, HostForm, Plugin, UserFile};

pub use event::{Gather, HostEvent, LATEST, MARGIN, StandIn, Wait};
pub(crate) use reply::block_of_any;
pub use results::{
    Act, BlockStatus, KeyMeaning, ReplyForm, ReplyKey, ReplyRule, ReplySlot, ReplyValue, Results,
    key,
};
pub use row::{Binding, Host, KeySpelling, Reply, Sign, SignedEvents, VariableValue};
pub use tool::{Mcp, Tool, ToolSort, tool};

/// All built-in hosts, in the order of help and reports. git has its own tables.
pub const HOSTS: &[&Host] = &[
    &claude::CLAUDE,
    &codex::CODEX,
    &gemini::GEMINI,
    &cursor::CURSOR,
    &copilot::COPILOT,
    &qwen::QWEN,
    &vscode::VSCODE,
    &factory::FACTORY,
    &windsurf::WINDSURF,
    &windsurf::DEVIN,
    &crush::CRUSH,
    &goose::GOOSE,
    &agy::AGY,
    &grok::GROK,
    &kiro::KIRO,
    &kimi::KIMI,
    &cline::CLINE,
    &opencode::OPENCODE,
    &opencode::KILO,
    &opencode::AMP,
    &native::LOOM,
    &wolli::WOLLI,
    &pi::PI,
    &omp::OMP,
    &openclaw::OPENCLAW,
];

/// Hosts with events: hooks can be written for them.
pub fn dialects() -> impl Iterator<Item = &'static Host> + Clone {
    HOSTS.iter().copied().filter(|host| !host.events.is_empty())
}

/// Hook systems, where hooks are functions of a program.
pub fn systems() -> impl Iterator<Item = &'static Host> + Clone {
    HOSTS.iter().copied().filter(|host| host.is_system)
}

pub fn installable() -> impl Iterator<Item = &'static Host> + Clone {
    HOSTS.iter().copied().filter(|host| host.is_installable())
}

/// Finds a dialect by name or alias, ignoring case; `None` for `native`, which has no table.
pub fn find(name: &str) -> Option<&'static Host> {
    dialects().find(|host| {
        let mut names = std::iter::once(&host.name).chain(host.aliases);
        name != native::NAME && names.any(|one| one.eq_ignore_ascii_case(name))
    })
}

pub fn find_installable(name: &str) -> Option<&'static Host> {
    installable().find(|host| host.name == name)
}

pub fn settings_files() -> impl Iterator<Item = &'static HostFile> + Clone {
    HOSTS.iter().filter_map(|host| host.settings.as_ref())
}

pub fn settings_file(name: &str) -> Option<&'static HostFile> {
    find(name)?.settings.as_ref()
}

impl HostFile {
    /// The host of this file, which must be in [`HOSTS`].
    pub fn host(&'static self) -> &'static Host {
        let mut hosts = HOSTS.iter().copied();
        let own = hosts.find(|host| {
            let file = host.settings.as_ref();
            file.is_some_and(|file| std::ptr::eq(file, self))
        });
        own.expect("every settings file is of a host in the list")
    }
}

/// Environment variables that move a user's settings folder.
pub(crate) fn moving_variables() -> Vec<&'static str> {
    let mut variables = Vec::new();
    for host in HOSTS {
        if let UserFile::Moved { variable, .. } = host.install.user
            && !variables.contains(&variable)
        {
            variables.push(variable);
        }
    }
    variables
}

/// The canonical events that `name` means to hookrun or in any dialect.
pub(crate) fn events_called(name: &str) -> Vec<&'static str> {
    let of_dialects = dialects().flat_map(|dialect| dialect.called(name));
    let own = catalog::find(name).map(|spec| spec.name.as_ref());
    let names = of_dialects.map(|binding| binding.row.event);
    names.chain(own).collect()
}

impl Host {
    /// The shortest budget of any gate: the limit while the event is unknown.
    pub fn shortest_budget(&'static self) -> Option<Duration> {
        let gates = self.events.iter().filter(|row| row.blocks);
        let budgets = gates.filter_map(|row| Binding { dialect: self, row }.budget());
        budgets.min()
    }

    /// Finds events by the system's name, ignoring case, else by the canonical name. Events that
    /// share a name are distinguished by a key (pi's `session`); a canonical name returns its first
    /// row.
    pub fn called(&'static self, name: &str) -> Vec<Binding> {
        let all = self.all_events().iter();
        let mut rows: Vec<&HostEvent> = all.clone().filter(|row| row.is_called(name)).collect();
        if rows.is_empty() {
            rows.extend(all.clone().find(|row| row.event.eq_ignore_ascii_case(name)));
        }
        let rows = rows.into_iter();
        rows.map(|row| Binding { dialect: self, row }).collect()
    }

    pub fn nearest(&'static self, name: &str) -> Option<&'static str> {
        complaint::nearest(name, self.all_events().iter().map(|row| row.name))
    }

    pub(crate) fn unknown_event(&'static self, name: &str) -> Complaint {
        let cause = format!("`{name}` is not an event of {}", self.name);
        let cure = complaint::did_you_mean(self.nearest(name), || {
            format!("its events are {}", self.names().join(", "))
        });
        Complaint::with_cure(cause, cure)
    }

    pub fn has_forms(&self) -> bool {
        self.events.iter().any(|row| row.results.form().is_some())
    }

    /// The distinct names of all events.
    pub fn names(&'static self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self.all_events().iter().map(|row| row.name).collect();
        names.dedup();
        names
    }

    pub fn is_installable(&self) -> bool {
        !matches!(self.install.form, HostForm::Nothing)
    }

    pub fn plugin(&self) -> Option<&Plugin> {
        match &self.install.form {
            HostForm::Plugin(plugin) => Some(plugin),
            HostForm::Nothing | HostForm::Settings | HostForm::Scripts(_) => None,
        }
    }

    /// The events in its settings or, for a host with a plugin, those the plugin sends.
    pub fn all_events(&'static self) -> &'static [HostEvent] {
        if self.events.is_empty() {
            return self.served_events();
        }
        self.events
    }

    /// The events that hookrun receives from a command or a plugin.
    pub fn served_events(&self) -> &'static [HostEvent] {
        self.plugin().map_or(self.events, |plugin| plugin.events)
    }

    /// The host's event for a canonical one; the first row covers the others.
    pub fn served_event(&self, event: &str) -> Option<&'static HostEvent> {
        self.served_events().iter().find(|row| row.event == event)
    }

    pub fn blocks(&self, event: &str) -> bool {
        self.served_event(event).is_some_and(|row| row.blocks)
    }

    fn says_before_a_tool(&self, is_it: impl Fn(&ReplySlot) -> bool) -> bool {
        let row = self.served_event("tool.pre");
        row.is_some_and(|row| row.says().iter().any(is_it))
    }

    /// Whether the host can ask its user about a tool; otherwise a question blocks.
    pub fn asks(&self) -> bool {
        self.says_before_a_tool(|on| *on == ReplySlot::Question)
    }

    /// Whether a hook can replace a tool's input.
    pub fn rewrites(&self) -> bool {
        self.says_before_a_tool(|on| matches!(on, ReplySlot::New(_)))
    }

    /// Whether a hook can add context before a tool runs.
    pub fn teaches(&self) -> bool {
        self.says_before_a_tool(|on| *on == ReplySlot::Context)
    }

    pub fn runs_hooks_of(&self, host: &str) -> bool {
        self.reads.contains(&host) || self.converts.contains(&host)
    }

    /// Limits of the host, and tools that no hook sees.
    pub fn limits(&self) -> Vec<String> {
        let mut limits = Vec::new();
        let title = self.title;
        if !self.asks() {
            limits.push(format!(
                "{title} cannot ask the user, so a hook that asks blocks"
            ));
        }
        for (event, what) in [("prompt.submit", "a prompt"), ("agent.stop", "a stop")] {
            if !self.blocks(event) {
                limits.push(format!("hooks cannot block {what}"));
            }
        }
        if !self.rewrites() {
            limits.push("hooks cannot rewrite tool input: a rewrite blocks the tool".to_string());
        }
        if !self.teaches() {
            let text = "the model does not get text that a hook returns before a tool call";
            limits.push(text.to_string());
        }
        let open = "the tool runs if hookrun hangs or prints invalid output";
        match self.fails_closed {
            FailsClosed::Never => limits.push(format!(
                "{title} has no setting for hook failures: the installed command blocks if hookrun is \
                 missing or killed, but {open}"
            )),
            FailsClosed::OnCrash => limits.push(open.to_string()),
            FailsClosed::Always => {}
        }
        for what in self.unseen {
            limits.push(format!("no hook sees {what}"));
        }
        if !self.reads.is_empty() {
            let hosts = self.reads.join("` and `");
            limits.push(format!(
                "{title} also runs the hooks in the settings of `{hosts}`, so install hookrun in only one of these agents"
            ));
        }
        limits.extend(self.install.cannot.iter().map(ToString::to_string));
        limits
    }
}

impl HostEvent {
    /// The name with its distinguishing key: `session (reason = start)`.
    pub fn full_name(&self) -> String {
        let key = self.when.map(|(key, value)| format!(" ({key} = {value})"));
        format!("{}{}", self.name, key.unwrap_or_default())
    }

    pub fn is_called(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.name).chain(self.aliases);
        names.any(|one| one.eq_ignore_ascii_case(name))
    }

    pub fn fails_closed(&self) -> bool {
        self.blocks && self.on_failure == OnFailure::Block
    }

    /// Whether exit status 2 blocks it, so that the shell line can block if hookrun does not start.
    pub fn takes_status(&self) -> bool {
        let block = self.results.form().and_then(|it| it.say(ReplySlot::Block));
        block.is_some_and(|say| say.status == 2)
    }

    /// The replies that hookrun can send for it.
    pub fn says(&self) -> Vec<ReplySlot> {
        self.results.says()
    }
}

impl Binding {
    /// The time hookrun has to decide, from the host's request on; `None` if the host waits without
    /// a known limit. Pass it to `Runner::handle_within`.
    pub fn budget(self) -> Option<Duration> {
        self.row.wait.map(|wait| Wait::budget(wait.usual))
    }

    /// The catalog row, overridden by this dialect's rules.
    pub fn spec(self) -> EventSpec {
        let row = self.row;
        let of_catalog = catalog::find(row.event).cloned();
        let mut spec = of_catalog.expect("every row is over one of the catalog: tested");
        spec.blocks = row.blocks;
        spec.rewrites = row.results.rewrites().into();
        spec.on_failure = row.on_failure;
        spec.schedule = row.schedule;
        spec.conduct = Conduct {
            most_blocks: row.conduct.most_blocks.or(spec.conduct.most_blocks),
            text_is_context: spec.conduct.text_is_context,
            ..row.conduct
        };
        spec
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct HostFolders {
    /// The opened roots of the project.
    pub roots: Vec<PathBuf>,
    pub cwd: Option<PathBuf>,
}

/// The dialect `name`, if its events name the host's folders.
///
/// Sources: the hosts' hooks references; payloads of Claude Code, Codex CLI and Gemini CLI.
pub fn naming_folders(dialect: &str) -> Option<&'static Host> {
    find(dialect).filter(|host| host.name == dialect && host.has_forms())
}

/// The variable in which a host of this dialect names its project; later ones are compatibility
/// names.
pub(crate) fn project_variable(dialect: &str) -> Option<&'static str> {
    let mut variables = naming_folders(dialect)?.variables.iter();
    let (name, _) = variables.find(|(_, value)| *value == VariableValue::Project)?;
    Some(name)
}

pub(crate) fn project_variables() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().filter_map(|host| project_variable(host.name))
}

impl HostFolders {
    /// Reads the folders from a context, by the host's own keys. Opened roots are the project, even
    /// if the agent has since changed its working directory; a native event has only a working
    /// directory.
    pub fn read(dialect: &str, context: &Context) -> HostFolders {
        let keys = match naming_folders(dialect) {
            Some(host) => host.roots,
            None if find(dialect).is_none() => &[],
            None => return HostFolders::default(),
        };
        let mut roots: Vec<PathBuf> = Vec::new();
        for key in keys {
            let named = context.value(key).ok().flatten().unwrap_or_default();
            let one = std::slice::from_ref(&named);
            let folders = named.as_array().map_or(one, Vec::as_slice);
            roots.extend(folders.iter().filter_map(Value::as_str).map(PathBuf::from));
        }
        roots.retain(|folder| !folder.as_os_str().is_empty());
        let cwd = context.string("cwd").filter(|cwd| !cwd.is_empty());
        let cwd = cwd.map(PathBuf::from);
        HostFolders { roots, cwd }
    }
}
