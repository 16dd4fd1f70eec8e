//! `POST /decide`, and the pages about the server itself.

use serde_json::{Value, json};

use super::HttpServer;
use crate::serve::{CASES, by_run, cases};

#[test]
fn every_case_is_answered_as_run_answers_it() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    for case in CASES {
        let context: Value = serde_json::from_str(case.context).unwrap();
        let question = json!({
            "host": case.host, "event": case.event, "context": context,
            "cwd": sandbox.path().display().to_string(),
        });
        let reply = server.post("/decide", &question.to_string());
        assert_eq!(reply.status, 200, "{}: {reply:?}", case.name);
        assert_eq!(reply.json(), by_run(&sandbox, case), "{}", case.name);
    }
}

#[test]
fn what_is_no_question_is_a_fault_of_the_call() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    for body in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"context":{},"evnet":"tool.pre"}"#,
        r#"{"context":{},"context":{}}"#,
        r#"{"context":{"a":1,"a":2}}"#,
        r#"{"context":[]}"#,
        r#"{"context":{"cwd":7},"event":"tool.pre"}"#,
        r#"{"context":{},"host":"cluade"}"#,
    ] {
        let reply = server.post("/decide", body);
        assert_eq!(reply.status, 400, "{body}: {reply:?}");
        assert!(reply.json()["error"].is_string(), "{body}: {reply:?}");
    }
}

#[test]
fn health_is_read_and_other_paths_do_not_exist() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    assert_eq!(server.health()["status"], "ok");
    assert_eq!(server.ask("POST", "/health", "").status, 405);
    assert_eq!(server.ask("GET", "/", "").status, 404);
}
