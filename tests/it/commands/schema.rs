//! `hookrun schema EVENT`.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What of `value` does not conform to `schema`; the words of JSON Schema that hookrun uses.
fn misses(schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, rule) in schema.as_object().unwrap() {
        let fits = match word.as_str() {
            "type" if rule.is_array() => {
                let one = |rule: &Value| misses(&json!({ "type": rule }), value, path).is_empty();
                rule.as_array().unwrap().iter().any(one)
            }
            "type" => match rule.as_str().unwrap() {
                "null" => value.is_null(),
                "string" => value.is_string(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "object" => value.is_object(),
                "array" => value.is_array(),
                other => panic!("unknown type {other}"),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "required" => rule
                .as_array()
                .unwrap()
                .iter()
                .all(|key| value.get(key.as_str().unwrap()).is_some()),
            "properties" => {
                for (key, schema) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(key) {
                        found.extend(misses(schema, value, &format!("{path}.{key}")));
                    }
                }
                true
            }
            "items" => {
                for (at, value) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(misses(rule, value, &format!("{path}.{at}")));
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(rule, false);
                let known = schema["properties"].as_object().unwrap();
                value
                    .as_object()
                    .is_none_or(|value| value.keys().all(|key| known.contains_key(key)))
            }
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            other => panic!("{path}: a word that this checker does not know: {other}"),
        };
        if !fits {
            found.push(format!("{path}: {word} {rule}: {value}"));
        }
    }
    found
}

fn schema(sandbox: &Sandbox, event: &str) -> Value {
    sandbox.json(&["schema", event])
}

#[test]
fn what_a_hook_is_told_about_a_command_conforms_to_the_schema() {
    let sandbox = Sandbox::new().hook("see", "cat > seen");
    sandbox.run_shell("X=1 $Y | sudo rm \"$x\" *.o > log").allows();
    let seen: Value = serde_json::from_str(&sandbox.read("seen")).unwrap();
    let schema = schema(&sandbox, "tool.pre");
    assert_eq!(misses(&schema, &seen, "tool.pre"), Vec::<String>::new());
    let known = &schema["properties"]["action"]["properties"];
    let command = &known["commands"]["items"]["properties"];
    let are_known = |value: &Value, known: &Value| {
        value.as_object().unwrap().keys().all(|key| known.get(key).is_some())
    };
    assert!(are_known(&seen["action"], known), "{seen}");
    assert!(
        seen["action"]["commands"].as_array().unwrap().iter().all(|one| are_known(one, command))
    );
}

#[test]
fn the_sample_of_every_event_conforms_to_its_schema_and_names_every_key() {
    let sandbox = Sandbox::new();
    let all = sandbox.json(&["events", "--format", "json"]);
    for event in all["events"].as_array().unwrap() {
        let name = event["name"].as_str().unwrap();
        let schema = schema(&sandbox, name);
        assert_eq!(misses(&schema, &event["sample"], name), Vec::<String>::new());
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["title"], name);
        for key in event["context"].as_array().unwrap() {
            let key = key["name"].as_str().unwrap();
            assert!(schema["properties"][key]["description"].is_string(), "{name}: {key}");
        }
        for rewrite in event["rewrites"].as_array().unwrap() {
            let field = rewrite["field"].as_str().unwrap();
            let update = &schema["$defs"]["result"]["properties"]["update"]["properties"];
            assert!(update[field].is_object(), "{name}: {field}");
        }
    }
}

#[test]
fn another_context_does_not_conform() {
    let schema = schema(&Sandbox::new(), "tool.pre");
    let context = json!({ "event": "tool.post", "toolName": 3, "toolInput": [], "turnIndex": 1.5 });
    assert_eq!(misses(&schema, &context, "").len(), 4);
    assert_eq!(misses(&schema, &json!({}), "").len(), 1, "event is required");
}

#[test]
fn what_a_hook_really_gets_conforms_too() {
    let sandbox = Sandbox::new().hook("x.sh", "cat > got");
    let context = json!({
        "toolName": "Bash", "toolInput": { "command": "ls" }, "sessionId": "s", "turnIndex": 3,
        "cwd": sandbox.path().display().to_string(), "ofTheHostsOwn": { "kept": true },
    });
    sandbox.hookrun(&["run", "tool.pre"], context.to_string().as_bytes()).allows();

    let got: Value = serde_json::from_str(&sandbox.read("got")).unwrap();

    assert_eq!(misses(&schema(&sandbox, "tool.pre"), &got, ""), Vec::<String>::new());
    assert_eq!(got["ofTheHostsOwn"], json!({ "kept": true }));
}

#[test]
fn the_schema_of_a_result_has_the_keys_of_the_contract() {
    let schema = schema(&Sandbox::new(), "tool.pre");
    let result = &schema["$defs"]["result"];
    let properties = result["properties"].as_object().unwrap();
    let keys: Vec<&String> = properties.keys().collect();
    for key in ["continue", "reason", "ask", "output", "additionalContext", "update", "findings"] {
        assert!(properties[key]["description"].is_string(), "{key}");
    }
    assert_eq!(keys.len(), 7, "{keys:?}");
    let good = json!({ "continue": false, "reason": "no", "update": { "toolInput": {} } });
    assert_eq!(misses(result, &good, ""), Vec::<String>::new());
    let bad = json!({ "continue": "no", "ask": true, "update": { "cwd": "/" } });
    assert_eq!(misses(result, &bad, "").len(), 3);
}

#[test]
fn an_event_of_ones_own_has_a_schema() {
    let sandbox = Sandbox::new().file(
        "hookrun.toml",
        "[event.deploy]\nsummary = \"a deployment is near\"\ncontext = { at = \"integer\", x = \"any\" }\n",
    );
    let schema = schema(&sandbox, "deploy");
    assert_eq!(misses(&schema, &json!({ "event": "deploy", "at": 3, "x": null }), ""), [""; 0]);
    assert_eq!(misses(&schema, &json!({ "event": "deploy", "at": "3" }), "").len(), 1);
}

#[test]
fn an_unknown_event_is_refused_with_the_nearest_one() {
    let ran = Sandbox::new().hookrun(&["schema", "tool.per"], b"");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert_eq!(ran.stderr, "error: unknown event `tool.per`\n  help: did you mean `tool.pre`?\n");
}
