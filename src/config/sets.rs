//! Shared hook sets: what a `hookrun.toml` declares, `hookrun.lock` pins, and what is in a set.
//!
//! Deciding an event reads the store alone. Only `hookrun sets` fetches anything.

pub(crate) mod declared;
pub(crate) mod hookset;
pub(crate) mod lock;
