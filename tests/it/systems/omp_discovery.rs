//! What a host that speaks oh-my-pi finds: the first of several hooks with one key wins, and a
//! mistake keeps only its own hook from running.

use serde_json::json;

use crate::sandbox::Sandbox;

const SEE: &str = "echo \"$0\" >> ran";

/// A hook with this name in the user's layer, and one in the project's.
fn in_two_layers(event: &str, directive: (&str, &str)) -> Sandbox {
    let (user, project) = directive;
    let text = |directive: &str| format!("#!/bin/sh\n# hookrun: {directive}\n{SEE}\n");
    Sandbox::new()
        .script(
            &format!("home/.config/hookrun/hooks.d/{event}/hook"),
            &text(user),
        )
        .script(&format!("hooks.d/{event}/hook"), &text(project))
}

/// Which layers' hooks ran.
fn layers_that_ran(sandbox: &Sandbox) -> Vec<&'static str> {
    let ran = std::fs::read_to_string(sandbox.at("ran")).unwrap_or_default();
    let layer = |line: &str| {
        if line.contains("/.config/") {
            "user"
        } else {
            "project"
        }
    };
    ran.lines().map(layer).collect()
}

fn start(sandbox: &Sandbox, dialect: &str) {
    sandbox
        .ask(dialect, "turn_start", &json!({ "turnIndex": 0 }))
        .allows();
}

#[test]
fn the_first_of_two_hooks_with_one_key_wins_and_the_other_is_excluded() {
    let sandbox = in_two_layers("turn_start", ("dialect=omp", "dialect=omp"));
    start(&sandbox, "omp");
    assert_eq!(layers_that_ran(&sandbox), ["project"]);
}

#[test]
fn hooks_of_any_dialect_are_shadowed_in_that_host_and_in_no_other() {
    let sandbox = in_two_layers("turn.start", ("priority=1", "priority=2"));
    start(&sandbox, "omp");
    assert_eq!(layers_that_ran(&sandbox), ["project"]);
    start(&sandbox, "pi");
    assert_eq!(layers_that_ran(&sandbox), ["project", "user", "project"]);
}

#[test]
fn a_guard_is_not_shadowed_by_another_layer_in_any_host() {
    let said = json!({ "toolName": "bash", "input": { "command": "ls" } });
    let guard = "#!/bin/sh\necho 'the guard says no' >&2; exit 1\n";
    for (event, dialect) in [("tool.pre", "native"), ("tool_call", "omp")] {
        let directive = format!("# hookrun: dialect={dialect}\n");
        let guard = guard
            .replacen('\n', &format!("\n{directive}"), 1)
            .replace("exit 1", "exit 2");
        let sandbox = Sandbox::new()
            .script(
                &format!("home/.config/hookrun/hooks.d/{event}/guard"),
                &guard,
            )
            .file(
                "hookrun.toml",
                "[[hook]]\nname = \"guard\"\nevent = \"tool.pre\"\ncommand = \"true\"\n",
            );
        let ran = sandbox.ask("omp", "tool_call", &said);
        assert!(
            format!("{ran:?}").contains("the guard says no"),
            "{event}: {ran:?}"
        );
    }
}

#[test]
fn the_order_of_the_layers_is_explicit_project_user() {
    let sandbox = in_two_layers("turn.start", ("priority=1", "priority=2")).script(
        "extra/turn.start/hook",
        "#!/bin/sh\necho explicit >> order\n",
    );
    let arguments = [
        "run",
        "turn_start",
        "--host",
        "omp",
        "--hooks",
        "extra",
        "--discover",
    ];
    sandbox.hookrun(&arguments, b"{}").allows();
    assert_eq!(sandbox.read("order"), "explicit\n");
    assert!(layers_that_ran(&sandbox).is_empty());
}

#[test]
fn of_two_folders_on_the_command_line_the_first_wins() {
    let sandbox = Sandbox::new()
        .script("one/turn.start/hook", "#!/bin/sh\necho one >> order\n")
        .script("two/turn.start/hook", "#!/bin/sh\necho two >> order\n");
    let arguments = [
        "run",
        "turn_start",
        "--host",
        "omp",
        "--hooks",
        "one",
        "--hooks",
        "two",
    ];
    sandbox.hookrun(&arguments, b"{}").allows();
    assert_eq!(sandbox.read("order"), "one\n");
}

#[test]
fn the_key_is_the_event_the_tool_and_the_name() {
    let sandbox = in_two_layers(
        "tool_result",
        ("dialect=omp tool=bash", "dialect=omp tool=read"),
    );
    let context = json!({ "toolName": "bash", "input": { "command": "ls" } });
    sandbox.ask("omp", "tool_result", &context).allows();
    assert_eq!(layers_that_ran(&sandbox), ["user"]);
    let same = in_two_layers(
        "tool_result",
        ("dialect=omp tool=bash", "dialect=omp tool=bash"),
    );
    same.ask("omp", "tool_result", &context).allows();
    assert_eq!(layers_that_ran(&same), ["project"]);
}

