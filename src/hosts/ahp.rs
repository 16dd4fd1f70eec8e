//! The Agent Hooks Protocol: its events and ours.
//!
//! By its draft of September 2026 (`spec/draft`). `hookrun serve` reads these messages, and
//! `served` writes them for a hook that stays up.

mod rows;
mod served;

#[cfg(feature = "serve")]
pub(crate) use rows::{AhpEvent, AhpKey, AhpValue, CODE, EVENTS, VERSION, key};
pub(crate) use served::convention;
