//! The log of a program that embeds hookrun: what its runner decides, line by line.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files::DecisionLog;
use super::record::{Keeps, LogEntry};
use super::redact::Redactor;
use super::report::{Paths, run_report};
use crate::engine::event::Event;
use crate::engine::run::{Fate, Run};
use crate::engine::runner::Runner;
use crate::hosts::native;

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
        let is_idle = run.hooks.is_empty() && run.outcome.is_allowed();
        if is_idle
            || run
                .hooks
                .iter()
                .any(|hook| matches!(hook.fate, Fate::Detached))
        {
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
        if let Err(error) = self
            .log
            .append(&entry.line(&self.redactor, Keeps::Explanation))
        {
            tracing::warn!(%error, "the decision is not in the log");
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
    pub fn log(self, journal: Journal) -> Runner {
        self.observe(move |event, run| journal.note(event, run))
    }
}
