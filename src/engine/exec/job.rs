//! What is run: one hook, with all that its process or its function needs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::command::Program;
use super::sandbox::SandboxRules;
use crate::engine::event::Event;
use crate::engine::event::payload::Payload;
use crate::engine::hook::Permit;
use crate::engine::hook::{Background, Containment, Function, Hook};
use crate::engine::run::StartError;
use crate::engine::ui::clock::Clock;

/// One hook to run.
#[derive(Debug)]
pub struct Job<'a> {
    pub hook: &'a Hook,
    /// What is run, or why nothing can be.
    pub runs: Result<Runs, StartError>,
    /// Its stdin: the context and a final newline.
    pub payload: Arc<Payload>,
    /// The environment that it starts from; `None` for hookrun's own, as it was when the engine
    /// started its first hook.
    pub environment: Option<&'a [(OsString, OsString)]>,
    /// Variables to set in that environment.
    pub variables: Vec<(String, String)>,
    /// Variables of that environment to leave out.
    pub without: &'a [&'a str],
    /// `None` for hookrun's own working directory.
    pub cwd: Option<PathBuf>,
    pub timeout: Duration,
    /// What it may answer.
    pub permit: Permit<'a>,
    pub sandbox: Option<SandboxRules>,
    /// What its author should know before it has run.
    pub notes: Vec<String>,
    /// How long it asks a person, which its timeout does not count; `None` if it cannot ask.
    pub clock: Option<Arc<Clock>>,
}

/// What is run.
#[derive(Debug)]
pub enum Runs {
    Program(Program),
    /// A function; of the rest of its [`Job`] only the hook, the timeout and the permit matter.
    Call(FunctionCall),
}

/// A function, and the event that it sees: as earlier hooks left it.
#[derive(Debug, Clone)]
pub struct FunctionCall {
    pub function: Function,
    pub event: Event,
}

impl<'a> Job<'a> {
    /// The job of a hook that is a function.
    pub fn of_function(
        hook: &'a Hook,
        timeout: Duration,
        call: FunctionCall,
        permit: Permit<'a>,
    ) -> Job<'a> {
        Job {
            hook,
            runs: Ok(Runs::Call(call)),
            payload: Arc::default(),
            environment: None,
            variables: Vec::new(),
            without: &[],
            cwd: None,
            timeout,
            permit,
            sandbox: None,
            notes: Vec::new(),
            clock: None,
        }
    }

    /// Whether processes of it may live on when it has exited, those in its group or those that
    /// have left it.
    pub(super) fn may_leave_processes(&self) -> bool {
        let by_spec = self.hook.background == Background::Detach
            || self.hook.containment == Containment::Group;
        by_spec && !self.hook.handler.is_function()
    }
}

/// The time that is left for everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// When it is used up.
    pub until: Instant,
    /// How long it was, for the reason.
    pub whole: Duration,
}

impl Budget {
    /// A budget of `whole`, from `started` on. One beyond what the clock can express never ends.
    pub fn from(started: Instant, whole: Duration) -> Budget {
        Budget { until: end_of(whole, started), whole }
    }
}

/// When a time that begins `now` is over. One beyond what the clock can express never is.
pub(super) fn end_of(time: Duration, now: Instant) -> Instant {
    now.checked_add(time).unwrap_or(now + Duration::from_secs(u32::MAX.into()))
}
