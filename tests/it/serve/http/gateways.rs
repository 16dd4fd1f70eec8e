//! AuthZEN, OPA and ext_authz: clients that know yes and no.

use std::io::Write;

use serde_json::{Value, json};

use super::{HttpReply, HttpServer};
use crate::serve::cases;

fn evaluation(command: &str, context: Value) -> Value {
    json!({
        "subject": { "type": "identity", "id": "ana" },
        "action": { "name": "tool.pre" },
        "resource": { "type": "tool", "id": "bash",
            "properties": { "input": { "command": command } } },
        "context": context,
    })
}

fn evaluate(server: &HttpServer, asked: &Value) -> Value {
    let reply = server.post("/access/v1/evaluation", &asked.to_string());
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

#[test]
fn a_gateway_gets_yes_or_no_with_the_reason() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let told = evaluate(&server, &evaluation("ls", json!({})));
    assert_eq!(told["decision"], true, "{told}");
    let told = evaluate(&server, &evaluation("rm x", json!({})));
    assert_eq!(told["decision"], false);
    assert_eq!(told["context"]["reason"], "no rm, \"never\"");
    assert_eq!(told["context"]["cause"], "policy");
    assert_eq!(told["context"]["rule"], "10-guard.sh");
    assert!(told["context"]["decision_id"].is_string());
    let told = evaluate(&server, &evaluation("crash", json!({})));
    assert_eq!(
        (&told["decision"], &told["context"]["cause"]),
        (&json!(false), &json!("failure"))
    );
    let told = evaluate(&server, &evaluation("ask", json!({})));
    assert_eq!(
        (&told["decision"], &told["context"]["cause"]),
        (&json!(false), &json!("person"))
    );
    let mut unknown = evaluation("ls", json!({}));
    unknown["action"]["name"] = json!("can_read");
    let told = evaluate(&server, &unknown);
    assert_eq!(
        (&told["decision"], &told["context"]["cause"]),
        (&json!(false), &json!("failure"))
    );
    let mut coaz = evaluation("rm x", json!({}));
    coaz["action"]["name"] = json!("tools/call");
    assert_eq!(
        evaluate(&server, &coaz)["context"]["reason"],
        "no rm, \"never\""
    );
}

#[test]
fn a_change_goes_only_to_a_gateway_that_carries_it_out() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let told = evaluate(&server, &evaluation("old", json!({})));
    assert_eq!(told["decision"], false);
    let reason = told["context"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("`toolInput`") && reason.contains("`custom`"),
        "{reason}"
    );
    let announced = json!({ "supported_obligations": ["step-up", "custom"] });
    let told = evaluate(&server, &evaluation("old", announced));
    assert_eq!(told["decision"], true, "{told}");
    let obligation = &told["context"]["obligations"][0];
    assert_eq!(obligation["type"], "custom");
    assert_eq!(
        obligation["properties"]["toolInput"],
        json!({ "command": "new" })
    );
}

#[test]
fn several_evaluations_share_what_is_said_for_all_and_stop_where_they_should() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let tool = |command: &str| {
        json!({ "resource": { "type": "tool", "id": "bash",
            "properties": { "input": { "command": command } } } })
    };
    let decisions = |semantic: Option<&str>, each: Value| {
        let mut asked = evaluation("unused", json!({}));
        asked["evaluations"] = each;
        if let Some(semantic) = semantic {
            asked["options"] = json!({ "evaluations_semantic": semantic });
        }
        let told = server
            .post("/access/v1/evaluations", &asked.to_string())
            .json();
        let each = told["evaluations"]
            .as_array()
            .unwrap_or_else(|| panic!("{told}"))
            .clone();
        each.iter()
            .map(|one| one["decision"].as_bool().unwrap())
            .collect::<Vec<bool>>()
    };
    let each = json!([tool("ls"), tool("rm x"), tool("ls")]);
    assert_eq!(decisions(None, each.clone()), [true, false, true]);
    assert_eq!(
        decisions(Some("execute_all"), each.clone()),
        [true, false, true]
    );
    assert_eq!(
        decisions(Some("deny_on_first_deny"), each.clone()),
        [true, false]
    );
    assert_eq!(decisions(Some("permit_on_first_permit"), each), [true]);
    let broken = json!([{ "resource": { "type": "tool" } }, tool("ls")]);
    assert_eq!(decisions(None, broken), [false, true]);
    let mut wrong = evaluation("ls", json!({}));
    wrong["evaluations"] = json!([tool("ls")]);
    wrong["options"] = json!({ "evaluations_semantic": "any" });
    assert_eq!(
        server
            .post("/access/v1/evaluations", &wrong.to_string())
            .status,
        400
    );
    // Without a list it is a single one.
    let one = server.post(
        "/access/v1/evaluations",
        &evaluation("ls", json!({})).to_string(),
    );
    assert_eq!(one.json()["decision"], true);
}

