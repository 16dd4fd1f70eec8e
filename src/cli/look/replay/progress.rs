//! The progress bar of a replay: on a terminal only, never in CI, and removed at the end.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::config::Environment;
use crate::lab::replay::workers::ReplayProgress;
use indicatif::ProgressBar;

use crate::cli::streams;

/// With the size of all recordings, and without it: a pipe has none.
const BAR: &str = "{bar:30} {percent}%  {msg}  {eta} left";
const SPINNER: &str = "{spinner} {msg}  {elapsed}";

pub(super) fn bar(files: &[PathBuf], env: &Environment) -> ProgressBar {
    if env.is_ci {
        return ProgressBar::hidden();
    }
    let size = |file: &PathBuf| {
        env.cwd
            .join(file)
            .metadata()
            .ok()
            .filter(|meta| meta.is_file())
            .map(|meta| meta.len())
    };
    let length: Option<u64> = files.iter().map(size).sum();
    streams::bar(length, if length.is_some() { BAR } else { SPINNER })
}

pub(super) fn tell(bar: &ProgressBar, so_far: &ReplayProgress) {
    let lines = so_far.lines.load(Ordering::Relaxed);
    let seconds = bar.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate, for people")]
    let rate = if seconds > 0.0 {
        lines as f64 / seconds
    } else {
        0.0
    };
    bar.set_message(format!("{lines} events, {rate:.0} a second"));
    bar.set_position(so_far.bytes.load(Ordering::Relaxed));
}
