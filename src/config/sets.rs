//! Shared hook sets: what a `hookrun.toml` declares, `hookrun.lock` pins, and the store holds.
//!
//! Deciding an event reads the store alone. Only `hookrun sets` fetches anything.

pub(crate) mod declared;
pub(crate) mod hookset;
pub(crate) mod lock;
pub(crate) mod store;
