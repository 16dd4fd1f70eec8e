//! Who is there for the hooks of a runner: a person, and a session that takes messages.

use std::sync::Arc;

use super::Runner;
use crate::engine::session::Session;
use crate::engine::ui::{Server, Ui};

impl Runner {
    /// Shows the dialogs of hooks (`hookrun ui`). Without it hooks cannot ask a person. The hook's
    /// timeout pauses while a dialog is open, for at most [`PATIENCE`] a hook.
    ///
    /// [`PATIENCE`]: crate::engine::ui::PATIENCE
    #[must_use]
    pub fn ui(mut self, ui: Arc<dyn Ui>) -> Runner {
        self.engine.server = Some(self.server().with_ui(ui));
        self
    }

    /// Receives the messages of hooks (`hookrun send`). Without it they wait in the session's
    /// [`Outbox`](crate::engine::session::outbox::Outbox).
    #[must_use]
    pub fn session(mut self, session: Arc<dyn Session>) -> Runner {
        self.engine.server = Some(self.server().with_session(session));
        self
    }

    /// The same runner for one decision, which the program calls `request`: dialogs and messages of
    /// its hooks say so ([`Asker::request`](crate::Asker::request), [`Message::request`]). For a
    /// program that decides several events at once and shows each where it belongs.
    ///
    /// [`Message::request`]: crate::engine::session::Message::request
    #[must_use]
    pub fn for_request(&self, request: &str) -> Runner {
        let mut own = self.clone();
        own.engine.server = self
            .engine
            .server
            .as_ref()
            .map(|server| server.for_request(request));
        own
    }

    /// See [`Runner::for_request`].
    pub fn request(&self) -> Option<&str> {
        self.engine.server.as_ref().and_then(Server::request)
    }

    pub(crate) fn server(&self) -> Server {
        self.engine
            .server
            .clone()
            .unwrap_or_else(|| Server::new(&self.surroundings.state))
    }
}
