//! A function that is asked as a hook: its way into a thread or a task, and its answer's way
//! back.

use std::any::Any;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use super::Engine;
use super::workers::{MOST_FUNCTIONS, WorkerPermit};
use crate::engine::event::Event;
use crate::engine::hook::{Called, Function, Returned};
use crate::engine::run::{Ending, StartError, Trace};

/// What is called: a function, and the event that it sees.
#[derive(Debug, Clone)]
pub struct FunctionCall {
    /// The function.
    pub function: Function,
    /// The event, as earlier hooks left it.
    pub event: Event,
}

/// A task that has begun. Dropped, it is cancelled: its future is dropped where it waits.
#[cfg(feature = "tokio")]
#[derive(Debug)]
pub(super) struct Running {
    pub(super) task: tokio::task::AbortHandle,
}

#[cfg(feature = "tokio")]
impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A call that has begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    /// What reaching the deadline means.
    pub(super) why: Ending,
    /// Ends its task, if it is one.
    #[cfg(feature = "tokio")]
    pub(super) task: Option<Running>,
}

impl Begun {
    /// Its trace when it answered, or is no longer waited for.
    pub(super) fn trace(&self, ending: Ending, now: Instant) -> Trace {
        let took = now.saturating_duration_since(self.started);
        Trace { took, ..super::live::not_run(ending) }
    }

    /// Its trace when it is no longer waited for.
    pub(super) fn left(&self, ending: Ending, now: Instant) -> Trace {
        let mut trace = self.trace(ending, now);
        if self.goes_on() {
            trace.notes.push("it was left running: nothing can end a function's thread".into());
        }
        trace
    }

    #[cfg(feature = "tokio")]
    fn goes_on(&self) -> bool {
        self.task.is_none()
    }

    #[cfg(not(feature = "tokio"))]
    #[expect(clippy::unused_self, reason = "with the feature tokio it depends")]
    fn goes_on(&self) -> bool {
        true
    }
}

/// Where the functions of one step answer: a channel, and a pipe for the loop to wait at.
#[derive(Debug)]
pub(super) struct Answers {
    answers: Receiver<(usize, Returned)>,
    sender: Sender<(usize, Returned)>,
    reader: OwnedFd,
    writer: Arc<OwnedFd>,
}

impl Answers {
    /// # Errors
    /// When there are no descriptors left for a pipe.
    pub(super) fn open() -> io::Result<Answers> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        let (sender, answers) = channel();
        Ok(Answers { answers, sender, reader: reader.into(), writer: Arc::new(writer.into()) })
    }

    /// Readable when there is an answer.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// What may be said from the hook at `place`, once.
    fn reply(&self, place: usize) -> FunctionReply {
        FunctionReply {
            place,
            sender: self.sender.clone(),
            writer: Arc::clone(&self.writer),
            given: false,
        }
    }

    /// The next answer that is there, and whose it is.
    pub(super) fn next(&self) -> Option<(usize, Returned)> {
        let answer = self.answers.try_recv().ok();
        if answer.is_some() {
            // One byte came with it; a wrong count only wakes the loop once too often.
            let _ = rustix::io::read(&self.reader, &mut [0_u8; 1]);
        }
        answer
    }
}

/// The answer of one function. Dropped without one, it says so.
#[derive(Debug)]
pub(super) struct FunctionReply {
    place: usize,
    sender: Sender<(usize, Returned)>,
    writer: Arc<OwnedFd>,
    given: bool,
}

impl FunctionReply {
    /// Gives it. Nobody may be waiting any more.
    pub(super) fn give(mut self, returned: Returned) {
        self.send(returned);
    }

    fn send(&mut self, returned: Returned) {
        self.given = true;
        let _ = self.sender.send((self.place, returned));
        let _ = rustix::io::write(&*self.writer, b"!");
    }
}

impl Drop for FunctionReply {
    fn drop(&mut self) {
        if !self.given {
            self.send(Err("ended without an answer: its runtime is gone".to_string()));
        }
    }
}

impl Engine {
    /// Begins a call whose answer comes to `answers`, from the hook at `place`.
    pub(super) fn begin(
        &self,
        call: &FunctionCall,
        answers: &Answers,
        place: usize,
        deadline: Instant,
        why: Ending,
    ) -> Result<Begun, StartError> {
        let started = Instant::now();
        let permit = self.shared.workers.permit().ok_or_else(too_many)?;
        let (call, reply) = (call.clone(), answers.reply(place));
        #[cfg(feature = "tokio")]
        if call.function.is_async() {
            let task = Some(self.task(call, reply, permit)?);
            return Ok(Begun { started, deadline, why, task });
        }
        let work = Box::new(move || ask(&call, reply, permit));
        self.shared.workers.give(work).map_err(|error| no_thread(&error))?;
        Ok(Begun {
            started,
            deadline,
            why,
            #[cfg(feature = "tokio")]
            task: None,
        })
    }

    /// Has `work` done by a thread of this engine's.
    #[cfg(feature = "tokio")]
    pub(crate) fn beside(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.shared.workers.give(Box::new(work))
    }
}

/// Asks a function in a thread of its own.
fn ask(call: &FunctionCall, reply: FunctionReply, permit: WorkerPermit) {
    let called = catch_unwind(AssertUnwindSafe(|| call.function.call(&call.event)));
    drop(permit);
    match called {
        Ok(Called::Returned(returned)) => reply.give(in_words(returned)),
        // Tasks are begun elsewhere.
        #[cfg(feature = "tokio")]
        Ok(Called::Promised(_)) => drop(reply),
        Err(panic) => {
            reply.give(Err(panicked(&*panic)));
            drop(panic);
        }
    }
}

/// An error that a function returned, as a failure reads.
pub(super) fn in_words(returned: Returned) -> Returned {
    returned.map_err(|error| format!("returned an error: {error}"))
}

/// The words for a panic.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    match text.or_else(|| panic.downcast_ref::<String>().cloned()) {
        Some(text) => format!("panicked: {text}"),
        None => "panicked".to_string(),
    }
}

fn too_many() -> StartError {
    StartError {
        problem: format!("{MOST_FUNCTIONS} functions are still running"),
        cure: "make functions return, those too that are past their timeouts".to_string(),
    }
}

pub(super) fn no_thread(error: &io::Error) -> StartError {
    StartError {
        problem: format!("there is no thread for it: {error}"),
        cure: "raise the thread and descriptor limits".to_string(),
    }
}
