//! Hooks that fail: they time out, die, or never start; and what that means for the event.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::json;

use crate::nasty::running::{NOT_HUNG, Running};
use crate::sandbox::Sandbox;

const TIMES_OUT: &str = "# hookrun: timeout=200ms\nsleep 600";

fn mode(sandbox: &Sandbox, path: &str, mode: u32) {
    fs::set_permissions(sandbox.at(path), fs::Permissions::from_mode(mode)).unwrap();
}

/// The hook never ran; the reason says so, names what is wrong, and what to do.
#[track_caller]
fn never_runs(sandbox: &Sandbox, problem: &str, cure: &str) {
    let ran = sandbox.run("tool.pre");
    ran.blocks_saying("hook `hook` failed: never ran: ").says("(fail closed)");
    ran.says(problem).says(cure);
    sandbox.has_no_file("ran");
}

#[test]
fn a_hook_that_is_still_running_at_its_timeout_refuses() {
    let sandbox = Sandbox::new().hook("hook", TIMES_OUT);
    let ran = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}").ended().ran;
    ran.blocks("hook `hook` failed: timed out after 200ms (fail closed)");
}

#[test]
fn the_timeout_is_five_seconds_unless_the_hook_says_otherwise() {
    let sandbox = Sandbox::new().hook("hook", "sleep 600");
    let started = std::time::Instant::now();
    sandbox.run("tool.pre").blocks("hook `hook` failed: timed out after 5s (fail closed)");
    assert!(started.elapsed().as_secs() >= 5 && started.elapsed() < NOT_HUNG);
}

#[test]
fn what_a_hook_says_when_it_is_told_to_end_comes_too_late() {
    let body = "# hookrun: timeout=300ms\ntrap 'echo \"{}\"; exit 0' TERM\nsleep 600 & wait";
    let ran = Sandbox::new().hook("hook", body).run("tool.pre");
    ran.blocks("hook `hook` failed: timed out after 300ms (fail closed)");
}

#[test]
fn a_hook_that_a_signal_kills_refuses_and_names_the_signal() {
    for signal in [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM",
    ] {
        let body = format!("ulimit -c 0; echo '{{}}'; kill -{signal} $$; sleep 600");
        let ran = Sandbox::new().hook("hook", &body).run("tool.pre");
        ran.blocks(&format!("hook `hook` failed: killed by SIG{signal} (fail closed)"));
    }
}

#[test]
fn a_file_without_its_run_bit_never_runs() {
    let sandbox = Sandbox::new().file("hooks.d/tool.pre/hook", "#!/bin/sh\ntouch ran\n");
    never_runs(&sandbox, "is not executable", "chmod +x ");
}

#[test]
fn a_script_without_a_first_line_never_runs() {
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/hook", "touch ran\n");
    never_runs(&sandbox, "#!/bin/sh", "add that line");
}

#[test]
fn an_empty_file_never_runs() {
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/hook", "");
    never_runs(&sandbox, "neither a program nor a script", "add that line");
}

#[test]
fn a_first_line_that_ends_in_carriage_return_never_runs() {
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/hook", "#!/bin/sh\r\ntouch ran\r\n");
    never_runs(&sandbox, "CR LF", "sed -i");
}

#[test]
fn a_missing_interpreter_is_named() {
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/hook", "#!/opt/no/python9 -x\n");
    never_runs(&sandbox, "/opt/no/python9", "install it");
}

#[test]
fn a_link_to_nothing_never_runs() {
    let sandbox = Sandbox::new().hook_for("tool.post", "other", "true");
    fs::create_dir_all(sandbox.at("hooks.d/tool.pre")).unwrap();
    symlink("nowhere", sandbox.at("hooks.d/tool.pre/hook")).unwrap();
    never_runs(&sandbox, "link", "mend or remove the link");
}

#[test]
fn links_in_a_circle_never_run() {
    let sandbox = Sandbox::new().hook_for("tool.post", "other", "true");
    fs::create_dir_all(sandbox.at("hooks.d/tool.pre")).unwrap();
    symlink("hook", sandbox.at("hooks.d/tool.pre/hook")).unwrap();
    never_runs(&sandbox, "hooks.d/tool.pre/hook", "check the path");
}

#[test]
fn a_link_to_a_program_runs_it() {
    let sandbox = Sandbox::new().script("lib/real", "#!/bin/sh\necho linked >&2; exit 1\n");
    fs::create_dir_all(sandbox.at("hooks.d/tool.pre")).unwrap();
    symlink("../../lib/real", sandbox.at("hooks.d/tool.pre/hook")).unwrap();
    sandbox.run("tool.pre").blocks("linked");
}

#[test]
fn a_folder_among_the_hooks_keeps_the_gate_closed() {
    let sandbox = Sandbox::new().hook("good", "touch ran");
    fs::create_dir(sandbox.at("hooks.d/tool.pre/folder")).unwrap();
    sandbox.run("tool.pre").blocks_saying("is a folder among the hooks of `tool.pre`");
    sandbox.has_no_file("ran");
}

#[test]
fn a_pipe_among_the_hooks_never_runs_and_is_not_waited_for() {
    let sandbox = Sandbox::new().hook_for("tool.post", "other", "true");
    fs::create_dir_all(sandbox.at("hooks.d/tool.pre")).unwrap();
    let pipe = sandbox.at("hooks.d/tool.pre/hook");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let ran = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}").ended().ran;
    ran.blocks_saying("hook `hook` failed: never ran: ").says("is not a file");
}

