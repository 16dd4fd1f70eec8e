//! Every row of every dialect does what it says, for a host that asks in that system's words
//! and for a hook that was written for it.

use hookrun::hosts::{Act, Binding, HostEvent, KeyMeaning, Results, systems};
use hookrun::internals::event::{
    Context, Event, JsonType, Merge, OnFailure, Rewrite, Schedule, catalog,
};
use serde_json::{Map, Value, json};

use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox};

/// A sandbox with one native hook for a row, and what the host of the row gets.
fn decide(binding: Binding, body: &str) -> (Sandbox, Ran) {
    let sandbox = Sandbox::new().hook_for(binding.row.event, "hook", body);
    let ran = ask(&sandbox, binding);
    (sandbox, ran)
}

fn ask(sandbox: &Sandbox, binding: Binding) -> Ran {
    let context = binding.encode(&event(binding)).to_json();
    let arguments = ["run", binding.row.name, "--host", binding.dialect.name];
    // Hooks that nobody waits for are done before their sandbox is gone.
    Running::start(sandbox, &arguments)
        .feed(&context)
        .ended()
        .ran
}

/// The catalog's sample of a row's event.
fn event(binding: Binding) -> Event {
    let spec = binding.spec();
    let context = Context::parse(spec.sample()).unwrap();
    Event::new(spec.into(), binding.dialect.name, context).unwrap()
}

