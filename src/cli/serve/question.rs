//! What a client asks, and what it gets.

use std::path::PathBuf;
use std::time::Duration;

use crate::engine::event::Context;
use crate::engine::outcome::Outcome;
use crate::hosts::{self, Binding, Reply, dialects, native};

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
    /// When `cwd` is no text, or the project no folder of this machine: hooks of another folder would
    /// decide.
    pub(crate) fn of_context(
        context: &Context,
        project: Option<PathBuf>,
    ) -> Result<ClientPlace, String> {
        let is_told = context.raw("cwd").is_some_and(|cwd| cwd != "null");
        if is_told && context.string("cwd").is_none() {
            return Err("`cwd` is no text".to_string());
        }
        let is_here = |project: &PathBuf| project.is_absolute() && project.is_dir();
        match project {
            Some(project) if !is_here(&project) => {
                let shown = project.display();
                Err(format!(
                    "the project `{shown}` is no whole path of a folder here"
                ))
            }
            project => Ok(ClientPlace::OfContext { project }),
        }
    }
}

/// The decision, for doors with words of their own too.
#[derive(Debug)]
pub(crate) struct ClientAnswer {
    /// What `hookrun run` prints, and its exit status.
    pub(crate) reply: Reply,
    /// The canonical name of the event; as it was asked for, if hookrun has no such event.
    pub(crate) event: String,
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
