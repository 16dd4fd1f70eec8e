//! The result of running a plan: a [`HookRun`] for every hook, and the outcome.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

pub use crate::engine::ending::{
    CapturedStream, Ending, Exit, FAILURES, interruption, signal_name,
};
use crate::engine::event::{Event, OnFailure};
use crate::engine::hook::{Hook, HookSource, Mismatch};
use crate::engine::names::names;
use crate::engine::outcome::{Block, Outcome};

/// The decision about one event.
#[derive(Debug, Clone)]
pub struct Run {
    /// The event with all rewrites.
    pub event: Event,
    /// All hooks of the event in plan order, including skipped ones.
    pub hooks: Vec<HookRun>,
    /// Merged verdicts.
    pub outcome: Outcome,
    /// Time to decide.
    pub took: Duration,
    /// Trace context, if hooks ran.
    pub trace: Option<TraceContext>,
}

impl Run {
    /// Returns whether the action may happen. Call this before the action.
    ///
    /// An unanswered question is a block here. A host that can ask people checks
    /// [`Outcome::settled`] first and passes the answer to [`Outcome::answered`].
    ///
    /// # Errors
    /// Returns why the action is blocked.
    #[must_use = "an action without a permit must not happen"]
    pub fn permit(self) -> Result<Allowed, Block> {
        let outcome = self.outcome.answered(false, "no answer");
        match outcome.block() {
            Some(block) => Err(block.clone()),
            None => Ok(Allowed {
                event: self.event,
                outcome,
            }),
        }
    }
}

/// A permitted action: not blocked, and without open questions.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The event with the hooks' rewrites. Perform this, not the original action.
    pub event: Event,
    /// Output, context for the model, findings.
    pub outcome: Outcome,
}

/// One hook's part in a run.
#[derive(Debug, Clone)]
pub struct HookRun {
    pub hook: String,
    pub source: HookSource,
    /// Meaning of a failure: the hook's setting, else the event's.
    pub on_failure: OnFailure,
    /// Timeout: the hook's setting, else the event's.
    pub timeout: Duration,
    /// Whether it is a function rather than a program.
    pub is_function: bool,
    pub fate: Fate,
    configured: Arc<Hook>,
}

impl HookRun {
    pub(crate) fn new(hook: &Arc<Hook>, event: &Event, fate: Fate) -> HookRun {
        HookRun {
            hook: hook.name.clone(),
            source: hook.source.clone(),
            on_failure: hook.on_failure(event.spec()),
            timeout: hook.timeout(event.spec()),
            is_function: hook.handler.is_function(),
            fate,
            configured: Arc::clone(hook),
        }
    }

    pub(crate) fn has_started(&self) -> bool {
        match &self.fate {
            Fate::Disabled | Fate::Idle(_) | Fate::Unwanted(_) | Fate::Unreached => false,
            Fate::Detached => true,
            Fate::Ran(trace) => trace.has_started,
        }
    }

    /// Describes its matcher.
    #[doc(hidden)]
    pub fn wants(&self) -> String {
        self.configured.matcher.to_string()
    }
}

/// Result for one hook.
#[derive(Debug, Clone)]
pub enum Fate {
    /// Its spec says `enabled = false`.
    Disabled,
    /// Enabled, but skipped for this reason.
    Idle(String),
    /// Its matcher does not match the event.
    Unwanted(Mismatch),
    /// The event was settled before its turn.
    Unreached,
    /// Started without waiting for it.
    Detached,
    Ran(Box<Trace>),
}

/// Details of a hook's run.
#[derive(Debug, Clone)]
pub struct Trace {
    pub ending: Ending,
    /// Exit of its process, if known.
    pub exit: Option<Exit>,
    /// Time from the start of the run to the start of its step.
    pub after: Duration,
    /// Run time, including draining its output.
    pub took: Duration,
    pub stdout: CapturedStream,
    pub stderr: CapturedStream,
    /// Whether a process of it started.
    pub has_started: bool,
    /// How its process started, if it may start warm and a long-running program asked.
    pub start: Option<ProcessStart>,
    /// Notes for the hook's author, such as ignored keys and leftover processes.
    pub notes: Vec<String>,
}

impl Trace {
    pub(crate) fn not_run(ending: Ending) -> Trace {
        Trace {
            ending,
            exit: None,
            after: Duration::ZERO,
            took: Duration::ZERO,
            stdout: CapturedStream::default(),
            stderr: CapturedStream::default(),
            has_started: false,
            start: None,
            notes: Vec::new(),
        }
    }
}

