//! The engine: what happened, who has a say in it, how hooks are run, and what they said.
//!
//! Nouns come first: [`event`], [`hook`], [`outcome`], [`run`]. [`registry`] and [`plan`] say which
//! hooks run, [`exec`] runs one, [`chain`] all of an event, and [`runner`] is the front door.
//! [`session_hooks`] runs those that live as long as a session. [`ui`] and [`session`] are what
//! hooks can ask for meanwhile.

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
pub mod spelling;
pub mod ui;
