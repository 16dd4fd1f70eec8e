//! Hooks that try to change what later hooks do, or to harm what is kept for them.

use std::fs;

use serde_json::json;

use super::{Warmer, python, with_script};
use crate::nasty::running::{end, wait_until};
use crate::sandbox::Sandbox;

/// Says what a later hook finds changed.
const LOOKS: &str = "import builtins, json, os, re, signal, sys
print(json.dumps([1]), os.environ.get('EVIL'), 'evil' in sys.modules, sys.path[-1], len.__name__,
    signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, os.getcwd(), os.umask(18), sys.getrecursionlimit())
";

#[test]
fn what_a_hook_changes_of_its_interpreter_ends_with_it() {
    let Some(python) = python() else { return };
    let sandbox = with_script(LOOKS).file(
        "evil.py",
        "import builtins, json, os, re, signal, sys
json.dumps = lambda *_: 'patched'; os.environ['EVIL'] = '1'; sys.modules['evil'] = json
sys.path.append('/evil'); builtins.len = id; signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.chdir('/'); os.umask(0); sys.setrecursionlimit(77)
for name in list(sys.modules): sys.modules.pop(name)
",
    );
    let mut warmer = Warmer::start(&sandbox, &[]);
    let clean = warmer.runs_warm(&[&python, "hook.py"]).stdout;
    assert!(clean.starts_with("[1] None False"), "{clean}");
    for _ in 0..3 {
        assert_eq!(warmer.runs_warm(&[&python, "evil.py"]).decision, "allow");
        assert_eq!(warmer.runs_warm(&[&python, "hook.py"]).stdout, clean);
    }
    warmer.ends();
}

#[test]
fn a_hook_finds_no_descriptors_but_its_own() {
    let Some(python) = python() else { return };
    let sandbox = with_script(
        "import os
for number in range(3, 4096):
    try: print(number, os.fstat(number))
    except OSError: pass
",
    );
    let mut warmer = Warmer::start(&sandbox, &[]);
    // What this program got from whoever started it goes to every hook.
    let cold = warmer.runs_cold(&[&python, "hook.py"]).stdout;
    for _ in 0..3 {
        assert_eq!(warmer.runs_warm(&[&python, "hook.py"]).stdout, cold);
    }
    warmer.ends();
}

#[test]
fn after_a_hook_that_kills_what_is_kept_others_start_cold() {
    let Some(python) = python() else { return };
    // It finds them by their command line, as everything can that the same user runs.
    let sandbox = with_script("print('fine')\n").file(
        "evil.py",
        "import gc, os, signal
for name in filter(str.isdigit, os.listdir('/proc') if gc.get_freeze_count() else ()):
    try:
        line = open('/proc/%s/cmdline' % name).read()
        own = open('/proc/%s/environ' % name, 'rb').read() if \"'hookrun'\" in line else b''
        if os.environb[b'IT_COOKIE'] in own and int(name) != os.getpid():
            os.kill(int(name), signal.SIGKILL)
    except OSError: pass
",
    );
    let mut warmer = Warmer::start(&sandbox, &[]);
    for _ in 0..5 {
        let evil = warmer.runs_warm(&[&python, "evil.py"]);
        assert_eq!(evil.decision, "allow", "{evil:?}");
        // What is still dying when the next event comes may get it.
        let report = warmer.runs(&[&python, "hook.py"]);
        assert_eq!(
            [report.stdout, report.decision],
            ["fine\n", "allow"],
            "{}",
            report.start
        );
    }
    warmer.ends();
}

/// A process that is stopped takes an event and cannot begin with it.
#[test]
fn a_hook_whose_process_is_killed_before_the_script_begins_runs_once_and_cold() {
    let Some(python) = python() else { return };
    let sandbox = with_script("open('runs', 'a').write('run\\n')\nprint('fine')\n");
    let mut warmer = Warmer::start(&sandbox, &[]);
    for signal in ["KILL", "SEGV"] {
        let mut pause = std::time::Duration::ZERO;
        wait_until("a stopped process has taken the event", || {
            // The last process of an interpreter that was killed may be warm, and have no next one.
            wait_until("a process waits, besides the interpreter", || {
                warmer.runs_warm(&[&python, "hook.py"]);
                warmer.kept().len() > 1
            });
            let (kept, before) = (warmer.kept(), sandbox.read("runs").len());
            kept.iter().for_each(|pid| end(*pid, "STOP"));
            warmer.sends(&json!([{ "words": [python, "hook.py"] }]));
            std::thread::sleep(pause);
            pause += std::time::Duration::from_millis(5);
            kept.iter().for_each(|pid| end(*pid, signal));
            kept.iter().for_each(|pid| end(*pid, "CONT"));
            let report = warmer.answers().remove(0);
            // One that was just being forked was not seen, and is neither stopped nor killed.
            assert_eq!(
                [report.stdout.as_str(), &report.decision],
                ["fine\n", "allow"]
            );
            assert_eq!(sandbox.read("runs").len(), before + "run\n".len());
            report.start == "died"
        });
    }
    warmer.ends();
}

