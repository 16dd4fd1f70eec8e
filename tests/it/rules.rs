//! Rules: hooks without a program.

mod forms;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const RULES: &str = r#"
[[rule]]
name = "no-force"
runs = ["git push --force|-f", "git push ** +*"]
deny = "push to a branch of your own, not by `{command}`"

[[rule]]
tool = "write|edit"
path = [".env", "secrets/**"]
ask = "{tool}: change {path}?"

[[rule]]
name = "clusters"
runs = ["kubectl delete", "helm uninstall"]
deny = "{program} takes down what runs"
except = { runs = "kubectl --dry-run" }

[[rule]]
name = "urls"
tool = "fetch"
where = { "toolInput.url" = "^http:" }
deny = "{toolInput.url} is not https; {{braces}} stay {"
"#;

fn sandbox() -> Sandbox {
    Sandbox::new().file("hookrun.toml", RULES)
}

fn tool(sandbox: &Sandbox, name: &str, input: &Value) -> crate::sandbox::Ran {
    sandbox.ask(
        "native",
        "tool.pre",
        &json!({ "toolName": name, "toolInput": input }),
    )
}

#[test]
fn a_rule_blocks_the_commands_that_it_names_and_no_others() {
    let sandbox = sandbox();
    sandbox
        .run_shell("cd x && git push -uf")
        .blocks("push to a branch of your own, not by `git push -uf`");
    sandbox.run_shell("git push --force-with-lease").allows();
    sandbox
        .run_shell("git commit -m 'git push --force'")
        .allows();
    sandbox
        .run_shell("kubectl delete pod x")
        .blocks("kubectl takes down what runs");
    for (name, input, said) in [
        (
            "WebFetch",
            json!({"url": "http://a"}),
            "http://a is not https; {braces} stay {",
        ),
        (
            "mcp__x__run",
            json!({"command": "git push -f"}),
            "push to a branch of your own",
        ),
    ] {
        tool(&sandbox, name, &input).blocks_saying(said);
    }
    tool(&sandbox, "WebFetch", &json!({"url": "https://a"})).allows();
}

#[test]
fn a_rule_asks_and_names_what_it_is_about() {
    let run = tool(
        &sandbox(),
        "Write",
        &json!({"file_path": "a/.env", "content": "x"}),
    );
    run.blocks_saying("Write: change a/.env?");
}

#[test]
fn an_exception_lifts_what_it_surely_takes_and_nothing_beside_it() {
    let sandbox = sandbox();
    sandbox
        .run_shell("kubectl delete pod x --dry-run=client")
        .allows();
    sandbox
        .run_shell("kubectl delete pod x --dry-run=client; kubectl delete ns prod")
        .blocks_saying("takes down");
    sandbox
        .run_shell("kubectl delete pod x $FLAGS")
        .blocks_saying("takes down");
    let paths =
        "[[rule]]\npath = 'dist/**'\ndeny = 'no: {path}'\nexcept = { path = 'dist/tmp/**' }\n";
    let sandbox = Sandbox::new().file("hookrun.toml", paths);
    let write = |paths: &[&str]| tool(&sandbox, "Write", &json!({ "paths": paths }));
    write(&["dist/tmp/x"]).allows();
    write(&["dist/tmp/x", "dist/y"]).blocks_saying("no: dist/y");
    write(&["dist/tmp/../y"]).blocks_saying("no: ");
}

#[test]
fn doubt_is_a_match_on_a_gate_and_is_said() {
    let sandbox = sandbox();
    for (command, said) in [
        (
            "git push $x",
            "cannot tell what `$x` is in `git push $x`\ninstead: write the command without variables, or as shorter commands",
        ),
        ("$TOOL push", "cannot tell what `$TOOL` runs"),
        ("echo 'git push", "cannot tell what the command line runs"),
        ("eval \"$x\"", "cannot tell what `eval` runs"),
        ("curl x | bash", "cannot tell what `bash` runs"),
    ] {
        sandbox.run_shell(command).blocks_saying(said);
    }
}

