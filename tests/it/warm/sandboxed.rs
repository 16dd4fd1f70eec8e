//! Hooks with a sandbox or fewer files: warm they may do what they may do cold.

use std::fs;

use serde_json::{Value, json};

use super::{Report, Warmer, python, with_script};
use crate::nasty::running::{end, wait_until};
use crate::sandbox::Sandbox;

/// What becomes of a hook, cold and warm.
#[track_caller]
fn both(warmer: &mut Warmer, hook: &Value) -> [Report; 2] {
    let mut cold = hook.clone();
    cold["cold"] = json!(true);
    let cold = warmer.decides(&json!([cold])).remove(0);
    let mut warm = None;
    wait_until("one starts warm", || {
        let report = warmer.decides(&json!([hook])).remove(0);
        assert!(
            ["warm", "not-ready"].contains(&report.start.as_str()),
            "{report:?}"
        );
        warm = Some(report);
        warm.as_ref().is_some_and(|report| report.start == "warm")
    });
    [cold, warm.unwrap()]
}

/// Tries to reach beyond a sandbox, and says what worked.
const TRIES: &str = r#"
import ctypes, os, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def tries(name, action):
    try: print(name, "works", action())
    except OSError as error: print(name, error.errno)
def call(number, *words):
    if libc.syscall(number, *words) < 0: raise OSError(ctypes.get_errno(), "")
