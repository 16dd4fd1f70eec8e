//! Exit statuses, each chosen in one place.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Allowed; as expected; in order.
    Yes,
    /// Refused or asked; not as expected; not in order. Used by `run` only for git.
    No,
    /// `run`: refused. Elsewhere: could not decide. 2 refuses in every known host.
    CouldNot,
    /// Ended by this signal, as shells report it.
    Signal(i32),
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> ExitCode {
        match exit {
            ExitStatus::Yes => ExitCode::from(0),
            ExitStatus::No => ExitCode::from(1),
            ExitStatus::CouldNot => ExitCode::from(2),
            ExitStatus::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(2)),
        }
    }
}

/// What stopped a command: said on stderr, with a cure where there is one.
#[derive(Debug)]
pub(crate) struct CommandFailure {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl CommandFailure {
    pub(crate) fn new(message: impl Into<String>) -> CommandFailure {
        CommandFailure { message: message.into(), help: None }
    }

    pub(crate) fn with_help(message: impl Into<String>, help: impl Into<String>) -> CommandFailure {
        CommandFailure { message: message.into(), help: Some(help.into()) }
    }

    /// The failure as one line, for reasons.
    pub(crate) fn line(&self) -> String {
        match &self.help {
            Some(help) => format!("{}; {help}", self.message),
            None => self.message.clone(),
        }
    }
}

impl From<std::io::Error> for CommandFailure {
    fn from(error: std::io::Error) -> CommandFailure {
        CommandFailure::new(format!("cannot write the result: {error}"))
    }
}

/// What a command returns.
pub(crate) type Result<T = ExitStatus> = std::result::Result<T, CommandFailure>;
