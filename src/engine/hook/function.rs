//! Hooks that are closures of the embedding program, or async closures with the feature `tokio`.

use std::fmt;
use std::sync::Arc;

use crate::engine::event::Event;
use crate::engine::outcome::Verdict;

/// The verdict of a function, or the reason for its failure.
pub type FunctionReturn = Result<Verdict, String>;

type Future = std::pin::Pin<Box<dyn std::future::Future<Output = FunctionReturn> + Send>>;

/// A function used as a hook. Clones share it.
#[derive(Clone)]
pub struct Function {
    form: FunctionKind,
}

#[derive(Clone)]
enum FunctionKind {
    Blocking(Arc<dyn Fn(&Event) -> FunctionReturn + Send + Sync>),
    Async(Arc<dyn Fn(Event) -> Future + Send + Sync>),
}

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
        Function {
            form: FunctionKind::Blocking(Arc::new(move |event| call(event).into_verdict())),
        }
    }

    pub fn new_async<F>(call: impl Fn(Event) -> F + Send + Sync + 'static) -> Function
    where
        F: std::future::Future<Output: IntoVerdict> + Send + 'static,
    {
        Function {
            form: FunctionKind::Async(Arc::new(move |event| {
                let future = call(event);
                Box::pin(async move { future.await.into_verdict() })
            })),
        }
    }

    /// Calls a blocking function, or returns an async function's future.
    pub(crate) fn call(&self, event: &Event) -> CallStart {
        match &self.form {
            FunctionKind::Blocking(call) => CallStart::Returned(call(event)),
            FunctionKind::Async(call) => CallStart::Promised(call(event.clone())),
        }
    }

    pub fn is_async(&self) -> bool {
        matches!(self.form, FunctionKind::Async(_))
    }
}

pub(crate) enum CallStart {
    Returned(FunctionReturn),
    Promised(Future),
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.form {
            FunctionKind::Blocking(_) => "Function",
            FunctionKind::Async(_) => "Function (async)",
        })
    }
}

/// Functions are equal if they are clones.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        match (&self.form, &other.form) {
            (FunctionKind::Blocking(own), FunctionKind::Blocking(other)) => Arc::ptr_eq(own, other),
            (FunctionKind::Async(own), FunctionKind::Async(other)) => Arc::ptr_eq(own, other),
            (FunctionKind::Blocking(_), FunctionKind::Async(_))
            | (FunctionKind::Async(_), FunctionKind::Blocking(_)) => false,
        }
    }
}

impl Eq for Function {}