/// How a hook that may start warm was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStart {
    /// Forked from its interpreter before the event, or still running from an earlier event.
    Warm,
    /// A new interpreter, for this reason.
    Cold(ColdReason),
}

impl ProcessStart {
    /// Returns the name in output and in the log: `warm`, or the reason.
    pub fn name(self) -> &'static str {
        match self {
            ProcessStart::Warm => "warm",
            ProcessStart::Cold(reason) => reason.name(),
        }
    }
}

/// Begins a note on a warm start that saved less time than it could.
pub(crate) const WARM_NOTE: &str = "warm start: ";

macro_rules! cold_reasons {
    ($($reason:ident $name:literal $about:literal;)+) => {
        /// Why a hook that may start warm started cold.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ColdReason {
            $($reason),+
        }

        names! { ColdReason: $($reason $name),+ }

        impl ColdReason {
            /// Describes the reason and, if there is one, the cure.
            pub fn about(self) -> &'static str {
                match self {
                    $(ColdReason::$reason => $about),+
                }
            }
        }
    };
}

cold_reasons! {
    NoScript "no-script"
        "it is neither a Python script with a first line such as `#!/usr/bin/env python3` nor a command such as `python3 FILE`, or its interpreter's path is relative";
    Shim "shim"
        "its interpreter is a script, such as a pyenv shim; name the real interpreter, or put its folder first in PATH";
    Options "options"
        "its interpreter has options other than -b, -B, -E, -I, -O, -P, -q, -s, -S and -u, or its first line passes quotes, variables or assignments to `env`";
    Variables "variables" "a variable such as PYTHONPATH changes how its interpreter starts";
    Bounds "bounds" "it has a `sandbox`, a `containment`, or `limits` other than `limits.output`";
    OneEvent "one-event" "it has `background = \"detach\"`";
    NoSubreaper "no-subreaper"
        "this program is not a child subreaper (`Runner::subreaper`), or this system is not Linux";
    NotReady "not-ready" "no interpreter or program was ready yet, as is normal for the first event";
    Died "died" "the waiting process exited before the script began";
    TooMany "too-many"
        "hookrun keeps at most eight interpreters ready, and eight others were used more recently";
    TooLarge "too-large" "its environment and arguments are larger than 128 KiB";
    Unusable "unusable" "its interpreter is not CPython 3.8 or later, or exited immediately";
}

/// A trace id and the span of the decision, in lower-case hex as in `TRACEPARENT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// 32 digits; the same for all events of a session.
    pub id: String,
    /// 16 digits; unique to the event.
    pub span: String,
    /// Inherited `TRACEPARENT`, which hooks get unchanged.
    pub incoming: Option<String>,
}

impl TraceContext {
    /// Creates the context of the event `unique` in the trace of `incoming`, else of the session,
    /// else in a new one. Ignores an invalid `incoming`.
    pub fn of(incoming: Option<&str>, session: Option<&str>, unique: &str) -> TraceContext {
        let incoming = incoming.filter(|text| is_traceparent(text));
        let id = match incoming {
            Some(incoming) => incoming[3..35].to_string(),
            None => format!("{:032x}", hash(session.unwrap_or(unique))),
        };
        // 64 random bits, since a fleet's log has millions of spans.
        let span = RandomState::new().hash_one(unique).max(1);
        TraceContext {
            id,
            span: format!("{span:016x}"),
            incoming: incoming.map(str::to_string),
        }
    }

    pub fn traceparent(&self) -> String {
        let incoming = self.incoming.clone();
        incoming.unwrap_or_else(|| format!("00-{}-{}-01", self.id, self.span))
    }

    /// Returns the parent span; `None` at the root of the trace.
    pub fn parent(&self) -> Option<&str> {
        self.incoming.as_deref().map(|text| &text[36..52])
    }
}

/// Accepts version 00 and later versions with the same prefix. Ids of zeros are invalid.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [version, id, span, flags, rest @ ..] = parts.as_slice() else {
        return false;
    };
    is_hex(version, 2)
        && *version != "ff"
        && is_id(id, 32)
        && is_id(span, 16)
        && is_hex(flags, 2)
        && (*version != "00" || rest.is_empty())
}

fn is_hex(part: &str, length: usize) -> bool {
    part.len() == length && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_id(part: &str, length: usize) -> bool {
    is_hex(part, length) && part.bytes().any(|byte| byte != b'0')
}

/// 128-bit FNV-1a.
fn hash(text: &str) -> u128 {
    let start: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    text.bytes().fold(start, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}
