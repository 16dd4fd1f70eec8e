//! Hooks that are functions of the program around us: closures, and with the feature `tokio`
//! async closures.

use std::fmt;
use std::sync::Arc;

use super::{Handler, Hook};
use crate::engine::event::Event;
use crate::engine::outcome::Verdict;

/// What a function said, or why it failed.
pub type Returned = Result<Verdict, String>;

#[cfg(feature = "tokio")]
type Future = std::pin::Pin<Box<dyn std::future::Future<Output = Returned> + Send>>;

/// A function that is asked as a hook. Clones are the same function.
#[derive(Clone)]
pub struct Function {
    form: FunctionKind,
}

#[derive(Clone)]
enum FunctionKind {
    Blocking(Arc<dyn Fn(&Event) -> Returned + Send + Sync>),
    #[cfg(feature = "tokio")]
    Async(Arc<dyn Fn(Event) -> Future + Send + Sync>),
}

/// What a function that is a hook may return.
pub trait IntoVerdict {
    /// The verdict, or why there is none: a failure of the hook.
    ///
    /// # Errors
    /// The words for the failure.
    fn into_verdict(self) -> Returned;
}

impl IntoVerdict for Verdict {
    fn into_verdict(self) -> Returned {
        Ok(self)
    }
}

/// No opinion.
impl IntoVerdict for () {
    fn into_verdict(self) -> Returned {
        Ok(Verdict::allow())
    }
}

/// An error is a failure of the hook, not a refusal: what it means is `on_failure`.
impl<V: IntoVerdict, E: fmt::Display> IntoVerdict for Result<V, E> {
    fn into_verdict(self) -> Returned {
        self.map_err(|error| error.to_string())?.into_verdict()
    }
}

impl Function {
    /// The function `call`.
    pub fn new<V: IntoVerdict>(call: impl Fn(&Event) -> V + Send + Sync + 'static) -> Function {
        Function { form: FunctionKind::Blocking(Arc::new(move |event| call(event).into_verdict())) }
    }

    /// The async function `call`.
    #[cfg(feature = "tokio")]
    pub fn new_async<F>(call: impl Fn(Event) -> F + Send + Sync + 'static) -> Function
    where
        F: std::future::Future<Output: IntoVerdict> + Send + 'static,
    {
        let call = move |event| -> Future {
            let future = call(event);
            Box::pin(async move { future.await.into_verdict() })
        };
        Function { form: FunctionKind::Async(Arc::new(call)) }
    }

    /// Calls a blocking function; an async one is given back as what is to be awaited.
    pub(crate) fn call(&self, event: &Event) -> Called {
        match &self.form {
            FunctionKind::Blocking(call) => Called::Returned(call(event)),
            #[cfg(feature = "tokio")]
            FunctionKind::Async(call) => Called::Promised(call(event.clone())),
        }
    }

    /// Whether it is an async function.
    #[cfg(feature = "tokio")]
    pub fn is_async(&self) -> bool {
        matches!(self.form, FunctionKind::Async(_))
    }
}

/// What came of a call.
pub(crate) enum Called {
    /// The function has returned.
    Returned(Returned),
    /// It will.
    #[cfg(feature = "tokio")]
    Promised(Future),
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.form {
            FunctionKind::Blocking(_) => "Function",
            #[cfg(feature = "tokio")]
            FunctionKind::Async(_) => "Function (async)",
        })
    }
}

/// Two are equal if they are clones of each other.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        match (&self.form, &other.form) {
            (FunctionKind::Blocking(own), FunctionKind::Blocking(other)) => Arc::ptr_eq(own, other),
            #[cfg(feature = "tokio")]
            (FunctionKind::Async(own), FunctionKind::Async(other)) => Arc::ptr_eq(own, other),
            #[cfg(feature = "tokio")]
            (FunctionKind::Blocking(_), FunctionKind::Async(_))
            | (FunctionKind::Async(_), FunctionKind::Blocking(_)) => false,
        }
    }
}

impl Eq for Function {}

impl Hook {
    /// A hook that is a function, with the settings of one that says nothing: the event's own
    /// timeout (5 s for most) and `on_failure`, no leave to rewrite.
    ///
    /// The function runs in a thread of hookrun's. It may return a [`Verdict`], `()` for no
    /// opinion, or a `Result` of these, of which an error is a failure of the hook; so is a
    /// panic, which goes no further (where panics unwind; the program's panic hook sees it first).
    /// Nothing can end a thread from outside: a function that is still running at its timeout has
    /// failed, and is left to its thread until it returns. When [`MOST_FUNCTIONS`] are running,
    /// one more is not called, which is a failure too.
    ///
    /// ```
    /// use hookrun::Hook;
    /// use hookrun::Verdict;
    ///
    /// let hook = Hook::function("no-prod", "tool.pre", |event| {
    ///     let action = event.action();
    ///     match action.and_then(|action| action.paths.iter().find(|path| path.starts_with("/srv"))) {
    ///         Some(path) => Verdict::block(format!("{path} is production")),
    ///         None => Verdict::allow(),
    ///     }
    /// });
    /// assert_eq!(hook.name, "no-prod");
    /// ```
    ///
    /// [`MOST_FUNCTIONS`]: crate::engine::exec::MOST_FUNCTIONS
    pub fn function<V: IntoVerdict>(
        name: &str,
        event: &str,
        call: impl Fn(&Event) -> V + Send + Sync + 'static,
    ) -> Hook {
        Hook::new(name, event, Handler::Function(Function::new(call)))
    }

    /// A hook that is an async function: as [`Hook::function`], but its future is a task of the
    /// runtime in which the event is decided, and is dropped at its timeout. Where there is none,
    /// as in [`Runner::handle`], it is a task of a runtime of hookrun's own, with one thread.
    ///
    /// [`Runner::handle`]: crate::engine::runner::Runner::handle
    #[cfg(feature = "tokio")]
    pub fn async_function<F>(
        name: &str,
        event: &str,
        call: impl Fn(Event) -> F + Send + Sync + 'static,
    ) -> Hook
    where
        F: std::future::Future<Output: IntoVerdict> + Send + 'static,
    {
        Hook::new(name, event, Handler::Function(Function::new_async(call)))
    }
}