/// Calls `check` with every row; its panics name the row.
fn for_each_row(check: impl Fn(Binding) + std::panic::RefUnwindSafe) {
    let mut wrong = Vec::new();
    for dialect in systems() {
        for row in dialect.events {
            let binding = Binding { dialect, row };
            if std::panic::catch_unwind(|| check(binding)).is_err() {
                wrong.push(format!("{}: {}", dialect.name, row.full_name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The result that refuses in the row's words, without its reason.
fn block(row: &HostEvent) -> Value {
    let mut result = Map::new();
    let Results::Keys(keys) = row.results else {
        return json!({ "continue": false });
    };
    let has_word = keys.iter().any(|key| {
        matches!(key.says, KeyMeaning::Action(words) if words.iter().any(|(_, act)| *act == Act::Block))
    });
    for key in keys {
        // One place says it.
        if key.says == KeyMeaning::Block(true) && !has_word {
            result.insert(key.name.to_string(), true.into());
        }
        let refuses_by_key = keys.iter().any(|key| key.says == KeyMeaning::Block(true));
        if matches!(key.says, KeyMeaning::Field(_, Merge::Claim)) && !refuses_by_key {
            result.insert(key.name.to_string(), true.into());
        }
        if let KeyMeaning::Action(words) = key.says {
            let refuses = words.iter().find(|(_, act)| *act == Act::Block);
            let claims = words.iter().find(|(_, act)| matches!(act, Act::Claim(_)));
            result.insert(key.name.to_string(), refuses.or(claims).unwrap().0.into());
        }
    }
    Value::Object(result)
}

fn reason_key(row: &HostEvent) -> Option<&'static str> {
    match row.results {
        Results::Keys(keys) => keys
            .iter()
            .find(|key| key.says == KeyMeaning::Reason)
            .map(|key| key.name),
        Results::Native => Some("reason"),
        Results::Whole(..) | Results::Form(_) | Results::Plugin(_) => None,
    }
}

#[test]
fn silence_is_silence_in_every_row() {
    for_each_row(|binding| {
        decide(binding, "exit 0").1.allows();
    });
}

#[test]
fn a_block_is_said_in_the_words_of_every_gate_and_is_a_notice_elsewhere() {
    for_each_row(|binding| {
        let (_sandbox, ran) = decide(binding, "echo no >&2; exit 1");
        if binding.row.schedule == Schedule::Detached {
            ran.allows();
        } else if binding.row.blocks {
            ran.exits(2).says("no");
            let mut wanted = block(binding.row);
            if let Some(key) = reason_key(binding.row) {
                wanted[key] = "no".into();
            }
            assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), wanted);
        } else {
            ran.exits(0)
                .says("objects (this event cannot be blocked): no");
            // loom is told of an objection all the same.
            let is_native = matches!(binding.row.results, Results::Native);
            let told = if is_native {
                "{\"continue\":false,\"reason\":\"no\"}\n"
            } else {
                ""
            };
            assert_eq!(ran.stdout, told);
        }
    });
}

#[test]
fn list_and_show_print_the_rules_that_apply_in_every_row() {
    for_each_row(|binding| {
        let row = binding.row;
        let sandbox = Sandbox::new().hook_for(row.event, "hook", "exit 0");
        let list = sandbox.json(&["list", "--host", binding.dialect.name, "--format", "json"]);
        let rules = list["hooks"][0]["rules"].as_array().unwrap();
        let own = rules
            .iter()
            .find(|rules| rules["event"] == row.full_name())
            .unwrap();
        let blocks_on_failure = row.blocks && row.on_failure == OnFailure::Block;
        let on_failure = if blocks_on_failure { "block" } else { "allow" };
        let said = (
            own["blocks"].as_bool(),
            own["onFailure"].as_str(),
            own["schedule"].as_str(),
        );
        assert_eq!(
            said,
            (
                Some(row.blocks),
                Some(on_failure),
                Some(row.schedule.name())
            )
        );

        let text = sandbox
            .hookrun(&["list", "--host", binding.dialect.name], b"")
            .stdout;
        let gate = if row.blocks {
            "can be blocked"
        } else {
            "cannot be blocked"
        };
        assert!(
            text.contains(gate) && text.contains(row.schedule.name()),
            "{text}"
        );
        let show = sandbox.hookrun(&["list", "hook", "--host", binding.dialect.name], b"");
        show.exits(0).prints(on_failure);
    });
}

#[test]
fn what_show_says_of_a_failure_is_what_happens_to_a_hook_of_another_system() {
    for_each_row(|binding| {
        let row = binding.row;
        let spec = catalog::find(row.event).unwrap();
        if !spec.blocks || row.schedule == Schedule::Detached {
            return;
        }
        let name = binding.dialect.name;
        let sandbox = Sandbox::new().hook_of(name, row.event, "hook", "kill -SEGV $$");
        let list = sandbox.json(&["list", "--format", "json"]);
        let rules = &list["hooks"][0]["rules"][0];
        assert_eq!(rules["onFailureFrom"], "dialect", "{list}");
        let ran = sandbox.hookrun(&["run", row.event], spec.sample().as_bytes());
        let status = if rules["onFailure"] == "block" { 2 } else { 0 };
        ran.exits(status).says("killed by SIGSEGV");
    });
}

#[test]
fn a_failure_blocks_where_the_row_fails_closed() {
    for_each_row(|binding| {
        let (_sandbox, ran) = decide(binding, "kill -SEGV $$");
        let row = binding.row;
        if row.schedule == Schedule::Detached {
            ran.allows();
        } else if row.blocks && row.on_failure == OnFailure::Block {
            ran.exits(2)
                .says("hook `hook` failed: killed by SIGSEGV (fail closed)");
        } else {
            ran.exits(0).says("failed: killed by SIGSEGV");
        }
    });
}

/// A value that differs from the sample, of a kind.
fn new_value(kind: JsonType, rewrite: &Rewrite) -> Value {
    match kind {
        JsonType::String => json!("new"),
        JsonType::Integer | JsonType::Number => json!(7),
        JsonType::Boolean => json!(true),
        JsonType::Array => json!([{ "role": "user", "content": "new" }]),
        JsonType::Object if rewrite.field == "message" => {
            json!({ "role": "assistant", "content": "new" })
        }
        JsonType::Object | JsonType::Any => json!({ "new": 1 }),
    }
}

/// What the host is told when a field of ours has this new value.
fn told(row: &HostEvent, field: &str, value: &Value) -> Value {
    let keys = match row.results {
        Results::Whole(..) => return value.clone(),
        Results::Native | Results::Form(_) | Results::Plugin(_) => {
            return json!({ "update": { field: value } });
        }
        Results::Keys(keys) => keys,
    };
    let mut result = Map::new();
    for key in keys {
        if let KeyMeaning::Action(words) = key.says {
            let fits = |act: Act| match act {
                Act::Claim(claimed) => claimed == field,
                Act::Rewrite => field != "handled",
                Act::Pass | Act::Allow | Act::Ask | Act::Block => false,
            };
            let word = words.iter().find(|(_, act)| fits(*act)).unwrap().0;
            result.insert(key.name.to_string(), word.into());
        }
        if matches!(key.says, KeyMeaning::Field(known, _) if known == field) {
            result.insert(key.name.to_string(), value.clone());
        }
        if let KeyMeaning::Entry(entry, _) = key.says
            && entry == field
        {
            result.insert(key.name.to_string(), value[0].clone());
        }
    }
    Value::Object(result)
}

#[test]
fn every_rewrite_of_every_row_reaches_its_host_under_its_own_key() {
    for_each_row(|binding| {
        let spec = catalog::find(binding.row.event).unwrap();
        for rewrite in &binding.row.results.rewrites() {
            let kind = spec
                .context
                .iter()
                .find(|key| key.name == rewrite.field)
                .unwrap()
                .kind;
            let value = new_value(kind, rewrite);
            let answer = json!({ "update": { rewrite.field.as_ref(): value } });
            let body = format!("# hookrun: rewrite\ncat >/dev/null\nprintf '%s\\n' '{answer}'");
            let (_sandbox, ran) = decide(binding, &body);
            ran.exits(0);
            let got: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(
                got,
                told(binding.row, &rewrite.field, &value),
                "{}",
                rewrite.field
            );
        }
    });
}

#[test]
fn a_hook_of_every_row_gets_that_systems_names_and_keys() {
    for_each_row(|binding| {
        let row = binding.row;
        if row.schedule == Schedule::Detached {
            return;
        }
        let name = binding.dialect.name;
        let body = format!("# hookrun: dialect={name}\ncat > \"$HOOKRUN_PROJECT_DIR/got\"");
        let sandbox = Sandbox::new().hook_for(row.name, "hook", &body);
        let context = event(binding).context().to_json();
        sandbox.hookrun(&["run", row.event], &context).exits(0);
        let got: Value = serde_json::from_str(&sandbox.read("got")).unwrap();
        assert_eq!(got[binding.dialect.names_event_by], row.name);
        for (at, (theirs, ours)) in row.keys.iter().enumerate() {
            let theirs_is_there = got.get(*theirs).is_some();
            let is_last = !row.keys[at + 1..].iter().any(|(_, other)| other == ours);
            let is_carried = catalog::find(row.event).unwrap().carries(ours);
            assert_eq!(theirs_is_there, is_carried && is_last, "{theirs}");
            let is_theirs_too = row.keys.iter().any(|(other, _)| other == ours);
            assert!(is_theirs_too || got.get(*ours).is_none(), "{ours}");
        }
        for one in row.stand_ins.iter().filter(|one| one.is_made) {
            let is_carried = catalog::find(row.event).unwrap().carries(one.ours);
            assert_eq!(got.get(one.theirs).is_some(), is_carried, "{}", one.theirs);
        }
        if let Some((key, value)) = row.when {
            assert_eq!(got[key], value);
        }
    });
}

#[test]
fn a_hook_of_every_gate_blocks_by_its_own_result_and_by_status_2_in_a_native_host() {
    for_each_row(|binding| {
        let row = binding.row;
        let can_say = !matches!(row.results, Results::Whole(..))
            && row.blocks
            && catalog::find(row.event).unwrap().blocks
            // To take an input is no refusal.
            && !["action", "handled"].iter().any(|key| block(row).get(key).is_some());
        let name = binding.dialect.name;
        let mut bodies = vec!["echo no >&2; exit 2".to_string()];
        if can_say {
            let mut result = block(row);
            if let Some(key) = reason_key(row) {
                result[key] = "no".into();
            }
            bodies.push(format!("printf '%s\\n' '{result}'"));
        }
        for body in bodies {
            let body = format!("# hookrun: dialect={name}\n{body}");
            let sandbox = Sandbox::new().hook_for(row.name, "hook", &body);
            let context = event(binding).context().to_json();
            let ran = sandbox.hookrun(&["run", row.event], &context);
            if catalog::find(row.event).unwrap().blocks {
                ran.exits(2);
            }
        }
    });
}
