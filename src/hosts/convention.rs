//! The rows of a dialect as the engine sees them: how its hooks are called and read.

use std::time::Duration;

use super::judge::judge;
use super::results::Results;
use super::row::{Binding, HostVariable, Tells};
use super::tools::is_of_server;
use crate::engine::answer;
use crate::engine::ending::Ending;
use crate::engine::event::{Context, Event, OnFailure};
use crate::engine::hook::{Convention, EventPart, HostCall, Matcher, Permit, Printed};

impl Convention for Binding {
    fn system(&self) -> &'static str {
        self.dialect.name
    }

    fn event_name(&self) -> &'static str {
        self.row.name
    }

    fn full_event_name(&self) -> String {
        self.row.full_name()
    }

    fn timeout(&self) -> Option<Duration> {
        self.row.conduct.timeout
    }

    fn on_failure(&self) -> Option<OnFailure> {
        Some(self.row.on_failure)
    }

    fn runs_once(&self) -> bool {
        self.dialect.runs_once
    }

    fn has(&self, event: &Event) -> bool {
        event.host() == self.dialect.name
            || match self.row.gather {
                Some(gather) => self
                    .dialect
                    .tool_names(event)
                    .iter()
                    .any(|it| it == gather.tool),
                None => !self.row.is_of_servers || is_of_server(event),
            }
    }

    fn parts(&self, event: &Event, matcher: &Matcher) -> Vec<EventPart> {
        let numbered = |first: usize, calls: Vec<HostCall>| {
            (first..).zip(calls).map(|(number, call)| EventPart {
                number,
                call: Some(call),
                id: None,
            })
        };
        let mut parts: Vec<EventPart> = numbered(0, self.dialect.calls(event)).collect();
        if parts.is_empty() {
            parts.push(EventPart::WHOLE);
        }
        let patches = self.dialect.patch_calls(event);
        if patches.is_empty() {
            return parts;
        }
        if parts.iter().all(|part| part.call.is_none()) {
            // A host's own hook gets the command as it came, and the patch.
            parts.extend(numbered(1, patches));
        }
        let name = event.context().string("toolName").unwrap_or_default();
        let is_meant = |part: &EventPart| match &part.call {
            Some(call) => {
                let is_about = self
                    .row
                    .gather
                    .is_none_or(|gather| gather.tool == call.name);
                is_about && matcher.takes_tool(&self.dialect.names_of(call))
            }
            None => matcher.takes_tool(&[&name]),
        };
        if parts.iter().any(is_meant) {
            parts.retain(is_meant);
        }
        parts
    }

    fn payload(&self, event: &Event, part: &EventPart) -> Context {
        self.encode_call(event, part.call.as_ref())
    }

    fn variables(&self, event: &Event, project: &str) -> Vec<(&'static str, String)> {
        let value = |variable: &HostVariable| match variable.tells {
            Tells::Project => Some(project.to_string()),
            Tells::Folder => {
                let own = event.context().string("cwd").filter(|cwd| !cwd.is_empty());
                Some(own.unwrap_or_else(|| project.to_string()))
            }
            Tells::Fact(key) => event.context().text(key).filter(|text| !text.is_empty()),
            Tells::Word(word) => Some(word.to_string()),
        };
        let rows = self.dialect.variables.iter();
        rows.filter_map(|variable| Some((variable.name, value(variable)?)))
            .collect()
    }

    fn has_own_results(&self) -> bool {
        self.row.results != Results::Native
    }

    fn judge(&self, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>) {
        judge(*self, printed, permit)
    }

    fn block_in(&self, stdout: &str, _: Permit<'_>) -> Option<String> {
        answer::block_in(stdout, self)
    }
}
