//! The tables of the agent hosts: what is written for them, and what their hooks' statuses mean.

use hookrun::dialect::signs::SIGNS;
use hookrun::dialect::{self, Form, On, Put, Refuses, Results, Say};

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
