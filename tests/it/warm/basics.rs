//! What a hook says, how it ends, and that it runs once.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use super::{ColdReason, Warmer, python, skip, with_script};
use crate::nasty::running::{end, wait_until};
use crate::sandbox::Sandbox;

/// Appends a line to the file `runs`.
const COUNTS: &str = "open('runs', 'a').write('run\\n')\n";

fn runs(sandbox: &Sandbox) -> usize {
    fs::read_to_string(sandbox.at("runs"))
        .unwrap_or_default()
        .lines()
        .count()
}

#[test]
fn hooks_decide_warm_as_they_do_cold() {
    let Some(python) = python() else { return };
    let sandbox = Sandbox::new();
    let mut warmer = Warmer::start(&sandbox, &[]);
    let bodies = [
        ("allow", "", "pass"),
        ("allow", "", "print('a remark')"),
        (
            "allow",
            "",
            "import json, sys; print(json.dumps({'output': json.load(sys.stdin)['toolName']}))",
        ),
        ("block", "no rm", "import sys; sys.exit('no rm')"),
        (
            "block",
            "no rm",
            "import json; print(json.dumps({'continue': False, 'reason': 'no rm'}))",
        ),
        ("ask", "", "print('{\"ask\": \"really?\"}')"),
        (
            "block",
            "ZeroDivisionError: division by zero",
            "def f(): 1 / 0\nf()",
        ),
        ("block", "SyntaxError", "def f(:"),
        ("block", "SIGKILL", "import os; os.kill(os.getpid(), 9)"),
        ("block", "unknown key", "print('{\"contiune\": false}')"),
    ];
    for (number, (decision, reason, body)) in bodies.into_iter().enumerate() {
        let file = sandbox.at(&format!("{number}.py"));
        fs::write(&file, body).unwrap();
        let words = [python.as_str(), file.to_str().unwrap()];
        let cold = warmer.runs_cold(&words);
        let mut warm = warmer.runs_warm(&words);
        assert_eq!(cold.decision, decision, "{cold:?}");
        assert!(
            cold.reason.to_lowercase().contains(&reason.to_lowercase()),
            "{cold:?}"
        );
        warm.start = String::new();
        warm.note = String::new();
        assert_eq!(warm, cold);
    }
    warmer.ends();
}

#[test]
fn a_timeout_ends_the_whole_tree() {
    let Some(python) = python() else { return };
    let sandbox = with_script(
        "import os, subprocess, time
if os.path.exists('hang'):
    away = subprocess.Popen(['sleep', '1000'], start_new_session=True).pid
    os.fork()
    open('pids', 'a').write('%d %d ' % (away, os.getpid()))
    time.sleep(1000)
",
    );
    let mut warmer = Warmer::start(&sandbox, &[]);
    warmer.runs_warm(&[&python, "hook.py"]);
    fs::write(sandbox.at("hang"), "").unwrap();
    let hook = json!([{ "words": [python, "hook.py"], "timeout_ms": 700 }]);
    wait_until("one runs warm", || {
        let report = warmer.decides(&hook).remove(0);
        assert!(report.ending.starts_with("TimedOut"), "{report:?}");
        report.start == "warm"
    });
    let pids = sandbox.read("pids");
    assert_eq!(pids.split_whitespace().count() % 4, 0);
    wait_until("its processes are gone", || {
        let holders = warmer.cookie.holders();
        pids.split_whitespace()
            .all(|pid| !holders.contains(&pid.parse().unwrap()))
    });
    fs::remove_file(sandbox.at("hang")).unwrap();
    assert_eq!(warmer.runs_warm(&[&python, "hook.py"]).decision, "allow");
    warmer.ends();
}

#[test]
fn too_much_output_ends_it() {
    let Some(python) = python() else { return };
    let sandbox = with_script("import sys\nwhile True: sys.stdout.write('x' * 65536)\n");
    let mut warmer = Warmer::start(&sandbox, &[]);
    let hook = json!([{ "words": [python, "hook.py"], "output_bytes": 100_000 }]);
    warmer.decides(&hook);
    wait_until("one runs warm", || {
        let report = warmer.decides(&hook).remove(0);
        assert!(report.ending.starts_with("OverLimit"), "{report:?}");
        report.start == "warm"
    });
    warmer.ends();
}

#[test]
fn overlapping_hooks_have_a_process_each() {
    let Some(python) = python() else { return };
    let sandbox = with_script("import os, time\nprint(os.getpid())\ntime.sleep(0.05)\n");
    let mut warmer = Warmer::start(&sandbox, &[]);
    warmer.runs_warm(&[&python, "hook.py"]);
    let hook = json!({ "words": [python, "hook.py"] });
    let hooks = json!([hook, hook, hook]);
    wait_until("all three run warm", || {
        let reports = warmer.decides(&hooks);
        let pids: HashSet<&str> = reports
            .iter()
            .map(|report| report.stdout.as_str())
            .collect();
        assert_eq!(pids.len(), 3, "{reports:?}");
        reports.iter().all(|report| report.start == "warm")
    });
    warmer.ends();
}

