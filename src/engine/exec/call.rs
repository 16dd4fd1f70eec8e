//! How a function that runs as a hook answers: from its thread or task to the loop that waits.

use std::any::Any;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use super::job::FunctionCall;
use super::workers::WorkerPermit;
use crate::engine::hook::{CallStart, FunctionReturn};
use crate::engine::run::{Ending, StartError, Trace};

#[derive(Debug)]
pub(super) struct RunningCall {
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    /// What reaching the deadline means.
    pub(super) why: Ending,
    /// Dropping it ends its task; `None` for a thread, which nothing can end.
    pub(super) task: Option<Box<dyn Any + Send>>,
}

impl RunningCall {
    /// Its trace when it answered or was given up.
    pub(super) fn trace(&self, ending: Ending, now: Instant) -> Trace {
        let took = now.saturating_duration_since(self.started);
        Trace {
            took,
            ..Trace::not_run(ending)
        }
    }

    /// Its trace when it was given up.
    pub(super) fn left(&self, ending: Ending, now: Instant) -> Trace {
        let mut trace = self.trace(ending, now);
        if self.task.is_none() {
            trace
                .notes
                .push("it was left running: nothing can end a function's thread".into());
        }
        trace
    }
}

/// Where the functions of one step send their answers: a channel, and a pipe that wakes the loop.
#[derive(Debug)]
pub(super) struct Answers {
    answers: Receiver<(usize, FunctionReturn)>,
    sender: Sender<(usize, FunctionReturn)>,
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
        Ok(Answers {
            answers,
            sender,
            reader: reader.into(),
            writer: Arc::new(writer.into()),
        })
    }

    /// Readable when there is an answer.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    pub(super) fn reply(&self, place: usize) -> FunctionReply {
        let (sender, writer) = (self.sender.clone(), Arc::clone(&self.writer));
        FunctionReply {
            place,
            sender,
            writer,
            given: false,
        }
    }

    /// The next available answer and the place of its hook.
    pub(super) fn next(&self) -> Option<(usize, FunctionReturn)> {
        let answer = self.answers.try_recv().ok();
        if answer.is_some() {
            // One byte came with it; a wrong count only wakes the loop once too often.
            let _ = rustix::io::read(&self.reader, &mut [0_u8; 1]);
        }
        answer
    }
}

/// Sends the answer of one function. If it is dropped unused, it reports that there was none.
#[derive(Debug)]
pub(super) struct FunctionReply {
    place: usize,
    sender: Sender<(usize, FunctionReturn)>,
    writer: Arc<OwnedFd>,
    given: bool,
}

impl FunctionReply {
    /// Sends the answer. The receiver may be gone.
    pub(super) fn give(mut self, returned: FunctionReturn) {
        self.send(returned);
    }

    fn send(&mut self, returned: FunctionReturn) {
        self.given = true;
        let _ = self.sender.send((self.place, returned));
        let _ = rustix::io::write(&*self.writer, b"!");
    }
}

impl Drop for FunctionReply {
    fn drop(&mut self) {
        if !self.given {
            self.send(Err(
                "ended without an answer: its runtime is gone".to_string()
            ));
        }
    }
}

pub(super) fn call(call: &FunctionCall, reply: FunctionReply, permit: WorkerPermit) {
    let called = catch_unwind(AssertUnwindSafe(|| call.function.call(&call.event)));
    drop(permit);
    match called {
        Ok(CallStart::Returned(returned)) => reply.give(in_words(returned)),
        // Tasks start elsewhere.
        Ok(CallStart::Promised(task)) => drop((task, reply)),
        Err(panic) => {
            reply.give(Err(panicked(&*panic)));
            drop(panic);
        }
    }
}

/// Turns an error that a function returned into the text of a failure.
pub(super) fn in_words(returned: FunctionReturn) -> FunctionReturn {
    returned.map_err(|error| format!("returned an error: {error}"))
}

pub(super) fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    match text.or_else(|| panic.downcast_ref::<String>().cloned()) {
        Some(text) => format!("panicked: {text}"),
        None => "panicked".to_string(),
    }
}

pub(super) fn no_thread(error: &io::Error) -> StartError {
    StartError::new(
        format!("there is no thread for it: {error}"),
        "raise the thread and descriptor limits",
    )
}
