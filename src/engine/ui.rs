//! Dialogs between a running hook and the person at the host.
//!
//! A [`Ui`] is how a host shows dialogs. Without one, every answer is [`DialogAnswer::Nobody`].
//! Hooks reach it through the server, by [`Request`]s. While a dialog is open the hook's clock
//! pauses.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use hookrun::{Asker, DialogAnswer, Request, Runner, Ui};
//!
//! /// A host that shows messages from hooks, and always says no.
//! struct Strict;
//!
//! impl Ui for Strict {
//!     fn show(&self, asker: &Asker<'_>, request: &Request) -> DialogAnswer {
//!         match request {
//!             Request::Notify { message, .. } => {
//!                 eprintln!("{}: {message}", asker.hook());
//!                 DialogAnswer::Done
//!             }
//!             _ => DialogAnswer::Cancelled,
//!         }
//!     }
//! }
//!
//! let runner = Runner::builder().discover().build()?.ui(Arc::new(Strict));
//! # Ok::<(), hookrun::ConfigError>(())
//! ```

mod caller;
mod connection;
mod dialog;
mod server;

pub use caller::{Outer, ask};
pub use connection::{Clock, Connection, PATIENCE, Tenure};
pub use dialog::{Asker, DialogAnswer, MessageKind, Request, Ui, WaitEnd, yes_or_no};
pub use server::Server;
