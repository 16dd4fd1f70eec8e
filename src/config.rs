//! All layers of configuration, and every problem found on the way.
//!
//! Reading never stops at the first problem, and never lets one pass: what cannot be read
//! keeps gates closed (see [`Config::refusal`]).

mod bounds;
mod directive;
pub mod discover;
mod draft;
pub mod env;
pub mod keys;
mod manifest;
pub mod problem;
pub mod words;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::event::catalog::{Catalog, UnknownEvent};
use crate::event::{EventSpec, OnFailure};
use crate::hook::{Background, Containment, Handler, Hook, LayerKind, Source};
pub use discover::{Choice, Layer};
use draft::{Draft, What};
pub use env::Environment;
use manifest::{Entry, Manifest, Rejected};
use problem::{Fault, Lines};
pub use problem::{Position, Problem, Severity};

/// How much of the configuration is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All of it.
    All,
    /// The hooks of one event. Files that could hold such hooks are read in full; the drop-ins
    /// of other events are not opened.
    Event(&'a str),
}

/// What all layers say together.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The events, those of one's own included.
    pub catalog: Catalog,
    /// The hooks: layer by layer, drop-ins in byte order before the order of `hookrun.toml`.
    pub hooks: Vec<Hook>,
    /// The layers, the system first.
    pub layers: Vec<Layer>,
    /// The project's root.
    pub project: PathBuf,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
}

impl Config {
    /// Reads the layers that `choice` asks for.
    pub fn load(choice: &Choice, env: &Environment, scope: Scope<'_>) -> Config {
        let (layers, mut problems) = discover::find_layers(choice, env);
        let mut manifests: Vec<Vec<(PathBuf, Manifest)>> = Vec::new();
        for layer in &layers {
            let read = layer.manifests.iter().map(|file| read_manifest(file, &mut problems));
            manifests.push(read.collect());
        }
        let catalog = own_events(&manifests, &mut problems);
        let meant = manifests.iter().flatten();
        let meant = meant.flat_map(|(_, manifest)| manifest.rejected_events.clone()).collect();
        let mut loader = Loader { catalog: &catalog, meant, scope, hooks: Vec::new(), problems };
        for (layer, manifests) in layers.iter().zip(&manifests) {
            let first = loader.hooks.len();
            for place in layer.places() {
                loader.check_writers(place);
            }
            for folder in &layer.drop_ins {
                loader.drop_ins(layer.kind, folder);
            }
            for (file, manifest) in manifests {
                loader.check_writers(file);
                for entry in &manifest.hooks {
                    loader.entry(layer.kind, file, entry);
                }
                for rejected in &manifest.rejected {
                    loader.check(file, rejected);
                }
            }
            loader.find_duplicates(first);
        }
        let (hooks, problems) = (loader.hooks, in_order(loader.problems));
        let found = layers.iter().find(|layer| layer.kind == LayerKind::Project);
        let project = found.map_or_else(|| discover::project_root(&env.cwd), |l| l.folder.clone());
        Config { hooks, layers, project, problems, catalog }
    }

    /// Whether anything is wrong that keeps gates closed.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// Why gates are refused: a hook that cannot be read may be the one that would refuse.
    /// `None` without errors.
    pub fn refusal(&self) -> Option<String> {
        Some(format!("nothing is allowed while {}", self.complaint()?))
    }

    /// That the configuration has errors, and the first of them. `None` without errors.
    pub fn complaint(&self) -> Option<String> {
        let errors: Vec<&Problem> =
            self.problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        let first = errors.first()?;
        let more = match errors.len() - 1 {
            0 => String::new(),
            1 => " (and 1 more error)".to_string(),
            count => format!(" (and {count} more errors)"),
        };
        Some(format!(
            "the hooks are not in order: {}: {}{more}; `hookrun validate` shows what to mend",
            first.place(),
            first.cause
        ))
    }
}

/// Problems file by file as they were read, each file's in the order of its lines, each once: a
/// hook of two events has its own twice.
fn in_order(problems: Vec<Problem>) -> Vec<Problem> {
    let mut files: HashMap<PathBuf, usize> = HashMap::new();
    let mut numbered = Vec::with_capacity(problems.len());
    for problem in problems {
        let next = files.len();
        let number = *files.entry(problem.file.clone()).or_insert(next);
        numbered.push((number, problem));
    }
    numbered.sort_by_key(|(number, one)| (*number, one.at.map(|at| (at.line, at.column))));
    numbered.dedup();
    numbered.into_iter().map(|(_, problem)| problem).collect()
}

/// Reads a file. A pipe, which nobody may ever write to, is not waited for.
fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    let meta = file.metadata()?;
    // Reading a folder fails at once, in the system's own words.
    if meta.is_file() || meta.is_dir() {
        return fs::read(file);
    }
    Err(io::Error::other("it is not a file"))
}

