//! Starts the hooks of a step, retries failed starts, and sets deadlines.

use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::{RunningStep, SlotState};
use crate::engine::complaint::Complaint;
use crate::engine::exec::child::{Child, GIVE_UP};
use crate::engine::exec::command::{self, Program};
use crate::engine::exec::job::{Job, end_of};
use crate::engine::exec::live::{Live, Phase};
use crate::engine::exec::spawn::Spawn;
use crate::engine::hook::Warm;
use crate::engine::run::{Ending, Trace};

/// First pause before a retry; it doubles each time.
const RETRY_FIRST: Duration = Duration::from_millis(10);

/// Number of retries while the file is busy or processes are short.
const RETRIES: u32 = 6;

impl RunningStep<'_> {
    pub(super) fn start_what_may(&mut self) {
        let running = self.slots.iter().filter(|slot| slot.is_running()).count();
        let mut room = self.at_once.saturating_sub(running);
        for place in 0..self.slots.len() {
            let SlotState::Waiting {
                attempt,
                not_before,
            } = self.slots[place].state
            else {
                continue;
            };
            if room == 0 {
                return;
            }
            if not_before.is_some_and(|instant| instant > Instant::now()) {
                continue;
            }
            self.start(place, attempt);
            if self.slots[place].is_running() {
                room -= 1;
            }
        }
    }

    fn start(&mut self, place: usize, attempt: u32) {
        let job = self.slots[place].job;
        let now = Instant::now();
        if self.engine.is_aborted() {
            return self.done(place, Trace::not_run(self.engine.aborted()));
        }
        if let Some(budget) = self.budget.filter(|budget| budget.until <= now) {
            return self.done(place, Trace::not_run(budget.used_up()));
        }
        let started = match &job.runs {
            Ok(Some(program)) => self.start_program(place, program, attempt, now),
            Ok(None) => self.call(place, now),
            Err(error) => Err(error.clone()),
        };
        match started {
            Ok(state) => self.slots[place].state = state,
            Err(error) => self.done(place, Trace::not_run(Ending::NotStarted(error))),
        }
    }

    fn start_program(
        &mut self,
        place: usize,
        program: &Program,
        attempt: u32,
        now: Instant,
    ) -> Result<SlotState, Complaint> {
        let job = self.slots[place].job;
        let mut notes = job.notes.clone();
        let confined = self.engine.confined(job, program, &mut notes)?;
        let inherited = self.engine.inherited(job.environment);
        let inherited = inherited.map_err(|error| command::explain(program, None, &error))?;
        let is_plain = confined.is_none() && job.hook.warm.is_none_or(|warm| warm == Warm::Off);
        let script = job.script.as_ref().filter(|_| is_plain);
        let copy = script.map(|script| script.program(program));
        let spawn = Spawn {
            program: confined.as_ref().or(copy.as_ref()).unwrap_or(program),
            inherited,
            variables: &job.variables,
            without: &job.without,
            cwd: job.cwd.as_deref(),
        };
        let left = self.budget.map(|budget| budget.until - now);
        let within = job.timeout.min(left.unwrap_or(Duration::MAX));
        self.engine.expect_within(within);
        let slot = &mut self.slots[place];
        let child = match self.engine.start_child(slot, &spawn, confined.is_some()) {
            Ok(child) => child,
            Err(error) if attempt < RETRIES && is_passing(&error) => {
                let later = now + RETRY_FIRST * 2u32.pow(attempt);
                return Ok(SlotState::Waiting {
                    attempt: attempt + 1,
                    not_before: Some(self.budget.map_or(later, |it| later.min(it.until))),
                });
            }
            Err(error) if error.raw_os_error() == Some(Errno::TOOBIG.raw_os_error()) => {
                return Err(command::too_long(spawn.sizes()));
            }
            Err(error) => {
                let started = confined.as_ref().unwrap_or(program);
                return Err(command::explain(started, job.cwd.as_deref(), &error));
            }
        };
        let mut live = self.started(job, program, child, now);
        live.is_confined = confined.is_some();
        live.notes = notes;
        Ok(SlotState::Live(Box::new(live)))
    }

    fn started(&self, job: &Job<'_>, program: &Program, child: Child, now: Instant) -> Live {
        let pid = child.pid;
        tracing::debug!(hook = job.hook.name, pid = pid.as_raw_nonzero(), "started");
        let hung = now.elapsed();
        // A session-lived hook's timeout begins at the end of its input.
        let timeout = if job.lines.is_some() {
            Duration::MAX
        } else {
            job.timeout
        };
        let (until, why) = self.ends(timeout, now);
        let mut live = Live {
            child,
            started: now,
            phase: Phase::Running,
            until,
            why,
            own_deadline: end_of(timeout, now),
            has_news: false,
            is_kept: !job.may_leave_processes(),
            is_reported: false,
            is_confined: false,
            notes: Vec::new(),
        };
        if hung >= job.timeout.max(GIVE_UP) {
            // Only the watchdog can have ended this wait.
            live.kill(Ending::NotStarted(command::hung(program, hung)));
        }
        live
    }

    /// Returns its deadline and the ending there: timeout or budget, whichever is earlier.
    pub(super) fn ends(&self, timeout: Duration, now: Instant) -> (Instant, Ending) {
        let own = end_of(timeout, now);
        match self.budget {
            Some(budget) if budget.until < own => (budget.until, budget.used_up()),
            _ => (own, Ending::TimedOut { after: timeout }),
        }
    }
}

/// Returns true if a retry may succeed: the file is being written (ETXTBSY), or processes are short
/// (EAGAIN).
fn is_passing(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::TXTBSY | Errno::AGAIN))
}
