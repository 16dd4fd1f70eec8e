//! Events that nobody waits for: their hooks run in a thread, and say nothing to anybody.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hookrun::internals::outcome::NoticeKind;
use hookrun::internals::run::{Fate, Run};

use crate::faults::{Fired, Shot};
use crate::leaks;

/// How long the hooks may take until all is quiet again.
const PATIENCE: Duration = Duration::from_secs(20);

/// The thread that supervises them; the system keeps 15 bytes of its name.
const SUPERVISOR: &str = "hookrun-detache";

/// Fires such an event, and waits until its hooks have run.
pub(crate) fn fire(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let files = files(shot);
    let runner = shot.site.detached_runner(&files);
    let run = runner.handle(shot.site.detached());
    let is_detached = run
        .hooks
        .iter()
        .all(|hook| matches!(hook.fate, Fate::Detached));
    let started = Instant::now();
    let goes_on = || !files.iter().all(|file| file.exists()) || leaks::has_thread(SUPERVISOR);
    while goes_on() && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_micros(500));
    }
    let missing = missing(&files);
    let judged = if !run.outcome.is_allowed() || !is_detached || run.hooks.len() != 3 {
        Err("it was not allowed at once".to_string())
    } else if missing > 0 {
        Err(format!("{missing} of 2 hooks did not run"))
    } else {
        Ok(())
    };
    Ok(Fired::Judged(Box::new(run), judged))
}

/// Fires such an event where neither threads nor processes can be started: its hooks are then
/// waited for, and what failed is told.
pub(crate) fn without_threads(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let files = files(shot);
    let site = shot.site;
    let decide = || site.detached_runner(&files).handle(site.detached());
    let run = shot.filters.without_fork(decide)?;
    let judged = stated(&run, missing(&files));
    Ok(Fired::Judged(Box::new(run), judged))
}

fn stated(run: &Run, missing: usize) -> Result<(), String> {
    let failures = run
        .outcome
        .notices
        .iter()
        .filter(|notice| notice.kind == NoticeKind::Failure);
    let told = failures.filter(|notice| notice.text.contains("cannot start another process"));
    match (run.outcome.is_allowed(), told.count(), missing) {
        (true, 3, 2) => Ok(()),
        (is_allowed, told, missing) => Err(format!(
            "allowed: {is_allowed}, failures told: {told} of 3, hooks that did not run: {missing}"
        )),
    }
}

/// Two files that the hooks are to make.
fn files(shot: &mut Shot<'_>) -> Vec<PathBuf> {
    let number = shot.dice.roll();
    (0..2)
        .map(|place| shot.site.file(&format!("mark-{number:016x}-{place}")))
        .collect()
}

/// How many of the files are missing. They are removed.
fn missing(files: &[PathBuf]) -> usize {
    files
        .iter()
        .filter(|file| std::fs::remove_file(file).is_err())
        .count()
}