fn read_manifest(file: &Path, problems: &mut Vec<Problem>) -> (PathBuf, Manifest) {
    let bytes = match read_file(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            let fault =
                Fault::new(format!("cannot be read: {error}"), "make it a file that may be read");
            problems.push(fault.in_file(file, None));
            return (file.to_path_buf(), Manifest::default());
        }
    };
    let (manifest, found) = match String::from_utf8(bytes) {
        Ok(text) => manifest::read(&text, file),
        Err(error) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let at = Lines::of(&text).position(error.utf8_error().valid_up_to());
            let fault = Fault::new("is not UTF-8", "save it as UTF-8");
            (Manifest::default(), vec![fault.in_file(file, Some(at))])
        }
    };
    problems.extend(found);
    (file.to_path_buf(), manifest)
}

/// The catalog with the events that the manifests declare. Two declarations of one event must
/// say the same.
fn own_events(manifests: &[Vec<(PathBuf, Manifest)>], problems: &mut Vec<Problem>) -> Catalog {
    let mut own: Vec<EventSpec> = Vec::new();
    for (file, manifest) in manifests.iter().flatten() {
        for (spec, at) in &manifest.events {
            match own.iter().find(|known| known.name.eq_ignore_ascii_case(&spec.name)) {
                None => own.push(spec.clone()),
                Some(known) if known == spec => {}
                Some(_) => {
                    let cause = format!("`{}` is declared elsewhere with other rules", spec.name);
                    let fault = Fault::new(cause, "make the declarations the same, or drop one");
                    problems.push(fault.in_file(file, Some(*at)));
                }
            }
        }
    }
    Catalog::with(own)
}

struct Loader<'l> {
    catalog: &'l Catalog,
    /// Events whose declarations have mistakes, which is problem enough.
    meant: Vec<String>,
    scope: Scope<'l>,
    hooks: Vec<Hook>,
    problems: Vec<Problem>,
}

