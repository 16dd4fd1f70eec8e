//! Which cases run, where, in what order, and what they leave behind.

use std::fs;

use serde_json::Value;

use super::{GUARD, HEAD, case, guarded, report, suite};
use crate::nasty::running::{Running, end, wait_for_text};
use crate::sandbox::Sandbox;

fn names(report: &Value) -> Vec<String> {
    let cases = report["cases"].as_array().unwrap().iter();
    cases
        .map(|one| one["name"].as_str().unwrap().to_string())
        .collect()
}

/// Each case waits for what a later one writes: only together they end, the first last.
#[test]
fn cases_run_at_once_and_are_told_in_their_order() {
    let hook = r#"[ -z "$AFTER" ] || until [ -e "$SHARED/$AFTER" ]; do sleep 0.01; done
: > "$SHARED/$OWN""#;
    let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: timeout=1m\n{hook}"));
    let shared = sandbox.at("shared");
    fs::create_dir(&shared).unwrap();
    let one = |own: &str, after: &str| {
        let shared = shared.display();
        format!(
            "[[case]]\nname = '{own}'\n{HEAD}env = {{ SHARED = '{shared}', OWN = '{own}', AFTER = '{after}' }}\nexpect = {{ decision = 'allow' }}\n"
        )
    };
    let cases = one("a", "b") + &one("b", "c") + &one("c", "");
    let sandbox = sandbox.file("hooks.d/tests/x.toml", &cases);
    let report = report(&sandbox, &["--jobs", "3"]);
    assert_eq!(names(&report), ["a", "b", "c"]);
    assert_eq!(report["ok"], true, "{report:#}");
}

#[test]
fn suites_are_found_where_hooks_are() {
    let one = |name: &str| case(name, "x", "decision = 'allow'");
    let sandbox = guarded(&one("in hooks.d"))
        .file("hookrun.toml", "")
        .file("tests/y.toml", &one("beside hookrun.toml"))
        .file("tests/other.toml", "[package]\nname = 'x'\n")
        .file("tests/.hidden.toml", "[[case]]\n")
        .script(".hookrun/hooks.d/session.end/z", "#!/bin/sh\n")
        .file(
            ".hookrun/hooks.d/tests/z.toml",
            &one("in .hookrun/hooks.d").replace("tool.pre", "session.end"),
        )
        .file(
            "elsewhere/w.toml",
            &(String::from("hooks = '..'\n") + &one("elsewhere")),
        );
    let found = report(&sandbox, &[]);
    assert_eq!(
        names(&found),
        ["beside hookrun.toml", "in hooks.d", "in .hookrun/hooks.d"]
    );
    suite(&sandbox, &[])
        .exits(0)
        .says("note: skipped tests/other.toml, because it has no `[[case]]`");
    assert_eq!(names(&report(&sandbox, &["hooks.d"])), ["in hooks.d"]);
    assert_eq!(
        names(&report(&sandbox, &["elsewhere/w.toml", "hooks.d/tests"])),
        ["elsewhere", "in hooks.d"]
    );
    suite(&sandbox, &["tests/other.toml"])
        .exits(2)
        .prints("unknown key `package`");
}

#[test]
fn the_folder_of_suites_is_no_event_and_its_files_are_no_hooks() {
    let sandbox = guarded(&case("x", "bad", "decision = 'block'"));
    sandbox
        .hookrun(&["validate", "--hooks", "."], b"")
        .exits(0)
        .prints("1 file, 1 hook");
}

#[test]
fn other_hooks_can_be_put_in_the_place_of_those_around_the_cases() {
    let sandbox = guarded(&case("x", "bad", "decision = 'block'"))
        .script("other/hooks.d/tool.pre/allow", "#!/bin/sh\n");
    suite(&sandbox, &["--jobs", "1"]).exits(0);
    suite(&sandbox, &["hooks.d", "--hooks", "other"])
        .exits(1)
        .prints("- block")
        .prints("+ allow");
    suite(&sandbox, &["--hooks", "other"])
        .exits(2)
        .says("no test case files in `other`");
    suite(&sandbox, &["--hooks", "gone"])
        .exits(2)
        .says("`gone` does not exist");
}

