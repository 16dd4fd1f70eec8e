//! The hooks of hosts that ask by HTTP.

use std::io::Write;

use serde_json::{Value, json};

use super::{HttpReply, HttpServer};
use crate::sandbox::Sandbox;
use crate::serve::{CASES, DoorCase, by_run, cases};

/// What `run` says in a document: stdout, or a block with the reason on stderr.
fn check(case: &DoorCase, run: &Value, body: &str, decision: Option<&str>) {
    let name = case.name;
    let stdout = run["stdout"].as_str().unwrap();
    let is_blocked = run["status"] != 0;
    assert_eq!(
        decision == Some("block"),
        is_blocked || decision_of(stdout),
        "{name}: {body}"
    );
    if !is_blocked || !stdout.is_empty() {
        assert_eq!(body, stdout, "{name}");
        return;
    }
    // Only the status and stderr of a command block there: its words say it here.
    let reason = run["stderr"].as_str().unwrap().trim_end();
    let document: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{name}: {body}"));
    let said = document["reason"].as_str();
    let own = &document["hookSpecificOutput"];
    let said = said.or(own["permissionDecisionReason"].as_str());
    assert_eq!(said, Some(reason), "{name}: {body}");
}

/// Whether a document blocks where the status is 0.
fn decision_of(stdout: &str) -> bool {
    stdout.contains(r#""permissionDecision":"deny""#)
}

#[test]
fn every_case_is_answered_as_run_answers_it() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    // The folder that the context names is where the hooks are.
    let own = format!(r#""cwd":"{}""#, sandbox.path().display());
    for case in CASES {
        let context: &'static str = case.context.replace(r#""cwd":"/""#, &own).leak();
        let case = &DoorCase { context, ..*case };
        let run = by_run(&sandbox, case);
        let path = format!("/hooks/{}?event={}", case.host, case.event);
        for reply in [
            server.post(&path, case.context),
            server.ask_socket(&path, case.context),
        ] {
            assert_eq!(reply.status, 200, "{}: {reply:?}", case.name);
            let decision = reply.header("x-hookrun-decision");
            check(case, &run, &reply.body, decision);
        }
    }
    assert!(server.end().success());
}

#[test]
fn the_context_may_name_its_event() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let context = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm x"}}"#;
    let told = server.post("/hooks/claude", context).json();
    assert_eq!(
        told["hookSpecificOutput"],
        json!({ "permissionDecision": "deny", "permissionDecisionReason": "no rm, \"never\"",
            "hookEventName": "PreToolUse" })
    );
}

#[test]
fn whatever_cannot_be_read_is_a_block_that_the_host_reads() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    for body in [
        "",
        "{",
        "[]",
        r#"{"a":1,"a":2}"#,
        "\u{1}",
        r#"{"toolName":"bash"} x"#,
    ] {
        let ran = sandbox.hookrun_as(|_| {}, &["run", "tool.pre", "--host", "native"], b"");
        assert_eq!(ran.status, 2);
        let ran = sandbox.hookrun(&["run", "turn.end"], body.as_bytes());
        let reply = server.post("/hooks/native?event=turn.end", body);
        assert_eq!(reply.status, 200, "{body}: {reply:?}");
        if body.is_empty() {
            let reason = reply.json()["reason"].as_str().unwrap().to_string();
            assert!(reason.contains("no event in the body"), "{reason}");
        } else {
            assert_eq!(reply.body, ran.stdout, "{body}");
        }
        assert_eq!(ran.status, 2, "{body}");
    }
    let copilot = server.post("/hooks/copilot", "{").json();
    assert_eq!(copilot["permissionDecision"], "deny", "{copilot}");
    assert_eq!(copilot["continue"], false, "{copilot}");
    let nobody = server.post("/hooks/cluade", "{}").json();
    assert_eq!(nobody["continue"], false, "{nobody}");
    assert!(
        nobody["reason"].as_str().unwrap().contains("`cluade`"),
        "{nobody}"
    );
}