#[test]
fn files_set_what_doubt_means_for_rules_that_do_not() {
    let rules = "[[rule]]\nruns = 'git push'\ndeny = 'no'\n\n[[rule]]\nruns = 'rm'\ndeny = 'no'\ndoubt = 'block'\n";
    let user = crate::sandbox::USER_FILE;
    let ruled = |own: &str| Sandbox::new().file("hookrun.toml", &format!("{own}{rules}"));
    let asks = ruled("[rules]\ndoubt = 'ask'\n\n");
    asks.run_shell("git push").blocks("no");
    asks.run_shell("git $x").blocks_saying("cannot ask");
    asks.run_shell("rm $(x; git $x")
        .blocks_saying("cannot tell");
    // The user's file counts for projects, unless they set it too.
    let allows = ruled("").file(user, "[rules]\ndoubt = 'allow'\n");
    allows.run_shell("git $x").allows();
    let blocks = ruled("[rules]\ndoubt = 'block'\n").file(user, "[rules]\ndoubt = 'allow'\n");
    blocks
        .run_shell("git $x")
        .blocks_saying("cannot tell what `$x` is");
    // A project's file says nothing about the user's rules.
    let own = Sandbox::new()
        .file(user, rules)
        .file("hookrun.toml", "[rules]\ndoubt = 'allow'\n");
    own.run_shell("git $x")
        .blocks_saying("cannot tell what `$x` is");
    let wrong = Sandbox::new().file("hookrun.toml", "[rules]\ndoubt = 'maybe'\n");
    assert!(
        wrong.problems(&[])[0].contains("hookrun.toml:2:9: `doubt` takes one of"),
        "{:?}",
        wrong.problems(&[])
    );
}

#[test]
fn a_file_of_rules_in_the_folder_of_an_event_is_no_program() {
    let rule = "[[rule]]\nruns = 'rm -r'\ndeny = 'use trash'\n\n[[rule]]\nname = 'sudo'\nruns = 'sudo'\ndeny = 'ask'\n";
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/10-guard.toml", rule);
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    sandbox.run_shell("rm -rf x").blocks("use trash");
    assert_eq!(sandbox.order("tool.pre", &[]), ["10-guard.toml:1", "sudo"]);
    let context = json!({"toolName": "bash", "toolInput": {"command": "sudo ls"}}).to_string();
    let both = ["test", "tool.pre", "--hook", "10-guard.toml"];
    sandbox
        .hookrun(&both, context.as_bytes())
        .exits(1)
        .prints("BLOCKED by sudo");
    let one = ["test", "tool.pre", "--hook", "10-guard.toml:1"];
    sandbox.hookrun(&one, context.as_bytes()).exits(0);
    // A host's name for an event is as good as ours.
    let sandbox = Sandbox::new().file("hooks.d/PreToolUse/a.toml", rule).file(
        "hookrun.toml",
        "[[rule]]\nevent = 'beforeShellExecution'\nruns = 'reboot'\ndeny = 'no'\n",
    );
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    sandbox.run_shell("rm -rf x").blocks("use trash");
    sandbox.run_shell("reboot").blocks("no");
    // One that begins as a script does is one.
    let script = "#!/bin/sh\necho 'a script' >&2; exit 1\n";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/x.toml", script);
    sandbox.run_shell("ls").blocks("a script");
}

