//! Files that cannot or must not be started: the hook never ran, and the reason says so.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::nasty::running::{Running, decide, wait_until};
use crate::sandbox::{Ran, Sandbox};

/// Where the one hook of these tests lies.
const HOOK: &str = "hooks.d/tool.pre/hook";

/// The hook never ran; the reason says so, names what is wrong, and what to do.
#[track_caller]
fn never_runs(sandbox: &Sandbox, problem: &str, cure: &str) {
    let ran = decide(sandbox);
    ran.blocks_saying("hook `hook` never ran: ")
        .says("(fail closed)");
    ran.says(problem).says(cure);
    sandbox.has_no_file("ran");
}

/// An executable file with exactly this text is the hook.
fn script(text: &str) -> Sandbox {
    Sandbox::new().script(HOOK, text)
}

/// The folder of the hooks, and what `make` puts there.
fn made(make: impl FnOnce(&Sandbox)) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.at("hooks.d/tool.pre")).unwrap();
    make(&sandbox);
    sandbox
}

/// The hook is a link.
fn link(target: &str) -> Sandbox {
    made(|sandbox| symlink(target, sandbox.at(HOOK)).unwrap())
}

/// A good hook with another mode, of its own or of its folder.
fn mode(path: &str, mode: u32) -> Sandbox {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    change_mode(&sandbox, path, mode);
    sandbox
}

fn change_mode(sandbox: &Sandbox, path: &str, mode: u32) {
    fs::set_permissions(sandbox.at(path), fs::Permissions::from_mode(mode)).unwrap();
}

/// A script whose interpreter is `path` in the sandbox.
fn interpreted_by(sandbox: Sandbox, path: &str) -> Sandbox {
    let line = format!("#!{}\ntouch ran\n", sandbox.at(path).display());
    sandbox.script(HOOK, &line)
}

/// The hook is a command of the configuration.
fn command(command: &str) -> Sandbox {
    let config = format!("[[hook]]\nname = 'hook'\nevent = 'tool.pre'\ncommand = '{command}'\n");
    Sandbox::new().file("hookrun.toml", &config)
}

/// One test for each file that is no program: how it comes about, what is wrong, what to do.
macro_rules! never_runs {
    ($($name:ident: $sandbox:expr => $problem:expr, $cure:expr;)*) => {$(
        #[test]
        fn $name() {
            never_runs(&$sandbox, $problem, $cure);
        }
    )*};
}

