//! The command line: parses arguments, runs one command, and returns its exit status.

mod add;
mod args;
mod decisions;
mod doctor;
mod events;
mod exit;
mod explain;
mod files;
mod help;
mod host;
mod import;
mod init;
mod input;
mod inside;
mod list;
mod new;
mod problems;
mod replay;
mod run;
pub(crate) mod schema;
mod serve;
mod sets;
mod streams;
mod terminal;
mod test;
mod trust;
mod validate;

use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use crate::config::Environment;
use crate::engine::exec::{confine, keeper};
use clap::FromArgMatches;

use args::{Cli, Command, HookCommand, RunArgs};
use exit::ExitStatus;
use run::{git, quick};
use streams::{OutputShape, Sink};

pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    // A hook waits for `confine`, which must not start a second thread.
    if let Some((_, bounds)) = arguments
        .split_first()
        .filter(|(first, _)| *first == "confine")
    {
        return ExitCode::from(confine::enter(bounds));
    }
    let ended = catch_unwind(AssertUnwindSafe(|| {
        if let Some(args) = quick::parse(&arguments) {
            return decide(&args);
        }
        let matches = help::command().try_get_matches();
        match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
            Ok(cli) => dispatch(&cli),
            Err(error) => Ok(exit::print_usage(&error)),
        }
    }));
    let exit = match ended {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => exit::print_failure(&failure),
        Err(_) => ExitStatus::CouldNot,
    };
    exit.into()
}

fn decide(args: &RunArgs) -> exit::Result {
    let env = Environment::capture();
    streams::subscribe(env.log.as_deref())?;
    run::run(args, &env)
}

fn dispatch(cli: &Cli) -> exit::Result {
    let env = Environment::capture();
    streams::subscribe(cli.log.as_deref().or(env.log.as_deref()))?;
    let shape = streams::seen(cli.command.shape());
    let is_send = matches!(
        &cli.command,
        Command::Hook {
            command: HookCommand::Send(_)
        }
    );
    let mut out: Box<dyn Write> = if is_send {
        // `send` keeps a message that could not be printed.
        Box::new(Sink::new(streams::data(), shape).strict())
    } else if shape == OutputShape::People {
        Box::new(Sink::new(streams::text(cli.color), shape))
    } else {
        Box::new(Sink::new(streams::data(), shape))
    };
    let ended = command(cli, &env, &mut out);
    out.flush()?;
    ended
}

fn command(cli: &Cli, env: &Environment, out: &mut dyn Write) -> exit::Result {
    match &cli.command {
        Command::Run(args) if args.host() == crate::hosts::git::NAME => git::run(args, env),
        Command::Run(args) => run::run(args, env),
        Command::Check(args) => run::git::check(args, env),
        Command::Test(args) => test::test(args, env, out),
        Command::Serve(args) => serve::serve(args, env),
        Command::Helper => serve::helper::helper(env),
        Command::Why(args) => decisions::why(args, env, out),
        Command::Report(args) => decisions::report(args, env, out),
        Command::Replay(args) => replay::replay(args, env, out),
        Command::List(args) => list::list(args, env, out),
        Command::Explain(args) => explain::explain(args, env, out),
        Command::Validate(args) => validate::validate(args, env, out),
        Command::Events(args) => events::events(args, env, out),
        Command::Schema(args) => schema::schema(args, env, out),
        Command::Hook { command } => inside::hook(command, env, out),
        Command::Install(args) => host::install(args, env, sets::verify, out),
        Command::Uninstall(args) => host::uninstall(args, env, out),
        Command::Doctor(args) => doctor::doctor(args, env, out),
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut help::command(), "hookrun", out);
            Ok(ExitStatus::Yes)
        }
        Command::Init(args) => init::init(args, env, out),
        Command::Import(args) => import::import(args, env, out),
        Command::New(args) => new::new(args, env, out),
        Command::Add(args) => add::add(args, env, out),
        Command::Sets(args) => sets::sets(args, env, out),
        Command::Trust(args) => trust::trust(args, env, out),
        Command::Supervise(args) => {
            // Leave the host's session, so that its terminal and its end do not affect the hooks.
            let _ = rustix::process::setsid();
            run::supervise(args, env, run::start_up()?)
        }
        Command::Keep { mark } => {
            keeper::keep(std::io::stdin().lock(), mark);
            Ok(ExitStatus::Yes)
        }
    }
}
