//! `run`, and what it needs: the event, the decision, the reply in time.

pub(in crate::cli) mod ask;
pub(in crate::cli) mod decision;
pub(in crate::cli) mod door;
pub(in crate::cli) mod git;
#[cfg(feature = "serve")]
pub(in crate::cli) mod helper;
pub(in crate::cli) mod input;
pub(in crate::cli) mod keep;
pub(in crate::cli) mod printed;
pub(in crate::cli) mod progress;
pub(in crate::cli) mod quick;
pub(in crate::cli) mod request;
pub(in crate::cli) mod run;
pub(in crate::cli) mod startup;
pub(in crate::cli) mod supervise;
pub(in crate::cli) mod unbound;
pub(in crate::cli) mod watchdog;
