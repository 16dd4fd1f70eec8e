//! Everything that is wrong is said at once, with its place and its cure, and closes gates.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::sandbox::Sandbox;

fn manifest(text: &str) -> Sandbox {
    Sandbox::new().file("hookrun.toml", text)
}

#[test]
fn all_problems_of_all_files_are_told_at_once() {
    let sandbox = manifest(
        r#"[[hook]]
name = "a"
event = "tool.pre"
command = "true"
timout = "10s"

[[hook]]
name = "a"
event = "tool.per"
command = "true"
timeout = 30

[[hook]]
priority = "high"
match = { tol = "bash" }
tool = "bash"

[event."tool.pre"]
summary = "mine"

[event."bad name"]
context = { a = "strng" }
blocs = true

[settings]
"#,
    )
    .file("home/.config/hookrun/hookrun.toml", "hook = 3\n")
    .hook("bad.sh", "# hookrun: nonsense")
    .hook_for("tool.pots", "x.sh", "")
    .trusted();
    let user = sandbox.at("home/.config/hookrun/hookrun.toml");
    let user = user
        .strip_prefix(sandbox.path())
        .unwrap()
        .display()
        .to_string();

    let found = sandbox.problems(&[]);

    let places: Vec<String> = [
        &format!("{user}:1:8: `hook` is not a list of tables [write `[[hook]]` with two brackets]"),
        "hookrun.toml:5:1: unknown key `timout` [did you mean `timeout`?]",
        "hookrun.toml:8:8: two hooks are named `a`; the first is at line 2 \
         [give one of them another name]",
        "hookrun.toml:9:9: unknown event `tool.per` [did you mean `tool.pre`?]",
        "hookrun.toml:11:11: `timeout` takes a duration like \"10s\", not 30 [write `timeout = \"30s\"`]",
        "hookrun.toml:13:1: the hook has no `name` [add `name = …`]",
        "hookrun.toml:13:1: the hook has no `command` [add `command = …`]",
        "hookrun.toml:13:1: the hook has no `event` [write `event = \"tool.pre\"`; `hookrun \
         events` lists all events]",
        "hookrun.toml:14:12: `priority` takes a whole number, not \"high\" [write `priority = 10`]",
        "hookrun.toml:15:11: unknown key `tol` [did you mean `tool`?]",
        "hookrun.toml:16:1: unknown key `tool` [write `match = { tool = … }`]",
        "hookrun.toml:18:8: `tool.pre` is already a built-in event (a tool is about to run) \
         [rename your event; for a built-in event you can set only `stop` and `timeout`]",
        "hookrun.toml:21:8: `bad name` cannot be the name of an event \
         [use letters, digits, `-`, `_`, and dots between them: `deploy.pre`]",
        "hookrun.toml:22:17: `context.a` cannot be ",
        "hookrun.toml:23:1: unknown key `blocs` [did you mean `blocks`?]",
        "hookrun.toml:25:2: unknown key `settings` [the keys here are hook, rule, rules, event, log, sets, project, trust, warm_imports]",
        "hooks.d/tool.pots: unknown event `tool.pots` [did you mean `tool.post`?]",
        "hooks.d/tool.pre/bad.sh:2:12: unknown setting `nonsense`",
    ]
    .iter()
    .map(|place| format!("error {place}"))
    .collect();
    for wanted in &places {
        assert!(
            found.iter().any(|one| one.starts_with(wanted)),
            "no {wanted}\nin {found:#?}"
        );
    }
    assert_eq!(found.len(), places.len(), "{found:#?}");
}

#[test]
fn run_blocks_a_gate_and_names_the_first_error_and_how_many_more() {
    let sandbox =
        manifest("[[hook]]\nname = \"a\"\nevent = \"tool.pre\"\ncommand = \"a | b\"\ncolour = 1\n");
    let file = sandbox
        .at("hookrun.toml")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();

    sandbox.run("tool.pre").blocks(&format!(
        "everything is blocked, because the hooks have an error: {file}:4:11: `|` in a command needs \
         a shell (and 1 more error); `hookrun validate` shows how to fix it"
    ));
}

