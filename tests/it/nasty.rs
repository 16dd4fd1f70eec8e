//! Hooks, hosts and systems that misbehave: hookrun decides, in time, and leaves nothing behind.

mod answers;
mod children;
mod deaths;
mod floods;
mod host;
mod inherited;
pub(crate) mod running;
mod shortage;
mod start;
mod streams;