/// It has begun: whatever it has done, it has done.
#[test]
fn a_hook_that_is_killed_while_its_script_runs_is_not_run_again() {
    let Some(python) = python() else { return };
    let sandbox = with_script(
        "import os, time\nopen('runs', 'a').write('run\\n')\nwhile os.path.exists('hang'): time.sleep(1)\n",
    );
    let sandbox = sandbox.file("hang", "").file("runs", "");
    let mut warmer = Warmer::start(&sandbox, &[]);
    let mut events = 0;
    let report = warmer.starts_warm(&json!([{ "words": [python, "hook.py"] }]), |warmer| {
        events += 1;
        wait_until("the script runs", || {
            sandbox.read("runs").len() == events * "run\n".len()
        });
        // If it has started cold, its command line is its own, and an interpreter may yet come.
        let cold = warmer.running("hook.py");
        let killed = if cold.is_empty() { warmer.kept() } else { cold };
        killed.into_iter().for_each(|pid| end(pid, "KILL"));
    });
    assert_eq!(
        [report.ending.as_str(), &report.decision],
        ["Killed { signal: 9 }", "block"]
    );
    assert_eq!(sandbox.read("runs").len(), events * "run\n".len());
    warmer.ends();
}

#[test]
fn a_hook_that_kills_its_group_kills_nothing_else() {
    let Some(python) = python() else { return };
    let sandbox = with_script("import os\nos.killpg(0, 9)\n").file("good.py", "print('fine')\n");
    let mut warmer = Warmer::start(&sandbox, &[]);
    warmer.runs_warm(&[&python, "good.py"]);
    for _ in 0..3 {
        let report = warmer.runs_warm(&[&python, "hook.py"]);
        assert_eq!(report.ending, "Killed { signal: 9 }");
        assert_eq!(warmer.runs_warm(&[&python, "good.py"]).stdout, "fine\n");
    }
    warmer.ends();
}

/// What `ptrace` of a kept interpreter gives is what it gives for any process of the same user: a
/// warm hook has no more power than a cold one.
#[test]
fn a_warm_hook_may_trace_no_more_than_a_cold_one() {
    let Some(python) = python() else { return };
    let sandbox = with_script(
        "import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pid = int(open('target').read())
# PTRACE_ATTACH is 16, PTRACE_DETACH 17.
if libc.ptrace(16, pid, None, None) == 0:
    os.waitpid(pid, 0x40000000)
    libc.ptrace(17, pid, None, None)
    print('attached')
else:
    print(os.strerror(ctypes.get_errno()))
",
    );
    let mut warmer = Warmer::start(&sandbox, &[]);
    let zygote = |warmer: &Warmer| warmer.kept().first().copied();
    let mut said = Vec::new();
    let mut traces = |warmer: &mut Warmer, is_cold: bool| {
        wait_until("an interpreter is kept", || zygote(warmer).is_some());
        fs::write(sandbox.at("target"), zygote(warmer).unwrap().to_string()).unwrap();
        let words = [python.as_str(), "hook.py"];
        let report = if is_cold {
            warmer.runs_cold(&words)
        } else {
            warmer.runs(&words)
        };
        said.push(report.stdout);
    };
    fs::write(sandbox.at("good.py"), "").unwrap();
    warmer.runs_warm(&[&python, "good.py"]);
    traces(&mut warmer, true);
    traces(&mut warmer, false);
    assert_eq!(said[0], said[1]);
    assert_eq!(warmer.runs(&[&python, "good.py"]).decision, "allow");
    warmer.ends();
}

#[test]
fn a_full_disk_does_not_matter() {
    let Some(python) = python() else { return };
    let sandbox = with_script("import os\nprint('fine')\n");
    let mut warmer = Warmer::start(&sandbox, &[("TMPDIR", "/dev/full")]);
    for _ in 0..3 {
        assert_eq!(warmer.runs_warm(&[&python, "hook.py"]).stdout, "fine\n");
    }
    warmer.ends();
}

/// The bytes that hookrun has seen when it decided to trust a script are not those that run.
#[test]
fn a_script_that_is_swapped_while_it_runs_does_not_count() {
    let Some(python) = python() else { return };
    let swap =
        "import os, sys\nif os.path.exists('swap'):\n    open(__file__, 'a').write('# new\\n')\n";
    let text = format!("#!{python}\n# hookrun: warm=fork\n{swap}");
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/10-guard.py", &text);
    let sandbox = sandbox.without_trust().trusted();
    let mut client = crate::serve::Client::start(&sandbox, &["--stdio"]);
    let event = json!({ "event": "tool.pre", "context": { "toolName": "note" } });
    for _ in 0..5 {
        assert_eq!(client.decide(event.clone())["status"], 0);
    }
    fs::write(sandbox.at("swap"), "").unwrap();
    wait_until("it is noticed", || {
        client.decide(event.clone())["status"] == 2
    });
    let said = client.decide(event)["stderr"].to_string();
    assert!(said.contains("trust"), "{said}");
    assert!(client.end().success());
}
