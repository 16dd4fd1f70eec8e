//! What `run` keeps of a decision after the reply: a line in the decision log, and one in a
//! recording. Failures here do not change the decision.

use std::path::Path;
use std::time::SystemTime;

use crate::config::{Config, Environment, LogSettings};
use crate::engine::event::Event;
use crate::engine::run::{Fate, Run};
use crate::hosts::Reply;
use crate::log::report::{Paths, RunReport, run_report};
use crate::log::{DecisionLog, KeepError, Keeps, LogEntry, Recording, Redactor};

use crate::cli::decide::door::Door;
use crate::cli::streams;

pub(crate) struct DecisionRecord {
    what: KeptKind,
    settings: KeepSettings,
    door: Door,
}

enum KeptKind {
    Decided(Event, Box<Run>),
    /// It was blocked before there was an event.
    Refused(Box<RunReport>),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct KeepSettings {
    log: LogSettings,
    /// Rules for secrets may be missing.
    is_broken: bool,
}

impl KeepSettings {
    pub(crate) fn of(config: &Config) -> KeepSettings {
        KeepSettings {
            log: config.log.clone(),
            is_broken: config.has_errors(),
        }
    }
}

impl DecisionRecord {
    /// A decided event. `None` if `supervise` has its hooks, and keeps it itself.
    pub(crate) fn decided(
        event: Event,
        run: Run,
        settings: KeepSettings,
    ) -> Option<DecisionRecord> {
        let is_handed_over = run
            .hooks
            .iter()
            .any(|hook| matches!(hook.fate, Fate::Detached));
        let what = KeptKind::Decided(event, Box::new(run));
        (!is_handed_over).then_some(DecisionRecord {
            what,
            settings,
            door: Door::Command,
        })
    }

    pub(crate) fn refused(report: RunReport) -> DecisionRecord {
        DecisionRecord {
            what: KeptKind::Refused(Box::new(report)),
            settings: KeepSettings::default(),
            door: Door::Command,
        }
    }

    /// The same for a question that came by this door.
    #[must_use]
    pub(crate) fn by(self, door: Door) -> DecisionRecord {
        DecisionRecord { door, ..self }
    }

    /// Keeps it in the decision log, and in a recording if there is one. The log leaves out an event
    /// without hooks, so that it costs nothing.
    ///
    /// # Errors
    /// When it should be in the log and is not: for who can say so elsewhere than in the reply.
    pub(crate) fn keep(
        self,
        reply: &Reply,
        env: &Environment,
        recording: Option<&Path>,
    ) -> Result<(), KeepError> {
        let is_idle = match &self.what {
            KeptKind::Decided(_, run) => run.hooks.is_empty() && run.outcome.is_allowed(),
            KeptKind::Refused(_) => false,
        };
        let is_logged = !is_idle && !self.settings.log.is_off;
        let log = if is_logged { env.decision_log() } else { None };
        let log = log.map(DecisionLog::in_folder);
        let recording = recording.or(env.record.as_deref());
        let recording = recording.map(|file| Recording::in_file(env.cwd.join(file)));
        if log.is_none() && recording.is_none() {
            return Ok(());
        }
        match self.lines(reply, &env.cwd) {
            Ok(line) => {
                // The log must not create the home folder again. Detached hooks may remove it.
                let has_home = env.home.as_ref().is_none_or(|home| home.is_dir());
                let logged = log.filter(|_| has_home);
                let logged = logged.map_or(Ok(()), |log| log.append(&line(Keeps::Explanation)));
                if let Err(error) = &logged {
                    tracing::warn!(%error, "the decision is not in the log");
                }
                let recorded = recording.map(|file| file.append(&line(Keeps::All)));
                if let Some(Err(error)) = recorded {
                    streams::remark(&format!("the event is not recorded: {error}\n"));
                }
                return logged;
            }
            Err(problem) if recording.is_some() => {
                streams::remark(&format!("the event is not recorded: {problem}\n"));
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// Makes its line.
    fn lines(self, reply: &Reply, cwd: &Path) -> Result<impl Fn(Keeps) -> String, String> {
        let redactor = Redactor::new(self.settings.log.redact.iter().map(String::as_str))?;
        let (run, context, trace) = match self.what {
            KeptKind::Refused(report) => (*report, None, None),
            KeptKind::Decided(event, run) => {
                if self.settings.is_broken && !run.hooks.is_empty() {
                    return Err("rules for its secrets may be among what cannot be read".into());
                }
                // Whole paths: it may be read from another folder.
                let report = run_report(&run, reply, &Paths::from(Path::new("")));
                let context = (!self.settings.is_broken).then(|| event.context().clone());
                (report, context, run.trace)
            }
        };
        let (time, cwd) = (SystemTime::now(), cwd.to_path_buf());
        let door = (self.door != Door::Command).then(|| self.door.name());
        Ok(move |keeps| {
            let cwd = Some(cwd.as_path());
            let (context, trace) = (context.as_ref(), trace.as_ref());
            LogEntry {
                time,
                cwd,
                door,
                context,
                trace,
                run: &run,
            }
            .line(&redactor, keeps)
        })
    }
}
