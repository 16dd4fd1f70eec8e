//! The Agent Hooks Protocol: fixtures of our own, by the text of its draft.

use serde_json::{Value, json};

use super::{Client, cases, wait_for};
use crate::sandbox::Sandbox;

fn before(command: &str) -> Value {
    json!({
        "id": "e1", "source": "urn:uuid:0", "type": "tool.before", "time": "2026-11-22T02:00:00Z",
        "session": { "id": "s" },
        "tool": { "name": "bash", "kind": "shell", "origin": "native",
            "input": { "command": command } },
        "call": { "id": "c1" }, "path": "native",
    })
}

fn intercept(client: &mut Client, event: &Value, capabilities: &Value) -> Value {
    let params =
        json!({ "protocolVersion": "draft", "event": event, "capabilities": capabilities });
    client.request(event["id"].clone(), "hooks/intercept", params);
    client.next()
}

fn denies() -> Value {
    json!({ "effects": ["deny"] })
}

#[test]
fn no_objection_has_no_effect_and_a_block_denies() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let allowed = intercept(&mut client, &before("ls"), &denies());
    let nothing = json!({ "protocolVersion": "draft", "effects": [] });
    assert_eq!(
        allowed,
        json!({ "jsonrpc": "2.0", "id": "e1", "result": nothing })
    );
    let blocked = intercept(&mut client, &before("rm x"), &denies());
    let deny = json!({ "type": "deny", "reason": "no rm, \"never\"", "code": "dev.hookrun.guard" });
    assert_eq!(blocked["result"]["effects"], json!([deny]));
    let failed = intercept(&mut client, &before("crash"), &denies());
    assert_eq!(failed["result"]["effects"][0]["type"], "deny");
    assert_eq!(
        failed["result"]["effects"][0]["code"],
        "dev.hookrun.failure"
    );
    let asked = intercept(&mut client, &before("ask"), &denies());
    assert_eq!(asked["result"]["effects"][0]["type"], "deny");
    assert!(client.end().success());
}

#[test]
fn an_effect_that_is_not_offered_becomes_a_denial_or_an_error() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let rewritten = intercept(&mut client, &before("old"), &denies());
    let effect = &rewritten["result"]["effects"][0];
    assert_eq!(effect["type"], "deny", "{rewritten}");
    assert!(
        effect["reason"].as_str().unwrap().contains("toolInput"),
        "{rewritten}"
    );
    let offered = json!({ "effects": ["deny", "modify"],
        "modify": { "input": { "replace": true } } });
    let rewritten = intercept(&mut client, &before("old"), &offered);
    let modify = json!({ "type": "modify", "target": "input", "operation": "replace",
        "value": { "command": "new" } });
    assert_eq!(rewritten["result"]["effects"], json!([modify]));
    let nothing = json!({ "effects": ["com.example.other"] });
    let blocked = intercept(&mut client, &before("rm x"), &nothing);
    assert_eq!(blocked["error"]["code"], -32004, "{blocked}");
    assert!(
        blocked["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no rm"),
        "{blocked}"
    );
    assert!(client.end().success());
}

#[test]
fn a_blocked_stop_continues_where_that_is_offered_and_context_is_injected() {
    let sandbox = Sandbox::new()
        .hook_for("agent.stop", "tests.sh", "echo 'run the tests' >&2; exit 1")
        .hook_for(
            "tool.batch",
            "teach.sh",
            r#"echo '{"additionalContext":"mind the gap"}'"#,
        );
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let finish = json!({ "id": "f", "source": "urn:x", "type": "turn.finish.before",
        "time": "2026-11-22T02:00:00Z", "turn": { "id": "t" }, "outcome": "completed",
        "continuationCount": 0, "items": [] });
    let offered = json!({ "effects": ["flow"] });
    let answer = intercept(&mut client, &finish, &offered);
    let go_on = json!({ "type": "flow", "operation": "continue", "instruction": "run the tests" });
    assert_eq!(answer["result"]["effects"], json!([go_on]));
    let batch = json!({ "id": "b", "source": "urn:x", "type": "tool.batch.after",
        "time": "2026-11-22T02:00:00Z", "batch": { "id": "b", "callIds": [] }, "calls": [] });
    let offered = json!({ "effects": ["deny", "inject"],
        "inject": { "context": { "append": true, "deliverAt": ["next_turn"] } } });
    let effects = &intercept(&mut client, &batch, &offered)["result"]["effects"];
    assert_eq!(effects[0]["deliverAt"], "next_turn", "{effects}");
    assert_eq!(effects[0]["value"][0]["parts"][0]["text"], "mind the gap");
    assert!(client.end().success());
}

