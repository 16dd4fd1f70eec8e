//! A hook as it is being read: settings from `hookrun.toml` or from a script's comments.
//!
//! Both kinds of file go through [`HookDraft::set`], so a key means the same in both.

use std::path::PathBuf;
use std::sync::Arc;

use super::bounds::DraftBounds;
use super::keys::{KeyValue, READINGS};
use super::problem::Position;
use crate::dialects::rules::{HostMatch, WantedEvents};
use crate::dialects::{self, Binding, Dialect, native};
use crate::engine::complaint::Complaint;
use crate::engine::event::{EventSpec, OnFailure};
use crate::engine::hook::matcher::{self, MatcherError};
use crate::engine::hook::{
    Background, Containment, DEFAULT_PRIORITY, Handler, Hook, HookSource, Matcher, parse_duration,
};

/// A value as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SettingValue {
    Text(String),
    Texts(Vec<String>),
    Flag(bool),
    Number(i64),
    /// Something that no key takes, by its name.
    Other(&'static str),
}

/// A hook's settings so far.
#[derive(Debug, Clone)]
pub(super) struct HookDraft {
    pub(super) bounds: DraftBounds,
    priority: i64,
    pub(super) parallel: bool,
    pub(super) on_failure: Option<OnFailure>,
    pub(super) background: Background,
    pub(super) variables: Vec<(String, String)>,
    pub(super) folder: Option<PathBuf>,
    rewrite: bool,
    reads_stdin: bool,
    pub(super) dialect: Option<&'static Dialect>,
    /// Whether its author says which convention it was written for.
    pub(super) says_dialect: bool,
    pub(super) enabled: bool,
    /// Why it does not run although it is enabled.
    pub(super) idle: Option<String>,
    pub(super) description: Option<String>,
    /// The events that a script names itself; `None` where its folder or table does.
    pub(super) events: Option<Vec<(String, Position)>>,
    patterns: Vec<(Pattern, String, Option<Position>)>,
    /// What it wants in the words of a host's settings.
    pub(super) wanted: Option<(WantedEvents, Position)>,
}

/// A hook apart from its settings.
#[derive(Debug, Clone)]
pub(super) struct DraftTarget {
    pub(super) name: String,
    pub(super) handler: Handler,
    pub(super) source: HookSource,
}

/// An event that a hook is bound to.
#[derive(Debug, Clone)]
pub(super) struct BoundEvent {
    pub(super) spec: Arc<EventSpec>,
    pub(super) binding: Option<Binding>,
}

/// What a pattern is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    Tool,
    Path,
    Command,
    Field(String),
}

impl Default for HookDraft {
    fn default() -> HookDraft {
        HookDraft {
            bounds: DraftBounds::default(),
            priority: DEFAULT_PRIORITY,
            parallel: false,
            on_failure: None,
            background: Background::Kill,
            variables: Vec::new(),
            folder: None,
            rewrite: false,
            reads_stdin: false,
            dialect: None,
            says_dialect: false,
            enabled: true,
            idle: None,
            description: None,
            events: None,
            patterns: Vec::new(),
            wanted: None,
        }
    }
}

