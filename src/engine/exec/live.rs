//! A hook that was started: how far it is, and how it is brought to its end.

use std::time::{Duration, Instant};

use super::cgroup::Cgroup;
use super::child::{Child, GIVE_UP, Status};
use super::job::{Budget, Job};
use super::keeper::{Keeper, LATER};
use super::usage::{self, Usage};
use super::{confine, tree};
use crate::engine::answer;
use crate::engine::hook::Background;
use crate::engine::hook::limits::{Limits, size_text};
use crate::engine::outcome::Decision;
use crate::engine::run::{Captured, Ending, Exit, Level, Trace};

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(200);

/// How long a hook that has exited may take to close its output: a process that it started may
/// hold the pipe for hours (nextest's rule and number).
const DRAIN: Duration = Duration::from_millis(100);

/// How long a gate waits for the end of an answer while a process still holds stdout: what it
/// says last may refuse.
const HELD: Duration = Duration::from_secs(1);

/// How often the loop looks at a hook that is past its deadline while a person decides.
const ASKING: Duration = Duration::from_millis(50);

/// The first pause before a hook with limits is looked at; it doubles up to [`LOOK_EVERY`].
const LOOK_FIRST: Duration = Duration::from_millis(1);

/// How often too much memory must be seen before it is believed.
const DOUBTS: u32 = 2;

/// How often a hook with limits is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A hook that was started.
pub(super) struct Live {
    pub(super) child: Child,
    pub(super) started: Instant,
    pub(super) phase: Phase,
    /// The end of its timeout, were its clock never to stand still.
    pub(super) own_deadline: Instant,
    /// Its pidfd has told of its exit, which was not looked at yet.
    pub(super) has_news: bool,
    /// It is ended when hookrun is; not so a hook that may leave processes behind.
    pub(super) is_kept: bool,
    /// The keeper knows of it.
    pub(super) is_told: bool,
    /// When it is looked at next, if it has limits that need it.
    pub(super) look: Option<Look>,
    /// The control group that it is in.
    pub(super) cgroup: Option<Cgroup>,
    /// How surely all that it starts is ended.
    pub(super) level: Level,
    /// It was started by `confine`.
    pub(super) is_confined: bool,
    pub(super) notes: Vec<String>,
}

/// When to look at what a hook uses.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) at: Instant,
    pause: Duration,
    /// How often too much memory must still be seen, one look after the other: a process that is
    /// just being started seems to hold what its parent holds.
    doubts: u32,
}

impl Look {
    pub(super) fn first(now: Instant) -> Look {
        Look { at: now + LOOK_FIRST, pause: LOOK_FIRST, doubts: DOUBTS }
    }

    /// The one after a look that took so long: looking is to take no more than a fifth of the time.
    fn next(self, took: Duration) -> Look {
        let pause = (2 * self.pause).min(LOOK_EVERY);
        Look { at: Instant::now() + pause.max(4 * took), pause, doubts: DOUBTS }
    }

    /// The one after a look that saw too much.
    fn again(self) -> Look {
        let doubts = self.doubts.saturating_sub(1);
        Look { at: Instant::now() + LOOK_FIRST, doubts, ..self }
    }
}

/// How far it is.
pub(super) enum Phase {
    /// Until its deadline; `why` is what reaching it means.
    Running { deadline: Instant, why: Ending },
    /// It exited; its output is waited for.
    Draining {
        exit: Option<Exit>,
        /// Until when, in any case.
        until: Instant,
        /// Until when while something holds its stdout. Later only where an answer that may be
        /// incomplete is none.
        answer_until: Instant,
    },
    /// It was asked to end.
    Stopping { why: Ending, kill_at: Instant },
    /// It was killed.
    Killed { why: Ending, give_up_at: Instant },
}

impl Live {
    /// When its phase ends at the latest.
    pub(super) fn ends_at(&self) -> Instant {
        match &self.phase {
            Phase::Running { deadline, .. } => *deadline,
            Phase::Draining { until, .. } if self.child.stdout.is_closed() => *until,
            Phase::Draining { answer_until, .. } => *answer_until,
            Phase::Stopping { kill_at, .. } => *kill_at,
            Phase::Killed { give_up_at, .. } => *give_up_at,
        }
    }

    /// It exited: its output is complete, or is waited for. True if it is complete.
    pub(super) fn drain(
        &mut self,
        job: &Job<'_>,
        budget: Option<Budget>,
        exit: Option<Exit>,
        now: Instant,
    ) -> bool {
        self.child.close_stdin();
        let until = now + DRAIN;
        let answer_until = match needs_whole_answer(job, exit) {
            true => budget.map_or(now + HELD, |budget| budget.until.min(now + HELD)).max(until),
            false => until,
        };
        self.phase = Phase::Draining { exit, until, answer_until };
        self.is_drained()
    }

    pub(super) fn is_drained(&self) -> bool {
        self.child.stdout.is_closed() && self.child.stderr.is_closed()
    }

