//! Every chain of three hooks of wolli and of oh-my-pi, out of a few things that a hook can do,
//! against how the system's own runner puts them together.

use serde_json::{Map, Value, json};

use crate::sandbox::Sandbox;

/// What one hook does.
#[derive(Debug, Clone)]
enum Does {
    /// It returns nothing.
    Nothing,
    /// It returns this.
    Returns(Value),
    /// It throws an error.
    Throws,
    /// It changes this of the event in place, and then throws an error.
    ChangesAndThrows(Value),
}

impl Does {
    fn script(&self) -> String {
        match self {
            Does::Nothing => String::new(),
            Does::Returns(value) => format!("printf '%s' '{value}'"),
            Does::Throws => "exit 1".to_string(),
            Does::ChangesAndThrows(value) => format!("printf '%s' '{value}'; exit 1"),
        }
    }

    fn returned(&self) -> Option<&Value> {
        match self {
            Does::Returns(value) => Some(value),
            Does::Nothing | Does::Throws | Does::ChangesAndThrows(_) => None,
        }
    }
}

/// What the host gets: `None` for nothing.
type Comes = Option<Value>;

/// Walks all chains of three, and compares what each comes to with what `runner` says.
fn walk(dialect: &str, event: &str, does: &[Does], runner: fn(&[Does]) -> Comes) {
    let hook = |sandbox: Sandbox, number: usize| {
        sandbox.hook_of(
            dialect,
            event,
            &number.to_string(),
            &format!("eval \"$DO_{number}\""),
        )
    };
    let sandbox = (1..=3).fold(Sandbox::new(), hook);
    for chain in 0..does.len().pow(3) {
        let number = does.len();
        let places = [
            chain / number / number,
            chain / number % number,
            chain % number,
        ];
        let chain = places.map(|place| does[place].clone());
        let choose = |command: &mut std::process::Command| {
            for (number, one) in (1..).zip(&chain) {
                command.env(format!("DO_{number}"), one.script());
            }
        };
        let ran = sandbox.hookrun_as(choose, &["run", event, "--host", dialect], b"{}");
        let found: Comes = serde_json::from_str(&ran.stdout).ok();
        assert_eq!(found, runner(&chain), "{chain:?}: {ran:?}");
        let blocks = |value: &Value| value["block"] == true || value["cancel"] == true;
        assert_eq!(
            ran.status == 2,
            found.as_ref().is_some_and(blocks),
            "{chain:?}: {ran:?}"
        );
    }
}

fn returns(value: Value) -> Does {
    Does::Returns(value)
}

/// The keys of `given` put over those of `result`.
fn over(result: &mut Map<String, Value>, given: &Value, keys: &[&str]) {
    for key in keys {
        if let Some(value) = given.get(*key) {
            result.insert((*key).to_string(), value.clone());
        }
    }
}

fn said(result: Map<String, Value>) -> Comes {
    (!result.is_empty()).then_some(Value::Object(result))
}

#[test]
fn tool_calls_of_wolli_are_patched_until_one_is_blocked() {
    let does = [
        Does::Nothing,
        Does::Throws,
        Does::ChangesAndThrows(json!({ "input": { "by": "thrower" } })),
        returns(json!({ "input": { "by": "patcher" } })),
        returns(json!({ "block": true, "reason": "no" })),
    ];
    walk("wolli", "tool_call", &does, |chain| {
        let mut result = Map::new();
        for one in chain {
            match one {
                Does::Returns(value) if value["block"] == true => return Some(value.clone()),
                Does::Returns(value) | Does::ChangesAndThrows(value) => {
                    over(&mut result, value, &["input"]);
                }
                Does::Nothing | Does::Throws => {}
            }
        }
        said(result)
    });
}

#[test]
fn tool_results_of_wolli_are_patched_key_by_key() {
    let does = [
        Does::Nothing,
        Does::Throws,
        returns(json!({})),
        returns(json!({ "content": [{ "type": "text", "text": "a" }] })),
        returns(json!({ "content": [], "details": { "n": 1 }, "isError": true })),
    ];
    walk("wolli", "tool_result", &does, |chain| {
        let mut result = Map::new();
        for value in chain.iter().filter_map(Does::returned) {
            over(&mut result, value, &["content", "details", "isError"]);
        }
        said(result)
    });
}

