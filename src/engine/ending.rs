//! How one hook's run ended, and its output.

use std::time::Duration;

use serde_json::Value;

use crate::engine::complaint::Complaint;
use crate::engine::names::{DEFAULT_TIMEOUT, duration_text};
use crate::engine::outcome::merge::{CRASHED, NEVER_RAN};
use crate::engine::outcome::{Decision, Verdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Status(i32),
    Signal(i32),
}

/// How one hook's run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// It decided.
    Answered(Verdict),
    /// Exited with 0 and an invalid answer.
    Malformed { problem: String },
    /// The program crashed; `problem` is its interpreter's message.
    Crashed { problem: String },
    /// Exited with a status other than 0 or 2, in a dialect where that is an error, not a block.
    Threw {
        /// Exit status and message.
        problem: String,
        /// Rewrites before the error, if the dialect keeps them.
        left: Vec<(String, Value)>,
    },
    /// Killed by a signal that hookrun did not send.
    Killed { signal: i32 },
    /// Killed because it exceeded one of its limits.
    OverLimit {
        /// Key of `limits`.
        limit: &'static str,
        /// Usage and maximum.
        problem: String,
    },
    /// Killed with its process tree at its timeout.
    TimedOut { after: Duration },
    /// Killed with its process tree, or never started, because the total budget was used up.
    OutOfBudget { budget: Duration },
    /// Killed with its process tree, or never started, because hookrun was interrupted.
    Aborted {
        /// `None` if the embedding program interrupted it.
        signal: Option<i32>,
    },
    /// An earlier hook settled the event during this run.
    Voided,
    /// Why the hook never started.
    NotStarted(Complaint),
    /// Exit status unknown: another part of the program reaped the process.
    Lost { problem: String },
    /// A function returned an error or panicked.
    Errored { problem: String },
}

/// What happened, and an ending with the message that users see.
type FailureRow = (&'static str, fn() -> Ending);

/// All failures of hooks: the table in `docs/hooks.md` and `man hookrun-hook`.
pub const FAILURES: &[FailureRow] = &[
    ("exceeded its timeout; its process tree is killed", || {
        Ending::TimedOut {
            after: DEFAULT_TIMEOUT,
        }
    }),
    ("could not start", || {
        let problem = "`guard.sh` is not executable";
        Ending::NotStarted(Complaint::with_cure(problem, "run `chmod +x guard.sh`"))
    }),
    ("killed by a signal", || Ending::Killed { signal: 11 }),
    ("exceeded its `limits`, and was killed", || {
        Ending::OverLimit {
            limit: "output",
            problem: "it wrote 70.2 MiB, more than 64 MiB".into(),
        }
    }),
    ("exited 0 with an invalid answer", || {
        let problem = "line 1: `contine` is unknown here; write {\"continue\": false, …".into();
        Ending::Malformed { problem }
    }),
    (
        "its program crashed: an uncaught exception, a shell syntax error, `command not found`, \
         or exit status 126 or 127",
        || Ending::Crashed {
            problem: "ModuleNotFoundError: No module named 'jsn' (guard.py:2)".into(),
        },
    ),
    (
        "exited with a status other than 0 or 2, in a dialect whose hooks throw errors",
        || Ending::Threw {
            problem: "exited with status 1: cannot read the policy".into(),
            left: Vec::new(),
        },
    ),
    (
        "still running when the budget (`--budget`) was used up",
        || Ending::OutOfBudget {
            budget: Duration::from_secs(10),
        },
    ),
    ("still running when hookrun was interrupted", || {
        Ending::Aborted { signal: Some(15) }
    }),
    (
        "another part of the embedding program collected its exit status",
        || {
            let problem = "…".into();
            Ending::Lost { problem }
        },
    ),
    (
        "a function in a program that embeds hookrun returned an error or panicked",
        || Ending::Errored {
            problem: "panicked: index out of bounds".into(),
        },
    ),
];

impl Ending {
    pub fn name(&self) -> &'static str {
        match self {
            Ending::Answered(_) => "answered",
            Ending::Malformed { .. } => "malformed",
            Ending::Crashed { .. } => "crashed",
            Ending::Threw { .. } => "threw",
            Ending::Killed { .. } => "killed",
            Ending::OverLimit { .. } => "over-limit",
            Ending::TimedOut { .. } => "timed-out",
            Ending::OutOfBudget { .. } => "out-of-budget",
            Ending::Aborted { .. } => "aborted",
            Ending::Voided => "voided",
            Ending::NotStarted(_) => "not-started",
            Ending::Lost { .. } => "lost",
            Ending::Errored { .. } => "errored",
        }
    }

    pub fn verdict(&self) -> Option<&Verdict> {
        if let Ending::Answered(verdict) = self {
            return Some(verdict);
        }
        None
    }

    /// Returns true if it is an answer that blocks.
    pub(crate) fn blocks(&self) -> bool {
        self.verdict()
            .is_some_and(|verdict| matches!(verdict.decision, Decision::Block { .. }))
    }

    /// Returns true if hookrun ended the hook before its timeout. That is not the hook's failure,
    /// so its `on_failure` does not apply.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self, Ending::OutOfBudget { .. } | Ending::Aborted { .. })
    }

    /// Returns the failure message; `None` for answers and voided runs.
    pub fn failure(&self) -> Option<String> {
        match self {
            Ending::Answered(_) | Ending::Voided => None,
            Ending::Malformed { problem } => Some(format!("malformed answer: {problem}")),
            Ending::Crashed { problem } => Some(format!("{CRASHED}{problem}")),
            Ending::Threw { problem, .. } => Some(problem.clone()),
            Ending::Killed { signal } => Some(format!("killed by {}", signal_name(*signal))),
            Ending::OverLimit { limit, problem } => {
                Some(format!("exceeded `limits.{limit}`: {problem}"))
            }
            Ending::TimedOut { after } => {
                let text = format!("timed out after {}", duration_text(*after));
                // Anyone who set another timeout knows how.
                if *after == DEFAULT_TIMEOUT {
                    return Some(format!(
                        "{text}; to allow more, set its `timeout`, for example to `60s`"
                    ));
                }
                Some(text)
            }
            Ending::OutOfBudget { budget } => Some(format!(
                "the budget of {} was used up",
                duration_text(*budget)
            )),
            Ending::Aborted { signal } => Some(interruption(*signal)),
            Ending::NotStarted(error) => Some(format!("{NEVER_RAN}{error}")),
            Ending::Lost { problem } => Some(format!("its exit status is unknown: {problem}")),
            Ending::Errored { problem } => Some(problem.clone()),
        }
    }
}

