//! A hook's time, while a person is being asked.

use std::time::Duration;

use serde_json::json;

use super::screen::{Step, asking, at_terminal, decided};

/// Longer than the timeouts of these hooks.
const SLOWLY: Duration = Duration::from_secs(2);

#[test]
fn a_hook_that_asks_does_not_time_out_meanwhile() {
    let body = "hookrun ui confirm Sure && hookrun ui input Name";
    let steps = [Step("Sure [y/N] ", "y\r", SLOWLY), Step("> ", "Ada\r", SLOWLY)];
    let ran = decided(&asking("timeout=1500ms", body), &steps);
    ran.allows_with(json!({ "output": "Ada" }));
}

#[test]
fn a_hook_has_no_more_time_than_its_own_before_and_after() {
    let body = "hookrun ui confirm Sure; exec sleep 600";
    let ran = decided(&asking("timeout=1500ms", body), &[Step("Sure [y/N] ", "y\r", SLOWLY)]);
    ran.blocks_saying("hook `guard` failed: timed out after 1s 500ms (fail closed)");
}

#[test]
fn a_hook_that_leaves_a_question_to_its_child_and_answers_is_not_held_up() {
    let body = "(hookrun ui confirm Sure) >/dev/null 2>&1 & exit 0";
    decided(&asking("timeout=30s", body), &[]).allows();
}

#[test]
fn the_budget_does_not_stand_still() {
    let sandbox = asking("timeout=1500ms", "hookrun ui confirm Sure");
    let ran = at_terminal(&sandbox, &["run", "tool.pre", "--budget", "2500ms"], &[]);
    ran.blocks_saying("the budget of 2s 500ms was used up").says("Sure [y/N] ");
}