#[test]
fn an_observed_event_is_not_answered_and_its_hooks_run() {
    let sandbox = Sandbox::new()
        .hook_for("tool.post", "seen.sh", "cat >seen.json")
        .hook_for("tool.error", "seen.sh", "cat >error.json");
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let mut after = before("ls");
    after["type"] = "tool.after".into();
    after["outcome"] = "ok".into();
    let part = json!({ "id": "p", "kind": "text", "text": "a.txt" });
    after["items"] = json!([{ "id": "m", "role": "tool", "parts": [part] }]);
    client.notify(
        "hooks/observe",
        json!({ "protocolVersion": "draft", "event": after }),
    );
    let mut failed = after.clone();
    failed["outcome"] = "error".into();
    failed["error"] = json!({ "class": "x", "message": "it broke" });
    client.notify(
        "hooks/observe",
        json!({ "protocolVersion": "draft", "event": failed }),
    );
    // What was told is decided before what is asked afterwards is answered; the hooks need not be
    // done by then.
    wait_for(&sandbox, "error.json");
    wait_for(&sandbox, "seen.json");
    let seen = sandbox.read_json("seen.json");
    assert_eq!(
        (&seen["result"], &seen["toolUseId"]),
        (&json!("a.txt"), &json!("c1"))
    );
    assert_eq!(sandbox.read_json("error.json")["error"], "it broke");
    assert!(client.end().success());
}

#[test]
fn every_fault_of_a_message_has_its_number() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let good = json!({ "protocolVersion": "draft", "event": before("ls"),
        "capabilities": denies() });
    let with = |key: &str, value: Value| {
        let mut params = good.clone();
        params[key] = value;
        params
    };
    let of_type = |name: &str| {
        let mut event = before("ls");
        event["type"] = name.into();
        with("event", event)
    };
    let without = |key: &str| {
        let mut params = good.clone();
        params.as_object_mut().unwrap().remove(key);
        params
    };
    let mut elsewhere = before("ls");
    elsewhere["session"]["cwd"] = json!(["/"]);
    let rows = [
        ("e1", with("protocolVersion", json!("0.2")), -32001),
        ("e1", without("protocolVersion"), -32001),
        ("e1", of_type("hook.failure"), -32002),
        ("e1", of_type("tool.after"), -32002),
        ("e2", good.clone(), -32600),
        ("e1", without("event"), -32602),
        ("e1", without("capabilities"), -32602),
        ("e1", with("event", json!({ "id": "e1" })), -32602),
        ("e1", with("event", elsewhere), -32602),
    ];
    for (id, params, code) in rows {
        client.request(id, "hooks/intercept", params.clone());
        let answer = client.next();
        assert_eq!(answer["error"]["code"], code, "{params}: {answer}");
    }
    // A harness may mean the other value of a key that is there twice.
    let twice = r#"{"id":"e1","type":"tool.before","type":"hook.failure"}"#;
    let params = format!(r#"{{"protocolVersion":"draft","capabilities":{{}},"event":{twice}}}"#);
    let head = r#"{"jsonrpc":"2.0","id":"e1","method":"hooks/intercept","params":"#;
    client.write(format!("{head}{params}}}").as_bytes());
    assert_eq!(client.next()["error"]["code"], -32602);
    client.request(
        "e1",
        "hooks/intercept",
        with("protocolVersion", json!("0.2")),
    );
    assert_eq!(
        client.next()["error"]["data"],
        json!({ "supported": ["draft"] })
    );
    assert!(client.end().success());
}

#[test]
fn the_manifest_says_what_can_be_asked_and_what_is_missing() {
    let sandbox = cases();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    let answer = client.call("hooks/capabilities", json!({ "protocolVersion": "draft" }));
    let manifest = &answer["result"]["manifest"];
    let required = [
        "events",
        "gaps",
        "transports",
        "authentication",
        "toolPaths",
        "contentCategories",
        "limits",
        "managedPolicy",
        "correlationIdentityFields",
    ];
    for key in required {
        assert!(!manifest[key].is_null(), "{key}");
    }
    let events = manifest["events"].as_array().unwrap();
    let before = events
        .iter()
        .find(|event| event["event"] == "tool.before")
        .unwrap();
    assert_eq!(before["capabilities"], json!({ "effects": ["deny"] }));
    // Each that is listed is one that hooks can be bound to.
    for event in events {
        let mut asked = super::ahp::before("ls");
        asked["type"] = event["event"].clone();
        let params = json!({ "protocolVersion": "draft", "event": asked,
            "capabilities": denies() });
        let is_asked = event["modes"]
            .as_array()
            .unwrap()
            .contains(&json!("intercept"));
        client.request("e1", "hooks/intercept", params);
        let answer = client.next();
        assert_eq!(
            answer["error"]["code"] != -32002,
            is_asked,
            "{event}: {answer}"
        );
    }
    assert!(client.end().success());
}