#[test]
fn a_request_that_lacks_what_the_specification_requires_is_a_fault_of_the_call() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let whole = evaluation("ls", json!({}));
    for part in [
        "/subject",
        "/subject/id",
        "/subject/type",
        "/action",
        "/action/name",
        "/resource",
        "/resource/id",
        "/resource/type",
    ] {
        let mut asked = whole.clone();
        let (parent, key) = part.rsplit_once('/').unwrap();
        asked
            .pointer_mut(parent)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(key);
        let reply = server.post("/access/v1/evaluation", &asked.to_string());
        assert_eq!(reply.status, 400, "{part}: {reply:?}");
    }
    assert_eq!(server.post("/access/v1/evaluation", "[]").status, 400);
    // What can be read in two ways, or looks elsewhere than it means to.
    for (context, resource, problem) in [
        (
            "{}",
            r#"{"input":{"command":"ls"},"input":{"command":"rm x"}}"#,
            "appears twice",
        ),
        (
            "{}",
            r#"{"command":"rm x"}"#,
            "`resource.properties.input` is missing",
        ),
        (r#"{"cwd":7}"#, "{}", "`context.cwd` is no text"),
        (r#"{"session":["s"]}"#, "{}", "`context.session` is no text"),
        (r#"{"project":7}"#, "{}", "`context.project` is no text"),
        (r#"{"project":"here"}"#, "{}", "no whole path of a folder"),
        (
            r#"{"project":"/nowhere/at/all"}"#,
            "{}",
            "no whole path of a folder",
        ),
    ] {
        let asked = format!(
            r#"{{"subject":{{"type":"identity","id":"ana"}},"action":{{"name":"tool.pre"}},
            "resource":{{"type":"tool","id":"bash","properties":{resource}}},"context":{context}}}"#
        );
        let reply = server.post("/access/v1/evaluation", &asked);
        assert!(
            reply.status == 400 && reply.body.contains(problem),
            "{asked}: {reply:?}"
        );
    }
    // Fields that nobody knows are ignored.
    let mut asked = whole;
    asked["more"] = json!(1);
    asked["subject"]["more"] = json!({});
    assert_eq!(evaluate(&server, &asked)["decision"], true);
}

#[test]
fn a_gateway_finds_the_endpoints_and_its_request_again() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let told = server
        .ask("GET", "/.well-known/authzen-configuration", "")
        .json();
    let base = format!("http://{}", server.address);
    assert_eq!(told["policy_decision_point"], base);
    assert_eq!(
        told["access_evaluation_endpoint"],
        format!("{base}/access/v1/evaluation")
    );
    assert_eq!(
        told["access_evaluations_endpoint"],
        format!("{base}/access/v1/evaluations")
    );
    let body = evaluation("ls", json!({})).to_string();
    let id = "X-Request-ID: bfe9eb29-ab87-4ca3-be83-a1d5d8305716";
    let reply = server.ask_with("POST", "/access/v1/evaluation", &[id], &body);
    assert_eq!(
        reply.header("x-request-id"),
        id.split_once(": ").map(|(_, id)| id)
    );
}

