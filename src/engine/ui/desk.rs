//! Where hooks come with their requests: a socket in a private folder, made for the first hook.
//!
//! Each hook has a seat: a token by which it is known, and a clock. A connection is one request.
//! When the hook has ended, or the desk is closed, its connections are cut, which withdraws the
//! dialogs that are open on them.

mod seat;
mod server;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::session::Session;

pub use seat::Seat;
use server::Server;
pub use server::show;

use super::Ui;

/// What a program that embeds hookrun offers to its hooks, and the socket where they find it.
#[derive(Clone)]
pub struct Desk {
    /// Where sockets are made: a folder below it, for the owner only.
    root: PathBuf,
    ui: Option<Arc<dyn Ui>>,
    session: Option<Arc<dyn Session>>,
    server: Arc<Mutex<Option<Server>>>,
}

impl Desk {
    /// A desk that offers nothing, with its socket below `root`.
    pub fn new(root: &Path) -> Desk {
        Desk { root: root.to_path_buf(), ui: None, session: None, server: Arc::default() }
    }

    /// Hooks can ask and tell a person.
    #[must_use]
    pub fn with_ui(mut self, ui: Arc<dyn Ui>) -> Desk {
        self.ui = Some(ui);
        self
    }

    /// Hooks can send messages to the session.
    #[must_use]
    pub fn with_session(mut self, session: Arc<dyn Session>) -> Desk {
        self.session = Some(session);
        self
    }

    /// Whether a person can be asked.
    pub fn has_ui(&self) -> bool {
        self.ui.is_some()
    }

    /// A seat for a hook that is about to start. `None` where no socket can be made: the hook
    /// then finds nobody.
    pub(crate) fn seat(&self, hook: &str, session: Option<&str>, stays: bool) -> Option<Seat> {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        if server.is_none() {
            match Server::start(&self.root, self.ui.clone(), self.session.clone()) {
                Ok(started) => *server = Some(started),
                Err(error) => {
                    tracing::warn!(%error, "hooks cannot ask: there is no socket for it");
                    return None;
                }
            }
        }
        let session = session.unwrap_or_default();
        server.as_ref().map(|server| server.seat(hook, session, stays))
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let offers = (self.ui.is_some(), self.session.is_some());
        f.debug_struct("Desk").field("root", &self.root).field("offers", &offers).finish()
    }
}
