//! Where nobody is, every dialog has its documented answer at once (oh-my-pi: select, input and
//! editor have none, confirm is no, and nothing else happens).

use super::with_hookrun;
use crate::nasty::running::{Running, end};
use crate::sandbox::{Ran, Sandbox};

/// What a hook prints that runs this without a terminal.
#[track_caller]
fn hook(body: &str) -> Ran {
    let sandbox = Sandbox::new().hook("guard", &with_hookrun(body));
    sandbox.run("tool.pre")
}

const DIALOGS: &[(&str, i32)] = &[
    ("select Title a b", 1),
    ("confirm Title Message", 1),
    ("confirm Title", 1),
    ("input Title Placeholder", 1),
    ("input Title", 1),
    ("editor Title Text", 1),
    ("editor Title", 1),
    ("notify Message", 0),
    ("notify Message --type error", 0),
    ("status key text", 0),
    ("status key", 0),
];

#[test]
fn in_a_hook_every_dialog_has_its_default_and_prints_nothing() {
    for (dialog, status) in DIALOGS {
        let ran = hook(&format!("hookrun hook ui {dialog}; test $? -eq {status}"));
        ran.allows();
        assert_eq!(ran.stderr, "", "{dialog}");
    }
}

#[test]
fn outside_of_a_hook_as_well() {
    for (dialog, status) in DIALOGS {
        let words: Vec<&str> = ["hook", "ui"]
            .into_iter()
            .chain(dialog.split(' '))
            .collect();
        let ran = Sandbox::new().hookrun(&words, b"");
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (*status, ""),
            "{dialog}: {ran:?}"
        );
        assert_eq!(ran.stderr, "", "{dialog}");
    }
}

#[test]
fn a_hook_knows_that_nobody_is_there() {
    hook("test \"$HOOKRUN_HAS_UI\" = 0 && test -z \"$HOOKRUN_SOCKET\"").allows();
    // Not even if it is told so from outside.
    let sandbox = Sandbox::new()
        .hook(
            "guard",
            "test \"$HOOKRUN_HAS_UI\" = 0 && test -z \"$HOOKRUN_SOCKET\"",
        )
        .variable("HOOKRUN_HAS_UI", "1")
        .variable("HOOKRUN_SOCKET", "token@/nowhere");
    sandbox.run("tool.pre").allows();
}

/// Says yes to whatever is asked at the socket `mine`; in a process beside the program in its
/// arguments, or as the one that starts it.
const SAYS_YES: &str = r#"
import os, socket, subprocess, sys, threading
listener = socket.socket(socket.AF_UNIX)
listener.bind('mine')
listener.listen()
def serve():
    while True:
        connection, _ = listener.accept()
        if connection.makefile().readline():
            connection.sendall(b'{"yes":true}\n')
        connection.close()
if sys.argv[1] == 'beside':
    if os.fork() == 0:
        # The one that listened is the ancestor, this one is not.
        listener = socket.socket(socket.AF_UNIX)
        os.unlink('mine')
        listener.bind('mine')
        listener.listen()
        os.close(1); os.close(2)
        os.open('ready', os.O_CREAT)
        serve()
    while not os.path.exists('ready'):
        pass
else:
    threading.Thread(target=serve, daemon=True).start()
os.environ.update(HOOKRUN_SOCKET='token@' + os.path.abspath('mine'), HOOKRUN_HAS_UI='1')
sys.exit(subprocess.run(sys.argv[2:]).returncode)
"#;

#[test]
fn no_other_program_answers_for_the_person() {
    for place in ["beside", "around"] {
        let body = "hookrun hook ui confirm Sure; [ $? = 1 ] && echo '{\"ask\":\"may it?\"}'";
        let sandbox = Sandbox::new()
            .hook("guard", &with_hookrun(body))
            .file("says-yes.py", SAYS_YES);
        let line = format!("exec python3 says-yes.py {place} \"$@\"");
        let running = Running::start_by(&sandbox, &line, &["run", "tool.pre"]).feed(b"{}");
        let cookie = running.cookie.clone();
        let ran = running.ended_alone().ran;
        cookie.holders().iter().for_each(|pid| end(*pid, "KILL"));
        ran.blocks_saying("may it?");
    }
}

#[test]
fn a_socket_at_which_nobody_listens_is_nobody() {
    for socket in ["", "nonsense", "token@/nowhere", "@"] {
        let body = format!("HOOKRUN_SOCKET='{socket}' hookrun hook ui confirm Sure; test $? -eq 1");
        hook(&body).allows();
    }
}

#[test]
fn where_nothing_can_be_kept_state_says_why() {
    let body = "hookrun hook send text 2>/dev/null; test $? -eq 2 || exit 1\n\
                hookrun hook state set a b; test $? -eq 2 || exit 1";
    let sandbox = Sandbox::new()
        .hook("guard", &with_hookrun(body))
        .variable("XDG_STATE_HOME", "/dev/null/none");
    let report = sandbox.report("tool.pre", "{}");
    assert_eq!(report["decision"], "allow", "{report:#}");
}

#[test]
fn looking_makes_no_folder() {
    let sandbox = Sandbox::new();
    let ran = sandbox.hookrun(&["hook", "send", "--take"], b"");
    assert_eq!(ran.exits(0).stdout, "");
    sandbox.has_no_file("home/.local");
}

#[test]
fn a_usage_error_is_2_and_no_answer() {
    hook("hookrun hook ui select Title 2>/dev/null; test $? -eq 2").allows();
}
