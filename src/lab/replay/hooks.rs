//! Loads the hooks of each host when its first event arrives.
//!
//! Hooks run for real but isolated: state is in the caller's folder, nothing is logged, and rules
//! about earlier events (such as repeated blocks of a stop) do not apply.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::config::{Choice, Config, ConfigScope, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, Event, catalog};
use crate::engine::runner::Runner;
use crate::hosts::{self, Binding, Host, HostFolders};
use crate::log::DecisionLine;

/// Lets hooks skip effects on other systems, and keeps a nested hookrun from recording.
const VARIABLES: &[(&str, &str)] = &[
    ("HOOKRUN_REPLAY", "1"),
    ("HOOKRUN_DECISIONS", "off"),
    ("HOOKRUN_RECORD", ""),
];

const MOST_SETS: usize = 64;

#[derive(Debug)]
pub struct Hooks {
    choice: Choice,
    env: Environment,
    /// The runner that owns the engine of all hooks.
    first: Runner,
    /// By host and by the folders that it names.
    ready: HashMap<(String, HostFolders), Rc<HostHooks>>,
}

#[derive(Debug)]
pub(super) struct HostHooks {
    pub(super) runner: Runner,
    catalog: catalog::Catalog,
    dialect: Option<&'static Host>,
}

impl Hooks {
    /// The hooks of `choice` in `env`, which also sets the state folder; `first` has the engine.
    pub fn new(choice: Choice, env: Environment, first: Runner) -> Hooks {
        Hooks {
            choice,
            env,
            first,
            ready: HashMap::new(),
        }
    }

    /// Returns the user's redaction rules, or the first configuration error.
    pub fn check(&self) -> Result<Vec<String>, Complaint> {
        let config = self.load(&HostFolders::default())?;
        Ok(config.log.redact)
    }

    /// Returns the hooks for a recorded event; `said` is the host's own context.
    pub(super) fn of(
        &mut self,
        record: &DecisionLine<'_>,
        recorded: Option<&Context>,
    ) -> Result<Rc<HostHooks>, Complaint> {
        let told = match recorded {
            Some(recorded) if hosts::naming_folders(&record.host).is_some() => {
                HostFolders::read(&record.host, recorded)
            }
            Some(_) | None => HostFolders::default(),
        };
        let key = (record.host.clone(), told);
        if let Some(known) = self.ready.get(&key) {
            return Ok(Rc::clone(known));
        }
        let config = self.load(&key.1)?;
        let catalog = config.catalog.clone();
        let runner = Runner::from_config(config, &self.env).beside(&self.first);
        let hooks = Rc::new(HostHooks {
            runner: runner.rehearsal(),
            catalog,
            dialect: hosts::find(&record.host),
        });
        if self.ready.len() >= MOST_SETS {
            self.ready.clear();
        }
        self.ready.insert(key, Rc::clone(&hooks));
        Ok(hooks)
    }

    fn load(&self, told: &HostFolders) -> Result<Config, Complaint> {
        let choice = Choice {
            host_folders: told.clone(),
            ..self.choice.clone()
        };
        let mut config = Config::load(&choice, &self.env, ConfigScope::All);
        if let Some(complaint) = config.complaint() {
            return Err(Complaint::new(complaint));
        }
        for hook in &mut config.hooks {
            for (name, value) in VARIABLES {
                hook.variables.retain(|(known, _)| known != name);
                hook.variables
                    .push(((*name).to_string(), (*value).to_string()));
            }
        }
        Ok(config)
    }
}

impl HostHooks {
    /// The row for the event; if several rows share it, the host's name and key select one.
    pub(super) fn binding(&self, event: &str, recorded: &Context) -> Option<Binding> {
        let dialect = self.dialect?;
        let rows = dialect.events.iter().filter(|row| row.event == event);
        let mut bindings: Vec<Binding> = rows.map(|row| Binding { dialect, row }).collect();
        let first = bindings.first().copied();
        if let Some(name) = recorded.string(dialect.names_event_by) {
            bindings.retain(|binding| binding.row.is_called(&name));
        }
        Host::distinguish(&bindings, recorded).ok().or(first)
    }

    /// The event of a record. The error is why hookrun blocks it before any hook runs.
    pub(super) fn event(
        &self,
        record: &DecisionLine<'_>,
        context: Context,
        binding: Option<Binding>,
    ) -> Result<Event, Complaint> {
        let event = &record.event;
        let spec = match binding {
            Some(binding) => Arc::new(self.catalog.settled(binding.spec())),
            None => self.catalog.find(event).map_err(|_| {
                let cause = format!("unknown event `{event}`");
                Complaint::with_cure(cause, "declare it again in hookrun.toml")
            })?,
        };
        Event::new(spec, record.host.clone(), context)
    }
}
