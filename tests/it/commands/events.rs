//! `hookrun events [EVENT]`.

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn the_table_has_a_line_for_every_event_and_marks_gates() {
    let sandbox = Sandbox::new();
    let all = sandbox.json(&["events", "--format", "json"]);
    let events = all["events"].as_array().unwrap();
    let ran = sandbox.hookrun(&["events"], b"");
    ran.exits(0);
    for event in events {
        let name = event["name"].as_str().unwrap();
        let line = ran
            .stdout
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        let line = line.unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(line.contains(" gate  "), event["blocks"] == true, "{line}");
        assert!(line.ends_with(event["summary"].as_str().unwrap()), "{line}");
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(ran.stdout.lines().count(), events.len() + 5);
    assert_eq!(all["version"], 1);
}

#[test]
fn the_events_that_hosts_agree_on_are_there() {
    let names = Sandbox::new().hookrun(&["events"], b"").stdout;
    for name in [
        "session.start",
        "session.end",
        "prompt.submit",
        "tool.pre",
        "tool.post",
        "turn.start",
        "turn.end",
        "compact.pre",
        "commit.pre",
        "push.pre",
    ] {
        assert!(
            names
                .lines()
                .any(|line| line.starts_with(&format!("{name} "))),
            "{name}"
        );
    }
}

#[test]
fn one_event_is_shown_in_full_under_any_of_its_names() {
    let sandbox = Sandbox::new();
    let canonical = sandbox.hookrun(&["events", "tool.pre"], b"");
    canonical
        .exits(0)
        .prints("tool.pre  runs when a tool is about to run\n")
        .prints("PreToolUse")
        .prints("  blocks      yes\n")
        .prints("  on failure  block\n")
        .prints("  schedule    sequential\n")
        .prints("  rewrites    toolInput: chain\n")
        .prints("  toolName        string   the tool, as the host calls it (required)\n")
        .prints("  action.commands              array    every command in the command line\n")
        .prints(
            "  action.commands.N.program    string   null if unknown before the command runs\n",
        );
    for name in ["PreToolUse", "BeforeTool", "TOOL.PRE", "pretooluse"] {
        let ran = sandbox.hookrun(&["events", name], b"");
        assert_eq!(ran.stdout, canonical.stdout, "{name}");
    }
}

#[test]
fn the_sample_that_is_shown_can_be_piped_back() {
    let sandbox = Sandbox::new().hook("x.sh", "");
    let shown = sandbox.hookrun(&["events", "tool.pre"], b"").stdout;
    let sample = shown.lines().last().unwrap().trim();
    let ran = sandbox.hookrun(&["test", "tool.pre"], sample.as_bytes());
    ran.exits(0).prints("command  echo hello");
}

#[test]
fn an_event_of_ones_own_is_among_them() {
    let sandbox = Sandbox::new().file(
        "hookrun.toml",
        "[event.\"deploy.pre\"]\nsummary = \"a deployment is near\"\ncontext = { service = \"string\" }\n",
    );
    let table = sandbox.hookrun(&["events"], b"").stdout;
    let line = table
        .lines()
        .find(|line| line.starts_with("deploy.pre "))
        .unwrap();
    assert!(
        line.contains("gate") && line.ends_with("a deployment is near"),
        "{line}"
    );

    let one = sandbox.json(&["events", "deploy.pre", "--format", "json"]);
    assert_eq!(
        one,
        json!({
            "name": "deploy.pre", "summary": "a deployment is near", "aliases": [],
            "blocks": true, "textIsContext": false, "onFailure": "block", "schedule": "sequential",
            "stop": "first", "rewrites": [],
            "context": [{
                "name": "service", "type": "string", "about": "declared in hookrun.toml",
            }],
            "sample": { "event": "deploy.pre", "service": "text" },
        })
    );
    sandbox
        .hookrun(&["events", "deploy.per"], b"")
        .exits(2)
        .says("did you mean `deploy.pre`?");
}

#[test]
fn an_unknown_event_is_rejected_with_the_nearest_one() {
    let said = |name: &str| {
        let ran = Sandbox::new().hookrun(&["events", name], b"");
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.stderr
    };
    assert_eq!(
        said("tool-pre-"),
        "error: unknown event `tool-pre-`\n  help: did you mean `tool.pre`?\n"
    );
    assert_eq!(
        said("PreTolUse"),
        "error: unknown event `PreTolUse`\n  help: did you mean `PreToolUse`?\n"
    );
    assert!(said("zzz").contains("`hookrun events` lists the events"));
}

#[test]
fn the_common_events_come_first_and_every_event_once() {
    let ran = Sandbox::new().hookrun(&["events"], b"");
    let names = ran
        .stdout
        .lines()
        .filter_map(|line| line.split("  ").next());
    let names: Vec<&str> = names.map(str::trim_end).collect();
    assert_eq!(names[1..4], ["tool.pre", "tool.post", "prompt.submit"]);
    assert!(
        ran.stdout.starts_with("Common\ntool.pre "),
        "{}",
        ran.stdout
    );
    for spec in hookrun::internals::event::catalog::EVENTS {
        let count = names
            .iter()
            .filter(|name| name.trim_end() == spec.name)
            .count();
        assert_eq!(count, 1, "{}", spec.name);
    }
}