never_runs! {
    a_file_without_its_run_bit_never_runs:
        Sandbox::new().file(HOOK, "#!/bin/sh\ntouch ran\n") => "is not executable", "chmod +x ";
    a_script_without_a_first_line_never_runs:
        script("touch ran\n") => "#!/bin/sh", "add that line";
    an_empty_file_never_runs:
        script("") => "neither a program for this system nor a script", "add that line";
    a_first_line_without_an_interpreter_never_runs:
        script("#!  \ntouch ran\n") => "neither a program for this system nor a script", "add that line";
    a_first_line_that_ends_in_carriage_return_never_runs:
        script("#!/bin/sh\r\ntouch ran\r\n") => "CR LF", "sed -i";
    a_byte_order_mark_before_the_first_line_is_no_first_line:
        script("\u{feff}#!/bin/sh\ntouch ran\n") => "neither a program for this system nor a script", "add that line";
    the_beginning_of_a_program_is_no_program:
        script("\u{7f}ELF\u{2}\u{1}\u{1}") => "neither a program for this system nor a script", "";
    a_missing_interpreter_is_named:
        script("#!/opt/no/python9 -x\n") => "/opt/no/python9", "install it";
    an_interpreter_that_is_a_folder_is_named:
        script("#!/usr/lib\ntouch ran\n") => "`/usr/lib`", "check both";
    an_interpreter_without_its_run_bit_is_named:
        interpreted_by(Sandbox::new().file("shell", ""), "shell") => "/shell`", "check both";
    a_script_that_is_its_own_interpreter_never_runs:
        interpreted_by(Sandbox::new(), HOOK) => "cannot start", "";
    a_link_to_nothing_never_runs: link("nowhere") => "link", "fix or remove the link";
    links_in_a_circle_never_run: link("hook") => HOOK, "check the path";
    a_device_never_runs: link("/dev/null") => "is not a file", "replace it with an executable file, or remove it";
    a_device_without_end_never_runs: link("/dev/zero") => "is not a file", "executable";
    a_link_to_a_folder_never_runs:
        Sandbox::new().file("hookrun.toml", "[[hook]]\nname = 'hook'\nevent = 'tool.pre'\n\
            command = './home'\n") => "is not a file", "replace it with an executable file, or remove it";
    a_pipe_never_runs_and_is_not_waited_for:
        made(|sandbox| {
            assert!(Command::new("mkfifo").arg(sandbox.at(HOOK)).status().unwrap().success());
        }) => "is not a file", "replace it with an executable file, or remove it";
    a_socket_never_runs:
        made(|sandbox| drop(UnixListener::bind(sandbox.at(HOOK)).unwrap()))
            => "is not a file", "replace it with an executable file, or remove it";
    a_hook_that_everyone_may_write_never_runs:
        mode(HOOK, 0o757) => "is world-writable", "chmod o-w ";
    a_setuid_hook_never_runs: mode(HOOK, 0o4755) => "setuid", "chmod ug-s ";
    a_setgid_hook_never_runs: mode(HOOK, 0o2755) => "setuid", "chmod ug-s ";
    a_script_that_is_not_there_never_runs:
        command("./no-such-script.sh --strict") => "no-such-script.sh", "correct the path";
    a_program_that_is_not_in_path_never_runs:
        command("no-such-program-anywhere") =>
            "no program `no-such-program-anywhere` in PATH", "install it";
}

#[test]
fn what_nobody_else_can_reach_nobody_else_can_write() {
    let sandbox = mode(HOOK, 0o757);
    change_mode(&sandbox, "hooks.d/tool.pre", 0o700);
    decide(&sandbox).allows();
    sandbox.has_file("ran");
}

#[test]
fn scripts_that_interpret_each_other_without_end_never_run() {
    let mut sandbox = Sandbox::new();
    for (script, interpreter) in [("a", "b"), ("b", "c"), ("c", "a")] {
        let line = format!("#!{}\ntouch ran\n", sandbox.at(interpreter).display());
        sandbox = sandbox.script(script, &line);
    }
    never_runs(&interpreted_by(sandbox, "a"), "cannot start", "");
}

/// `env` looks for `python3\r`.
#[test]
fn a_first_line_with_env_that_ends_in_carriage_return_never_runs() {
    for words in ["env python3", "env\tsh"] {
        let sandbox = script(&format!("#!/usr/bin/{words}\r\nopen('ran', 'w')\r\n"));
        decide(&sandbox).blocks_saying("(status 127)");
        sandbox.has_no_file("ran");
    }
}

#[test]
fn a_link_to_a_program_runs_it() {
    let sandbox = link("../../lib/real").script("lib/real", "#!/bin/sh\necho linked >&2; exit 1\n");
    decide(&sandbox).blocks("linked");
}

#[test]
fn a_folder_among_the_hooks_keeps_the_gate_closed() {
    let sandbox = Sandbox::new().hook("good", "touch ran");
    fs::create_dir(sandbox.at("hooks.d/tool.pre/folder")).unwrap();
    decide(&sandbox).blocks_saying("is a folder among the hooks of `tool.pre`");
    sandbox.has_no_file("ran");
}

#[test]
fn a_hook_in_a_folder_that_everyone_may_write_never_runs() {
    let sandbox = mode("hooks.d/tool.pre", 0o777);
    decide(&sandbox).blocks_saying("hooks.d/tool.pre: it is world-writable");
    // The sticky bit does not keep others from adding hooks.
    change_mode(&sandbox, "hooks.d/tool.pre", 0o1777);
    decide(&sandbox).blocks_saying("hooks.d/tool.pre: it is world-writable");
    sandbox.has_no_file("ran");
}

