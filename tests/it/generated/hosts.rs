//! The tables of the agent hosts: what can be decided in them, how it is said to them, what they
//! cannot do, and what their hooks' statuses mean.

use hookrun::hosts::capability::{self, Capabilities, ServedEvent};
use hookrun::hosts::facts::{self, HostFailure};
use hookrun::hosts::settings::files::{HOST_FILES, Together};
use hookrun::hosts::signs::{SIGNS, SignedEvents};
use hookrun::hosts::{
    self, DIALECTS, HostEvent, Refuses, ReplyForm, ReplyRule, ReplySlot, ReplyValue, Results,
    ToolSort, Wait, plugins,
};
use hookrun::internals::event::catalog::EVENTS;
use hookrun::internals::hook::duration_text;

use super::{code, table};
use crate::sandbox::Sandbox;

const HOSTS: [&str; 5] = ["claude", "codex", "gemini", "cursor", "copilot"];

/// Every host that runs commands, in the order of reports.
fn hosts() -> impl Iterator<Item = &'static str> {
    DIALECTS
        .iter()
        .filter(|dialect| dialect.has_forms())
        .map(|dialect| dialect.name)
}

/// Every host with a page of its own: those that run commands, and those with plugins.
pub(super) fn pages() -> Vec<&'static str> {
    hosts()
        .chain(plugins::PLUGINS.iter().map(|(name, _)| *name))
        .collect()
}

/// How the name of a part of a host's page begins, and what makes it.
type PartOfHost = (&'static str, fn(&str) -> String);

/// The parts that the page of each host has.
const OF_EACH: &[PartOfHost] = &[
    ("known-of-", known),
    ("events-of-", events),
    ("said-to-", said),
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
        plugins::PLUGINS
            .iter()
            .map(|(host, _)| format!("known-of-{host}")),
    )
    .chain(
        ["opencode", "kilo", "amp"]
            .iter()
            .flat_map(|host| ["events", "limits"].map(|begin| format!("{begin}-of-{host}"))),
    )
}

/// How well a host is known.
fn known(host: &str) -> String {
    format!("{}\n", facts::of(host).unwrap().known())
}

/// What each host can do where it counts, and what it makes of a hookrun that fails.
pub(super) fn capabilities() -> String {
    let yes = |can: bool| (if can { "yes" } else { "–" }).to_string();
    let rows = capability::all().map(|can| {
        let gates = ["tool.pre", "prompt.submit", "agent.stop"].into_iter();
        let blocks: Vec<String> = gates.filter(|event| can.blocks(event)).map(code).collect();
        let asks = if can.asks() { "asks" } else { "blocks" }.to_string();
        let open = can.facts.open_on();
        let open = if open.is_empty() {
            "never".to_string()
        } else {
            open.join(", ")
        };
        let measured = can
            .facts
            .measured
            .map_or("–".to_string(), |it| it.version.to_string());
        let (host, blocks) = (code(can.facts.host), blocks.join(", "));
        [
            host,
            blocks,
            asks,
            yes(can.rewrites()),
            yes(can.teaches()),
            open,
            measured,
        ]
    });
    let head = [
        "host",
        "a hook can block",
        "a question",
        "new input",
        "text for the model",
        "a tool runs although hookrun",
        "measured",
    ];
    table(head, rows)
}

