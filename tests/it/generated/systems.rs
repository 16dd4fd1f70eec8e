//! The tables of a hook system: its events, and what their results say.

use hookrun::dialect::{self, DialectEvent, Results};

use super::{code, table};

fn rows(system: &str) -> &'static [DialectEvent] {
    dialect::find(system).unwrap().events
}

/// The events under their names and ours, and the keys that have other names here.
pub(super) fn events(system: &str) -> String {
    let row = |row: &DialectEvent| {
        let keys = row.keys.iter().map(|(theirs, ours)| format!("`{theirs}` is `{ours}`"));
        let keys: Vec<String> = keys.collect();
        let refused = match (row.blocks, row.on_failure.name()) {
            (false, _) => "",
            (true, "allow") => "yes, fails open",
            (true, _) => "yes, fails closed",
        };
        [code(row.name), code(row.event), refused.to_string(), keys.join(", ")]
    };
    let head =
        ["event", "in hookrun", "can be refused", "keys that are called otherwise in hookrun"];
    table(head, rows(system).iter().map(row))
}

/// The results of the events that take one, and how those of several hooks come together.
pub(super) fn results(system: &str) -> String {
    let row = |row: &DialectEvent| {
        let said: Vec<String> = match row.results {
            Results::Form(form) => form.writes.iter().map(|say| say.on.about()).collect(),
            Results::Native => vec!["hookrun's own".to_string()],
            Results::Whole(field) => vec![format!("as a whole the new `{field}`")],
            Results::Keys(keys) => {
                keys.iter().map(|key| format!("`{}`: {}", key.name, key.says.about())).collect()
            }
        };
        (!said.is_empty()).then(|| [code(row.name), said.join("; "), row.merging()])
    };
    table(["event", "result", "of several hooks"], rows(system).iter().filter_map(row))
}
