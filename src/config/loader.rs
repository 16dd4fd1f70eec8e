//! The hooks loaded so far, and binding of a hook to each of its events.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::draft::{BoundEvent, HookDraft};
use super::layer::{self, DropIn};
use super::problem::{Position, Problem};
use crate::engine::complaint::{self, Complaint};
use crate::engine::event::catalog::{Catalog, UnknownEvent, command_name};
use crate::engine::event::{EventSpec, OnFailure};
use crate::engine::hook::{
    Background, Containment, DEFAULT_PRIORITY, Hook, Lives, PLACEHOLDERS, Reads, Sees, Warm,
};
use crate::hosts::git::{self, Changes, GIT_HOOKS};
use crate::hosts::{Binding, Host, dialects, find};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope<'a> {
    All,
    /// The hooks of one event; drop-ins of other events are not opened.
    Event(&'a str),
    Events(&'a [String]),
}

impl ConfigScope<'_> {
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
    /// Events whose declaration has a mistake, already reported.
    pub(super) misdeclared: Vec<String>,
    pub(super) scope: ConfigScope<'l>,
    pub(super) hooks: Vec<Hook>,
    pub(super) problems: Vec<Problem>,
    /// Folders of a `hooks.d` that were not opened.
    pub(super) unopened: Vec<PathBuf>,
}

