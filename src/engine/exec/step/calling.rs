//! The hooks of a step that are functions: calls, answers and deadlines.

use std::io;
use std::time::Instant;

use super::{RunningStep, SlotState};
use crate::engine::exec::call::{self, Answers, RunningCall, no_thread};
use crate::engine::exec::job::FunctionCall;
use crate::engine::exec::workers::MOST_FUNCTIONS;
use crate::engine::run::{Ending, StartError, Trace};

impl RunningStep<'_> {
    pub(super) fn call(&mut self, place: usize, call: &FunctionCall, now: Instant) {
        let hook = self.slots[place].job.hook;
        tracing::debug!(hook = hook.name, "called");
        match self.begin(place, call, now) {
            Ok(begun) => self.slots[place].state = SlotState::Called(Box::new(begun)),
            Err(error) => self.done(place, Trace::not_run(Ending::NotStarted(error))),
        }
    }

    fn begin(
        &mut self,
        place: usize,
        call: &FunctionCall,
        now: Instant,
    ) -> Result<RunningCall, StartError> {
        let (deadline, why) = self.ends(self.slots[place].job.timeout, now);
        if self.answers.is_none() {
            self.answers = Some(Answers::open().map_err(|error| no_thread(&error))?);
        }
        let answers = self.answers.as_ref();
        let answers = answers.ok_or_else(|| no_thread(&io::ErrorKind::Other.into()))?;
        let shared = &self.engine.shared;
        let permit = shared.workers.permit().ok_or_else(too_many)?;
        let (call, reply) = (call.clone(), answers.reply(place));
        let started = Instant::now();
        let begun = |task| {
            Ok(RunningCall {
                started,
                deadline,
                why,
                task,
            })
        };
        #[cfg(feature = "tokio")]
        if call.function.is_async() {
            let tasks = &self.engine.tasks;
            let task = tasks.begin(call, reply, permit);
            return begun(Some(task.map_err(|error| no_thread(&error))?));
        }
        let work = Box::new(move || call::call(&call, reply, permit));
        shared
            .workers
            .give(work)
            .map_err(|error| no_thread(&error))?;
        begun(None)
    }

    /// Takes the answers that have arrived. They win over deadlines.
    pub(super) fn hear_functions(&mut self) {
        while let Some((place, returned)) = self.answers.as_ref().and_then(Answers::next) {
            let slot = &self.slots[place];
            if let SlotState::Called(begun) = &slot.state {
                let ending = slot.job.permit.ending_of(returned);
                let trace = begun.trace(ending, Instant::now());
                self.done(place, trace);
            }
        }
    }

    /// Gives up a function whose time is over.
    pub(super) fn look_at_call(&mut self, place: usize) {
        let SlotState::Called(begun) = &self.slots[place].state else {
            return;
        };
        let now = Instant::now();
        if begun.deadline <= now {
            let trace = begun.left(begun.why.clone(), now);
            self.done(place, trace);
        }
    }
}

fn too_many() -> StartError {
    StartError::new(
        format!("{MOST_FUNCTIONS} functions are still running"),
        "make functions return, those too that are past their timeouts",
    )
}
