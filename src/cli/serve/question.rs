//! A client's question and its answer, and the cache of loaded hooks.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::cli::input::DecideParams;
use crate::config::Environment;
use crate::decide::LoadedHooks;
use crate::engine::event::Context;
use crate::engine::lock::locked;
use crate::engine::outcome::Outcome;
use crate::hosts::{self, Binding, HostFolders, Reply, dialects, native};

/// An event from a client, in its format.
#[derive(Debug)]
pub(crate) struct ClientQuestion {
    /// The dialect; by default the server's, or without an event recognised from the context.
    pub(crate) host: Option<String>,
    /// The event; `None` if the context names it.
    pub(crate) event: Option<String>,
    pub(crate) context: Context,
    pub(crate) place: ClientPlace,
    /// The time limit, if shorter than the host's.
    pub(crate) budget: Option<Duration>,
}

impl DecideParams<'_> {
    /// The question, in the given folder or by default the server's; or why there is none.
    pub(crate) fn question(self) -> Result<ClientQuestion, String> {
        if let Some(host) = &self.host {
            check_host(host)?;
        }
        let context = Context::parse(self.context.get()).map_err(|error| error.to_string())?;
        Ok(ClientQuestion {
            host: self.host,
            event: self.event,
            context,
            place: self.cwd.map_or(ClientPlace::OfServer, ClientPlace::Folder),
            budget: self.budget_ms.map(Duration::from_millis),
        })
    }
}

/// Rejects an unknown host, because its events would be misread.
pub(crate) fn check_host(name: &str) -> Result<(), String> {
    if name == native::NAME || hosts::find(name).is_some() {
        return Ok(());
    }
    let mut known = vec![native::NAME];
    known.extend(dialects().map(|dialect| dialect.name));
    let known = known.join(", ");
    Err(format!("unknown host `{name}`; the hosts are {known}"))
}

/// The client's folder, like the working directory of `run`.
#[derive(Debug, Clone, Default)]
pub(crate) enum ClientPlace {
    /// The server's folder, if the client started it.
    #[default]
    OfServer,
    Folder(PathBuf),
    /// The context's `cwd`, built by [`ClientPlace::of_context`].
    OfContext {
        project: Option<PathBuf>,
    },
}

impl ClientPlace {
    /// The folder of a client that may work anywhere. Rejects a `cwd` that is not a string, and a
    /// project that is not a folder here, because other hooks would decide.
    pub(crate) fn of_context(
        context: &Context,
        project: Option<PathBuf>,
    ) -> Result<ClientPlace, String> {
        let has_cwd = context.raw("cwd").is_some_and(|cwd| cwd != "null");
        if has_cwd && context.string("cwd").is_none() {
            return Err("`cwd` is not a string".to_string());
        }
        if let Some(project) = &project
            && !(project.is_absolute() && project.is_dir())
        {
            let shown = project.display();
            return Err(format!(
                "the project `{shown}` is not the absolute path of an existing folder"
            ));
        }
        Ok(ClientPlace::OfContext { project })
    }
}

#[derive(Debug)]
pub(crate) struct ClientAnswer {
    /// The output and exit status of `hookrun run`.
    pub(crate) reply: Reply,
    pub(crate) outcome: Outcome,
    pub(crate) host: &'static str,
    /// The client's event; `None` for a native or an unknown one.
    pub(crate) binding: Option<Binding>,
}

impl ClientAnswer {
    pub(crate) fn of(reply: Reply, outcome: Outcome, binding: Option<Binding>) -> ClientAnswer {
        ClientAnswer {
            reply,
            outcome,
            host: binding.map_or(native::NAME, |binding| binding.dialect.name),
            binding,
        }
    }

    /// The document for a host that sees neither exit status nor stderr.
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
            Some(binding) => binding.block_document(&reason),
            None => hosts::block_of_any(hosts::find(self.host), &reason),
        }
    }
}

/// How long loaded hooks stay fresh at least, as documented in `docs/embedding.md`.
const FRESH: Duration = Duration::from_millis(20);

/// Loaded hooks stay fresh this many times as long as loading took.
const TIMES_READING: u32 = 20;

const MOST: usize = 4_096;

/// The inputs that determine an event's hooks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct HooksKey {
    pub(crate) host: &'static str,
    /// `None` for all events.
    pub(crate) event: Option<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) folders: HostFolders,
}

/// Loaded hooks with the time of loading.
#[derive(Debug)]
pub(crate) struct ReadHooks {
    pub(crate) hooks: LoadedHooks,
    pub(crate) env: Environment,
    pub(crate) read_at: Instant,
    pub(crate) reading_took: Duration,
}

#[derive(Debug, Default)]
pub(crate) struct HooksCache {
    hooks: Mutex<HashMap<HooksKey, Arc<ReadHooks>>>,
}

impl HooksCache {
    /// Returns fresh hooks for `key`, or loads them.
    pub(crate) fn get(
        &self,
        key: HooksKey,
        read: impl FnOnce(&HooksKey) -> ReadHooks,
    ) -> Arc<ReadHooks> {
        let known = locked(&self.hooks).get(&key).cloned();
        if let Some(known) = known
            && known.read_at.elapsed() < FRESH.max(known.reading_took * TIMES_READING)
        {
            return known;
        }
        let loaded = Arc::new(read(&key));
        let mut hooks = locked(&self.hooks);
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