impl ConfigLoader<'_> {
    pub(super) fn fault(&mut self, file: &Path, cause: impl Into<String>, cure: impl Into<String>) {
        self.complain(Complaint::with_cure(cause, cure), file, None);
    }

    pub(super) fn complain(&mut self, complaint: Complaint, file: &Path, at: Option<Position>) {
        self.problems.push(complaint.in_file(file, at));
    }

    /// Assigns the problems from `first` on to these events.
    pub(super) fn about<'e>(&mut self, first: usize, events: impl Iterator<Item = &'e str>) {
        let events: Vec<String> = events.map(str::to_string).collect();
        for problem in &mut self.problems[first..] {
            problem.events.clone_from(&events);
        }
    }

    pub(super) fn is_misdeclared(&self, name: &str) -> bool {
        self.misdeclared.iter().any(|event| event == name)
    }

    pub(super) fn is_in_scope(&self, spec: &EventSpec) -> bool {
        self.scope.has(|name| spec.is_called(name))
    }

    pub(super) fn is_named(&self, event: &str) -> bool {
        let spec = self.catalog.find(event);
        spec.is_ok_and(|spec| self.is_in_scope(&spec))
    }

    pub(super) fn entries(&mut self, folder: &Path) -> Vec<DropIn> {
        layer::entries(folder).unwrap_or_else(|error| {
            let cause = format!("cannot be read: {error}");
            let cure = if folder.is_dir() {
                "check its permissions"
            } else {
                "make it a folder, or remove it"
            };
            self.fault(folder, cause, cure);
            Vec::new()
        })
    }

    /// Whether `name` is an event in scope, in any dialect.
    pub(super) fn may_be_in_scope(&self, name: &str) -> Result<bool, UnknownEvent> {
        let of_catalog = self.catalog.find(name);
        let rows = dialects().flat_map(|dialect| dialect.events);
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
        BoundEvent {
            spec,
            convention: Some(Arc::new(binding)),
        }
    }

    /// The events that `name` means to a hook; to a rule a host's name is an alias.
    pub(super) fn meant(
        &self,
        name: &str,
        draft: &HookDraft,
    ) -> Result<Vec<BoundEvent>, Complaint> {
        if let Some(dialect) = draft.dialect {
            let bindings = dialect.called(name);
            if bindings.is_empty() {
                return Err(dialect.unknown_event(name));
            }
            let bindings = bindings.into_iter();
            return Ok(bindings.map(|binding| self.bound(binding)).collect());
        }
        match self.catalog.find(name) {
            Ok(spec) if draft.is_of_git => self.of_git(spec).map(|event| vec![event]),
            Ok(spec) => Ok(vec![BoundEvent::native(spec)]),
            Err(unknown) => self.meant_by_rule(name, draft).ok_or_else(|| {
                let mut others = dialects().filter(|other| !other.called(name).is_empty());
                let Some(Host { name: host, .. }) = others.next() else {
                    return unknown_event(&unknown);
                };
                let more = others.next().map_or("", |_| " and other systems");
                let cure = format!("set the hook's dialect, such as `dialect = \"{host}\"`");
                Complaint::with_cure(format!("`{name}` is an event of {host}{more}"), cure)
            }),
        }
    }

    fn of_git(&self, spec: Arc<EventSpec>) -> Result<BoundEvent, Complaint> {
        let hook = GIT_HOOKS.iter().find(|hook| hook.event == spec.name);
        let hook = hook.ok_or_else(|| {
            let cause = format!("`{}` is not a git event", spec.name);
            let cure = "remove `dialect`, or name a git hook, such as `commit-msg` or `pre-push`";
            Complaint::with_cure(cause, cure)
        })?;
        Ok(BoundEvent {
            spec,
            convention: Some(Arc::new(hook)),
        })
    }

    /// The native events that a rule means by a host's name; `None` without any.
    fn meant_by_rule(&self, name: &str, draft: &HookDraft) -> Option<Vec<BoundEvent>> {
        draft.rule.as_ref()?;
        let mut meant: Vec<BoundEvent> = Vec::new();
        for binding in dialects().flat_map(|dialect| dialect.called(name)) {
            let spec = self.bound(binding).spec;
            if meant.iter().all(|event| event.spec.name != spec.name) {
                meant.push(BoundEvent::native(spec));
            }
        }
        (!meant.is_empty()).then_some(meant)
    }

    pub(super) fn add(&mut self, draft: &HookDraft, event: &BoundEvent) {
        let file = &draft.hook.source.file;
        match draft.matcher() {
            Ok(matcher) => {
                let hook = draft.bound(event, matcher);
                self.problems.extend(problems_of(draft, &hook, &event.spec));
                self.hooks.push(hook);
            }
            Err(faults) => {
                let faults = faults.into_iter();
                let problems = faults.map(|(fault, at)| fault.in_file(file, Some(at)));
                self.problems.extend(problems);
            }
        }
    }

    /// Reports hooks of one event and layer (from `first` on) with the same name. Where names may
    /// repeat, the later hook's name gets its file and line.
    pub(super) fn find_duplicates(&mut self, first: usize) {
        let mut seen: HashMap<(&str, &str), &Hook> = HashMap::new();
        let mut found = Vec::new();
        let mut repeated = Vec::new();
        for (at, hook) in self.hooks.iter().enumerate().skip(first) {
            let key = (hook.event.as_str(), hook.name.as_str());
            if let Some(first) = seen.insert(key, hook) {
                let convention = hook.convention.as_ref();
                let system = convention.and_then(|convention| find(convention.system()));
                if system.is_some_and(|system| system.has_specs) {
                    repeated.push(at);
                    continue;
                }
                let cause = format!(
                    "two hooks of `{}` are named `{}`; the other is in {}",
                    hook.event,
                    hook.name,
                    first.source.file.display()
                );
                let cure = "rename one of them: a name must be unique across a folder's hooks.d, \
                            .hookrun/hooks.d and hookrun.toml";
                let at = hook.source.line.map(Position::of_line);
                let problem = Complaint::with_cure(cause, cure).in_file(&hook.source.file, at);
                found.push(Problem {
                    events: vec![hook.event.clone()],
                    ..problem
                });
            }
        }
        self.problems.extend(found);
        for at in repeated {
            let hook = &mut self.hooks[at];
            let file = hook.source.file.file_name().unwrap_or_default().display();
            let line = hook.source.line.map(|line| format!(":{line}"));
            hook.name = format!("{} ({file}{})", hook.name, line.unwrap_or_default());
        }
    }
}

pub(super) fn unknown_event(unknown: &UnknownEvent) -> Complaint {
    if let Some(name) = command_name(&unknown.name) {
        return bad_command(name);
    }
    let cause = format!("unknown event `{}`", unknown.name);
    let name = &unknown.name;
    let nearest = unknown.nearest.as_deref();
    let cure = complaint::did_you_mean(nearest, || {
        format!(
            "`hookrun events` lists all events; declare your own with [event.\"{name}\"] in hookrun.toml"
        )
    });
    Complaint::with_cure(cause, cure)
}

pub(super) fn bad_command(name: &str) -> Complaint {
    let cause = format!("`{name}` cannot be the name of a command");
    Complaint::with_cure(cause, "use letters, digits, `-`, `_` and `:`")
}

const ALWAYS_THERE: &[&str] = &["event", "action", "raw", "cwd", "sessionId"];

