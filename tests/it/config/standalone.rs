//! Scripts that are named on the command line, and name their events themselves.

use crate::sandbox::{Ran, Sandbox};

/// A hook that notes its name and event.
fn noting(event: &str) -> String {
    format!("#!/bin/sh\n# hookrun: event={event}\necho \"$0 $HOOKRUN_EVENT\" >> log\n")
}

fn run(sandbox: &Sandbox, event: &str, arguments: &[&str]) -> Ran {
    let mut all = vec!["run", event];
    all.extend(arguments);
    sandbox.hookrun(&all, br#"{"toolName":"bash","toolInput":{"command":"ls"}}"#)
}

/// The files of the hooks that ran, below the sandbox, with their events.
fn ran(sandbox: &Sandbox) -> Vec<String> {
    let root = sandbox.path().canonicalize().unwrap();
    let log = std::fs::read_to_string(sandbox.at("log")).unwrap_or_default();
    let below = |line: &str| {
        let (file, event) = line.split_once(' ').unwrap();
        let file = std::path::Path::new(file).canonicalize().unwrap();
        format!("{} {event}", file.strip_prefix(&root).unwrap().display())
    };
    log.lines().map(below).collect()
}

#[test]
fn a_script_that_is_named_runs_for_its_event() {
    let sandbox = Sandbox::new().script("my-hook.sh", &noting("tool.pre"));
    run(&sandbox, "tool.pre", &["--hooks", "./my-hook.sh"]).allows();
    run(&sandbox, "agent.stop", &["--hooks", "./my-hook.sh"]).allows();
    assert_eq!(ran(&sandbox), ["my-hook.sh tool.pre"]);
}

#[test]
fn one_script_can_name_several_events() {
    for list in ["tool.pre,tool.post", "'tool.pre | tool.post'"] {
        let sandbox = Sandbox::new().script("note.sh", &noting(list));
        run(&sandbox, "tool.pre", &["--hooks", "note.sh"]).allows();
        run(&sandbox, "tool.post", &["--hooks", "note.sh"]).allows();
        assert_eq!(ran(&sandbox), ["note.sh tool.pre", "note.sh tool.post"]);
    }
}

#[test]
fn a_file_that_can_be_no_hook_closes_the_gate() {
    let sandbox = Sandbox::new()
        .file("notes.txt", "nothing\n")
        .file("gate.ts", "export default function (pi) {}\n");
    for (file, cause) in [
        ("notes.txt", "names no event"),
        ("gate.ts", "is a module that only pi can load"),
    ] {
        run(&sandbox, "tool.pre", &["--hooks", file])
            .exits(2)
            .says(cause);
    }
}

#[test]
fn a_module_of_a_hook_system_is_no_hook() {
    const OMP: &str =
        "export default function (api) {\n  omp.on('tool_call', () => ({ block: true }));\n}\n";
    const WOLLI: &str = "export default async function (context) { return { block: true }; }\n";
    for (place, text, whose) in [
        ("hooks.d/tool.pre/guard.mjs", OMP, "omp"),
        ("hooks.d/tool_call/guard.ts", WOLLI, "wolli"),
        ("hooks.d/tool.pre/guard.mjs", WOLLI, "its own system"),
        (
            "hooks.d/tool.pre/guard.ts",
            &format!("// hookrun: dialect=pi\n{WOLLI}"),
            "pi",
        ),
    ] {
        let sandbox = Sandbox::new().script(place, &format!("#!/usr/bin/env node\n{text}"));
        let problems = sandbox.problems(&[]);
        let wanted = format!("error {place}: is a module that only {whose} can load");
        assert!(problems[0].starts_with(&wanted), "{problems:?}");
        sandbox.run("tool.pre").exits(2).says("is a module");
    }
    // One that reads its event is a program too.
    let both = "#!/bin/sh\ncat >/dev/null <<'END'\nexport default 1\nprocess.stdin\nEND\n";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/both", both);
    sandbox.run("tool.pre").allows();
}

#[test]
fn a_script_without_its_executable_bit_is_not_passed_over() {
    let sandbox = Sandbox::new().file("gate.sh", &noting("tool.pre"));
    run(&sandbox, "tool.pre", &["--hooks", "gate.sh"])
        .exits(2)
        .says("chmod +x");
}

#[test]
fn mistakes_in_the_event_of_a_script_name_their_place() {
    let sandbox = Sandbox::new().script("gate.sh", &noting("tool.pree"));
    let problems = sandbox.problems(&["--hooks", "gate.sh"]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].starts_with("error gate.sh:2:12: "),
        "{problems:?}"
    );
    assert!(problems[0].contains("`tool.pre`"), "{problems:?}");
    let sandbox = Sandbox::new().hook("gate.sh", "# hookrun: event=tool.pre");
    let wanted = "error hooks.d/tool.pre/gate.sh:2:12: unknown setting `event` \
                  [the folder names the event: hooks.d/<event>/]";
    assert_eq!(sandbox.problems(&[]), [wanted]);
}

#[test]
fn a_script_that_is_named_twice_runs_once() {
    let sandbox = Sandbox::new().script("my-hook.sh", &noting("tool.pre"));
    let named = sandbox.at("my-hook.sh");
    let arguments = [
        "--discover",
        "--hooks",
        named.to_str().unwrap(),
        "--hooks",
        "./my-hook.sh",
    ];
    run(&sandbox, "tool.pre", &arguments).allows();
    assert_eq!(ran(&sandbox), ["my-hook.sh tool.pre"]);
}
