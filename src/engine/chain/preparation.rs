//! How the job of a hook's process is made: environment, folder, sandbox, program and connection.

use std::path::PathBuf;
use std::sync::Arc;

use super::surroundings::{
    EventVariables, Surroundings, absent, sandbox, variables, variables_of_host, ways_to_ask,
    whole, working_directory,
};
use super::turn::{HookTurn, PreparedTurn};
use crate::engine::event::Event;
use crate::engine::event::payload::Payload;
use crate::engine::exec::command::{self, KnownFolders};
use crate::engine::exec::{Engine, FunctionCall, Job, PipeStore, Runs};
use crate::engine::hook::{Background, Handler, Hook, Lives, Permit};
use crate::engine::ui::{Connection, Tenure};

/// What serves all hooks of an event, one after another.
#[derive(Debug, Default)]
pub(crate) struct EventStores {
    pub(super) folders: KnownFolders,
    pub(super) pipes: PipeStore,
}

/// What the jobs of all hooks that see one event have in common.
pub(crate) struct Preparation<'c> {
    seen: &'c Event,
    engine: &'c Engine,
    surroundings: &'c Surroundings,
    shared: Arc<EventVariables>,
    stores: &'c EventStores,
    cwd: Option<PathBuf>,
    /// Why they do not run in the folder that the event names.
    pub(super) cwd_note: Option<String>,
}

impl<'c> Preparation<'c> {
    pub(crate) fn new(
        seen: &'c Event,
        engine: &'c Engine,
        surroundings: &'c Surroundings,
        shared: Arc<EventVariables>,
        stores: &'c EventStores,
    ) -> Preparation<'c> {
        let (cwd, cwd_note) = working_directory(seen, surroundings);
        Preparation {
            seen,
            engine,
            surroundings,
            shared,
            stores,
            cwd,
            cwd_note,
        }
    }

    pub(crate) fn prepared<'t>(
        &'t self,
        turn: &'t HookTurn,
        payload: Arc<Payload>,
    ) -> PreparedTurn<'t> {
        let connection = self.connection(&turn.hook);
        let mut variables = self.variables(&turn.hook);
        variables.extend(ways_to_ask(
            connection.as_ref(),
            self.engine.server.as_ref(),
        ));
        let absent = absent(&variables, &self.surroundings.inherited);
        PreparedTurn {
            turn,
            payload,
            connection,
            variables,
            absent,
        }
    }

    /// Makes the job of a turn. It takes the payload and the variables.
    pub(crate) fn job<'t>(&'t self, prepared: &'t mut PreparedTurn<'_>) -> Job<'t> {
        let PreparedTurn {
            turn,
            payload,
            connection,
            variables,
            absent,
        } = prepared;
        let hook = &turn.hook;
        if let Some(job) = call(hook, self.seen) {
            return job;
        }
        let spec = self.seen.spec();
        let search = self.surroundings.search.as_deref();
        let variables = std::mem::take(variables);
        let program = whole(hook, spec.blocks, &variables)
            .and_then(|()| command::resolve_among(&hook.handler, search, &self.stores.folders));
        let (sandbox, notes) = sandbox(hook, &program, &variables, self.surroundings);
        Job {
            hook,
            runs: program.map(Runs::Program),
            payload: Arc::clone(payload),
            pipes: Some(&self.stores.pipes),
            lines: None,
            environment: self.surroundings.variables.as_deref(),
            variables,
            without: absent,
            cwd: hook.folder.as_ref().or(self.cwd.as_ref()).cloned(),
            timeout: hook.timeout(spec),
            permit: turn.permit(self.seen),
            sandbox,
            notes,
            clock: connection.as_ref().map(Connection::clock),
        }
    }

    /// Lets a hook ask a person or send messages.
    fn connection(&self, hook: &Hook) -> Option<Connection> {
        if hook.handler.is_function() || hook.stays_up() {
            return None;
        }
        let tenure = match (hook.lives, hook.background) {
            (Lives::Session, _) => Tenure::Session,
            (Lives::Event, Background::Detach) => Tenure::Detached,
            (Lives::Event, Background::Kill) => Tenure::Event,
        };
        let server = self.engine.server.as_ref()?;
        server.connection(&hook.name, self.shared.session(), tenure)
    }

    /// The variables of a hook. A function has none.
    fn variables<'h>(&self, hook: &'h Hook) -> Vec<(&'h str, String)> {
        if hook.handler.is_function() {
            return Vec::new();
        }
        let mark = self
            .engine
            .mark
            .as_deref()
            .unwrap_or(&self.surroundings.run_id);
        let spec = self.seen.spec();
        let mut own = variables(hook, spec, mark, &self.shared, self.surroundings);
        own.extend(variables_of_host(hook, self.seen, self.surroundings));
        own
    }
}

/// The job of a hook that is a function.
pub(super) fn call<'h>(hook: &'h Hook, seen: &'h Event) -> Option<Job<'h>> {
    let Handler::Function(function) = &hook.handler else {
        return None;
    };
    let call = FunctionCall {
        function: function.clone(),
        event: seen.clone(),
    };
    let permit = Permit {
        spec: seen.spec(),
        hook,
        given: None,
        about: Some(seen),
    };
    Some(Job::of_function(
        hook,
        hook.timeout(seen.spec()),
        call,
        permit,
    ))
}
