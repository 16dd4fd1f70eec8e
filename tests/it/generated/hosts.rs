//! The tables of the agent hosts: what can be decided in them, how it is said to them, what they
//! cannot do, and what their hooks' statuses mean.

use hookrun::hosts::settings::FailsClosed;
use hookrun::hosts::{Host, HostEvent, ReplySlot, dialects, find_installable, installable};

use super::{code, table};
use crate::sandbox::Sandbox;

/// The day on which the hosts' documentation was last read.
const DOCUMENTED: &str = "2026-11-22";

/// Hosts that were measured: name, version and date. Of the others only documentation was read.
const MEASURED: &[(&str, &str, &str)] = &[
    ("claude", "2.1.329", "2026-11-21"),
    ("codex", "0.169.0", "2026-11-21"),
    ("gemini", "0.61.0", "2026-11-21"),
    ("copilot", "1.0.102", "2026-11-23"),
    ("qwen", "0.24.4", "2026-11-23"),
    ("factory", "0.225.2", "2026-11-23"),
    ("goose", "1.52.0", "2026-11-23"),
    ("grok", "1.0.41", "2026-11-23"),
    ("kimi", "2.1.0", "2026-11-23"),
    ("cline", "3.0.65 (CLI)", "2026-11-23"),
    ("opencode", "1.18.33", "2026-11-23"),
    ("kilo", "7.7.9", "2026-11-23"),
    ("pi", "0.73.1", "2026-11-23"),
    ("omp", "18.2.3", "2026-11-23"),
];

/// Every host that runs commands, in the order of reports.
fn hosts() -> impl Iterator<Item = &'static str> {
    dialects()
        .filter(|dialect| dialect.has_forms())
        .map(|dialect| dialect.name)
}

/// Every host with a page of its own: those that run commands, and those with plugins.
pub(super) fn pages() -> Vec<&'static str> {
    installable().map(|host| host.name).collect()
}

/// How the name of a part of a host's page begins, and what makes it.
type PartOfHost = (&'static str, fn(&str) -> String);

/// The parts that the page of each host has.
const OF_EACH: &[PartOfHost] = &[
    ("known-of-", known),
    ("events-of-", events),
    ("limits-of-", limits),
];

/// The part of a page of a host, by its name.
pub(super) fn part(name: &str) -> Option<String> {
    let all = OF_EACH
        .iter()
        .filter_map(|(begin, make)| Some((name.strip_prefix(begin)?, make)));
    let mut all = all.filter(|(host, _)| pages().contains(host));
    all.next().map(|(host, make)| make(host))
}

/// The names of all those parts.
pub(super) fn parts() -> impl Iterator<Item = String> {
    let all = hosts().flat_map(|host| {
        OF_EACH
            .iter()
            .map(move |(begin, _)| format!("{begin}{host}"))
    });
    all.chain(
        installable()
            .filter(|host| host.plugin().is_some())
            .map(|host| format!("known-of-{}", host.name)),
    )
    .chain(
        ["opencode", "kilo", "amp"]
            .iter()
            .flat_map(|host| ["events", "limits"].map(|begin| format!("{begin}-of-{host}"))),
    )
}

/// How well a host is known.
fn known(host: &str) -> String {
    let measured = match MEASURED.iter().find(|(name, ..)| *name == host) {
        Some((_, version, date)) => format!("Tested with version {version} on {date}"),
        None => "Not tested".to_string(),
    };
    format!("{measured}; this page follows the agent's documentation as of {DOCUMENTED}.\n")
}

/// The failures of hookrun after which a host still runs the tool.
fn open_on(host: &Host) -> &'static str {
    match host.fails_closed {
        FailsClosed::Never => "cannot start, is killed, prints invalid output, hangs",
        FailsClosed::OnCrash => "prints invalid output, hangs",
        FailsClosed::Always => "never",
    }
}

/// What each host can do where it counts, and what it makes of a hookrun that fails.
pub(super) fn capabilities() -> String {
    let yes = |can: bool| (if can { "yes" } else { "–" }).to_string();
    let rows = installable().map(|can| {
        let gates = ["tool.pre", "prompt.submit", "agent.stop"].into_iter();
        let blocks: Vec<String> = gates.filter(|event| can.blocks(event)).map(code).collect();
        let asks = if can.asks() { "asks" } else { "blocks" }.to_string();
        let measured = MEASURED.iter().find(|(name, ..)| *name == can.name);
        let measured = measured.map_or("–", |(_, version, _)| version).to_string();
        let host = format!("[`{}`](hosts/{}.md)", can.name, can.name);
        let blocks = blocks.join(", ");
        [
            host,
            blocks,
            asks,
            yes(can.rewrites()),
            yes(can.teaches()),
            open_on(can).to_string(),
            measured,
        ]
    });
    let head = [
        "host",
        "a hook can block",
        "a question",
        "new input",
        "text for the model",
        "a tool still runs if hookrun",
        "tested version",
    ];
    table(head, rows)
}

/// The hosts by name, each with a link to its page.
pub(super) fn in_short() -> String {
    let links: Vec<String> = installable()
        .map(|host| format!("[{}](docs/hosts/{}.md)", host.title, host.name))
        .collect();
    format!("{}\n", links.join(", "))
}

/// What a hook can decide in an event, in a few words.
fn decides(row: &HostEvent) -> String {
    let mut words = Vec::new();
    if row.blocks {
        words.push("block".to_string());
    }
    for on in row.says() {
        match on {
            ReplySlot::Block | ReplySlot::Output | ReplySlot::Consent => {}
            ReplySlot::Objection => words.push("object".to_string()),
            ReplySlot::Question => words.push("ask".to_string()),
            ReplySlot::New(field) => words.push(format!("rewrite `{field}`")),
            ReplySlot::Context => words.push("context".to_string()),
        }
    }
    if words.is_empty() {
        words.push("watch".to_string());
    }
    words.join(", ")
}

/// The events of one host.
pub(super) fn events(host: &str) -> String {
    let events = find_installable(host).unwrap().served_events();
    let rows = events.iter().map(|it| {
        let failure = match (it.fails_closed(), it.blocks) {
            (true, _) => "blocks",
            (false, true) => "passes",
            (false, false) => "",
        };
        [
            code(it.name),
            code(it.event),
            decides(it),
            failure.to_string(),
        ]
    });
    table(["event", "in hookrun", "a hook can", "a failure"], rows)
}

/// A line as a sentence.
fn capital(line: &str) -> String {
    let (first, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}", first.to_uppercase())
}

/// What `install` says that a host cannot do, and what is left to its user.
pub(super) fn limits(host: &str) -> String {
    let ran = Sandbox::new().hookrun(&["install", host, "--all-events"], b"");
    ran.exits(0);
    let lines = |mark: &'static str| {
        let lines = ran
            .stdout
            .lines()
            .filter_map(move |line| line.strip_prefix(mark));
        // Where this program lies is no matter of the host.
        lines.filter(|line| !line.starts_with("it calls "))
    };
    let cannot = lines("  note: ").map(|line| format!("- {}.\n", capital(line)));
    let must = lines("  to do: ").map(|line| format!("- Next step: {line}.\n"));
    cannot.chain(must).collect()
}
