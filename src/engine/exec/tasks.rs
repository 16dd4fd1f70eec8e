//! Async functions: tasks in the runtime that decides the event, or in our own runtime.

use std::any::Any;
use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

use super::call::{FunctionReply, in_words, panicked};
use super::job::FunctionCall;
use super::workers::WorkerPermit;
use crate::engine::hook::{CallStart, FunctionReturn};
use crate::engine::lock::locked;

/// Where the tasks of an engine run.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tasks {
    /// The runtime of the program. Without it, tasks run in `own`.
    pub(crate) runtime: Option<Handle>,
    own: Arc<OwnRuntime>,
}

impl Tasks {
    /// Starts an async function. Dropping the returned value cancels the task.
    pub(super) fn begin(
        &self,
        call: FunctionCall,
        reply: FunctionReply,
        permit: WorkerPermit,
    ) -> io::Result<Box<dyn Any + Send>> {
        let runtime = match &self.runtime {
            Some(runtime) => runtime.clone(),
            None => self.own.handle()?,
        };
        let task = runtime.spawn(async move {
            let returned = contained(call).await;
            drop(permit);
            reply.give(returned);
        });
        Ok(Box::new(RunningTask(task.abort_handle())))
    }
}

/// A runtime with one thread, made for the first task that has no other runtime.
#[derive(Debug, Default)]
struct OwnRuntime {
    runtime: Mutex<Option<Runtime>>,
}

impl OwnRuntime {
    fn handle(&self) -> io::Result<Handle> {
        let mut runtime = locked(&self.runtime);
        let made = match runtime.take() {
            Some(made) => made,
            None => {
                let mut builder = Builder::new_multi_thread();
                builder
                    .worker_threads(1)
                    .thread_name("hookrun-tasks")
                    .enable_all()
                    .build()?
            }
        };
        Ok(runtime.insert(made).handle().clone())
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        // It may be dropped inside another runtime, where waiting for its thread would panic.
        if let Some(runtime) = locked(&self.runtime).take() {
            runtime.shutdown_background();
        }
    }
}

/// A running task. Dropping it cancels the task, and drops its future at its await point.
#[derive(Debug)]
struct RunningTask(AbortHandle);

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs an async function and turns a panic into a result.
async fn contained(call: FunctionCall) -> FunctionReturn {
    let mut promised = None;
    poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let future = promised.get_or_insert_with(|| match call.function.call(&call.event) {
                CallStart::Promised(future) => future,
                CallStart::Returned(returned) => Box::pin(std::future::ready(returned)),
            });
            future.as_mut().poll(context)
        }));
        match polled {
            Ok(poll) => poll.map(in_words),
            Err(panic) => Poll::Ready(Err(panicked(&*panic))),
        }
    })
    .await
}