#[test]
fn filters_choose_by_name_and_hook() {
    let cases = case("a Bad one", "bad", "decision = 'block'")
        + &case("a good one", "good", "decision = 'allow'")
        + "[[case]]\nname = 'the end'\nevent = 'SessionEnd'\nhost = 'claude'\nexpect = { decision = 'allow' }\n";
    let sandbox = guarded(&cases).hook_for("session.end", "bye.sh", "true");
    let of = |arguments: &[&str]| names(&report(&sandbox, arguments));
    assert_eq!(of(&["--filter", "Bad"]), ["a Bad one"]);
    assert_eq!(
        of(&["--filter", "(?i)^a bad|END$"]),
        ["a Bad one", "the end"]
    );
    assert_eq!(of(&["--hook", "10-guard.sh"]), ["a Bad one", "a good one"]);
    assert_eq!(
        of(&["--hook", "10-guard.sh", "--filter", "good"]),
        ["a good one"]
    );
}

#[test]
fn a_hook_that_hangs_ends_in_time_while_other_cases_run() {
    let hook = "# hookrun: timeout=300ms\n[ -e hang ] && sleep 3600; exit 0";
    let many: String = (0..20)
        .map(|n| format!("[[case]]\nname = 'c{n}'\n{HEAD}expect = {{ decision = 'allow' }}\n"))
        .collect();
    let hang = format!(
        "[[case]]\nname = 'hangs'\n{HEAD}files = {{ hang = '' }}\nexpect = {{ decision = 'block', failed = 'hook', reason = 'timed out after 300ms' }}\n"
    );
    let sandbox = Sandbox::new()
        .hook("hook", hook)
        .file("hooks.d/tests/x.toml", &(hang + &many));
    let ended = Running::start(&sandbox, &["test", "--suite", "--jobs", "4"])
        .feed(b"")
        .ended();
    ended.ran.exits(0).prints("21 cases");
}

#[test]
fn what_a_hook_leaves_running_is_gone_and_so_are_all_folders() {
    let hook = "setsid sleep 3600 >/dev/null 2>&1 & mkdir -p locked/in; chmod 500 locked; exit 0";
    let many: String = (0..8).map(|n| format!("[[case]]\nname = 'c{n}'\n{HEAD}setup = 'setsid sleep 3600 & sleep 3600 &'\nexpect = {{ decision = 'allow' }}\n")).collect();
    let sandbox = Sandbox::new()
        .hook("hook", hook)
        .file("hooks.d/tests/x.toml", &many);
    fs::create_dir(sandbox.at("tmp")).unwrap();
    let sandbox_tmp = sandbox.at("tmp").to_str().unwrap().to_string();
    let sandbox = sandbox.variable("TMPDIR", &sandbox_tmp);
    // `ended` holds that no process is left.
    let ended = Running::start(&sandbox, &["test", "--suite", "--jobs", "2"])
        .feed(b"")
        .ended();
    ended.ran.exits(0);
    assert_eq!(fs::read_dir(sandbox.at("tmp")).unwrap().count(), 0);
}

#[test]
fn no_case_sees_what_another_has_left() {
    let hook = r#"ls -A . "$HOME" "$TMPDIR" "$HOOKRUN_STATE_DIR" | grep -v ':$' | tr -d '\n'
stat -c %a . .. "$HOME" "$TMPDIR" "$HOOKRUN_STATE_DIR" | grep -v 700
stat -c %y . "$HOME" "$TMPDIR" | grep ^2001
ls -A "$HOOKRUN_STATE_DIR/.." | grep swept
eval "$LEAVE""#;
    let leaves = [
        "true",
        "echo x > left",
        "mkdir -m 700 left",
        "ln -s / left",
        "echo x > $HOME/left",
        "mkdir -m 700 $TMPDIR/left",
        "rmdir $TMPDIR",
        "echo x > $HOOKRUN_STATE_DIR/left",
        "mkdir -m 700 $HOOKRUN_STATE_DIR/left",
        "chmod 755 .",
        "chmod 500 $HOME",
        "chmod 755 ..",
        "echo x > ../left",
        "touch -d 2001-01-01 .",
        "touch -d 2001-01-01 $HOME",
        "echo x > $HOOKRUN_STATE_DIR/../.swept",
        "mkdir -m 700 -p $HOOKRUN_STATE_DIR/../.swept/left",
        ":",
    ];
    let many: String = leaves
        .iter()
        .map(|leave| {
            format!(
                "[[case]]\nname = '{leave}'\n{HEAD}env = {{ LEAVE = '{leave}' }}\n\
                 expect = {{ decision = 'allow' }}\n"
            )
        })
        .collect();
    let sandbox = Sandbox::new()
        .hook("hook", hook)
        .file("hooks.d/tests/x.toml", &many);
    suite(&sandbox, &["--jobs", "1"]).exits(0);
}