/// What has to be accepted in each host, what runs its commands, and what it never shows.
pub(super) fn setups() -> String {
    let rows = capability::all().map(|can| {
        let facts = can.facts;
        let shell = facts
            .shell
            .map_or("– (a plugin or script)".to_string(), |it| it.about());
        let unseen: Vec<String> = facts.unseen.iter().map(ToString::to_string).collect();
        let names = |hosts: &[&str]| {
            hosts
                .iter()
                .map(|it| code(it))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let reads = match facts.converts {
            [] => names(&facts.reads.iter().map(|one| one.host).collect::<Vec<_>>()),
            plugins => format!("plugins for {}", names(plugins)),
        };
        let dash = |text: String| {
            if text.is_empty() {
                "–".to_string()
            } else {
                text
            }
        };
        let trust = facts.trust.unwrap_or_default().to_string();
        [
            code(facts.host),
            dash(trust),
            shell,
            dash(reads),
            dash(unseen.join("; ")),
        ]
    });
    table(
        [
            "host",
            "before it runs hooks",
            "a command is run by",
            "also runs hooks for",
            "no hook sees",
        ],
        rows,
    )
}

/// The same the other way round: which hosts can do what.
pub(super) fn in_short() -> String {
    type Test = fn(&Capabilities) -> bool;
    let rows: [(&str, Test); 7] = [
        ("a hook can block a tool", |can| can.blocks("tool.pre")),
        ("a hook can block a prompt", |can| {
            can.blocks("prompt.submit")
        }),
        ("a hook can keep it from stopping", |can| {
            can.blocks("agent.stop")
        }),
        ("it asks a person; the others block", Capabilities::asks),
        ("a tool can get a new input", Capabilities::rewrites),
        ("no tool runs if hookrun hangs", |can| {
            can.facts.closed_on.contains(&HostFailure::Timeout)
        }),
        ("the client was run with hookrun", |can| {
            can.facts.measured.is_some()
        }),
    ];
    let all = capability::all().count();
    let rows = rows.into_iter().map(|(what, can)| {
        let hosts: Vec<&str> = capability::all()
            .filter(can)
            .map(|it| it.facts.host)
            .collect();
        let hosts = match hosts.len() {
            some if some == all => format!("all {all}"),
            _ => hosts.join(", "),
        };
        [what.to_string(), hosts]
    });
    table(["", "agents"], rows)
}

fn form(host: &str, event: &str) -> Option<(bool, &'static ReplyForm)> {
    let row = hosts::find(host)
        .unwrap()
        .events
        .iter()
        .find(|row| row.name == event)?;
    match row.results {
        Results::Form(form) => Some((row.blocks, form)),
        Results::Native | Results::Keys(_) | Results::Whole(..) => None,
    }
}

fn place(say: &ReplyRule) -> String {
    let mut places: Vec<String> = Vec::new();
    for (path, put) in say.put {
        match put {
            ReplyValue::Word(word) => places.push(code(&format!("{path}: {word}"))),
            ReplyValue::Flag(flag) => places.push(code(&format!("{path}: {flag}"))),
            ReplyValue::Text | ReplyValue::Value | ReplyValue::Plain => places.push(code(path)),
            ReplyValue::Name => {}
        }
    }
    match (places.join(", ").as_str(), say.status) {
        ("", status) => format!("status {status}"),
        (places, 0) => places.to_string(),
        (places, status) => format!("status {status}, {places}"),
    }
}

/// The events of a host, or those that its plugin passes on.
fn told(host: &str) -> Vec<ServedEvent> {
    capability::of(host).unwrap().events
}

fn writes(row: &HostEvent) -> &'static [ReplyRule] {
    match row.results {
        Results::Form(form) => form.writes,
        Results::Native | Results::Keys(_) | Results::Whole(..) => &[],
    }
}

/// What can be decided, in a few words.
fn watched(decides: Vec<String>) -> String {
    if decides.is_empty() {
        "watch".into()
    } else {
        decides.join(", ")
    }
}

/// The events of one host.
pub(super) fn events(host: &str) -> String {
    let rows = told(host).into_iter().map(|it| {
        let failure = match (it.fails_closed, it.blocks) {
            (true, _) => "blocks",
            (false, true) => "passes",
            (false, false) => "",
        };
        let decides = watched(it.decides());
        [code(it.name), code(it.event), decides, failure.to_string()]
    });
    table(["event", "in hookrun", "a hook can", "a failure"], rows)
}

