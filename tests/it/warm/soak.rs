//! Many events with every bad sort of warm hook, while what is kept is killed:
//! `HOOKRUN_CASES=100000 cargo test --release --test it warm::soak -- --nocapture`.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Report, Warmer, python};
use crate::nasty::running::end;
use crate::sandbox::Sandbox;

/// Scripts, and how each ends.
const HOOKS: &[(&str, &str, &str)] = &[
    (
        "good",
        "Answered(Verdict { decision: Allow",
        "print('fine')",
    ),
    (
        "reads",
        "Answered(Verdict { decision: Allow",
        "import json, sys; json.load(sys.stdin)",
    ),
    (
        "blocks",
        "Answered(Verdict { decision: Block",
        "import sys; sys.exit('no')",
    ),
    ("crashes", "Crashed", "{}['x']"),
    (
        "dies",
        "Killed { signal: 11 }",
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    ),
    ("hangs", "TimedOut", "import time; time.sleep(1000)"),
    (
        "forks",
        "Answered(Verdict { decision: Allow",
        "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid(); [os.close(n) for n in range(3)]; time.sleep(1000)",
    ),
    (
        "floods",
        "OverLimit",
        "import sys\nwhile True: sys.stdout.write('x' * 65536)",
    ),
    ("nests", "Malformed", "print('{\"continue\": ' * 20000)"),
];

/// How long a hook that hangs may.
const TIMEOUT: Duration = Duration::from_millis(250);

/// How much later than its timeout a decision may come on a busy machine.
const SLACK: Duration = Duration::from_secs(3);

const FEW: usize = 300;

/// With these glibc gives back at once what was freed. Without them it keeps up to some MiB, after
/// a hook has written much, and that would hide what is lost.
const GIVES_BACK: &[(&str, &str)] = &[
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "65536"),
    ("MALLOC_TRIM_THRESHOLD_", "65536"),
];

#[expect(clippy::disallowed_methods, reason = "a person who runs tests sets it")]
fn events() -> usize {
    std::env::var("HOOKRUN_CASES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(FEW)
}

/// What the worker has: open descriptors, and KiB of its own.
fn used(warmer: &Warmer) -> [usize; 2] {
    let pid = warmer.child.id();
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Private_Dirty:"))
        .unwrap();
    [
        descriptors,
        line.split_whitespace().next().unwrap().parse().unwrap(),
    ]
}

fn is_right(report: &Report, expected: &str) -> bool {
    // Under load a hook may still be starting at its timeout.
    let is_late_start = report.ending.starts_with("TimedOut") && report.start != "warm";
    report.ending.starts_with(expected) || is_late_start
}

#[test]
fn nothing_is_wrong_late_or_left_after_many_events() {
    let Some(python) = python() else { return };
    let mut sandbox = Sandbox::new();
    for (name, _, text) in HOOKS {
        sandbox = sandbox.file(&format!("{name}.py"), &format!("{text}\n"));
    }
    let mut warmer = Warmer::start(&sandbox, GIVES_BACK);
    warmer.runs_warm(&[&python, "good.py"]);
    let [mut warm, mut killed, mut late, mut most] = [0; 4];
    let mut wrong = Vec::new();
    let mut readings = Vec::new();
    let count = events();
    for number in 0..count {
        // One in eight is of a bad sort, in turn.
        let place = if number % 8 == 7 {
            2 + number / 8 % (HOOKS.len() - 2)
        } else {
            number % 2
        };
        let (name, expected, _) = HOOKS[place];
        if number % 101 == 100 {
            warmer
                .kept()
                .iter()
                .take(1 + number % 3)
                .for_each(|pid| end(*pid, "KILL"));
            killed += 1;
        }
        let millis = u64::try_from(TIMEOUT.as_millis()).unwrap();
        let timeout = if name == "hangs" { millis } else { 60_000 };
        let started = Instant::now();
        let words = [python.as_str(), &format!("{name}.py")];
        let hook = json!([{ "words": words, "timeout_ms": timeout, "output_bytes": 500_000 }]);
        let report = warmer.decides(&hook).remove(0);
        late += usize::from(name == "hangs" && started.elapsed() > TIMEOUT + SLACK);
        warm += usize::from(report.start == "warm");
        if !is_right(&report, expected) {
            wrong.push((name, report));
        }
        if number % 500 == 499 || number + 1 == count {
            most = most.max(warmer.kept().len());
            readings.push(used(&warmer));
        }
    }
    // The least of each half: the heap shrinks only when what lies at its end is freed, so it goes
    // between 0.8 and 5.9 MiB.
    let half = readings.len().div_ceil(2);
    let least =
        |some: &[[usize; 2]]| [0, 1].map(|what| some.iter().map(|one| one[what]).min().unwrap());
    let (first, last) = (
        least(&readings[..half]),
        least(&readings[readings.len() - half..]),
    );
    eprintln!(
        "{count} events: {warm} warm, {killed} times killed, {} wrong, {late} late, \
         descriptors {} to {}, memory {} to {} KiB, at most {most} processes kept",
        wrong.len(),
        first[0],
        last[0],
        first[1],
        last[1]
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(late == 0 && warm > count / 2 && most <= 6);
    // A few that wait have a socket each.
    assert!(last[0] <= first[0] + 6 && last[1] <= first[1] + 6_000);
    warmer.ends();
}
