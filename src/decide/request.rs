//! The request to a door: an event in a host's format or the native one.
//!
//! It knows the host's time limit, selects hooks, decodes the context, and can block before there
//! is an event.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog::command_name;
use crate::engine::event::{Context, Event, EventSpec};
use crate::engine::outcome::Outcome;
use crate::hosts::{self, Binding, Host, HostFolders, Reply, native, signs};

#[derive(Debug)]
pub struct EventRequest<'a> {
    pub name: Cow<'a, str>,
    dialect: Option<&'static Host>,
    /// Events of this name in the host's dialect; the context decides among several.
    bindings: Vec<Binding>,
}

#[derive(Debug)]
pub struct HostedEvent {
    pub event: Event,
    pub binding: Option<Binding>,
}

impl<'a> EventRequest<'a> {
    pub fn new(name: impl Into<Cow<'a, str>>, dialect: &str) -> EventRequest<'a> {
        let name = name.into();
        let dialect = hosts::find(dialect);
        let bindings = dialect.map_or_else(Vec::new, |dialect| dialect.called(&name));
        EventRequest {
            name,
            dialect,
            bindings,
        }
    }

    /// Creates the request of a context that names its event. Without `host`, recognizes the host
    /// by its keys. `command` is for messages. Fails if the event is not named or the host is
    /// uncertain.
    pub fn in_context(
        context: &Context,
        host: Option<&str>,
        command: &str,
    ) -> Result<EventRequest<'static>, Complaint> {
        let Some(host) = host else {
            return recognised_in(context, command);
        };
        let dialect = hosts::find(host);
        let host = dialect.map_or(native::NAME, |dialect| dialect.name);
        let key = dialect.map_or(native::NAMES_EVENT_BY, |dialect| dialect.names_event_by);
        if let Some(name) = context.string(key).filter(|name| !name.is_empty()) {
            return Ok(EventRequest::new(name, host));
        }
        // A host that also runs the hooks in the settings of `host` sends its own format.
        if context.raw(key).is_none()
            && let Ok(found) = signs::recognise(context)
            && hosts::find(found.dialect).is_some_and(|other| other.runs_hooks_of(host))
        {
            return Ok(EventRequest::new(found.event, found.dialect));
        }
        let wrong = match context.raw(key) {
            None | Some("null" | "\"\"") => {
                format!("no event was given, and the context has no `{key}`")
            }
            Some(other) => {
                let other: String = other.chars().take(40).collect();
                format!("no event was given: `{key}` is `{other}`, not a string")
            }
        };
        let option = dialect.map_or_else(String::new, |_| format!(" --host {host}"));
        let cure = format!("name the event: `hookrun {command} EVENT{option}`");
        Err(Complaint::with_cure(wrong, cure))
    }

    fn is_unknown(&self) -> bool {
        self.dialect.is_some() && self.bindings.is_empty()
    }

    /// Returns true for what is probably a new event of the host. Tables of hook systems are
    /// complete, and a name close to a gate is a typo.
    fn is_new(&self) -> bool {
        let Some(dialect) = self.dialect.filter(|_| self.is_unknown()) else {
            return false;
        };
        let nearest = dialect.nearest(&self.name);
        let near = nearest.map_or_else(Vec::new, |name| dialect.called(name));
        !dialect.is_system && !near.iter().any(|binding| binding.row.fails_closed())
    }

