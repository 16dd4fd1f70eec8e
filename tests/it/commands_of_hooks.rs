//! Commands that hooks bring with them: `hooks.d/command/NAME`, and `command.NAME` elsewhere.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn command(sandbox: Sandbox, name: &str, body: &str) -> Sandbox {
    sandbox.hook_for("command", name, body)
}

/// The hooks of an event: their names, and why they do not run.
fn idle(sandbox: &Sandbox, event: &str, arguments: &[&str]) -> Vec<(String, Option<String>)> {
    let mut all = vec!["list", "--format", "json", "--event", event];
    all.extend(arguments);
    let list = sandbox.json(&all);
    let root = format!("{}/", sandbox.path().display());
    let row = |hook: &Value| {
        let why = hook["idle"].as_str().map(|why| why.replace(&root, ""));
        (hook["name"].as_str().unwrap().to_string(), why)
    };
    list["hooks"].as_array().unwrap().iter().map(row).collect()
}

fn runs(name: &str) -> (String, Option<String>) {
    (name.to_string(), None)
}

fn hidden(name: &str, why: &str) -> (String, Option<String>) {
    (name.to_string(), Some(why.to_string()))
}

#[test]
fn a_file_in_the_folder_of_commands_is_a_command_and_its_output_the_answer() {
    let sandbox = command(
        Sandbox::new(),
        "say.sh",
        "cat > context; echo hello $HOOKRUN_EVENT",
    );
    let context = br#"{"args":"all of it","sessionId":"s-1","cwd":"."}"#;
    let ran = sandbox.hookrun(&["run", "command.say"], context);
    ran.allows_with(json!({ "output": "hello command.say" }));
    let got: Value = serde_json::from_str(&sandbox.read("context")).unwrap();
    let wanted = json!({
        "event": "command.say", "args": "all of it", "sessionId": "s-1", "cwd": "."
    });
    assert_eq!(got, wanted);
}

#[test]
fn a_command_can_block_and_fails_closed() {
    let sandbox = command(Sandbox::new(), "no.sh", "echo 'not here' >&2; exit 1");
    sandbox.run("command.no").blocks("not here");
    let sandbox = command(Sandbox::new(), "dies.sh", "kill -KILL $$");
    sandbox.run("command.dies").blocks_saying("fail closed");
}

#[test]
fn events_and_list_tell_what_a_command_does() {
    let body =
        "# Says hello.\n# hookrun: description=\"say hello, it's polite\" timeout=3s\necho hi";
    let sandbox = command(Sandbox::new(), "say.sh", body).file(
        "hookrun.toml",
        "[[hook]]\nname = \"sum\"\nevent = \"command.code:sum_up\"\ncommand = \"echo x\"\n\
         description = \"sum it up\"\n",
    );
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    let about = "the user enters the command `say`: say hello, it's polite";
    sandbox
        .hookrun(&["events"], b"")
        .prints(about)
        .prints("`code:sum_up`: sum it up");
    sandbox
        .hookrun(&["events", "command.say"], b"")
        .prints(about)
        .prints("args");
    sandbox
        .hookrun(&["list"], b"")
        .prints(about)
        .prints("`code:sum_up`: sum it up");
    sandbox
        .hookrun(&["list", "say.sh"], b"")
        .prints("description say hello, it's polite");
    let schema = sandbox.json(&["schema", "command.say"]);
    assert!(schema.to_string().contains("\"args\""), "{schema}");
    sandbox
        .run("command.code:sum_up")
        .allows_with(json!({ "output": "x" }));
}

#[test]
fn the_description_of_any_hook_is_shown() {
    let sandbox = Sandbox::new().hook("a.sh", "# hookrun: description='guards a'\nexit 0");
    let shown = sandbox.json(&["list", "a.sh", "--format", "json"]);
    assert_eq!(shown["hooks"][0]["description"], "guards a");
}

#[test]
fn other_events_are_asked_nothing_of_commands() {
    // A mistake in a command closes no gate.
    let sandbox = command(Sandbox::new(), "a.sh", "# hookrun: timout=1s\ntouch marker");
    let sandbox = command(sandbox, "b.c.sh", "touch marker").hook("ok.sh", "");
    sandbox.run("tool.pre").allows();
    sandbox
        .run("command.a")
        .blocks_saying("unknown setting `timout`");
    sandbox.has_no_file("marker");
}

