//! Hooks that are closures of the embedding program, or async closures with the feature `tokio`.

use std::fmt;
use std::sync::Arc;

use crate::engine::event::Event;
use crate::engine::outcome::Verdict;

/// The verdict of a function, or the reason for its failure.
pub type FunctionReturn = Result<Verdict, String>;

pub(crate) type Future =
    std::pin::Pin<Box<dyn std::future::Future<Output = FunctionReturn> + Send>>;

/// A function used as a hook. Clones share it.
#[derive(Clone)]
pub enum Function {
    Blocking(Arc<dyn Fn(&Event) -> FunctionReturn + Send + Sync>),
    Async(Arc<AsyncFunction>),
}

pub type AsyncFunction = dyn Fn(Event) -> Future + Send + Sync;

/// Return values of functions used as hooks.
pub trait IntoVerdict {
    /// Converts to a verdict.
    ///
    /// # Errors
    /// Returns the message of a failure.
    fn into_verdict(self) -> FunctionReturn;
}

impl IntoVerdict for Verdict {
    fn into_verdict(self) -> FunctionReturn {
        Ok(self)
    }
}

/// No opinion.
impl IntoVerdict for () {
    fn into_verdict(self) -> FunctionReturn {
        Ok(Verdict::allow())
    }
}

/// An error is a failure of the hook, not a block: `on_failure` applies.
impl<V: IntoVerdict, E: fmt::Display> IntoVerdict for Result<V, E> {
    fn into_verdict(self) -> FunctionReturn {
        self.map_err(|error| error.to_string())?.into_verdict()
    }
}

impl Function {
    pub fn new<V: IntoVerdict>(call: impl Fn(&Event) -> V + Send + Sync + 'static) -> Function {
        Function::Blocking(Arc::new(move |event| call(event).into_verdict()))
    }

    pub fn new_async<F>(call: impl Fn(Event) -> F + Send + Sync + 'static) -> Function
    where
        F: std::future::Future<Output: IntoVerdict> + Send + 'static,
    {
        Function::Async(Arc::new(move |event| {
            let future = call(event);
            Box::pin(async move { future.await.into_verdict() })
        }))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Function::Blocking(_) => "Function",
            Function::Async(_) => "Function (async)",
        })
    }
}

/// Functions are equal if they are clones.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        match (self, other) {
            (Function::Blocking(own), Function::Blocking(other)) => Arc::ptr_eq(own, other),
            (Function::Async(own), Function::Async(other)) => Arc::ptr_eq(own, other),
            (Function::Blocking(_), Function::Async(_))
            | (Function::Async(_), Function::Blocking(_)) => false,
        }
    }
}

impl Eq for Function {}
