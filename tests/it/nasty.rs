//! Hooks, hosts and systems that misbehave: hookrun decides, in time, and leaves nothing behind.

mod children;
mod floods;
mod host;
mod inherited;
pub(crate) mod running;
