//! The readiness loop: the hooks of one step, from waiting to done.
//!
//! A hook waits, runs, and is done. It stops running when it exits (its output is then drained for
//! a moment) or when it is stopped (SIGTERM, a grace period, SIGKILL). Every state has a time
//! limit, so the loop ends.

mod calling;
mod living;
mod starting;
mod sweeping;
mod warming;

use std::os::fd::AsFd;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::Pid;

use super::call::{Answers, RunningCall};
use super::child::Status;
use super::engine::Engine;
use super::job::{Budget, Job};
use super::live::{Live, Phase};
use super::progress::HookProgress;
use super::warm::ServedLife;
use crate::engine::lock::locked;
use crate::engine::run::{Ending, Trace};

/// How much to read at once. With 64 KiB glibc trims its whole heap each time the buffer is freed.
const BUFFER_BYTES: usize = 32 * 1024;

/// How long reading the longest answer may take before a watchdog steps in.
const JUDGING: Duration = Duration::from_secs(10);

/// How often the loop checks a hook where the system has no pidfd, and looks for a second request
/// to stop.
const TICK: Duration = Duration::from_millis(5);

/// The longest single wait. A wait that SIGSTOP interrupts resumes after SIGCONT with its remaining
/// time, however late it is by then.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The same for hooks that live as long as their session, and have no deadline to miss.
const IDLE_WAIT: Duration = Duration::from_secs(3600);

pub(super) struct RunningStep<'e> {
    engine: &'e Engine,
    slots: Vec<StepSlot<'e>>,
    at_once: usize,
    budget: Option<Budget>,
    settles: &'e dyn Fn(&Trace) -> bool,
    times_aborted: u64,
    /// The groups of hooks that we ended, without those that exited by themselves.
    ended_groups: Vec<Pid>,
    buffer: Vec<u8>,
    /// Where functions send their answers, once one was called.
    answers: Option<Answers>,
}

struct StepSlot<'e> {
    job: &'e Job<'e>,
    state: SlotState,
    /// The process that should have run it has ended before.
    has_died: bool,
    /// If it is a program that stays up: what is known of it.
    served: Option<ServedLife>,
}

enum SlotState {
    /// It starts at `not_before` or later.
    Waiting {
        attempt: u32,
        not_before: Option<Instant>,
    },
    /// Its process was started.
    Live(Box<Live>),
    Called(Box<RunningCall>),
    /// It has ended.
    Done(Box<Trace>),
}

#[derive(Clone, Copy)]
enum WatchedSource {
    Abort,
    Answers,
    Exit(usize),
    Stdin(usize),
    Stdout(usize),
    Stderr(usize),
    /// News for a hook that lives as long as its session.
    Lines(usize),
}