#[test]
fn a_command_that_is_not_there_names_the_nearest() {
    let sandbox = command(Sandbox::new(), "handoff.sh", "");
    let sandbox = command(sandbox, "review", "");
    sandbox
        .run("command.hadnoff")
        .blocks_saying("did you mean `command.handoff`?");
    sandbox
        .run("command.reviev")
        .blocks_saying("did you mean `command.review`?");
    let ran = sandbox.run("command.deploy");
    ran.blocks_saying("unknown command `deploy`; to add it, create the executable file");
    sandbox.run("Command.HANDOFF").allows();
}

#[test]
fn of_two_files_with_one_name_the_first_in_byte_order_answers() {
    let sandbox = command(Sandbox::new(), "handoff.sh", "echo sh");
    let sandbox = command(sandbox, "handoff.py", "echo py");
    sandbox
        .run("command.handoff")
        .allows_with(json!({ "output": "py" }));
    let why = "shadowed by hooks.d/command/handoff.py (project layer)";
    let wanted = [runs("handoff.py"), hidden("handoff.sh", why)];
    assert_eq!(idle(&sandbox, "command.handoff", &[]), wanted);
    let list = sandbox.hookrun(&["list"], b"");
    list.exits(0)
        .prints("(idle: shadowed by ")
        .prints("command/handoff.py (project layer))");
    sandbox
        .hookrun(&["list", "handoff.sh"], b"")
        .prints("idle        shadowed by ");
    let found = sandbox.problems(&[]).join("\n");
    assert!(found.starts_with("warning hooks.d/command/handoff.sh: `handoff.sh` never runs: "));
}

#[test]
fn a_command_of_a_nearer_layer_hides_the_others_whatever_their_priority() {
    let answer = |layer: &str| format!("#!/bin/sh\n# hookrun: priority=-9\necho {layer}\n");
    let sandbox = command(Sandbox::new(), "x.sh", "echo project")
        .script("home/.config/hookrun/hooks.d/command/x", &answer("user"))
        .script("a/hooks.d/command/x.py", &answer("first"))
        .script("b/hooks.d/command/x.py", &answer("second"));
    sandbox
        .run("command.x")
        .allows_with(json!({ "output": "project" }));
    let why = "shadowed by hooks.d/command/x.sh (project layer)";
    assert_eq!(
        idle(&sandbox, "command.x", &[]),
        [hidden("x", why), runs("x.sh")]
    );
    // Another layer is no mistake.
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());

    let arguments = [
        "run",
        "command.x",
        "--hooks",
        "a",
        "--hooks",
        "b",
        "--discover",
    ];
    sandbox
        .hookrun(&arguments, b"{}")
        .allows_with(json!({ "output": "first" }));
    let why = "shadowed by a/hooks.d/command/x.py (explicit layer)";
    let found = idle(&sandbox, "command.x", &arguments[2..]);
    assert_eq!(
        found
            .iter()
            .filter(|(_, idle)| idle.as_deref() == Some(why))
            .count(),
        3
    );
}

#[test]
fn a_table_of_hookrun_toml_comes_after_the_files_of_its_layer() {
    let table = "[[hook]]\nname = \"mine\"\nevent = \"command.x\"\ncommand = \"echo toml\"\n";
    let sandbox = command(Sandbox::new(), "x.sh", "echo file").file("hookrun.toml", table);
    sandbox
        .run("command.x")
        .allows_with(json!({ "output": "file" }));
    let why = "shadowed by hooks.d/command/x.sh (project layer)";
    assert_eq!(
        idle(&sandbox, "command.x", &[]),
        [runs("x.sh"), hidden("mine", why)]
    );
    let found = sandbox.problems(&[]).join("\n");
    assert!(
        found.starts_with("warning hookrun.toml:1:1: `mine` never runs"),
        "{found}"
    );
}

#[test]
fn a_disabled_command_hides_nothing() {
    let sandbox = command(Sandbox::new(), "x.py", "# hookrun: enabled=false\necho py");
    let sandbox = command(sandbox, "x.sh", "echo sh");
    sandbox
        .run("command.x")
        .allows_with(json!({ "output": "sh" }));
    assert_eq!(
        idle(&sandbox, "command.x", &[]),
        [runs("x.py"), runs("x.sh")]
    );
    let report = sandbox.hookrun(&["test", "command.x"], b"{}");
    report.exits(0).prints("disabled: `enabled = false`");
}