/// How each thing is said to a host; events with the same places stand together.
pub(super) fn said(host: &str) -> String {
    let rows = hosts::find(host).unwrap().events;
    let mut said: Vec<(String, String, Vec<String>)> = Vec::new();
    for row in rows {
        let refusal = ReplyRule {
            on: ReplySlot::Refusal,
            put: &[],
            status: 2,
        };
        let is_listed = writes(row).iter().any(|say| say.on == ReplySlot::Refusal);
        let unlisted = Some(&refusal).filter(|_| row.blocks && !is_listed);
        for say in unlisted.into_iter().chain(writes(row)) {
            let (what, how) = (say.on.about(), place(say));
            match said
                .iter_mut()
                .find(|(one, other, _)| (one, other) == (&what, &how))
            {
                Some((_, _, events)) => events.push(code(row.name)),
                None => said.push((what, how, vec![code(row.name)])),
            }
        }
    }
    let order = ["refusal", "question", "new", "objection", "model", "show"];
    said.sort_by_key(|(what, _, _)| order.iter().position(|word| what.contains(word)));
    let table_rows = said.into_iter().map(|(what, how, events)| {
        let is_everywhere = events.len() == rows.len();
        [
            what,
            how,
            if is_everywhere {
                "every event".to_string()
            } else {
                events.join(", ")
            },
        ]
    });
    table(["what hookrun says", "how", "in"], table_rows)
}

/// Events with what can be decided in them, for one host: names only where they differ.
fn cell(host: &str, event: &str) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for it in told(host).into_iter().filter(|it| it.event == event) {
        let decides = watched(it.decides());
        match groups.iter_mut().find(|(known, _)| *known == decides) {
            Some((_, names)) => names.push(code(it.name)),
            None => groups.push((decides, vec![code(it.name)])),
        }
    }
    match groups.as_slice() {
        [] => "–".to_string(),
        [(decides, _)] => decides.clone(),
        several => {
            let each = several
                .iter()
                .map(|(decides, names)| format!("{}: {decides}", names.join(", ")));
            each.collect::<Vec<_>>().join("; ")
        }
    }
}

/// What can be decided in every event that a host tells, in every host.
pub(super) fn bridge() -> String {
    let all: Vec<&str> = HOSTS
        .into_iter()
        .chain(plugins::PLUGINS.iter().map(|(name, _)| *name))
        .collect();
    let is_told = |event: &str| {
        all.iter()
            .any(|host| told(host).iter().any(|it| it.event == event))
    };
    let rows = EVENTS
        .iter()
        .filter(|spec| is_told(&spec.name))
        .map(|spec| {
            let cells = all.iter().map(|host| cell(host, &spec.name));
            let row: Vec<String> = std::iter::once(code(&spec.name)).chain(cells).collect();
            <[String; 12]>::try_from(row).unwrap()
        });
    let head: Vec<&str> = std::iter::once("event")
        .chain(all.iter().copied())
        .collect();
    table(<[&str; 12]>::try_from(head).unwrap(), rows)
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
    let must = lines("  to do: ").map(|line| format!("- Left to you: {line}.\n"));
    cannot.chain(must).collect()
}

/// Which statuses of a hook that was written for a host refuse a tool.
pub(super) fn statuses() -> String {
    let rows = hosts().map(|host| {
        let gate = hosts::find(host).unwrap().called("tool.pre")[0].row.name;
        let (_, form) = form(host, gate).unwrap();
        let refuses = match form.refuses {
            Refuses::Two => "2 alone".to_string(),
            Refuses::FromTwo => "2 and above".to_string(),
            Refuses::NonZero => "any but 0".to_string(),
            Refuses::TwoOr(other) => format!("2 and {other}"),
        };
        [code(&format!("dialect={host}")), code(gate), refuses]
    });
    table(["a hook with", "for", "blocks with status"], rows)
}