#[test]
fn a_changed_script_runs_as_it_is_now() {
    let Some(python) = python() else { return };
    let sandbox = with_script("print('old')\n");
    let mut warmer = Warmer::start(&sandbox, &[]);
    assert_eq!(warmer.runs_warm(&[&python, "hook.py"]).stdout, "old\n");
    for text in ["one", "two"] {
        fs::write(sandbox.at("hook.py"), format!("print('{text}')\n")).unwrap();
        let report = warmer.runs_warm(&[&python, "hook.py"]);
        assert_eq!(report.stdout, format!("{text}\n"));
    }
    warmer.ends();
}

#[test]
fn random_values_are_not_repeated() {
    let Some(python) = python() else { return };
    let sandbox = with_script(
        "import random, uuid, secrets, os
print(random.random(), uuid.uuid4(), uuid.uuid1().time, secrets.token_hex(4), os.urandom(4))
",
    );
    let mut warmer = Warmer::start(&sandbox, &[]);
    let printed: Vec<String> = (0..4)
        .map(|_| warmer.runs_warm(&[&python, "hook.py"]).stdout)
        .collect();
    let values = |text: &String| text.split(' ').map(String::from).collect::<Vec<_>>();
    for place in 0..5 {
        let different: HashSet<String> = printed
            .iter()
            .map(|text| values(text)[place].clone())
            .collect();
        assert_eq!(different.len(), printed.len(), "{printed:?}");
    }
    warmer.ends();
}

#[test]
fn a_file_beside_the_script_shadows_the_library_as_it_does_cold() {
    let Some(python) = python() else { return };
    let sandbox = with_script("import json\nprint(json.__file__)\n");
    let mut warmer = Warmer::start(&sandbox, &[]);
    let words = [python.as_str(), "hook.py"];
    assert_ne!(
        warmer.runs_warm(&words).stdout.trim(),
        sandbox.at("json.py").to_str().unwrap()
    );
    fs::write(sandbox.at("json.py"), "own = True\n").unwrap();
    for _ in 0..3 {
        let warm = warmer.runs_warm(&words).stdout;
        assert_eq!(warm, warmer.runs_cold(&words).stdout);
        assert!(warm.contains(sandbox.path().to_str().unwrap()), "{warm}");
    }
    warmer.ends();
}

#[test]
fn a_virtual_environment_has_its_own_interpreter() {
    let Some(python) = python() else { return };
    let sandbox = with_script("import sys\nprint(sys.prefix, sys.executable, sys.path)\n");
    let mut made = Command::new(&python);
    made.args(["-m", "venv", "--without-pip"])
        .arg(sandbox.at("venv"));
    if !made.status().is_ok_and(|status| status.success()) {
        return skip("this interpreter makes no virtual environments");
    }
    let own = sandbox.at("venv/bin/python3").display().to_string();
    let mut warmer = Warmer::start(&sandbox, &[]);
    let plain = warmer.runs_warm(&[&python, "hook.py"]).stdout;
    let words = [own.as_str(), "hook.py"];
    let warm = warmer.runs_warm(&words).stdout;
    assert_eq!(warm, warmer.runs_cold(&words).stdout);
    assert_ne!(warm, plain);
    warmer.ends();
}

#[test]
fn what_is_unusual_starts_cold_for_a_reason() {
    let Some(python) = python() else { return };
    let sandbox = with_script("print('ran')\n")
        .script("hook.sh", "#!/bin/sh\necho ran\n")
        .script(
            "shim/python3",
            &format!("#!/bin/sh\nexec {python} \"$@\"\n"),
        );
    // A program that is called like an interpreter, and is none.
    fs::copy("/bin/echo", sandbox.at("python-echo")).unwrap();
    symlink(&python, sandbox.at("python3")).unwrap();
    let echo = sandbox.at("python-echo").display().to_string();
    let shim = sandbox.at("shim/python3").display().to_string();
    let own = sandbox.at("hook.sh").display().to_string();
    let words = json!([python, "hook.py"]);
    let large = "x".repeat(100_000);
    let cases = [
        (ColdReason::NoScript, json!({ "words": [own] })),
        (
            ColdReason::NoScript,
            json!({ "words": ["./python3", "hook.py"] }),
        ),
        (ColdReason::Shim, json!({ "words": [shim, "hook.py"] })),
        (
            ColdReason::Options,
            json!({ "words": [python, "-v", "hook.py"] }),
        ),
        (
            ColdReason::Variables,
            json!({ "words": words, "variables": { "PYTHONPATH": "/x" } }),
        ),
        (ColdReason::Bounds, json!({ "words": words, "files": 20 })),
        (
            ColdReason::TooLarge,
            json!({ "words": words, "variables": { "A": large, "B": large } }),
        ),
        (ColdReason::NotReady, json!({ "words": words })),
        (ColdReason::Unusable, json!({ "words": [echo, "hook.py"] })),
    ];
    let mut warmer = Warmer::start(&sandbox, &[]);
    for (reason, hook) in &cases {
        let hooks = json!([hook]);
        wait_until(reason.name(), || {
            let report = warmer.decides(&hooks).remove(0);
            assert_eq!(report.decision, "allow", "{report:?}");
            assert!(!report.stdout.is_empty());
            // Whether an interpreter is one is known a moment after its start.
            assert!(
                [reason.name(), "not-ready"].contains(&report.start.as_str()),
                "{report:?}"
            );
            report.start == reason.name()
        });
    }
    warmer.ends();
    let mut warmer = Warmer::start_as("decides_without_a_subreaper", &sandbox, &[]);
    let report = warmer.runs(&[&python, "hook.py"]);
    assert_eq!(report.start, ColdReason::NoSubreaper.name());
    assert!(!report.stdout.is_empty());
    warmer.ends();
    let tried: HashSet<_> = cases.iter().map(|(reason, _)| *reason).collect();
    let never = ColdReason::NAMES
        .iter()
        .filter(|(reason, _)| !tried.contains(reason));
    assert_eq!(
        never.map(|(_, name)| *name).collect::<Vec<_>>(),
        ["one-event", "no-subreaper", "died", "too-many"]
    );
}

