//! Prepares the job of a hook: environment, folder, sandbox, program and connection.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::files::{EditedFile, HandedFiles};
use super::staged::StagedPlace;
use super::surroundings::{
    EventVariables, Surroundings, absent, event_variables, sandbox, variables, variables_of_host,
    ways_to_ask, whole, working_directory,
};
use crate::engine::complaint::Complaint;
use crate::engine::event::Event;
use crate::engine::event::context::Payload;
use crate::engine::exec::command::{self, Program, ScriptCopy};
use crate::engine::exec::{Callback, Engine, Job, PipeStore};
use crate::engine::hook::{Background, EventPart, FILES, Handler, Hook, Lives, Permit, Reads};
use crate::engine::outcome::Decision;
use crate::engine::run::{Ending, Trace, TraceContext};
use crate::engine::ui::{Connection, Tenure};

/// Inputs shared by the jobs of all hooks that see one event.
pub(crate) struct Preparation<'c> {
    pub(crate) seen: &'c Event,
    pub(crate) engine: &'c Engine,
    pub(crate) surroundings: &'c Surroundings,
    pub(crate) variables: Arc<EventVariables>,
    pub(crate) pipes: &'c PipeStore,
}

impl Preparation<'_> {
    /// Returns the job of a turn, or of its call with these files. The job owns the hook's
    /// connection: dropping it closes the hook's dialogs.
    pub(crate) fn job<'t>(
        &'t self,
        turn: &'t HookTurn,
        files: Option<&HandedFiles>,
        payload: Arc<Payload>,
    ) -> Job<'t> {
        let hook = &turn.hook;
        if let Some(job) = call(hook, self.seen) {
            return job;
        }
        let spec = self.seen.spec();
        let connection = self.connection(hook);
        let run_id = &self.surroundings.run_id;
        let mark = self.engine.mark.as_ref().unwrap_or(run_id);
        let mut variables = variables(hook, self.seen, mark, &self.variables, self.surroundings);
        variables.extend(variables_of_host(hook, self.seen, self.surroundings));
        let server = self.engine.server.as_ref();
        variables.extend(ways_to_ask(connection.as_ref(), server));
        let search = self.surroundings.search.as_deref();
        let program = command::resolve(&hook.handler, search)
            .and_then(|program| whole(hook, spec, &variables, program, self.surroundings))
            .and_then(|program| turn.with_arguments(program, files));
        let (sandbox, mut notes) = sandbox(hook, &program, &variables, self.surroundings);
        let (cwd, note) = working_directory(self.seen, self.surroundings);
        notes.extend(note);
        let links = self.seen.links();
        let is_cut = links.is_some_and(|links| !links.has_all_guesses);
        if is_cut && hook.matcher.needs_paths() {
            notes.push(MORE_GUESSES.to_string());
        }
        let permit = turn.permit(self.seen);
        Job {
            script: self.copy_of_script(hook, &program),
            payload,
            pipes: Some(self.pipes),
            environment: self.surroundings.variables.as_deref(),
            without: absent(&variables, &self.surroundings.inherited),
            variables,
            cwd: hook.folder.clone().or(cwd),
            sandbox,
            notes,
            connection,
            ..Job::new(hook, program.map(Some), hook.timeout(spec), permit)
        }
    }

    /// Returns the checked copy of a trusted script that is the hook's program. `None` if it must be
    /// started by its path.
    fn copy_of_script(
        &self,
        hook: &Hook,
        program: &Result<Program, Complaint>,
    ) -> Option<ScriptCopy> {
        let (Handler::File(_) | Handler::Words { .. }, Ok(program), Some(Callback(sealed))) =
            (&hook.handler, program, &self.engine.sealed)
        else {
            return None;
        };
        sealed.copy_of_script(&program.path)
    }

    fn connection(&self, hook: &Hook) -> Option<Connection> {
        if hook.stays_up() {
            return None;
        }
        let tenure = match (hook.lives, hook.background) {
            (Lives::Session, _) => Tenure::Session,
            (Lives::Event, Background::Detach) => Tenure::Detached,
            (Lives::Event, Background::Kill) => Tenure::Event,
        };
        let server = self.engine.server.as_ref()?;
        let session = self.seen.given().string("sessionId");
        server.connection(&hook.name, session.as_deref(), tenure)
    }
}

pub(super) fn call<'h>(hook: &'h Hook, seen: &'h Event) -> Option<Job<'h>> {
    if !hook.handler.is_function() {
        return None;
    }
    let permit = Permit {
        spec: seen.spec(),
        hook,
        part: None,
        about: Some(seen),
    };
    Some(Job::new(hook, Ok(None), hook.timeout(seen.spec()), permit))
}

