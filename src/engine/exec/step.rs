//! The readiness loop of one step.
//!
//! A hook waits, runs, and is done. Running ends by exit, followed by a short drain, or by a stop
//! (SIGTERM, grace period, SIGKILL). Every state has a time limit, so the loop ends.

mod starting;
mod warming;

use std::any::Any;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::Pid;

use super::call::{
    self, Answers, FunctionReply, MOST_FUNCTIONS, RunningCall, WorkerPermit, no_thread,
};
use super::child::Status;
use super::engine::{Engine, HookProgress};
use super::job::{Budget, Job};
use super::live::{Live, Phase};
use super::warm::ServedLife;
use crate::engine::complaint::Complaint;
use crate::engine::hook::Handler;
use crate::engine::lock::locked;
use crate::engine::run::{Ending, Trace};

/// Size of a read. With 64 KiB, glibc trims its heap each time the buffer is freed.
const BUFFER_BYTES: usize = 32 * 1024;

/// Time to parse the longest answer before a watchdog steps in.
const JUDGING: Duration = Duration::from_secs(10);

/// Polling interval without pidfds, and after an abort for a second one.
const TICK: Duration = Duration::from_millis(5);

/// Longest wait. A wait interrupted by SIGSTOP resumes after SIGCONT with its remaining time.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Longest wait for session-lived hooks, which have no deadline.
const IDLE_WAIT: Duration = Duration::from_secs(3600);

pub(super) struct RunningStep<'e> {
    engine: &'e Engine,
    slots: Vec<StepSlot<'e>>,
    at_once: usize,
    budget: Option<Budget>,
    settles: &'e dyn Fn(&Trace) -> bool,
    times_aborted: u64,
    ended_groups: Vec<Pid>,
    buffer: Vec<u8>,
    answers: Option<Answers>,
}

struct StepSlot<'e> {
    job: &'e Job<'e>,
    state: SlotState,
    /// A previous forked process died before the hook began.
    has_died: bool,
    served: Option<ServedLife>,
}

enum SlotState {
    Waiting {
        attempt: u32,
        not_before: Option<Instant>,
    },
    Live(Box<Live>),
    Called(Box<RunningCall>),
    Done(Box<Trace>),
}

impl SlotState {
    const NEW: SlotState = SlotState::Waiting {
        attempt: 0,
        not_before: None,
    };
}

#[derive(Clone, Copy)]
enum EventSource {
    Exit,
    Stdin,
    Stdout,
    Stderr,
    Lines,
}

/// Descriptors to poll. A source has the index of its hook; without a source, the descriptor only
/// wakes the loop.
#[derive(Default)]
struct PollSet<'f> {
    sources: Vec<Option<(usize, EventSource)>>,
    fds: Vec<PollFd<'f>>,
}

impl<'f> PollSet<'f> {
    fn watch(&mut self, source: Option<(usize, EventSource)>, fd: Option<BorrowedFd<'f>>) {
        if let Some(fd) = fd {
            let flags = if matches!(source, Some((_, EventSource::Stdin))) {
                PollFlags::OUT
            } else {
                PollFlags::IN
            };
            self.sources.push(source);
            self.fds.push(PollFd::from_borrowed_fd(fd, flags));
        }
    }

    fn wait(mut self, longest: Duration) -> Vec<(usize, EventSource)> {
        let timeout = Timespec::try_from(longest).ok();
        match rustix::event::poll(&mut self.fds, timeout.as_ref()) {
            Ok(_) => {
                let all = self.sources.into_iter().zip(&self.fds);
                let ready = all.filter(|(_, fd)| !fd.revents().is_empty());
                ready.filter_map(|(source, _)| source).collect()
            }
            // A hook lowered our descriptor limit below the number of open ones: polling fails, but
            // reading works.
            Err(Errno::INVAL) => {
                std::thread::sleep(TICK);
                self.sources.into_iter().flatten().collect()
            }
            // A signal arrived, or memory is low. Deadlines are still checked.
            Err(_) => Vec::new(),
        }
    }
}

