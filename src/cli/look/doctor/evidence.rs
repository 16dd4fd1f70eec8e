//! When each host last ran hookrun here, from the decision log. A host's files say only that it
//! should; nothing but the log shows whether it does.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::config::{Environment, Problem};
use crate::decide::Door;
use crate::engine::event::Context;
use crate::hosts::{folders, native};
use crate::log::DecisionLog;
use crate::log::read::newest_first;
use crate::log::record::DecisionLine;

use crate::cli::look::decisions::is_of_project;
use crate::cli::look::validate::{note, warning};

/// When a host asked last, and how.
#[derive(Debug)]
struct LastAsked {
    time: SystemTime,
    /// Nothing for a command.
    how: &'static str,
}

impl LastAsked {
    fn ago(&self) -> String {
        ago(SystemTime::now()
            .duration_since(self.time)
            .unwrap_or_default())
    }
}

/// Which hosts ran hookrun in a project, and when last.
#[derive(Debug)]
pub(super) struct Evidence {
    /// By the name of the host; `None` where decisions are not kept.
    last: Option<BTreeMap<String, LastAsked>>,
}

impl Evidence {
    /// Reads the log from its end.
    pub(super) fn of(project: &Path, env: &Environment) -> Evidence {
        let Some(folder) = env.decision_log() else {
            return Evidence { last: None };
        };
        let mut last = BTreeMap::new();
        for file in DecisionLog::in_folder(folder).files() {
            for line in newest_first(&file).unwrap_or_default() {
                let Ok(record) = DecisionLine::parse(&line) else {
                    continue;
                };
                if last.contains_key(&record.host) || !is_here(&record, project) {
                    continue;
                }
                if let Ok(time) = humantime::parse_rfc3339(&record.time) {
                    let how = how(&record);
                    last.insert(record.host, LastAsked { time, how });
                }
            }
        }
        Evidence { last: Some(last) }
    }

    /// What it says of a host that hookrun is installed into by this file. `name` is what the log
    /// calls the host; `None` if it cannot distinguish it from others. `trust` is what a person has to
    /// do before the host runs hooks.
    pub(super) fn about(
        &self,
        name: Option<&str>,
        title: &str,
        trust: Option<&str>,
        file: &Path,
    ) -> Problem {
        let Some(name) = name else {
            let asked = self.last.as_ref().and_then(|last| last.get(native::NAME));
            let what = match asked {
                Some(asked) => format!(
                    ", which last came here {}: the log does not say from which host",
                    asked.ago()
                ),
                None => ": `hookrun why` shows whether any came, not from which host".to_string(),
            };
            let cause = format!("{title} sends hookrun's own events{what}");
            return note(file, cause);
        };
        let Some(last) = &self.last else {
            let why = "decisions are not kept";
            return note(
                file,
                format!("cannot tell whether {title} runs hookrun: {why}"),
            );
        };
        let try_it = "use it here for a moment, then look again";
        let Some(asked @ LastAsked { time, how }) = last.get(name) else {
            let never = format!("{title} has never run hookrun in this project");
            let cure = trust.map_or(try_it.to_string(), |step| format!("{step}; then {try_it}"));
            return warning(file, format!("installed, not seen yet: {never}"), cure);
        };
        let cause = format!("{title} last ran hookrun here {}{how}", asked.ago());
        let changed = file.metadata().and_then(|meta| meta.modified());
        if changed.is_ok_and(|changed| changed > *time) {
            return warning(
                file,
                format!("{cause}, before this file was changed"),
                try_it,
            );
        }
        note(file, cause)
    }
}

const SERVER_DOORS: [(Door, &str); 2] =
    [(Door::Http, ", over HTTP"), (Door::Mcp, ", by an MCP tool")];

/// By which door a host asked.
fn how(record: &DecisionLine<'_>) -> &'static str {
    let door = record.door.as_deref().unwrap_or_default();
    let row = SERVER_DOORS.iter().find(|(known, _)| known.name() == door);
    row.map_or("", |(_, how)| how)
}

fn is_here(record: &DecisionLine<'_>, project: &Path) -> bool {
    if is_of_project(record, project) {
        return true;
    }
    let context = record.context().and_then(|text| Context::parse(text).ok());
    let told = context
        .map(|context| folders::told(&record.host, &context))
        .unwrap_or_default();
    told.roots
        .iter()
        .chain(&told.cwd)
        .any(|folder| folder.starts_with(project))
}

/// A time that has passed, in its largest unit.
fn ago(passed: Duration) -> String {
    let seconds = passed.as_secs();
    let units = [(86400, "day"), (3600, "hour"), (60, "minute")];
    let Some((size, unit)) = units.into_iter().find(|(size, _)| seconds >= *size) else {
        return "just now".to_string();
    };
    let count = seconds / size;
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{end} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_its_largest_unit() {
        for (seconds, said) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (3599, "59 minutes ago"),
            (7200, "2 hours ago"),
            (86400, "1 day ago"),
            (9_000_000, "104 days ago"),
        ] {
            assert_eq!(ago(Duration::from_secs(seconds)), said);
        }
    }
}
