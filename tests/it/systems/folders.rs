//! Where pi keeps hooks: its two flat folders, its settings, and files that are named.

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

const USER: &str = "home/.pi/agent/hooks";
const PROJECT: &str = ".pi/hooks";

/// A hook that notes its name and event.
fn noting(event: &str) -> String {
    format!("#!/bin/sh\n# hookrun: event={event}\necho \"$0 $HOOKRUN_EVENT\" >> log\n")
}

fn tool_call(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let mut all = vec!["run", "tool_call", "--host", "pi"];
    all.extend(arguments);
    sandbox.hookrun(&all, br#"{"toolName":"bash","input":{"command":"ls"}}"#)
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
fn global_hooks_run_before_those_of_the_project() {
    let sandbox = Sandbox::new()
        .script(&format!("{PROJECT}/10-first.sh"), &noting("tool_call"))
        .script(&format!("{USER}/20-second.sh"), &noting("tool_call"))
        .hook_for("tool.pre", "00-own", "true");
    tool_call(&sandbox, &[]).allows();
    let wanted = [
        "home/.pi/agent/hooks/20-second.sh tool.pre",
        ".pi/hooks/10-first.sh tool.pre",
    ];
    assert_eq!(ran(&sandbox), wanted);
}

#[test]
fn only_a_host_that_speaks_pi_looks_into_pis_folders() {
    let sandbox = Sandbox::new()
        .script(&format!("{PROJECT}/gate.sh"), &noting("tool_call"))
        .script(&format!("{USER}/gate.sh"), &noting("tool_call"));
    sandbox.run("tool.pre").allows();
    sandbox
        .hookrun(&["run", "tool_call", "--host", "wolli"], b"{}")
        .allows();
    assert_eq!(ran(&sandbox), Vec::<String>::new());
    assert_eq!(sandbox.order("tool.pre", &[]), Vec::<String>::new());
    assert_eq!(
        sandbox.order("tool.pre", &["--host", "pi"]),
        ["gate.sh", "gate.sh"]
    );
}

#[test]
fn the_projects_folder_is_below_the_working_directory_itself() {
    let sandbox = Sandbox::new()
        .script(&format!("{PROJECT}/gate.sh"), &noting("tool_call"))
        .file("below/file", "");
    let below = sandbox.at("below");
    let context = br#"{"toolName":"bash","input":{"command":"ls"}}"#;
    let arguments = ["run", "tool_call", "--host", "pi"];
    let there = |command: &mut std::process::Command| {
        command.current_dir(below);
    };
    sandbox.hookrun_as(there, &arguments, context).allows();
    assert_eq!(ran(&sandbox), Vec::<String>::new());
}

#[test]
fn a_hook_there_speaks_pi_unless_it_says_otherwise() {
    let block = "cat >/dev/null\necho '{\"block\": true, \"reason\": \"no\"}'\n";
    let own = format!("#!/bin/sh\n# hookrun: event=tool_call\n{block}");
    let sandbox = Sandbox::new().script(&format!("{PROJECT}/gate.sh"), &own);
    let said = tool_call(&sandbox, &[]);
    let said: Value = serde_json::from_str(&said.exits(2).stdout).unwrap();
    assert_eq!(said, json!({ "block": true, "reason": "no" }));

    let native = "#!/bin/sh\n# hookrun: event=tool.pre dialect=native\necho no >&2; exit 1\n";
    let sandbox = Sandbox::new().script(&format!("{PROJECT}/gate.sh"), native);
    tool_call(&sandbox, &[]).exits(2).says("no");
}

#[test]
fn one_script_can_name_several_events() {
    for list in ["tool_call,turn_start", "'tool_call | turn_start'"] {
        let sandbox = Sandbox::new().script(&format!("{PROJECT}/note.sh"), &noting(list));
        tool_call(&sandbox, &[]).allows();
        sandbox
            .hookrun(&["run", "turn_start", "--host", "pi"], b"{}")
            .allows();
        let wanted = [".pi/hooks/note.sh tool.pre", ".pi/hooks/note.sh turn.start"];
        assert_eq!(ran(&sandbox), wanted);
    }
}

#[test]
fn modules_are_named_as_pis_own_and_are_no_error() {
    let sandbox = Sandbox::new()
        .file(
            &format!("{PROJECT}/gate.ts"),
            "export default function (pi) {}\n",
        )
        .script(&format!("{USER}/gate.js"), "module.exports = (pi) => {};\n");
    let mut found = sandbox.problems(&["--host", "pi"]);
    found.retain(|one| one.starts_with("note"));
    found.sort();
    let note = "is a module of pi's, which only pi can load \
                [leave it to pi, or write it as a program]";
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], format!("note .pi/hooks/gate.ts: {note}"));
    assert!(
        found[1].ends_with(&format!("home/.pi/agent/hooks/gate.js: {note}")),
        "{found:?}"
    );
    sandbox
        .hookrun(&["validate", "--host", "pi"], b"")
        .exits(0)
        .prints("ok, 1 warning: ");
    sandbox
        .hookrun(&["list", "--host", "pi"], b"")
        .exits(0)
        .says("a module of pi's own");
    tool_call(&sandbox, &[]).allows();
}

