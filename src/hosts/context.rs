//! Decodes a dialect's events into our names and keys, and encodes ours for its hooks.

use serde_json::{Map, Value};

use super::row::{Binding, Host, KeySpelling};
use super::tool::Mcp;
use crate::engine::complaint::Complaint;
use crate::engine::event::json::scalar_text;
use crate::engine::event::{Action, ActionKind, Context, Event, OnFailure, catalog};
use crate::engine::hook::HostCall;

/// Our keys that no other system has.
const OURS: &[&str] = &["event", "action", "raw"];

impl Host {
    /// Selects the event that `context` belongs to, of several with one name.
    ///
    /// # Errors
    /// If the distinguishing key is missing or has an unknown value.
    pub fn distinguish(candidates: &[Binding], context: &Context) -> Result<Binding, Complaint> {
        if let [only] = candidates {
            let is_another = only.row.when.is_some_and(|(key, value)| {
                context.string(key).is_some_and(|found| found != value)
            });
            if !is_another {
                return Ok(*only);
            }
        }
        let is_meant = |binding: &&Binding| {
            let when = binding.row.when;
            when.is_none_or(|(key, value)| context.string(key).as_deref() == Some(value))
        };
        if let Some(meant) = candidates.iter().find(is_meant) {
            return Ok(*meant);
        }
        let known = candidates.iter().filter_map(|binding| binding.row.when);
        let known: Vec<_> = known.collect();
        let key = known.first().map_or("", |(key, _)| key);
        let name = candidates.first().map_or("", |binding| binding.row.name);
        let problem = match context.string(key) {
            Some(found) => format!("`{found}` is unknown"),
            None if context.raw(key).is_some() => "it is not a string".to_string(),
            None => "it is missing".to_string(),
        };
        let known: Vec<&str> = known.iter().map(|(_, value)| *value).collect();
        Err(Complaint::new(format!(
            "`{key}` determines which `{name}` event this is, but {problem}; it must be one of {}",
            known.join(", ")
        )))
    }
}

impl Binding {
    /// Converts a context of this dialect to our keys.
    ///
    /// # Errors
    /// If it names another event, or has one fact under both names.
    pub fn decode(self, mut context: Context) -> Result<Context, Complaint> {
        let came = context.clone();
        for key in [self.dialect.names_event_by, "event"] {
            // The host may use `event` for something else.
            if self.row.keys.iter().any(|(theirs, _)| *theirs == key) {
                continue;
            }
            let Some(found) = context.string(key) else {
                continue;
            };
            if !self.row.is_called(&found) && found != self.row.event {
                let expected = self.row.name;
                let cause =
                    format!("the context belongs to the event `{found}`, not to `{expected}`");
                return Err(Complaint::new(cause));
            }
            context.remove(key);
        }
        if self.dialect.spelling == KeySpelling::Snake {
            return self.with_tool(self.in_our_spelling(&self.flat(context), &came));
        }
        let mut texts = self.row.as_text.iter().filter_map(|key| context.raw(key));
        if texts.any(|raw| raw.starts_with('"')) {
            let came = context.clone();
            context.take_whole("raw", &came);
        }
        for one in self.row.stand_ins {
            let fact = context.string(one.theirs).filter(|text| !text.is_empty());
            if let Some(fact) = fact.filter(|_| context.raw(one.ours).is_none()) {
                context.set(one.ours, &Value::from(fact));
            }
        }
        for (theirs, ours) in self.row.keys.iter().chain(self.row.also) {
            if context.raw(theirs).is_none() {
                continue;
            }
            if context.raw(ours).is_some() {
                let cause =
                    format!("`{theirs}` and `{ours}` are two names of one key; keep one of them");
                return Err(Complaint::new(cause));
            }
            context.rename(theirs, ours);
        }
        self.unpack(&mut context);
        self.with_tool(context)
    }

    /// Rejects a gate about a tool without the tool's name: guards of that tool could not match.
    fn with_tool(self, context: Context) -> Result<Context, Complaint> {
        let is_about_tool = catalog::find(self.row.event).is_some_and(|spec| {
            let is_needed = spec.required.iter().any(|key| key == "toolName");
            is_needed || self.row.on_failure == OnFailure::Block && spec.carries("toolName")
        });
        // Any value but `null` and the empty string is a name.
        let name = context.raw("toolName").unwrap_or("null");
        let is_named = match context.string("toolName") {
            Some(name) => !name.is_empty(),
            None => !name.starts_with('"') && name != "null",
        };
        if self.row.blocks && is_about_tool && !is_named {
            let key = match self.dialect.spelling {
                KeySpelling::Snake => self.theirs("toolName"),
                KeySpelling::Camel => "toolName".to_string(),
            };
            let what = if name == "null" { "missing" } else { "empty" };
            let cause = format!("`{key}` is {what}, so hooks cannot tell which tool is called");
            return Err(Complaint::new(cause));
        }
        Ok(context)
    }

