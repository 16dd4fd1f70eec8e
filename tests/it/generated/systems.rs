//! The tables of a hook system: its events, and what their results say.

use hookrun::hosts::{self, HostEvent, Results};

use super::{code, table};

fn rows(system: &str) -> &'static [HostEvent] {
    hosts::find(system).unwrap().events
}

/// The name of an event, and what tells it from others of the same name.
fn name(system: &str, row: &HostEvent) -> String {
    let is_shared = rows(system)
        .iter()
        .filter(|other| other.name == row.name)
        .count()
        > 1;
    match row.when.filter(|_| is_shared) {
        Some((_, value)) => format!("{} `{value}`", code(row.name)),
        None => code(row.name),
    }
}

/// The keys of an event that have other names here, or tell something else too.
fn other_keys(row: &HostEvent) -> Vec<String> {
    let keys = row
        .keys
        .iter()
        .map(|(theirs, ours)| format!("`{theirs}` is `{ours}`"));
    let stand_ins = row.stand_ins.iter();
    keys.chain(stand_ins.map(|one| format!("`{}` tells `{}`", one.theirs, one.ours)))
        .collect()
}

/// The events under their names and ours, and the keys that have other names here. Those of all
/// events are told in words.
pub(super) fn events(system: &str) -> String {
    let of_all: Vec<Vec<String>> = rows(system).iter().map(other_keys).collect();
    let row = |row: &HostEvent| {
        let is_own = |key: &String| !of_all.iter().all(|keys| keys.contains(key));
        let keys: Vec<String> = other_keys(row).into_iter().filter(is_own).collect();
        let refused = match (row.blocks, row.on_failure.name()) {
            (false, _) => "",
            (true, "allow") => "yes, fails open",
            (true, _) => "yes, fails closed",
        };
        [
            name(system, row),
            code(row.event),
            refused.to_string(),
            keys.join(", "),
        ]
    };
    let head = [
        "event",
        "in hookrun",
        "gate",
        "keys with other names in hookrun",
    ];
    table(head, rows(system).iter().map(row))
}

/// The results of the events that take one, and how those of several hooks come together.
pub(super) fn results(system: &str) -> String {
    let row = |row: &HostEvent| {
        let said: Vec<String> = match row.results {
            Results::Form(form) => form.writes.iter().map(|say| say.on.about()).collect(),
            Results::Native => vec!["as in hookrun".to_string()],
            Results::Whole(field, _) => vec![format!("as a whole the new `{field}`")],
            Results::Keys(keys) => keys
                .iter()
                .map(|key| format!("`{}`: {}", key.name, key.says.about()))
                .collect(),
        };
        (!said.is_empty()).then(|| [name(system, row), said.join("; "), row.merging()])
    };
    table(
        ["event", "result", "of several hooks"],
        rows(system).iter().filter_map(row),
    )
}
