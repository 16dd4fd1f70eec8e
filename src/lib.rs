//! hookrun runs hooks: small programs that are asked before and after something happens, and
//! may refuse it.
//!
//! A decision is always reached, in time, and stated; a refusal is never lost. Give a [`Runner`]
//! an [`Event`], and get back a [`Run`]: the outcome, and what became of every hook.
//!
//! ```no_run
//! use hookrun::config::{Choice, Config, Environment, Scope};
//! use hookrun::event::Event;
//! use hookrun::runner::Runner;
//! use serde_json::json;
//!
//! let env = Environment::capture();
//! let runner = Runner::from_config(Config::load(&Choice::default(), &env, Scope::All), &env);
//!
//! let event = Event::tool_pre("bash", json!({ "command": "rm -rf /" })).session("s-1").build()?;
//! match runner.handle(&event).permit() {
//!     Ok(allowed) => println!("go on with {:?}", allowed.event.action()),
//!     Err(blocked) => eprintln!("blocked: {}", blocked.reason),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program's own functions are hooks as well ([`Hook::function`]), and with the feature `tokio`
//! async ones; a runner may be shared by threads and tasks.
//!
//! The modules in reading order: [`event`] (what happened), [`hook`] (what is asked), [`outcome`]
//! (what was said), [`config`] and [`registry`] (where hooks come from), [`plan`], [`exec`],
//! [`chain`] and [`runner`] (how they are run), [`ui`] and [`session`] (what hooks ask, keep and
//! send meanwhile), [`run`] (what happened), [`dialects`], [`report`] and [`reminder`] (how it is
//! told), [`scenario`] (what is expected of hooks, case by case), [`audit`] (what is kept of it) and
//! [`replay`] (what is decided again). [`interceptor`] stands apart: code around single tools. So
//! does [`conformance`]: what any runner must answer.
//!
//! [`Hook::function`]: hook::Hook::function
//! [`Runner`]: runner::Runner
//! [`Event`]: event::Event
//! [`Run`]: run::Run

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("hookrun runs on Linux and macOS: it needs process groups and poll");

#[cfg(feature = "cli")]
mod cli;
pub mod config;
pub mod dialects;
mod engine;
mod lab;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::main;
pub use engine::{
    access, answer, chain, event, exec, harmless, hook, interceptor, outcome, plan, registry,
    reminder, run, runner, session, spelling, ui,
};
pub use lab::{audit, conformance, replay, report, scenario};
