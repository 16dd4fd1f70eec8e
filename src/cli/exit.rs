//! Exit statuses, each chosen in one place, and the errors of commands.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::cli::streams;
use crate::engine::complaint::Complaint;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Allowed, passed, or without errors.
    Yes,
    /// Blocked, asked, failed, or with errors. `run` uses it only for git.
    No,
    /// Blocked by `run`; elsewhere an error. 2 blocks in every known host.
    CouldNot,
    Signal(i32),
}

impl ExitStatus {
    pub(crate) fn yes_if(is_yes: bool) -> ExitStatus {
        if is_yes {
            ExitStatus::Yes
        } else {
            ExitStatus::No
        }
    }
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

/// The result of a command. `cli.rs` prints the complaint on stderr.
pub(crate) type Result<T = ExitStatus> = std::result::Result<T, Complaint>;

/// Prefixes an error: `cannot read it: no such file`.
pub(crate) fn failed<E: Display>(what: impl Display) -> impl Fn(E) -> Complaint {
    move |error| Complaint::new(format!("{what}: {error}"))
}

/// Only for a command's output stream, whose errors name it: `cli::streams::Sink`.
impl From<io::Error> for Complaint {
    fn from(error: io::Error) -> Complaint {
        Complaint::of(error)
    }
}

/// Prints the help, or a usage error, which may quote arbitrary text.
pub(crate) fn print_usage(error: &clap::Error) -> ExitStatus {
    if error.use_stderr() {
        streams::complaint(&error.render().ansi().to_string());
        return ExitStatus::CouldNot;
    }
    let _ = error.print();
    ExitStatus::Yes
}

/// Prints why a command failed.
pub(crate) fn print_failure(failure: &Complaint) -> ExitStatus {
    let mut text = format!("error: {}\n", indented(&failure.cause));
    if let Some(help) = &failure.cure {
        text.push_str(&format!("  help: {}\n", indented(help)));
    }
    streams::remark(&text);
    ExitStatus::CouldNot
}

/// Indents further lines of a text, so that none looks like a line of hookrun.
fn indented(text: &str) -> String {
    text.replace('\n', "\n    ")
}
