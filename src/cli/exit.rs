//! Exit statuses, each chosen in one place.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Allowed; as expected; in order.
    Yes,
    /// Refused or asked; not as expected; not in order. Used by `run` only for git.
    No,
    /// `run`: refused. Elsewhere: could not decide. 2 refuses in every known host.
    CouldNot,
    /// Ended by this signal, as shells report it.
    Signal(i32),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Yes => ExitCode::from(0),
            Exit::No => ExitCode::from(1),
            Exit::CouldNot => ExitCode::from(2),
            Exit::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(2)),
        }
    }
}

/// What stopped a command: said on stderr, with a cure where there is one.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), help: None }
    }

    pub(crate) fn with_help(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure { message: message.into(), help: Some(help.into()) }
    }

    /// The failure as one line, for reasons.
    pub(crate) fn line(&self) -> String {
        match &self.help {
            Some(help) => format!("{}; {help}", self.message),
            None => self.message.clone(),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::new(format!("cannot write the result: {error}"))
    }
}

/// What a command returns.
pub(crate) type Result<T = Exit> = std::result::Result<T, Failure>;