#[test]
fn paths_of_opa_are_events() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let ask = |path: &str, command: &str| {
        let input = json!({ "toolName": "bash", "toolInput": { "command": command } });
        server.post(path, &json!({ "input": input }).to_string())
    };
    let path = "/v1/data/hookrun/tool/pre";
    assert_eq!(
        ask(path, "ls").json()["result"],
        json!({ "allow": true, "deny": [] })
    );
    let told = ask(path, "rm x").json();
    assert_eq!(
        told["result"],
        json!({ "allow": false, "deny": ["no rm, \"never\""], "cause": "policy" })
    );
    assert!(told["decision_id"].is_string());
    let bare = "/v1/data/hookrun/tool/pre/allow";
    assert_eq!(ask(bare, "ls").json()["result"], true);
    assert_eq!(ask(bare, "rm x").json()["result"], false);
    assert_eq!(ask(bare, "old").json()["result"], false);
    assert_eq!(ask(path, "old").json()["result"]["allow"], false);
    let told = ask("/v1/data/hookrun/tool/pre?changes=true", "old").json();
    assert_eq!(
        told["result"],
        json!({ "allow": true, "deny": [], "update": { "toolInput": { "command": "new" } } })
    );
    assert_eq!(ask("/v1/data/hookrun/no/such", "ls").json(), json!({}));
    assert_eq!(server.post(path, "{}").status, 400);
    assert_eq!(
        server
            .post(path, r#"{"input":{"toolName":"bash","cwd":7}}"#)
            .status,
        400
    );
    assert_eq!(server.post("/v1/data/other", "{}").status, 404);
}

#[test]
fn a_proxy_asks_about_requests_by_an_event_that_the_user_declares() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let reply = server.ask("GET", "/ext-authz/admin/users?x=1", "");
    assert_eq!(reply.status, 403, "{reply:?}");
    assert!(
        reply.body.contains("unknown event `http.request`"),
        "{reply:?}"
    );
    drop(server);
    let sandbox = sandbox
        .file("hookrun.toml", "[event.\"http.request\"]\nsummary = \"a request\"\nblocks = true\n")
        .hook_for(
            "http.request",
            "10-admin.sh",
            r#"case $(cat) in *'"path":"/admin/users"'*'"query":"x=1"'*'"x-user":"bob"'*) echo no admin >&2; exit 1 ;; esac"#,
        );
    let server = HttpServer::start(&sandbox);
    let ask = |path: &str| server.ask_with("DELETE", path, &["X-User: bob"], "body");
    let reply = ask("/ext-authz/admin/users?x=1");
    assert_eq!((reply.status, reply.body.as_str()), (403, "no admin\n"));
    let reply = ask("/ext-authz/other");
    assert_eq!((reply.status, reply.body.as_str()), (200, ""));
    // Envoy sends on the `Host` that its client asked.
    for (token, path, status) in [
        (server.token.as_str(), "/ext-authz/other", 200),
        ("wrong", "/ext-authz/other", 401),
        (&server.token, "/health", 403),
    ] {
        let mut stream = server.tcp();
        let head = format!("GET {path} HTTP/1.1\r\nHost: shop.example\r\n");
        write!(stream, "{head}Authorization: Bearer {token}\r\n\r\n").unwrap();
        assert_eq!(
            HttpReply::read(&mut stream).unwrap().status,
            status,
            "{path}"
        );
    }
}

#[test]
fn what_was_decided_is_counted() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    for command in ["ls", "ls", "rm x"] {
        evaluate(&server, &evaluation(command, json!({})));
    }
    server.post("/access/v1/evaluation", "{");
    let reply = server.ask("GET", "/metrics", "");
    assert!(
        reply
            .header("content-type")
            .unwrap()
            .starts_with("text/plain")
    );
    for line in [
        "hookrun_decisions_total{event=\"tool.pre\",decision=\"allow\"} 2",
        "hookrun_decisions_total{event=\"tool.pre\",decision=\"block\"} 1",
        "hookrun_unserved_total{reason=\"malformed\"} 1",
        "hookrun_in_progress 0",
        "hookrun_decision_seconds_bucket{le=\"+Inf\"} 3",
        "hookrun_decision_seconds_count 3",
    ] {
        assert!(
            reply.body.lines().any(|own| own == line),
            "{line}\n{}",
            reply.body
        );
    }
    let health = server.ask("GET", "/health", "").json();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["decided"], 3);
    assert_eq!(server.ask("POST", "/health", "").status, 405);
    assert_eq!(server.ask("GET", "/", "").status, 404);
}
