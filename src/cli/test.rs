//! `hookrun test EVENT`: decide as `run` does, and show everything. Alone it plays the suite.

mod suite;

use std::io::Write;
use std::time::Instant;

use crate::config::value::split_command;
use crate::config::{Config, Environment};
use crate::decide::decision::with_complaint;
use crate::decide::request::reply_to;
use crate::decide::{EventRequest, LoadedHooks};
use crate::engine::complaint::Complaint;
use crate::engine::exec::Budget;
use crate::engine::hook::{Handler, Hook, HookSource, LayerKind};
use crate::engine::outcome::Cause;
use crate::engine::run::Run;
use crate::hosts::folders;
use crate::lab::report::human::{About, EventOrigin};
use crate::lab::report::{CheckFormat, Paths, human, plain};
use crate::log::report::run_report;
use regex::Regex;

use crate::cli::args::TestArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::input::{self, Deadline, StdinEvent};
use crate::cli::problems::not_loaded;
use crate::cli::run::person::Person;
use crate::cli::run::start_up;
use crate::cli::streams;
use crate::cli::trust::untrusted_note;
use suite::load::unknown_hook;

/// Decides one event and shows how, or plays the suite.
pub(crate) fn test(args: &TestArgs, env: &Environment, out: &mut dyn Write) -> Result {
    if args.suite.are_given() {
        return suite::test(args, env, out);
    }
    let is_one_event = args.event.is_some()
        || args.is_about_one_event()
        || input::is_coming(Deadline::after(Instant::now(), args.stdin_timeout));
    if !is_one_event {
        // Many CI systems give an empty pipe.
        if input::promises_event() {
            streams::remark("note: nothing is on stdin, so this plays the suite\n");
        }
        return suite::test(args, env, out);
    }
    if args.format.is_of_lists() {
        let format = args.format.name();
        return Err(Complaint::with_cure(
            format!("`--format {format}` is for a suite, and this is one event"),
            format!("take --format json, or `hookrun test --suite --format {format}`"),
        ));
    }
    test_one(args, env, out)
}

fn test_one(args: &TestArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let started = Instant::now();
    let (abort, grounds) = start_up()?;
    let read = || input::read(Deadline::after(started, args.stdin_timeout), Some(&abort));
    let mut input = None;
    let request = match &args.event {
        Some(name) => EventRequest::new(name, args.host()),
        None => {
            let read = read()?;
            let request = request_on_stdin(read.as_ref(), args)?;
            input = Some(read);
            request
        }
    };
    // It may say where the hooks are.
    if input.is_none() && folders::are_told(request.host()) {
        input = Some(read()?);
    }
    let context = input.iter().flatten().map(|input| &input.context).next();
    let choice = args.source.choice(env, request.host());
    let choice = choice.told_in(request.host(), context);
    let mut config = request.load(&choice, env);
    request.check(&config)?;
    let paths = Paths::from(&env.cwd);
    let input = match input {
        Some(input) => input,
        None => {
            let input = read()?;
            if let Some(StdinEvent { context, .. }) = &input {
                config = request.load_for(context, config, &choice, env);
            }
            input
        }
    };
    let (hosted, origin) = match input {
        Some(StdinEvent { context, bytes }) => {
            let hosted = request.event(&config, context)?;
            (hosted, EventOrigin::Stdin { bytes })
        }
        // A step that should have written the event and failed must not look like an allowed one.
        None if input::promises_event() => return Err(empty_event(&request.name)),
        None => (request.sample(&config, &env.cwd)?, EventOrigin::Sample),
    };
    let event = hosted.event;
    let name = &event.spec().name;
    narrow(&mut config, args, env, name)?;
    let person = Person::find(env);
    let hooks = LoadedHooks::new(config, env, |runner| {
        let runner = runner.with_program(env).one_shot().rehearsal();
        let runner = runner.abort(abort.clone()).subreaper(grounds);
        match &person {
            Some(person) => runner.ui(person.ui()),
            None => runner,
        }
    });
    let budget = args
        .budget
        .or(request.budget())
        .map(|whole| Budget::from(Instant::now(), whole));
    let event = hooks.runner.follow_links(event);
    let mut run = hooks.runner.handle_within(&event, budget);
    run.outcome = with_complaint(run.outcome, hooks.config.complaint());
    let reply = reply_to(hosted.binding, &run.outcome);
    let report = run_report(&run, &reply, &paths);
    if args.format == CheckFormat::Human {
        let (summary, context) = (&event.spec().summary, Some(event.context()));
        human::run(
            &report,
            About {
                summary,
                context,
                origin,
            },
            &paths,
            out,
        )?;
        if args.command.is_none() {
            let hint = hooks.hint_of_none(&event.spec().name);
            streams::remark(&hint.unwrap_or_default());
        }
        tell_untrusted(args, env);
    } else {
        serde_json::to_writer_pretty(&mut *out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    }
    if let Some(signal) = abort.signal() {
        return Ok(ExitStatus::Signal(signal));
    }
    judge(args, args.expect_reason.as_ref(), &run)
}

/// Says that `run` blocks what is tried here, if the hooks of the project are not trusted.
fn tell_untrusted(args: &TestArgs, env: &Environment) {
    let is_of_project =
        args.command.is_none() && args.source.hooks.is_empty() && args.source.settings.is_empty();
    if args.format == CheckFormat::Human
        && is_of_project
        && let Some(note) = untrusted_note(env)
    {
        streams::remark(&format!("note: {note}\n"));
    }
}

fn empty_event(event: &str) -> Complaint {
    let help = format!(
        "check what writes it; the event's sample is decided by `hookrun test {event} < /dev/null`"
    );
    Complaint::with_cure(
        "there is no event on stdin, only an empty file or pipe",
        help,
    )
}

/// Keeps the hooks that should run, and shows what is wrong with the others.
fn narrow(config: &mut Config, args: &TestArgs, env: &Environment, event: &str) -> Result<()> {
    if let Some(command) = &args.command {
        config.hooks = vec![command_hook(command, args.shell, event, env)?];
        config.problems.clear();
    }
    streams::problems(&config.problems, &Paths::from(&env.cwd));
    pick(config, &args.hook, event)?;
    if !args.hook.is_empty() {
        // To try one hook, other files need no correction: their problems have been shown.
        config.problems.clear();
    }
    Ok(())
}

/// The request of the context on stdin.
fn request_on_stdin(input: Option<&StdinEvent>, args: &TestArgs) -> Result<EventRequest<'static>> {
    match input {
        Some(input) => EventRequest::in_context(&input.context, args.dialect.as_deref(), "test"),
        None => Err(Complaint::with_cure(
            "no event is named, and none is on stdin",
            "name it, and a sample of it is decided: `hookrun test EVENT < /dev/null`",
        )),
    }
}

