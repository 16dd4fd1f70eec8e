//! How far a suite is, for the person at the terminal; gone when it is done.

use std::io::IsTerminal;

use crate::lab::report::plain;
use crate::lab::scenario::CaseResult;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

#[derive(Debug)]
pub(super) struct SuiteProgress {
    bar: ProgressBar,
    bad: usize,
}

impl SuiteProgress {
    pub(super) fn of(cases: usize) -> SuiteProgress {
        if !std::io::stderr().is_terminal() {
            return SuiteProgress { bar: ProgressBar::hidden(), bad: 0 };
        }
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(Some(cases as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        SuiteProgress { bar, bad: 0 }
    }

    pub(super) fn tell(&mut self, played: &CaseResult) {
        if played.end.is_bad() {
            self.bad += 1;
            self.bar.println(format!("FAILED: {}", plain(&played.name)));
            self.bar.set_message(format!("{} failed", self.bad));
        }
        self.bar.inc(1);
    }

    /// One more mutant has been tried.
    pub(super) fn step(&self) {
        self.bar.inc(1);
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