impl Engine {
    /// Runs all `jobs` and returns their traces in the same order. When `settles` returns true for
    /// one of them, the hooks after it are ended, because their answers no longer count.
    pub fn step(
        &self,
        jobs: &[Job<'_>],
        budget: Option<Budget>,
        settles: &dyn Fn(&Trace) -> bool,
    ) -> Vec<Trace> {
        for job in jobs.iter().filter(|job| job.may_leave_processes()) {
            locked(&self.shared.spared)
                .hooks
                .insert(job.hook.name.clone());
        }
        let running = self
            .shared
            .steps
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let (mut traces, groups) = RunningStep::new(self, jobs, budget, settles).run();
        drop(running);
        self.sweep(jobs, &mut traces, &groups);
        traces
    }
}

impl<'e> RunningStep<'e> {
    pub(super) fn new(
        engine: &'e Engine,
        jobs: &'e [Job<'e>],
        budget: Option<Budget>,
        settles: &'e dyn Fn(&Trace) -> bool,
    ) -> RunningStep<'e> {
        let slot = |job| StepSlot {
            job,
            state: SlotState::Waiting {
                attempt: 0,
                not_before: None,
            },
            has_died: false,
            served: None,
        };
        RunningStep {
            engine,
            slots: jobs.iter().map(slot).collect(),
            at_once: engine.at_once(jobs.len()),
            budget,
            settles,
            times_aborted: 0,
            ended_groups: Vec::new(),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            answers: None,
        }
    }

    /// Runs every hook to its end. Also returns the process groups of the hooks that we ended.
    pub(super) fn run(mut self) -> (Vec<Trace>, Vec<Pid>) {
        loop {
            self.start_what_may();
            if self
                .slots
                .iter()
                .all(|slot| matches!(slot.state, SlotState::Done(_)))
            {
                break;
            }
            self.wait_and_serve();
            self.hear_functions();
            self.note_abort();
            self.call_keeper();
            for place in 0..self.slots.len() {
                self.hear_answer(place);
                self.advance(place);
                self.look_at_call(place);
            }
        }
        let traces = self
            .slots
            .into_iter()
            .map(|slot| match slot.state {
                SlotState::Done(trace) => *trace,
                SlotState::Waiting { .. } | SlotState::Live(_) | SlotState::Called(_) => {
                    Trace::not_run(self.engine.aborted())
                }
            })
            .collect();
        (traces, self.ended_groups)
    }

    /// Waits until something happens or is due, then moves bytes.
    fn wait_and_serve(&mut self) {
        let timeout = self.until_next();
        self.engine
            .expect_within(timeout.map_or(Duration::MAX, |left| left.max(TICK)));
        let is_idle = self.slots.iter().all(|slot| slot.job.lines.is_some());
        let longest = if is_idle { IDLE_WAIT } else { LONGEST_WAIT };
        let timeout = timeout.map_or(longest, |left| left.min(longest));
        let timeout = Timespec::try_from(timeout).ok();
        let (watched, mut fds) = self.poll_set();
        let ready: Vec<WatchedSource> = match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {
                let happened = watched
                    .into_iter()
                    .zip(&fds)
                    .filter(|(_, fd)| !fd.revents().is_empty());
                happened.map(|(what, _)| what).collect()
            }
            // A hook has lowered our descriptor limit below the number that we have open. We can no
            // longer wait for them, but we can still use them.
            Err(Errno::INVAL) => {
                std::thread::sleep(TICK);
                watched
            }
            // A signal arrived, or memory is short. The deadlines are still checked.
            Err(_) => Vec::new(),
        };
        for what in ready {
            self.serve(what);
        }
    }

    fn poll_set(&self) -> (Vec<WatchedSource>, Vec<PollFd<'_>>) {
        let mut watched = Vec::with_capacity(1 + 4 * self.slots.len());
        let mut fds = Vec::with_capacity(1 + 4 * self.slots.len());
        // Once raised it stays readable, so from then on it is checked every tick instead.
        let aborts = [&self.engine.abort, &self.engine.cancel]
            .into_iter()
            .flatten();
        for abort in aborts.filter(|_| self.times_aborted == 0) {
            watched.push(WatchedSource::Abort);
            fds.push(PollFd::from_borrowed_fd(abort.as_fd(), PollFlags::IN));
        }
        if let Some(answers) = &self.answers {
            watched.push(WatchedSource::Answers);
            fds.push(PollFd::from_borrowed_fd(answers.fd(), PollFlags::IN));
        }
        for (place, slot) in self.slots.iter().enumerate() {
            let SlotState::Live(live) = &slot.state else {
                continue;
            };
            let has_exited = matches!(live.phase, Phase::Draining { .. });
            let child = &live.child;
            let (stdout, stderr) = (child.stdout.fd().map(AsFd::as_fd), child.stderr.fd());
            for (source, fd, flags) in [
                (
                    WatchedSource::Exit(place),
                    child.exit_fd().filter(|_| !has_exited),
                    PollFlags::IN,
                ),
                (
                    WatchedSource::Stdin(place),
                    child.stdin_fd(),
                    PollFlags::OUT,
                ),
                (WatchedSource::Stdout(place), stdout, PollFlags::IN),
                (
                    WatchedSource::Stderr(place),
                    stderr.map(AsFd::as_fd),
                    PollFlags::IN,
                ),
                (
                    WatchedSource::Lines(place),
                    slot.job.lines.as_ref().map(|lines| lines.fd()),
                    PollFlags::IN,
                ),
            ] {
                if let Some(fd) = fd {
                    watched.push(source);
                    fds.push(PollFd::from_borrowed_fd(fd, flags));
                }
            }
        }
        (watched, fds)
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
                // Without room it waits until another one ends.
                SlotState::Waiting { not_before, .. } if has_room => due(not_before.unwrap_or(now)),
                SlotState::Waiting { .. } => {}
                SlotState::Live(live) => {
                    due(live.ends_at());
                    if let Some(instant) = live.keeper_due().filter(|_| may_have_keeper) {
                        due(instant);
                    }
                    let has_exited = matches!(live.phase, Phase::Draining { .. });
                    let tick = now + TICK;
                    if let Some(instant) = live.child.asked_at(tick).filter(|_| !has_exited) {
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

    fn serve(&mut self, what: WatchedSource) {
        let buffer = &mut self.buffer;
        let place = match what {
            WatchedSource::Abort | WatchedSource::Answers => return,
            WatchedSource::Exit(place)
            | WatchedSource::Stdin(place)
            | WatchedSource::Stdout(place)
            | WatchedSource::Stderr(place)
            | WatchedSource::Lines(place) => place,
        };
        let slot = &mut self.slots[place];
        let SlotState::Live(live) = &mut slot.state else {
            return;
        };
        let in_time = live.is_heard();
        match what {
            WatchedSource::Stdin(_) => live.child.feed(),
            WatchedSource::Stdout(_) => {
                live.child.stdout.read(buffer, in_time);
                live.has_news |= live.is_drained();
                live.check_output(&slot.job.hook.limits);
                if let Some(lines) = &slot.job.lines {
                    lines.hear(&mut live.child.stdout.kept.head);
                }
            }
            WatchedSource::Lines(_) => {
                let lines = slot.job.lines.iter();
                lines.for_each(|lines| live.follow(lines.as_ref(), slot.job.timeout));
            }
            WatchedSource::Stderr(_) => {
                live.child.stderr.read(buffer, in_time);
                live.has_news |= live.is_drained();
                live.check_output(&slot.job.hook.limits);
                if let Some(watcher) = &self.engine.watcher {
                    let head = &live.child.stderr.kept.head;
                    watcher.tell(slot.job.hook, place, &HookProgress::Wrote(head));
                }
            }
            WatchedSource::Exit(_) => live.has_news = true,
            WatchedSource::Abort | WatchedSource::Answers => {}
        }
    }

    /// Tells the keeper about hooks that have run long enough, and starts it for the first.
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
                Some(keeper) => live.tell(keeper),
                None => return,
            }
        }
    }

    /// Checks whether we were interrupted, once or again.
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

    /// Moves a hook to its next phase if that is due.
    fn advance(&mut self, place: usize) {
        let now = Instant::now();
        let job = self.slots[place].job;
        let SlotState::Live(live) = &mut self.slots[place].state else {
            return;
        };
        let Some(status) = live.ask(now) else { return };
        if live.never_began(status) {
            return self.begin_anew(place);
        }
        let is_over = match (&live.phase, status) {
            // An exit that has already happened wins over the deadline.
            (Phase::Running { .. }, Status::Exited(exit)) => {
                live.drain(job, self.budget, Some(exit), now)
            }
            (Phase::Running { .. }, Status::Lost) => live.drain(job, self.budget, None, now),
            (Phase::Running { deadline, .. }, Status::Running) => {
                if *deadline <= now {
                    live.reach_deadline(job, self.budget, now);
                }
                false
            }
            (Phase::Draining { .. }, _) => live.ends_at() <= now || live.is_drained(),
            (Phase::Stopping { .. } | Phase::Killed { .. }, Status::Exited(_) | Status::Lost) => {
                true
            }
            (Phase::Stopping { why, kill_at }, Status::Running) => {
                if *kill_at <= now {
                    let why = why.clone();
                    live.kill(why);
                }
                false
            }
            (Phase::Killed { give_up_at, .. }, Status::Running) => *give_up_at <= now,
        };
        if is_over {
            if !matches!(live.phase, Phase::Draining { .. }) {
                self.ended_groups.push(live.child.pid);
            }
            self.engine.no_longer_keep(live);
            self.engine.expect_within(JUDGING);
            let trace = live.finish(job, status, now);
            job.pipes
                .iter()
                .for_each(|pipes| pipes.close_later(live.child.spent()));
            self.done(place, trace);
        }
    }

    /// Records a hook's trace. If that settles the event, the hooks after it are ended.
    fn done(&mut self, place: usize, trace: Trace) {
        let settled = (self.settles)(&trace);
        tracing::debug!(
            hook = self.slots[place].job.hook.name,
            ending = trace.ending.name(),
            "ended"
        );
        if let Some(watcher) = &self.engine.watcher {
            watcher.tell(
                self.slots[place].job.hook,
                place,
                &HookProgress::Ended(&trace),
            );
        }
        self.slots[place].state = SlotState::Done(Box::new(trace));
        if settled {
            self.slots[place + 1..]
                .iter_mut()
                .for_each(|slot| slot.end_early(Ending::Voided));
        }
    }
}

impl StepSlot<'_> {
    /// Ends it: at once if it does not run, else as soon as it lets itself be ended.
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
