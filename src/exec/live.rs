//! A hook that was started: how far it is, and how it is brought to its end.

use std::time::{Duration, Instant};

use super::child::{Child, Status};
use super::{DRAIN, GIVE_UP, GRACE, Job, answer};
use crate::hook::Background;
use crate::run::{Captured, Ending, Exit, Trace};

/// A hook that was started.
pub(super) struct Live {
    pub(super) child: Child,
    pub(super) started: Instant,
    pub(super) phase: Phase,
    /// Its pidfd has told of its exit, which was not looked at yet.
    pub(super) has_news: bool,
    /// It is ended when hookrun is; not so a hook that may leave processes behind.
    pub(super) is_kept: bool,
}

/// How far it is.
pub(super) enum Phase {
    /// Until its deadline; `why` is what reaching it means.
    Running { deadline: Instant, why: Ending },
    /// It exited; its output is waited for.
    Draining { exit: Option<Exit>, until: Instant },
    /// It was asked to end.
    Stopping { why: Ending, kill_at: Instant },
    /// It was killed.
    Killed { why: Ending, give_up_at: Instant },
}

impl Phase {
    pub(super) fn ends_at(&self) -> Instant {
        match self {
            Phase::Running { deadline, .. } => *deadline,
            Phase::Draining { until, .. } => *until,
            Phase::Stopping { kill_at, .. } => *kill_at,
            Phase::Killed { give_up_at, .. } => *give_up_at,
        }
    }
}

impl Live {
    /// It exited: its output is complete, or is waited for. True if it is complete.
    pub(super) fn drain(&mut self, exit: Option<Exit>, now: Instant) -> bool {
        self.child.close_stdin();
        self.phase = Phase::Draining { exit, until: now + DRAIN };
        self.is_drained()
    }

    pub(super) fn is_drained(&self) -> bool {
        self.child.stdout.is_closed() && self.child.stderr.is_closed()
    }

    /// Asks it to end, unless it is ending already.
    pub(super) fn stop(&mut self, why: Ending) {
        if matches!(self.phase, Phase::Running { .. }) {
            self.child.terminate();
            self.phase = Phase::Stopping { why, kill_at: Instant::now() + GRACE };
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
        let mut notes = Vec::new();
        if matches!(self.phase, Phase::Draining { .. }) {
            // What is there by now counts, even if waiting for it failed.
            let mut buffer = Vec::with_capacity(4096);
            self.child.stdout.read(&mut buffer, true);
            self.child.stderr.read(&mut buffer, true);
        }
        let may_leave = job.hook.background == Background::Detach;
        let has_exited = matches!(self.phase, Phase::Draining { .. });
        // Of a lost process the number may be somebody else's by now.
        if !(may_leave && has_exited) && status != Status::Lost {
            self.child.kill();
        }
        if has_exited && !self.is_drained() && !may_leave {
            notes.push("a process that it started held its output open; killed".to_string());
        }
        if status == Status::Running {
            notes.push("it could not be killed and is left behind".to_string());
        } else {
            self.child.reap();
        }
        let stdout = self.child.stdout.take();
        let stderr = self.child.stderr.take();
        let exit = match status {
            Status::Exited(exit) => Some(exit),
            Status::Running | Status::Lost => None,
        };
        let ending = match &self.phase {
            Phase::Stopping { why, .. } | Phase::Killed { why, .. } => why.clone(),
            Phase::Running { .. } | Phase::Draining { .. } => match exit {
                Some(exit) => {
                    let (ending, more) = answer::judge(exit, &stdout, &stderr, job.permit);
                    notes.extend(more);
                    ending
                }
                None => {
                    Ending::Lost { problem: "somebody else waited for its process".to_string() }
                }
            },
        };
        let took = now.saturating_duration_since(self.started);
        Trace { ending, exit, took, stdout, stderr, notes }
    }
}

/// The trace of a hook that never ran.
pub(crate) fn not_run(ending: Ending) -> Trace {
    Trace {
        ending,
        exit: None,
        took: Duration::ZERO,
        stdout: Captured::default(),
        stderr: Captured::default(),
        notes: Vec::new(),
    }
}
