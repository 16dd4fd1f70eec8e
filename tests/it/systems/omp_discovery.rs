//! What a host that speaks oh-my-pi finds: a mistake keeps only its own hook from running.

use serde_json::json;

use crate::sandbox::Sandbox;

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
fn a_tool_call_is_blocked_while_one_of_its_hooks_cannot_be_read() {
    let sandbox = with_a_mistake("tool_call");
    let ran = sandbox.ask(
        "omp",
        "tool_call",
        &json!({ "toolName": "bash", "input": { "command": "ls" } }),
    );
    ran.exits(2)
        .says("everything is blocked, because")
        .says("timout")
        .prints("\"block\":true");
    sandbox.has_no_file("whole");
}

#[test]
fn a_mistake_in_a_hook_of_another_event_does_not_block_a_tool_call() {
    let manifest = "[[hook]]\nname = \"late\"\nevent = \"turn_end\"\ncommand = \"true\"\n\
         dialect = \"omp\"\ntimeout = \"soon\"\n";
    let sandbox = Sandbox::new()
        .hook_of("omp", "tool_call", "guard", "touch whole")
        .file("hookrun.toml", manifest);
    let call = json!({ "toolName": "bash", "input": { "command": "ls" } });
    sandbox
        .ask("omp", "tool_call", &call)
        .allows()
        .says("`timeout`");
    sandbox.has_file("whole");
    // hookrun's own way: any mistake closes every gate.
    sandbox
        .run_shell("ls")
        .blocks_saying("everything is blocked, because");
}

#[test]
fn a_mistake_that_may_be_about_any_hook_blocks_a_tool_call() {
    let call = json!({ "toolName": "bash", "input": { "command": "ls" } });
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
            .says("everything is blocked, because");
        sandbox
            .ask("omp", "session_before_tree", &json!({}))
            .allows()
            .says("validate");
    }
}
