//! What has been loaded so far, and how a hook that was read becomes one for each of its events.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checks;
use super::draft::{BoundEvent, HookDraft};
use super::layer::{self, DropIn};
use super::problem::{Position, Problem};
use crate::dialects::{Binding, DIALECTS, Dialect};
use crate::engine::access;
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::event::catalog::{Catalog, UnknownEvent, command};
use crate::engine::hook::Hook;

/// How much of the configuration is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope<'a> {
    /// All of it.
    All,
    /// The hooks of one event. Files that could hold such hooks are read in full; the drop-ins
    /// of other events are not opened.
    Event(&'a str),
    /// The hooks of some events, by their canonical names.
    Events(&'a [String]),
}

impl ConfigScope<'_> {
    /// Whether everything is needed, or an event whose name is as `is_meant` says.
    pub(super) fn has(self, is_meant: impl Fn(&str) -> bool) -> bool {
        match self {
            ConfigScope::All => true,
            ConfigScope::Event(name) => is_meant(name),
            ConfigScope::Events(names) => names.iter().any(|name| is_meant(name)),
        }
    }
}

pub(super) struct ConfigLoader<'l> {
    pub(super) catalog: &'l Catalog,
    /// Events whose declarations have mistakes, which is problem enough.
    pub(super) misdeclared: Vec<String>,
    pub(super) scope: ConfigScope<'l>,
    pub(super) hooks: Vec<Hook>,
    pub(super) problems: Vec<Problem>,
    /// Files of hooks outside the folders of events, by their canonical paths.
    pub(super) seen: HashSet<PathBuf>,
}

