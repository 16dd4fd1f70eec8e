//! Hooks, hosts and systems that misbehave: hookrun decides, in time, and leaves nothing behind.

mod answers;
mod children;
mod container;
mod deaths;
mod floods;
mod host;
mod inherited;
mod killed;
mod replies;
pub(crate) mod running;
mod shortage;
mod signals;
mod start;
mod streams;
mod terminal;
mod unread;
mod world;
