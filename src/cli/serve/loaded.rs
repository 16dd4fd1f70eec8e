//! The hooks of one kind of event in one folder, as they were last read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::decide::LoadedHooks;
use crate::engine::lock::locked;
use crate::hosts::folders::HostFolders;

/// For how long what was read counts at least; `docs/embedding.md` says so.
const FRESH: Duration = Duration::from_millis(20);

/// How many times as long as reading took it counts: reading takes at most a 20th of the time.
const TIMES_READING: u32 = 20;

/// How many are kept.
const MOST: usize = 4_096;

/// For how long one that nobody asks for is kept.
const UNUSED: Duration = Duration::from_secs(60);

/// What decides which hooks an event has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct HooksKey {
    pub(crate) host: &'static str,
    /// `None` for those of all events.
    pub(crate) event: Option<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) told: HostFolders,
}

/// Hooks, and when they were read.
#[derive(Debug)]
pub(crate) struct ReadHooks {
    pub(crate) hooks: LoadedHooks,
    pub(crate) env: Environment,
    read_at: Instant,
    reading_took: Duration,
}

impl ReadHooks {
    /// The hooks that `load` loads.
    pub(crate) fn read(env: Environment, load: impl FnOnce(&Environment) -> LoadedHooks) -> Self {
        let read_at = Instant::now();
        let hooks = load(&env);
        ReadHooks {
            hooks,
            env,
            read_at,
            reading_took: read_at.elapsed(),
        }
    }

    fn is_fresh(&self) -> bool {
        self.read_at.elapsed() < FRESH.max(self.reading_took * TIMES_READING)
    }
}

/// All that were read and may still count.
#[derive(Debug, Default)]
pub(crate) struct HooksCache {
    hooks: Mutex<HashMap<HooksKey, Arc<ReadHooks>>>,
    /// Every event reads its hooks, as `run` does.
    keeps_nothing: bool,
}

impl HooksCache {
    /// A cache for runs, whose user may have changed a hook just before.
    pub(crate) fn of_runs() -> HooksCache {
        HooksCache {
            keeps_nothing: true,
            ..HooksCache::default()
        }
    }

    /// What was read for `key`, if that is fresh; else what `read` gives.
    pub(crate) fn get(
        &self,
        key: HooksKey,
        read: impl FnOnce(&HooksKey) -> ReadHooks,
    ) -> Arc<ReadHooks> {
        if self.keeps_nothing {
            return Arc::new(read(&key));
        }
        let known = locked(&self.hooks).get(&key).cloned();
        if let Some(known) = known.filter(|known| known.is_fresh()) {
            return known;
        }
        let loaded = Arc::new(read(&key));
        let mut hooks = locked(&self.hooks);
        if hooks.len() >= MOST {
            hooks.retain(|_, known| known.read_at.elapsed() < UNUSED);
        }
        if hooks.len() >= MOST {
            hooks.clear();
        }
        hooks.insert(key, Arc::clone(&loaded));
        loaded
    }

    pub(crate) fn clear(&self) {
        locked(&self.hooks).clear();
    }
}