impl HookDraft {
    /// Takes one of the keys that are the same in `hookrun.toml` and in directives.
    ///
    /// # Errors
    /// When the value is not what the key takes.
    pub(super) fn set(
        &mut self,
        key: &str,
        takes: KeyValue,
        given: SettingValue,
    ) -> Result<(), Complaint> {
        let wrong = |given: &SettingValue| {
            Complaint::with_cure(
                format!("`{key}` takes {}, not {}", takes.describe(), given.describe()),
                match given {
                    SettingValue::Text(text) => takes.cure_for(key, text),
                    SettingValue::Number(number) => takes.cure_for(key, &number.to_string()),
                    SettingValue::Flag(flag) => takes.cure_for(key, &flag.to_string()),
                    SettingValue::Texts(_) | SettingValue::Other(_) => takes.cure(key),
                },
            )
        };
        match (key, given) {
            ("timeout", SettingValue::Text(text)) => {
                let fault = |problem: String| Complaint::new(format!("`timeout`: {problem}"));
                self.bounds.limits.timeout = Some(parse_duration(&text).map_err(fault)?);
            }
            ("priority", SettingValue::Number(number)) => self.priority = number,
            ("parallel", SettingValue::Flag(flag)) => self.parallel = flag,
            ("rewrite", SettingValue::Flag(flag)) => self.rewrite = flag,
            ("enabled", SettingValue::Flag(flag)) => self.enabled = flag,
            ("on_failure", given) => {
                let chosen = one_of(OnFailure::NAMES, &given).ok_or_else(|| wrong(&given))?;
                self.on_failure = Some(chosen);
            }
            ("background", given) => {
                self.background = one_of(Background::NAMES, &given).ok_or_else(|| wrong(&given))?;
            }
            ("reads", given) => {
                self.reads_stdin = one_of(READINGS, &given).ok_or_else(|| wrong(&given))?;
            }
            ("containment", given) => {
                let chosen = one_of(Containment::NAMES, &given).ok_or_else(|| wrong(&given))?;
                self.bounds.containment = chosen;
            }
            ("description", SettingValue::Text(text)) => {
                if text.trim().is_empty() || text.contains(|c: char| c.is_control()) {
                    let cause = "`description` must be text on one line";
                    return Err(Complaint::with_cure(cause, "say in a few words what it does"));
                }
                self.description = Some(text);
            }
            ("dialect", SettingValue::Text(text)) => {
                let found = dialects::find(&text);
                if found.is_none() && text != native::NAME {
                    return Err(wrong(&SettingValue::Text(text)));
                }
                (self.dialect, self.says_dialect) = (found, true);
            }
            (_, given) => return Err(wrong(&given)),
        }
        Ok(())
    }

    /// Takes a pattern, to be compiled when the hook is needed.
    pub(super) fn pattern(&mut self, pattern: Pattern, written: String, at: Option<Position>) {
        self.patterns.push((pattern, written, at));
    }

    /// The fields of the context that it matches, each with its place.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, Option<Position>)> {
        self.patterns.iter().filter_map(|(pattern, _, at)| match pattern {
            Pattern::Field(field) => Some((field.as_str(), *at)),
            Pattern::Tool | Pattern::Path | Pattern::Command => None,
        })
    }

    /// Path globs that were hardly meant so, each with its place.
    pub(super) fn doubts(&self) -> impl Iterator<Item = (Complaint, Option<Position>)> {
        self.patterns.iter().filter(|(pattern, ..)| *pattern == Pattern::Path).filter_map(
            |(_, written, at)| {
                if let Some(name) = written.strip_prefix('/').filter(|name| !name.contains('/')) {
                    let cause = format!("`{written}` is in the root folder of the system");
                    let cure = format!("write `{name}` for one in the project");
                    return Some((Complaint::with_cure(cause, cure), *at));
                }
                let parts = matcher::divided(written)?;
                let cause =
                    format!("`{written}` is one glob, with a comma or a blank in its names");
                let cure = format!(
                    "write `path={}`, in TOML `path = [\"{}\"]`; a comma or blank of a name is \
                     `[,]` or `[ ]`",
                    parts.join(" path="),
                    parts.join("\", \"")
                );
                Some((Complaint::with_cure(cause, cure), *at))
            },
        )
    }

    /// The matcher.
    ///
    /// # Errors
    /// Every pattern that cannot be used, with its place.
    pub(super) fn matcher(&self) -> Result<Matcher, Vec<(Complaint, Option<Position>)>> {
        let mut matcher = Matcher::default();
        let mut faults = Vec::new();
        for (pattern, written, at) in &self.patterns {
            let added = match pattern {
                Pattern::Tool => matcher.clone().tool(written),
                Pattern::Path => matcher.clone().path(written),
                Pattern::Command => matcher.clone().command(written),
                Pattern::Field(field) => matcher.clone().field(field, written),
            };
            match added {
                Ok(added) => matcher = added,
                Err(error) => faults.push((pattern.fault(written, &error), *at)),
            }
        }
        if let Some((wanted, at)) = &self.wanted {
            match HostMatch::read(wanted) {
                Ok(condition) => matcher = matcher.condition(condition),
                Err(error) => faults.push((fault_of(wanted, &error), Some(*at))),
            }
        }
        if faults.is_empty() { Ok(matcher) } else { Err(faults) }
    }

    /// What is wrong with the patterns, without making them ready for use: that costs ten times
    /// as much.
    pub(super) fn check(&self) -> Vec<(Complaint, Option<Position>)> {
        let fault = |(pattern, written, at): &(Pattern, String, Option<Position>)| {
            let checked = match pattern {
                Pattern::Tool => matcher::check_tool(written),
                Pattern::Path => matcher::check_path(written),
                Pattern::Command | Pattern::Field(_) => matcher::check_expression(written),
            };
            Some((pattern.fault(written, &checked.err()?), *at))
        };
        let of_host = self.wanted.iter().filter_map(|(wanted, at)| {
            let error = HostMatch::read(wanted).err()?;
            Some((fault_of(wanted, &error), Some(*at)))
        });
        self.patterns.iter().filter_map(fault).chain(of_host).collect()
    }

    /// The hook, for one event, which its dialect may have in a way of its own.
    pub(super) fn hook(&self, what: DraftTarget, event: &BoundEvent, matcher: Matcher) -> Hook {
        Hook {
            name: what.name,
            event: event.spec.name.to_string(),
            source: what.source,
            handler: what.handler,
            matcher,
            priority: self.priority,
            parallel: self.parallel,
            on_failure: self.on_failure,
            limits: self.bounds.limits.clone(),
            sandbox: self.bounds.sandbox.clone(),
            containment: self.bounds.containment,
            background: self.background,
            variables: self.variables.clone(),
            folder: self.folder.clone(),
            root: None,
            rewrite: self.rewrite,
            reads_stdin: self.reads_stdin,
            convention: event.binding.map(|binding| Arc::new(binding) as _),
            enabled: self.enabled,
            idle: self.idle.clone(),
            description: self.description.clone(),
        }
    }
}