impl Engine {
    /// Runs all `jobs` and returns their traces in order. When `settles` returns true for one,
    /// stops the hooks after it.
    pub fn step(
        &self,
        jobs: &[Job<'_>],
        budget: Option<Budget>,
        settles: &dyn Fn(&Trace) -> bool,
    ) -> Vec<Trace> {
        for job in jobs.iter().filter(|job| job.may_leave_processes()) {
            let spared = &mut locked(&self.shared.spared).hooks;
            spared.insert(job.hook.name.clone());
        }
        let running = self.shared.steps.read();
        let running = running.unwrap_or_else(PoisonError::into_inner);
        let (mut traces, groups) = RunningStep::new(self, jobs, budget, settles).run();
        drop(running);
        self.sweep(jobs, &mut traces, &groups);
        traces
    }

    /// Runs a session-lived hook until it exits or its lines end. Leaves processes outside its
    /// group to [`Engine::end_strays`]. Sweeps of other decisions spare this engine's mark, but
    /// only see children of the main thread, so call it from another one.
    pub(crate) fn live(&self, job: &Job<'_>) -> Trace {
        let jobs = std::slice::from_ref(job);
        let (traces, _) = RunningStep::new(self, jobs, None, &|_| false).run();
        let trace = traces.into_iter().next();
        trace.unwrap_or_else(|| Trace::not_run(self.aborted()))
    }
}

impl<'e> RunningStep<'e> {
    fn new(
        engine: &'e Engine,
        jobs: &'e [Job<'e>],
        budget: Option<Budget>,
        settles: &'e dyn Fn(&Trace) -> bool,
    ) -> RunningStep<'e> {
        RunningStep {
            engine,
            slots: jobs.iter().map(StepSlot::new).collect(),
            at_once: engine.at_once(jobs.len()),
            budget,
            settles,
            times_aborted: 0,
            ended_groups: Vec::new(),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            answers: None,
        }
    }

    fn run(mut self) -> (Vec<Trace>, Vec<Pid>) {
        loop {
            self.start_what_may();
            let mut slots = self.slots.iter();
            if slots.all(|slot| matches!(slot.state, SlotState::Done(_))) {
                break;
            }
            self.wait_and_serve();
            self.take_answers();
            self.note_abort();
            self.call_keeper();
            for place in 0..self.slots.len() {
                self.take_served_answer(place);
                self.advance(place);
                self.end_late_call(place);
            }
        }
        let mut traces = Vec::with_capacity(self.slots.len());
        for slot in self.slots {
            if let SlotState::Done(trace) = slot.state {
                traces.push(*trace);
            }
        }
        (traces, self.ended_groups)
    }

    fn wait_and_serve(&mut self) {
        let next = self.until_next();
        self.engine
            .expect_within(next.map_or(Duration::MAX, |left| left.max(TICK)));
        let is_idle = self.slots.iter().all(|slot| slot.job.lines.is_some());
        let longest = if is_idle { IDLE_WAIT } else { LONGEST_WAIT };
        let longest = next.map_or(longest, |left| left.min(longest));
        let ready = self.poll_set().wait(longest);
        for (place, source) in ready {
            self.serve(place, source);
        }
    }

    fn poll_set(&self) -> PollSet<'_> {
        let mut set = PollSet::default();
        // Once raised, it stays readable, so poll it every tick instead.
        if self.times_aborted == 0 {
            for abort in [&self.engine.abort, &self.engine.cancel] {
                set.watch(None, abort.as_ref().map(AsFd::as_fd));
            }
        }
        set.watch(None, self.answers.as_ref().map(Answers::fd));
        for (place, slot) in self.slots.iter().enumerate() {
            let SlotState::Live(live) = &slot.state else {
                continue;
            };
            let child = &live.child;
            if !live.has_exited() {
                set.watch(Some((place, EventSource::Exit)), child.exit_fd());
            }
            set.watch(Some((place, EventSource::Stdin)), child.stdin_fd());
            set.watch(Some((place, EventSource::Stdout)), child.stdout.fd());
            set.watch(Some((place, EventSource::Stderr)), child.stderr.fd());
            let lines = slot.job.lines.as_ref().map(|lines| lines.fd());
            set.watch(Some((place, EventSource::Lines)), lines);
        }
        set
    }

    fn until_next(&self) -> Option<Duration> {
        let now = Instant::now();
        let may_have_keeper = self.engine.may_have_keeper();
        let running = self.slots.iter().filter(|slot| slot.is_running()).count();
        let has_room = running < self.at_once;
        let mut next: Option<Instant> = None;
        let mut due =
            |instant: Instant| next = Some(next.map_or(instant, |next| next.min(instant)));
        for slot in &self.slots {
            match &slot.state {
                // Without room it waits for another hook to end.
                SlotState::Waiting { not_before, .. } if has_room => due(not_before.unwrap_or(now)),
                SlotState::Waiting { .. } => {}
                SlotState::Live(live) => {
                    due(live.ends_at());
                    if let Some(instant) = live.keeper_due().filter(|_| may_have_keeper) {
                        due(instant);
                    }
                    let tick = now + TICK;
                    if let Some(instant) = live.child.query_at(tick)
                        && !live.has_exited()
                    {
                        due(instant);
                    }
                    if self.times_aborted > 0 {
                        due(tick);
                    }
                }
                SlotState::Called(begun) => due(begun.deadline),
                SlotState::Done(_) => {}
            }
        }
        Some(next?.saturating_duration_since(now))
    }

    fn serve(&mut self, place: usize, source: EventSource) {
        let slot = &mut self.slots[place];
        let SlotState::Live(live) = &mut slot.state else {
            return;
        };
        let in_time = live.takes_output();
        match source {
            EventSource::Exit => live.has_news = true,
            EventSource::Stdin => live.child.feed(),
            EventSource::Stdout => {
                live.child.stdout.read(&mut self.buffer, in_time);
                live.has_news |= live.is_drained();
                live.check_output(&slot.job.hook.limits);
                if let Some(lines) = &slot.job.lines {
                    lines.deliver(&mut live.child.stdout.kept.head);
                }
            }
            EventSource::Stderr => {
                live.child.stderr.read(&mut self.buffer, in_time);
                live.has_news |= live.is_drained();
                live.check_output(&slot.job.hook.limits);
                if let Some(watcher) = &self.engine.watcher {
                    let head = &live.child.stderr.kept.head;
                    (watcher.0)(slot.job.hook, place, &HookProgress::Wrote(head));
                }
            }
            EventSource::Lines => {
                if let Some(lines) = &slot.job.lines {
                    live.follow(lines, slot.job.timeout);
                }
            }
        }
    }

    fn call_keeper(&mut self) {
        if !self.engine.may_have_keeper() {
            return;
        }
        let now = Instant::now();
        for slot in &mut self.slots {
            let SlotState::Live(live) = &mut slot.state else {
                continue;
            };
            if live.keeper_due().is_none_or(|due| due > now) {
                continue;
            }
            match self.engine.keeper().as_ref() {
                Some(keeper) => {
                    live.is_reported = true;
                    keeper.watch(live.child.pid);
                }
                None => return,
            }
        }
    }

    /// Handles a first or second abort.
    fn note_abort(&mut self) {
        let times = self.engine.times_aborted();
        if times == self.times_aborted {
            return;
        }
        self.times_aborted = times;
        let aborted = self.engine.aborted();
        for slot in &mut self.slots {
            if let (SlotState::Live(live), true) = (&mut slot.state, times > 1) {
                live.kill(aborted.clone());
            } else {
                slot.end_early(aborted.clone());
            }
        }
    }

    fn advance(&mut self, place: usize) {
        let now = Instant::now();
        let job = self.slots[place].job;
        let SlotState::Live(live) = &mut self.slots[place].state else {
            return;
        };
        let Some(status) = live.query(now) else {
            return;
        };
        if live.never_began(status) {
            return self.start_cold(place);
        }
        let is_over = match (&live.phase, status) {
            // An exit before this point wins over the deadline.
            (Phase::Running, Status::Exited(exit)) => live.drain(job, self.budget, Some(exit), now),
            (Phase::Running, Status::Lost) => live.drain(job, self.budget, None, now),
            (Phase::Running, Status::Running) => {
                if live.until <= now {
                    live.reach_deadline(job, self.budget, now);
                }
                false
            }
            (Phase::Draining { .. }, _) => live.ends_at() <= now || live.is_drained(),
            (Phase::Stopping | Phase::Killed, Status::Exited(_) | Status::Lost) => true,
            (Phase::Stopping, Status::Running) => {
                if live.until <= now {
                    live.kill(live.why.clone());
                }
                false
            }
            (Phase::Killed, Status::Running) => live.until <= now,
        };
        if is_over {
            if !live.has_exited() {
                self.ended_groups.push(live.child.pid);
            }
            live.leave_keeper(self.engine);
            self.engine.expect_within(JUDGING);
            let trace = live.finish(job, status, now);
            if let Some(pipes) = job.pipes {
                pipes.close_later(live.child.spent());
            }
            self.done(place, trace);
        }
    }

    /// Stores a hook's trace. If it settles the event, stops the hooks after it.
    fn done(&mut self, place: usize, trace: Trace) {
        let settled = (self.settles)(&trace);
        tracing::debug!(
            hook = self.slots[place].job.hook.name,
            ending = trace.ending.name(),
            "ended"
        );
        if let Some(watcher) = &self.engine.watcher {
            let hook = self.slots[place].job.hook;
            (watcher.0)(hook, place, &HookProgress::Ended(&trace));
        }
        self.slots[place].state = SlotState::Done(Box::new(trace));
        if settled {
            let later = self.slots[place + 1..].iter_mut();
            later.for_each(|slot| slot.end_early(Ending::Voided));
        }
    }
}