    /// Whether what it writes may count: not when its time was over before.
    pub(super) fn is_heard(&self) -> bool {
        match &self.phase {
            Phase::Running { .. } | Phase::Draining { .. } => true,
            Phase::Stopping { .. } => false,
            Phase::Killed { why, .. } => matches!(why, Ending::OverLimit { .. }),
        }
    }

    /// Asks it to end, unless it is ending already. One that has exited gets no more time for its
    /// output.
    pub(super) fn stop(&mut self, why: Ending) {
        match &mut self.phase {
            Phase::Running { .. } => {
                self.child.terminate();
                self.phase = Phase::Stopping { why, kill_at: Instant::now() + GRACE };
            }
            Phase::Draining { until, answer_until, .. } => *answer_until = *until,
            Phase::Stopping { .. } | Phase::Killed { .. } => {}
        }
    }

    /// Its deadline is reached at `now`. It is asked to end, unless its clock has stood still
    /// meanwhile, or does so now: then the deadline is a later one, but never after the budget's.
    pub(super) fn reach_deadline(&mut self, job: &Job<'_>, budget: Option<Budget>, now: Instant) {
        let Phase::Running { why, .. } = &self.phase else { return };
        let why = why.clone();
        let clock = job.clock.as_ref().filter(|_| matches!(why, Ending::TimedOut { .. }));
        let Some(clock) = clock else { return self.stop(why) };
        let mut own = self.own_deadline.checked_add(clock.stood_still(now)).unwrap_or(now);
        if clock.stands_still(now) {
            own = own.max(now + ASKING);
        }
        let (deadline, why) = match budget.filter(|budget| budget.until < own) {
            Some(budget) => (budget.until, Ending::OutOfBudget { budget: budget.whole }),
            None => (own, why),
        };
        match deadline > now {
            true => self.phase = Phase::Running { deadline, why },
            false => self.stop(why),
        }
    }

    /// When the keeper is to know of it: most hooks are over by then.
    pub(super) fn keeper_due(&self) -> Option<Instant> {
        (self.is_kept && !self.is_told).then(|| self.started + LATER)
    }

    /// Tells the keeper what to end if hookrun is killed.
    pub(super) fn tell(&mut self, keeper: &Keeper) {
        self.is_told = true;
        keeper.watch(self.child.pid());
        self.cgroup.iter().for_each(|group| keeper.watch_cgroup(group.path()));
    }

    /// Looks at what it uses, if that is due, and kills it if that is too much. `strays` are its
    /// processes that were re-parented to us.
    pub(super) fn look(&mut self, limits: &Limits, strays: impl FnOnce() -> Vec<i32>) {
        let now = Instant::now();
        let is_running = matches!(self.phase, Phase::Running { .. });
        let Some(look) = self.look.filter(|look| is_running && look.at <= now) else { return };
        let excess = self.usage(strays(), limits).looked_into(limits).excess(limits);
        let is_sure = match &excess {
            Some(Ending::OverLimit { limit: "memory", .. }) => look.doubts == 0,
            Some(_) => true,
            None => false,
        };
        self.look = Some(match &excess {
            Some(_) => look.again(),
            None => look.next(now.elapsed()),
        });
        if let Some(ending) = excess.filter(|_| is_sure) {
            self.kill(ending);
        }
    }

    /// What it uses, with what `strays` use.
    fn usage(&self, mut strays: Vec<i32>, limits: &Limits) -> Usage {
        let leader = self.child.pid().as_raw_nonzero().get();
        match self.level {
            Level::Namespace => Usage::in_namespace(leader, limits),
            Level::Group | Level::Sweep | Level::Cgroup => {
                strays.push(leader);
                Usage::of_trees(strays, limits)
            }
        }
    }

    /// What it has written beyond its limit, if it has.
    fn output_excess(&self, limits: &Limits) -> Option<Ending> {
        let limit = limits.output_bytes?;
        let written = self.child.stdout.total_bytes() + self.child.stderr.total_bytes();
        let problem = || format!("it wrote {} of {}", size_text(written), size_text(limit));
        (written > limit).then(|| usage::over("output", problem()))
    }

    /// Kills it if it has written more than it may.
    pub(super) fn check_output(&mut self, limits: &Limits) {
        let is_running = matches!(self.phase, Phase::Running { .. });
        if let Some(ending) = self.output_excess(limits).filter(|_| is_running) {
            self.kill(ending);
        }
    }

    /// Kills it, unless it has exited.
    pub(super) fn kill(&mut self, why: Ending) {
        let why = match &self.phase {
            Phase::Draining { .. } | Phase::Killed { .. } => return,
            Phase::Stopping { why, .. } => why.clone(),
            Phase::Running { .. } => why,
        };
        self.child.kill();
        self.phase = Phase::Killed { why, give_up_at: Instant::now() + GIVE_UP };
    }

