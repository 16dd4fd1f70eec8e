//! Hooks by event, in the order in which they run.

use std::collections::HashMap;
use std::sync::Arc;

use crate::hook::Hook;

/// Hooks by event. Asking for an event without hooks costs one look-up.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    by_event: HashMap<String, Vec<Arc<Hook>>>,
}

impl Registry {
    /// A registry of `hooks`. For one event they run by priority, then by layer (system first),
    /// then in the order given.
    pub fn new(hooks: impl IntoIterator<Item = Hook>) -> Registry {
        let mut by_event: HashMap<String, Vec<Arc<Hook>>> = HashMap::new();
        for hook in hooks {
            by_event.entry(hook.event.clone()).or_default().push(Arc::new(hook));
        }
        for hooks in by_event.values_mut() {
            hooks.sort_by_key(|hook| (hook.priority, hook.source.layer));
        }
        Registry { by_event }
    }

    /// The hooks bound to an event, by its canonical name, in plan order.
    pub fn bound(&self, event: &str) -> &[Arc<Hook>] {
        self.by_event.get(event).map_or(&[], Vec::as_slice)
    }

    /// Every hook, event by event in alphabetical order, each in plan order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Hook>> {
        let mut events: Vec<&String> = self.by_event.keys().collect();
        events.sort();
        events.into_iter().flat_map(|event| self.bound(event))
    }

    /// Keeps only the hooks that `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(&Hook) -> bool) {
        for hooks in self.by_event.values_mut() {
            hooks.retain(|hook| keep(hook));
        }
    }
}