#[test]
fn the_hooks_are_those_of_the_project_that_the_client_works_in() {
    let one = Sandbox::new().hook("10-no.sh", "echo one >&2; exit 1");
    let two = Sandbox::new().hook("10-no.sh", "echo two >&2; exit 1");
    let trust = format!(
        "[trust]\npaths = [\"{}\", \"{}\"]\n",
        one.path().display(),
        two.path().display()
    );
    let one = one.file(crate::sandbox::USER_FILE, &trust);
    let server = HttpServer::start(&one);
    let place = two.path().display().to_string();
    let context = json!({ "toolName": "bash", "toolInput": { "command": "ls" }, "cwd": place });
    let told = server.post("/hooks/native?event=tool.pre", &context.to_string());
    assert_eq!(told.json()["reason"], "two");
    let bare = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    let path = "/hooks/native?event=tool.pre";
    assert_eq!(server.post(path, bare).json()["reason"], "one");
    let header = format!("X-Hookrun-Project: {place}");
    assert_eq!(
        server.ask_with("POST", path, &[&header], bare).json()["reason"],
        "two"
    );
    let two = two.file("jürgen/file", "").file("none", "");
    let below = format!("{header}/jürgen");
    assert_eq!(
        server.ask_with("POST", path, &[&below], bare).json()["reason"],
        "two"
    );
    let wrong = [
        "X-Hookrun-Project: here",
        "X-Hookrun-Project:",
        &format!("{header}/none"),
    ];
    for wrong in wrong {
        let told = server.ask_with("POST", path, &[wrong], bare).json();
        assert!(
            told["reason"]
                .as_str()
                .unwrap()
                .contains("not the absolute path"),
            "{told}"
        );
    }
    let told = server
        .ask_with("POST", path, &[&header, &below], bare)
        .json();
    assert!(
        told["reason"].as_str().unwrap().contains("appears twice"),
        "{told}"
    );
    let told = server
        .post(path, r#"{"toolName":"bash","cwd":["/"]}"#)
        .json();
    assert_eq!(told["reason"], "`cwd` is not a string");
    // As Node sends it.
    let mut stream = server.tcp();
    let head = format!(
        "{}{below}\r\nContent-Length: {}\r\n\r\n",
        server.head("POST", path),
        bare.len()
    );
    let head: Vec<u8> = head.chars().map(|c| u8::try_from(c).unwrap()).collect();
    stream
        .write_all(&[&head, bare.as_bytes()].concat())
        .unwrap();
    assert_eq!(
        HttpReply::read(&mut stream).unwrap().json()["reason"],
        "two"
    );
    drop(two);
}

#[test]
fn hooks_start_where_the_client_is_and_get_nothing_that_a_host_has_told_the_server() {
    let sandbox = Sandbox::new();
    let said = sandbox.at("said").display().to_string();
    let say = format!(r#"echo "$PWD|$CLAUDE_PROJECT_DIR|$CLAUDE_CODE_SESSION_ID" >>'{said}'"#);
    let sandbox = sandbox
        .hook("10-own.sh", &say)
        .hook_of("claude", "tool.pre", "20-claude.sh", &say)
        .file("sub/file", "")
        .variable("CLAUDE_PROJECT_DIR", "/elsewhere")
        .variable("CLAUDE_CODE_SESSION_ID", "other");
    let server = HttpServer::start(&sandbox);
    let sub = sandbox.at("sub").display().to_string();
    let header = format!("X-Hookrun-Project: {sub}");
    let call = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let reply = server.ask_with("POST", "/hooks/claude", &[&header], call);
    assert_eq!(reply.body, "", "{reply:?}");
    assert_eq!(sandbox.read("said"), format!("{sub}||\n{sub}|{sub}|s\n"));
}

#[test]
fn broken_settings_and_hooks_that_are_not_trusted_close_gates_here_too() {
    let path = "/hooks/native?event=tool.pre";
    let context = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    let sandbox = cases().file("hookrun.toml", "[hook.x]\nevnt = \"tool.pre\"\n");
    let server = HttpServer::start(&sandbox);
    let ran = sandbox.hookrun(&["run", "tool.pre"], context.as_bytes());
    assert_eq!(server.post(path, context).body, ran.stdout);
    assert_eq!(ran.status, 2, "{ran:?}");
    let sandbox = sandbox.file("hookrun.toml", "");
    // A change counts after a moment.
    let started = std::time::Instant::now();
    while !server.post(path, context).body.is_empty() {
        assert!(started.elapsed() < crate::serve::FAR);
    }
    drop(server);
    let sandbox = sandbox.without_trust();
    let server = HttpServer::start(&sandbox);
    let ran = sandbox.hookrun(&["run", "tool.pre"], context.as_bytes());
    assert_eq!(server.post(path, context).body, ran.stdout);
    assert!(ran.stdout.contains("hookrun trust"), "{ran:?}");
}

#[test]
fn curl_can_ask() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let address = format!("http://{}/hooks/native?event=tool.pre", server.address);
    let token = format!("Authorization: Bearer {}", server.token);
    let context = r#"{"toolName":"bash","toolInput":{"command":"rm x"}}"#;
    let mut curl = std::process::Command::new("curl");
    curl.args([
        "-sS",
        "--noproxy",
        "*",
        "-H",
        &token,
        "-d",
        context,
        &address,
    ]);
    let Ok(output) = curl.output() else {
        crate::bounds::skip("there is no curl here");
        return;
    };
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        told,
        json!({ "continue": false, "reason": "no rm, \"never\"" })
    );
}