/// Input for hooks without a scope, cleared by each rewrite.
#[derive(Default)]
pub(super) struct HookInputs {
    /// Context for native hooks.
    payload: Option<Arc<Payload>>,
    variables: Option<Arc<EventVariables>>,
}

impl HookInputs {
    pub(super) fn payload(&mut self, turn: &HookTurn, seen: &Event) -> Arc<Payload> {
        if turn.hook.reads == Some(Reads::Nothing) {
            return Arc::default();
        }
        if let Some(convention) = &turn.hook.convention {
            return Arc::new(convention.payload(seen, &turn.part));
        }
        if turn.hook.scope.is_some() {
            return Arc::new(Payload::of(seen.context()));
        }
        let payload = &mut self.payload;
        Arc::clone(payload.get_or_insert_with(|| Arc::new(Payload::of(seen.context()))))
    }

    pub(super) fn variables(
        &mut self,
        hook: &Hook,
        seen: &Event,
        surroundings: &Surroundings,
        trace: &TraceContext,
    ) -> Arc<EventVariables> {
        if hook.scope.is_some() {
            return event_variables(seen, surroundings, trace);
        }
        let variables = &mut self.variables;
        Arc::clone(variables.get_or_insert_with(|| event_variables(seen, surroundings, trace)))
    }
}

/// Note for a path matcher that matches although the event names no such path.
const MORE_GUESSES: &str = "the tool's input has too many possible paths: every `path` matches";

pub(crate) struct HookTurn {
    pub(crate) hook: Arc<Hook>,
    pub(crate) part: EventPart,
    /// Arguments after the words of the command.
    pub(super) arguments: Vec<OsString>,
    pub(super) edited: Option<Result<EditedFile, Complaint>>,
    pub(super) place: StagedPlace,
}

impl HookTurn {
    pub(crate) fn whole(hook: &Arc<Hook>) -> HookTurn {
        HookTurn {
            hook: Arc::clone(hook),
            part: EventPart::WHOLE,
            arguments: Vec::new(),
            edited: None,
            place: StagedPlace::default(),
        }
    }

    /// Returns the calls of the hook: one, or one for each share of its files.
    pub(super) fn calls(&self) -> Vec<Option<HandedFiles>> {
        match self.place.handed(&self.hook) {
            Some(files) => files.calls(self.hook.batch).into_iter().map(Some).collect(),
            None => vec![None],
        }
    }

    /// Adds this turn's arguments to the program, or its files, which replace `{files}`. In a shell
    /// line they are `$1` and so on.
    fn with_arguments(
        &self,
        mut program: Program,
        files: Option<&HandedFiles>,
    ) -> Result<Program, Complaint> {
        let own = || self.arguments.clone();
        let mut arguments = files.map_or_else(own, HandedFiles::arguments);
        let place = program.arguments.iter().position(|word| word == FILES);
        if let (Some(place), Handler::Words { .. }, Some(_)) = (place, &self.hook.handler, files) {
            program.arguments.splice(place..=place, arguments);
            return Ok(program);
        }
        match &self.edited {
            Some(Ok(file)) => file.name_in(&mut arguments, self.hook.folder.is_some()),
            Some(Err(error)) => return Err(error.clone()),
            None => {}
        }
        if matches!(self.hook.handler, Handler::Shell(_)) && !arguments.is_empty() {
            program.arguments.push(program.name.clone());
        }
        program.arguments.extend(arguments);
        Ok(program)
    }

    /// Makes the paths of findings relative to `cwd`, also for a hook with a scope.
    pub(super) fn place_findings(&self, trace: &mut Trace, cwd: &Path) {
        if let (Some(scope), Ending::Answered(verdict)) = (&self.hook.scope, &mut trace.ending) {
            let below = scope.strip_prefix(cwd).unwrap_or(scope);
            for finding in &mut verdict.findings {
                let path = below.join(&finding.path);
                finding.path = path.to_string_lossy().into_owned();
            }
        }
    }

    /// Turns an allowing hook's change of its file into a rewrite of the event.
    pub(super) fn take_edit(&self, trace: &mut Trace) {
        if let Some(Ok(file)) = &self.edited
            && let Ending::Answered(verdict) = &mut trace.ending
            && verdict.decision == Decision::Allow
        {
            verdict.update.extend(file.update());
        }
    }

    pub(super) fn permit<'e>(&'e self, seen: &'e Event) -> Permit<'e> {
        Permit {
            spec: seen.spec(),
            hook: &self.hook,
            part: Some(&self.part),
            about: Some(seen),
        }
    }
}
