//! `hookrun completions SHELL`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::{Exit, Result};

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> Result {
    clap_complete::generate(args.shell, &mut Cli::command(), "hookrun", out);
    Ok(Exit::Yes)
}
