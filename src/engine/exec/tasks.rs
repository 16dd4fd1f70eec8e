//! Async functions: tasks of the runtime in which an event is decided, or of one of our own.

use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::task::Poll;

use tokio::runtime::{Builder, Handle, Runtime};

use super::call::{FunctionCall, FunctionReply, Running, in_words, no_thread, panicked};
use super::workers::WorkerPermit;
use super::{Engine, locked};
use crate::engine::hook::{Called, Returned};
use crate::engine::run::StartError;

/// A runtime of our own with one thread, made for the first task that has no other.
#[derive(Debug, Default)]
pub(super) struct OwnRuntime {
    runtime: Mutex<Option<Runtime>>,
}

impl OwnRuntime {
    fn handle(&self) -> io::Result<Handle> {
        let mut runtime = locked(&self.runtime);
        let made = match runtime.take() {
            Some(made) => made,
            None => {
                let mut builder = Builder::new_multi_thread();
                builder.worker_threads(1).thread_name("hookrun-tasks").enable_all().build()?
            }
        };
        Ok(runtime.insert(made).handle().clone())
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        // It may be dropped inside of another runtime, where waiting for its thread is a panic.
        if let Some(runtime) = locked(&self.runtime).take() {
            runtime.shutdown_background();
        }
    }
}

impl Engine {
    /// Begins an async function.
    pub(super) fn task(
        &self,
        call: FunctionCall,
        reply: FunctionReply,
        permit: WorkerPermit,
    ) -> Result<Running, StartError> {
        let runtime = match &self.runtime {
            Some(runtime) => runtime.clone(),
            None => self.shared.runtime.handle().map_err(|error| no_thread(&error))?,
        };
        let task = runtime.spawn(async move {
            let returned = contained(call).await;
            drop(permit);
            reply.give(returned);
        });
        Ok(Running { task: task.abort_handle() })
    }
}

/// What an async function returns, be it a panic.
async fn contained(call: FunctionCall) -> Returned {
    let mut promised = None;
    poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let future = promised.get_or_insert_with(|| match call.function.call(&call.event) {
                Called::Promised(future) => future,
                Called::Returned(returned) => Box::pin(std::future::ready(returned)),
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
