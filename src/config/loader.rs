//! Hooks are loaded: each file and table becomes a hook for each of its events, or a problem.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::draft::{BoundEvent, DraftTarget, HookDraft};
use super::manifest::{HookTable, Rejected};
use super::{ConfigScope, Position, Problem, Severity, commands, directive, discover, relative};
use crate::dialects::{Binding, DIALECTS, Dialect, tools};
use crate::engine::access;
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog::{Catalog, UnknownEvent, command};
use crate::engine::event::{EventSpec, OnFailure};
use crate::engine::hook::{Background, Containment, Handler, Hook, HookSource, LayerKind};
use crate::engine::spelling;

/// Keys that a context may have whatever its event declares.
const ALWAYS_THERE: &[&str] = &["event", "action", "raw", "cwd", "sessionId"];

/// Ends of the names of files that elsewhere do not run.
const PUT_ASIDE: &[&str] =
    &[".disabled", ".disable", ".off", ".old", ".sample", ".example", ".save", ".txt"];

/// What has been loaded so far.
pub(super) struct ConfigLoader<'l> {
    pub(super) catalog: &'l Catalog,
    /// Events whose declarations have mistakes, which is problem enough.
    pub(super) misdeclared: Vec<String>,
    pub(super) scope: ConfigScope<'l>,
    pub(super) hooks: Vec<Hook>,
    pub(super) problems: Vec<Problem>,
    /// Files of hooks that stand in no folder of an event, each with its canonical path.
    pub(super) seen: HashSet<PathBuf>,
}