#[test]
fn test_says_who_hides_a_command() {
    let sandbox = command(Sandbox::new(), "x.sh", "");
    let sandbox = command(sandbox, "x", "echo first");
    sandbox
        .hookrun(&["test", "command.x"], b"{}")
        .exits(0)
        .prints("shadowed by ");
    let report = sandbox.report("command.x", "{}");
    assert_eq!(report["hooks"][1]["fate"], "idle");
    assert!(
        report["hooks"][1]["why"]
            .as_str()
            .unwrap()
            .starts_with("shadowed by ")
    );
}

#[test]
fn one_hook_may_answer_several_commands() {
    let sandbox = Sandbox::new().file(
        "hookrun.toml",
        "[[hook]]\nname = \"both\"\nevent = [\"command.a\", \"command.b\"]\n\
         command = \"printenv HOOKRUN_EVENT\"\n",
    );
    sandbox
        .run("command.a")
        .allows_with(json!({ "output": "command.a" }));
    sandbox
        .run("command.b")
        .allows_with(json!({ "output": "command.b" }));
}

#[test]
fn mistakes_in_names_of_commands_are_found() {
    let sandbox = command(Sandbox::new(), "a.b.sh", "");
    let sandbox = command(sandbox, "a b", "");
    let sandbox = command(sandbox, "deep/x.sh", "")
        .hook_for("command.x", "x.sh", "")
        .file("hooks.d/command/README.md", "")
        .file(
            "hookrun.toml",
            "[[hook]]\nname = \"a\"\nevent = \"command.no good\"\ncommand = \"x\"\n\
             description = \" \"\n\n\
             [[hook]]\nname = \"b\"\nevent = \"command.\"\ncommand = \"true\"\ndescription = 1\n\n\
             [event.\"command.mine\"]\nsummary = \"x\"\n",
        );
    let cure = "[use letters, digits, `-`, `_` and `:`]";
    let root = "error hooks.d/command";
    let wanted = [
        format!("error hookrun.toml:3:9: `no good` cannot be the name of a command {cure}"),
        "error hookrun.toml:5:15: `description` must be text on one line [describe it in a few words]"
            .to_string(),
        format!("error hookrun.toml:9:9: `` cannot be the name of a command {cure}"),
        "error hookrun.toml:11:15: `description` takes a string, not 1 [write `description = \"text\"`]".into(),
        "error hookrun.toml:13:8: `command.mine` is a command and needs no declaration [bind a \
         hook to it: `event = \"command.mine\"`, with a `description`]"
            .into(),
        format!("{root}.x: a command is a file, not a folder [make it a file: hooks.d/command/x]"),
        format!("{root}/a b: `a b` cannot be the name of a command {cure}"),
        format!("{root}/a.b.sh: `a.b` cannot be the name of a command {cure}"),
        format!(
            "{root}/deep: is a folder among the commands [commands are files; shared code belongs in hooks.d/lib/]"
        ),
    ];
    let mut found = sandbox.problems(&[]);
    found.sort();
    let mut wanted: Vec<String> = wanted.into_iter().collect();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn a_hook_of_a_command_that_has_a_mistake_makes_the_command_no_stranger() {
    let table = "[[hook]]\nname = \"a\"\nevent = \"command.a\"\ncommand = \"x\"\ntimout = \"1s\"\n";
    let sandbox = Sandbox::new().file("hookrun.toml", table);
    let found = sandbox.problems(&[]);
    assert_eq!(found.len(), 1, "{found:?}");
    sandbox
        .run("command.a")
        .blocks_saying("unknown key `timout`");
}

#[test]
fn a_command_without_its_run_bit_is_told_how_to_get_it() {
    let sandbox = Sandbox::new().file("hooks.d/command/x.sh", "#!/bin/sh\n");
    sandbox.run("command.x").blocks_saying("chmod +x");
}

#[test]
fn a_folder_of_commands_that_everyone_may_write_is_rejected() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = command(Sandbox::new(), "x.sh", "touch marker");
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(sandbox.at("hooks.d/command"), mode).unwrap();
    sandbox
        .run("command.x")
        .blocks_saying("it is world-writable");
    sandbox.has_no_file("marker");
}
