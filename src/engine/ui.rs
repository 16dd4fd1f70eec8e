//! Dialogs between a running hook and the person at the host.
//!
//! A [`Ui`] is how a host shows dialogs. Without one, every answer is [`DialogAnswer::Nobody`].
//! Hooks reach it through the server, by [`Request`]s. While a dialog is open the hook's clock
//! pauses.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use hookrun::{Asker, MessageKind, Runner, Ui};
//!
//! /// A host that shows messages from hooks, and always says no.
//! struct Strict;
//!
//! impl Ui for Strict {
//!     fn select(&self, _: &Asker<'_>, _: &str, _: &[String]) -> Option<String> {
//!         None
//!     }
//!     fn confirm(&self, _: &Asker<'_>, _: &str, _: &str) -> bool {
//!         false
//!     }
//!     fn input(&self, _: &Asker<'_>, _: &str, _: &str) -> Option<String> {
//!         None
//!     }
//!     fn editor(&self, _: &Asker<'_>, _: &str, _: &str) -> Option<String> {
//!         None
//!     }
//!     fn notify(&self, asker: &Asker<'_>, message: &str, _: MessageKind) {
//!         eprintln!("{}: {message}", asker.hook());
//!     }
//!     fn status(&self, _: &Asker<'_>, _: &str, _: Option<&str>) {}
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
pub use connection::{Clock, PATIENCE};
pub use connection::{Connection, Tenure};
pub use dialog::{Asker, DialogAnswer, MessageKind, Request, Ui, WaitEnd, named, show};
pub use server::Server;
