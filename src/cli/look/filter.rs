//! Which decisions to explain. What is in the head of a line is compared first.

use std::path::{Path, PathBuf};

use crate::engine::event::catalog;
use crate::engine::spelling;
use crate::hosts::{self, native};
use crate::log::record::{Brief, DecisionLine, RecordError};

use crate::cli::args::FilterArgs;

#[derive(Debug)]
pub(super) struct Filter {
    /// The folder in which they were decided, or one above it.
    pub(super) project: Option<PathBuf>,
    session: Option<String>,
    hook: Option<String>,
    /// The canonical names of the given one.
    events: Vec<String>,
    decision: Option<String>,
    host: Option<String>,
    since: Option<String>,
    until: Option<String>,
    failed: bool,
}

impl Filter {
    pub(super) fn of(args: &FilterArgs, project: Option<PathBuf>) -> Filter {
        // Moments of one length and zone, so that they are in the order of their texts.
        let text = |time| humantime::format_rfc3339_millis(time).to_string();
        Filter {
            project,
            session: args.session.clone(),
            hook: args.hook.clone(),
            events: args.event.as_deref().map(events).unwrap_or_default(),
            decision: args.decision.clone(),
            host: args.host.as_deref().map(host),
            since: args.since.map(text),
            until: args.until.map(text),
            failed: args.failed,
        }
    }

    /// What was decided, if the filter takes it.
    pub(super) fn takes<'l>(
        &self,
        record: &DecisionLine<'l>,
    ) -> Result<Option<Brief<'l>>, RecordError> {
        let is_other = |wanted: &Option<String>, found: Option<&str>| {
            wanted
                .as_deref()
                .is_some_and(|wanted| Some(wanted) != found)
        };
        if is_other(&self.session, record.session.as_deref())
            || is_other(&self.host, Some(&record.host))
            || self
                .project
                .as_ref()
                .is_some_and(|project| !is_of_project(record, project))
            || !self.events.is_empty() && !self.events.contains(&record.event)
            || self
                .since
                .as_ref()
                .is_some_and(|since| record.time < *since)
            || self
                .until
                .as_ref()
                .is_some_and(|until| record.time > *until)
        {
            return Ok(None);
        }
        let brief = record.brief()?;
        let ran = |name: &String| {
            brief
                .hooks
                .iter()
                .any(|hook| hook.name == *name && hook.fate == "ran")
        };
        let has_failed = || {
            brief.cause.as_deref() == Some("failure")
                || brief.hooks.iter().any(|hook| hook.failure.is_some())
        };
        let is_meant = self
            .decision
            .as_ref()
            .is_none_or(|wanted| *wanted == brief.decision)
            && self.hook.as_ref().is_none_or(ran)
            && (!self.failed || has_failed());
        Ok(is_meant.then_some(brief))
    }
}

/// Whether hookrun was started in a project, or below it, when it decided this.
pub(crate) fn is_of_project(record: &DecisionLine<'_>, project: &Path) -> bool {
    record
        .cwd
        .as_ref()
        .is_some_and(|cwd| Path::new(cwd).starts_with(project))
}

/// Says which name of a host or an event is unknown.
pub(super) fn unknown(args: &FilterArgs) -> Option<String> {
    if let Some(name) = args.host.as_deref().filter(|name| host_of(name).is_none()) {
        let hosts = hosts::dialects().map(|dialect| dialect.name);
        let near = spelling::nearest(name, hosts);
        let near = near
            .map(|near| format!(": did you mean `{near}`?"))
            .unwrap_or_default();
        return Some(format!("there is no host `{name}`{near}"));
    }
    let name = args
        .event
        .as_deref()
        .filter(|name| hosts::events_called(name).is_empty())?;
    catalog::Catalog::default()
        .find(name)
        .err()
        .map(|error| error.to_string())
}

/// The canonical names of an event; an unknown name may be one that a configuration declares.
fn events(name: &str) -> Vec<String> {
    let events = hosts::events_called(name);
    if events.is_empty() {
        vec![name.to_string()]
    } else {
        events.into_iter().map(str::to_string).collect()
    }
}

fn host(name: &str) -> String {
    host_of(name).unwrap_or(name).to_string()
}

fn host_of(name: &str) -> Option<&'static str> {
    let known = hosts::find(name).map(|dialect| dialect.name);
    known.or((name == native::NAME).then_some(native::NAME))
}
