//! Puts the questions of an outcome to the person at the terminal. Without one there is nobody to
//! ask.

use std::os::fd::AsFd;
use std::time::Instant;

use hookrun::exec::Abort;
use hookrun::outcome::{Outcome, Settled};
use hookrun::ui::{Asker, PATIENCE};

use crate::terminal::Terminal;

/// Asks all questions of an outcome, and returns the outcome with the answer. They are answered
/// within [`PATIENCE`], or until the budget ends: a person who has left must not keep a host
/// waiting for ever.
pub(crate) fn settle(
    outcome: Outcome,
    terminal: Option<&Terminal>,
    until: Option<Instant>,
    abort: Option<&Abort>,
) -> Outcome {
    let Settled::Asked { questions } = &outcome.settled else { return outcome };
    let Some(terminal) = terminal else {
        return outcome.answered(false, "nobody can be asked: no terminal");
    };
    let patience = Instant::now() + PATIENCE;
    let until = until.map_or(patience, |until| until.min(patience));
    for question in questions.clone() {
        let stops = abort.map(AsFd::as_fd).into_iter().collect();
        let asker = Asker::new(&question.hook, until, stops);
        match terminal.ask(&asker, &question.question) {
            Some(true) => {}
            Some(false) => return outcome.answered(false, "answered no"),
            None => return outcome.answered(false, "nobody answered"),
        }
    }
    outcome.answered(true, "")
}