fn problems_of(draft: &HookDraft, hook: &Hook, spec: &EventSpec) -> Vec<Problem> {
    let file = &hook.source.file;
    let mut problems = Vec::new();
    // An event without a declared context may have any field.
    if !spec.context.is_empty() {
        for (field, at) in draft.fields() {
            problems.extend(of_field(hook, spec, field, at));
        }
    }
    for (field, at) in &draft.placeholders {
        problems.extend(of_placeholder(spec, field).map(|one| one.in_file(file, Some(*at))));
    }
    let at = draft.lives_at.or(hook.source.line.map(Position::of_line));
    problems.extend(contradiction(draft, hook, spec).map(|one| one.in_file(file, at)));
    let idle = idle_settings(hook, spec).into_iter();
    problems.extend(idle.map(|one| one.warning(file, at)));
    problems
}

/// A setting as written, and whether a hook has it.
type HookSetting = (&'static str, fn(&Hook) -> bool);

const REWRITES: HookSetting = ("rewrite", |hook| hook.rewrite);
const READS: HookSetting = ("reads", |hook| hook.reads.is_some());
const TAKES_FILES: HookSetting = ("files", Hook::takes_files);
const IS_SERVED: HookSetting = ("warm = \"serve\"", |hook| hook.warm == Some(Warm::Serve));
const IS_FOREIGN: HookSetting = ("dialect", Hook::is_foreign);
const FIXES: HookSetting = ("fixes", |hook| hook.fixes.is_some());
const LINKS: HookSetting = ("link", |hook| hook.link.is_some());
const LIVES_ON: HookSetting = ("lives = \"session\"", |hook| hook.lives == Lives::Session);

/// Settings, each with the settings that it excludes.
const CONFLICTS: &[(HookSetting, &[HookSetting])] = &[
    (
        LIVES_ON,
        &[
            REWRITES,
            ("on_failure", |hook| hook.on_failure.is_some()),
            ("background", |hook| hook.background == Background::Detach),
            ("parallel", |hook| hook.parallel == Some(true)),
            ("priority", |hook| hook.priority != DEFAULT_PRIORITY),
            READS,
            TAKES_FILES,
            IS_SERVED,
            IS_FOREIGN,
        ],
    ),
    (
        IS_SERVED,
        &[
            IS_FOREIGN,
            ("reads = \"none\"", |hook| {
                hook.reads == Some(Reads::Nothing)
            }),
            TAKES_FILES,
        ],
    ),
    (REWRITES, &[TAKES_FILES]),
    (
        ("sees = \"disk\"", |hook| hook.sees == Some(Sees::Disk)),
        &[FIXES, LINKS],
    ),
];

/// Settings about staged content.
const OF_STAGED: &[HookSetting] = &[("sees", |hook| hook.sees.is_some()), FIXES, LINKS];

/// The first setting that contradicts another one, or the event.
fn contradiction(draft: &HookDraft, hook: &Hook, spec: &EventSpec) -> Option<Complaint> {
    let event = &spec.name;
    if draft.rule.is_some() && !spec.blocks {
        let cause = format!("`{event}` cannot be blocked, so a rule has no effect");
        let cure = "bind the rule to a gate, or write a hook";
        return Some(Complaint::with_cure(cause, cure));
    }
    if hook.lives == Lives::Session && (spec.blocks || command_name(event).is_some()) {
        let cause = format!(
            "a hook with `lives = \"session\"` cannot answer, but `{event}` needs an answer"
        );
        let cure = "remove `lives`, so that the hook starts for each event and can decide; or bind it \
                    to an event that only reports, such as `tool.post`";
        return Some(Complaint::with_cure(cause, cure));
    }
    for ((one, is_set), excluded) in CONFLICTS {
        let mut excluded = excluded.iter();
        let other = excluded.find(|(_, is_other)| is_set(hook) && is_other(hook));
        if let Some((other, _)) = other {
            if *other == IS_FOREIGN.0 && !draft.says_dialect {
                let cause = format!(
                    "`{one}` cannot be used in a folder named after another system's event"
                );
                let cure = format!(
                    "remove `{one}`; or, if the hook reads hookrun's keys, move it into hooks.d/{}/",
                    hook.event
                );
                return Some(Complaint::with_cure(cause, cure));
            }
            let cause = format!("`{other}` cannot be used with `{one}`");
            return Some(Complaint::with_cure(cause, "remove one of them"));
        }
    }
    let staged = OF_STAGED.iter().find(|(_, is_set)| is_set(hook));
    let events = draft.events().iter().map(|(event, _)| event.as_str());
    let mut events = events.chain([event.as_ref()]).filter_map(git::find);
    if let Some((key, _)) = staged
        && !events.any(|event| event.changes == Changes::Index)
    {
        let cause = format!("`{key}` has no effect: `{event}` has no staged content");
        let cure =
            format!("bind the hook to commit.pre, merge.pre or patch.pre, or remove `{key}`");
        return Some(Complaint::with_cure(cause, cure));
    }
    let lists_files = spec.context.is_empty() || spec.carries("changes") || spec.has_action();
    if hook.takes_files() && !lists_files {
        let cause = format!("`{event}` has no files, so `{}` never runs", hook.name);
        let cure =
            "remove `files` or `{files}`, or bind the hook to commit.pre, push.pre or tool.post";
        return Some(Complaint::with_cure(cause, cure));
    }
    let mut of_files = [FIXES, ("batch", |hook: &Hook| hook.batch > 0)].into_iter();
    let (key, _) = of_files.find(|(_, is_set)| is_set(hook) && !hook.takes_files())?;
    let cause = format!("`{key}` has no effect without files");
    let cure = "write `{files}` in the command, set `files = true`, or remove the key";
    Some(Complaint::with_cure(cause, cure))
}

/// Reports a placeholder that no context of the event fills.
fn of_placeholder(spec: &EventSpec, field: &str) -> Option<Complaint> {
    let key = field.split('.').next().unwrap_or(field);
    if spec.context.is_empty() || spec.carries(key) || ALWAYS_THERE.contains(&key) {
        return None;
    }
    let event = &spec.name;
    let cause = format!("`{event}` has no key `{key}`, so `{{{field}}}` has no value");
    let keys = spec.context.iter().map(|key| key.name.as_ref());
    let cure = match complaint::nearest(key, keys.chain(PLACEHOLDERS.iter().copied())) {
        Some(nearest) => format!("did you mean `{{{nearest}}}`?"),
        None => format!(
            "write `{{command}}`, `{{program}}`, `{{path}}`, `{{tool}}` or a key that `hookrun events {event}` lists"
        ),
    };
    Some(Complaint::with_cure(cause, cure))
}

/// Reports a field that no context of the event has, so the hook would never run.
fn of_field(hook: &Hook, spec: &EventSpec, field: &str, at: Position) -> Option<Problem> {
    let file = &hook.source.file;
    let event = &spec.name;
    let (key, rest) = field.split_at(field.find('.').unwrap_or(field.len()));
    if spec.carries(key) || ALWAYS_THERE.contains(&key) {
        return None;
    }
    let name = &hook.name;
    let cause = format!("`{event}` has no key `{key}`, so this condition of `{name}` never holds");
    let known = spec.context.iter().map(|key| key.name.as_ref());
    Some(match complaint::nearest(key, known) {
        Some(nearest) => {
            let cure = format!("did you mean `where.{nearest}{rest}`?");
            Complaint::with_cure(cause, cure).in_file(file, Some(at))
        }
        None => {
            let cure = format!("`hookrun events {event}` lists its keys");
            Complaint::with_cure(cause, cure).warning(file, Some(at))
        }
    })
}

fn idle_settings(hook: &Hook, spec: &EventSpec) -> Vec<Complaint> {
    let name = &hook.name;
    let event = &spec.name;
    let mut found = Vec::new();
    let mut add = |cause: String, cure: &str| found.push(Complaint::with_cure(cause, cure));
    if hook.matcher.needs_command() && spec.has_action() && !spec.carries("toolName") {
        let cause = format!(
            "`{name}` matches command lines, but `{event}` has none, so the hook never runs"
        );
        add(cause, "match `path` instead, or bind the hook to tool.pre");
    }
    if hook.matcher.needs_action() && !spec.has_action() {
        let cause =
            format!("`{name}` matches an action, but `{event}` has none, so the hook never runs");
        let cure = "remove the tool, path and command matchers, or bind the hook to tool.pre";
        add(cause, cure);
    }
    if let Some((cause, cure)) = hook.matcher.never_meets() {
        add(format!("`{name}` {cause}"), cure);
    }
    if hook.on_failure == Some(OnFailure::Block) && !spec.blocks {
        let cause = format!("`on_failure = \"block\"` has no effect: `{event}` cannot be blocked");
        add(cause, "remove it");
    }
    if hook.rewrite && spec.rewrites.is_empty() {
        let cause =
            format!("`rewrite` has no effect: `{event}` has no fields that a hook may rewrite");
        add(cause, "remove it");
    }
    if hook.background == Background::Detach && hook.containment == Containment::Pidns {
        let cause = "`background = \"detach\"` has no effect with `containment = \"pidns\"`: \
                     no process outlives the hook";
        add(cause.to_string(), "remove one of them");
    }
    found
}
