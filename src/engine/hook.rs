//! A hook: one configured thing to run, and everything its author said about running it. A program
//! that embeds hookrun makes hooks here, from a command, a script or a function.

mod handler;
pub mod limits;
pub mod matcher;
mod spec;

use std::path::PathBuf;
use std::time::Duration;

use crate::engine::event::{Event, OnFailure};

pub use crate::engine::duration::{DEFAULT_TIMEOUT, duration_text, parse_duration};
pub(crate) use handler::{CallStart, verdict_of_rule};
pub use handler::{Function, FunctionReturn, IntoVerdict, PLACEHOLDERS, placeholders};
pub use limits::{Containment, Limits, Sandbox};
pub use matcher::{Condition, Matcher, Mismatch, PathBase};
pub use spec::{
    Background, Convention, DEFAULT_PRIORITY, EventPart, GivenPart, Handler, Hook, HookSource,
    HostCall, LayerKind, Lives, OWN_IMAGE, Permit, Printed, Warm,
};
pub(crate) use spec::{Contract, NO_REASON};

impl Hook {
    /// A program and its arguments, started directly. A program that is written with a slash is
    /// relative to the working directory of this process; one without is looked up in `PATH`.
    ///
    /// ```
    /// use hookrun::Hook;
    ///
    /// let hook = Hook::command("lint", "tool.post", ["python3", "lint.py"]).priority(10);
    /// assert_eq!(hook.name, "lint");
    /// ```
    pub fn command<W: Into<String>>(
        name: &str,
        event: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Hook {
        let words = words.into_iter().map(Into::into).collect();
        // Without a working directory the path stays relative, and starting says so.
        let base = std::path::absolute(".").unwrap_or_default();
        Hook::new(name, event, Handler::Words { words, base })
    }

    /// A command line for `/bin/sh -c`.
    pub fn shell(name: &str, event: &str, line: &str) -> Hook {
        Hook::new(name, event, Handler::Shell(line.to_string()))
    }

    /// An executable file with its own first line (`#!/bin/sh`), as in `hooks.d`; its name is the
    /// file's.
    pub fn script(event: &str, file: impl Into<PathBuf>) -> Hook {
        let file = file.into();
        let name = file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Hook::new(&name.unwrap_or_default(), event, Handler::File(file))
    }

    /// Only events that `matcher` takes; the default takes all.
    #[must_use]
    pub fn matcher(self, matcher: Matcher) -> Hook {
        Hook { matcher, ..self }
    }

    /// Its place in the order: lower runs earlier, 100 by default.
    #[must_use]
    pub fn priority(self, priority: i64) -> Hook {
        Hook { priority, ..self }
    }

    /// How long it may run; by default as long as its event says, 5 s for most.
    #[must_use]
    pub fn time_limit(mut self, timeout: Duration) -> Hook {
        self.limits.timeout = Some(timeout);
        self
    }

    /// What a failure of it means; by default what its event says.
    #[must_use]
    pub fn failing(self, on_failure: OnFailure) -> Hook {
        Hook {
            on_failure: Some(on_failure),
            ..self
        }
    }

    /// It starts once for each session and lives as long, not for each event; see
    /// [`SessionHooks`](crate::SessionHooks). A hook of an event that can be blocked, and one that
    /// is a function, still runs for each event.
    #[must_use]
    pub fn for_session(self) -> Hook {
        Hook {
            lives: Lives::Session,
            ..self
        }
    }

    /// It may rewrite the fields that its event lists.
    #[must_use]
    pub fn rewriting(self) -> Hook {
        Hook {
            rewrite: true,
            ..self
        }
    }

    /// A hook that is a function, with default settings: the event's timeout (5 s for most) and
    /// `on_failure`, no rewriting.
    ///
    /// The function runs in one of hookrun's threads. It may return a
    /// [`Verdict`](crate::Verdict), `()` for no opinion, or a `Result` of these, of which an error
    /// is a failure of the hook; so is a panic, which goes no further (where panics unwind; the program's panic hook sees it first).
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
    /// runtime in which the event is decided, and is dropped at its timeout. If there is none, as
    /// in [`Runner::handle`], hookrun's own runtime of one thread runs it.
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
