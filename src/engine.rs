//! The engine: events, hooks, plans, runs and outcomes.
//!
//! The data types are in [`event`], [`hook`], [`outcome`] and [`run`]. [`registry`] and [`plan`]
//! select hooks, [`exec`] runs one step, [`chain`] all hooks of an event, and [`runner`] is the
//! entry point. [`session_hooks`] runs session-lived hooks; [`ui`] and [`session`] serve hooks'
//! requests.

pub mod answer;
pub mod chain;
pub mod complaint;
pub(crate) mod ending;
#[cfg(feature = "cli")]
pub(crate) mod errand;
pub mod event;
pub mod exec;
pub mod harmless;
pub mod hook;
pub mod interceptor;
pub(crate) mod lock;
pub mod names;
pub mod outcome;
pub mod plan;
pub mod registry;
pub mod reminder;
pub mod run;
pub mod runner;
pub mod session;
pub(crate) mod session_hooks;
pub mod shell;
pub mod ui;