    /// Parses a tool input sent as a JSON string (Cursor's MCP tools), so that matchers see its
    /// keys.
    fn unpack(self, context: &mut Context) {
        if !self.dialect.has_forms() {
            return;
        }
        let input = context.string("toolInput");
        let input = input.filter(|text| text.starts_with('{'));
        if let Some(text) = input.filter(|text| Context::parse(text.as_str()).is_ok()) {
            context.set_raw("toolInput", text);
        }
    }

    /// The context under our keys, with the original under `raw`.
    fn in_our_spelling(self, theirs: &Context, came: &Context) -> Context {
        let mut ours = theirs.beside();
        for key in theirs.keys() {
            if let Some(our_key) = self.ours(key) {
                ours.take(our_key, theirs, key);
            }
        }
        if let Some(gather) = self.row.gather {
            let facts = gather.keys.iter().filter_map(|key| {
                let value = theirs.value(key).ok().flatten()?;
                Some(((*key).to_string(), value))
            });
            ours.set("toolName", &Value::from(gather.tool));
            ours.set("toolInput", &Value::Object(facts.collect()));
        }
        self.unpack(&mut ours);
        // Any name is possible. A wrong input is reported when it becomes an event.
        let action = Action::derive(&ours).ok().flatten();
        if let Some(mut action) = action.filter(|_| self.is_of_server(&ours)) {
            action.kind = ActionKind::Mcp;
            ours.set_raw("action", action.to_json());
        }
        ours.take_whole("raw", came);
        ours
    }

    /// Whether the event's row or the tool's name says that the tool is from an MCP server.
    fn is_of_server(self, context: &Context) -> bool {
        if self.row.is_of_servers || self.dialect.mcp != Mcp::Plain {
            return self.row.is_of_servers;
        }
        context.string("toolName").is_some_and(|name| {
            name.contains("__") && self.dialect.tools_named(&name).next().is_none()
        })
    }

    /// Moves the facts of inner objects to the top, and joins texts that come in parts.
    fn flat(self, mut context: Context) -> Context {
        for key in self.row.in_parts {
            let parts = context.value(key).ok().flatten();
            if let Some(parts) = parts.as_ref().and_then(Value::as_array) {
                let texts = parts.iter().filter_map(|part| part["text"].as_str());
                context.set(key, &Value::from(texts.collect::<Vec<&str>>().join("\n")));
            }
        }
        for (object, keys) in self.row.inside {
            for key in *keys {
                let fact = context.lookup(&format!("{object}.{key}"));
                if let Some(fact) = fact.map(str::to_string) {
                    context.set_raw(key, fact);
                }
            }
        }
        context
    }

    /// The inverse of `flat`.
    fn nested(self, mut flat: Context) -> Context {
        let mut objects = self.row.inside.iter();
        let inside = objects.find(|(name, _)| flat.raw(name).is_some());
        let Some((name, keys)) = inside.or(self.row.inside.first()) else {
            return flat;
        };
        let mut object = match flat.value(name).ok().flatten() {
            Some(Value::Object(object)) => object,
            Some(_) | None => Map::new(),
        };
        for key in *keys {
            if let Some(fact) = flat.value(key).ok().flatten() {
                object.insert((*key).to_string(), fact);
                flat.remove(key);
            }
        }
        flat.set(name, &Value::Object(object));
        flat
    }