#[test]
fn code_that_hooks_share_must_not_be_writable_for_everyone() {
    let sandbox = Sandbox::new().hook("good", "touch ran");
    fs::create_dir(sandbox.at("hooks.d/lib")).unwrap();
    decide(&sandbox).allows();
    change_mode(&sandbox, "hooks.d/lib", 0o777);
    fs::remove_file(sandbox.at("ran")).unwrap();
    decide(&sandbox).blocks_saying("hooks.d/lib: it is world-writable");
    sandbox.has_no_file("ran");
}

#[test]
fn a_folder_that_an_earlier_hook_of_the_event_has_opened_is_noticed() {
    let open = "mv hooks.d/tool.pre old; mkdir hooks.d/tool.pre; cp old/* hooks.d/tool.pre\n\
                printf '#!/bin/sh\\ntouch ran\\n' > hooks.d/tool.pre/20; chmod 777 hooks.d/tool.pre";
    for open in ["chmod 777 hooks.d/tool.pre", open] {
        let sandbox = Sandbox::new()
            .hook("10", open)
            .hook("20", "touch ran; exit 1");
        decide(&sandbox)
            .blocks_saying("`20` never ran: `")
            .says("is world-writable");
        sandbox.has_no_file("ran");
    }
}

#[test]
fn a_link_in_a_folder_that_everyone_may_write_never_runs() {
    let sandbox = link("../../lib/real").script("lib/real", "#!/bin/sh\ntouch ran\n");
    change_mode(&sandbox, "hooks.d/tool.pre", 0o777);
    decide(&sandbox).blocks_saying("hooks.d/tool.pre: it is world-writable");
    sandbox.has_no_file("ran");
}

#[test]
fn a_file_that_somebody_is_just_writing_is_tried_again() {
    let sandbox = Sandbox::new()
        .hook("a", "# hookrun: parallel\ntouch begun")
        .hook("hook", "# hookrun: parallel\necho no >&2; exit 1");
    let busy = fs::OpenOptions::new()
        .append(true)
        .open(sandbox.at(HOOK))
        .unwrap();
    let running = Running::start(&sandbox, &["run", "tool.pre"]).feed(b"{}");
    wait_until("its neighbour runs", || sandbox.at("begun").exists());
    drop(busy);
    running.ended().ran.blocks("no");
}

#[test]
fn a_file_that_stays_open_for_writing_never_runs() {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    let busy = fs::OpenOptions::new()
        .append(true)
        .open(sandbox.at(HOOK))
        .unwrap();
    never_runs(&sandbox, "cannot start", "");
    drop(busy);
}

/// Holds a lease on the file in its first argument, runs the rest with stdin from a text.
const WITH_LEASE: &str = r#"
import fcntl, os, signal, subprocess, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
held = os.open(sys.argv[1], os.O_RDWR)
try:
    fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError:
    print("no leases here")
    sys.exit(0)
sys.exit(subprocess.run(sys.argv[2:], input=b'{"toolName":"note"}').returncode)
"#;

#[test]
fn a_decision_is_reached_even_if_the_system_hangs_while_starting_a_hook() {
    let sandbox = Sandbox::new().script("guard", "#!/bin/sh\nexit 0\n").file(
        "hookrun.toml",
        "[[hook]]\nname = \"guard\"\nevent = \"tool.pre\"\ncommand = \"./guard\"\n\
             timeout = \"200ms\"\n",
    );
    let hookrun = sandbox.command(&["run", "tool.pre"]);
    let mut python = Command::new("python3");
    python
        .args(["-c", WITH_LEASE, "guard"])
        .arg(hookrun.get_program())
        .args(hookrun.get_args());
    let ran: Ran = Running::start_instead(&sandbox, python)
        .feed(b"")
        .ended()
        .ran;
    if !ran.stdout.contains("no leases here") {
        ran.blocks_saying("hook `guard` never ran: the system took");
    }
}
