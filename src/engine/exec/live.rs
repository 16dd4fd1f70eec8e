//! A running hook: its phase, and how it is stopped.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::child::{Child, GIVE_UP, Status, status_of};
use super::engine::Engine;
use super::job::{Budget, Job, end_of};
use super::keeper::LATER;
use super::lines::{HookLines, LineLife};
use super::{confine, tree};
use crate::engine::answer;
use crate::engine::hook::{Background, Limits};
use crate::engine::lock::locked;
use crate::engine::names::{duration_text, size_text};
use crate::engine::run::{CapturedStream, Ending, Exit, Trace};

const GRACE: Duration = Duration::from_millis(200);

/// Time to drain the output of an exited hook: its children may hold the pipe for hours (same rule
/// and number as nextest).
const DRAIN: Duration = Duration::from_millis(100);

/// Time that a gate waits for the rest of an answer while another process holds stdout: its last
/// line may block.
const HELD: Duration = Duration::from_secs(1);

const ASKING: Duration = Duration::from_millis(50);

pub(super) struct Live {
    pub(super) child: Child,
    pub(super) started: Instant,
    pub(super) phase: Phase,
    /// When its phase ends.
    pub(super) until: Instant,
    /// Its ending if it is stopped.
    pub(super) why: Ending,
    /// End of its timeout without pauses.
    pub(super) own_deadline: Instant,
    /// It may have exited: the pidfd is ready or its streams are closed.
    pub(super) has_news: bool,
    /// Whether it is killed when hookrun dies. False if it may leave processes behind.
    pub(super) is_kept: bool,
    pub(super) is_reported: bool,
    pub(super) is_confined: bool,
    pub(super) notes: Vec<String>,
}

pub(super) enum Phase {
    /// Runs until its deadline.
    Running,
    /// Exited; its output is drained.
    Draining {
        exit: Option<Exit>,
        /// End of the wait while another process holds stdout. Later than [`Live::until`] only if
        /// the answer must be complete.
        answer_until: Instant,
    },
    /// Got SIGTERM.
    Stopping,
    /// Got SIGKILL.
    Killed,
}

impl Live {
    pub(super) fn ends_at(&self) -> Instant {
        match self.phase {
            Phase::Draining { answer_until, .. } if !self.child.stdout.is_closed() => answer_until,
            Phase::Running | Phase::Draining { .. } | Phase::Stopping | Phase::Killed => self.until,
        }
    }

    /// Queries the leader. `None` if nothing is due, to save the system call.
    pub(super) fn query(&mut self, now: Instant) -> Option<Status> {
        if let Phase::Draining { exit, .. } = self.phase {
            return Some(exit.map_or(Status::Lost, Status::Exited));
        }
        let is_due = self.child.query_at(now).is_some_and(|at| at <= now);
        if !std::mem::take(&mut self.has_news) && !is_due && now < self.ends_at() {
            return None;
        }
        let status = status_of(self.child.pid);
        if status == Status::Running {
            self.child.watch_exit();
        }
        Some(status)
    }

    /// Handles its exit. Returns true if its output is complete, else starts to wait for it.
    pub(super) fn drain(
        &mut self,
        job: &Job<'_>,
        budget: Option<Budget>,
        exit: Option<Exit>,
        now: Instant,
    ) -> bool {
        self.child.stdin = None;
        self.until = now + DRAIN;
        let mut answer_until = self.until;
        if needs_whole_answer(job, exit) {
            let held = now + HELD;
            answer_until = budget.map_or(held, |it| it.until.min(held)).max(self.until);
        }
        self.phase = Phase::Draining { exit, answer_until };
        self.is_drained()
    }

    pub(super) fn has_exited(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
    }

    pub(super) fn is_drained(&self) -> bool {
        self.child.stdout.is_closed() && self.child.stderr.is_closed()
    }

    pub(super) fn takes_output(&self) -> bool {
        match self.phase {
            Phase::Running | Phase::Draining { .. } => true,
            Phase::Stopping => false,
            Phase::Killed => matches!(self.why, Ending::OverLimit { .. }),
        }
    }

    /// Sends SIGTERM, unless it is ending. After its exit, stops waiting for output.
    pub(super) fn stop(&mut self, why: Ending) {
        match &mut self.phase {
            Phase::Running => {
                self.child.terminate();
                self.phase = Phase::Stopping;
                self.until = Instant::now() + GRACE;
                self.why = why;
            }
            Phase::Draining { answer_until, .. } => *answer_until = self.until,
            Phase::Stopping | Phase::Killed => {}
        }
    }