    /// The end: what is left of its group is killed, then the leader is reaped, in this order.
    pub(super) fn finish(&mut self, job: &Job<'_>, status: Status, now: Instant) -> Trace {
        let mut notes = std::mem::take(&mut self.notes);
        if self.is_heard() {
            // What is there by now counts, even if waiting for it failed.
            let mut buffer = Vec::with_capacity(4096);
            self.child.stdout.read(&mut buffer, true);
            self.child.stderr.read(&mut buffer, true);
        }
        let may_stay = job.hook.background == Background::Detach;
        let has_exited = matches!(self.phase, Phase::Draining { .. });
        // While whoever holds it still runs, and can be named.
        let held = self.held_answer(job);
        // While it is a zombie, what it used can still be asked for.
        let excess = self.last_excess(&job.hook.limits, status);
        // Of a lost process the number may be somebody else's by now.
        match status {
            _ if may_stay && has_exited => {}
            Status::Exited(_) => self.child.kill_rest(),
            Status::Running => self.child.kill(),
            Status::Lost => {}
        }
        if has_exited && !self.is_drained() && !may_stay && held.is_none() {
            notes.push("a process that it started held its output open; killed".to_string());
        }
        if status == Status::Running {
            notes.push("it could not be killed and is left behind".to_string());
        } else {
            self.child.reap();
        }
        if self.cgroup.take().is_some_and(|group| !group.end()) {
            notes.push("its control group could not be emptied".to_string());
        }
        let stdout = self.child.stdout.take();
        let stderr = self.child.stderr.take();
        let exit = match status {
            Status::Exited(exit) => Some(exit),
            Status::Running | Status::Lost => None,
        };
        let never =
            exit.filter(|_| self.is_confined).and_then(|exit| confine::failed(exit, &stderr));
        if let Some(error) = never {
            // What was started was still ours; nothing of it is the hook's.
            return Trace { notes, ..Trace::not_run(Ending::NotStarted(error)) };
        }
        // A limit that struck when it had already exited with a refusal does not undo that.
        let has_refused = matches!(exit, Some(Exit::Status(status)) if status != 0);
        let (ending, more) = match &self.phase {
            Phase::Stopping { why, .. } => answer::failed(why.clone(), &stdout, job.permit),
            Phase::Killed { why, .. } if !(has_refused && self.is_heard()) => {
                answer::failed(why.clone(), &stdout, job.permit)
            }
            Phase::Running { .. } | Phase::Draining { .. } | Phase::Killed { .. } => {
                let (ending, more) = self.judge(job, exit, &stdout, &stderr, excess);
                match held {
                    // What refuses is one whatever would have followed.
                    Some(problem) if !refuses(&ending) => (Ending::Malformed { problem }, more),
                    Some(_) | None => (ending, more),
                }
            }
        };
        notes.extend(more);
        let took = now.saturating_duration_since(self.started);
        let containment = Some(self.level);
        Trace { ending, exit, took, stdout, stderr, containment, notes }
    }

    /// What is wrong with an answer whose end was waited for and did not come.
    fn held_answer(&self, job: &Job<'_>) -> Option<String> {
        let Phase::Draining { exit, .. } = &self.phase else { return None };
        let stdout = self.child.stdout.fd().filter(|_| needs_whole_answer(job, *exit))?;
        let holder = tree::holder_of(stdout);
        let holder = holder.unwrap_or_else(|| "a process that it started".to_string());
        Some(format!(
            "it may be incomplete: {holder} still holds the stdout of the hook, which has exited; \
             start it with `>/dev/null 2>&1 &`, or set `background = \"detach\"`"
        ))
    }

    /// How it ended, now that its output is complete.
    fn judge(
        &self,
        job: &Job<'_>,
        exit: Option<Exit>,
        stdout: &Captured,
        stderr: &Captured,
        excess: Option<Ending>,
    ) -> (Ending, Vec<String>) {
        let Some(exit) = exit else {
            let problem = "somebody else waited for its process".to_string();
            return answer::failed(Ending::Lost { problem }, stdout, job.permit);
        };
        if let Some(excess) = excess {
            return answer::failed(excess, stdout, job.permit);
        }
        let (ending, mut notes) = answer::judge(exit, stdout, stderr, job.permit);
        if let Some(files) = job.hook.limits.files.filter(|_| exit != Exit::Status(0)) {
            notes.push(format!("each of its processes could have {files} files open"));
        }
        (ending, notes)
    }

    /// The limit that it turns out to have exceeded, of those that can be told at the end. Asked
    /// only of a hook that exited with 0: any other status refuses by itself, and a refusal must
    /// not become a failure.
    fn last_excess(&self, limits: &Limits, status: Status) -> Option<Ending> {
        if status != Status::Exited(Exit::Status(0)) {
            return None;
        }
        if let Some(ending) = self.output_excess(limits) {
            return Some(ending);
        }
        let limits = Limits { cpu: limits.cpu, ..Limits::default() };
        limits.cpu?;
        self.usage(Vec::new(), &limits).excess(&limits)
    }
}

/// Whether the answer of a hook that has exited counts only when nobody can add to it: what would
/// follow could refuse. Another status than 0 says enough by itself.
fn needs_whole_answer(job: &Job<'_>, exit: Option<Exit>) -> bool {
    job.permit.spec.blocks
        && exit == Some(Exit::Status(0))
        && job.hook.background != Background::Detach
}

fn refuses(ending: &Ending) -> bool {
    ending.verdict().is_some_and(|verdict| matches!(verdict.decision, Decision::Block { .. }))
}
