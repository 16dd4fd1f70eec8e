//! The tables of the agent hosts: what is written for them, and what their hooks' statuses mean.

use hookrun::dialect::settings::hosts::{HOST_FILES, Together};
use hookrun::dialect::signs::SIGNS;
use hookrun::dialect::tools::Sort;
use hookrun::dialect::{self, Form, On, Put, Refuses, Results, Say};
use hookrun::hook::duration_text;

use super::{code, table};

const HOSTS: [&str; 5] = ["claude", "codex", "gemini", "cursor", "copilot"];

/// What is said, and each host's event for it.
const REPLIES: &[(&str, On, [&str; 5])] = &[
    ("a tool is refused", On::Refusal, GATES),
    ("a question before a tool", On::Question, GATES),
    ("a question before a shell command", On::Question, SHELL),
    ("a new input", On::New("toolInput"), GATES),
    ("context before a tool", On::Context, GATES),
    (
        "a permission is refused",
        On::Refusal,
        ["PermissionRequest", "PermissionRequest", "", "", "permissionRequest"],
    ),
    ("an objection after a tool", On::Objection, AFTER),
    ("a new result", On::New("result"), AFTER),
    ("context after a tool", On::Context, AFTER),
    ("text to show", On::Output, AFTER),
    (
        "context when a session starts",
        On::Context,
        ["SessionStart", "SessionStart", "SessionStart", "sessionStart", "sessionStart"],
    ),
    ("a prompt is refused", On::Refusal, PROMPTS),
    ("context for a prompt", On::Context, PROMPTS),
    ("it shall not stop", On::Refusal, ["Stop", "Stop", "AfterAgent", "stop", "agentStop"]),
];

const GATES: [&str; 5] = ["PreToolUse", "PreToolUse", "BeforeTool", "preToolUse", "preToolUse"];
const SHELL: [&str; 5] =
    ["PreToolUse", "PreToolUse", "BeforeTool", "beforeShellExecution", "preToolUse"];
const AFTER: [&str; 5] = ["PostToolUse", "PostToolUse", "AfterTool", "postToolUse", "postToolUse"];
const PROMPTS: [&str; 5] = [
    "UserPromptSubmit",
    "UserPromptSubmit",
    "BeforeAgent",
    "beforeSubmitPrompt",
    "userPromptSubmitted",
];

fn form(host: &str, event: &str) -> Option<(bool, &'static Form)> {
    let row = dialect::find(host).unwrap().events.iter().find(|row| row.name == event)?;
    match row.results {
        Results::Form(form) => Some((row.blocks, form)),
        Results::Native | Results::Keys(_) | Results::Whole(_) => None,
    }
}

fn place(say: &Say) -> String {
    let mut places: Vec<String> = Vec::new();
    for (path, put) in say.put {
        match put {
            Put::Word(word) => places.push(code(&format!("{path}: {word}"))),
            Put::Flag(flag) => places.push(code(&format!("{path}: {flag}"))),
            Put::Text | Put::Value | Put::Plain => places.push(code(path)),
            Put::Name => {}
        }
    }
    match (places.join(", ").as_str(), say.status) {
        ("", status) => format!("status {status}"),
        (places, 0) => places.to_string(),
        (places, status) => format!("status {status}, {places}"),
    }
}

fn cell(host: &str, event: &str, on: On) -> String {
    let Some((blocks, form)) = form(host, event) else { return "no such event".to_string() };
    match (form.writes.iter().find(|say| say.on == on), on) {
        (Some(say), _) => place(say),
        (None, On::Question) => "refused".to_string(),
        (None, On::Refusal) if !blocks => "cannot be refused".to_string(),
        (None, _) => "no place".to_string(),
    }
}

/// What is written for each host.
pub(super) fn replies() -> String {
    let rows = REPLIES.iter().map(|(said, on, events)| {
        let mut row = vec![(*said).to_string()];
        row.extend(HOSTS.iter().zip(events).map(|(host, event)| cell(host, event, *on)));
        <[String; 6]>::try_from(row).unwrap()
    });
    table(["", HOSTS[0], HOSTS[1], HOSTS[2], HOSTS[3], HOSTS[4]], rows)
}

/// Which statuses of a hook that was written for a host refuse a tool.
pub(super) fn statuses() -> String {
    let rows = HOSTS.iter().zip(GATES).map(|(host, gate)| {
        let (_, form) = form(host, gate).unwrap();
        let refuses = match form.refuses {
            Refuses::Two => "2 alone",
            Refuses::FromTwo => "2 and above",
            Refuses::NonZero => "any but 0",
        };
        [code(&format!("dialect={host}")), code(gate), refuses.to_string()]
    });
    table(["a hook with", "for", "refuses by status"], rows)
}

/// What makes a context a host's where nobody says whose it is.
pub(super) fn signs() -> String {
    let all = |keys: &[&str]| keys.iter().map(|key| code(key)).collect::<Vec<_>>().join(", ");
    let rows = SIGNS
        .iter()
        .map(|sign| [code(sign.dialect), sign.named.about(), all(sign.has), all(sign.lacks)]);
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
        let usual = duration_text(file.time.usual);
        let shell = code(&format!("{} COMMAND", file.shell.join(" ")));
        let time = format!("{}, else {usual}", file.time.unit());
        [
            code(&format!("{}:FILE", file.dialect)),
            file.name.to_string(),
            shell,
            time,
            together.to_string(),
        ]
    });
    table(["say", "file", "commands run by", "`timeout` in", "hooks of one event"], rows)
}

/// What each host calls its tools.
pub(super) fn tools() -> String {
    let sorts = [
        ("a shell command", Sort::Shell),
        ("reads a file", Sort::Read),
        ("writes a file", Sort::Write),
        ("edits a file", Sort::Edit),
        ("patches files", Sort::Patch),
        ("searches files", Sort::Grep),
        ("finds files", Sort::Glob),
        ("lists a folder", Sort::List),
        ("fetches a page", Sort::Fetch),
        ("searches the web", Sort::WebSearch),
        ("asks a subagent", Sort::Agent),
    ];
    let rows = sorts.iter().map(|(what, sort)| {
        let cell = |host: &&str| {
            let rows = dialect::find(host).unwrap().tools.rows;
            let own = rows.iter().find(|row| row.sort == *sort);
            own.map_or_else(String::new, |row| {
                let keys = row.keys.iter().map(|(usual, own)| format!("{own} = {usual}"));
                let keys = keys.collect::<Vec<_>>().join(", ");
                if keys.is_empty() {
                    code(row.name)
                } else {
                    format!("{} ({keys})", code(row.name))
                }
            })
        };
        let mut row = vec![(*what).to_string()];
        row.extend(HOSTS.iter().map(cell));
        row
    });
    let mcp = HOSTS
        .iter()
        .map(|host| code(&dialect::find(host).unwrap().tools.mcp.write("SERVER", "TOOL")));
    let mcp = std::iter::once("a tool of an MCP server".to_string()).chain(mcp).collect();
    let all = rows.chain(std::iter::once(mcp)).map(|row| <[String; 6]>::try_from(row).unwrap());
    table(["", HOSTS[0], HOSTS[1], HOSTS[2], HOSTS[3], HOSTS[4]], all)
}

/// The variables that hooks of each host find.
pub(super) fn variables() -> String {
    let rows = HOSTS.iter().map(|host| {
        let names = dialect::find(host).unwrap().variables.iter().map(|one| code(one.name));
        let names = names.collect::<Vec<_>>().join(", ");
        [code(host), if names.is_empty() { "none".to_string() } else { names }]
    });
    table(["hooks of", "find"], rows)
}
