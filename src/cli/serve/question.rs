//! What a client asks, what it gets, and the hooks that decide it, as they were last read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::decide::LoadedHooks;
use crate::engine::event::Context;
use crate::engine::lock::locked;
use crate::engine::outcome::Outcome;
use crate::hosts::{self, Binding, HostFolders, Reply, dialects, native};

/// An event, in the words of the client.
#[derive(Debug)]
pub(crate) struct ClientQuestion {
    /// The dialect; without it that of the server, and without an event the signs of the context
    /// tell.
    pub(crate) host: Option<String>,
    /// The event. `None` if the context names it.
    pub(crate) event: Option<String>,
    pub(crate) context: Context,
    /// The folder in which the client works.
    pub(crate) place: ClientPlace,
    /// How long everything may take, if the host does not wait for less.
    pub(crate) budget: Option<Duration>,
}

/// Refuses a name that is no host: what such a client sends would be read in other words than it means.
///
/// # Errors
/// The reason, with the names that there are.
pub(crate) fn check_host(name: &str) -> Result<(), String> {
    if name == native::NAME || hosts::find(name).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = dialects().map(|dialect| dialect.name).collect();
    Err(format!(
        "there is no host `{name}`: use {}, {}",
        native::NAME,
        known.join(", ")
    ))
}

/// The folder in which a client works, where `run` has its working directory.
#[derive(Debug, Clone, Default)]
pub(crate) enum ClientPlace {
    /// That of the server, which the client started.
    #[default]
    OfServer,
    /// This one.
    Folder(PathBuf),
    /// The one that the context names; the server serves clients in many places. The project is
    /// what the host says that its user has opened. Made by [`ClientPlace::of_context`].
    OfContext { project: Option<PathBuf> },
}

impl ClientPlace {
    /// The place of a client that may work anywhere.
    ///
    /// # Errors
    /// When `cwd` is not a string, or the project no folder of this machine: hooks of another folder would
    /// decide.
    pub(crate) fn of_context(
        context: &Context,
        project: Option<PathBuf>,
    ) -> Result<ClientPlace, String> {
        let is_told = context.raw("cwd").is_some_and(|cwd| cwd != "null");
        if is_told && context.string("cwd").is_none() {
            return Err("`cwd` is not a string".to_string());
        }
        if let Some(project) = &project
            && !(project.is_absolute() && project.is_dir())
        {
            let shown = project.display();
            return Err(format!(
                "the project `{shown}` is not the absolute path of a folder here"
            ));
        }
        Ok(ClientPlace::OfContext { project })
    }
}

/// The decision, for doors with their own words too.
#[derive(Debug)]
pub(crate) struct ClientAnswer {
    /// What `hookrun run` prints, and its exit status.
    pub(crate) reply: Reply,
    pub(crate) outcome: Outcome,
    /// Different for each decision of this server.
    pub(crate) id: String,
    /// The dialect of the client.
    pub(crate) host: &'static str,
    /// Its words for the event; `None` for our own, and where the event is not known.
    pub(crate) binding: Option<Binding>,
}

impl ClientAnswer {
    /// The document for a host that sees no exit status and no stderr.
    pub(crate) fn document(&self) -> String {
        let reply = &self.reply;
        if reply.status == native::ALLOWED || !reply.stdout.trim().is_empty() {
            return reply.stdout.clone();
        }
        let reason = self
            .outcome
            .reason()
            .unwrap_or_else(|| reply.stderr.trim().to_string());
        match self.binding {
            Some(binding) => binding.refusal_document(&reason),
            None => hosts::refusal_of_any(hosts::find(self.host), &reason),
        }
    }
}

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
    pub(crate) read_at: Instant,
    pub(crate) reading_took: Duration,
}

impl ReadHooks {
    fn is_fresh(&self) -> bool {
        self.read_at.elapsed() < FRESH.max(self.reading_took * TIMES_READING)
    }
}

/// All that were read and may still count.
#[derive(Debug, Default)]
pub(crate) struct HooksCache {
    hooks: Mutex<HashMap<HooksKey, Arc<ReadHooks>>>,
}

impl HooksCache {
    /// What was read for `key`, if that is fresh; else what `read` gives.
    pub(crate) fn get(
        &self,
        key: HooksKey,
        read: impl FnOnce(&HooksKey) -> ReadHooks,
    ) -> Arc<ReadHooks> {
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
