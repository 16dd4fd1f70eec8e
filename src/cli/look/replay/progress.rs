//! The progress bar of a replay: on a terminal only, never in CI, and removed at the end.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::config::Environment;
use crate::lab::replay::workers::ReplayProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// With the size of all recordings, and without it: a pipe has none.
const BAR: &str = "{bar:30} {percent}%  {msg}  {eta} left";
const SPINNER: &str = "{spinner} {msg}  {elapsed}";

#[derive(Debug)]
pub(super) struct ReplayBar {
    bar: ProgressBar,
}

impl ReplayBar {
    /// Shows nothing unless stderr is a terminal.
    pub(super) fn of(files: &[PathBuf], env: &Environment) -> ReplayBar {
        if env.is_ci || !std::io::stderr().is_terminal() {
            return ReplayBar { bar: ProgressBar::hidden() };
        }
        let size = |file: &PathBuf| {
            env.cwd.join(file).metadata().ok().filter(|meta| meta.is_file()).map(|meta| meta.len())
        };
        let length: Option<u64> = files.iter().map(size).sum();
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
        let template = if length.is_some() { BAR } else { SPINNER };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        ReplayBar { bar }
    }

    pub(super) fn tell(&self, so_far: &ReplayProgress) {
        let bar = &self.bar;
        let lines = so_far.lines.load(Ordering::Relaxed);
        let seconds = bar.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate, for people")]
        let rate = if seconds > 0.0 { lines as f64 / seconds } else { 0.0 };
        bar.set_message(format!("{lines} events, {rate:.0} a second"));
        bar.set_position(so_far.bytes.load(Ordering::Relaxed));
    }

    /// Hides the bar while `write` may write to the same terminal.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