/// Returns the message of [`Ending::Aborted`].
pub fn interruption(signal: Option<i32>) -> String {
    match signal {
        Some(signal) => format!("hookrun was interrupted by {}", signal_name(signal)),
        None => "hookrun was interrupted".to_string(),
    }
}

/// Linux-only signals, shown by number.
const BY_NUMBER: &[&str] = &["SIGSTKFLT", "SIGPWR"];

/// Returns the name of a signal: `SIGTERM`, or `signal 64` if it has no portable name.
pub fn signal_name(signal: i32) -> String {
    let known = nix::sys::signal::Signal::try_from(signal).map(|known| known.as_str());
    match known.ok().filter(|name| !BY_NUMBER.contains(name)) {
        Some(name) => name.to_string(),
        None => format!("signal {signal}"),
    }
}

/// Captured output: complete, or head and tail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedStream {
    pub head: Vec<u8>,
    /// End of the output that does not fit into `head`.
    pub tail: Vec<u8>,
    pub total_bytes: u64,
}

impl CapturedStream {
    /// Returns true if bytes are missing.
    pub fn is_cut(&self) -> bool {
        self.total_bytes > (self.head.len() + self.tail.len()) as u64
    }

    /// Decodes the output and marks omitted bytes. Decodes UTF-16 with a byte order mark, which
    /// some Windows shells write; replaces invalid UTF-8.
    pub fn text(&self) -> String {
        if let Some(text) = self.utf_16().filter(|_| !self.is_cut()) {
            return text;
        }
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.is_cut() {
            let missing = self.total_bytes - (self.head.len() + self.tail.len()) as u64;
            text.push_str(&format!("\n[… {missing} bytes omitted …]\n"));
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }

    /// Replaces a text in output that is valid UTF-8.
    pub(crate) fn replace(&mut self, text: &str, by: &str) {
        for part in [&mut self.head, &mut self.tail] {
            let before = part.len() as u64;
            if let Ok(written) = str::from_utf8(part) {
                *part = written.replace(text, by).into_bytes();
            }
            self.total_bytes = self.total_bytes - before + part.len() as u64;
        }
    }

    fn utf_16(&self) -> Option<String> {
        let order: fn([u8; 2]) -> u16 = match self.head.get(..2)? {
            [0xff, 0xfe] => u16::from_le_bytes,
            [0xfe, 0xff] => u16::from_be_bytes,
            _ => return None,
        };
        let bytes = [self.head.as_slice(), self.tail.as_slice()].concat();
        let (units, _) = bytes.as_chunks::<2>();
        let units: Vec<u16> = units.iter().skip(1).map(|unit| order(*unit)).collect();
        Some(String::from_utf16_lossy(&units))
    }
}