impl Loader<'_> {
    fn fault(&mut self, fault: Fault, file: &Path, at: Option<Position>) {
        self.problems.push(fault.in_file(file, at));
    }

    /// Tells of an unknown event, unless its declaration has a mistake of its own.
    fn unknown(&mut self, unknown: &UnknownEvent, file: &Path, at: Option<Position>) {
        if !self.meant.contains(&unknown.name) {
            self.fault(unknown_event(unknown), file, at);
        }
    }

    fn is_in_scope(&self, spec: &EventSpec) -> bool {
        match self.scope {
            Scope::All => true,
            Scope::Event(name) => spec.is_called(name),
        }
    }

    /// Whoever may write a folder of hooks decides what runs.
    fn check_writers(&mut self, path: &Path) {
        if discover::is_open_to_everyone(path) {
            let cure = format!("run `chmod o-w {}`", shell_words::quote(&path.to_string_lossy()));
            self.fault(Fault::new("everyone may write it", cure), path, None);
        }
    }

    /// Reads a `hooks.d`: a folder for each event.
    fn drop_ins(&mut self, layer: LayerKind, root: &Path) {
        self.check_writers(root);
        let folders = match discover::entries(root) {
            Ok(folders) => folders,
            Err(error) => {
                let fault = Fault::new(format!("cannot be read: {error}"), "check its permissions");
                return self.fault(fault, root, None);
            }
        };
        let mut files = Vec::new();
        for folder in folders {
            if !folder.is_folder {
                let cause = "stands directly in hooks.d, where nothing runs it";
                let cure = "move it into the folder of its event, for example hooks.d/tool.pre/";
                self.fault(Fault::new(cause, cure), &folder.path, None);
                continue;
            }
            if discover::is_reserved(&folder.name) {
                continue;
            }
            let spec = match self.catalog.find(&folder.name) {
                Ok(spec) => spec,
                Err(unknown) => {
                    self.unknown(&unknown, &folder.path, None);
                    continue;
                }
            };
            if !self.is_in_scope(&spec) {
                continue;
            }
            self.check_writers(&folder.path);
            match discover::entries(&folder.path) {
                Ok(found) => files.extend(found.into_iter().map(|file| (file, spec.clone()))),
                Err(error) => {
                    let cause = format!("cannot be read: {error}");
                    self.fault(Fault::new(cause, "check its permissions"), &folder.path, None);
                }
            }
        }
        // One event may have two folders, under its own name and under a host's.
        files.sort_by(|(a, _), (b, _)| a.name.as_bytes().cmp(b.name.as_bytes()));
        for (file, spec) in files {
            self.drop_in(layer, file, &spec);
        }
    }

    fn drop_in(&mut self, layer: LayerKind, file: discover::DropIn, spec: &EventSpec) {
        if file.is_folder {
            let cure = "hooks are files; shared code belongs into hooks.d/lib/";
            let cause = format!("is a folder among the hooks of `{}`", spec.name);
            return self.fault(Fault::new(cause, cure), &file.path, None);
        }
        let mut draft = Draft::default();
        match directive::read(&file.path, &mut draft) {
            Ok(found) => self.problems.extend(found),
            // What cannot be opened can still be a program; starting it will tell.
            Err(error) => tracing::debug!(file = %file.path.display(), %error, "no directives"),
        }
        let source = Source { layer, file: file.path.clone(), line: None };
        let what = What { name: file.name, handler: Handler::File(file.path), source };
        self.add(&draft, what, spec);
    }

    /// Finds the other mistakes of a hook that has some.
    fn check(&mut self, file: &Path, rejected: &Rejected) {
        for (name, at) in &rejected.events {
            if let Err(unknown) = self.catalog.find(name) {
                self.unknown(&unknown, file, Some(*at));
            }
        }
        for (fault, at) in rejected.draft.matcher().err().into_iter().flatten() {
            self.fault(fault, file, at);
        }
    }

    fn entry(&mut self, layer: LayerKind, file: &Path, entry: &Entry) {
        let mut bound: Vec<(String, &str)> = Vec::new();
        for (name, at) in &entry.events {
            let spec = match self.catalog.find(name) {
                Ok(spec) => spec,
                Err(unknown) => {
                    self.unknown(&unknown, file, Some(*at));
                    continue;
                }
            };
            if let Some((_, first)) = bound.iter().find(|(event, _)| *event == spec.name) {
                let cause = format!("`{first}` and `{name}` are the same event");
                self.fault(Fault::new(cause, "drop one of them"), file, Some(*at));
                continue;
            }
            bound.push((spec.name.to_string(), name));
            if self.is_in_scope(&spec) {
                let source = Source { layer, file: file.to_path_buf(), line: Some(entry.at.line) };
                let (name, handler) = (entry.name.clone(), entry.handler.clone());
                self.add(&entry.draft, What { name, handler, source }, &spec);
            }
        }
        // Hooks of other events are checked too: an error anywhere closes every gate.
        if !bound.iter().any(|(event, _)| self.is_named(event)) {
            for (fault, at) in entry.draft.check() {
                self.fault(fault, file, at);
            }
        }
    }

    /// Whether a canonical name is in scope.
    fn is_named(&self, event: &str) -> bool {
        self.catalog.find(event).is_ok_and(|spec| self.is_in_scope(&spec))
    }

    fn add(&mut self, draft: &Draft, what: What, spec: &EventSpec) {
        match draft.matcher() {
            Ok(matcher) => {
                let hook = draft.hook(what, &spec.name, matcher);
                self.warn(&hook, spec);
                self.hooks.push(hook);
            }
            Err(faults) => {
                for (fault, at) in faults {
                    self.fault(fault, &what.source.file, at);
                }
            }
        }
    }

    /// Finds settings that can have no effect.
    fn warn(&mut self, hook: &Hook, spec: &EventSpec) {
        let event = &spec.name;
        let mut causes = Vec::new();
        if hook.matcher.needs_action() && !spec.carries("toolName") {
            causes.push((
                format!(
                    "`{}` matches tools, and `{event}` carries none: it can never run",
                    hook.name
                ),
                "drop the tool, path and command matchers, or bind it to tool.pre".to_string(),
            ));
        }
        if hook.on_failure == Some(OnFailure::Block) && !spec.blocks {
            causes.push((
                format!("`on_failure = \"block\"` has no effect: `{event}` cannot be refused"),
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
            let problem = Fault::new(cause, cure).in_file(&hook.source.file, at);
            self.problems.push(Problem { severity: Severity::Warning, ..problem });
        }
    }

    /// Two hooks of one event and layer, whose hooks begin at `first`, may not share a name:
    /// reasons and logs name hooks.
    fn find_duplicates(&mut self, first: usize) {
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
                let fault = Fault::new(cause, "give one of them another name");
                found.push(fault.in_file(&hook.source.file, at));
            }
        }
        self.problems.extend(found);
    }
}

fn unknown_event(unknown: &UnknownEvent) -> Fault {
    let cause = format!("unknown event `{}`", unknown.name);
    match &unknown.nearest {
        Some(nearest) => Fault::new(cause, format!("did you mean `{nearest}`?")),
        None => Fault::new(
            cause,
            "`hookrun events` lists them; declare your own with [event.\"name\"] in hookrun.toml",
        ),
    }
}