    /// Handles its deadline: stops it, or extends the deadline by paused time, but not past the
    /// budget.
    pub(super) fn reach_deadline(&mut self, job: &Job<'_>, budget: Option<Budget>, now: Instant) {
        let (Some(connection), Ending::TimedOut { .. }) = (&job.connection, &self.why) else {
            return self.stop(self.why.clone());
        };
        let clock = connection.clock();
        let own = self.own_deadline.checked_add(clock.paused_for(now));
        let mut own = own.unwrap_or(now);
        if clock.is_paused(now) {
            own = own.max(now + ASKING);
        }
        self.until = own;
        if let Some(budget) = budget.filter(|budget| budget.until < own) {
            self.until = budget.until;
            self.why = budget.used_up();
        }
        if self.until <= now {
            self.stop(self.why.clone());
        }
    }

    pub(super) fn follow(&mut self, lines: &HookLines, timeout: Duration) {
        lines.clear_news();
        self.child.feed();
        match lines.life() {
            LineLife::Open => {}
            LineLife::Closing => self.close(timeout, Instant::now()),
            LineLife::Stopped => self.stop(Ending::Aborted { signal: None }),
        }
    }

    fn close(&mut self, timeout: Duration, now: Instant) {
        let is_open = self.own_deadline > end_of(timeout, now);
        if matches!(self.phase, Phase::Running) && is_open {
            self.own_deadline = end_of(timeout, now);
            self.until = self.own_deadline;
            self.why = Ending::TimedOut { after: timeout };
        }
    }

    /// Returns when to report it to the keeper. Most hooks end sooner.
    pub(super) fn keeper_due(&self) -> Option<Instant> {
        (self.is_kept && !self.is_reported).then(|| self.started + LATER)
    }

    /// Unregisters it before it is reaped and its id can be reused.
    pub(super) fn leave_keeper(&self, engine: &Engine) {
        let keeper = locked(&engine.shared.kept);
        if let Some(keeper) = keeper.as_ref().filter(|_| self.is_reported) {
            keeper.forget(self.child.pid);
        }
    }

    /// Returns the ending for output above its limit.
    fn output_excess(&self, limits: &Limits) -> Option<Ending> {
        let limit = limits.output_bytes?;
        let written = self.child.stdout.kept.total_bytes + self.child.stderr.kept.total_bytes;
        if written <= limit {
            return None;
        }
        let problem = format!(
            "it wrote {}, more than {}",
            size_text(written),
            size_text(limit)
        );
        Some(Ending::OverLimit {
            limit: "output",
            problem,
        })
    }

    pub(super) fn check_output(&mut self, limits: &Limits) {
        let is_running = matches!(self.phase, Phase::Running);
        if let Some(ending) = self.output_excess(limits).filter(|_| is_running) {
            self.kill(ending);
        }
    }

    pub(super) fn kill(&mut self, why: Ending) {
        match self.phase {
            Phase::Draining { .. } | Phase::Killed => return,
            Phase::Stopping => {}
            Phase::Running => self.why = why,
        }
        self.child.kill();
        self.phase = Phase::Killed;
        self.until = Instant::now() + GIVE_UP;
    }

