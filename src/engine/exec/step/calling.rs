//! The hooks of a step that are functions: from their start to their answers.

use std::time::Instant;

use super::{RunningStep, SlotState};
use crate::engine::answer;
use crate::engine::exec::call::{Answers, Begun, FunctionCall, no_thread};
use crate::engine::exec::live::not_run;
use crate::engine::run::{Ending, StartError};

impl RunningStep<'_> {
    /// Calls the function of the hook at `place`.
    pub(super) fn call(&mut self, place: usize, call: &FunctionCall, now: Instant) {
        let hook = self.slots[place].job.hook;
        tracing::debug!(hook = hook.name, "called");
        match self.begin(place, call, now) {
            Ok(begun) => self.slots[place].state = SlotState::Called(Box::new(begun)),
            Err(error) => self.done(place, not_run(Ending::NotStarted(error))),
        }
    }

    fn begin(
        &mut self,
        place: usize,
        call: &FunctionCall,
        now: Instant,
    ) -> Result<Begun, StartError> {
        let (deadline, why) = self.ends(self.slots[place].job.timeout, now);
        if self.answers.is_none() {
            self.answers = Some(Answers::open().map_err(|error| no_thread(&error))?);
        }
        match &self.answers {
            Some(answers) => self.engine.begin(call, answers, place, deadline, why),
            None => Err(no_thread(&std::io::ErrorKind::Other.into())),
        }
    }

    /// Takes the answers that are there: they win over deadlines.
    pub(super) fn hear_functions(&mut self) {
        while let Some((place, returned)) = self.answers.as_ref().and_then(Answers::next) {
            let slot = &self.slots[place];
            if let SlotState::Called(begun) = &slot.state {
                let ending = answer::returned(returned, slot.job.permit);
                let trace = begun.trace(ending, Instant::now());
                self.done(place, trace);
            }
        }
    }

    /// Stops waiting for a function whose time is over.
    pub(super) fn look_at_call(&mut self, place: usize) {
        let SlotState::Called(begun) = &self.slots[place].state else { return };
        let now = Instant::now();
        if begun.deadline <= now {
            let trace = begun.left(begun.why.clone(), now);
            self.done(place, trace);
        }
    }
}