#[test]
fn a_program_there_that_names_no_event_closes_the_gate() {
    let sandbox = Sandbox::new().script(&format!("{PROJECT}/gate.sh"), "#!/bin/sh\nexit 1\n");
    let wanted = "error .pi/hooks/gate.sh: names no event [name it in the \
                  leading comments: `# hookrun: event=session`]";
    assert_eq!(sandbox.problems(&["--host", "pi"]), [wanted]);
    tool_call(&sandbox, &[]).exits(2).says("names no event");
}

#[test]
fn a_hook_there_without_its_run_bit_is_not_passed_over() {
    let sandbox = Sandbox::new().file(&format!("{PROJECT}/gate.sh"), &noting("tool_call"));
    tool_call(&sandbox, &[]).exits(2).says("chmod +x");
}

#[test]
fn a_file_there_that_is_no_hook_is_named_and_no_error() {
    let sandbox = Sandbox::new()
        .file(&format!("{PROJECT}/package.json"), "{}\n")
        .file(&format!("{PROJECT}/node_modules/x/index.sh"), "");
    let mut found = sandbox.problems(&["--host", "pi"]);
    found.retain(|one| one.starts_with("note"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("note .pi/hooks/package.json: names no event"),
        "{found:?}"
    );
    tool_call(&sandbox, &[]).allows();
}

#[test]
fn mistakes_in_the_event_of_a_script_name_their_place() {
    let sandbox = Sandbox::new().script(&format!("{PROJECT}/gate.sh"), &noting("tool_cal"));
    let wanted = "error .pi/hooks/gate.sh:2:12: `tool_cal` is no event of pi \
                  [did you mean `tool_call`?]";
    assert_eq!(sandbox.problems(&["--host", "pi"]), [wanted]);
    let sandbox = Sandbox::new().hook("gate.sh", "# hookrun: event=tool.pre");
    let wanted = "error hooks.d/tool.pre/gate.sh:2:12: unknown setting `event` \
                  [the folder names the event: hooks.d/<event>/]";
    assert_eq!(sandbox.problems(&[]), [wanted]);
}

#[test]
fn what_everyone_may_write_there_closes_the_gate() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new().script(&format!("{PROJECT}/gate.sh"), &noting("tool_call"));
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(sandbox.at(PROJECT), open).unwrap();
    tool_call(&sandbox, &[])
        .exits(2)
        .says("everyone can write to it");
}

// Explicit paths

#[test]
fn a_single_file_can_be_named() {
    let sandbox = Sandbox::new()
        .script("my-hook.sh", &noting("tool_call"))
        .script(&format!("{PROJECT}/gate.sh"), &noting("tool_call"));
    tool_call(&sandbox, &["--hooks", "./my-hook.sh"]).allows();
    assert_eq!(ran(&sandbox), ["my-hook.sh tool.pre"]);
}

#[test]
fn a_file_that_is_named_runs_in_a_native_host_too() {
    let sandbox = Sandbox::new().script("my-hook.sh", &noting("tool.pre"));
    sandbox
        .hookrun(&["run", "tool.pre", "--hooks", "my-hook.sh"], b"{}")
        .allows();
    assert_eq!(ran(&sandbox), ["my-hook.sh tool.pre"]);
}

#[test]
fn a_file_that_is_named_and_can_be_no_hook_closes_the_gate() {
    let sandbox = Sandbox::new()
        .file("notes.txt", "nothing\n")
        .file("gate.ts", "export default function (pi) {}\n");
    for (file, why) in [
        ("notes.txt", "names no event"),
        ("gate.ts", "which only pi can load"),
    ] {
        tool_call(&sandbox, &["--hooks", file]).exits(2).says(why);
    }
    sandbox
        .hookrun(&["run", "tool.pre", "--hooks", "gate.ts"], b"{}")
        .exits(2);
}

#[test]
fn a_path_that_is_found_anyway_runs_once() {
    let sandbox = Sandbox::new()
        .script(&format!("{PROJECT}/gate.sh"), &noting("tool_call"))
        .script("my-hook.sh", &noting("tool_call"));
    let named = sandbox.at(PROJECT).join("gate.sh");
    let folder = sandbox.at(PROJECT);
    let arguments = [
        "--discover",
        "--hooks",
        named.to_str().unwrap(),
        "--hooks",
        ".pi/../.pi/hooks/gate.sh",
        "--hooks",
        folder.to_str().unwrap(),
        "--hooks",
        "my-hook.sh",
        "--hooks",
        "./my-hook.sh",
    ];
    tool_call(&sandbox, &arguments).allows();
    assert_eq!(
        ran(&sandbox),
        [".pi/hooks/gate.sh tool.pre", "my-hook.sh tool.pre"]
    );
}