#[test]
fn a_case_reuses_unchanged_folders() {
    let played = |keys: &str, cases: &[(&str, usize)]| {
        let many: String = cases
            .iter()
            .enumerate()
            .map(|(number, (leave, place))| {
                format!(
                    "[[case]]\nname = '{number}'\n{HEAD}env = {{ LEAVE = '{leave}' }}\n\
                     expect = {{ decision = 'allow', output = '/{place}/work$' }}\n"
                )
            })
            .collect();
        let sandbox = Sandbox::new()
            .hook("hook", &format!("# hookrun: {keys}\npwd; eval \"$LEAVE\""))
            .file("hooks.d/tests/x.toml", &many);
        suite(&sandbox, &["--jobs", "1"]).exits(0);
    };
    let in_order = "timeout=5s";
    played(
        in_order,
        &[("", 0), ("", 0), ("echo x > left", 0), ("", 3), ("", 3)],
    );
    played(in_order, &[("echo x > left; rm left", 0), ("", 1)]);
    // Its processes may change the folders later.
    played("background=detach", &[("", 0), ("", 1)]);
}

#[test]
fn a_hostile_environment_changes_nothing() {
    let sandbox = guarded(&case("x", "bad", "decision = 'block'"))
        .variable("HOOKRUN_ACTION_COMMAND", "good")
        .variable("GIT_DIR", "/nowhere")
        .variable("IFS", "x")
        .variable("BASH_ENV", "/nowhere");
    suite(&sandbox, &[]).exits(0);
    let without = |command: &mut std::process::Command| {
        command.env_clear();
    };
    let sandbox = Sandbox::new().hook("10-guard.sh", GUARD).file(
        "hooks.d/tests/x.toml",
        &case("x", "bad", "decision = 'block'"),
    );
    sandbox
        .hookrun_as(without, &["test", "--suite"], b"")
        .exits(0);
    let nowhere = sandbox.variable("TMPDIR", "/nowhere/at/all");
    suite(&nowhere, &[])
        .exits(2)
        .says("set TMPDIR to a writable folder");
}

#[test]
fn hooks_find_hookrun_itself() {
    let sandbox = Sandbox::new().hook("hook", "hookrun hook field toolName").file(
        "hooks.d/tests/x.toml",
        &format!("[[case]]\nname = 'x'\n{HEAD}context.toolName = 'note'\nexpect = {{ decision = 'allow', output = '^note$' }}\n"),
    );
    suite(&sandbox, &[]).exits(0);
}

#[test]
fn a_signal_ends_what_prepares_a_case() {
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let sandbox = guarded("");
        let started = sandbox.at("started");
        let setup = format!("echo so >> {}; sleep 3600", started.display());
        let one = format!(
            "{}\nsetup = '{setup}'\n",
            case("x", "bad", "decision = 'block'").trim_end()
        );
        fs::write(sandbox.at("hooks.d/tests/guard.toml"), one).unwrap();
        let running = Running::start(&sandbox, &["test", "--suite", "--format", "github"]);
        let running = running.feed(b"");
        wait_for_text(&sandbox, "started");
        end(running.pid(), signal);
        // `ended` holds that no process is left.
        let ran = running.ended().ran;
        ran.exits(status).prints("1 case, 1 not run\n");
    }
}

fn pipe(sandbox: &Sandbox, path: &str) {
    let made = std::process::Command::new("mkfifo")
        .arg(sandbox.at(path))
        .status()
        .unwrap();
    assert!(made.success());
}

#[test]
fn a_pipe_or_a_device_is_no_file_and_is_not_waited_for() {
    let sandbox = guarded(&case("x", "bad", "decision = 'block'"));
    pipe(&sandbox, "hooks.d/tests/pipe.toml");
    std::os::unix::fs::symlink("/dev/zero", sandbox.at("hooks.d/tests/zero.toml")).unwrap();
    let ran = suite(&sandbox, &[]);
    ran.exits(2)
        .prints("hooks.d/tests/pipe.toml: cannot be read: it is not a regular file");
    ran.prints("hooks.d/tests/zero.toml: cannot be read: it is not a regular file");
    suite(&sandbox, &["hooks.d/tests/pipe.toml"])
        .exits(2)
        .says("is not a file");

    let cases = format!(
        "[[case]]\nname = 'x'\n{HEAD}context_file = 'pipe'\nfiles = {{ a = {{ copy = 'folder' }} }}\nexpect = {{ decision = 'allow' }}\n"
    );
    let sandbox = guarded(&cases).file("hooks.d/tests/folder/x", "");
    pipe(&sandbox, "hooks.d/tests/pipe");
    let ran = suite(&sandbox, &[]);
    ran.exits(2)
        .prints("cannot write the file `a`: `folder`: Is a directory");
}

