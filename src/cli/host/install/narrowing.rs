//! What somebody may have changed in a hook of hookrun's so that it is asked about fewer calls, or
//! not heard. A table, and one function over it. Pure.

use serde_json::Value;

use super::edit::SettingsEntry;

/// A key by which a host asks a hook about fewer calls, or does not wait for it: the values that do
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

/// Why a hook of hookrun's is not asked about every call, or not heard: somebody changed it.
pub(crate) fn narrowed(hook: &SettingsEntry) -> Vec<String> {
    let matcher = hook.matcher.as_deref().filter(|it| !matches!(*it, "" | "*" | ".*"));
    let matcher = matcher.map(|it| format!("the matcher `{it}` leaves out other calls"));
    let keys = NARROWING.iter().filter_map(|(key, is_harmless, what)| {
        let value = hook.keys.get(*key).filter(|value| !is_harmless(value))?;
        Some(format!("`{key}` is `{value}`: {what}"))
    });
    matcher.into_iter().chain(keys).collect()
}
