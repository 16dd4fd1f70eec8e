//! Starts the hooks of a step when there is room, retries failed starts, and sets deadlines.

use std::io;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::{RunningStep, SlotState};
use crate::engine::exec::child::{Child, GIVE_UP};
use crate::engine::exec::command::{self, Program};
use crate::engine::exec::engine::Engine;
use crate::engine::exec::entry::SandboxEntry;
use crate::engine::exec::job::{Job, Runs, end_of};
use crate::engine::exec::keeper::Keeper;
use crate::engine::exec::live::{Live, Phase};
use crate::engine::exec::spawn::Spawn;
use crate::engine::lock::locked;
use crate::engine::run::{Ending, Trace};

/// The first pause before a retry; it doubles each time.
const RETRY_FIRST: Duration = Duration::from_millis(10);

/// How many times to retry when the file is busy or the system is short of processes.
const RETRIES: u32 = 6;

impl Engine {
    /// Whether a keeper runs or can still start.
    pub(super) fn may_have_keeper(&self) -> bool {
        self.program.is_some() && !self.shared.has_no_keeper.load(Ordering::Relaxed)
    }

    /// The keeper, which starts for the first that needs it; `None` if it cannot.
    pub(super) fn keeper(&self) -> MutexGuard<'_, Option<Keeper>> {
        let mut kept = locked(&self.shared.kept);
        if kept.is_none() && self.may_have_keeper() {
            *kept = self.program.as_ref().and_then(Keeper::start);
            self.shared
                .has_no_keeper
                .store(kept.is_none(), Ordering::Relaxed);
        }
        kept
    }

    /// Lets the keeper forget a process that is about to be reaped, while the number still belongs
    /// to it.
    pub(super) fn no_longer_keep(&self, live: &Live) {
        let kept = live.is_told.then(|| locked(&self.shared.kept));
        if let Some(Some(keeper)) = kept.as_deref() {
            keeper.forget(live.child.pid);
        }
    }
}

impl RunningStep<'_> {
    /// Starts as many waiting hooks as there is room for.
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
            return self.done(
                place,
                Trace::not_run(Ending::OutOfBudget {
                    budget: budget.whole,
                }),
            );
        }
        let program = match &job.runs {
            Ok(Runs::Program(program)) => program,
            Ok(Runs::Call(call)) => return self.call(place, call, now),
            Err(error) => {
                return self.done(place, Trace::not_run(Ending::NotStarted(error.clone())));
            }
        };
        let entry = match self.engine.enter(job, program) {
            Ok(entry) => entry,
            Err(error) => return self.done(place, Trace::not_run(Ending::NotStarted(error))),
        };
        let inherited = match self.engine.inherited(job.environment) {
            Ok(inherited) => inherited,
            Err(error) => {
                let error = command::explain(program, None, &error);
                return self.done(place, Trace::not_run(Ending::NotStarted(error)));
            }
        };
        let spawn = Spawn {
            program: entry.program.as_ref().unwrap_or(program),
            inherited,
            variables: &job.variables,
            without: job.without,
            cwd: job.cwd.as_deref(),
        };
        let left = self
            .budget
            .map_or(Duration::MAX, |budget| budget.until - now);
        self.engine.expect_within(job.timeout.min(left));
        let child = self
            .engine
            .start_child(&mut self.slots[place], &spawn, &entry);
        match child {
            Ok(child) => {
                let live = self.started(job, program, child, entry, now);
                self.slots[place].state = SlotState::Live(Box::new(live));
            }
            Err(error) if attempt < RETRIES && is_passing(&error) => {
                let later = now + RETRY_FIRST * 2u32.pow(attempt);
                let not_before = Some(self.budget.map_or(later, |budget| later.min(budget.until)));
                self.slots[place].state = SlotState::Waiting {
                    attempt: attempt + 1,
                    not_before,
                };
            }
            Err(error) => {
                let error = match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::TOOBIG) => command::too_long(spawn.sizes()),
                    _ => command::explain(spawn.program, job.cwd.as_deref(), &error),
                };
                self.done(place, Trace::not_run(Ending::NotStarted(error)));
            }
        }
    }

    /// Records a hook whose process started at `now`, perhaps after a delay.
    fn started(
        &self,
        job: &Job<'_>,
        program: &Program,
        child: Child,
        entry: SandboxEntry,
        now: Instant,
    ) -> Live {
        let pid = child.pid;
        tracing::debug!(hook = job.hook.name, pid = pid.as_raw_nonzero(), "started");
        let hung = now.elapsed();
        // The timeout of a hook that lives as long as its session begins at the end of its input.
        let timeout = if job.lines.is_some() {
            Duration::MAX
        } else {
            job.timeout
        };
        let phase = if hung < job.timeout.max(GIVE_UP) {
            self.first_phase(timeout, now)
        } else {
            // Only the watchdog can have ended this wait.
            child.kill();
            let why = Ending::NotStarted(command::hung(program, hung));
            Phase::Killed {
                why,
                give_up_at: Instant::now() + GIVE_UP,
            }
        };
        Live {
            child,
            started: now,
            phase,
            own_deadline: end_of(timeout, now),
            has_news: false,
            is_kept: !job.may_leave_processes(),
            is_told: false,
            is_confined: entry.program.is_some(),
            level: entry.level,
            notes: entry.notes,
        }
    }

    fn first_phase(&self, timeout: Duration, now: Instant) -> Phase {
        let (deadline, why) = self.ends(timeout, now);
        Phase::Running { deadline, why }
    }

    /// Its deadline and the ending at that point: its timeout, or the end of the budget if that is
    /// earlier.
    pub(super) fn ends(&self, timeout: Duration, now: Instant) -> (Instant, Ending) {
        let own = end_of(timeout, now);
        match self.budget.filter(|budget| budget.until < own) {
            Some(budget) => (
                budget.until,
                Ending::OutOfBudget {
                    budget: budget.whole,
                },
            ),
            None => (own, Ending::TimedOut { after: timeout }),
        }
    }
}

/// Whether a retry may succeed: the file is just being written (ETXTBSY), or the system is short of
/// processes (EAGAIN).
fn is_passing(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::TXTBSY | Errno::AGAIN))
}