/// What makes a context a host's where nobody says whose it is.
pub(super) fn signs() -> String {
    let all = |keys: &[&str]| {
        keys.iter()
            .map(|key| code(key))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let rows = SIGNS.iter().map(|sign| {
        [
            code(sign.dialect),
            named(sign.named),
            all(sign.has),
            all(sign.lacks),
        ]
    });
    table(["whose", "the event's name is", "with", "without"], rows)
}

/// The settings files of the hosts, and how their hooks run.
pub(super) fn settings() -> String {
    let rows = HOST_FILES.iter().map(|file| {
        let together = match file.together {
            Together::AtOnce => "at once",
            Together::AtOnceUnlessSaid => "at once, unless a group says `sequential`",
            Together::InOrder => "one after another",
        };
        let tool_row = hosts::find(file.dialect).unwrap().called("tool.pre")[0].row;
        let usual = duration_text(file.usual_time(tool_row));
        let shell = code(&format!("{} -c COMMAND", file.shell().program()));
        let time = format!("{}, else {usual}", file.time.unit());
        [
            code(&format!("{}:FILE", file.dialect)),
            file.name.to_string(),
            shell,
            time,
            together.to_string(),
        ]
    });
    table(
        [
            "say",
            "file",
            "commands run by",
            "`timeout` in",
            "hooks of one event",
        ],
        rows,
    )
}

/// What each host calls its tools.
pub(super) fn tools() -> String {
    let sorts = [
        ToolSort::Shell,
        ToolSort::Read,
        ToolSort::Write,
        ToolSort::Edit,
        ToolSort::Patch,
        ToolSort::Grep,
        ToolSort::Glob,
        ToolSort::List,
        ToolSort::Fetch,
        ToolSort::WebSearch,
        ToolSort::Agent,
    ];
    let rows = hosts().map(|host| {
        let tools = hosts::find(host).unwrap().tools;
        let of = |sort: &ToolSort| {
            let what = sort.about();
            let row = tools.rows.iter().find(|row| row.sort == *sort)?;
            let keys = row
                .keys
                .iter()
                .map(|(usual, own)| format!("{own} = {usual}"));
            let keys = keys.collect::<Vec<_>>().join(", ");
            let keys = if keys.is_empty() {
                keys
            } else {
                format!(" ({keys})")
            };
            Some(format!("{what} {}{keys}", code(row.name)))
        };
        let own = sorts.iter().filter_map(of).collect::<Vec<_>>().join(", ");
        [code(host), own, code(&tools.mcp.write("SERVER", "TOOL"))]
    });
    table(
        [
            "host",
            "its tools, and keys of theirs",
            "a tool of an MCP server",
        ],
        rows,
    )
}

/// The variables that hooks of each host find.
pub(super) fn variables() -> String {
    let rows = hosts().map(|host| {
        let names = hosts::find(host)
            .unwrap()
            .variables
            .iter()
            .map(|one| code(one.name));
        let names = names.collect::<Vec<_>>().join(", ");
        [
            code(host),
            if names.is_empty() {
                "none".to_string()
            } else {
                names
            },
        ]
    });
    table(["hooks of", "find"], rows)
}

/// How long each host waits for which of its events, and what hookrun takes of it.
pub(super) fn waits() -> String {
    let mut rows: Vec<(&str, Wait, Vec<String>)> = Vec::new();
    for host in hosts() {
        let dialect = hosts::find(host).unwrap();
        let waits = dialect
            .events
            .iter()
            .filter_map(|row| Some((row.wait?, row)));
        for (wait, row) in waits {
            match rows
                .iter_mut()
                .find(|(name, known, _)| (*name, *known) == (host, wait))
            {
                Some((_, _, names)) => names.push(code(row.name)),
                None => rows.push((host, wait, vec![code(row.name)])),
            }
        }
        let longest = rows.iter_mut().filter(|(name, _, _)| *name == host);
        if let Some((_, _, names)) = longest.max_by_key(|(_, _, names)| names.len()) {
            let is_all = names.len() == dialect.events.len();
            *names = vec![
                if is_all {
                    "every event"
                } else {
                    "every other event"
                }
                .to_string(),
            ];
        }
    }
    let rows = rows.into_iter().map(|(host, wait, names)| {
        let usual = duration_text(wait.usual);
        let usual = if wait.is_known {
            usual
        } else {
            format!("not stated; {usual} are assumed")
        };
        let longest = wait.longest.map_or("any time".to_string(), duration_text);
        let budget = duration_text(Wait::budget(wait.usual));
        [code(host), names.join(", "), usual, longest, budget]
    });
    table(
        [
            "host",
            "event",
            "it waits",
            "its settings may say",
            "hookrun's budget",
        ],
        rows,
    )
}

/// What the name of an event must be, in words.
fn named(events: SignedEvents) -> String {
    match events {
        SignedEvents::Alone => "only the host's".to_string(),
        SignedEvents::Known => "one of the host's".to_string(),
        SignedEvents::KnownNotIn(other) => format!("one of the host's, and none of {other}"),
        SignedEvents::KnownOrNew => "one of the host's, or new".to_string(),
        SignedEvents::Ours => "one of hookrun's, or one of yours with a dot in it".to_string(),
        SignedEvents::Nowhere => "none".to_string(),
    }
}
