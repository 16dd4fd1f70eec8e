//! One hook to run, with everything that its process or function needs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::command::{Program, ScriptCopy};
use super::lines::HookLines;
use super::sandbox::SandboxRules;
use super::streams::{PipeStore, StdinContent};
use crate::engine::complaint::Complaint;
use crate::engine::event::context::Payload;
use crate::engine::hook::{Background, Hook, Permit};
use crate::engine::run::Ending;
use crate::engine::ui::Connection;

#[derive(Debug)]
pub struct Job<'a> {
    pub hook: &'a Hook,
    /// The program to run, `None` for a function, or the reason why it cannot run.
    pub runs: Result<Option<Program>, Complaint>,
    /// What is started instead of the program, if that is a script.
    pub(crate) script: Option<ScriptCopy>,
    /// Stdin: the context and a final newline.
    pub payload: Arc<Payload>,
    /// Shared pipes of an event's hooks; `None` for new ones.
    pub pipes: Option<&'a PipeStore>,
    /// Input and output of a session-lived hook, instead of a payload. Its timeout begins at the
    /// end of its input.
    pub lines: Option<Arc<HookLines>>,
    /// Base environment. `None`: hookrun's, when the engine started its first hook.
    pub environment: Option<&'a [(OsString, OsString)]>,
    pub variables: Vec<(&'a str, String)>,
    pub without: Vec<&'a str>,
    pub cwd: Option<PathBuf>,
    pub timeout: Duration,
    pub permit: Permit<'a>,
    pub sandbox: Option<SandboxRules>,
    pub notes: Vec<String>,
    /// Channel for dialogs and messages. Open dialogs pause the timeout.
    pub connection: Option<Connection>,
}

impl<'a> Job<'a> {
    pub fn new(
        hook: &'a Hook,
        runs: Result<Option<Program>, Complaint>,
        timeout: Duration,
        permit: Permit<'a>,
    ) -> Job<'a> {
        Job {
            hook,
            runs,
            script: None,
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

    pub(super) fn stdin(&self, stays_open: bool) -> StdinContent<'_> {
        StdinContent {
            payload: &self.payload,
            lines: self.lines.as_ref(),
            stays_open,
        }
    }

    /// Returns true if its processes may outlive it.
    pub(super) fn may_leave_processes(&self) -> bool {
        self.hook.background == Background::Detach && !self.hook.handler.is_function()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub until: Instant,
    /// Length of the budget, for messages.
    pub whole: Duration,
}

impl Budget {
    pub(super) fn used_up(self) -> Ending {
        Ending::OutOfBudget { budget: self.whole }
    }

    /// Creates a budget of `whole` that begins at `started`. Saturates.
    pub fn from(started: Instant, whole: Duration) -> Budget {
        Budget {
            until: end_of(whole, started),
            whole,
        }
    }
}

/// Returns the end of a `time` that begins at `now`. Saturates.
pub(super) fn end_of(time: Duration, now: Instant) -> Instant {
    now.checked_add(time)
        .unwrap_or(now + Duration::from_secs(u32::MAX.into()))
}