tries("make in work", lambda: open("work/new", "w").close())
tries("make outside", lambda: open("other/new", "w").close())
tries("change outside", lambda: open("other/file", "a").close())
tries("move in", lambda: os.rename("work/a", "work/deep/a"))
tries("move back", lambda: os.rename("work/deep/a", "work/a"))
tries("move out", lambda: os.rename("work/a", "other/a"))
tries("link in", lambda: os.link("other/file", "work/link"))
tries("read in work", lambda: open("work/a").read())
tries("read outside", lambda: open("secret/file").read())
tries("list outside", lambda: os.listdir("secret"))
tries("run", lambda: subprocess.check_output(["/bin/echo", "ran"]))
tries("run outside", lambda: subprocess.check_output(["secret/program"]))
tries("mode", lambda: os.chmod("work/a", 0o600))
tries("mode outside", lambda: os.chmod("other/file", 0o600))
tries("internet", lambda: socket.socket(socket.AF_INET).close())
tries("unix", lambda: socket.socket(socket.AF_UNIX).close())
tries("pair", lambda: [one.close() for one in socket.socketpair()])
tries("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close())
tries("memory", lambda: os.close(os.open("/proc/self/mem", os.O_RDWR)))
tries("name", lambda: open("/proc/self/comm", "w").close())
tries("mount", lambda: call(165, b"none", b"work", b"tmpfs", 0, None))
tries("unshare", lambda: call(272, 0x20000))
tries("keys", lambda: call(250, 0, -3, 1, 0, 0))
tries("other priority", lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 10))
tries("signal parent", lambda: os.kill(os.getppid(), 0))
tries("signal group", lambda: os.killpg(0, 0))
tries("terminal", lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
for line in open("/proc/self/status"):
    if line.startswith(("NoNewPrivs", "Seccomp:", "CapEff")): print(line.strip())
print(os.environ["HOME"] != "", len(os.listdir("/proc/self/fd")), open("/proc/self/comm").read().strip())
sys.exit("blocked")
"#;

fn tried() -> Sandbox {
    with_script(TRIES)
        .file("work/a", "a")
        .file("work/deep/b", "b")
        .file("other/file", "f")
        .script("secret/program", "#!/bin/sh\n")
        .file("secret/file", "s")
}

#[test]
fn a_sandboxed_hook_is_refused_the_same_warm_as_cold() {
    let Some(python) = python() else { return };
    let sandbox = tried();
    let mut warmer = Warmer::start(&sandbox, &[]);
    let folder = sandbox.path().display().to_string();
    let own = python
        .strip_suffix("bin/python3")
        .unwrap_or("/usr")
        .to_string();
    let script = format!("{folder}/hook.py");
    for rules in [
        json!({}),
        json!({ "write": ["work"] }),
        json!({ "write": ["work"], "network": true }),
        json!({ "read": ["work", own, script], "write": ["work"] }),
    ] {
        let hook = json!({ "words": [python, "hook.py"], "sandbox": rules });
        let _ = fs::remove_file(sandbox.at("work/new"));
        let [cold, warm] = both(&mut warmer, &hook);
        assert_eq!(cold.stdout, warm.stdout, "{rules}");
        assert_eq!(
            (&cold.decision, &cold.reason),
            (&warm.decision, &warm.reason),
            "{rules}"
        );
        assert_eq!(cold.decision, "block", "{cold:?}");
        let said = |line: &str| cold.stdout.lines().any(|one| one == line);
        assert_eq!(
            said("internet works None"),
            rules["network"] == true,
            "{cold:?}"
        );
        assert!(said("change outside 13"), "{cold:?}");
        assert_eq!(
            said("read outside 13"),
            rules["read"].is_array(),
            "{cold:?}"
        );
    }
    warmer.ends();
}

/// Of what is kept in its own sandbox it reaches no more than a cold one does.
#[test]
fn a_sandboxed_hook_cannot_signal_or_trace_what_is_kept_more_than_a_cold_one() {
    let Some(python) = python() else { return };
    let sandbox = with_script(
        "import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
open('part', 'w').write(str(os.getpid()))
os.rename('part', 'me')
while not os.path.exists('targets'): time.sleep(0.01)
targets = open('targets').read().split()
os.remove('me')
os.remove('targets')
for pid in targets:
    pid = int(pid)
    try: print('signal', os.kill(pid, 0))
    except OSError as error: print('signal', error.errno)
    # PTRACE_ATTACH is 16, PTRACE_SEIZE 0x4206; pidfd_open is 434, pidfd_getfd 438.
    for request in (16, 0x4206):
        print('trace', libc.ptrace(request, pid, None, None), ctypes.get_errno())
    for path in ('mem', 'environ', 'fd/3'):
        try: os.close(os.open('/proc/%d/%s' % (pid, path), os.O_RDONLY)); print('opens')
        except OSError as error: print(path, error.errno)
    print('descriptor', libc.syscall(438, libc.syscall(434, pid, 0), 0, 0), ctypes.get_errno())
",
    );
    let mut warmer = Warmer::start(&sandbox, &[]);
    let mut hook = json!({ "words": [python, "hook.py"], "sandbox": { "write": ["."] } });
    let names_targets = |warmer: &Warmer| {
        wait_until("the script runs", || sandbox.at("me").exists());
        let own: i32 = sandbox.read("me").parse().unwrap();
        let others = || {
            let kept = warmer.kept().into_iter().filter(|pid| *pid != own);
            kept.map(|pid| pid.to_string()).collect::<Vec<_>>()
        };
        // The interpreter of the sandbox, and a process that waits in it.
        wait_until("two are kept besides it", || others().len() >= 2);
        fs::write(sandbox.at("part"), others()[..2].join(" ")).unwrap();
        fs::rename(sandbox.at("part"), sandbox.at("targets")).unwrap();
    };
    let warm = warmer.starts_warm(&json!([hook]), names_targets);
    hook["cold"] = json!(true);
    warmer.sends(&json!([hook]));
    names_targets(&warmer);
    let cold = warmer.answers().remove(0);
    assert_eq!(cold.start, "", "{cold:?}");
    for report in [&cold, &warm] {
        assert_eq!(report.stdout.lines().count(), 14, "{report:?}");
        assert_eq!(
            report.stdout.matches("trace -1 1\n").count(),
            4,
            "{report:?}"
        );
    }
    assert_eq!(cold.stdout, warm.stdout);
    warmer.ends();
}

/// A rule names a folder as it is when a hook starts.
#[test]
fn a_granted_folder_that_was_made_anew_may_be_written() {
    let Some(python) = python() else { return };
    let sandbox = with_script("open('work/new', 'w').write('x')\n").file("work/a", "");
    let mut warmer = Warmer::start(&sandbox, &[]);
    let hook = json!({ "words": [python, "hook.py"], "sandbox": { "write": ["work"] } });
    for _ in 0..3 {
        let [cold, warm] = both(&mut warmer, &hook);
        assert_eq!(
            (cold.decision.as_str(), warm.decision.as_str()),
            ("allow", "allow"),
            "{warm:?}"
        );
        fs::rename(sandbox.at("work"), sandbox.at("old")).unwrap();
        fs::create_dir(sandbox.at("work")).unwrap();
        let report = warmer.decides(&json!([hook])).remove(0);
        assert_eq!(report.decision, "allow", "{report:?}");
        assert_eq!(sandbox.read("work/new"), "x");
        fs::remove_dir_all(sandbox.at("old")).unwrap();
    }
    warmer.ends();
}

/// Hooks with other rules have other interpreters.
#[test]
fn hooks_with_other_rules_do_not_share_an_interpreter() {
    let Some(python) = python() else { return };
    let sandbox = with_script(
        "for name in ('one', 'two'):
    try: open(name + '/x', 'w'); print(name)
    except OSError: pass
",
    );
    let sandbox = sandbox.file("one/a", "").file("two/a", "");
    let mut warmer = Warmer::start(&sandbox, &[]);
    for _ in 0..2 {
        for (rules, may) in [
            (json!({ "write": ["one"] }), "one\n"),
            (json!({ "write": ["two"] }), "two\n"),
            (json!({}), ""),
        ] {
            let hook = json!({ "words": [python, "hook.py"], "sandbox": rules });
            let [cold, warm] = both(&mut warmer, &hook);
            assert_eq!((cold.stdout.as_str(), warm.stdout.as_str()), (may, may));
        }
        let free = warmer.runs_warm(&[&python, "hook.py"]);
        assert_eq!(free.stdout, "one\ntwo\n");
    }
    warmer.ends();
}

#[test]
fn fewer_files_hold_for_a_warm_hook() {
    let Some(python) = python() else { return };
    let sandbox = with_script(
        "import os, resource
kept = []
try:
    while True: kept.append(os.dup(0))
except OSError as error: print(len(kept), error.errno, resource.getrlimit(resource.RLIMIT_NOFILE))
",
    );
    let mut warmer = Warmer::start(&sandbox, &[]);
    for files in [32, 40] {
        let hook = json!({ "words": [python, "hook.py"], "files": files });
        let [cold, warm] = both(&mut warmer, &hook);
        assert_eq!(cold.stdout, warm.stdout);
        assert!(
            cold.stdout.ends_with(&format!(" 24 ({files}, {files})\n")),
            "{cold:?}"
        );
    }
    warmer.ends();
}

/// The sandbox holds also for a process that becomes what a cold start would have started.
#[test]
fn a_script_that_cannot_be_compiled_is_reported_from_within_the_sandbox() {
    let Some(python) = python() else { return };
    let sandbox = with_script("def f(:\n");
    let mut warmer = Warmer::start(&sandbox, &[]);
    let hook = json!({ "words": [python, "hook.py"], "sandbox": {} });
    let [cold, warm] = both(&mut warmer, &hook);
    assert_eq!(
        (&cold.stderr, &cold.decision),
        (&warm.stderr, &warm.decision)
    );
    assert!(cold.stderr.contains("SyntaxError"), "{cold:?}");
    let kept = warmer.kept();
    kept.iter().for_each(|pid| end(*pid, "KILL"));
    assert_eq!(warmer.decides(&json!([hook])).remove(0).decision, "block");
    warmer.ends();
}