#[test]
fn a_hook_that_everyone_may_write_never_runs() {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    mode(&sandbox, "hooks.d/tool.pre/hook", 0o757);
    never_runs(&sandbox, "everyone may write", "chmod o-w ");
}

#[test]
fn a_hook_in_a_folder_that_everyone_may_write_never_runs() {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    mode(&sandbox, "hooks.d/tool.pre", 0o777);
    sandbox.run("tool.pre").blocks_saying("hooks.d/tool.pre: everyone may write it");
    mode(&sandbox, "hooks.d/tool.pre", 0o1777);
    sandbox.run("tool.pre").allows();
    sandbox.has_file("ran");
}

#[test]
fn a_link_in_a_folder_that_everyone_may_write_never_runs() {
    let sandbox = Sandbox::new().script("lib/real", "#!/bin/sh\ntouch ran\n");
    fs::create_dir_all(sandbox.at("hooks.d/tool.pre")).unwrap();
    symlink("../../lib/real", sandbox.at("hooks.d/tool.pre/hook")).unwrap();
    mode(&sandbox, "hooks.d/tool.pre", 0o777);
    sandbox.run("tool.pre").blocks_saying("hooks.d/tool.pre: everyone may write it");
}

#[test]
fn a_setuid_hook_never_runs() {
    for bits in [0o4755, 0o2755] {
        let sandbox = Sandbox::new().hook("hook", "touch ran");
        mode(&sandbox, "hooks.d/tool.pre/hook", bits);
        never_runs(&sandbox, "setuid", "chmod ug-s ");
    }
}

#[test]
fn a_command_that_is_not_there_never_runs() {
    for (command, problem) in [
        ("./no-such-script.sh --strict", "no-such-script.sh"),
        ("no-such-program-anywhere", "no program `no-such-program-anywhere` in PATH"),
    ] {
        let config =
            format!("[[hook]]\nname = 'hook'\nevent = 'tool.pre'\ncommand = '{command}'\n");
        let sandbox = Sandbox::new().file("hookrun.toml", &config);
        sandbox.run("tool.pre").blocks_saying("hook `hook` failed: never ran: ").says(problem);
    }
}

#[test]
fn a_failure_lets_the_event_go_on_where_the_hook_says_so() {
    for (body, problem) in [
        ("# hookrun: timeout=200ms on_failure=allow\nsleep 600", "timed out after 200ms"),
        ("# hookrun: on_failure=allow\nkill -KILL $$", "killed by SIGKILL"),
        ("# hookrun: on_failure=allow\necho '{'", "malformed answer: "),
    ] {
        let sandbox = Sandbox::new().hook("10-fails", body).hook("20-later", "echo later");
        let ran = sandbox.run("tool.pre");
        ran.allows_with(json!({ "output": "later" }));
        ran.says(&format!("hook `10-fails` failed: {problem}")).says("(fail open)");
    }
}

#[test]
fn a_hook_that_fails_open_can_still_refuse() {
    let sandbox = Sandbox::new().hook("hook", "# hookrun: on_failure=allow\necho no >&2; exit 1");
    sandbox.run("tool.pre").blocks("no");
}

#[test]
fn on_failure_block_closes_a_gate_that_is_open_by_itself() {
    let open = Sandbox::new().hook_for("compact.pre", "hook", TIMES_OUT);
    open.run("compact.pre").allows();
    let body = TIMES_OUT.replace("timeout", "on_failure=block timeout");
    let closed = Sandbox::new().hook_for("compact.pre", "hook", &body);
    closed.run("compact.pre").blocks("hook `hook` failed: timed out after 200ms (fail closed)");
}

#[test]
fn what_cannot_be_refused_goes_on_and_the_objection_is_reported() {
    for body in
        ["echo no >&2; exit 1", r#"echo '{"continue":false,"reason":"no"}'"#, "echo no; exit 255"]
    {
        let sandbox = Sandbox::new().hook_for("session.start", "10-objects", body).hook_for(
            "session.start",
            "20-speaks",
            "echo hello",
        );
        let ran = sandbox.run("session.start");
        ran.allows_with(json!({ "output": "hello" }));
        assert_eq!(
            ran.stderr, "hook `10-objects` objects (this event cannot be refused): no\n",
            "{ran:?}"
        );
    }
}

#[test]
fn a_failure_at_an_event_that_cannot_be_refused_is_reported() {
    let sandbox = Sandbox::new().hook_for("session.start", "hook", TIMES_OUT);
    let ran = sandbox.run("session.start");
    ran.allows();
    assert_eq!(ran.stderr, "hook `hook` failed: timed out after 200ms\n", "{ran:?}");
}

#[test]
fn the_report_tells_a_failure_from_a_decision() {
    let policy = Sandbox::new().hook("hook", "exit 1").report("tool.pre", "{}");
    assert_eq!((&policy["decision"], &policy["cause"]), (&json!("block"), &json!("policy")));
    let failure = Sandbox::new().hook("hook", "kill -9 $$").report("tool.pre", "{}");
    assert_eq!((&failure["decision"], &failure["cause"]), (&json!("block"), &json!("failure")));
    assert_eq!(failure["hooks"][0]["signal"], 9);
}
