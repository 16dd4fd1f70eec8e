//! How far a suite is, for a person who waits: on a terminal only, and gone when it is done.

use std::io::IsTerminal;

use crate::lab::report::plain;
use crate::lab::scenario::Played;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How far a suite is.
#[derive(Debug)]
pub(super) struct SuiteProgress {
    bar: Option<ProgressBar>,
    bad: usize,
}

impl SuiteProgress {
    /// Of so many cases; nothing is shown where nobody looks.
    pub(super) fn of(cases: usize) -> SuiteProgress {
        if !std::io::stderr().is_terminal() {
            return SuiteProgress { bar: None, bad: 0 };
        }
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(Some(cases as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        SuiteProgress { bar: Some(bar), bad: 0 }
    }

    /// One more has ended.
    pub(super) fn tell(&mut self, played: &Played) {
        let Some(bar) = &self.bar else { return };
        if played.end.is_bad() {
            self.bad += 1;
            bar.println(format!("FAILED: {}", plain(&played.name)));
        }
        match self.bad {
            0 => {}
            bad => bar.set_message(format!("{bad} failed")),
        }
        bar.inc(1);
    }

    /// One more of what are no cases has been tried.
    pub(super) fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// It is over.
    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
