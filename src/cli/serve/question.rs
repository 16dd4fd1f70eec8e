//! What a client asks, and what it gets.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::engine::event::Context;
use crate::engine::outcome::Outcome;
use crate::hosts::{self, Binding, DIALECTS, Reply, native};

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
    let known: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
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

/// Reads JSON in which no object has a key twice: the client may mean the other value.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn read_distinct<'t, T: Deserialize<'t>>(text: &'t [u8]) -> serde_json::Result<T> {
    serde_json::from_slice::<DistinctKeys>(text)?;
    serde_json::from_slice(text)
}

/// JSON, whatever it is, without a key that appears twice.
struct DistinctKeys;

impl<'de> Deserialize<'de> for DistinctKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DistinctKeys, D::Error> {
        from.deserialize_any(DistinctKeys)
    }
}

impl<'de> Visitor<'de> for DistinctKeys {
    type Value = DistinctKeys;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<DistinctKeys, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<DistinctKeys, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<DistinctKeys, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<DistinctKeys, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<DistinctKeys, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<DistinctKeys, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<DistinctKeys, A::Error> {
        while all.next_element::<DistinctKeys>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<DistinctKeys, A::Error> {
        let mut seen = HashSet::new();
        while let Some((key, _)) = all.next_entry::<String, DistinctKeys>()? {
            if let Some(key) = seen.replace(key) {
                return Err(de::Error::custom(format_args!(
                    "the key `{key}` appears twice"
                )));
            }
        }
        Ok(self)
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
    /// Whether hookrun knows no such event.
    pub(crate) is_unknown: bool,
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