#[test]
fn pipes_in_the_folder_of_a_case_are_not_waited_for() {
    let cases = format!(
        "[[case]]\nname = 'looks'\n{HEAD}setup = 'mkfifo p'\nexpect = {{ decision = 'allow', files = {{ p = 'x' }} }}\n
[[case]]\nname = 'lays'\n{HEAD}setup = 'mkfifo p'\n[[case.step]]\nfiles = {{ p = '' }}\nexpect = {{ decision = 'allow' }}\n"
    );
    let ran = suite(&guarded(&cases), &[]);
    ran.exits(2).prints("+ unreadable: it is not a regular");
    ran.prints("step 1: cannot write the file `p`: it already exists and is not a regular file");
}

#[test]
fn a_case_that_asks_nobody_proves_nothing() {
    let one = |name: &str, event: &str, expect: &str| {
        format!(
            "[[case]]\nname = '{name}'\nevent = '{event}'\nexpect = {{ decision = 'allow'{expect} }}\n\n"
        )
    };
    let cases = one("nobody", "session.end", "")
        + &one("meant", "session.end", ", asked = []")
        + &one("disabled", "session.start", "")
        + &case("asked", "x", "decision = 'allow'");
    let sandbox =
        guarded(&cases).hook_for("session.start", "off.sh", "# hookrun: enabled=false\n:");
    let ran = suite(&sandbox, &[]);
    ran.exits(0).prints("ok: 4 cases");
    ran.says("warning: hooks.d/tests/guard.toml:1:1: `nobody` proves nothing: no hook is bound to `session.end`\n  help: add a hook for this event or, if none should run, expect `asked = []`");
    ran.says("`disabled` proves nothing: every hook for `session.start` is disabled or idle");
    assert_eq!(ran.stderr.matches("warning").count(), 2, "{ran:?}");
}

#[test]
fn test_alone_plays_the_suite_and_so_does_every_option_of_a_suite() {
    let sandbox = guarded(&case("no bad", "bad", "decision = 'block'"));
    for more in [
        &[][..],
        &["--coverage"],
        &["--filter", "bad"],
        &["--jobs", "1"],
        &["--hook", "10-guard.sh"],
        &["--format", "junit"],
        &["--format", "github"],
        &["--format", "json"],
        &["--hooks", "hooks.d"],
    ] {
        let ran = sandbox.hookrun(&[&["test"], more].concat(), b"");
        assert!(
            ran.stdout.contains("1 case") || ran.stdout.contains("no bad"),
            "{more:?}: {ran:?}"
        );
    }
    // An event that names itself, and one that is named.
    let payload = br#"{"hook_event_name":"PreToolUse","tool_name":"Read"}"#;
    sandbox
        .hookrun(&["test"], payload)
        .says("testing this as the claude event `PreToolUse`")
        .prints("tool.pre  a tool is about to run");
    // Whose event this is, is certain, but not named.
    let certain = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"session_id":"s","transcript_path":"/t","permission_mode":"default"}"#;
    for (host, is_printed) in [(&[][..], true), (&["--host", "claude"], false)] {
        let ran = sandbox.hookrun(&[&["test"], host].concat(), certain);
        let ran = ran.prints("tool.pre  a tool is about to run");
        assert_eq!(
            ran.stderr.contains("testing this as"),
            is_printed,
            "{ran:?}"
        );
    }
    sandbox
        .hookrun(&["test", "tool.pre"], b"")
        .prints("this is the event's sample");
    sandbox
        .hookrun(&["try", "tool.pre"], b"")
        .prints("this is the event's sample");
    // Whoever starts it may never write to it, nor close it.
    let line = "mkfifo pipe; exec 3<>pipe; \"$0\" test --stdin-timeout 100ms <&3";
    let idle = sandbox.hookrun_by_shell(line, b"");
    idle.prints("1 case");
    Sandbox::new()
        .hookrun(&["test"], b"")
        .exits(2)
        .says("hookrun test EVENT");
}
