//! Commands (`hooks.d/command/`, and `command.NAME` in `hookrun.toml`), and shadowing: of hooks
//! with the same key only the first runs.
//!
//! The nearest layer comes first (explicit, project, user, system); within a layer, drop-ins in
//! byte order, then the tables of `hookrun.toml`. A disabled hook shadows nothing, so a lower layer
//! cannot disable a higher one's hook.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;
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

/// Keeps one hook for each command, and warns about others in its layer.
pub(super) fn shadow_commands(hooks: &mut [Hook]) -> Vec<Problem> {
    let shadowed = shadow(hooks, |hook| command_name(&hook.event).map(str::to_string));
    let mut problems = Vec::new();
    for ShadowedHook { hook, by } in shadowed {
        if hooks[hook].source.layer == hooks[by].source.layer {
            let cure = "give one of them another name, or remove it";
            problems.push(shadow_warning(&hooks[hook], cure));
        }
    }
    problems
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShadowedHook {
    pub(super) hook: usize,
    pub(super) by: usize,
}

/// Makes every hook after the first with the same key idle; hooks without a key stay.
pub(super) fn shadow<K: Eq + Hash>(
    hooks: &mut [Hook],
    key: impl Fn(&Hook) -> Option<K>,
) -> Vec<ShadowedHook> {
    let keys: Vec<Option<K>> = hooks
        .iter()
        .map(|hook| key(hook).filter(|_| hook.enabled && hook.idle.is_none()))
        .collect();
    let mut first: HashMap<&K, usize> = HashMap::new();
    for (at, key) in keys.iter().enumerate() {
        let Some(key) = key else { continue };
        let winner = first.entry(key).or_insert(at);
        if hooks[at].source.layer > hooks[*winner].source.layer {
            *winner = at;
        }
    }
    let mut shadowed = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let Some(key) = key else { continue };
        let by = first[key];
        if by != at {
            shadowed.push(ShadowedHook { hook: at, by });
        }
    }
    for ShadowedHook { hook, by } in &shadowed {
        let source = &hooks[*by].source;
        let line = source
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let file = source.file.display();
        let layer = source.layer_text();
        hooks[*hook].idle = Some(format!("shadowed by {file}{line} ({layer})"));
    }
    shadowed
}

pub(super) fn shadow_warning(hook: &Hook, cure: &str) -> Problem {
    let why = hook.idle.as_deref().unwrap_or_default();
    let complaint = Complaint::with_cure(format!("`{}` never runs: {why}", hook.name), cure);
    let place = hook.source.line.map(Position::of_line);
    let problem = complaint.warning(&hook.source.file, place);
    Problem {
        events: vec![hook.event.clone()],
        ..problem
    }
}
