//! Runs functions as hooks, in a thread or as a task, and passes their answers to the loop.
//!
//! Threads cannot be killed: a function that never returns keeps its thread, so the number of
//! running functions is limited.

use std::any::Any;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Instant;

use crate::engine::complaint::{Complaint, panic_text};
use crate::engine::event::Event;
use crate::engine::hook::{Function, FunctionReturn};
use crate::engine::lock::locked;
use crate::engine::run::{Ending, Trace};
#[cfg(feature = "tokio")]
pub(super) use tasks::begin;

const KEPT_THREADS: usize = 16;

/// Maximum number of running functions, including those past their timeouts.
pub const MOST_FUNCTIONS: usize = 256;

#[derive(Debug)]
pub(super) struct RunningCall {
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    pub(super) why: Ending,
    /// Cancels the task when dropped; `None` for a thread.
    pub(super) task: Option<Box<dyn Any + Send>>,
}

impl RunningCall {
    pub(super) fn trace(&self, ending: Ending, now: Instant) -> Trace {
        let took = now.saturating_duration_since(self.started);
        Trace {
            took,
            ..Trace::not_run(ending)
        }
    }

    pub(super) fn left(&self, ending: Ending, now: Instant) -> Trace {
        let mut trace = self.trace(ending, now);
        if self.task.is_none() {
            let note = "the function keeps running, because a thread cannot be killed";
            trace.notes.push(note.to_string());
        }
        trace
    }
}

/// Answers of a step's functions: a channel, and a pipe that wakes the loop.
#[derive(Debug)]
pub(super) struct Answers {
    answers: Receiver<(usize, FunctionReturn)>,
    sender: Sender<(usize, FunctionReturn)>,
    reader: OwnedFd,
    writer: Arc<OwnedFd>,
}

impl Answers {
    /// Opens the channel. Fails if out of file descriptors.
    pub(super) fn open() -> io::Result<Answers> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        let (sender, answers) = channel();
        Ok(Answers {
            answers,
            sender,
            reader: reader.into(),
            writer: Arc::new(writer.into()),
        })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    pub(super) fn reply(&self, place: usize) -> FunctionReply {
        FunctionReply {
            place,
            sender: self.sender.clone(),
            writer: Arc::clone(&self.writer),
            returned: None,
        }
    }

    /// Returns the next available answer and its hook's index.
    pub(super) fn next(&self) -> Option<(usize, FunctionReturn)> {
        let answer = self.answers.try_recv().ok();
        if answer.is_some() {
            // Each answer has one byte; a wrong count only causes a spurious wakeup.
            let _ = rustix::io::read(&self.reader, &mut [0_u8; 1]);
        }
        answer
    }
}

/// Sends the answer of one function when it is dropped: a failure, unless one was given.
#[derive(Debug)]
pub(crate) struct FunctionReply {
    place: usize,
    sender: Sender<(usize, FunctionReturn)>,
    writer: Arc<OwnedFd>,
    returned: Option<FunctionReturn>,
}

impl FunctionReply {
    pub(super) fn give(mut self, returned: FunctionReturn) {
        self.returned = Some(returned);
    }
}

impl Drop for FunctionReply {
    fn drop(&mut self) {
        let returned = self.returned.take().unwrap_or_else(|| {
            let problem = "ended without an answer: its runtime has shut down";
            Err(problem.to_string())
        });
        let _ = self.sender.send((self.place, returned));
        let _ = rustix::io::write(&*self.writer, b"!");
    }
}

pub(super) fn call(function: &Function, event: &Event, reply: FunctionReply, permit: WorkerPermit) {
    // Tasks start elsewhere.
    let Function::Blocking(function) = function else {
        return;
    };
    let called = catch_unwind(AssertUnwindSafe(|| function(event)));
    drop(permit);
    reply.give(called.map_or_else(|panic| Err(panic_text(panic)), in_words));
}

fn in_words(returned: FunctionReturn) -> FunctionReturn {
    returned.map_err(|error| format!("returned an error: {error}"))
}

pub(super) fn no_thread(error: &io::Error) -> Complaint {
    Complaint::with_cure(
        format!("cannot call the function: {error}"),
        "raise the thread limit (`ulimit -u`) and the descriptor limit (`ulimit -n`)",
    )
}

type Work = Box<dyn FnOnce() + Send>;

type Idle = Mutex<Vec<SyncSender<Task>>>;

/// Idle threads. Each ends after this is dropped and its work is done.
#[derive(Debug, Default)]
pub(super) struct Workers {
    idle: Arc<Idle>,
    functions: Arc<AtomicUsize>,
}

struct Task {
    work: Work,
    home: SyncSender<Task>,
}

/// Permission to run one of [`MOST_FUNCTIONS`].
#[derive(Debug)]
pub(crate) struct WorkerPermit {
    functions: Arc<AtomicUsize>,
}

impl Workers {
    pub(super) fn permit(&self) -> Option<WorkerPermit> {
        let permit = WorkerPermit {
            functions: Arc::clone(&self.functions),
        };
        let running = self.functions.fetch_add(1, Ordering::Relaxed);
        (running < MOST_FUNCTIONS).then_some(permit)
    }

    /// Runs `work` in a thread and isolates panics. Drops `work` and fails if no thread can start.
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
        thread
            .send(Task { work, home })
            .map_err(|_| io::Error::other("a hookrun thread has ended"))
    }
}

impl Drop for WorkerPermit {
    fn drop(&mut self) {
        self.functions.fetch_sub(1, Ordering::Relaxed);
    }
}

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

/// Async functions: tasks of the program's runtime.
#[cfg(feature = "tokio")]
mod tasks {
    use std::any::Any;
    use std::future::poll_fn;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::task::Poll;

    use tokio::runtime::Handle;
    use tokio::task::JoinSet;

    use crate::engine::complaint::panic_text;
    use crate::engine::event::Event;
    use crate::engine::exec::call::{FunctionReply, WorkerPermit, in_words};
    use crate::engine::hook::{AsyncFunction, FunctionReturn};

    /// Starts an async function. Dropping the result cancels the task.
    pub(crate) fn begin(
        runtime: &Handle,
        function: Arc<AsyncFunction>,
        event: Event,
        reply: FunctionReply,
        permit: WorkerPermit,
    ) -> Box<dyn Any + Send> {
        let mut task = JoinSet::new();
        let run = async move {
            let returned = contained(function, event).await;
            drop(permit);
            reply.give(returned);
        };
        task.spawn_on(run, runtime);
        Box::new(task)
    }

    /// Runs an async function and catches panics.
    async fn contained(function: Arc<AsyncFunction>, event: Event) -> FunctionReturn {
        let mut promised = None;
        poll_fn(move |context| {
            let polled = catch_unwind(AssertUnwindSafe(|| {
                let future = promised.get_or_insert_with(|| function(event.clone()));
                future.as_mut().poll(context)
            }));
            match polled {
                Ok(poll) => poll.map(in_words),
                Err(panic) => Poll::Ready(Err(panic_text(panic))),
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn work(sender: Sender<thread::ThreadId>, fails: bool) -> Work {
        Box::new(move || {
            sender.send(thread::current().id()).unwrap();
            assert!(!fails, "a panic on purpose");
        })
    }

    #[test]
    fn a_thread_is_kept_for_the_next_call_even_after_a_panic() {
        let workers = Workers::default();
        let (sender, ids) = channel();
        workers.give(work(sender.clone(), true)).unwrap();
        let first = ids.recv().unwrap();
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
