//! Hooks by event, in the order in which they run.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::hook::Hook;

/// The hooks of one event, in plan order.
pub type Bound = Arc<[Arc<Hook>]>;

/// Hooks by event. Asking for an event without hooks costs one look-up.
///
/// Clones belong together: what is registered or removed in one of them is so in all, so that a
/// program can change the hooks of a runner while it decides. An event that is being decided
/// keeps the hooks that were bound to it when it came.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    by_event: Arc<RwLock<HashMap<String, Bound>>>,
}

impl Registry {
    /// A registry of `hooks`. For one event they run by priority, then by layer (system first),
    /// then in the order given.
    pub fn new(hooks: impl IntoIterator<Item = Hook>) -> Registry {
        let mut by_event: HashMap<String, Vec<Arc<Hook>>> = HashMap::new();
        for hook in hooks {
            by_event.entry(hook.event.clone()).or_default().push(Arc::new(hook));
        }
        let ordered = by_event.into_iter().map(|(event, mut hooks)| {
            hooks.sort_by_key(|hook| place(hook));
            (event, Bound::from(hooks))
        });
        Registry { by_event: Arc::new(RwLock::new(ordered.collect())) }
    }

    /// Adds a hook. It runs after those of the same event, priority and layer that are there.
    pub fn register(&self, hook: Hook) {
        let mut by_event = self.write();
        let mut hooks = by_event.get(&hook.event).map_or_else(Vec::new, |bound| bound.to_vec());
        let at = hooks.partition_point(|known| place(known) <= place(&hook));
        let event = hook.event.clone();
        hooks.insert(at, Arc::new(hook));
        by_event.insert(event, hooks.into());
    }

    /// Takes out every hook of this name, and says how many there were.
    pub fn remove(&self, name: &str) -> usize {
        let mut removed = 0;
        self.retain(|hook| {
            let stays = hook.name != name;
            removed += usize::from(!stays);
            stays
        });
        removed
    }

    /// Keeps only the hooks that `keep` says. It must not ask this registry.
    pub fn retain(&self, mut keep: impl FnMut(&Hook) -> bool) {
        self.write().retain(|_, bound| {
            let kept: Vec<Arc<Hook>> = bound.iter().filter(|hook| keep(hook)).cloned().collect();
            if kept.len() < bound.len() {
                *bound = kept.into();
            }
            !bound.is_empty()
        });
    }

    /// Whether any hook is bound to an event, by its canonical name.
    pub fn has(&self, event: &str) -> bool {
        self.read().contains_key(event)
    }

    /// The hooks bound to an event, by its canonical name, in plan order.
    pub fn bound(&self, event: &str) -> Bound {
        self.read().get(event).map(Arc::clone).unwrap_or_default()
    }

    /// Every hook, event by event in alphabetical order, each in plan order.
    pub fn hooks(&self) -> Vec<Arc<Hook>> {
        let by_event = self.read();
        let mut events: Vec<(&String, &Bound)> = by_event.iter().collect();
        events.sort_by_key(|(event, _)| *event);
        events.into_iter().flat_map(|(_, bound)| bound.iter().cloned()).collect()
    }

    // Whoever panics while holding the lock leaves the table whole: each change of it is one.
    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Bound>> {
        self.by_event.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, Bound>> {
        self.by_event.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a hook stands among those of its event.
fn place(hook: &Hook) -> impl Ord + use<> {
    (hook.priority, hook.source.layer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::Handler;

    fn hook(name: &str, priority: i64) -> Hook {
        Hook { priority, ..Hook::new(name, "tool.pre", Handler::Shell("true".into())) }
    }

    fn names(registry: &Registry) -> Vec<String> {
        registry.bound("tool.pre").iter().map(|hook| hook.name.clone()).collect()
    }

    #[test]
    fn hooks_come_and_go_and_equal_ones_keep_their_order() {
        let registry = Registry::new([hook("b", 100), hook("late", 200)]);
        let shared = registry.clone();
        shared.register(hook("a", 100));
        shared.register(hook("first", 1));
        shared.register(hook("b", 100));
        assert_eq!(names(&registry), ["first", "b", "a", "b", "late"]);

        let before = registry.bound("tool.pre");
        assert_eq!((registry.remove("b"), registry.remove("b")), (2, 0));
        assert_eq!(names(&shared), ["first", "a", "late"]);
        assert_eq!(before.len(), 5, "what is being decided keeps its hooks");

        for name in ["first", "a", "late"] {
            assert!(registry.has("tool.pre"));
            registry.remove(name);
        }
        assert!(!registry.has("tool.pre") && registry.hooks().is_empty());
    }
}
