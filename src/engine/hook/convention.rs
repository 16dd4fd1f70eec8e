//! How a hook is spoken to that was written for another system: what it gets, and how what it
//! says is read.
//!
//! The engine knows only this trait. The tables of hosts and systems are its users; a hook without
//! one is spoken to by hookrun's own contract.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::{Hook, Matcher};
use crate::engine::ending::{Captured, Ending};
use crate::engine::event::{Context, Event, EventSpec, OnFailure};

/// One event of one other system, as its hooks know it.
pub trait Convention: fmt::Debug + Send + Sync {
    /// The system's name.
    fn system(&self) -> &'static str;

    /// What the system calls the event.
    fn event_name(&self) -> &'static str;

    /// The same, with what tells it from other events of that name.
    fn full_event_name(&self) -> String;

    /// The system's own timeout, where it has one.
    fn timeout(&self) -> Option<Duration>;

    /// What a failing hook means there.
    fn on_failure(&self) -> OnFailure;

    /// Of hooks of one event that run the same, the first runs.
    fn runs_once(&self) -> bool;

    /// Whether the system would ask such a hook about `event`: some of a host's events are about
    /// one tool alone.
    fn has(&self, event: &Event) -> bool;

    /// The parts of `event` that such a hook is asked about one by one, of those that `matcher`
    /// wants. At least one.
    fn parts(&self, event: &Event, matcher: &Matcher) -> Vec<EventPart>;

    /// What the hook reads on stdin.
    fn payload(&self, event: &Event, part: &EventPart) -> Context;

    /// The variables that the system sets for its hooks.
    fn variables(&self, event: &Event, project: &str) -> Vec<(&'static str, String)>;

    /// Whether results are read by [`Convention::judge`]; otherwise they are those of hookrun's
    /// contract.
    fn has_own_results(&self) -> bool;

    /// How the run of a hook that exited has ended, with notes for its author.
    fn judge(&self, printed: &Printed<'_>, permit: Permit<'_>) -> (Ending, Vec<String>);

    /// The reason, if a whole JSON object refuses in these words or in any other known ones.
    fn refusal(&self, answer: &[(String, Value)]) -> Option<String>;

    /// The question, if a whole JSON object asks in any known words but those that only this
    /// system knows.
    fn question(&self, answer: &[(String, Value)]) -> Option<String>;

    /// Whether what is under `key` at this place (a path of keys with dots, empty for the whole
    /// answer) is no part of the decision: a new input, a text for the model.
    fn is_data(&self, place: &str, key: &str) -> bool;
}

/// One part of an event that a hook is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPart {
    /// Its number among the parts.
    pub number: usize,
    /// The call of a tool in the system's own words; `None` for the event as it came.
    pub call: Option<HostCall>,
}

impl EventPart {
    /// The event as it came, whole.
    pub const WHOLE: EventPart = EventPart { number: 0, call: None };
}

/// A call of a tool, in the words of one host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// The tool.
    pub name: String,
    /// What it is given.
    pub input: Value,
}

/// What a hook that exited has left.
#[derive(Debug, Clone, Copy)]
pub struct Printed<'a> {
    /// Its exit status.
    pub status: i32,
    /// The text of its stdout, without blanks around it.
    pub stdout: &'a str,
    /// Bytes of stdout are missing.
    pub is_cut: bool,
    /// Its stderr.
    pub stderr: &'a Captured,
}

/// What a hook may answer.
#[derive(Debug, Clone, Copy)]
pub struct Permit<'a> {
    /// The rules of the event.
    pub spec: &'a EventSpec,
    /// The hook.
    pub hook: &'a Hook,
    /// What it was given, where that was in the words of another host than the one that asks.
    pub given: Option<GivenPart<'a>>,
    /// The event that it was asked about, if there is one.
    pub about: Option<&'a Event>,
}

/// What a hook was given in the words of its own host.
#[derive(Debug, Clone, Copy)]
pub struct GivenPart<'a> {
    /// The event as it came.
    pub event: &'a Event,
    /// The number of the part.
    pub part: usize,
}

impl Permit<'_> {
    /// Its spec says `on_failure = "block"`: what its host calls an error is a failure.
    pub fn is_strict(self) -> bool {
        self.hook.on_failure == Some(OnFailure::Block)
    }
}
