//! Events from typed parts, checked against their rows of the catalog, or from raw JSON.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::catalog::{Catalog, UnknownEvent};
use super::context::{Context, ContextError};
use super::occurrence::{Event, OWN_KEYS};
use super::spec::{EventSpec, NATIVE};
use crate::engine::spelling;

/// Makes one [`Event`]; see [`Event::builder`].
#[derive(Debug, Clone)]
pub struct EventBuilder {
    spec: Result<Arc<EventSpec>, UnknownEvent>,
    host: Cow<'static, str>,
    fields: Vec<(String, Value)>,
}

/// Why an event cannot be made of such parts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No event has this name.
    #[error(transparent)]
    UnknownEvent(#[from] UnknownEvent),
    /// The event carries no such key.
    #[error(
        "`{event}` carries no `{key}`{}",
        match .nearest { Some(near) => format!("; did you mean `{near}`?"), None => String::new() }
    )]
    UnknownKey {
        event: String,
        key: String,
        nearest: Option<String>,
    },
    /// The value of a key has another type.
    #[error("`{key}` of `{event}` must be a JSON {kind}")]
    WrongKind {
        event: String,
        key: String,
        kind: &'static str,
    },
    /// The context cannot be one of this event.
    #[error(transparent)]
    Context(#[from] ContextError),
}

impl Event {
    /// A builder for an event by its name in the built-in catalog. [`EventBuilder::build`] reports
    /// what is wrong with the name or a part.
    ///
    /// ```
    /// use hookrun::Event;
    /// use serde_json::json;
    ///
    /// let event = Event::tool_pre("bash", json!({ "command": "ls" }))
    ///     .session("s-1")
    ///     .turn(3)
    ///     .cwd("/srv/app")
    ///     .with("toolUseId", "call-7")
    ///     .build()?;
    /// assert_eq!(event.action().and_then(|action| action.command.as_deref()), Some("ls"));
    ///
    /// let problem = Event::builder("model.pre").with("modl", "m-1").build().unwrap_err();
    /// assert_eq!(problem.to_string(), "`model.pre` carries no `modl`; did you mean `model`?");
    /// # Ok::<(), hookrun::BuildError>(())
    /// ```
    pub fn builder(name: &str) -> EventBuilder {
        EventBuilder {
            spec: Catalog::default().find(name),
            host: NATIVE.into(),
            fields: Vec::new(),
        }
    }

    /// A builder for an event that a team has declared.
    pub fn of(spec: Arc<EventSpec>) -> EventBuilder {
        EventBuilder {
            spec: Ok(spec),
            host: NATIVE.into(),
            fields: Vec::new(),
        }
    }

    /// An event of the built-in catalog from the text of its context. Keys that the event does
    /// not have are kept: hosts may add facts.
    ///
    /// # Errors
    /// When no event has this name, or the text is no context of it; see [`Event::new`].
    pub fn from_json(name: &str, context: &str) -> Result<Event, BuildError> {
        let spec = Catalog::default().find(name)?;
        Ok(Event::new(spec, NATIVE, Context::parse(context)?)?)
    }

    /// `session.start`: a session begins, with this model.
    pub fn session_start(session: &str, model: &str) -> EventBuilder {
        Event::builder("session.start")
            .session(session)
            .with("model", model)
    }

    /// `prompt.submit` (loom's `user.prompt.submit`): the user has sent a prompt.
    pub fn prompt_submit(prompt: &str) -> EventBuilder {
        Event::builder("prompt.submit").with("prompt", prompt)
    }

    /// `tool.pre`: a tool is about to run.
    pub fn tool_pre(tool: &str, input: Value) -> EventBuilder {
        Event::builder("tool.pre")
            .with("toolName", tool)
            .with("toolInput", input)
    }

    /// `tool.post`: a tool has run, with this result.
    pub fn tool_post(tool: &str, input: Value, result: impl Into<Value>) -> EventBuilder {
        let builder = Event::builder("tool.post")
            .with("toolName", tool)
            .with("toolInput", input);
        builder.with("result", result).with("isError", false)
    }

    /// `model.pre`: a request with so many messages is about to go to the model.
    pub fn model_pre(model: &str, messages: usize) -> EventBuilder {
        Event::builder("model.pre")
            .with("model", model)
            .with("messageCount", messages)
    }

    /// `model.post`: the model has answered, and stopped for this reason.
    pub fn model_post(model: &str, stop_reason: &str) -> EventBuilder {
        Event::builder("model.post")
            .with("model", model)
            .with("stopReason", stop_reason)
    }

    /// `session.end`: the session is over, for this reason.
    pub fn session_end(session: &str, reason: &str) -> EventBuilder {
        Event::builder("session.end")
            .session(session)
            .with("reason", reason)
    }

