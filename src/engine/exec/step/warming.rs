//! Starts a hook in a forked or long-running process, if possible.

use std::io;
use std::sync::atomic::Ordering;

use super::{RunningStep, SlotState, StepSlot};
use crate::engine::answer;
use crate::engine::exec::child::{Child, Status};
use crate::engine::exec::engine::Engine;
use crate::engine::exec::job::Job;
use crate::engine::exec::live::{Live, Phase};
use crate::engine::exec::spawn::Spawn;
use crate::engine::exec::warm::MARK;
use crate::engine::hook::Warm;
use crate::engine::run::{ColdReason, Ending, Exit, ProcessStart, Trace};

impl Engine {
    pub(super) fn start_child(
        &self,
        slot: &mut StepSlot<'_>,
        spawn: &Spawn<'_>,
        is_confined: bool,
    ) -> io::Result<Child> {
        let job = slot.job;
        let may_start_warm = job.hook.stays_up() || job.hook.warm == Some(Warm::Fork);
        let mut how = None;
        if may_start_warm && !self.is_one_shot && job.lines.is_none() {
            match self.cold_reason(slot, is_confined) {
                None if job.hook.stays_up() => return self.start_served(slot, spawn),
                None => return self.start_forked(job, spawn),
                Some(reason) => how = Some(ProcessStart::Cold(reason)),
            }
        }
        let mut child = Child::start(job, false, |streams| spawn.start(streams))?;
        child.how = how;
        Ok(child)
    }

    /// Returns why a hook that asks for a warm start must start cold, as far as known beforehand.
    fn cold_reason(&self, slot: &StepSlot<'_>, is_confined: bool) -> Option<ColdReason> {
        let stays_up = slot.job.hook.stays_up();
        if stays_up && slot.job.may_leave_processes() {
            return Some(ColdReason::OneEvent);
        }
        if slot.has_died {
            return Some(ColdReason::Died);
        }
        if is_confined {
            return Some(ColdReason::Bounds);
        }
        if self.subreaper.is_none() {
            return Some(ColdReason::NoSubreaper);
        }
        // Without an id, an answer could not be matched to its event.
        let is_unusable = stays_up && slot.job.permit.id().is_none();
        is_unusable.then_some(ColdReason::Unusable)
    }

    fn start_forked(&self, job: &Job<'_>, spawn: &Spawn<'_>) -> io::Result<Child> {
        let mut how = ProcessStart::Warm;
        let mut beginning = None;
        let mut child = Child::start(job, false, |streams| {
            let imports = &job.hook.warm_imports;
            let warm = &self.shared.warm;
            match warm.start(spawn, imports, &self.shared.spared, streams) {
                Ok((pid, socket)) => {
                    beginning = Some(socket);
                    Ok(pid)
                }
                Err((reason, streams)) => {
                    how = ProcessStart::Cold(reason);
                    spawn.start(streams)
                }
            }
        })?;
        child.how = Some(how);
        child.beginning = beginning;
        Ok(child)
    }

    fn start_served(&self, slot: &mut StepSlot<'_>, spawn: &Spawn<'_>) -> io::Result<Child> {
        let job = slot.job;
        let pool = &self.shared.warm.served;
        if let Some((mut child, life)) = pool.take(job, spawn) {
            child.give(&job.payload);
            child.how = Some(ProcessStart::Warm);
            slot.served = Some(life);
            return Ok(child);
        }
        let mut variables = job.variables.clone();
        let own = variables.iter_mut().find(|(name, _)| *name == MARK);
        let of_hook = own.as_ref().map_or("", |(_, mark)| mark.as_str());
        let base = self.program.as_ref().map_or(of_hook, |own| &own.mark);
        let number = self.shared.marks_made.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{base}.w{number}");
        if let Some((_, value)) = own {
            value.clone_from(&mark);
        }
        let life = pool.begin(job, spawn, mark, &self.shared.spared);
        let spawn = Spawn {
            variables: &variables,
            inherited: spawn.inherited.clone(),
            ..*spawn
        };
        let mut child = Child::start(job, true, |streams| spawn.start(streams))?;
        child.how = Some(ProcessStart::Cold(ColdReason::NotReady));
        slot.served = Some(life);
        Ok(child)
    }
}

impl Live {
    pub(super) fn never_began(&self, status: Status) -> bool {
        let is_over = matches!(self.phase, Phase::Running) && status != Status::Running;
        is_over && self.child.never_began()
    }
}

impl RunningStep<'_> {
    /// Handles the answer of a long-running program, which then waits for its next event. Kills it
    /// if the answer is invalid or more output follows.
    pub(super) fn take_served_answer(&mut self, place: usize) {
        let slot = &mut self.slots[place];
        let SlotState::Live(live) = &mut slot.state else {
            return;
        };
        if slot.served.is_none() || !matches!(live.phase, Phase::Running) {
            return;
        }
        let written = &live.child.stdout.kept;
        let end = written.head.iter().position(|byte| *byte == b'\n');
        if end.is_none() && !written.is_cut() {
            return;
        }
        live.child.stderr.read(&mut self.buffer, true);
        live.check_output(&slot.job.hook.limits);
        if !matches!(live.phase, Phase::Running) {
            return;
        }
        let stdout = &live.child.stdout.kept;
        let stderr = &live.child.stderr.kept;
        let is_alone = end.is_some_and(|end| end + 1 == stdout.head.len());
        let (ending, notes) = answer::judge(Exit::Status(0), stdout, stderr, slot.job.permit);
        let is_answer = ending.verdict().is_some();
        if is_answer && is_alone {
            return self.keep_served(place, ending, notes);
        }
        if is_answer {
            live.kill(answer::malformed(
                "the hook wrote more than one line for one event".to_string(),
            ));
        } else {
            live.kill(ending);
        }
    }

    fn keep_served(&mut self, place: usize, ending: Ending, notes: Vec<String>) {
        let state = std::mem::replace(&mut self.slots[place].state, SlotState::NEW);
        let SlotState::Live(mut live) = state else {
            return;
        };
        live.leave_keeper(self.engine);
        live.notes.extend(notes);
        let trace = Trace {
            took: live.started.elapsed(),
            stdout: std::mem::take(&mut live.child.stdout.kept),
            stderr: std::mem::take(&mut live.child.stderr.kept),
            has_started: true,
            start: live.child.how,
            notes: live.notes,
            ..Trace::not_run(ending)
        };
        if let Some(life) = self.slots[place].served.take() {
            // If we are killed, the keeper kills this program by its mark.
            drop(self.engine.keeper());
            self.engine.shared.warm.served.keep(live.child, life);
        }
        self.done(place, trace);
    }

    /// Falls back to a cold start if the forked process died before the script began.
    pub(super) fn start_cold(&mut self, place: usize) {
        let SlotState::Live(live) = &self.slots[place].state else {
            return;
        };
        live.leave_keeper(self.engine);
        live.child.kill_rest();
        live.child.reap();
        self.slots[place].has_died = true;
        self.slots[place].state = SlotState::NEW;
    }
}
