//! A hook's time, while a person is being asked.

use std::time::{Duration, Instant};

use hookrun::internals::ui::Clock;
use hookrun::internals::ui::PATIENCE;
use serde_json::json;

use super::screen::{Step, asking, at_terminal, decided};

/// Longer than the timeouts of these hooks.
const SLOWLY: Duration = Duration::from_secs(2);

#[test]
fn a_hook_that_asks_does_not_time_out_meanwhile() {
    let body = "hookrun hook ui confirm Sure && hookrun hook ui input Name";
    let steps = [
        Step("Sure [y/N] ", "y\r", SLOWLY),
        Step("> ", "Ada\r", SLOWLY),
    ];
    let ran = decided(&asking("timeout=1500ms", body), &steps);
    ran.allows_with(json!({ "output": "Ada" }));
}

#[test]
fn a_hook_has_no_more_time_than_its_own_before_and_after() {
    let body = "hookrun hook ui confirm Sure; exec sleep 600";
    let ran = decided(
        &asking("timeout=1500ms", body),
        &[Step("Sure [y/N] ", "y\r", SLOWLY)],
    );
    ran.blocks_saying("hook `guard` failed: timed out after 1s 500ms (fail closed)");
}

#[test]
fn a_hook_that_leaves_a_question_to_its_child_and_answers_is_not_held_up() {
    let body = "(hookrun hook ui confirm Sure) >/dev/null 2>&1 & exit 0";
    decided(&asking("timeout=30s", body), &[]).allows();
}

#[test]
fn the_budget_does_not_stand_still() {
    let sandbox = asking("timeout=1500ms", "hookrun hook ui confirm Sure");
    let ran = at_terminal(&sandbox, &["run", "tool.pre", "--budget", "2500ms"], &[]);
    ran.blocks_saying("the budget of 2s 500ms was used up")
        .says("Sure [y/N] ");
}

fn at(start: Instant, seconds: u64) -> Instant {
    start + Duration::from_secs(seconds)
}

#[test]
fn the_time_of_questions_counts_once_and_only_while_they_are_open() {
    let (clock, start) = (Clock::default(), Instant::now());
    assert_eq!(clock.paused_for(start), Duration::ZERO);
    clock.begin(at(start, 10));
    clock.begin(at(start, 12));
    assert!(clock.is_paused(at(start, 13)));
    clock.end(at(start, 14));
    assert_eq!(clock.paused_for(at(start, 15)), Duration::from_secs(5));
    clock.end(at(start, 16));
    assert!(!clock.is_paused(at(start, 17)));
    assert_eq!(clock.paused_for(at(start, 100)), Duration::from_secs(6));
    assert_eq!(
        clock.time_left(at(start, 100)),
        PATIENCE - Duration::from_secs(6)
    );
    clock.end(at(start, 101));
    assert_eq!(clock.paused_for(at(start, 102)), Duration::from_secs(6));
}

#[test]
fn no_hook_gains_more_than_the_patience_however_often_it_asks() {
    let (clock, start) = (Clock::default(), Instant::now());
    for turn in 0..10 {
        clock.begin(at(start, turn * 60));
        clock.end(at(start, turn * 60 + 50));
    }
    assert_eq!(clock.paused_for(at(start, 600)), PATIENCE);
    assert_eq!(clock.time_left(at(start, 600)), Duration::ZERO);
    clock.begin(at(start, 600));
    assert!(!clock.is_paused(at(start, 601)));
    assert_eq!(clock.paused_for(at(start, 9999)), PATIENCE);

    let forever = Clock::default();
    forever.begin(start);
    assert!(forever.is_paused(at(start, 119)) && !forever.is_paused(at(start, 120)));
    assert_eq!(forever.paused_for(at(start, 9999)), PATIENCE);
}