#[test]
fn a_hook_that_does_not_run_shadows_nothing() {
    let sandbox = in_two_layers("turn_start", ("dialect=omp", "dialect=omp enabled=false"));
    start(&sandbox, "omp");
    assert_eq!(layers_that_ran(&sandbox), ["user"]);
    let sandbox = in_two_layers("turn_start", ("dialect=omp", "dialect=omp timout=1s"));
    start(&sandbox, "omp");
    assert_eq!(layers_that_ran(&sandbox), ["user"]);
}

#[test]
fn list_show_test_and_validate_name_what_shadows_a_hook() {
    let sandbox = in_two_layers("turn_start", ("dialect=omp", "dialect=omp"));
    let by = format!(
        "shadowed by {} (project layer)",
        sandbox
            .at("hooks.d/turn_start/hook")
            .canonicalize()
            .unwrap()
            .display()
    );
    let with = |arguments: &[&str]| {
        let mut all = arguments.to_vec();
        all.extend(["--host", "omp"]);
        sandbox.hookrun(&all, b"")
    };
    with(&["list"]).exits(0).prints(&format!("(idle: {by})"));
    with(&["list", "--event", "turn_start"])
        .exits(0)
        .prints(&format!("(idle: {by})"));
    with(&["list", "hook"]).exits(0).prints(&by);
    with(&["test", "turn_start"]).exits(0).prints(&by);
    with(&["validate"])
        .exits(0)
        .prints(&format!("`hook` never runs: {by}"));
    let plain = sandbox.hookrun(&["list"], b"");
    assert!(!plain.stdout.contains("shadowed"), "{plain:?}");
}

// Load errors are captured, and loading continues for other hooks.

/// Hooks of two events, one with a mistake.
fn with_a_mistake(event: &str) -> Sandbox {
    Sandbox::new()
        .hook_of(
            "omp",
            event,
            "10-broken",
            "# hookrun: timout=1s\ntouch broken",
        )
        .hook_of("omp", event, "20-whole", "touch whole")
}

#[test]
fn a_hook_that_cannot_be_read_is_told_and_the_others_run() {
    for event in [
        "turn_start",
        "tool_result",
        "session_before_switch",
        "context",
    ] {
        let sandbox = with_a_mistake(event);
        let ran = sandbox.ask("omp", event, &json!({}));
        ran.allows()
            .says("unknown setting `timout`")
            .says("`hookrun validate`");
        sandbox.has_file("whole");
        sandbox.has_no_file("broken");
    }
}

#[test]
fn a_tool_call_is_refused_while_one_of_its_hooks_cannot_be_read() {
    let sandbox = with_a_mistake("tool_call");
    let ran = sandbox.ask(
        "omp",
        "tool_call",
        &json!({ "toolName": "bash", "input": {} }),
    );
    ran.exits(2)
        .says("nothing is allowed while")
        .says("timout")
        .prints("\"block\":true");
    sandbox.has_no_file("whole");
}

#[test]
fn a_mistake_in_a_hook_of_another_event_does_not_refuse_a_tool_call() {
    let manifest = "[[hook]]\nname = \"late\"\nevent = \"turn_end\"\ncommand = \"true\"\n\
         dialect = \"omp\"\ntimeout = \"soon\"\n";
    let sandbox = Sandbox::new()
        .hook_of("omp", "tool_call", "guard", "touch whole")
        .file("hookrun.toml", manifest);
    let call = json!({ "toolName": "bash", "input": {} });
    sandbox
        .ask("omp", "tool_call", &call)
        .allows()
        .says("`timeout`");
    sandbox.has_file("whole");
    // hookrun's own way: any mistake closes every gate.
    sandbox
        .run_shell("ls")
        .blocks_saying("nothing is allowed while");
}

#[test]
fn a_mistake_that_may_be_about_any_hook_refuses_a_tool_call() {
    let call = json!({ "toolName": "bash", "input": {} });
    for sandbox in [
        Sandbox::new().file("hookrun.toml", "[[hook"),
        Sandbox::new().file(
            "hookrun.toml",
            "[[hook]]\nname = \"x\"\ncommand = \"true\"\n",
        ),
        Sandbox::new().hook_of("omp", "tool_cal", "guard", "exit 2"),
        Sandbox::new().file(
            "hookrun.toml",
            "[[hook]]\nname = \"x\"\nevent = [\"turn_end\", \"tol_call\"]\ncommand = \"true\"\n",
        ),
    ] {
        sandbox
            .ask("omp", "tool_call", &call)
            .exits(2)
            .says("nothing is allowed while");
        sandbox
            .ask("omp", "session_before_tree", &json!({}))
            .allows()
            .says("validate");
    }
}