impl ConfigLoader<'_> {
    pub(super) fn fault(&mut self, fault: Complaint, file: &Path, at: Option<Position>) {
        self.problems.push(fault.in_file(file, at));
    }

    /// Says of the problems from `first` on that they are about a hook of these events.
    fn about<'e>(&mut self, first: usize, events: impl Iterator<Item = &'e str>) {
        let events: Vec<String> = events.map(str::to_string).collect();
        for problem in &mut self.problems[first..] {
            problem.events.clone_from(&events);
        }
    }

    /// Tells of an unknown event, unless its declaration has a mistake of its own.
    fn unknown(&mut self, unknown: &UnknownEvent, file: &Path, at: Option<Position>) {
        if !self.meant_well(&unknown.name) {
            self.fault(unknown_event(unknown), file, at);
        }
    }

    /// Whether an event of this name is declared, with a mistake.
    fn meant_well(&self, name: &str) -> bool {
        self.misdeclared.iter().any(|event| event == name)
    }

    pub(super) fn is_in_scope(&self, spec: &EventSpec) -> bool {
        match self.scope {
            ConfigScope::All => true,
            ConfigScope::Event(name) => spec.is_called(name),
            ConfigScope::Events(names) => names.iter().any(|name| spec.name == name.as_str()),
        }
    }

    /// Whoever may write a folder of hooks decides what runs.
    pub(super) fn check_writers(&mut self, path: &Path) {
        if access::is_open_to_everyone(path) {
            let fault = Complaint::with_cure("everyone may write it", access::cure(path));
            self.fault(fault, path, None);
        }
    }

    /// Reads a `hooks.d`: a folder for each event.
    pub(super) fn drop_ins(&mut self, layer: LayerKind, root: &Path) {
        self.check_writers(root);
        let folders = match discover::entries(root) {
            Ok(folders) => folders,
            Err(error) => {
                let fault = Complaint::with_cure(
                    format!("cannot be read: {error}"),
                    "check its permissions",
                );
                return self.fault(fault, root, None);
            }
        };
        let mut files = Vec::new();
        for folder in folders {
            if !folder.is_folder {
                let cause = "is directly in hooks.d, where nothing runs it";
                let cure = "move it into the folder of its event, for example hooks.d/tool.pre/";
                self.fault(Complaint::with_cure(cause, cure), &folder.path, None);
                continue;
            }
            if discover::is_reserved(&folder.name) {
                continue;
            }
            if folder.name == commands::FOLDER {
                self.commands(layer, &folder.path);
                continue;
            }
            if let Some(name) = command::name_of(&folder.name) {
                let cure = format!("make it a file: hooks.d/{}/{name}", commands::FOLDER);
                let fault = Complaint::with_cure("a command is a file, not a folder", cure);
                self.fault(fault, &folder.path, None);
                continue;
            }
            match self.may_be_in_scope(&folder.name) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(mut unknown) => {
                    unknown.nearest = discover::nearest_reserved(&folder.name).or(unknown.nearest);
                    self.unknown(&unknown, &folder.path, None);
                    continue;
                }
            }
            self.check_writers(&folder.path);
            match discover::entries(&folder.path) {
                Ok(found) => {
                    files.extend(found.into_iter().map(|file| (file, folder.name.clone())));
                }
                Err(error) => {
                    let cause = format!("cannot be read: {error}");
                    self.fault(
                        Complaint::with_cure(cause, "check its permissions"),
                        &folder.path,
                        None,
                    );
                }
            }
        }
        // One event may have two folders, under its own name and under a host's.
        files.sort_by(|(a, _), (b, _)| a.name.as_bytes().cmp(b.name.as_bytes()));
        for (file, event) in files {
            self.drop_in(layer, file, &event);
        }
    }

    /// Whether `name` means an event in scope to hooks of any dialect.
    ///
    /// # Errors
    /// When it means nothing to any.
    fn may_be_in_scope(&self, name: &str) -> Result<bool, UnknownEvent> {
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
    ///
    /// # Errors
    /// When it means nothing to such a hook.
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

    /// Adds the hooks of a file.
    pub(super) fn drop_in(&mut self, layer: LayerKind, file: discover::DropIn, event: &str) {
        let first = self.problems.len();
        self.bind_file(layer, file, event);
        self.about(first, std::iter::once(event));
    }

    fn bind_file(&mut self, layer: LayerKind, file: discover::DropIn, event: &str) {
        if file.is_folder {
            let cure = "hooks are files; shared code belongs into hooks.d/lib/";
            let cause = format!("is a folder among the hooks of `{event}`");
            return self.fault(Complaint::with_cure(cause, cure), &file.path, None);
        }
        if let Some(end) = PUT_ASIDE.iter().find(|end| file.name.ends_with(**end)) {
            let cause = format!("it runs, although its name ends in `{end}`");
            let cure = "add `# hookrun: enabled=false` to keep it from running, or rename it";
            let problem = Complaint::with_cure(cause, cure).in_file(&file.path, None);
            self.problems.push(Problem { severity: Severity::Warning, ..problem });
        }
        let mut draft = HookDraft::default();
        match directive::read(&file.path, &mut draft) {
            Ok(head) => {
                self.settle_convention(&mut draft, event, &head, &file.path);
                self.problems.extend(head.problems);
            }
            // What cannot be opened can still be a program; starting it will tell.
            Err(error) => tracing::debug!(file = %file.path.display(), %error, "no directives"),
        }
        let source = HookSource { layer, file: file.path.clone(), line: None };
        let what =
            DraftTarget { name: file.name, handler: Handler::File(file.path.clone()), source };
        match self.meant(event, draft.dialect) {
            Ok(meant) => {
                for bound in meant {
                    if self.is_in_scope(&bound.spec) {
                        self.add(&draft, what.clone(), &bound);
                    }
                }
            }
            Err(fault) => self.fault(fault, &file.path, None),
        }
    }

    /// Finds the other mistakes of a hook that has some.
    pub(super) fn check(&mut self, file: &Path, rejected: &Rejected) {
        let before = self.problems.len();
        for (name, at) in &rejected.events {
            match self.meant(name, rejected.draft.dialect) {
                Err(fault) if !self.meant_well(name) => self.fault(fault, file, Some(*at)),
                Ok(_) | Err(_) => {}
            }
        }
        for (fault, at) in rejected.draft.matcher().err().into_iter().flatten() {
            self.fault(fault, file, at);
        }
        self.about(before, rejected.events.iter().map(|(name, _)| name.as_str()));
    }

    /// Adds the hooks of a table.
    pub(super) fn entry(&mut self, layer: LayerKind, file: &Path, entry: &HookTable) {
        let first = self.problems.len();
        self.bind(layer, file, entry);
        self.about(first, entry.events.iter().map(|(name, _)| name.as_str()));
    }

    fn bind(&mut self, layer: LayerKind, file: &Path, entry: &HookTable) {
        let mut bound: Vec<(String, &str)> = Vec::new();
        let mut anchored = None;
        for (name, at) in &entry.events {
            let meant = match self.meant(name, entry.draft.dialect) {
                Ok(meant) => meant,
                Err(_) if self.meant_well(name) => continue,
                Err(fault) => {
                    self.fault(fault, file, Some(*at));
                    continue;
                }
            };
            for event in meant {
                let canonical = event.spec.name.to_string();
                if let Some((_, first)) = bound.iter().find(|(event, _)| *event == canonical) {
                    let cause = format!("`{first}` and `{name}` are the same event");
                    self.fault(Complaint::with_cure(cause, "drop one of them"), file, Some(*at));
                    continue;
                }
                bound.push((canonical, name));
                if self.is_in_scope(&event.spec) {
                    let line = Some(entry.at.line);
                    let source = HookSource { layer, file: file.to_path_buf(), line };
                    let handler = anchored.get_or_insert_with(|| self.anchored(file, entry));
                    let (name, handler) = (entry.name.clone(), handler.clone());
                    self.add(&entry.draft, DraftTarget { name, handler, source }, &event);
                }
            }
        }
        // Hooks of other events are checked too: an error anywhere closes every gate.
        if !bound.iter().any(|(event, _)| self.is_named(event)) {
            for (fault, at) in entry.draft.check() {
                self.fault(fault, file, at);
            }
        }
    }

    /// What a table runs, its relative paths those of its file.
    fn anchored(&mut self, file: &Path, entry: &HookTable) -> Handler {
        let anchored = match &entry.handler {
            Handler::Words { words, base } if entry.is_anchored => relative::anchored(words, base)
                .map(|words| Handler::Words { words, base: base.clone() }),
            Handler::Shell(line) if entry.is_anchored => {
                relative::check_line(line).map(|()| entry.handler.clone())
            }
            Handler::Words { .. }
            | Handler::Shell(_)
            | Handler::File(_)
            | Handler::Function(_)
            | Handler::Elsewhere { .. } => Ok(entry.handler.clone()),
        };
        let handler = anchored.unwrap_or_else(|fault| {
            self.fault(fault, file, Some(entry.at));
            entry.handler.clone()
        });
        // Where an event is decided, the scripts of commands are not read first.
        if self.scope == ConfigScope::All && entry.is_anchored && !entry.draft.says_dialect {
            self.check_scripts(file, entry, &handler);
        }
        handler
    }

    /// Whether a canonical name is in scope.
    fn is_named(&self, event: &str) -> bool {
        self.catalog.find(event).is_ok_and(|spec| self.is_in_scope(&spec))
    }

    pub(super) fn add(&mut self, draft: &HookDraft, what: DraftTarget, event: &BoundEvent) {
        match draft.matcher() {
            Ok(matcher) => {
                let hook = draft.hook(what, event, matcher);
                self.check_fields(draft, &hook, &event.spec);
                self.warn(&hook, &event.spec);
                for (fault, at) in draft.doubts() {
                    let problem = fault.in_file(&hook.source.file, at);
                    self.problems.push(Problem { severity: Severity::Warning, ..problem });
                }
                self.hooks.push(hook);
            }
            Err(faults) => {
                for (fault, at) in faults {
                    self.fault(fault, &what.source.file, at);
                }
            }
        }
    }

    /// Finds matched fields that no context of the event has: such a hook never runs.
    fn check_fields(&mut self, draft: &HookDraft, hook: &Hook, spec: &EventSpec) {
        // Whoever declares no context tells nothing about it.
        if spec.context.is_empty() {
            return;
        }
        for (field, at) in draft.fields() {
            let (key, rest) = field.split_once('.').unwrap_or((field, ""));
            if key == "toolInput" {
                self.check_tool_key(hook, rest, at);
            }
            if spec.carries(key) || ALWAYS_THERE.contains(&key) {
                continue;
            }
            let known = spec.context.iter().map(|known| known.name.as_ref());
            let event = &spec.name;
            let cause = format!("`{event}` has no key `{key}`: `{}` can never run", hook.name);
            let at = at.or(hook.source.line.map(|line| Position { line, column: 1 }));
            match spelling::nearest(key, known) {
                Some(nearest) => {
                    let dot = if rest.is_empty() { "" } else { "." };
                    let cure = format!("did you mean `where.{nearest}{dot}{rest}`?");
                    self.fault(Complaint::with_cure(cause, cure), &hook.source.file, at);
                }
                None => {
                    let cure = format!("`hookrun events {event}` lists its keys");
                    let problem = Complaint::with_cure(cause, cure).in_file(&hook.source.file, at);
                    self.problems.push(Problem { severity: Severity::Warning, ..problem });
                }
            }
        }
    }

    /// Finds a slip of a key that tools of hosts have. A tool may have a key that nobody knows.
    fn check_tool_key(&mut self, hook: &Hook, path: &str, at: Option<Position>) {
        let (key, rest) =
            path.split_once('.').map_or((path, ""), |(key, _)| (key, &path[key.len()..]));
        let Some(meant) = tools::meant_key(key) else { return };
        // The tools of a server of one's own have keys of their own.
        if !tools::names().any(|name| hook.matcher.takes_tool(&[name])) {
            return;
        }
        let cause =
            format!("`{}` looks at the key `{key}`, which no host gives its tools", hook.name);
        let cure = format!("did you mean `where.toolInput.{meant}{rest}`?");
        let at = at.or(hook.source.line.map(|line| Position { line, column: 1 }));
        let problem = Complaint::with_cure(cause, cure).in_file(&hook.source.file, at);
        self.problems.push(Problem { severity: Severity::Warning, ..problem });
    }

    /// Finds settings that can have no effect.
    fn warn(&mut self, hook: &Hook, spec: &EventSpec) {
        let event = &spec.name;
        let mut causes = Vec::new();
        if hook.matcher.needs_command() && spec.has_action() && !spec.carries("toolName") {
            causes.push((
                format!(
                    "`{}` matches command lines, and `{event}` has none: it can never run",
                    hook.name
                ),
                "match paths, or bind it to tool.pre".to_string(),
            ));
        }
        if hook.matcher.needs_action() && !spec.has_action() {
            causes.push((
                format!(
                    "`{}` matches tools, and `{event}` carries none: it can never run",
                    hook.name
                ),
                "drop the tool, path and command matchers, or bind it to tool.pre".to_string(),
            ));
        }
        if let Some((cause, cure)) = hook.matcher.never_meets() {
            causes.push((format!("`{}`: {cause}", hook.name), cure.to_string()));
        }
        if hook.on_failure == Some(OnFailure::Block) && !spec.blocks {
            causes.push((
                format!("`on_failure = \"block\"` has no effect: `{event}` cannot be blocked"),
                "drop it".to_string(),
            ));
        }
        if hook.rewrite && spec.rewrites.is_empty() {
            causes.push((
                format!("`rewrite` has no effect: nothing of `{event}` can be rewritten"),
                "drop it".to_string(),
            ));
        }
        let is_closed = matches!(hook.containment, Containment::Cgroup | Containment::Pidns);
        if hook.background == Background::Detach && is_closed {
            let containment = hook.containment.name();
            causes.push((
                format!(
                    "`background = \"detach\"` has no effect with `containment = \"{containment}\"`: \
                     nothing leaves it alive"
                ),
                "drop one of them".to_string(),
            ));
        }
        for (cause, cure) in causes {
            let at = hook.source.line.map(|line| Position { line, column: 1 });
            let problem = Complaint::with_cure(cause, cure).in_file(&hook.source.file, at);
            self.problems.push(Problem { severity: Severity::Warning, ..problem });
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
                let at = hook.source.line.map(|line| Position { line, column: 1 });
                let cure = "give one of them another name: all of a folder's hooks.d, \
                            .hookrun/hooks.d and hookrun.toml count";
                let fault = Complaint::with_cure(cause, cure);
                let problem = fault.in_file(&hook.source.file, at);
                found.push(Problem { events: vec![hook.event.clone()], ..problem });
            }
        }
        self.problems.extend(found);
    }
}

fn unknown_event(unknown: &UnknownEvent) -> Complaint {
    if let Some(name) = command::name_of(&unknown.name) {
        return commands::bad_name(name);
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
