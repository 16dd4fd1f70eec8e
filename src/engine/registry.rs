//! Hooks by event, in the order in which they run.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::engine::event::catalog::{Catalog, UnknownEvent};
use crate::engine::hook::{Hook, Lives};

/// The hooks of one event, in plan order.
pub type BoundHooks = Arc<[Arc<Hook>]>;

/// Hooks by event. Asking for an event without hooks costs one look-up.
///
/// Clones share their hooks, so that a program can change the hooks of a runner while it decides. An
/// event that is being decided keeps the hooks that it began with.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    by_event: Arc<RwLock<HashMap<String, BoundHooks>>>,
    catalog: Arc<Catalog>,
}

impl Registry {
    /// A registry of `hooks` for the events of the built-in table. For one event they run by
    /// priority, then by layer (system first), then in the order given.
    ///
    /// # Errors
    /// When a hook names an event that does not exist: it would never run.
    pub fn new(hooks: impl IntoIterator<Item = Hook>) -> Result<Registry, UnknownEvent> {
        let catalog = Catalog::default();
        let named = hooks.into_iter().map(|hook| canonical(hook, &catalog));
        let named = named.collect::<Result<Vec<Hook>, UnknownEvent>>()?;
        Ok(Registry::loaded(named, catalog))
    }

    /// A registry of hooks that were loaded together with `catalog`, as those of a
    /// [`Config`](crate::config::Config) are: each names its event as the catalog does.
    pub fn loaded(hooks: impl IntoIterator<Item = Hook>, catalog: Catalog) -> Registry {
        let mut by_event: HashMap<String, Vec<Arc<Hook>>> = HashMap::new();
        for hook in hooks {
            by_event
                .entry(hook.event.clone())
                .or_default()
                .push(Arc::new(hook));
        }
        let ordered = by_event.into_iter().map(|(event, mut hooks)| {
            hooks.sort_by_key(|hook| place(hook));
            (event, BoundHooks::from(hooks))
        });
        let by_event = Arc::new(RwLock::new(ordered.collect()));
        Registry {
            by_event,
            catalog: Arc::new(catalog),
        }
    }

    /// Adds a hook. It runs after the others of the same event, priority and layer. A host's name
    /// for an event (`PreToolUse`) is as good as ours.
    ///
    /// # Errors
    /// When it names an event that does not exist: it would never run.
    pub fn register(&self, hook: Hook) -> Result<(), UnknownEvent> {
        let hook = canonical(hook, &self.catalog)?;
        let mut by_event = self.write();
        let mut hooks = by_event
            .get(&hook.event)
            .map_or_else(Vec::new, |bound| bound.to_vec());
        let at = hooks.partition_point(|known| place(known) <= place(&hook));
        let event = hook.event.clone();
        hooks.insert(at, Arc::new(hook));
        by_event.insert(event, hooks.into());
        Ok(())
    }

    /// Takes out every hook of this name, and returns how many there were.
    pub fn remove(&self, name: &str) -> usize {
        let mut removed = 0;
        self.retain(|hook| {
            let stays = hook.name != name;
            removed += usize::from(!stays);
            stays
        });
        removed
    }

    /// Keeps only the hooks that `keep` takes. It must not use this registry.
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
    pub fn bound(&self, event: &str) -> BoundHooks {
        self.read().get(event).map(Arc::clone).unwrap_or_default()
    }

    /// Every hook, event by event in alphabetical order, each in plan order.
    pub fn hooks(&self) -> Vec<Arc<Hook>> {
        let by_event = self.read();
        let mut events: Vec<(&String, &BoundHooks)> = by_event.iter().collect();
        events.sort_by_key(|(event, _)| *event);
        events
            .into_iter()
            .flat_map(|(_, bound)| bound.iter().cloned())
            .collect()
    }

    // A panic while the lock is held leaves the table whole: each change is one assignment.
    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, BoundHooks>> {
        self.by_event.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, BoundHooks>> {
        self.by_event
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hook with its event as the catalog names it. What cannot live as long as a session runs for
/// each event: a guard must not be switched off by this.
fn canonical(mut hook: Hook, catalog: &Catalog) -> Result<Hook, UnknownEvent> {
    let spec = catalog.find(&hook.event)?;
    if spec.blocks || !hook.handler.is_program() {
        hook.lives = Lives::Event;
    }
    hook.event = spec.name.clone().into_owned();
    Ok(hook)
}

/// The place of a hook among those of its event.
fn place(hook: &Hook) -> impl Ord + use<> {
    (hook.priority, hook.source.layer)
}
