//! Runs hooks: small programs that run before or after an action and can block it.
//!
//! Every event gets a decision, on time and with a reason, and a block is never lost: a hook that
//! hangs, crashes or floods its output blocks a gate too. Pass an [`Event`] to a [`Runner`], and
//! ask the [`Run`] for a [`permit`](Run::permit):
//!
//! ```
//! use hookrun::{Event, Hook, Runner, Verdict};
//! use serde_json::json;
//!
//! let runner = Runner::builder().build()?;
//! runner.register(Hook::function("no-prod", "tool.pre", |event| {
//!     match event.action().and_then(|action| action.command.as_deref()) {
//!         Some(command) if command.contains("prod") => Verdict::block("production is off limits"),
//!         _ => Verdict::allow(),
//!     }
//! }))?;
//!
//! let event = Event::tool_pre("bash", json!({ "command": "deploy prod" }))?;
//! match runner.handle(&event).permit() {
//!     Ok(allowed) => println!("run {:?}", allowed.event.action()),
//!     Err(blocked) => println!("blocked: {}", blocked.reason),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guard an agent loop
//!
//! Ask before each tool call, and run the call that the hooks return, which may be rewritten. An
//! unanswered question is a block.
//!
//! ```
//! use hookrun::{Event, Runner};
//! use serde_json::{Value, json};
//!
//! fn call_tool(runner: &Runner, name: &str, input: Value) -> String {
//!     let event = match Event::tool_pre(name, input) {
//!         Ok(event) => event,
//!         Err(problem) => return format!("blocked: {problem}"),
//!     };
//!     match runner.handle(&event).permit() {
//!         Ok(allowed) => format!("runs with {:?}", allowed.event.context().text("toolInput")),
//!         Err(blocked) => format!("blocked: {}", blocked.reason),
//!     }
//! }
//!
//! let runner = Runner::builder().build()?;
//! assert!(call_tool(&runner, "bash", json!({ "command": "ls" })).starts_with("runs"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Run the user's hooks
//!
//! Load a folder of scripts in any language, or all hooks that the command line finds
//! ([`RunnerBuilder::discover`]; project hooks run only if trusted). [`RunnerBuilder::build`] fails
//! if a hook cannot be read, because it may be one that blocks.
//!
//! ```
//! use hookrun::{Event, Runner};
//! use serde_json::json;
//! # use std::os::unix::fs::PermissionsExt;
//!
//! # let folder = tempfile::tempdir()?;
//! # let hooks = folder.path().join("hooks.d");
//! # std::fs::create_dir_all(hooks.join("tool.pre"))?;
//! # let guard = hooks.join("tool.pre/guard.sh");
//! // hooks.d/tool.pre/guard.sh
//! let script = "#!/bin/sh\necho 'not on Fridays' >&2; exit 1\n";
//! # std::fs::write(&guard, script)?;
//! # std::fs::set_permissions(&guard, std::fs::Permissions::from_mode(0o755))?;
//! let runner = Runner::builder().hooks_dir(&hooks).build()?;
//! let event = Event::tool_pre("bash", json!({ "command": "deploy" }))?;
//! let blocked = runner.handle(&event).permit().unwrap_err();
//! assert_eq!(blocked.reason, "not on Fridays");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Test them
//!
//! `hookrun test` runs the suites in `hooks.d/tests`. In your tests, inspect each hook's result:
//!
//! ```
//! use hookrun::{Event, Fate, Hook, Runner};
//! use serde_json::json;
//!
//! let runner = Runner::builder().build()?;
//! runner.register(Hook::shell("guard", "tool.pre", "echo no >&2; exit 1"))?;
//! let run = runner.handle(&Event::tool_pre("bash", json!({ "command": "ls" }))?);
//! let Fate::Ran(trace) = &run.hooks[0].fate else { panic!("it did not run") };
//! assert_eq!(trace.stderr.text(), "no\n");
//! assert!(run.permit().is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Threads can share a [`Runner`]. With the feature `tokio` its decisions can be awaited, and hooks
//! can be async functions. [`Reminders`] collect messages about decisions for the model.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("hookrun runs on Linux and macOS: it needs process groups and poll");

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod config;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod decide;
mod engine;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod hosts;
#[cfg(feature = "cli")]
mod lab;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod log;

pub use engine::chain::Surroundings;
pub use engine::complaint::Complaint;
pub use engine::event::catalog::UnknownEvent;
pub use engine::event::{Action, ActionKind, Context, Event, EventSpec, Merge, OnFailure};
pub use engine::exec::{Abort, Budget};
pub use engine::hook::{Handler, Hook, IntoVerdict, Limits, Lives, Matcher, Sandbox};
pub use engine::interceptor::{self, Interceptors};
pub use engine::outcome::{
    Block, Cause, Decision, Finding, HookText, Notice, Outcome, Question, Rewritten, Settled,
    Verdict,
};
pub use engine::registry::Registry;
pub use engine::reminder::{Reminder, Reminders, blocked_result};
pub use engine::run::{Allowed, CapturedStream, Ending, Exit, Fate, HookRun, Run, Trace};
pub use engine::runner::Runner;
pub use engine::session::{Message, Session};
pub use engine::session_hooks::{SessionHooks, SessionSink};
pub use engine::shell::{
    Assignment, CommandLine, CommandRedirect, CommandWrapper, ShellCommand, ShellWord,
};
pub use engine::ui::{Asker, DialogAnswer, MessageKind, Request, Ui};

#[cfg(feature = "cli")]
pub use {
    config::{Config, Environment, Position, Problem, Severity},
    decide::{ConfigError, RunnerBuilder},
};

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::main;

/// For this package's program, tests, benches and dialect examples only: any release may change it.
#[doc(hidden)]
pub mod internals {
    pub use crate::engine::{
        answer, chain, complaint, event, exec, harmless, hook, interceptor, names, outcome, plan,
        registry, reminder, run, runner, session, shell, ui,
    };
    #[cfg(feature = "cli")]
    pub use crate::{
        cli::schema::NAMED as SCHEMAS,
        config,
        lab::{export, replay, report, scenario},
        log,
    };
}
