//! One hook file, unchanged, decides the same in every system.

use hookrun::hosts::systems;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The hook: it knows nothing of any host.
const GUARD: &str = "case \"$HOOKRUN_ACTION_COMMAND$HOOKRUN_PROMPT\" in\n\
    *'rm -rf'*) echo 'nothing is removed here' >&2; exit 1 ;;\n\
    esac\n\
    echo \"$HOOKRUN_EVENT $HOOKRUN_HOST\" >> decided";

fn sandbox() -> Sandbox {
    ["tool.pre", "prompt.submit", "session.end"]
        .iter()
        .fold(Sandbox::new(), |sandbox, event| {
            sandbox.hook_for(event, "guard.sh", GUARD)
        })
}

/// The name of an event in each system, and a context in its words, about this command.
fn in_words_of(dialect: &str, event: &str, command: &str) -> (&'static str, Value) {
    match (dialect, event) {
        ("loom", "tool.pre") => (
            "tool.pre",
            json!({ "toolName": "bash", "toolInput": { "command": command } }),
        ),
        ("loom", "prompt.submit") => ("user.prompt.submit", json!({ "prompt": command })),
        ("loom", _) => (
            "session.end",
            json!({ "sessionId": "s", "reason": "end_turn" }),
        ),
        ("openclaw", "tool.pre") => (
            "before-tool-call",
            json!({ "toolName": "exec", "args": { "command": command } }),
        ),
        ("openclaw", "prompt.submit") => ("before_agent_run", json!({ "prompt": command })),
        ("openclaw", _) => ("session-end", json!({ "sessionKey": "s" })),
        (_, "tool.pre") => (
            "tool_call",
            json!({ "toolName": "bash", "input": { "command": command } }),
        ),
        (_, "prompt.submit") => ("input", json!({ "text": command })),
        ("omp", _) => ("session_shutdown", json!({})),
        ("pi", _) => ("session", json!({ "reason": "shutdown" })),
        // It has no hook for the end of a session, so the catalog's own rules hold.
        (_, _) => ("session.end", json!({ "sessionId": "s" })),
    }
}

#[test]
fn the_same_hook_decides_the_same_in_all_five_for_a_tool_call_a_prompt_and_a_session_end() {
    for dialect in systems().map(|dialect| dialect.name) {
        for (event, command, status) in [
            ("tool.pre", "rm -rf /", 2),
            ("tool.pre", "ls", 0),
            ("prompt.submit", "please rm -rf all", 2),
            ("prompt.submit", "please look", 0),
            ("session.end", "", 0),
        ] {
            let sandbox = sandbox();
            let (name, context) = in_words_of(dialect, event, command);
            let context = context.to_string();
            let ran = sandbox.hookrun(&["run", name, "--host", dialect], context.as_bytes());
            assert_eq!(ran.status, status, "{dialect} {event} {command}: {ran:?}");
            if status == 2 {
                assert_eq!(ran.stderr, "nothing is removed here\n", "{dialect} {event}");
                sandbox.has_no_file("decided");
            } else {
                let decided = crate::nasty::running::wait_for_text(&sandbox, "decided");
                assert_eq!(decided, format!("{event} {dialect}\n"));
            }
        }
    }
}

#[test]
fn a_name_of_another_system_is_an_error_that_names_the_nearest() {
    let sandbox = Sandbox::new();
    for (name, dialect, help) in [
        ("tool_cal", "wolli", "did you mean `tool_call`?"),
        ("session_starts", "omp", "did you mean `session_start`?"),
        ("tool.per", "loom", "did you mean `tool.pre`?"),
    ] {
        let ran = sandbox.hookrun(&["run", name, "--host", dialect], b"{}");
        ran.exits(2)
            .says(&format!("`{name}` is not an event of {dialect}"))
            .says(help);
    }
    sandbox
        .hookrun(&["run", "tool.pre", "--host", "nobody"], b"{}")
        .exits(2)
        .says("nobody");
}

#[test]
fn a_context_of_another_event_or_with_a_fact_twice_is_blocked() {
    let sandbox = Sandbox::new().hook("hook", "exit 0");
    let ask = |name: &str, dialect: &str, context: Value| {
        let context = context.to_string();
        sandbox.hookrun(&["run", name, "--host", dialect], context.as_bytes())
    };
    ask("tool_call", "wolli", json!({ "type": "tool_result" }))
        .exits(2)
        .says("the context belongs to the event `tool_result`, not to `tool_call`");
    ask("tool_call", "omp", json!({ "input": {}, "toolInput": {} }))
        .exits(2)
        .says("`input` and `toolInput` are two names of one key; keep one of them");
    ask("session", "pi", json!({ "reason": "because" }))
        .exits(2)
        .says("`reason` determines which `session` event this is, but `because` is unknown")
        .says("it must be one of start, before_switch,");
}

#[test]
fn a_hook_that_names_no_dialect_in_a_folder_of_one_is_told_how() {
    let sandbox = Sandbox::new().hook_for("tool_call", "hook.sh", "exit 0");
    let problems = sandbox.problems(&[]).join("\n");
    assert!(
        problems.contains("several systems have an event `tool_call`: wolli, pi, omp, cline [")
            && problems.contains("add the line `# hookrun: dialect="),
        "{problems}"
    );
    // Of one system alone it needs no directive.
    let sandbox = Sandbox::new().hook_for("session", "hook.sh", "exit 0");
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    let sandbox = Sandbox::new().hook_for("tool_call", "hook.sh", "# hookrun: dialect=loom");
    let problems = sandbox.problems(&[]).join("\n");
    assert!(
        problems.contains("`tool_call` is not an event of loom"),
        "{problems}"
    );
}
