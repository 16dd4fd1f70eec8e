//! Several threads decide at once; one takes what they have done, in the order of the recordings.
//!
//! Each thread reads a batch and queues the channel by which its result will come, both under one
//! lock, so the queue has the order of the recordings and bounds how far threads can be ahead.
//! Batches are as large as hooks are fast: one line if they take long, so that the threads end
//! together, and many if there are none.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::decide::{Decider, ReplayedLines};
use super::finding::{LinePlace, ReplayError};
use super::source::{Batch, BatchLine, RecordingInput, Recordings};
use super::totals::Totals;
use crate::engine::exec::Abort;
use crate::engine::lock::locked;

const BATCH: Duration = Duration::from_millis(10);

const MOST_LINES: usize = 256;

/// How many batches may wait for one that takes long. What they hold is at most their lines.
const MOST_WAITING: usize = 256;

/// How often the taking thread looks for an abort, and the caller gets the progress.
const TICK: Duration = Duration::from_millis(100);

/// How long to wait for threads that should stop: hooks are being ended.
const STOPPING: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct ReplayProgress {
    /// Read and decided.
    pub bytes: AtomicU64,
    pub lines: AtomicU64,
}

type BatchResult = Result<ReplayedLines, ReplayError>;

struct ReplayWorkers {
    decider: Decider,
    names: Vec<String>,
    source: Mutex<Recordings>,
    progress: ReplayProgress,
    /// How many threads decide now, and do not read.
    deciding: AtomicUsize,
    is_stopped: AtomicBool,
    abort: Abort,
}

/// Decides all events of `inputs` with so many threads. `each` gets what was done, in the order of
/// the events; `tick` is called several times a second. `abort` ends it early.
pub fn run(
    decider: Decider,
    inputs: Vec<RecordingInput>,
    threads: usize,
    abort: Abort,
    each: &mut dyn FnMut(ReplayedLines) -> Result<(), ReplayError>,
    tick: &mut dyn FnMut(&ReplayProgress),
) -> Result<Totals, ReplayError> {
    let workers = Arc::new(ReplayWorkers {
        decider,
        names: inputs.iter().map(RecordingInput::name).collect(),
        source: Mutex::new(Recordings::new(inputs)),
        progress: ReplayProgress::default(),
        deciding: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        abort,
    });
    let (queue, results) = sync_channel(MOST_WAITING);
    let mut started = Vec::with_capacity(threads);
    for number in 0..threads {
        let (own, queue) = (Arc::clone(&workers), queue.clone());
        let thread = thread::Builder::new().name(format!("hookrun-replay-{number}"));
        match thread.spawn(move || own.work(&queue)) {
            Ok(thread) => started.push(thread),
            Err(error) if started.is_empty() => {
                return Err(ReplayError::NoThread(error.to_string()));
            }
            // The others do it.
            Err(_) => break,
        }
    }
    drop(queue);
    if let Err(error) = workers.take_all(results, each, tick) {
        workers.end_early();
        return Err(error);
    }
    let mut totals = Totals::default();
    for thread in started {
        totals.merge(&thread.join().map_err(|_| ReplayError::Panicked)?);
    }
    Ok(totals)
}

impl ReplayWorkers {
    fn take_all(
        &self,
        queue: Receiver<Receiver<BatchResult>>,
        each: &mut dyn FnMut(ReplayedLines) -> Result<(), ReplayError>,
        tick: &mut dyn FnMut(&ReplayProgress),
    ) -> Result<(), ReplayError> {
        let mut ticked = Instant::now();
        let mut next: Option<Receiver<BatchResult>> = None;
        loop {
            let taken = match &next {
                Some(batch) => batch.recv_timeout(TICK).map(Some),
                None => queue.recv_timeout(TICK).map(|batch| {
                    next = Some(batch);
                    None
                }),
            };
            if self.is_aborted() {
                return Err(ReplayError::Stopped);
            }
            match taken {
                Ok(None) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Some(done)) => {
                    next = None;
                    each(done?)?;
                }
                // A batch whose thread is gone.
                Err(RecvTimeoutError::Disconnected) if next.is_some() => {
                    return Err(ReplayError::Panicked);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if ticked.elapsed() >= TICK {
                tick(&self.progress);
                ticked = Instant::now();
            }
        }
    }

    fn is_aborted(&self) -> bool {
        self.abort.times_raised() > 0
    }

    /// Ends hooks that run, and waits for them, but not for a thread that waits for its input.
    fn end_early(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        if !self.is_aborted() {
            self.abort.raise();
        }
        let until = Instant::now() + STOPPING;
        while self.deciding.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn work(&self, queue: &SyncSender<Receiver<BatchResult>>) -> Totals {
        let mut totals = Totals::default();
        let mut lines = 1;
        while !self.is_stopped.load(Ordering::SeqCst) && !self.is_aborted() {
            let Some((batch, result)) = self.next(lines, queue) else {
                break;
            };
            let started = Instant::now();
            let done = {
                let _deciding = LiveCount::in_(&self.deciding);
                self.decide(&batch, &mut totals)
            };
            lines = suitable(lines, started.elapsed());
            self.progress
                .bytes
                .fetch_max(batch.read_bytes, Ordering::Relaxed);
            self.progress
                .lines
                .fetch_add(batch.lines.len() as u64, Ordering::Relaxed);
            let has_failed = done.is_err();
            if result.send(done).is_err() || has_failed {
                break;
            }
        }
        totals
    }

    /// The next batch, and where its result goes; none at the end, or if nothing more is wanted.
    fn next(
        &self,
        lines: usize,
        queue: &SyncSender<Receiver<BatchResult>>,
    ) -> Option<(Batch, SyncSender<BatchResult>)> {
        let mut source = locked(&self.source);
        let batch = source.next(lines)?;
        let (result, taken) = sync_channel(1);
        queue.send(taken).ok()?;
        Some((batch, result))
    }

    fn decide(&self, batch: &Batch, totals: &mut Totals) -> BatchResult {
        let mut done = ReplayedLines::default();
        for line in &batch.lines {
            if self.is_aborted() {
                break;
            }
            match line {
                BatchLine::Unreadable(unreadable) => {
                    self.decider
                        .unreadable(unreadable.clone(), totals, &mut done);
                }
                BatchLine::Text { input, line, range } => {
                    let place = || LinePlace {
                        input: *input,
                        line: Some(*line),
                        file: self.names[*input].clone(),
                    };
                    self.decider
                        .line(&batch.bytes[range.clone()], &place, totals, &mut done)?;
                }
            }
        }
        // What hooks answered while they were being ended does not count.
        if self.is_aborted() {
            Err(ReplayError::Stopped)
        } else {
            Ok(done)
        }
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

/// Counts one more for as long as it lives.
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
