//! Several threads decide at once; one takes what they have done, in the order of the recordings.
//!
//! Each thread reads a batch for itself, so that there is no queue, and what waits to be taken is
//! bounded by the window. Batches are as large as hooks are fast: one line where they take
//! long, so that the threads end together, and many where there are none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::ReplayError;
use super::decide::{Decider, Done};
use super::finding::{LinePlace, ReplayFinding};
use super::source::{Batch, BatchLine, RecordingInput, Recordings};
use super::totals::Totals;
use super::window::{TakenBatch, Window};
use crate::engine::exec::Abort;

/// How long a batch should take.
const BATCH: Duration = Duration::from_millis(10);

/// The most lines of a batch.
const MOST_LINES: usize = 256;

/// How often somebody is told how far it is.
const TICK: Duration = Duration::from_millis(100);

/// How long threads that are to stop are waited for: hooks are being ended.
const STOPPING: Duration = Duration::from_secs(5);

/// How far it is.
#[derive(Debug, Default)]
pub struct ReplayProgress {
    /// Bytes that were read and decided.
    pub bytes: AtomicU64,
    /// Lines that were decided.
    pub lines: AtomicU64,
}

/// What the threads share.
struct CrewState {
    decider: Decider,
    names: Vec<String>,
    source: Mutex<Recordings>,
    window: Window<Done>,
    totals: Mutex<Totals>,
    failed: Mutex<Option<ReplayError>>,
    progress: Arc<ReplayProgress>,
    /// Threads that are deciding, and not reading.
    deciding: AtomicUsize,
    abort: Abort,
}

/// Decides all events of `inputs` with so many threads. `each` gets what was done, in the order of
/// the events; `tick` is called several times a second. `abort` ends it early.
///
/// # Errors
/// When the hooks have errors, or it was ended early; and what `each` says.
pub fn run(
    decider: Decider,
    inputs: Vec<RecordingInput>,
    threads: usize,
    abort: Abort,
    each: &mut dyn FnMut(Done) -> Result<(), ReplayError>,
    tick: &mut dyn FnMut(&ReplayProgress),
) -> Result<Totals, ReplayError> {
    let shared = Arc::new(CrewState {
        decider,
        names: inputs.iter().map(RecordingInput::name).collect(),
        source: Mutex::new(Recordings::new(inputs)),
        window: Window::new(threads),
        totals: Mutex::default(),
        failed: Mutex::default(),
        progress: Arc::default(),
        deciding: AtomicUsize::new(0),
        abort,
    });
    for number in 0..threads {
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name(format!("hookrun-replay-{number}"));
        if let Err(error) = thread.spawn(move || own.work()) {
            // Those that there are do it.
            shared.window.leave();
            if number == 0 {
                return Err(ReplayError::NoThread(error.to_string()));
            }
        }
    }
    let taken = shared.take_all(each, tick);
    if taken.is_err() {
        shared.end_early();
    }
    taken?;
    let totals = shared.totals.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(totals.clone())
}

impl CrewState {
    fn take_all(
        &self,
        each: &mut dyn FnMut(Done) -> Result<(), ReplayError>,
        tick: &mut dyn FnMut(&ReplayProgress),
    ) -> Result<(), ReplayError> {
        let mut ticked = Instant::now();
        loop {
            let taken = self.window.take(TICK);
            if let Some(error) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Err(error);
            }
            if self.abort.times_raised() > 0 {
                return Err(ReplayError::Stopped);
            }
            match taken {
                TakenBatch::Piece(done) => each(done)?,
                TakenBatch::Nothing => {}
                TakenBatch::End => return Ok(()),
            }
            if ticked.elapsed() >= TICK {
                tick(&self.progress);
                ticked = Instant::now();
            }
        }
    }

    /// Ends hooks that run, and waits for them; a thread that waits for its input is left alone.
    fn end_early(&self) {
        self.window.stop();
        if self.abort.times_raised() == 0 {
            self.abort.raise();
        }
        let until = Instant::now() + STOPPING;
        while self.deciding.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn work(&self) {
        let worked = catch_unwind(AssertUnwindSafe(|| self.work_through()));
        let failure = match worked {
            Ok(Ok(totals)) => {
                self.totals.lock().unwrap_or_else(PoisonError::into_inner).merge(&totals);
                None
            }
            Ok(Err(error)) => Some(error),
            Err(_) => Some(ReplayError::Panicked),
        };
        if let Some(failure) = failure {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert(failure);
            drop(failed);
            self.window.stop();
        }
        self.window.leave();
    }

    fn work_through(&self) -> Result<Totals, ReplayError> {
        let mut totals = Totals::default();
        let mut lines = 1;
        while !self.window.is_stopped() && self.abort.times_raised() == 0 {
            let batch = self.source.lock().unwrap_or_else(PoisonError::into_inner).next(lines);
            let Some(batch) = batch else { break };
            let started = Instant::now();
            let done = {
                let _deciding = LiveCount::in_(&self.deciding);
                self.decide(&batch, &mut totals)?
            };
            lines = suitable(lines, started.elapsed());
            self.progress.bytes.fetch_max(batch.read_bytes, Ordering::Relaxed);
            self.progress.lines.fetch_add(batch.lines().count() as u64, Ordering::Relaxed);
            let bytes = 64
                + done.written.len()
                + done.findings.iter().map(ReplayFinding::size).sum::<usize>();
            if !self.window.put(batch.number, done, bytes) {
                break;
            }
        }
        Ok(totals)
    }

    fn decide(&self, batch: &Batch, totals: &mut Totals) -> Result<Done, ReplayError> {
        let mut done = Done::default();
        for line in batch.lines() {
            if self.abort.times_raised() > 0 {
                // What hooks said while they were ended is no decision.
                return Err(ReplayError::Stopped);
            }
            match line {
                BatchLine::Unreadable(unreadable) => {
                    self.decider.unreadable(unreadable.clone(), totals, &mut done);
                }
                BatchLine::Text { input, line, text } => {
                    let file = &self.names[input];
                    let place = || LinePlace { input, line: Some(line), file: file.clone() };
                    self.decider.line(text, &place, totals, &mut done)?;
                }
            }
        }
        if self.abort.times_raised() > 0 {
            return Err(ReplayError::Stopped);
        }
        Ok(done)
    }
}

/// How many lines the next batch should have, after one of so many that took so long.
fn suitable(lines: usize, took: Duration) -> usize {
    if took < BATCH / 2 {
        (lines * 2).min(MOST_LINES)
    } else if took > BATCH * 2 {
        (lines / 2).max(1)
    } else {
        lines
    }
}

/// One more, as long as it lives.
struct LiveCount<'c>(&'c AtomicUsize);

impl<'c> LiveCount<'c> {
    fn in_(count: &'c AtomicUsize) -> LiveCount<'c> {
        count.fetch_add(1, Ordering::SeqCst);
        LiveCount(count)
    }
}

impl Drop for LiveCount<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_where_hooks_are_fast_and_shrink_where_they_are_slow() {
        let mut lines = 1;
        for _ in 0..20 {
            lines = suitable(lines, Duration::from_micros(50));
        }
        assert_eq!(lines, MOST_LINES);
        assert_eq!(suitable(lines, BATCH), lines);
        for _ in 0..20 {
            lines = suitable(lines, Duration::from_secs(1));
        }
        assert_eq!(lines, 1);
    }
}