#[test]
fn inputs_of_wolli_are_transformed_until_one_is_handled() {
    let does = [
        Does::Nothing,
        Does::Throws,
        returns(json!({ "action": "continue" })),
        returns(json!({ "action": "transform", "text": "a" })),
        returns(json!({ "action": "handled" })),
    ];
    walk("wolli", "input", &does, |chain| {
        let mut last = None;
        for value in chain.iter().filter_map(Does::returned) {
            match value["action"].as_str() {
                Some("handled") => return Some(value.clone()),
                Some("transform") => last = Some(value.clone()),
                _ => {}
            }
        }
        last
    });
}

#[test]
fn starts_of_wollis_agent_gather_messages_and_keep_the_last_system_prompt() {
    let message = |text: &str| json!({ "customType": "note", "content": text });
    let does = [
        Does::Nothing,
        Does::Throws,
        returns(json!({ "message": message("a") })),
        returns(json!({ "systemPrompt": "b" })),
        returns(json!({ "message": message("c"), "systemPrompt": "c" })),
    ];
    walk("wolli", "agent_start", &does, |chain| {
        let mut result = Map::new();
        let returned = || chain.iter().filter_map(Does::returned);
        let messages: Vec<Value> = returned()
            .filter_map(|value| value.get("message").cloned())
            .collect();
        match messages.as_slice() {
            [] => {}
            [one] => drop(result.insert("message".to_string(), one.clone())),
            _ => drop(result.insert("messages".to_string(), messages.into())),
        }
        for value in returned() {
            over(&mut result, value, &["systemPrompt"]);
        }
        said(result)
    });
}

#[test]
fn of_overrides_in_oh_my_pi_the_last_one_counts_as_a_whole() {
    let does = [
        Does::Nothing,
        Does::Throws,
        returns(json!({})),
        returns(json!({ "content": [] })),
        returns(json!({ "details": { "n": 1 } })),
    ];
    walk("omp", "tool_result", &does, |chain| {
        let last = chain.iter().rev().find_map(Does::returned)?;
        said(last.as_object()?.clone())
    });
}

#[test]
fn of_results_before_a_compaction_in_oh_my_pi_the_latest_counts_and_cancel_ends_it() {
    let does = [
        Does::Nothing,
        Does::Throws,
        returns(json!({ "cancel": false })),
        returns(json!({ "compaction": { "summary": "a" } })),
        returns(json!({ "cancel": true })),
    ];
    walk("omp", "session_before_compact", &does, |chain| {
        let mut latest = Map::new();
        for value in chain.iter().filter_map(Does::returned) {
            if value["cancel"] == true {
                return Some(value.clone());
            }
            latest.clear();
            over(&mut latest, value, &["compaction"]);
        }
        said(latest)
    });
}

#[test]
fn tool_calls_of_oh_my_pi_are_blocked_by_the_first_that_blocks_or_throws() {
    let block = |reason: &str| json!({ "block": true, "reason": reason });
    let does = [
        Does::Nothing,
        returns(json!({})),
        returns(json!({ "block": false, "reason": "fine" })),
        returns(block("no")),
        Does::Throws,
    ];
    walk("omp", "tool_call", &does, |chain| {
        for (number, one) in (1..).zip(chain) {
            match one {
                Does::Throws | Does::ChangesAndThrows(_) => {
                    let words = "failed: exited with status 1 (fail closed)";
                    let reason = format!("hook `{number}` {words}");
                    return Some(json!({ "block": true, "reason": reason }));
                }
                Does::Returns(value) if value["block"] == true => return Some(value.clone()),
                Does::Returns(_) | Does::Nothing => {}
            }
        }
        None
    });
}

#[test]
fn of_messages_before_oh_my_pis_agent_starts_the_first_is_kept() {
    let message = |text: &str| json!({ "message": { "customType": "note", "content": text } });
    let does = [
        Does::Nothing,
        Does::Throws,
        returns(message("a")),
        returns(message("b")),
    ];
    walk("omp", "before_agent_start", &does, |chain| {
        chain.iter().find_map(Does::returned).cloned()
    });
}

#[test]
fn contexts_of_oh_my_pi_are_chained() {
    let messages = |text: &str| json!({ "messages": [{ "role": "user", "content": text }] });
    let does = [
        Does::Nothing,
        Does::Throws,
        returns(messages("a")),
        returns(messages("b")),
    ];
    walk("omp", "context", &does, |chain| {
        chain.iter().rev().find_map(Does::returned).cloned()
    });
}