    /// Returns another system that has this name as a gate that fails closed, if the host has no
    /// such event: hookrun was installed for the wrong host.
    fn gate_of_another(&self) -> Option<&'static Host> {
        if !self.is_unknown() {
            return None;
        }
        hosts::dialects().find(|other| {
            let mut rows = other.events.iter();
            rows.any(|row| row.is_called(&self.name) && row.fails_closed())
        })
    }

    /// Returns the reply to an event that the host does not have: allow, since a new event must not
    /// stop the host. Fails if another host has it as a gate.
    pub fn reply_to_unknown(&self) -> Result<Option<Reply>, Complaint> {
        let name = &self.name;
        let host = self.host();
        if let Some(other) = self.gate_of_another() {
            let cause = format!("`{name}` is an event of {}, not of {host}", other.name);
            let cure = format!("use `--host {}`", other.name);
            return Err(Complaint::with_cure(cause, cure));
        }
        if !self.is_new() {
            return Ok(None);
        }
        Ok(Some(Reply {
            stdout: String::new(),
            stderr: format!("hookrun does not know the {host} event `{name}`, and allowed it\n"),
            status: native::ALLOWED,
        }))
    }

    /// The canonical names of its events; without `config` only names of the host's bindings.
    pub fn names(&self, config: Option<&Config>) -> Vec<String> {
        if let (Some(config), true) = (config, self.bindings.is_empty()) {
            let spec = find_event(config, &self.name).ok();
            return spec.iter().map(|spec| spec.name.to_string()).collect();
        }
        let rows = self.bindings.iter().map(|binding| binding.row);
        rows.map(|row| row.event.to_string()).collect()
    }

    /// Returns the host's time limit for the decision; while the event is unknown, its shortest
    /// limit.
    pub fn budget(&self) -> Option<Duration> {
        match self.bindings.as_slice() {
            [] => self.dialect.and_then(Host::shortest_budget),
            bindings => bindings.iter().filter_map(|binding| binding.budget()).min(),
        }
    }

    pub fn load(&self, choice: &Choice, env: &Environment) -> Config {
        let names = self.names(None);
        let scope = match names.as_slice() {
            [] => ConfigScope::Event(&self.name),
            names => ConfigScope::Events(names),
        };
        Config::load(choice, env, scope)
    }

    /// Loads the event's hooks again if the context is from another folder. `config` was loaded
    /// with `choice` before.
    pub fn load_for(
        &self,
        context: &Context,
        config: Config,
        choice: &Choice,
        env: &Environment,
    ) -> Config {
        let choice = choice.clone().with_folders_of(self.host(), Some(context));
        let HostFolders { roots, cwd } = &choice.host_folders;
        if roots.is_empty() && cwd.as_ref().is_none_or(|cwd| *cwd == env.cwd) {
            return config;
        }
        self.load(&choice, env)
    }

    pub fn check(&self, config: &Config) -> Result<(), Complaint> {
        if !self.bindings.is_empty() || find_event(config, &self.name).is_ok() {
            return Ok(());
        }
        match self.dialect.filter(|_| !config.has_errors()) {
            Some(dialect) => Err(dialect.unknown_event(&self.name)),
            None => find_event(config, &self.name).map(drop),
        }
    }

    pub fn event(&self, config: &Config, context: Context) -> Result<HostedEvent, Complaint> {
        if self.bindings.is_empty() {
            return self.in_our_words(config, context, None);
        }
        let binding = Host::distinguish(&self.bindings, &context)?;
        let context = binding.decode(context)?;
        self.in_our_words(config, context, Some(binding))
    }

    pub fn sample(&self, config: &Config, cwd: &Path) -> Result<HostedEvent, Complaint> {
        let binding = self.bindings.first().copied();
        let spec = match binding {
            Some(binding) => config.catalog.settled(binding.spec()),
            None => find_event(config, &self.name)?.as_ref().clone(),
        };
        let mut context = Context::parse(spec.sample())?;
        if spec.carries("cwd") {
            context.set("cwd", &cwd.to_string_lossy().into());
        }
        self.in_our_words(config, context, binding)
    }

    /// Returns the smallest valid context as compact JSON.
    pub fn least(&self, config: &Config) -> String {
        match find_event(config, &self.name) {
            Ok(spec) if self.bindings.is_empty() => spec.least(),
            Ok(_) | Err(_) => "{}".to_string(),
        }
    }

    fn in_our_words(
        &self,
        config: &Config,
        context: Context,
        binding: Option<Binding>,
    ) -> Result<HostedEvent, Complaint> {
        let spec = match binding {
            Some(binding) => Arc::new(config.catalog.settled(binding.spec())),
            None => find_event(config, &self.name)?,
        };
        let sent = self.dialect.is_none().then(|| context.clone());
        let event = Event::new(spec, self.host(), context).map_err(|error| {
            let other = sent.and_then(|context| match signs::recognise(&context) {
                Ok(signs) => Some(signs.dialect),
                Err(signs::Doubt::Several { of, .. }) => of.first().copied(),
                Err(_) => None,
            });
            let other = other.filter(|other| *other != native::NAME);
            Complaint::new(match other {
                Some(dialect) => format!(
                    "{error}; the context looks like an event of {dialect}: add `--host {dialect}` or, in \
                     a suite, `host = \"{dialect}\"`"
                ),
                None => error.to_string(),
            })
        })?;
        Ok(HostedEvent { event, binding })
    }

    pub fn host(&self) -> &'static str {
        self.dialect.map_or(native::NAME, |dialect| dialect.name)
    }

    /// Returns the dialect row that phrases the block.
    pub fn block_dialect(&self) -> Option<Binding> {
        let gate = self.bindings.iter().find(|binding| binding.row.blocks);
        gate.or(self.bindings.first()).copied()
    }

    /// Blocks for a reason of hookrun. Of several possible events, assumes a gate.
    pub fn block(&self, reason: &str) -> Reply {
        match self.block_dialect() {
            Some(binding) => binding.block(reason),
            // The event's format is unknown, so print nothing to stdout.
            None if self.dialect.is_some_and(Host::has_forms) => Reply {
                stdout: String::new(),
                ..native::block(reason)
            },
            None => native::block(reason),
        }
    }
}

