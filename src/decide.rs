//! The pipeline that every door uses: request → config → event → run → reply → record.
//!
//! A door makes an [`EventRequest`] of what it was asked, loads the hooks of the event with it,
//! decodes the context, calls [`decide`], gives the reply, and keeps the decision. Reading,
//! printing and asking are the door's own.

pub mod decision;
pub mod hooks;
pub mod request;

pub use decision::{DetachedRun, Door, EventDecision, Respondent, Terms, decide, run};
pub use hooks::{ConfigError, LoadedHooks, RunnerBuilder};
pub use request::{EventRequest, HostedEvent, find_event};
