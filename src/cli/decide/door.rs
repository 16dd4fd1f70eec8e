//! The ways by which questions come.

/// The way by which a question has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// `run`.
    Command,
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "a door of the server")
    )]
    Stdio,
    Mcp,
    Http,
}

impl Door {
    /// Its name in the decision log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Door::Command => "command",
            Door::Stdio => "stdio",
            Door::Mcp => "mcp",
            Door::Http => "http",
        }
    }
}