impl ConfigLoader<'_> {
    pub(super) fn fault(&mut self, file: &Path, cause: impl Into<String>, cure: impl Into<String>) {
        self.complain(Complaint::with_cure(cause, cure), file, None);
    }

    pub(super) fn complain(&mut self, complaint: Complaint, file: &Path, at: Option<Position>) {
        self.problems.push(complaint.in_file(file, at));
    }

    /// Marks the problems from `first` on as those of a hook of these events.
    pub(super) fn about<'e>(&mut self, first: usize, events: impl Iterator<Item = &'e str>) {
        let events: Vec<String> = events.map(str::to_string).collect();
        for problem in &mut self.problems[first..] {
            problem.events.clone_from(&events);
        }
    }

    /// Whether an event of this name is declared, with a mistake.
    pub(super) fn is_misdeclared(&self, name: &str) -> bool {
        self.misdeclared.iter().any(|event| event == name)
    }

    pub(super) fn is_in_scope(&self, spec: &EventSpec) -> bool {
        self.scope.has(|name| spec.is_called(name))
    }

    pub(super) fn is_named(&self, event: &str) -> bool {
        self.catalog.find(event).is_ok_and(|spec| self.is_in_scope(&spec))
    }

    /// A folder of hooks that everyone may write is a problem: its writers decide what runs.
    pub(super) fn check_writers(&mut self, path: &Path) {
        if access::is_open_to_everyone(path) {
            self.fault(path, "everyone may write it", access::cure(path));
        }
    }

    /// The entries of a folder of hooks; none, and a problem, if it cannot be read.
    pub(super) fn entries(&mut self, folder: &Path) -> Vec<DropIn> {
        layer::entries(folder).unwrap_or_else(|error| {
            self.fault(folder, format!("cannot be read: {error}"), "check its permissions");
            Vec::new()
        })
    }

    /// Whether `name` means an event in scope to hooks of any dialect.
    pub(super) fn may_be_in_scope(&self, name: &str) -> Result<bool, UnknownEvent> {
        let of_catalog = self.catalog.find(name);
        let rows = DIALECTS.iter().flat_map(|dialect| dialect.events);
        let mut rows = rows.filter(|row| row.is_called(name)).peekable();
        match of_catalog {
            Ok(spec) if self.is_in_scope(&spec) => Ok(true),
            Err(unknown) if rows.peek().is_none() => Err(unknown),
            Ok(_) | Err(_) => Ok(rows.any(|row| self.is_named(row.event))),
        }
    }

    fn bound(&self, binding: Binding) -> BoundEvent {
        let found = self.catalog.find(binding.row.event);
        let spec = found.unwrap_or_else(|_| Arc::new(binding.spec()));
        BoundEvent { spec, binding: Some(binding) }
    }

    /// The events that `name` means to a hook of `dialect`.
    pub(super) fn meant(
        &self,
        name: &str,
        dialect: Option<&'static Dialect>,
    ) -> Result<Vec<BoundEvent>, Complaint> {
        let Some(dialect) = dialect else {
            let found = self.catalog.find(name);
            return found.map(|spec| vec![BoundEvent { spec, binding: None }]).map_err(|unknown| {
                let other = DIALECTS.iter().find(|other| !other.called(name).is_empty());
                match other {
                    Some(other) => Complaint::with_cure(
                        format!("`{name}` is an event of {}", other.name),
                        format!("say that the hook is one: `dialect = \"{}\"`", other.name),
                    ),
                    None => unknown_event(&unknown),
                }
            });
        };
        let bindings = dialect.called(name);
        if !bindings.is_empty() {
            return Ok(bindings.into_iter().map(|binding| self.bound(binding)).collect());
        }
        let cause = format!("`{name}` is no event of {}", dialect.name);
        let cure = match dialect.nearest(name) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("its events are {}", dialect.names().join(", ")),
        };
        Err(Complaint::with_cure(cause, cure))
    }

    pub(super) fn add(&mut self, draft: &HookDraft, event: &BoundEvent) {
        let file = &draft.hook.source.file;
        match draft.matcher() {
            Ok(matcher) => {
                let hook = draft.bound(event, matcher);
                self.problems.extend(checks::problems(draft, &hook, &event.spec));
                self.hooks.push(hook);
            }
            Err(faults) => {
                let problems = faults.into_iter().map(|(fault, at)| fault.in_file(file, Some(at)));
                self.problems.extend(problems);
            }
        }
    }

    /// Two hooks of one event and layer, whose hooks begin at `first`, may not share a name:
    /// reasons and logs name hooks.
    pub(super) fn find_duplicates(&mut self, first: usize) {
        let mut seen: HashMap<(&str, &str), &Hook> = HashMap::new();
        let mut found = Vec::new();
        for hook in &self.hooks[first..] {
            let key = (hook.event.as_str(), hook.name.as_str());
            if let Some(first) = seen.insert(key, hook) {
                let cause = format!(
                    "two hooks of `{}` are called `{}`; the other is in {}",
                    hook.event,
                    hook.name,
                    first.source.file.display()
                );
                let cure = "give one of them another name: all of a folder's hooks.d, \
                            .hookrun/hooks.d and hookrun.toml count";
                let at = hook.source.line.map(Position::of_line);
                let problem = Complaint::with_cure(cause, cure).in_file(&hook.source.file, at);
                found.push(Problem { events: vec![hook.event.clone()], ..problem });
            }
        }
        self.problems.extend(found);
    }
}

pub(super) fn unknown_event(unknown: &UnknownEvent) -> Complaint {
    if let Some(name) = command::name_of(&unknown.name) {
        return bad_command(name);
    }
    let cause = format!("unknown event `{}`", unknown.name);
    match &unknown.nearest {
        Some(nearest) => Complaint::with_cure(cause, format!("did you mean `{nearest}`?")),
        None => Complaint::with_cure(
            cause,
            "`hookrun events` lists them; declare your own with [event.\"name\"] in hookrun.toml",
        ),
    }
}

pub(super) fn bad_command(name: &str) -> Complaint {
    let cause = format!("`{name}` cannot be the name of a command");
    Complaint::with_cure(cause, "use letters, digits, `-`, `_` and `:`")
}