/// Ten that take turns: eight stay, and no other starts in vain.
#[test]
fn of_more_interpreters_than_are_kept_those_stay_that_are_there() {
    let Some(python) = python() else { return };
    let sandbox = with_script("print('ran')\n");
    let mut warmer = Warmer::start(&sandbox, &[]);
    let hook = |number: usize| json!([{ "words": [python, "hook.py"], "variables": { "LC_OWN": number.to_string() } }]);
    let start = |warmer: &mut Warmer, number: usize| {
        let report = warmer.decides(&hook(number)).remove(0);
        assert_eq!(report.stdout, "ran\n", "{report:?}");
        report.start
    };
    for number in 0..8 {
        wait_until("it starts warm", || start(&mut warmer, number) == "warm");
    }
    for _ in 0..3 {
        for number in 0..10 {
            let found = start(&mut warmer, number);
            let is_right = if number < 8 {
                found != "too-many"
            } else {
                found == "too-many"
            };
            assert!(is_right, "{number}: {found}");
        }
    }
    // One that is asked for alone takes the place of another one.
    wait_until("it starts warm", || start(&mut warmer, 9) == "warm");
    warmer.ends();
}

#[test]
fn a_hook_runs_once_for_each_event_although_interpreters_are_killed() {
    let Some(python) = python() else { return };
    let sandbox = with_script(COUNTS);
    let mut warmer = Warmer::start(&sandbox, &[]);
    let mut warm = 0;
    for number in 1..=60 {
        let kept = warmer.kept();
        if let Some(pid) = kept.get(number % 3).filter(|_| number % 2 == 0) {
            end(*pid, if number % 4 == 0 { "KILL" } else { "TERM" });
            wait_until("it has ended", || !warmer.kept().contains(pid));
        }
        let report = warmer.runs(&[&python, "hook.py"]);
        assert_eq!(
            (report.decision.as_str(), runs(&sandbox)),
            ("allow", number),
            "{report:?}"
        );
        warm += usize::from(report.start == "warm");
    }
    assert!(warm > 5, "{warm}");
    warmer.ends();
}

#[test]
fn interpreters_that_are_killed_at_random_moments_cost_no_event_and_repeat_none() {
    let Some(python) = python() else { return };
    let sandbox = with_script(COUNTS);
    let mut warmer = Warmer::start(&sandbox, &[]);
    warmer.runs_warm(&[&python, "hook.py"]);
    let mut lost = 0;
    let before = runs(&sandbox);
    for number in 1..=40 {
        warmer.sends(&json!([{ "words": [python, "hook.py"] }]));
        std::thread::sleep(std::time::Duration::from_micros(number * 250 % 3_000));
        // A hook still looks like a process that waits: it is the hook that is killed then.
        warmer.kept().iter().for_each(|pid| end(*pid, "KILL"));
        let report = warmer.answers().remove(0);
        lost += usize::from(report.ending.starts_with("Killed"));
        assert!(
            report.decision == "allow" || report.ending.starts_with("Killed"),
            "{report:?}"
        );
        let ran = runs(&sandbox) - before;
        let number = usize::try_from(number).unwrap();
        assert!(
            ran <= number && ran + lost >= number,
            "{ran} of {number}, {lost} killed"
        );
    }
    warmer.ends();
}

#[test]
fn serve_starts_a_hook_with_a_first_line_and_a_directive_warm() {
    let Some(python) = python() else { return };
    let text = "import gc, sys\nsys.exit('warm' if gc.get_freeze_count() else 'cold')\n";
    let text = format!("#!{python}\n# hookrun: warm=fork\n{text}");
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/10-guard.py", &text);
    let mut client = crate::serve::Client::start(&sandbox, &["--stdio"]);
    let event = json!({ "event": "tool.pre", "context": { "toolName": "note" } });
    let said = |client: &mut crate::serve::Client| client.decide(event.clone()).to_string();
    assert!(said(&mut client).contains("cold"));
    wait_until("it starts warm", || said(&mut client).contains("warm"));
    assert!(client.end().success());
}