impl<'e> StepSlot<'e> {
    fn new(job: &'e Job<'e>) -> StepSlot<'e> {
        StepSlot {
            job,
            state: SlotState::NEW,
            has_died: false,
            served: None,
        }
    }

    fn end_early(&mut self, why: Ending) {
        let trace = match &mut self.state {
            SlotState::Waiting { .. } => Trace::not_run(why),
            SlotState::Called(begun) => begun.left(why, Instant::now()),
            SlotState::Live(live) => return live.stop(why),
            SlotState::Done(_) => return,
        };
        self.state = SlotState::Done(Box::new(trace));
    }

    fn is_running(&self) -> bool {
        match &self.state {
            SlotState::Live(_) | SlotState::Called(_) => true,
            SlotState::Waiting { .. } | SlotState::Done(_) => false,
        }
    }
}

impl RunningStep<'_> {
    fn call(&mut self, place: usize, now: Instant) -> Result<SlotState, Complaint> {
        let job = self.slots[place].job;
        tracing::debug!(hook = job.hook.name, "called");
        let (deadline, why) = self.ends(job.timeout, now);
        let answers = match self.answers.take() {
            Some(answers) => answers,
            None => Answers::open().map_err(|error| no_thread(&error))?,
        };
        let reply = self.answers.insert(answers).reply(place);
        let workers = &self.engine.shared.workers;
        let permit = workers.permit().ok_or_else(|| {
            Complaint::with_cure(
                format!("{MOST_FUNCTIONS} functions are still running"),
                "make sure that every function returns, even after it times out",
            )
        })?;
        let started = Instant::now();
        Ok(SlotState::Called(Box::new(RunningCall {
            started,
            deadline,
            why,
            task: self.begin(job, reply, permit)?,
        })))
    }

    /// Starts a call. Returns its task, or `None` for a thread.
    fn begin(
        &self,
        job: &Job<'_>,
        reply: FunctionReply,
        permit: WorkerPermit,
    ) -> Result<Option<Box<dyn Any + Send>>, Complaint> {
        let (Handler::Function(function), Some(event)) = (&job.hook.handler, job.permit.about)
        else {
            return Err(Complaint::new("it is not a function"));
        };
        let function = function.clone();
        let event = event.clone();
        #[cfg(feature = "tokio")]
        if let crate::engine::hook::Function::Async(function) = function {
            let runtime = self.engine.runtime.as_ref().ok_or_else(|| {
                Complaint::with_cure(
                    "it is async, but no runtime is set",
                    "call `Runner::handle_async`, or set `Runner::runtime`",
                )
            })?;
            return Ok(Some(call::begin(runtime, function, event, reply, permit)));
        }
        let work = Box::new(move || call::call(&function, &event, reply, permit));
        let started = self.engine.shared.workers.give(work);
        started.map(|()| None).map_err(|error| no_thread(&error))
    }

    /// Handles available answers. They win over deadlines.
    fn take_answers(&mut self) {
        while let Some((place, returned)) = self.answers.as_ref().and_then(Answers::next) {
            let slot = &self.slots[place];
            if let SlotState::Called(begun) = &slot.state {
                let ending = slot.job.permit.ending_of(returned);
                let trace = begun.trace(ending, Instant::now());
                self.done(place, trace);
            }
        }
    }

    fn end_late_call(&mut self, place: usize) {
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
