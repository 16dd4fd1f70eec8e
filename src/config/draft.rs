//! A hook while it is read from `hookrun.toml`, a host's settings or a script's directives.

use std::sync::Arc;

use super::problem::Position;
use super::served::ServedHook;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Access, EventSpec};
use crate::engine::hook::matcher::{self};
use crate::engine::hook::{Convention, Hook, Matcher, OnDoubt, PLACEHOLDERS, Warm};
use crate::engine::outcome::Decision;
use crate::hosts::Host;
use crate::hosts::rules::{HostMatch, WantedEvents};

#[derive(Debug, Clone, Default)]
pub struct HookDraft {
    /// The hook so far; binding adds its event and matcher.
    pub(super) hook: Hook,
    pub(super) name: Option<(String, usize)>,
    pub(super) command: Option<(String, usize)>,
    pub(super) is_shell: bool,
    /// The events in its table or script; `None` if it names none.
    pub(super) events: Option<Vec<(String, Position)>>,
    pub(super) dialect: Option<&'static Host>,
    pub(super) is_of_git: bool,
    /// Whether it names its convention itself.
    pub(super) says_dialect: bool,
    pub(super) lives_at: Option<Position>,
    pub(super) rule: Option<Decision>,
    pub(super) names_event: bool,
    pub(super) patterns: Vec<HookPattern>,
    pub(super) except: Vec<HookPattern>,
    pub(super) doubt: Option<OnDoubt>,
    pub(super) placeholders: Vec<(String, Position)>,
    pub(super) wanted: Option<(WantedEvents, Position)>,
}

#[derive(Debug, Clone)]
pub(super) struct BoundEvent {
    pub(super) spec: Arc<EventSpec>,
    pub(super) convention: Option<Arc<dyn Convention>>,
}

impl BoundEvent {
    pub(super) fn native(spec: Arc<EventSpec>) -> BoundEvent {
        BoundEvent {
            spec,
            convention: None,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct HookPattern {
    of: Pattern,
    written: String,
    at: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    Tool,
    Path,
    Not,
    Type,
    Command,
    Access(Access),
    Runs,
    Field(String),
}

pub(super) type PlacedComplaint = (Complaint, Position);

impl HookDraft {
    pub(super) fn of_event(event: &str, at: Position) -> HookDraft {
        HookDraft {
            events: Some(vec![(event.to_string(), at)]),
            ..HookDraft::default()
        }
    }

    pub(super) fn events(&self) -> &[(String, Position)] {
        self.events.as_deref().unwrap_or_default()
    }

    /// Adds a pattern, to be compiled when the hook is needed.
    pub(super) fn pattern(&mut self, of: Pattern, written: &str, at: Position) {
        self.patterns.push(HookPattern {
            of,
            written: written.to_string(),
            at,
        });
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, Position)> {
        let patterns = self.patterns.iter().chain(&self.except);
        patterns.filter_map(|pattern| {
            let Pattern::Field(field) = &pattern.of else {
                return None;
            };
            Some((field.as_str(), pattern.at))
        })
    }

    pub(super) fn placeholders(&mut self, names: Vec<String>, at: Position) {
        let own = names.into_iter().map(|name| (name, at));
        let fields = own.filter(|(name, _)| !PLACEHOLDERS.contains(&name.as_str()));
        self.placeholders.extend(fields);
    }

    pub(super) fn matcher(&self) -> Result<Matcher, Vec<PlacedComplaint>> {
        let mut faults = Vec::new();
        let mut matcher = matcher_of(&self.patterns, &mut faults);
        if !self.except.is_empty() {
            matcher = matcher.except(matcher_of(&self.except, &mut faults));
        }
        if let Some(doubt) = self.doubt {
            matcher = matcher.doubt(doubt);
        }
        if let Some((wanted, at)) = &self.wanted {
            match HostMatch::read(wanted) {
                Ok(condition) => matcher = matcher.condition(condition),
                Err(error) => faults.push((error, *at)),
            }
        }
        if faults.is_empty() {
            Ok(matcher)
        } else {
            Err(faults)
        }
    }

    /// Checks the patterns, which is ten times faster than compiling them.
    pub(super) fn check(&self) -> Vec<PlacedComplaint> {
        let mut faults = Vec::new();
        for HookPattern { of, written, at } in self.patterns.iter().chain(&self.except) {
            let checked = match of {
                Pattern::Tool => matcher::check_tool(written),
                Pattern::Path | Pattern::Not => matcher::check_path(written),
                Pattern::Type => Matcher::default().file_type(written).map(drop),
                Pattern::Access(_) => Ok(()),
                Pattern::Runs => Matcher::default().runs(written).map(drop),
                Pattern::Command | Pattern::Field(_) => matcher::check_expression(written),
            };
            faults.extend(checked.err().map(|error| (of.fault(written, &error), *at)));
        }
        if let Some((wanted, at)) = &self.wanted
            && let Err(error) = HostMatch::read(wanted)
        {
            faults.push((error, *at));
        }
        faults
    }

    pub(super) fn bound(&self, event: &BoundEvent, matcher: Matcher) -> Hook {
        let mut hook = Hook {
            event: event.spec.name.to_string(),
            matcher,
            convention: event.convention.clone(),
            ..self.hook.clone()
        };
        if hook.convention.is_none() && hook.warm == Some(Warm::Serve) {
            let event = hook.event.clone();
            hook.convention = Some(Arc::new(ServedHook { event }));
        }
        // An edit of the event's file is a rewrite, and later hooks must see it.
        let convention = hook.convention.as_ref();
        hook.rewrite |= convention.is_some_and(|convention| convention.edits().is_some());
        hook
    }
}

fn matcher_of(patterns: &[HookPattern], faults: &mut Vec<PlacedComplaint>) -> Matcher {
    let mut matcher = Matcher::default();
    for HookPattern { of, written, at } in patterns {
        let before = std::mem::take(&mut matcher);
        let added = match of {
            Pattern::Tool => before.tool(written),
            Pattern::Path => before.path(written),
            Pattern::Not => before.not(written),
            Pattern::Type => before.file_type(written),
            Pattern::Access(access) => Ok(before.access(*access)),
            Pattern::Command => before.command(written),
            Pattern::Runs => before.runs(written),
            Pattern::Field(field) => before.field(field, written),
        };
        match added {
            Ok(added) => matcher = added,
            Err(error) => faults.push((of.fault(written, &error), *at)),
        }
    }
    matcher
}

impl Pattern {
    fn fault(&self, written: &str, error: &Complaint) -> Complaint {
        let cure = match self {
            Pattern::Tool => "write names or globs separated by `|`: `bash|write|mcp__git*`",
            Pattern::Path | Pattern::Not if written.contains('|') => {
                let mut list = written.replace('|', ",");
                if !written.contains('{') {
                    list = format!("{{{list}}}");
                }
                let cause =
                    format!("`{written}` is not a valid pattern: `|` does not separate globs");
                return Complaint::with_cure(cause, format!("write `{list}`"));
            }
            Pattern::Access(_) => "write `read` or `write`",
            Pattern::Type => return Complaint::new(format!("`{written}`: {error}")),
            Pattern::Path | Pattern::Not => "write a glob: `src/**`, `*.pem`, `.env`",
            Pattern::Runs => "write a program and its words: `git push --force|-f`",
            Pattern::Command | Pattern::Field(_) => {
                "write a regular expression; in TOML, single quotes keep backslashes: 'rm\\s+-rf'"
            }
        };
        Complaint::with_cure(format!("`{written}` is not a valid pattern: {error}"), cure)
    }
}
