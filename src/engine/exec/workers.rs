//! A pool of threads for work that may take long.
//!
//! A thread cannot be ended from outside, so a function that never returns keeps its thread. For
//! that reason the number of functions that run at once is limited.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use crate::engine::lock::locked;

const KEPT_THREADS: usize = 16;

/// How many functions may run at once, including those past their timeouts.
pub const MOST_FUNCTIONS: usize = 256;

type Work = Box<dyn FnOnce() + Send>;

type Idle = Mutex<Vec<SyncSender<Task>>>;

/// Threads that wait for work. When this is dropped, each ends once it has finished.
#[derive(Debug, Default)]
pub(super) struct Workers {
    idle: Arc<Idle>,
    functions: Arc<AtomicUsize>,
}

struct Task {
    work: Work,
    /// Where the thread waits for its next task.
    home: SyncSender<Task>,
}

/// Permission to run one of [`MOST_FUNCTIONS`].
#[derive(Debug)]
pub(super) struct WorkerPermit {
    functions: Arc<AtomicUsize>,
}

impl Workers {
    /// Permission to run one more function; `None` if too many are running.
    pub(super) fn permit(&self) -> Option<WorkerPermit> {
        let permit = WorkerPermit {
            functions: Arc::clone(&self.functions),
        };
        let running = self.functions.fetch_add(1, Ordering::Relaxed);
        (running < MOST_FUNCTIONS).then_some(permit)
    }

    /// Runs `work` in a thread. A panic in it affects nothing else.
    ///
    /// # Errors
    /// When the system cannot start a thread; `work` is then dropped.
    pub(super) fn give(&self, work: Work) -> io::Result<()> {
        let waiting = locked(&self.idle).pop();
        let thread = match waiting {
            Some(thread) => thread,
            None => {
                let (thread, tasks) = sync_channel(1);
                let idle = Arc::downgrade(&self.idle);
                let builder = thread::Builder::new().name("hookrun-worker".to_string());
                builder.spawn(move || live(&tasks, &idle))?;
                thread
            }
        };
        let home = thread.clone();
        let gone = |_| io::Error::other("a thread of hookrun's has ended");
        thread.send(Task { work, home }).map_err(gone)
    }
}

impl Drop for WorkerPermit {
    fn drop(&mut self) {
        self.functions.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The main loop of a thread.
fn live(tasks: &Receiver<Task>, idle: &Weak<Idle>) {
    while let Ok(Task { work, home }) = tasks.recv() {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            // Dropping the panic's value may panic too.
            std::mem::forget(panic);
        }
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = locked(&idle);
        if idle.len() >= KEPT_THREADS {
            return;
        }
        idle.push(home);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_thread_is_kept_for_the_next_call_even_after_a_panic() {
        let workers = Workers::default();
        let (sender, ids) = channel();
        let work = |sender: std::sync::mpsc::Sender<_>, fails: bool| -> Work {
            Box::new(move || {
                sender.send(thread::current().id()).unwrap();
                assert!(!fails, "a panic on purpose");
            })
        };
        workers.give(work(sender.clone(), true)).unwrap();
        let first = ids.recv().unwrap();
        // The thread becomes idle a moment after it has answered.
        while workers.idle.lock().unwrap().is_empty() {
            thread::yield_now();
        }
        workers.give(work(sender, false)).unwrap();
        assert_eq!(ids.recv().unwrap(), first);
    }

    #[test]
    fn functions_that_never_return_do_not_take_all_threads() {
        let workers = Workers::default();
        let permits: Vec<WorkerPermit> = (0..MOST_FUNCTIONS)
            .filter_map(|_| workers.permit())
            .collect();
        assert_eq!(permits.len(), MOST_FUNCTIONS);
        assert!(workers.permit().is_none());
        drop(permits);
        assert!(workers.permit().is_some());
    }
}
