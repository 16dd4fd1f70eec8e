//! Async decisions.

use super::{DetachedHooks, Runner, own_failure};
use crate::engine::event::{Event, Schedule};
use crate::engine::exec::Abort;
use crate::engine::run::Run;

impl Runner {
    /// Sets the runtime for async functions when [`Runner::handle`] is called outside a runtime.
    #[must_use]
    pub fn runtime(mut self, runtime: tokio::runtime::Handle) -> Runner {
        self.engine.tasks.runtime = Some(runtime);
        self
    }

    /// Decides `event` in a hookrun thread, without blocking the executor. Async functions are
    /// tasks of the runtime that first polls this.
    ///
    /// Dropping the future cancels the decision like [`Abort::raise`]: functions are abandoned, and
    /// processes are terminated in the background, first with SIGTERM. Hooks of detached events
    /// keep running.
    pub async fn handle_async(&self, event: &Event) -> Run {
        if self.is_idle(event) {
            return self.handle(event);
        }
        let mut own = self.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            own.engine.tasks.runtime = Some(runtime);
        }
        if event.spec().schedule == Schedule::Detached && self.closed(event.spec()).is_none() {
            return own.handle(event);
        }
        let abort = match Abort::new() {
            Ok(abort) => abort,
            Err(error) => return own_failure(event, format!("cannot open a pipe: {error}")),
        };
        let own = own.cancelled_by(abort.clone());
        let (answer, decided) = tokio::sync::oneshot::channel();
        let mut on_drop = RaiseOnDrop(Some(abort));
        let own_event = event.clone();
        let started = self.engine.beside(move || {
            // The receiver is gone if the future was dropped.
            drop(answer.send(own.decide(&own_event, DetachedHooks::Awaited, None)));
        });
        if let Err(error) = started {
            return own_failure(event, format!("cannot start a thread: {error}"));
        }
        let decided = decided.await;
        on_drop.0 = None;
        let run = decided.unwrap_or_else(|_| {
            own_failure(event, "the thread that decides has ended".to_string())
        });
        self.collected(run)
    }

    #[must_use]
    pub(crate) fn cancelled_by(&self, cancel: Abort) -> Runner {
        Runner {
            engine: self.engine.cancelled_by(cancel),
            ..self.clone()
        }
    }
}

pub(crate) struct RaiseOnDrop(pub(crate) Option<Abort>);

impl Drop for RaiseOnDrop {
    fn drop(&mut self) {
        if let Some(abort) = &self.0 {
            abort.raise();
        }
    }
}
