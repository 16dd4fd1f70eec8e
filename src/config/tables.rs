//! Loads the tables of a `hookrun.toml` and the hooks of a host's settings.

use std::path::Path;

use super::draft::HookDraft;
use super::loader::{ConfigLoader, ConfigScope};
use super::manifest::{HookTable, Manifest};
use super::{convention, relative};
use crate::engine::complaint::Complaint;
use crate::engine::hook::{Handler, HookSource, LayerKind};

pub(super) fn load(
    loader: &mut ConfigLoader<'_>,
    layer: LayerKind,
    file: &Path,
    manifest: &Manifest,
) {
    for table in &manifest.hooks {
        let first = loader.problems.len();
        bind(loader, layer, file, table);
        loader.about(
            first,
            table.draft.events().iter().map(|(name, _)| name.as_str()),
        );
    }
    for rejected in &manifest.rejected {
        check(loader, file, rejected);
    }
}

/// Finds the other mistakes of a hook that has some.
fn check(loader: &mut ConfigLoader<'_>, file: &Path, rejected: &HookDraft) {
    let first = loader.problems.len();
    for (name, at) in rejected.events() {
        match loader.meant_by(name, rejected) {
            Err(complaint) if !loader.is_misdeclared(name) => {
                loader.complain(complaint, file, Some(*at));
            }
            Ok(_) | Err(_) => {}
        }
    }
    for (fault, at) in rejected.matcher().err().into_iter().flatten() {
        loader.complain(fault, file, Some(at));
    }
    loader.about(
        first,
        rejected.events().iter().map(|(name, _)| name.as_str()),
    );
}

fn bind(loader: &mut ConfigLoader<'_>, layer: LayerKind, file: &Path, table: &HookTable) {
    let mut bound: Vec<(String, &str)> = Vec::new();
    let mut anchored: Option<HookDraft> = None;
    for (name, at) in table.draft.events() {
        let meant = match loader.meant_by(name, &table.draft) {
            Ok(meant) => meant,
            Err(_) if loader.is_misdeclared(name) => continue,
            Err(complaint) => {
                loader.complain(complaint, file, Some(*at));
                continue;
            }
        };
        for event in meant {
            let canonical = event.spec.name.to_string();
            if let Some((_, first)) = bound.iter().find(|(event, _)| *event == canonical) {
                let cause = format!("`{first}` and `{name}` are the same event");
                let complaint = Complaint::with_cure(cause, "drop one of them");
                loader.complain(complaint, file, Some(*at));
                continue;
            }
            bound.push((canonical, name));
            if loader.is_in_scope(&event.spec) {
                let draft = anchored.get_or_insert_with(|| {
                    let mut draft = table.draft.clone();
                    draft.hook.handler = handler(loader, file, table);
                    let (file, line) = (file.to_path_buf(), Some(table.at.line));
                    draft.hook.source = HookSource {
                        layer,
                        file,
                        line,
                        set: None,
                    };
                    draft
                });
                loader.add(draft, &event);
            }
        }
    }
    // Hooks of other events are checked too: an error anywhere closes every gate.
    if !bound.iter().any(|(event, _)| loader.is_named(event)) {
        for (fault, at) in table.draft.check() {
            loader.complain(fault, file, Some(at));
        }
    }
}

/// What a table runs, its relative paths those of its file.
fn handler(loader: &mut ConfigLoader<'_>, file: &Path, table: &HookTable) -> Handler {
    let HookTable {
        draft,
        at,
        is_anchored,
    } = table;
    let written = &draft.hook.handler;
    let anchored = match written {
        Handler::Words { words, base } if *is_anchored => {
            relative::anchored(words, base).map(|words| Handler::Words {
                words,
                base: base.clone(),
            })
        }
        Handler::Shell(line) if *is_anchored => {
            relative::check_line(line).map(|()| written.clone())
        }
        Handler::Words { .. }
        | Handler::Shell(_)
        | Handler::File(_)
        | Handler::Function(_)
        | Handler::Rule(_) => Ok(written.clone()),
    };
    let handler = anchored.unwrap_or_else(|complaint| {
        loader.complain(complaint, file, Some(*at));
        written.clone()
    });
    // When an event is decided, the scripts of commands are not read first.
    if loader.scope == ConfigScope::All && *is_anchored && !draft.says_dialect {
        convention::check_scripts(loader, file, table, &handler);
    }
    handler
}