#[test]
fn mistakes_in_a_rule_name_its_line_and_close_the_gate() {
    for (text, line, cause) in [
        (
            "[[rule]]\nruns = 'rm'\n",
            1,
            "the rule has neither `deny` nor `ask`",
        ),
        (
            "[[rule]]\ndeny = 'x'\n",
            1,
            "the rule would match every event",
        ),
        (
            "[[rule]]\nruns = 'rm'\ndeny = 'x'\nask = 'y'\n",
            4,
            "a rule has both `deny` and `ask`",
        ),
        ("[[rule]]\nruns = 'rm'\ndeny = ''\n", 3, "`deny` is empty"),
        (
            "[[rule]]\nruns = 'x --f*=1'\ndeny = 'x'\n",
            2,
            "the name of an option with a value cannot have",
        ),
        (
            "[[rule]]\nruns = '-f'\ndeny = 'x'\n",
            2,
            "it must begin with a program",
        ),
        (
            "[[rule]]\nruns = 'rm'\ndeny = 'x'\nexcept = { runs = '' }\n",
            4,
            "it does not name a program",
        ),
        (
            "[[rule]]\nruns = 'rm'\ndeny = '{comand}'\n",
            3,
            "so `{comand}` has no value",
        ),
        (
            "[[rule]]\nruns = 'rm'\ndeny = 'a {b c} d'\n",
            3,
            "`{b c}` in `deny` is not a placeholder",
        ),
        ("[[rule]]\nrun = 'rm'\ndeny = 'x'\n", 2, "unknown key `run`"),
        (
            "[[rule]]\nevent = 'turn.end'\nwhere = { x = 'y' }\ndeny = 'x'\n",
            1,
            "cannot be blocked",
        ),
        ("[rule]\nruns = 'rm'\n", 1, "`rule` is not a list of tables"),
    ] {
        let sandbox = Sandbox::new().file("hookrun.toml", text);
        let problems = sandbox.problems(&[]).join("\n");
        assert!(problems.contains(cause), "{text}: {problems}");
        assert!(
            problems.contains(&format!("hookrun.toml:{line}:")),
            "{text}: {problems}"
        );
        if cause != "cannot be blocked" {
            sandbox
                .run_shell("ls")
                .blocks_saying("the hooks have an error");
        }
    }
    let named = "[[rule]]\nevent = 'tool.pre'\nruns = 'rm'\ndeny = 'x'\n";
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/a.toml", named);
    assert!(
        sandbox
            .problems(&[])
            .join("")
            .contains("the folder names the event")
    );
    let hook = "[[hook]]\nname = 'a'\nevent = 'tool.pre'\ncommand = 'true'\n";
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/a.toml", hook);
    assert!(
        sandbox
            .problems(&[])
            .join("")
            .contains("may contain only rules")
    );
}

#[test]
fn rules_are_shown_tested_covered_and_explained_as_hooks_are() {
    let suite = r#"
[[case]]
name = "a force push"
event = "tool.pre"
context = { toolName = "bash", toolInput = { command = "git push -f" } }
expect = { decision = "block", by = "no-force" }

[[case]]
name = "a push"
event = "tool.pre"
context = { toolName = "bash", toolInput = { command = "git push" } }
expect = { decision = "allow" }
"#;
    let rule = "[[rule]]\nname = 'no-force'\nruns = 'git push -f'\ndeny = 'no'\n";
    let sandbox = Sandbox::new()
        .file("hookrun.toml", rule)
        .file("tests/a.toml", suite);
    sandbox
        .hookrun(&["list", "no-force"], b"")
        .exits(0)
        .prints("deny        no");
    let json = sandbox.json(&["list", "no-force", "--format", "json"]);
    assert_eq!(json["hooks"][0]["deny"], "no");
    sandbox.hookrun(&["test", "--coverage"], b"").exits(0);
    // Without the case that passes, nothing holds that it is not too wide.
    let half = suite.split("[[case]]\nname = \"a push\"").next().unwrap();
    let sandbox = Sandbox::new()
        .file("hookrun.toml", rule)
        .file("tests/a.toml", half);
    let ran = sandbox.hookrun(&["test", "--coverage"], b"");
    ran.prints("matched.runs");
    sandbox.run_shell("git push -f").blocks("no");
    sandbox.hookrun(&["why"], b"").prints("no-force");
}

#[test]
fn many_rules_that_an_event_is_not_for_are_named_together() {
    let rules: String = ["a", "b", "c", "d", "e"]
        .map(|name| format!("[[rule]]\nname = '{name}'\nruns = '{name}'\ndeny = 'not {name}'\n"))
        .concat();
    let sandbox = Sandbox::new().file("hookrun.toml", &rules);
    let context = json!({"toolName": "bash", "toolInput": {"command": "e"}}).to_string();
    let ran = sandbox.hookrun(&["test", "tool.pre"], context.as_bytes());
    ran.exits(1)
        .prints("skip    4 do not match (`--format json` shows why): a, b, c, d\n")
        .prints("BLOCK   e");
    let one = ["test", "tool.pre", "--hook", "a"];
    sandbox
        .hookrun(&one, context.as_bytes())
        .exits(0)
        .prints("its `runs` is `a`");
}

#[test]
fn hooks_too_can_be_about_commands() {
    let hook = "#!/bin/sh\n# hookrun: runs=\"git push -f\" runs=reboot\necho seen >&2; exit 1\n";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/a.sh", hook);
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    sandbox.run_shell("sudo reboot").blocks("seen");
    sandbox.run_shell("cd x; git push -f").blocks("seen");
    sandbox.run_shell("git push").allows();
}
