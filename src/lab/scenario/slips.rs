//! Keys of a context that are probably slips: a hook reads the key that was meant, and the case
//! proves something about an event without it.
//!
//! Pure. Keys of one's own are no slips, only those that are nearly a key of the event.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::dialects::{Binding, native};
use crate::engine::event::EventSpec;
use crate::engine::spelling::near_misses;

/// The keys that an event has in the words of whoever sends it.
#[derive(Debug, Default)]
pub struct Keys {
    /// As they are best written.
    best: BTreeSet<String>,
    /// Those that are read as well.
    also: BTreeSet<String>,
}

impl Keys {
    /// The keys of these events, sent as `bindings` say, or natively if there are none.
    pub fn of<'s>(specs: impl IntoIterator<Item = &'s EventSpec>, bindings: &[Binding]) -> Keys {
        let mut keys = Keys::default();
        for spec in specs {
            let names: Vec<&str> = spec.context.iter().map(|key| key.name.as_ref()).collect();
            if bindings.is_empty() {
                keys.best.extend(names.iter().map(|name| name.to_string()));
            }
            for binding in bindings {
                keys.best.extend(names.iter().map(|name| binding.theirs(name)));
            }
            keys.also.extend(names.into_iter().map(str::to_string));
        }
        for binding in bindings {
            let row = binding.row;
            let pairs = row.keys.iter().chain(row.also).map(|(theirs, _)| *theirs);
            let others = row.stand_ins.iter().map(|one| one.theirs);
            let gathered = row.gather.iter().flat_map(|gather| gather.keys.iter().copied());
            let when = row.when.iter().map(|(key, _)| *key);
            let all =
                pairs.chain(others).chain(gathered).chain(when).chain(row.as_text.iter().copied());
            keys.also.extend(all.map(str::to_string));
            keys.also.insert(binding.dialect.names_event_by.to_string());
        }
        keys.also.extend([native::NAMES_EVENT_BY, "action", "raw"].map(str::to_string));
        keys
    }

    /// The keys of `context` that are nearly one of the event which it lacks, each with that one.
    pub fn slips(&self, context: &Map<String, Value>) -> Vec<(String, String)> {
        let is_read = |key: &&str| self.also.contains(*key) && !self.best.contains(*key);
        let found = context.keys().map(String::as_str).filter(|key| !is_read(key));
        let slips = near_misses(found, self.best.iter().map(String::as_str));
        slips.into_iter().map(|(key, meant)| (key.to_string(), meant.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialects;
    use crate::engine::event::catalog;

    fn slips(bindings: &[Binding], context: Value) -> Vec<(String, String)> {
        let spec = catalog::find("tool.pre").unwrap();
        Keys::of([spec], bindings).slips(context.as_object().unwrap())
    }

    #[test]
    fn a_key_that_is_nearly_one_of_the_event_is_a_slip() {
        let pair = |key: &str, meant: &str| (key.to_string(), meant.to_string());
        let context = json!({ "toolNam": "bash", "tooInput": {}, "tool_use_id": "1", "mine": 1 });
        let meant = [
            pair("toolNam", "toolName"),
            pair("tooInput", "toolInput"),
            pair("tool_use_id", "toolUseId"),
        ];
        let mut found = slips(&[], context);
        found.sort();
        let mut meant = meant.to_vec();
        meant.sort();
        assert_eq!(found, meant);
        // Beside the key that it is near, it is another.
        assert_eq!(slips(&[], json!({ "toolName": "bash", "toolNam": 1, "toolInput": {} })), []);
    }

    #[test]
    fn the_keys_of_a_host_are_its_own() {
        let claude = dialects::find("claude").unwrap().called("PreToolUse");
        let context =
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} });
        assert_eq!(slips(&claude, context), []);
        let found = slips(&claude, json!({ "tool_nam": "Bash" }));
        assert_eq!(found, [("tool_nam".to_string(), "tool_name".to_string())]);
    }
}
