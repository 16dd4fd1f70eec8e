//! Starts a hook in a process that was forked beforehand, if it may and can.

use std::io;
use std::sync::atomic::Ordering;

use super::{RunningStep, SlotState, StepSlot};
use crate::engine::answer;
use crate::engine::exec::child::{Child, Status};
use crate::engine::exec::engine::Engine;
use crate::engine::exec::entry::SandboxEntry;
use crate::engine::exec::job::{Job, Runs};
use crate::engine::exec::live::{Live, Phase};
use crate::engine::exec::spawn::Spawn;
use crate::engine::exec::warm::{MARK, ServedLife, WarmStart};
use crate::engine::exec::warm_hook::{WarmBounds, WarmHook};
use crate::engine::hook::{Containment, Warm};
use crate::engine::run::{ColdReason, Ending, Exit, ProcessStart, Trace};

impl Engine {
    /// Starts the process of a hook: warm, if it may and can.
    pub(super) fn start_child(
        &self,
        slot: &mut StepSlot<'_>,
        spawn: &Spawn<'_>,
        entry: &SandboxEntry,
    ) -> io::Result<Child> {
        let job = slot.job;
        if job.hook.stays_up() && !self.is_one_shot && job.lines.is_none() {
            return match self.may_stay_up(job) {
                Ok(()) => self.start_served(slot, spawn),
                Err(reason) => {
                    let mut child = Child::start(job, false, |streams| spawn.start(streams))?;
                    child.how = Some(ProcessStart::Cold(reason));
                    Ok(child)
                }
            };
        }
        let warm = self.warm(slot, spawn, entry);
        let mut how = warm.as_ref().map(|warm| match warm {
            Ok(_) => ProcessStart::Warm,
            Err(reason) => ProcessStart::Cold(*reason),
        });
        let mut given = None;
        let mut child = Child::start(job, false, |streams| match warm {
            Some(Ok(warm)) => match warm.hand_over(streams) {
                Ok((pid, beginning)) => {
                    given = Some(beginning);
                    Ok(pid)
                }
                Err(streams) => {
                    how = Some(ProcessStart::Cold(ColdReason::NotReady));
                    spawn.start(streams)
                }
            },
            Some(Err(_)) | None => spawn.start(streams),
        })?;
        (child.how, child.beginning) = (how, given);
        Ok(child)
    }

    /// Whether the program of a hook may stay up.
    ///
    /// # Errors
    /// Why it starts for one event.
    fn may_stay_up(&self, job: &Job<'_>) -> Result<(), ColdReason> {
        let hook = job.hook;
        let is_bound = job.sandbox.is_some()
            || hook.limits.of_process().is_some()
            || hook.containment != Containment::Auto;
        let is_for_one = hook.limits.cpu.is_some() || job.may_leave_processes();
        match (is_bound, &self.subreaper) {
            _ if is_for_one => Err(ColdReason::OneEvent),
            (true, _) => Err(ColdReason::Bounds),
            (false, None) => Err(ColdReason::NoSubreaper),
            // Without a number nobody could tell which event an answer is to.
            (false, Some(_)) if job.permit.id().is_none() => Err(ColdReason::Unusable),
            (false, Some(_)) => Ok(()),
        }
    }

    /// Gives the event to a program that waits, or to one that starts now and then waits.
    fn start_served(&self, slot: &mut StepSlot<'_>, spawn: &Spawn<'_>) -> io::Result<Child> {
        let job = slot.job;
        let pool = &self.shared.warm.served;
        if let Some((mut child, life)) = pool.take(job, spawn.program, &spawn.inherited.variables) {
            child.ask(job);
            child.how = Some(ProcessStart::Warm);
            slot.served = Some(life);
            return Ok(child);
        }
        let mut variables = job.variables.clone();
        let own = variables.iter_mut().find(|(name, _)| *name == MARK);
        let base = self.program.as_ref().map(|own| own.mark.clone());
        let base = base
            .or_else(|| own.as_ref().map(|(_, mark)| mark.clone()))
            .unwrap_or_default();
        let number = self.shared.marks_made.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{base}.w{number}");
        own.into_iter()
            .for_each(|(_, value)| value.clone_from(&mark));
        let life = ServedLife::begin(job, spawn, mark, &self.shared.spared);
        let (program, cwd, without) = (spawn.program, spawn.cwd, spawn.without);
        let inherited = spawn.inherited.clone();
        let spawn = Spawn {
            program,
            inherited,
            variables: &variables,
            cwd,
            without,
        };
        let mut child = Child::start(job, true, |streams| spawn.start(streams))?;
        child.how = Some(ProcessStart::Cold(ColdReason::NotReady));
        slot.served = Some(life);
        Ok(child)
    }

