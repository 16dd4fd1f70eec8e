//! `hookrun completions SHELL`.

use std::io::Write;

use clap::{Command as CommandLine, CommandFactory};

use crate::cli::args::{Cli, CompletionsArgs};
use crate::cli::exit::{Exit, Result};

/// Prints a completion script.
pub(crate) fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> Result {
    let all = Cli::command();
    // Hidden commands are completed as well, so they are left out.
    let commands = all.get_subcommands().filter(|command| !command.is_hide_set());
    let mut shown = CommandLine::new("hookrun")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments())
        .subcommands(commands);
    clap_complete::generate(args.shell, &mut shown, "hookrun", out);
    Ok(Exit::Yes)
}
