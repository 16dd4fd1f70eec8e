//! What hooks call while they run: `ui`, `send`, `state` and `field`.

pub(in crate::cli) mod field;
pub(in crate::cli) mod send;
pub(in crate::cli) mod state;
pub(in crate::cli) mod ui;
