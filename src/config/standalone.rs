//! Hooks outside the folders of events: flat folders of other systems, and single files.
//!
//! The script names its event itself: `# hookrun: event=tool_call`. What is there and cannot be a
//! hook of ours is named in a note, so that it is not passed over in silence.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use super::directive;
use super::draft::HookDraft;
use super::layer::{DropIn, StandaloneOrigin, StandaloneScript};
use super::loader::ConfigLoader;
use super::problem::{Problem, Severity};
use crate::engine::complaint::Complaint;
use crate::engine::hook::{Handler, Hook, HookSource, LayerKind};
use crate::hosts::{self, Host};

pub(super) fn load(loader: &mut ConfigLoader<'_>, layer: LayerKind, loose: &StandaloneScript) {
    if !loose.path.is_dir() {
        let name = loose
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let file = DropIn {
            path: loose.path.clone(),
            name,
            is_folder: false,
        };
        return load_file(loader, layer, file, loose);
    }
    loader.check_writers(&loose.path);
    // Folders hold what the system's own modules need; it looks into none of them.
    for file in loader
        .entries(&loose.path)
        .into_iter()
        .filter(|file| !file.is_folder)
    {
        load_file(loader, layer, file, loose);
    }
}

fn load_file(
    loader: &mut ConfigLoader<'_>,
    layer: LayerKind,
    file: DropIn,
    loose: &StandaloneScript,
) {
    let DropIn { path, name, .. } = file;
    // A file that is named and found anyway does not run twice.
    if path
        .canonicalize()
        .is_ok_and(|path| !loader.seen.insert(path))
    {
        return;
    }
    if let Some(host) = loose.host.filter(|host| host.is_module(&name)) {
        let host = host.dialect;
        let cause = format!("is a module of {host}'s own, which only {host} can load");
        let cure = format!("leave it to {host}, or write it as a program");
        let problem = Complaint::with_cure(cause, cure).in_file(&path, None);
        let severity = match loose.origin {
            StandaloneOrigin::Folder | StandaloneOrigin::Listed => Severity::Note,
            StandaloneOrigin::Named => Severity::Error,
        };
        return loader.problems.push(Problem {
            severity,
            ..problem
        });
    }
    let dialect = loose.host.and_then(|host| hosts::find(host.dialect));
    let mut draft = HookDraft::default();
    (draft.dialect, draft.events) = (dialect, Some(Vec::new()));
    match directive::read(&path, &mut draft) {
        Ok(head) => loader.problems.extend(head.problems),
        // A file that cannot be opened can still be a program; it cannot name its event.
        Err(error) => tracing::debug!(file = %path.display(), %error, "no directives"),
    }
    if draft.events().is_empty() {
        return loader
            .problems
            .push(eventless(&path, dialect, loose.origin));
    }
    draft.hook.name = name;
    draft.hook.handler = Handler::File(path.clone());
    draft.hook.source = HookSource {
        layer,
        file: path,
        line: None,
        set: None,
    };
    bind(loader, &draft);
}

fn bind(loader: &mut ConfigLoader<'_>, draft: &HookDraft) {
    let mut bound: Vec<String> = Vec::new();
    for (name, at) in draft.events() {
        match loader.meant(name, draft.dialect) {
            Ok(meant) => {
                for event in meant {
                    let canonical = event.spec.name.to_string();
                    let is_new = !bound.contains(&canonical);
                    bound.push(canonical);
                    if is_new && loader.is_in_scope(&event.spec) {
                        loader.add(draft, &event);
                    }
                }
            }
            Err(complaint) => loader.complain(complaint, &draft.hook.source.file, Some(*at)),
        }
    }
}

fn eventless(file: &Path, dialect: Option<&'static Host>, origin: StandaloneOrigin) -> Problem {
    let is_program = file
        .metadata()
        .map(|meta| meta.permissions().mode() & 0o111 != 0);
    let example = dialect.and_then(|dialect| dialect.events.iter().find(|row| row.blocks));
    let example = example.map_or("tool.pre", |row| row.name);
    let cure = format!("name it in the leading comments: `# hookrun: event={example}`");
    if matches!(is_program, Ok(false)) && origin == StandaloneOrigin::Folder {
        let cause = "names no event and is not executable, so it is no hook";
        let problem = Complaint::with_cure(cause, format!("to make it one, {cure}"));
        return Problem {
            severity: Severity::Note,
            ..problem.in_file(file, None)
        };
    }
    Complaint::with_cure("does not say which event it is for", cure).in_file(file, None)
}

/// Limits the hooks of a dialect that do not say themselves how long they may run. If its
/// rules let a hook run as long as it likes, it still may.
pub(super) fn limit(hooks: &mut [Hook], dialect: &str, timeout: Duration) {
    for hook in hooks {
        let own = hook
            .convention
            .as_ref()
            .filter(|own| own.system() == dialect);
        let is_limited = own.is_some_and(|own| own.timeout() != Some(Duration::MAX));
        if is_limited && hook.limits.timeout.is_none() {
            hook.limits.timeout = Some(timeout);
        }
    }
}