#[test]
fn an_error_in_any_layer_closes_every_gate() {
    let broken = "[[hook]]\nname = \"x\"\n";
    let user = Sandbox::new()
        .file("home/.config/hookrun/hookrun.toml", broken)
        .hook("ok.sh", "");
    user.run("tool.pre").blocks_saying("hookrun.toml:1:1");
    user.run("prompt.submit").blocks_saying("hookrun.toml:1:1");

    let explicit = Sandbox::new().file("x/hookrun.toml", broken);
    let arguments = ["run", "commit.pre", "--hooks", "x"];
    explicit
        .hookrun(&arguments, b"{}")
        .blocks_saying("x/hookrun.toml:1:1");
}

#[test]
fn an_event_that_cannot_be_blocked_says_what_is_wrong_and_runs_what_can_be_read() {
    let sandbox = manifest("colour = 1\n").hook_for("turn.start", "mark.sh", "touch mark");
    let root = sandbox.path().display().to_string();

    let context = serde_json::json!({ "cwd": root }).to_string();
    let ran = sandbox.hookrun(&["run", "turn.start"], context.as_bytes());

    ran.exits(0).says("hookrun.toml:1:1: unknown key `colour`");
    sandbox.has_file("mark");
}

/// A host, what it sends, and whether a guard of that event may be lost.
const EVENTS: &[(&str, &str, bool)] = &[
    ("native", r#"{"event":"tool.pre","toolName":"note"}"#, true),
    ("native", r#"{"event":"agent.stop"}"#, false),
    ("native", r#"{"event":"session.start"}"#, false),
    (
        "native",
        r#"{"event":"tool.post","toolName":"Bash"}"#,
        false,
    ),
    ("native", r#"{"event":"compact.pre"}"#, false),
    (
        "claude",
        r#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}"#,
        true,
    ),
    ("claude", r#"{"hook_event_name":"Stop"}"#, false),
    ("claude", r#"{"hook_event_name":"SessionStart"}"#, false),
    (
        "claude",
        r#"{"hook_event_name":"PostToolUse","tool_name":"Bash"}"#,
        false,
    ),
    ("codex", r#"{"hook_event_name":"Stop"}"#, false),
    ("wolli", r#"{"type":"tool_call","toolName":"note"}"#, true),
    ("wolli", r#"{"type":"agent_end"}"#, false),
    ("pi", r#"{"type":"tool_call","toolName":"note"}"#, true),
    ("pi", r#"{"type":"agent_end"}"#, false),
];

#[test]
fn a_broken_configuration_closes_what_fails_closed_and_is_told_where_it_does_not() {
    for (host, event, closes) in EVENTS {
        let sandbox = manifest("colour = 1\n");
        let ran = sandbox.hookrun(&["run", "--host", host], event.as_bytes());
        let is_blocked = ran.status == 2 || ran.stdout.contains("deny");
        assert_eq!(is_blocked, *closes, "{host} {event}: {ran:?}");
        ran.says("unknown key `colour`");
    }
}

#[test]
fn list_show_and_test_still_work_while_something_is_broken() {
    let sandbox = manifest("colour = 1\n").hook("good.sh", "echo fine");
    let problem = "error: hookrun.toml:1:1: unknown key `colour`\n  help: the keys here are hook, rule, rules, event, log, sets, project, trust, warm_imports\n";

    let list = sandbox.hookrun(&["list"], b"");
    list.exits(1).prints("good.sh");
    assert_eq!(list.stderr, problem);

    let show = sandbox.hookrun(&["list", "good.sh"], b"");
    show.exits(0).prints("good.sh\n  event       tool.pre\n");
    assert_eq!(show.stderr, problem);

    let test = sandbox.hookrun(&["test", "tool.pre", "--hook", "good.sh"], b"");
    test.exits(0).prints("allow   good.sh");
    assert_eq!(test.stderr, problem);
}

#[test]
fn test_shows_that_a_broken_file_would_block() {
    let sandbox = manifest("colour = 1\n").hook("good.sh", "echo fine");
    sandbox
        .hookrun(&["test", "tool.pre"], b"")
        .exits(2)
        .prints("BLOCKED")
        .prints("hookrun.toml:1:1: unknown key `colour`")
        .says("error: hookrun.toml:1:1: unknown key `colour`");
}

#[test]
fn a_problem_of_a_hook_with_two_events_is_told_once() {
    let sandbox = manifest(
        "[[hook]]\nname = \"x\"\nevent = [\"tool.pre\", \"tool.post\"]\ncommand = \"true\"\n\
         match = { command = \"(\" }\n",
    );
    let list = sandbox.hookrun(&["list"], b"");
    assert_eq!(list.stderr.matches("unclosed group").count(), 1, "{list:?}");
}

#[test]
fn a_key_with_a_wrong_value_is_one_problem_and_closes_the_gate() {
    for (wrong, problem) in [
        (
            "name = 5\nevent = \"tool.pre\"\ncommand = \"true\"",
            "`name` takes a string, not 5",
        ),
        ("name = \"x\"\nevent = 5\ncommand = \"true\"", "not 5"),
        (
            "name = \"x\"\nevent = [\"tool.pre\", 3]\ncommand = \"true\"",
            "not 3",
        ),
        (
            "name = \"x\"\nevent = \"tool.pre\"\ncommand = 5",
            "`command` takes a string, not 5",
        ),
        (
            "name = \"x\"\nevent = \"tool.pre\"\ncommand = \"'a\"",
            "a quote in the command is not closed",
        ),
        (
            "name = \"x\"\nevent = \"tool.pre\"\ncommand = \" \"",
            "the command is empty",
        ),
    ] {
        let sandbox = manifest(&format!("[[hook]]\n{wrong}\n"));
        let problems = sandbox.problems(&[]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(problem), "{problems:?}");
        sandbox
            .run("tool.pre")
            .blocks_saying("everything is blocked, because the hooks have an error");
    }
}

#[test]
fn a_file_that_is_not_toml_says_where() {
    for (text, place) in [
        ("[[hook]\nname = \"x\"\n", "hookrun.toml:1:"),
        ("[[hook]]\nname = \"x\n", "hookrun.toml:2:"),
        ("[[hook]]\nname = \"x\"\nname = \"y\"\n", "hookrun.toml:3:1"),
        ("\u{feff}[[hook]\n", "hookrun.toml:1:"),
        ("{}", "hookrun.toml:1:1"),
    ] {
        let sandbox = manifest(text);
        let problems = sandbox.problems(&[]);
        assert!(
            problems[0].starts_with(&format!("error {place}")),
            "{text:?}: {problems:?}"
        );
        assert!(
            problems[0].contains("not valid TOML"),
            "{text:?}: {problems:?}"
        );
        sandbox.run("tool.pre").blocks_saying(place);
    }
}

#[test]
fn a_file_that_is_not_utf8_says_where() {
    let sandbox = manifest("");
    std::fs::write(
        sandbox.at("hookrun.toml"),
        b"# fine\n[[hook]]\nname = \"\xc3\xbc\xff\"\n",
    )
    .unwrap();

    assert_eq!(
        sandbox.problems(&[]),
        ["error hookrun.toml:3:10: is not UTF-8 [save it as UTF-8]"]
    );
    sandbox
        .run("tool.pre")
        .blocks_saying("hookrun.toml:3:10: is not UTF-8");
}

#[test]
fn a_byte_order_mark_and_crlf_are_accepted() {
    let sandbox = manifest(
        "\u{feff}[[hook]]\r\nname = \"x\"\r\nevent = \"tool.pre\"\r\ncommand = \"false\"\r\n",
    );
    assert_eq!(sandbox.problems(&[]), Vec::<String>::new());
    sandbox
        .run("tool.pre")
        .blocks("hook `x` exited with status 1 and gave no reason");
}

#[test]
fn an_unreadable_file_closes_gates() {
    let sandbox = manifest("[[hook]]\nname = \"x\"\nevent = \"tool.pre\"\ncommand = \"true\"\n");
    let file = sandbox.at("hookrun.toml");
    fs::set_permissions(&file, Permissions::from_mode(0o000)).unwrap();

    let ran = sandbox.run("tool.pre");

    // Root reads everything.
    if std::fs::read(&file).is_ok() {
        ran.allows();
    } else {
        ran.blocks_saying("hookrun.toml: cannot be read: Permission denied");
    }
}

/// What TOML reads in another way than it is meant: gates are closed, and the cure is to quote.
#[test]
fn dots_and_backslashes_that_toml_reads_in_its_own_way_want_quotes() {
    let hook = "[[hook]]\nname = 'x'\nevent = 'tool.pre'\ncommand = 'true'\n";
    let expression = |written: &str| format!("{hook}match = {{ {written} }}\n");
    let keeps = "in TOML, single quotes keep backslashes: 'rm\\s+-rf'";
    for (text, cause, cure) in [
        (
            "[event.deploy.pre]\nsummary = \"x\"\n".to_string(),
            "hookrun.toml:1:15: unknown key `pre`",
            "",
        ),
        (
            expression(r#"command = "rm\s""#),
            "hookrun.toml:5:25: not valid TOML: ",
            "[single quotes keep backslashes: 'rm\\s+-rf']",
        ),
        (expression(r#"command = "rm\b""#), "is a backspace", keeps),
        (expression(r#"command = "\brm""#), "is a backspace", keeps),
    ] {
        let sandbox = manifest(&text);
        let problems = sandbox.problems(&[]);
        let is_said = problems
            .iter()
            .any(|one| one.contains(cause) && one.contains(cure));
        assert!(is_said, "{text}: {problems:?}");
        sandbox.run("tool.pre").exits(2);
        sandbox.run("deploy.pre").exits(2);
    }
    let other = manifest(&format!(
        "{hook}match = {{ where.\"toolInput.url\" = \"\\bx\" }}\n"
    ));
    assert!(
        other.problems(&[])[0].contains("is a backspace"),
        "{:?}",
        other.problems(&[])
    );
    let host = r#"{"hooks":{"PreToolUse":[{"matcher":"^Ba\b","hooks":[{"type":"command","command":"true"}]}]}}"#;
    let host = Sandbox::new().file(".claude/settings.json", host);
    let problems = host.problems(&["--settings", ".claude/settings.json"]);
    assert!(problems[0].contains("is a backspace"), "{problems:?}");
    for good in [r"command = '\brm'", r#"command = "\\brm""#] {
        let sandbox = manifest(&expression(good));
        assert_eq!(sandbox.problems(&[]), [""; 0], "{good}");
        sandbox.run_shell("rm x").allows();
    }
}

#[test]
fn two_declarations_of_one_event_must_agree() {
    let user = "[event.deploy]\nsummary = \"a deployment\"\n";
    let file = "home/.config/hookrun/hookrun.toml";
    let same = manifest(user)
        .file(file, user)
        .hook_for("deploy", "a.sh", "")
        .trusted();
    assert_eq!(same.problems(&[]), Vec::<String>::new());

    let other = manifest("[event.deploy]\nsummary = \"a deployment\"\nblocks = false\n");
    let other = other.file(file, user).trusted();
    assert_eq!(
        other.problems(&[]),
        [format!(
            "error hookrun.toml:1:8: `deploy` is declared differently in {} \
                 [make the declarations identical, or remove one]",
            other.at(file).display()
        )]
    );
}

#[test]
fn settings_without_effect_are_warnings_and_close_nothing() {
    let sandbox = manifest(
        "[[hook]]\nname = \"x\"\nevent = \"turn.start\"\ncommand = \"true\"\n\
         rewrite = true\non_failure = \"block\"\nmatch = { tool = \"bash\" }\n\
         background = \"detach\"\ncontainment = \"pidns\"\n",
    );
    assert_eq!(
        sandbox.problems(&[]),
        [
            "warning hookrun.toml:1:1: `x` matches an action, but `turn.start` has none, so the hook \
                never runs [remove the tool, path and command matchers, or bind the hook to tool.pre]",
            "warning hookrun.toml:1:1: `on_failure = \"block\"` has no effect: `turn.start` \
             cannot be blocked [remove it]",
            "warning hookrun.toml:1:1: `rewrite` has no effect: `turn.start` has no fields \
             that a hook may rewrite [remove it]",
            "warning hookrun.toml:1:1: `background = \"detach\"` has no effect with \
             `containment = \"pidns\"`: no process outlives the hook [remove one of them]",
        ]
    );
    sandbox.hookrun(&["validate"], b"").exits(0);
    sandbox.run("tool.pre").allows();
}

const RULES: &str = "hooks.d/tool.pre/rules.toml";

fn with_rules() -> Sandbox {
    let rule = "[[rule]]\nname = 'no-rm'\nruns = 'rm'\ndeny = 'no'\n";
    let sandbox = Sandbox::new().hook("ok.sh", "").file(RULES, rule);
    sandbox.file("hookrun.toml", "")
}

#[test]
fn configuration_that_everyone_may_write_closes_gates() {
    let local = "hookrun.local.toml";
    for open in ["hooks.d", "hooks.d/tool.pre", "hookrun.toml", local, RULES] {
        let sandbox = with_rules().file(local, "");
        sandbox.run("tool.pre").allows();
        open_to_everyone(&sandbox.at(open));
        sandbox
            .run("tool.pre")
            .blocks_saying(&format!("{open}: it is world-writable"));
    }
}

#[test]
fn configuration_that_links_to_a_folder_that_everyone_may_write_closes_gates() {
    for name in [
        "hooks.d",
        "hooks.d/tool.pre",
        "hookrun.toml",
        RULES,
        "hooks.d/tool.pre/ok.sh",
    ] {
        for links in [1, 2] {
            let sandbox = with_rules().file("open/x", "");
            // The target lies in `open`, or only a link to it.
            let target = sandbox.at(if links == 1 { "open/target" } else { "target" });
            fs::rename(sandbox.at(name), &target).unwrap();
            if links == 2 {
                symlink("../target", sandbox.at("open/target")).unwrap();
            }
            // A slash at its end also follows the link in `open`.
            let slash = if target.is_dir() { "/" } else { "" };
            symlink(sandbox.at(&format!("open/target{slash}")), sandbox.at(name)).unwrap();
            sandbox.run("tool.pre").allows();
            open_to_everyone(&sandbox.at("open"));
            sandbox
                .run("tool.pre")
                .blocks_saying("open`")
                .says("is world-writable");
        }
    }
}

#[test]
fn a_lock_that_everyone_may_write_is_an_error() {
    let set = "[sets.x]\ngit = 'https://git.test/x'\nrev = 'main'\n";
    let sandbox = Sandbox::new()
        .file("hookrun.toml", set)
        .file("hookrun.lock", "");
    let open = "hookrun.lock: it is world-writable";
    assert!(!sandbox.hookrun(&["validate"], b"").stdout.contains(open));
    open_to_everyone(&sandbox.at("hookrun.lock"));
    let validated = sandbox.hookrun(&["validate"], b"");
    assert!(validated.stdout.contains(open), "{validated:?}");
    assert_eq!(validated.status, 1, "{validated:?}");
    sandbox
        .run("tool.pre")
        .blocks_saying(open)
        .says("run `chmod o-w ");
}

fn open_to_everyone(path: &Path) {
    let mode = if path.is_dir() { 0o777 } else { 0o666 };
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_bad_pattern_of_any_hook_in_a_manifest_closes_every_gate() {
    for pattern in [
        "where = { a = '(' }",
        "tool = 'a||b'",
        "path = '['",
        "command = ')'",
    ] {
        let sandbox = Sandbox::new().file(
            "hookrun.toml",
            &format!(
                "[[hook]]\nname = \"x\"\nevent = \"session.end\"\ncommand = \"true\"\n\
                 match = {{ {pattern} }}\n"
            ),
        );
        sandbox
            .run("tool.pre")
            .blocks_saying("hookrun.toml:5:")
            .blocks_saying("is not a valid pattern");
    }
}

#[test]
fn a_matcher_that_says_nothing_is_an_error() {
    for (pattern, problem) in [
        ("tool = []", "`tool` is an empty list"),
        ("path = []", "`path` is an empty list"),
        ("where = {}", "`where` is empty"),
        ("where = { a = { } }", "`where.a` is empty"),
    ] {
        let sandbox = manifest(&format!(
            "[[hook]]\nname = \"x\"\nevent = \"tool.pre\"\ncommand = \"true\"\n\
             match = {{ {pattern} }}\n"
        ));
        sandbox
            .run("tool.pre")
            .blocks_saying("hookrun.toml:5:")
            .blocks_saying(problem);
    }
}

#[test]
fn a_glob_without_end_is_an_error_and_no_crash() {
    let deep = format!("{}a{}", "{".repeat(7_000), "}".repeat(7_000));
    let drop_in = Sandbox::new().hook("hook.sh", &format!("# hookrun: path={deep}"));
    drop_in
        .run("tool.pre")
        .blocks_saying("it has braces nested more than 50 levels deep");
    let table = "[[hook]]\nname = \"x\"\nevent = \"session.end\"\ncommand = \"true\"\n";
    let sandbox = manifest(&format!("{table}match = {{ path = '{deep}' }}\n"));
    sandbox
        .run("tool.pre")
        .blocks_saying("hookrun.toml:5:")
        .blocks_saying("braces nested more than");
}

#[test]
fn the_folder_of_one_event_is_not_a_layer() {
    let inner = Sandbox::new().hook("a.sh", "");
    inner
        .hookrun(&["run", "tool.pre", "--hooks", "hooks.d/tool.pre"], b"{}")
        .blocks_saying("is the folder of one event, `tool.pre`");
}

#[test]
fn a_gate_that_nobody_waits_for_is_an_error() {
    let sandbox = manifest("[event.\"deploy.pre\"]\nsummary = \"x\"\nschedule = \"detached\"\n");
    sandbox
        .hookrun(&["run", "deploy.pre"], b"{}")
        .blocks_saying("cannot be blocked, because hookrun does not wait for its hooks");
}

#[test]
fn an_empty_folder_of_a_subfolder_hides_no_guards() {
    let sandbox = Sandbox::new().hook("guard", "echo no >&2; exit 1");
    std::fs::create_dir_all(sandbox.at("sub/.hookrun")).unwrap();
    let mut command = sandbox.command(&["run", "tool.pre"]);
    let mut child = command.current_dir(sandbox.at("sub")).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{}").unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(2));
}

#[test]
fn what_a_wrong_key_was_meant_to_be_is_not_missing_as_well() {
    for (text, keys) in [
        (
            "[[hook]]\nname = 'x'\nevnt = 'tool.pre'\ncomand = 'true'\n",
            &["evnt", "comand"][..],
        ),
        (
            "[[hook]]\nnam = 'x'\nevent = 'tool.pre'\ncommand = 'true'\n",
            &["nam"],
        ),
        (
            "[[rule]]\nrns = 'git push'\ndeni = 'no'\n",
            &["rns", "deni"],
        ),
        ("[event.'deploy.pre']\nsumary = 'x'\n", &["sumary"]),
    ] {
        let problems = manifest(text).problems(&[]);
        assert_eq!(problems.len(), keys.len(), "{text}: {problems:#?}");
        for (problem, key) in problems.iter().zip(keys) {
            assert!(
                problem.contains(&format!("unknown key `{key}` [did you mean")),
                "{problem}"
            );
        }
    }
    let second = "[[hook]]\nname = 'y'\nevent = 'tool.pre'\n";
    let problems = manifest(&format!(
        "[[hook]]\nname = 'x'\nevent = 'tool.pre'\ncomand = 'a'\n{second}"
    ));
    let problems = problems.problems(&[]);
    assert!(
        problems
            .iter()
            .any(|one| one.contains(":5:1: the hook has no `command`")),
        "{problems:?}"
    );
}
