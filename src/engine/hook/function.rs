//! Hooks that are functions of the embedding program: closures, and with the feature `tokio`
//! async closures.

use std::fmt;
use std::sync::Arc;

use crate::engine::event::Event;
use crate::engine::outcome::Verdict;

/// What a function said, or why it failed.
pub type FunctionReturn = Result<Verdict, String>;

type Future = std::pin::Pin<Box<dyn std::future::Future<Output = FunctionReturn> + Send>>;

/// A function that is a hook. Clones are the same function.
#[derive(Clone)]
pub struct Function {
    form: FunctionKind,
}

#[derive(Clone)]
enum FunctionKind {
    Blocking(Arc<dyn Fn(&Event) -> FunctionReturn + Send + Sync>),
    Async(Arc<dyn Fn(Event) -> Future + Send + Sync>),
}

/// What a function that is a hook may return.
pub trait IntoVerdict {
    /// The verdict, or why there is none: a failure of the hook.
    ///
    /// # Errors
    /// The words for the failure.
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

/// An error is a failure of the hook, not a block: what it means is `on_failure`.
impl<V: IntoVerdict, E: fmt::Display> IntoVerdict for Result<V, E> {
    fn into_verdict(self) -> FunctionReturn {
        self.map_err(|error| error.to_string())?.into_verdict()
    }
}

impl Function {
    /// The function `call`.
    pub fn new<V: IntoVerdict>(call: impl Fn(&Event) -> V + Send + Sync + 'static) -> Function {
        Function {
            form: FunctionKind::Blocking(Arc::new(move |event| call(event).into_verdict())),
        }
    }

    /// The async function `call`.
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

    /// Calls a blocking function; of an async one it returns the future.
    pub(crate) fn call(&self, event: &Event) -> CallStart {
        match &self.form {
            FunctionKind::Blocking(call) => CallStart::Returned(call(event)),
            FunctionKind::Async(call) => CallStart::Promised(call(event.clone())),
        }
    }

    /// Whether it is an async function.
    pub fn is_async(&self) -> bool {
        matches!(self.form, FunctionKind::Async(_))
    }
}

/// What came of a call.
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

/// Two are equal if they are clones of each other.
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
