//! Hooks by event, in plan order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::engine::event::catalog::{Catalog, UnknownEvent};
use crate::engine::hook::{Hook, Lives};
use crate::engine::lock::locked;

pub type BoundHooks = Arc<[Arc<Hook>]>;

/// Hooks by event. Looking up an event without hooks is one hash lookup.
///
/// Clones share their hooks, so a program can change a runner's hooks while it decides. A running
/// event keeps the hooks it started with.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    by_event: Arc<Mutex<HashMap<String, BoundHooks>>>,
    catalog: Arc<Catalog>,
}

impl Registry {
    /// Creates a registry for the built-in catalog. Hooks of an event run by priority, then by
    /// layer (system first), then in the given order.
    ///
    /// # Errors
    /// If a hook names an unknown event: it would never run.
    pub fn new(hooks: impl IntoIterator<Item = Hook>) -> Result<Registry, UnknownEvent> {
        let catalog = Catalog::default();
        let named = hooks.into_iter().map(|hook| canonical(hook, &catalog));
        let named = named.collect::<Result<Vec<Hook>, UnknownEvent>>()?;
        Ok(Registry::loaded(named, catalog))
    }

    /// Creates a registry of hooks loaded together with `catalog`, as by
    /// [`Config`](crate::config::Config): they use its event names.
    pub fn loaded(hooks: impl IntoIterator<Item = Hook>, catalog: Catalog) -> Registry {
        let mut by_event: HashMap<String, Vec<Arc<Hook>>> = HashMap::new();
        for hook in hooks {
            let bound = by_event.entry(hook.event.clone()).or_default();
            bound.push(Arc::new(hook));
        }
        let ordered = by_event.into_iter().map(|(event, mut hooks)| {
            hooks.sort_by_key(|hook| place(hook));
            (event, BoundHooks::from(hooks))
        });
        let by_event = Arc::new(Mutex::new(ordered.collect()));
        Registry {
            by_event,
            catalog: Arc::new(catalog),
        }
    }

    /// Adds a hook after the others of the same event, priority and layer. Host event names
    /// (`PreToolUse`) work too.
    ///
    /// # Errors
    /// If it names an unknown event: it would never run.
    pub fn register(&self, hook: Hook) -> Result<(), UnknownEvent> {
        let hook = canonical(hook, &self.catalog)?;
        let mut by_event = locked(&self.by_event);
        let bound = by_event.get(&hook.event);
        let mut hooks = bound.map_or_else(Vec::new, |bound| bound.to_vec());
        let at = hooks.partition_point(|known| place(known) <= place(&hook));
        let event = hook.event.clone();
        hooks.insert(at, Arc::new(hook));
        by_event.insert(event, hooks.into());
        Ok(())
    }

    /// Removes all hooks of this name and returns their number.
    pub fn remove(&self, name: &str) -> usize {
        let mut removed = 0;
        self.retain(|hook| {
            let stays = hook.name != name;
            removed += usize::from(!stays);
            stays
        });
        removed
    }

    /// Keeps the hooks for which `keep` returns true. `keep` must not use this registry.
    pub fn retain(&self, mut keep: impl FnMut(&Hook) -> bool) {
        locked(&self.by_event).retain(|_, bound| {
            let kept: Vec<Arc<Hook>> = bound.iter().filter(|hook| keep(hook)).cloned().collect();
            if kept.len() < bound.len() {
                *bound = kept.into();
            }
            !bound.is_empty()
        });
    }

    /// Returns true if an event, by canonical name, has hooks.
    pub fn has(&self, event: &str) -> bool {
        locked(&self.by_event).contains_key(event)
    }

    /// Returns the hooks of an event, by canonical name, in plan order.
    pub fn bound(&self, event: &str) -> BoundHooks {
        let by_event = locked(&self.by_event);
        by_event.get(event).cloned().unwrap_or_default()
    }

    /// Returns all hooks: events in alphabetical order, each in plan order.
    pub fn hooks(&self) -> Vec<Arc<Hook>> {
        let by_event = locked(&self.by_event);
        let mut events: Vec<(&String, &BoundHooks)> = by_event.iter().collect();
        events.sort_by_key(|(event, _)| *event);
        let bound = events.into_iter().map(|(_, bound)| bound);
        bound.flat_map(|bound| bound.iter().cloned()).collect()
    }
}

/// Replaces the hook's event by its canonical name. Functions and hooks of gates run for each
/// event: `lives = "session"` must not disable a guard.
fn canonical(mut hook: Hook, catalog: &Catalog) -> Result<Hook, UnknownEvent> {
    let spec = catalog.find(&hook.event)?;
    if spec.blocks || !hook.handler.is_program() {
        hook.lives = Lives::Event;
    }
    hook.event = spec.name.clone().into_owned();
    Ok(hook)
}

fn place(hook: &Hook) -> impl Ord + use<> {
    // Nested folders come after the root of their project.
    (hook.priority, hook.source.layer, hook.root.is_some())
}