/// A matcher of a host's settings that cannot be used. There it would never fire, and say nothing.
fn fault_of(wanted: &WantedEvents, error: &MatcherError) -> Complaint {
    let alone = WantedEvents { condition: None, ..wanted.clone() };
    let is_rule = HostMatch::read(&alone).is_ok();
    let written = match &wanted.matcher {
        Some((_, _, written)) if !is_rule => written.as_str(),
        Some(_) | None => wanted.condition.as_deref().unwrap_or_default(),
    };
    if is_rule {
        let cause = format!("`{written}` is no permission rule: {error}");
        return Complaint::with_cure(cause, "write `Bash(git *)`, `Edit(src/**)` or a tool's name");
    }
    let cause = format!("`{written}` cannot be used to match: {error}; no hook would ever run");
    Complaint::with_cure(
        cause,
        "write names divided by `|`, or a regular expression without look-around",
    )
}

impl Pattern {
    fn fault(&self, written: &str, error: &MatcherError) -> Complaint {
        Complaint::with_cure(format!("`{written}` cannot be used to match: {error}"), self.cure())
    }

    fn cure(&self) -> &'static str {
        match self {
            Pattern::Tool => "write names or globs divided by `|`: `bash|write|mcp__git*`",
            Pattern::Path => "write a glob: `src/**`, `*.pem`, `.env`",
            Pattern::Command | Pattern::Field(_) => {
                "write a regular expression; in TOML, single quotes keep backslashes: 'rm\\s+-rf'"
            }
        }
    }
}

impl SettingValue {
    pub(super) fn describe(&self) -> String {
        match self {
            SettingValue::Text(text) => format!("\"{text}\""),
            SettingValue::Texts(_) => "a list".to_string(),
            SettingValue::Flag(flag) => flag.to_string(),
            SettingValue::Number(number) => number.to_string(),
            SettingValue::Other(name) => format!("a {name}"),
        }
    }
}

/// The value that a word names in `table`.
pub(super) fn one_of<T: Copy>(table: &[(T, &str)], given: &SettingValue) -> Option<T> {
    let SettingValue::Text(text) = given else { return None };
    table.iter().find(|(_, name)| name == text).map(|(value, _)| *value)
}