    /// `error`: the run has failed beyond repair.
    pub fn error(code: &str, message: &str) -> EventBuilder {
        Event::builder("error")
            .with("code", code)
            .with("message", message)
    }
}

impl EventBuilder {
    /// Sets any key that the event carries; a second value replaces the first.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> EventBuilder {
        let value = value.into();
        match self.fields.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.fields.push((key.to_string(), value)),
        }
        self
    }

    /// `sessionId`: the session.
    #[must_use]
    pub fn session(self, id: &str) -> EventBuilder {
        self.with("sessionId", id)
    }

    /// `turnIndex`: the turn, counted from 0.
    #[must_use]
    pub fn turn(self, index: u64) -> EventBuilder {
        self.with("turnIndex", index)
    }

    /// `cwd`: the working directory of the session, and of its hooks.
    #[must_use]
    pub fn cwd(self, folder: &str) -> EventBuilder {
        self.with("cwd", folder)
    }

    /// The host, if it is not `native`.
    #[must_use]
    pub fn host(mut self, host: impl Into<Cow<'static, str>>) -> EventBuilder {
        self.host = host.into();
        self
    }

    /// The event, its context in the order of the catalog.
    ///
    /// # Errors
    /// When no event has the name, the event carries no such key, a value is of another type, or
    /// for the reasons of [`Event::new`].
    pub fn build(mut self) -> Result<Event, BuildError> {
        let spec = self.spec?;
        for (key, value) in &self.fields {
            check(&spec, key, value)?;
        }
        let place = |key: &str| spec.context.iter().position(|known| known.name == key);
        self.fields
            .sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
        let mut context = Context::parse("{}")?;
        for (key, value) in &self.fields {
            context.set(key, value);
        }
        Ok(Event::new(spec, self.host, context)?)
    }
}

/// Whether `spec` carries `key`, with such a value.
fn check(spec: &EventSpec, key: &str, value: &Value) -> Result<(), BuildError> {
    if OWN_KEYS.contains(&key) {
        return Ok(());
    }
    let event = spec.name.to_string();
    let Some(known) = spec.context.iter().find(|known| known.name == key) else {
        let names = spec.context.iter().map(|known| known.name.as_ref());
        let nearest = spelling::nearest(key, names).map(str::to_string);
        return Err(BuildError::UnknownKey {
            event,
            key: key.to_string(),
            nearest,
        });
    };
    if !known.kind.fits(value) {
        let kind = known.kind.name();
        return Err(BuildError::WrongKind {
            event,
            key: key.to_string(),
            kind,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_come_in_the_order_of_the_catalog() {
        let wanted = r#"{"event":"tool.pre","turnIndex":2,"toolName":"note","toolInput":{"x":1},"action":{"kind":"other"}}"#;
        let event = Event::tool_pre("note", json!({ "x": 1 }))
            .turn(2)
            .build()
            .unwrap();
        assert_eq!(event.context().to_json(), wanted.as_bytes());
        for builder in [
            Event::session_start("s", "m"),
            Event::prompt_submit("hi"),
            Event::tool_post("note", json!({}), "ok"),
            Event::model_pre("m", 4),
            Event::model_post("m", "end_turn").with("costUsd", 0.5),
            Event::session_end("s", "done"),
            Event::error("e1", "no"),
        ] {
            let event = builder.session("s").turn(2).build().unwrap();
            let place = |key: &str| event.spec().context.iter().position(|row| row.name == key);
            let places: Vec<usize> = event.context().keys().filter_map(place).collect();
            assert!(places.len() > 2 && places.is_sorted(), "{event:?}");
        }
    }

    #[test]
    fn what_the_catalog_does_not_know_is_an_error() {
        let problem = |builder: EventBuilder| builder.build().unwrap_err().to_string();
        assert!(problem(Event::builder("tool.pree")).contains("did you mean `tool.pre`?"));
        let pre = || Event::tool_pre("bash", json!({ "command": "ls" }));
        assert!(problem(pre().with("result", 1)).contains("`tool.pre` carries no `result`"));
        assert_eq!(
            problem(pre().with("turnIndex", "2")),
            "`turnIndex` of `tool.pre` must be a JSON integer"
        );
        assert!(problem(Event::tool_pre("bash", json!("ls"))).contains("must be a JSON object"));
        assert!(problem(pre().with("action", json!({}))).contains("kind"));
        assert!(
            pre()
                .with("raw", json!({ "any": 1 }))
                .host("mine")
                .build()
                .is_ok()
        );
        assert!(Event::from_json("tool.pre", r#"{"toolName":"x","own":1}"#).is_ok());
        assert!(Event::from_json("tool.pre", "[]").is_err());
        assert!(problem(Event::builder("tool.pre")).contains("`toolName` is missing"));
    }
}