    /// Finishes the hook: kills the rest of its group, then reaps the leader, in this order.
    pub(super) fn finish(&mut self, job: &Job<'_>, status: Status, now: Instant) -> Trace {
        let mut notes = std::mem::take(&mut self.notes);
        if self.takes_output() {
            // Available output counts even if waiting failed.
            let mut buffer = Vec::with_capacity(4096);
            self.child.stdout.read(&mut buffer, true);
            self.child.stderr.read(&mut buffer, true);
        }
        let may_stay = job.hook.background == Background::Detach;
        let has_exited = self.has_exited();
        // The process that holds stdout must be named before it is killed.
        let held = self.held_answer(job);
        let excess = self.last_excess(&job.hook.limits, status);
        // A lost process's id may belong to another one.
        match status {
            _ if may_stay && has_exited => {}
            Status::Exited(_) => self.child.kill_rest(),
            Status::Running => self.child.kill(),
            Status::Lost => {}
        }
        if has_exited && !self.is_drained() && !may_stay && held.is_none() {
            notes
                .push("a child process held the hook's output open; hookrun killed it".to_string());
        }
        if status == Status::Running {
            notes.push("the hook could not be killed".to_string());
        } else {
            self.child.reap();
        }
        notes.extend(self.child.start_note());
        let stdout = self.child.stdout.take();
        let mut stderr = self.child.stderr.take();
        if let (Some(script), Ok(Some(program))) = (&job.script, &job.runs) {
            let path = script.path.to_string_lossy();
            stderr.replace(&path, &program.name.to_string_lossy());
        }
        let exit = match status {
            Status::Exited(exit) => Some(exit),
            Status::Running | Status::Lost => None,
        };
        let of_confine = exit.filter(|_| self.is_confined);
        if let Some(error) = of_confine.and_then(|exit| confine::failed(exit, &stderr)) {
            // Only `confine` ran: ignore its output.
            return Trace {
                notes,
                ..Trace::not_run(Ending::NotStarted(error))
            };
        }
        // A limit does not undo a block that already happened.
        let has_blocked = matches!(exit, Some(Exit::Status(status)) if status != 0);
        let is_stopped = match self.phase {
            Phase::Running | Phase::Draining { .. } => false,
            Phase::Stopping => true,
            Phase::Killed => !(has_blocked && self.takes_output()),
        };
        let (ending, more) = if is_stopped {
            answer::failed(self.why.clone(), &stdout, job.permit)
        } else {
            let (ending, more) = self.judge(job, exit, &stdout, &stderr, excess);
            match held {
                // A block stands, whatever would follow.
                Some(problem) if !ending.blocks() => (Ending::Malformed { problem }, more),
                Some(_) | None => (ending, more),
            }
        };
        notes.extend(more);
        let took = now.saturating_duration_since(self.started);
        Trace {
            exit,
            took,
            stdout,
            stderr,
            has_started: true,
            start: self.child.how,
            notes,
            ..Trace::not_run(ending)
        }
    }

    /// Describes an answer that may be incomplete because stdout stayed open.
    fn held_answer(&self, job: &Job<'_>) -> Option<String> {
        let Phase::Draining { exit, .. } = &self.phase else {
            return None;
        };
        let stdout = self.child.stdout.fd();
        let holder = tree::holder_of(stdout.filter(|_| needs_whole_answer(job, *exit))?);
        let holder = holder.unwrap_or_else(|| "a child process".to_string());
        Some(format!(
            "it may be incomplete: {holder} still holds stdout open, although the hook has \
             exited; start that process with `>/dev/null 2>&1 &`, or set `background = \"detach\"`"
        ))
    }

    fn judge(
        &self,
        job: &Job<'_>,
        exit: Option<Exit>,
        stdout: &CapturedStream,
        stderr: &CapturedStream,
        excess: Option<Ending>,
    ) -> (Ending, Vec<String>) {
        let Some(exit) = exit else {
            let problem = "another part of the embedding program collected it".to_string();
            return answer::failed(Ending::Lost { problem }, stdout, job.permit);
        };
        if let Some(excess) = excess {
            return answer::failed(excess, stdout, job.permit);
        }
        let (ending, mut notes) = answer::judge(exit, stdout, stderr, job.permit);
        if exit != Exit::Status(0) {
            notes.extend(job.hook.limits.notes());
        }
        (ending, notes)
    }

    /// Returns the exceeded limit that its exit shows. A status other than 0 is a block and must
    /// not become a failure.
    fn last_excess(&self, limits: &Limits, status: Status) -> Option<Ending> {
        match status {
            Status::Exited(Exit::Status(0)) => self.output_excess(limits),
            Status::Exited(Exit::Signal(signal)) if signal == Signal::XCPU.as_raw() => {
                let problem = format!(
                    "it used all of its {} of processor time",
                    duration_text(limits.cpu?)
                );
                Some(Ending::OverLimit {
                    limit: "cpu",
                    problem,
                })
            }
            Status::Exited(_) | Status::Running | Status::Lost => None,
        }
    }
}

/// Returns true if a later line could still block: the answer counts only when complete. A status
/// other than 0 blocks by itself.
fn needs_whole_answer(job: &Job<'_>, exit: Option<Exit>) -> bool {
    job.permit.spec.blocks
        && exit == Some(Exit::Status(0))
        && job.hook.background != Background::Detach
}
