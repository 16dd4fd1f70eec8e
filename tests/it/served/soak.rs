//! Many events with a program that stays up and misbehaves in every way, and is killed:
//! `HOOKRUN_CASES=20000 cargo test --release --test it served::soak -- --nocapture`.

use std::time::{Duration, Instant};

use super::TWICE;
use super::staying::{Server, process_of, says_who};
use crate::nasty::running::end;

/// What the hook does if the command begins with this word, and how its event then ends: allowed,
/// or blocked with these words.
const SORTS: &[(&str, &str, Option<&str>)] = &[
    ("good", "pass", None),
    (
        "forks",
        "os.fork() or (os.setsid(), time.sleep(1000))",
        None,
    ),
    (
        "denies",
        "keys = {'continue': False, 'reason': 'no'}",
        Some("no"),
    ),
    ("crashes", "{}['x']", Some("KeyError")),
    ("dies", "os.kill(os.getpid(), 11)", Some("SIGSEGV")),
    ("leaves", "sys.exit(0)", Some("stdout is empty")),
    (
        "confuses",
        "request['id'] = 'e1'",
        Some("is not the `id` of the event"),
    ),
    ("repeats", TWICE, Some("more than one line")),
    ("floods", "print('x' * 3000000)", Some("longer than 1 MiB")),
    ("hangs", "time.sleep(1000)", Some("timed out")),
];

/// How long a decision may take with a timeout of 0.25 s.
const LATEST: Duration = Duration::from_secs(4);

const FEW: usize = 300;

#[expect(clippy::disallowed_methods, reason = "a person who runs tests sets it")]
fn events() -> usize {
    std::env::var("HOOKRUN_CASES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(FEW)
}

#[test]
fn nothing_is_wrong_late_or_left_after_many_events() {
    let sorts = SORTS
        .iter()
        .map(|(name, body, _)| format!("if ' {name} ' in who: {body}\n"));
    let hook = says_who(&sorts.collect::<String>());
    let mut server = Server::start(&hook.replacen("timeout=2s", "timeout=250ms", 1));
    let count = events();
    let [mut warm, mut killed, mut late, mut last] = [0; 4];
    let mut wrong = Vec::new();
    for number in 0..count {
        // One in eight is of a bad sort, in turn.
        let place = if number % 8 == 7 {
            1 + number / 8 % (SORTS.len() - 1)
        } else {
            0
        };
        let (name, _, expected) = SORTS[place];
        if number % 101 == 100 && last != 0 {
            end(i32::try_from(last).unwrap(), ["KILL", "STOP"][number % 2]);
            killed += 1;
        }
        let command = format!("{name} {number}");
        let started = Instant::now();
        let decided = server.decide(&command);
        late += usize::from(started.elapsed() > LATEST);
        let is_right = match expected {
            Some(words) => decided.status == 2 && decided.text.contains(words),
            None => decided.text.ends_with(&command),
        };
        // Under load it may still be starting at its timeout, and one that was stopped or killed
        // at the very moment of its event fails as a hook does.
        let is_slow = decided.text.contains("timed out") || decided.text.contains("killed");
        let is_excused = is_slow && decided.status == 2;
        if !is_right && !is_excused {
            wrong.push((command, decided));
            continue;
        }
        if is_right && expected.is_none() {
            let pid = usize::try_from(process_of(&decided)).unwrap();
            warm += usize::from(pid == last);
            last = pid;
        } else {
            last = 0;
        }
    }
    eprintln!(
        "{count} events: {warm} warm, {killed} times killed or stopped, {} wrong, {late} late",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A busy machine may do anything late: only who runs many events has one that is idle.
    assert!(warm > 0 && (count == FEW || late == 0 && warm > count / 2));
    server.ends();
}
