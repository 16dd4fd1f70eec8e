//! The ways by which questions come.

use crate::cli::args::RunArgs;

/// The tool of `serve --mcp` for hooks that can only name the fields of an event.
pub(crate) const FIELDS_TOOL: &str = "decide_fields";

/// The way by which a question has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// `run`.
    Command,
    /// `run --if-not-decided`, next to another door of the same host.
    Backstop,
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "a door of the server")
    )]
    Stdio,
    Mcp,
    Http,
}

impl Door {
    /// That of a command line.
    pub(crate) fn of(args: &RunArgs) -> Door {
        if args.if_not_decided {
            Door::Backstop
        } else {
            Door::Command
        }
    }

    /// Its name in the decision log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Door::Command => "command",
            Door::Backstop => "backstop",
            Door::Stdio => "stdio",
            Door::Mcp => "mcp",
            Door::Http => "http",
        }
    }

    /// Whether a host that asks here asks by a command too, about the same call.
    pub(crate) fn is_of_pair(self) -> bool {
        match self {
            Door::Command | Door::Stdio => false,
            Door::Backstop | Door::Mcp | Door::Http => true,
        }
    }
}
