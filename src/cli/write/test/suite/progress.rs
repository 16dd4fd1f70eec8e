//! How far a suite is, for the person at the terminal; gone when it is done.

use crate::lab::report::plain;
use crate::lab::scenario::CaseResult;
use indicatif::ProgressBar;

use crate::cli::streams;

#[derive(Debug)]
pub(super) struct SuiteProgress {
    pub(super) bar: ProgressBar,
    bad: usize,
}

impl SuiteProgress {
    pub(super) fn of(cases: usize) -> SuiteProgress {
        let bar = streams::bar(Some(cases as u64), "{bar:30} {pos}/{len} {msg}");
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
}