/// The exit status: without an expectation 0 is allowed and 1 is not; with one 0 is as expected.
fn judge(args: &TestArgs, expected_reason: Option<&Regex>, run: &Run) -> Result {
    let outcome = &run.outcome;
    if let Some(block) = outcome.refusal()
        && block.hook.is_none()
        && block.cause == Cause::Failure
    {
        return Ok(ExitStatus::CouldNot);
    }
    if args.expect.is_none() && expected_reason.is_none() {
        return Ok(if outcome.is_allowed() {
            ExitStatus::Yes
        } else {
            ExitStatus::No
        });
    }
    let mut exit = ExitStatus::Yes;
    let decision = outcome.settled.word();
    if let Some(expected) = &args.expect
        && expected != decision
    {
        streams::remark(&format!(
            "FAILED: expected {expected}, but the decision is {decision}\n"
        ));
        exit = ExitStatus::No;
    }
    let reason = outcome.reason().unwrap_or_default();
    if let Some(expected) = expected_reason
        && !expected.is_match(&reason)
    {
        let miss = format!("expected a reason that matches /{expected}/, but it is `{reason}`");
        streams::remark(&format!("FAILED: {}\n", plain(&miss)));
        exit = ExitStatus::No;
    }
    Ok(exit)
}

fn pick(config: &mut Config, names: &[String], event: &str) -> Result<()> {
    for name in names {
        if config.hooks.iter().any(|hook| hook.is_called(name)) {
            continue;
        }
        let known: Vec<&str> = config.hooks.iter().map(|hook| hook.name.as_str()).collect();
        let unknown = || unknown_hook(name, &known, event);
        return Err(not_loaded(name, config).unwrap_or_else(unknown));
    }
    if !names.is_empty() {
        config
            .hooks
            .retain(|hook| names.iter().any(|name| hook.is_called(name)));
    }
    Ok(())
}

/// A hook out of a command that is not installed. It may rewrite, so that this can be tried too.
fn command_hook(command: &str, is_shell: bool, event: &str, env: &Environment) -> Result<Hook> {
    if command.trim().is_empty() {
        return Err(Complaint::with_cure(
            "the command is empty",
            "write the program to ask",
        ));
    }
    let handler = if is_shell {
        Handler::Shell(command.to_string())
    } else {
        let words = split_command(command).map_err(|fault| {
            let cure = fault.cure.unwrap_or_default();
            Complaint::with_cure(
                fault.cause,
                cure.replace("set `shell = true`", "add --shell"),
            )
        })?;
        Handler::Words {
            words,
            base: env.cwd.clone(),
        }
    };
    let source = HookSource {
        layer: LayerKind::Explicit,
        file: "--command".into(),
        line: None,
        set: None,
    };
    Ok(Hook {
        source,
        rewrite: true,
        ..Hook::new("command", event, handler)
    })
}
