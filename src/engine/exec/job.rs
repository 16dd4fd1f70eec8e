//! One hook to run, with everything that its process or function needs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::command::Program;
use super::lines::HookLines;
use super::sandbox::SandboxRules;
use super::streams::{PipeStore, StdinContent};
use crate::engine::event::Event;
use crate::engine::event::context::Payload;
use crate::engine::hook::{Background, Function, Hook, Permit};
use crate::engine::run::{Ending, StartError};
use crate::engine::ui::Connection;

#[derive(Debug)]
pub struct Job<'a> {
    pub hook: &'a Hook,
    /// What to run, or why that is impossible.
    pub runs: Result<Runs, StartError>,
    /// Its stdin: the context and a final newline.
    pub payload: Arc<Payload>,
    /// Where the pipes of an event's hooks come from; `None` for new ones.
    pub pipes: Option<&'a PipeStore>,
    /// If it lives as long as its session: what it reads instead of a payload, and what it writes.
    /// Its timeout begins at the end of its input.
    pub lines: Option<Arc<HookLines>>,
    /// The environment it starts from. `None` for hookrun's own, as it was when the engine started
    /// its first hook.
    pub environment: Option<&'a [(OsString, OsString)]>,
    /// Variables to set in addition to that environment.
    pub variables: Vec<(&'a str, String)>,
    /// Inherited variables to leave out.
    pub without: Vec<&'a str>,
    /// `None` for hookrun's own working directory.
    pub cwd: Option<PathBuf>,
    pub timeout: Duration,
    pub permit: Permit<'a>,
    pub sandbox: Option<SandboxRules>,
    /// Notes for the hook's author that are known before it runs.
    pub notes: Vec<String>,
    /// How it asks a person or sends messages. Its timeout does not count the time that it asks.
    pub connection: Option<Connection>,
}

#[derive(Debug)]
pub enum Runs {
    Program(Program),
    /// A function. It uses only the hook, the timeout and the permit of its [`Job`].
    Call(FunctionCall),
}

/// A function and the event that it sees, with the rewrites of earlier hooks.
#[derive(Debug, Clone)]
pub struct FunctionCall {
    pub function: Function,
    pub event: Event,
}

impl<'a> Job<'a> {
    /// A job without input, variables, bounds or connection.
    pub fn new(
        hook: &'a Hook,
        runs: Result<Runs, StartError>,
        timeout: Duration,
        permit: Permit<'a>,
    ) -> Job<'a> {
        Job {
            hook,
            runs,
            payload: Arc::default(),
            pipes: None,
            lines: None,
            environment: None,
            variables: Vec::new(),
            without: Vec::new(),
            cwd: None,
            timeout,
            permit,
            sandbox: None,
            notes: Vec::new(),
            connection: None,
        }
    }

    /// What its process gets on stdin.
    pub(super) fn stdin(&self, stays_open: bool) -> StdinContent<'_> {
        StdinContent {
            payload: &self.payload,
            lines: self.lines.as_ref(),
            stays_open,
        }
    }

    /// Whether processes that it started may outlive it.
    pub(super) fn may_leave_processes(&self) -> bool {
        self.hook.background == Background::Detach && !self.hook.handler.is_function()
    }
}

/// The time limit for a whole decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// When the time is over.
    pub until: Instant,
    /// The length of the budget, for messages.
    pub whole: Duration,
}

impl Budget {
    /// The ending of a hook that it leaves no time.
    pub(super) fn used_up(self) -> Ending {
        Ending::OutOfBudget { budget: self.whole }
    }

    /// A budget of `whole` that begins at `started`. One beyond the range of the clock never ends.
    pub fn from(started: Instant, whole: Duration) -> Budget {
        Budget {
            until: end_of(whole, started),
            whole,
        }
    }
}

/// When a `time` that begins at `now` ends. One beyond the range of the clock never does.
pub(super) fn end_of(time: Duration, now: Instant) -> Instant {
    now.checked_add(time)
        .unwrap_or(now + Duration::from_secs(u32::MAX.into()))
}
