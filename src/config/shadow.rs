//! Shadowing: of several hooks with one key the first one runs, and the others never do.
//!
//! The nearest layer goes first (explicit, project, user, system), and in a layer what is read
//! first. A hook that does not run anyway shadows nothing: a lower layer cannot switch off a
//! higher one's hook by a hook that is switched off.

use std::collections::HashMap;
use std::hash::Hash;

use super::problem::{Position, Problem};
use crate::engine::complaint::Complaint;
use crate::engine::hook::Hook;

/// A hook that is shadowed, and the one that shadows it, by their places in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShadowedHook {
    pub(super) hook: usize,
    pub(super) by: usize,
}

/// Makes all hooks of a key idle but the first; those without a key are left alone.
pub(super) fn shadow<K: Eq + Hash>(
    hooks: &mut [Hook],
    key: impl Fn(&Hook) -> Option<K>,
) -> Vec<ShadowedHook> {
    let runs = |hook: &Hook| hook.enabled && hook.idle.is_none();
    let keys: Vec<Option<K>> = hooks
        .iter()
        .map(|hook| key(hook).filter(|_| runs(hook)))
        .collect();
    let mut first: HashMap<&K, usize> = HashMap::new();
    for (at, key) in keys.iter().enumerate() {
        let Some(key) = key else { continue };
        let winner = first.entry(key).or_insert(at);
        if hooks[at].source.layer > hooks[*winner].source.layer {
            *winner = at;
        }
    }
    let by = |(at, key): (usize, &Option<K>)| {
        let by = *first.get(key.as_ref()?)?;
        (by != at).then_some(ShadowedHook { hook: at, by })
    };
    let shadowed: Vec<ShadowedHook> = keys.iter().enumerate().filter_map(by).collect();
    for ShadowedHook { hook, by } in &shadowed {
        let source = &hooks[*by].source;
        let line = source
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let (file, layer) = (source.file.display(), source.layer_text());
        hooks[*hook].idle = Some(format!("shadowed by {file}{line} ({layer})"));
    }
    shadowed
}

pub(super) fn warning(hook: &Hook, cure: &str) -> Problem {
    let why = hook.idle.as_deref().unwrap_or_default();
    let complaint = Complaint::with_cure(format!("`{}` never runs: {why}", hook.name), cure);
    let place = hook.source.line.map(Position::of_line);
    let problem = complaint.warning(&hook.source.file, place);
    Problem {
        events: vec![hook.event.clone()],
        ..problem
    }
}
