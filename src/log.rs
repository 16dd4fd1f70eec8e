//! The decision log, and recordings of events.
//!
//! Both have a line of JSON per event ([`record`]), with secrets redacted ([`redact`]). Writing is
//! best effort: decisions never wait for it or fail because of it.

pub mod files;
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
pub use record::{DecisionLine, Keeps, LogEntry};
pub use redact::Redactor;

/// Writes decisions to a [`DecisionLog`], with secrets redacted. Errors are only logged with
/// `tracing`.
#[derive(Debug)]
pub struct Journal {
    log: DecisionLog,
    redactor: Redactor,
    cwd: Option<PathBuf>,
}

impl Journal {
    /// Creates a journal that writes to `log`.
    pub fn new(log: DecisionLog, redactor: Redactor) -> Journal {
        Journal {
            log,
            redactor,
            cwd: None,
        }
    }

    /// Sets the working directory in its entries.
    #[must_use]
    pub fn cwd(self, cwd: impl Into<PathBuf>) -> Journal {
        Journal {
            cwd: Some(cwd.into()),
            ..self
        }
    }

    /// Logs a decision about `event` (before rewrites). Skips events without hooks, and detached
    /// ones, which the process that runs their hooks logs.
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
    /// Logs decisions for `hookrun why`, after the decision and in the same thread. Errors do not
    /// change the decision.
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