pub fn reply_to(binding: Option<Binding>, outcome: &Outcome) -> Reply {
    match binding {
        Some(binding) => binding.reply(outcome),
        None => native::encode(outcome),
    }
}

pub fn find_event(config: &Config, name: &str) -> Result<Arc<EventSpec>, Complaint> {
    config.catalog.find(name).map_err(|unknown| {
        let mut cause = format!("unknown event `{name}`");
        let cure = match unknown.nearest {
            // The part with the error may declare it.
            _ if config.has_errors() => config.complaint().unwrap_or_default(),
            None if let Some(command) = command_name(name) => {
                cause = format!("unknown command `{command}`");
                format!("to add it, create the executable file hooks.d/command/{command}")
            }
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => {
                let folders = config.layers.iter().map(|layer| layer.folder.display());
                let folders: Vec<String> = folders.map(|folder| folder.to_string()).collect();
                let mut looked = format!("searched: {}", folders.join(", "));
                if folders.is_empty() {
                    looked = "no hookrun.toml was found".to_string();
                }
                format!(
                    "`hookrun events` lists the events; to declare your own, write \
                     [event.\"{name}\"] in a hookrun.toml ({looked}); `--hooks DIR` reads another \
                     folder"
                )
            }
        };
        Complaint::with_cure(cause, cure)
    })
}

fn recognised_in(context: &Context, command: &str) -> Result<EventRequest<'static>, Complaint> {
    let signs = signs::recognise(context).map_err(|doubt| {
        let command = format!("hookrun {command}");
        let cure = match &doubt {
            signs::Doubt::Several { of, .. } => {
                let host = of.first().copied().unwrap_or("HOST");
                format!("name the host: `{command} --host {host}`")
            }
            signs::Doubt::Strange { .. } => {
                format!("correct the name, or name hookrun's event: `{command} EVENT`")
            }
            signs::Doubt::Unnamed { dialect } => {
                format!("name the event: `{command} EVENT --host {dialect}`")
            }
            signs::Doubt::Nobodys => {
                format!("name the event: `{command} EVENT`, or `{command} EVENT --host HOST`")
            }
        };
        Complaint::with_cure(doubt.to_string(), cure)
    })?;
    Ok(EventRequest::new(signs.event, signs.dialect))
}
