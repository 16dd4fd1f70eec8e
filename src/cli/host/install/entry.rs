//! One hook in the settings of a host, hookrun's or another. Pure.

use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SettingsEntry {
    /// The host's name for the event.
    pub(crate) event: String,
    pub(crate) keys: Map<String, Value>,
    pub(crate) command: Option<String>,
    /// Its own matcher, or that of its group.
    pub(crate) matcher: Option<String>,
}

/// A key by which a host runs a hook for fewer calls, or does not wait for it: the values that do
/// no harm, and what the others do.
type Narrowing = (&'static str, fn(&Value) -> bool, &'static str);

const NARROWING: &[Narrowing] = &[
    ("if", |_| false, "it runs for some calls only"),
    ("async", is_false, "the host does not wait for its answer"),
    ("asyncRewake", is_false, "the host does not wait for its answer"),
    ("once", is_false, "it runs once and then no more"),
    ("args", |_| false, "it is started without the shell that its command needs"),
    ("shell", |shell| shell == "bash", "it is started by a shell that cannot read its command"),
];

fn is_false(value: &Value) -> bool {
    value == false
}

impl SettingsEntry {
    /// Why a hook of hookrun's, which was changed, does not run for every call, or is ignored.
    pub(crate) fn narrowed(&self) -> Vec<String> {
        let matcher = self.matcher.as_deref().filter(|it| !matches!(*it, "" | "*" | ".*"));
        let matcher = matcher.map(|it| format!("the matcher `{it}` leaves out other calls"));
        let keys = NARROWING.iter().filter_map(|(key, is_harmless, what)| {
            let value = self.keys.get(*key).filter(|value| !is_harmless(value))?;
            Some(format!("`{key}` is `{value}`: {what}"))
        });
        matcher.into_iter().chain(keys).collect()
    }
}
