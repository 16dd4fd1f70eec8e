//! `hookrun explain COMMAND`.

use serde_json::json;

use crate::sandbox::Sandbox;

const COMMAND: &str = "X=1 cd build && sudo env rm -rf \"$OUT\" *.o > log; sudo -n df; bash -c 'ls; cat < .env'; $P x";

fn project() -> Sandbox {
    let rules = "[[rule]]\nruns = \"rm -r\"\ndeny = \"no `{command}`\"\n\n\
                 [[rule]]\nname = \"env\"\npath = \".env\"\nask = \"touch {path}?\"\n\n\
                 [[rule]]\nruns = \"git push\"\ndeny = \"no\"\n";
    Sandbox::new()
        .hook("10-write.sh", "# hookrun: tool=write\ntouch ran")
        .hook("20-off.sh", "# hookrun: enabled=false\ntouch ran")
        .hook("30-sudo.sh", "# hookrun: command=sudo\ntouch ran")
        .file("hookrun.toml", rules)
}

#[test]
fn a_command_line_is_a_tree_and_every_hook_says_whether_it_runs() {
    let sandbox = project();
    let ran = sandbox.hookrun(&["explain", COMMAND], b"");
    ran.exits(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(
        ran.stdout,
        "\
runs
  cd build
    sets X=1
  sudo
    env
      rm -rf \"$OUT\" *.o
        > log
        unknown before it runs: \"$OUT\"
        *.o may expand to any matching words
  sudo
    df
  bash
    ls
    cat
      < .env
  $P x
    unknown before it runs: $P

paths
  build/log
  build/*.o
  .env
  build/.env

hooks that run for tool.pre
  30-sudo.sh  hooks.d/tool.pre/30-sudo.sh
    matches command /sudo/
  hookrun.toml:1
    matches runs rm -r
    deny: no `sudo env rm -rf \"$OUT\" *.o`
  env  hookrun.toml:5
    matches path .env
    ask: touch .env?
  hookrun.toml:10
    matches runs git push
    deny: cannot tell what `$P` runs
      instead: write the command without variables, or as shorter commands

hooks that do not run
  10-write.sh  hooks.d/tool.pre/10-write.sh
    its `tool` is `write`; the event's tool is `bash`
  20-off.sh  hooks.d/tool.pre/20-off.sh
    disabled: enabled = false
"
    );
    sandbox.has_no_file("ran");
}

#[test]
fn what_cannot_be_read_is_uncertain_and_may_run_anything_at_a_gate() {
    let ran = project().hookrun(&["explain", "rm 'x"], b"");
    ran.exits(0)
        .prints("runs\n  uncertain: it cannot be parsed at `'x`");
    ran.prints("hooks that run for tool.pre\n  hookrun.toml:1\n")
        .prints("deny: cannot tell ");
    let nothing = Sandbox::new().hookrun(&["explain", "# a comment"], b"");
    assert_eq!(
        nothing.stdout,
        "runs\n  nothing\n\nhooks that run for tool.pre\n  none\n"
    );
}

#[test]
fn a_command_comes_from_stdin_as_well() {
    let sandbox = project();
    let typed = sandbox.hookrun(&["explain", COMMAND], b"").stdout;
    for arguments in [&["explain"][..], &["explain", "-"]] {
        let ran = sandbox.hookrun(arguments, format!("{COMMAND}\n").as_bytes());
        assert_eq!(ran.exits(0).stdout, typed, "{arguments:?}");
    }
}

#[test]
fn json_has_the_action_and_every_hook() {
    let shown = project().json(&["explain", "rm -rf a", "--format", "json"]);
    assert_eq!(
        (&shown["version"], &shown["event"]),
        (&json!(1), &json!("tool.pre"))
    );
    assert_eq!(
        shown["action"]["commands"],
        json!([{ "program": "rm", "args": ["-rf", "a"] }])
    );
    assert_eq!(shown["action"]["paths"], json!(["a"]));
    let hooks = shown["hooks"].as_array().unwrap();
    let running: Vec<_> = hooks.iter().filter(|hook| hook["runs"] == true).collect();
    let rule = json!({
        "name": "hookrun.toml:1", "file": "hookrun.toml", "line": 1, "runs": true,
        "why": "matches runs rm -r", "deny": "no `rm -rf a`",
    });
    assert_eq!((running, hooks.len()), (vec![&rule], 6));
}

#[test]
fn another_event_tool_and_host_have_their_own_hooks() {
    let sandbox = Sandbox::new()
        .hook("10-mcp.sh", "# hookrun: tool=mcp__a__run")
        .hook_for("tool.post", "late.sh", "")
        .script(
            "hooks.d/PreToolUse/claude.sh",
            "#!/bin/sh\n# hookrun: tool=bash\n",
        );
    let explain = |arguments: &[&str]| {
        let ran = sandbox.hookrun(&[&["explain", "ls"][..], arguments].concat(), b"");
        ran.exits(0)
            .stdout
            .split("hooks that do not run")
            .next()
            .unwrap()
            .to_string()
    };
    assert!(explain(&["--tool", "mcp__a__run"]).contains("10-mcp.sh"));
    assert!(!explain(&[]).contains("10-mcp.sh"));
    assert!(explain(&["--event", "tool.post"]).contains("hooks that run for tool.post\n  late.sh"));
    assert!(explain(&["--host", "claude"]).contains("claude.sh"));
    assert!(explain(&["--host", "claude", "--event", "PostToolUse"]).contains("late.sh"));
}

#[test]
fn what_is_no_command_line_is_a_mistake() {
    let explain =
        |arguments: &[&str]| Sandbox::new().hookrun(&[&["explain"][..], arguments].concat(), b"");
    explain(&[])
        .exits(2)
        .says("no command given")
        .says("hookrun explain 'git push'");
    explain(&[" \n"]).exits(2).says("no command given");
    explain(&["ls", "--event", "prompt.submit"])
        .exits(2)
        .says("is not a tool event");
    explain(&["ls", "--event", "tool.per"])
        .exits(2)
        .says("did you mean `tool.pre`?");
    Sandbox::new()
        .hookrun(&["explain"], b"\xff")
        .exits(2)
        .says("not UTF-8");
}