    /// A process for a hook that may start warm, or why it must start cold; `None` if it may not
    /// start warm at all, or this program ends soon.
    fn warm(
        &self,
        slot: &StepSlot<'_>,
        spawn: &Spawn<'_>,
        entry: &SandboxEntry,
    ) -> Option<Result<WarmStart, ColdReason>> {
        let job = slot.job;
        if job.hook.warm != Some(Warm::Fork) || self.is_one_shot || job.lines.is_some() {
            return None;
        }
        let Ok(Runs::Program(program)) = &job.runs else {
            return None;
        };
        let bounds = entry.bounds.as_ref().zip(self.program.as_ref());
        let bounds = bounds.map(|(bounds, own)| WarmBounds {
            bounds,
            own: &own.path,
        });
        let hook = WarmHook {
            program,
            spawn,
            bounds,
        };
        Some(match &self.subreaper {
            _ if slot.has_died => Err(ColdReason::Died),
            None => Err(ColdReason::NoSubreaper),
            Some(_) => self.shared.warm.start(&hook, &self.shared.spared),
        })
    }
}

impl Live {
    /// Whether it has ended by itself, with this status, and has run nothing of its hook.
    pub(super) fn never_began(&self, status: Status) -> bool {
        let is_over = matches!(self.phase, Phase::Running { .. }) && status != Status::Running;
        is_over && self.child.never_began()
    }
}

impl RunningStep<'_> {
    /// Takes the answer of a program that stays up, which then waits for its next event. If it is
    /// none, or not all that it wrote, the program is ended.
    pub(super) fn hear_answer(&mut self, place: usize) {
        let slot = &mut self.slots[place];
        let SlotState::Live(live) = &mut slot.state else {
            return;
        };
        if slot.served.is_none() || !matches!(live.phase, Phase::Running { .. }) {
            return;
        }
        let written = &live.child.stdout.kept;
        let end = written.head.iter().position(|byte| *byte == b'\n');
        if end.is_none() && !written.is_cut() {
            return;
        }
        live.child.stderr.read(&mut self.buffer, true);
        live.check_output(&slot.job.hook.limits);
        if !matches!(live.phase, Phase::Running { .. }) {
            return;
        }
        let (stdout, stderr) = (&live.child.stdout.kept, &live.child.stderr.kept);
        let is_alone = end.is_some_and(|end| end + 1 == stdout.head.len());
        let (ending, notes) = answer::judge(Exit::Status(0), stdout, stderr, slot.job.permit);
        let is_answer = ending.verdict().is_some();
        if is_answer && is_alone {
            return self.let_wait(place, ending, notes);
        }
        let more = || answer::malformed("it wrote more than one line".to_string());
        let why = if is_answer { more() } else { ending };
        live.kill(why);
    }

    /// Ends the event of a program that stays up.
    fn let_wait(&mut self, place: usize, ending: Ending, notes: Vec<String>) {
        let waiting = SlotState::Waiting {
            attempt: 0,
            not_before: None,
        };
        let state = std::mem::replace(&mut self.slots[place].state, waiting);
        let SlotState::Live(mut live) = state else {
            return;
        };
        self.engine.no_longer_keep(&live);
        live.notes.extend(notes);
        let trace = Trace {
            took: live.started.elapsed(),
            stdout: std::mem::take(&mut live.child.stdout.kept),
            stderr: std::mem::take(&mut live.child.stderr.kept),
            containment: Some(live.level),
            start: live.child.how,
            notes: live.notes,
            ..Trace::not_run(ending)
        };
        if let Some(life) = self.slots[place].served.take() {
            // It ends this program too if we are killed, by its mark.
            drop(self.engine.keeper());
            self.engine.shared.warm.served.keep(live.child, life);
        }
        self.done(place, trace);
    }

    /// Lets a hook start cold whose process has ended before it ran any of it.
    pub(super) fn begin_anew(&mut self, place: usize) {
        let SlotState::Live(live) = &self.slots[place].state else {
            return;
        };
        self.engine.no_longer_keep(live);
        live.child.kill_rest();
        live.child.reap();
        self.slots[place].has_died = true;
        self.slots[place].state = SlotState::Waiting {
            attempt: 0,
            not_before: None,
        };
    }
}
