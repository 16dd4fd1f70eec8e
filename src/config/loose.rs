//! Hooks that stand in no folder of an event: flat folders of other systems, and single files.
//!
//! The script says its event itself: `# hookrun: event=tool_call`. What is there and cannot be a
//! hook of ours is named in a note, never passed over in silence.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::discover::{self, DropIn};
use super::draft::{DraftTarget, HookDraft};
use super::loader::ConfigLoader;
use super::problem::{Position, Problem, Severity};
use super::{LayerKind, directive};
use crate::dialects::folders::SystemFolders;
use crate::dialects::{self, Dialect};
use crate::engine::complaint::Complaint;
use crate::engine::hook::{Handler, HookSource};

/// A flat folder, or a single file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// The folder or file.
    pub path: PathBuf,
    /// The system whose hooks are kept so; `None` for hookrun's own.
    pub host: Option<&'static SystemFolders>,
    /// How it came here.
    pub origin: LooseOrigin,
}

/// How a file or folder of such hooks came here: what of it must be a hook of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LooseOrigin {
    /// It is a system's folder, which holds other things too.
    Folder,
    /// The system's own settings name the file: it is a hook, but may be a module.
    Listed,
    /// Somebody wants just this file to run.
    Named,
}

impl ConfigLoader<'_> {
    pub(super) fn loose(&mut self, layer: LayerKind, loose: &Loose) {
        if !loose.path.is_dir() {
            let name = loose.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let file = DropIn { path: loose.path.clone(), name, is_folder: false };
            return self.loose_file(layer, file, loose);
        }
        self.check_writers(&loose.path);
        match discover::entries(&loose.path) {
            // Folders hold what the system's own modules need; it looks into none of them.
            Ok(found) => found
                .into_iter()
                .filter(|file| !file.is_folder)
                .for_each(|file| self.loose_file(layer, file, loose)),
            Err(error) => {
                let fault = Complaint::with_cure(
                    format!("cannot be read: {error}"),
                    "check its permissions",
                );
                self.fault(fault, &loose.path, None);
            }
        }
    }

    fn loose_file(&mut self, layer: LayerKind, file: DropIn, loose: &Loose) {
        // Who names a file that is found anyway does not want it to run twice.
        let is_new = match file.path.canonicalize() {
            Ok(path) => self.seen.insert(path),
            Err(_) => true,
        };
        if !is_new {
            return;
        }
        if let Some(host) = loose.host.filter(|host| host.is_module(&file.name)) {
            let name = host.dialect;
            let cause = format!("is a module of {name}'s own, which only {name} can load");
            let cure = format!("leave it to {name}, or write it as a program");
            let fault = Complaint::with_cure(cause, cure);
            return match loose.origin {
                LooseOrigin::Folder | LooseOrigin::Listed => self.note(fault, &file.path),
                LooseOrigin::Named => self.fault(fault, &file.path, None),
            };
        }
        let dialect = loose.host.and_then(|host| dialects::find(host.dialect));
        let mut draft = HookDraft::default();
        (draft.dialect, draft.events) = (dialect, Some(Vec::new()));
        match directive::read(&file.path, &mut draft) {
            Ok(head) => self.problems.extend(head.problems),
            // What cannot be opened can still be a program; it cannot say its event.
            Err(error) => tracing::debug!(file = %file.path.display(), %error, "no directives"),
        }
        let events = draft.events.take().unwrap_or_default();
        if events.is_empty() {
            return self.eventless(&file.path, dialect, loose.origin);
        }
        let source = HookSource { layer, file: file.path.clone(), line: None };
        let what =
            DraftTarget { name: file.name, handler: Handler::File(file.path.clone()), source };
        self.bind_loose(&draft, &what, &events);
    }

    /// Limits the hooks of a dialect that do not say themselves how long they may run. Where its
    /// rules let a hook run for as long as it likes, it still may.
    pub(super) fn limit(&mut self, dialect: &str, timeout: Duration) {
        for hook in &mut self.hooks {
            let own = hook.convention.as_ref().filter(|own| own.system() == dialect);
            let is_limited = own.is_some_and(|own| own.timeout() != Some(Duration::MAX));
            if is_limited && hook.limits.timeout.is_none() {
                hook.limits.timeout = Some(timeout);
            }
        }
    }

    /// Binds a hook to the events that its script names.
    fn bind_loose(&mut self, draft: &HookDraft, what: &DraftTarget, events: &[(String, Position)]) {
        let mut bound: Vec<String> = Vec::new();
        for (name, at) in events {
            match self.meant(name, draft.dialect) {
                Ok(meant) => {
                    for event in meant {
                        let canonical = event.spec.name.to_string();
                        let is_new = !bound.contains(&canonical);
                        bound.push(canonical);
                        if is_new && self.is_in_scope(&event.spec) {
                            self.add(draft, what.clone(), &event);
                        }
                    }
                }
                Err(fault) => self.fault(fault, &what.source.file, Some(*at)),
            }
        }
    }

    /// A file that names no event: a program that nobody would ask, or something else.
    fn eventless(&mut self, file: &Path, dialect: Option<&'static Dialect>, origin: LooseOrigin) {
        let is_program = file.metadata().map(|meta| meta.permissions().mode() & 0o111 != 0);
        let example = dialect.and_then(|dialect| dialect.events.iter().find(|row| row.blocks));
        let example = example.map_or("tool.pre", |row| row.name);
        let cure = format!("name it in the leading comments: `# hookrun: event={example}`");
        match is_program {
            Ok(false) if origin == LooseOrigin::Folder => {
                let cause = "names no event and is not executable, so it is no hook";
                self.note(Complaint::with_cure(cause, format!("to make it one, {cure}")), file);
            }
            Ok(_) | Err(_) => {
                self.fault(
                    Complaint::with_cure("does not say which event it is for", cure),
                    file,
                    None,
                );
            }
        }
    }

    fn note(&mut self, fault: Complaint, file: &Path) {
        let problem = Problem { severity: Severity::Note, ..fault.in_file(file, None) };
        self.problems.push(problem);
    }
}