    fn ours(self, theirs: &str) -> Option<&'static str> {
        let listed = self.row.keys.iter().find(|(name, _)| *name == theirs);
        if let Some((_, ours)) = listed {
            return Some(ours);
        }
        for key in catalog::find(self.row.event)?.context.iter() {
            let name = &*key.name;
            let is_it = snake(name) == theirs || name == theirs && self.has_inside(name);
            if is_it && !self.row.keys.iter().any(|(_, listed)| *listed == name) {
                return Some(name);
            }
        }
        None
    }

    pub(crate) fn theirs(self, ours: &str) -> String {
        let listed = self.row.keys.iter().find(|(_, name)| *name == ours);
        match listed {
            Some((theirs, _)) => (*theirs).to_string(),
            None if self.has_inside(ours) => ours.to_string(),
            None => snake(ours),
        }
    }

    /// Whether an inner object of the host's event has this key, in our spelling.
    fn has_inside(self, name: &str) -> bool {
        self.row.inside.iter().any(|(_, keys)| keys.contains(&name))
    }

    /// The event in the dialect's spelling; the original if it came from this host, with rewrites.
    fn in_their_spelling(self, event: &Event, context: &Context) -> Context {
        let is_theirs = event.host() == self.dialect.name;
        let came = context.raw("raw").filter(|_| is_theirs);
        let came = came.and_then(|raw| Context::parse(raw).ok());
        let as_came = came.clone().unwrap_or_default();
        let mut theirs = self.flat(as_came.clone());
        for key in context.keys().filter(|key| !OURS.contains(key)) {
            let name = self.theirs(key);
            let Some(json) = context.raw(key) else {
                continue;
            };
            let is_gathered = self.row.gather.is_some() && matches!(key, "toolName" | "toolInput");
            let is_as_it_came =
                theirs.raw(&name) == Some(json) || theirs.string(&name).as_deref() == Some(json);
            if !is_gathered && !is_as_it_came {
                theirs.set_raw(&name, json.to_string());
            }
        }
        let input = context.value("toolInput").ok().flatten();
        for key in self.row.gather.iter().flat_map(|gather| gather.keys) {
            if let Some(value) = input.as_ref().and_then(|input| input.get(key)) {
                theirs.set(key, value);
            }
        }
        let whole = self.flat(as_came.clone());
        for key in self.row.in_parts {
            let raw = as_came.raw(key);
            if let Some(raw) = raw.filter(|_| theirs.raw(key) == whole.raw(key)) {
                theirs.set_raw(key, raw.to_string());
            }
        }
        if came.is_none() {
            theirs.set_first(self.dialect.names_event_by, &Value::from(self.row.name));
        }
        self.nested(theirs)
    }

    pub fn encode(self, event: &Event) -> Context {
        self.encode_call(event, self.dialect.calls(event).first())
    }

    /// The context for such a hook about one call of its host's tools.
    pub fn encode_call(self, event: &Event, call: Option<&HostCall>) -> Context {
        let mut context = event.context().clone();
        if let Some(call) = call {
            context.set("toolName", &Value::from(call.name.as_str()));
            context.set("toolInput", &call.input);
        }
        let mut theirs = match self.dialect.spelling {
            KeySpelling::Snake => self.in_their_spelling(event, &context),
            KeySpelling::Camel => self.in_camel_case(context),
        };
        for key in self.row.as_text {
            let Some(json) = theirs.raw(key).filter(|raw| !raw.starts_with('"')) else {
                continue;
            };
            // The original value if it came from this host, else a string.
            let came = event.context().lookup(&format!("raw.{key}"));
            let came = came.map(str::to_string);
            let is_theirs = event.host() == self.dialect.name;
            if is_theirs && came.as_ref().is_none_or(|came| !came.starts_with('"')) {
                continue;
            }
            let text = match came {
                Some(came) if is_theirs && scalar_text(&came).as_deref() == Some(json) => came,
                Some(_) | None => Value::from(json).to_string(),
            };
            theirs.set_raw(key, text);
        }
        theirs
    }

    fn in_camel_case(self, mut context: Context) -> Context {
        for key in OURS {
            context.remove(key);
        }
        // In reverse, because one of their keys may be another key's name here.
        for (theirs, ours) in self.row.keys.iter().rev() {
            if context.raw(theirs).is_none() {
                context.rename(ours, theirs);
            }
        }
        for one in self.row.stand_ins {
            if context.raw(one.theirs).is_some() && context.raw(one.theirs) == context.raw(one.ours)
            {
                context.remove(one.ours);
            } else if one.is_made && context.raw(one.theirs).is_none() {
                context.rename(one.ours, one.theirs);
            }
        }
        if let Some((key, value)) = self.row.when {
            context.set(key, &Value::from(value));
        }
        context.remove(self.dialect.names_event_by);
        context.set_first(self.dialect.names_event_by, &Value::from(self.row.name));
        context
    }
}

/// `toolName` as `tool_name`.
pub(crate) fn snake(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
