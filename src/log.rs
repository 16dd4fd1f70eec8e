//! What was decided, kept and read again: the decision log, and recordings.
//!
//! Both have one form, a line of JSON for each event ([`record`]), in which secrets are replaced
//! ([`redact`]). Writing is best effort by design: a decision never waits for it and never fails
//! with it, so errors are returned, and the caller reports or drops them.

mod cut;
pub mod files;
pub mod read;
pub mod record;
pub mod redact;
pub mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::engine::event::Event;
use crate::engine::exec::Callback;
use crate::engine::run::{Fate, Run};
use crate::engine::runner::Runner;
use crate::hosts::native;
use report::{Paths, run_report};

pub use files::{DecisionLog, KeepError, Recording};
pub use record::{DecisionLine, Keeps, LogEntry, RecordError};
pub use redact::Redactor;

/// Writes decisions into a [`DecisionLog`], without secrets. Errors are only logged by `tracing`.
#[derive(Debug)]
pub struct Journal {
    log: DecisionLog,
    redactor: Redactor,
    cwd: Option<PathBuf>,
}

impl Journal {
    /// Writes into `log` what `redactor` leaves.
    pub fn new(log: DecisionLog, redactor: Redactor) -> Journal {
        Journal {
            log,
            redactor,
            cwd: None,
        }
    }

    /// Notes this folder as the one in which events are decided.
    #[must_use]
    pub fn cwd(self, cwd: impl Into<PathBuf>) -> Journal {
        Journal {
            cwd: Some(cwd.into()),
            ..self
        }
    }

    /// Keeps a decision about `event`, as it was before any rewrite. Events without hooks are not
    /// kept; neither are detached ones, which the process that runs their hooks keeps.
    pub fn note(&self, event: &Event, run: &Run) {
        let mut fates = run.hooks.iter().map(|hook| &hook.fate);
        let is_detached = fates.any(|fate| matches!(fate, Fate::Detached));
        if is_detached || run.hooks.is_empty() && run.outcome.is_allowed() {
            return;
        }
        let reply = native::encode(&run.outcome);
        let report = run_report(run, &reply, &Paths::from(Path::new("")));
        let entry = LogEntry {
            time: SystemTime::now(),
            cwd: self.cwd.as_deref(),
            door: None,
            context: Some(event.context()),
            trace: run.trace.as_ref(),
            run: &report,
        };
        let line = entry.line(&self.redactor, Keeps::Explanation);
        if let Err(error) = self.log.append(&line) {
            tracing::warn!(%error, "the decision was not logged");
        }
    }
}

impl Runner {
    /// Keeps decisions in a log, which `hookrun why` explains. It is written after the decision, in
    /// the same thread, and no error there changes the decision.
    ///
    /// ```
    /// use hookrun::{DecisionLog, Environment, Event, Hook, Journal, Redactor, Registry, Runner};
    /// use hookrun::Verdict;
    /// use serde_json::json;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().join("log");
    /// let log = DecisionLog::in_folder(&folder);
    /// let no = Hook::function("no", "tool.pre", |_| Verdict::block("not today"));
    /// let runner = Runner::embedded(Registry::new([no])?, &Environment::capture())
    ///     .log(Journal::new(log.clone(), Redactor::default()));
    /// runner.handle(&Event::tool_pre("bash", json!({ "command": "ls" })).build()?);
    /// assert!(std::fs::read_to_string(&log.files()[0])?.contains("not today"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn log(mut self, journal: Journal) -> Runner {
        self.observer = Some(Callback(Arc::new(move |event: &Event, run: &Run| {
            journal.note(event, run);
        })));
        self
    }
}
