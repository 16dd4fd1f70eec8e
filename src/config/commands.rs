//! Commands (hooks in `hooks.d/command/`, and hooks of `command.NAME` in `hookrun.toml`): of several
//! with one name the first one runs, and the others never do.
//!
//! The nearest layer comes first (explicit, project, user, system); within a layer, drop-ins in
//! byte order, then the tables of `hookrun.toml`. A disabled hook shadows nothing, so a lower layer
//! cannot disable a higher one's hook.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::directive;
use super::draft::HookDraft;
use super::layer::{self, DropIn, Layer};
use super::loader::ConfigScope;
use super::manifest::Manifest;
use super::problem::{Position, Problem};
use crate::engine::complaint::Complaint;
use crate::engine::event::EventSpec;
use crate::engine::event::catalog::{command_event, command_name, is_command_name};
use crate::engine::hook::Hook;

pub const FOLDER: &str = "command";

pub(super) fn find_events(
    layers: &[Layer],
    manifests: &[Vec<(PathBuf, Manifest)>],
    scope: ConfigScope<'_>,
) -> Vec<EventSpec> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut add = |name: &str, describe: &dyn Fn() -> HookDraft| {
        if !is_command_name(name) {
            return;
        }
        let at = found
            .iter()
            .position(|(known, _)| known.eq_ignore_ascii_case(name));
        let at = at.unwrap_or_else(|| {
            found.push((name.to_string(), None));
            found.len() - 1
        });
        if found[at].1.is_none() && is_asked(scope, name) {
            let draft = describe();
            found[at].1 = draft.hook.description.filter(|_| draft.hook.enabled);
        }
    };
    let mut nearest: Vec<_> = layers.iter().zip(manifests).collect();
    nearest.sort_by_key(|(layer, _)| Reverse(layer.kind));
    for (layer, manifests) in nearest {
        for root in &layer.drop_ins {
            for file in layer::entries(&root.join(FOLDER)).unwrap_or_default() {
                let describe = || {
                    let mut draft = HookDraft::default();
                    let _ = directive::read(&file.path, &mut draft);
                    draft
                };
                add(command_of(&file).unwrap_or_default(), &describe);
            }
        }
        for (_, manifest) in manifests {
            let hooks = manifest.hooks.iter().map(|table| &table.draft);
            for draft in hooks.chain(&manifest.rejected) {
                let events = draft.events().iter();
                for name in events.filter_map(|(event, _)| command_name(event)) {
                    add(name, &|| draft.clone());
                }
            }
        }
    }
    found
        .iter()
        .map(|(name, about)| command_event(name, about.as_deref()))
        .collect()
}

/// Whether the command's summary is needed; finding it requires opening the file.
pub(super) fn is_asked(scope: ConfigScope<'_>, name: &str) -> bool {
    scope == ConfigScope::Event("")
        || scope
            .has(|event| command_name(event).is_some_and(|asked| asked.eq_ignore_ascii_case(name)))
}

/// The command's name: the file's name without extension.
pub(super) fn command_of(file: &DropIn) -> Option<&str> {
    let name = Path::new(&file.name).file_stem()?.to_str()?;
    (!file.is_folder).then_some(name)
}

/// Lets one hook answer each command: the others are idle. One that is hidden by another of its own
/// layer is probably a mistake.
pub(super) fn shadow(hooks: &mut [Hook]) -> Vec<Problem> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut problems = Vec::new();
    let mut nearest: Vec<usize> = (0..hooks.len()).collect();
    nearest.sort_by_key(|at| Reverse(hooks[*at].source.layer));
    for at in nearest {
        let hook = &hooks[at];
        let Some(name) = command_name(&hook.event).filter(|_| hook.is_on()) else {
            continue;
        };
        let by = *first.entry(name.to_string()).or_insert(at);
        if by == at {
            continue;
        }
        let source = &hooks[by].source;
        let line = source
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let file = source.file.display();
        let why = format!("shadowed by {file}{line} ({})", source.layer_text());
        if hook.source.layer == source.layer {
            let cause = format!("`{}` never runs: {why}", hook.name);
            let cure = "give one of them another name, or remove it";
            let place = hook.source.line.map(Position::of_line);
            let problem = Complaint::with_cure(cause, cure).warning(&hook.source.file, place);
            problems.push(Problem {
                events: vec![hook.event.clone()],
                ..problem
            });
        }
        hooks[at].idle = Some(why);
    }
    problems
}
