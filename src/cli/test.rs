//! `hookrun test EVENT`: decides like `run` and shows every detail; without EVENT it runs the
//! suite.

mod suite;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::config::{Config, Environment};
use crate::decide::request::reply_to;
use crate::decide::{EventRequest, LoadedHooks, with_complaint};
use crate::engine::complaint::Complaint;
use crate::engine::event::Context;
use crate::engine::exec::Budget;
use crate::engine::run::Run;
use crate::hosts::signs::{self, RecognisedEvent};
use crate::lab::report::human::About;
use crate::lab::report::{CheckFormat, Paths, human, write_json};
use crate::lab::scenario::own_failure;
use crate::log::report::run_report;

use crate::cli::args::TestArgs;
use crate::cli::exit::{ExitStatus, Result, failed};
use crate::cli::input;
use crate::cli::problems::not_loaded;
use crate::cli::run::start_up;
use crate::cli::streams;
use crate::cli::terminal::Terminal;
use crate::cli::trust::untrusted_note;
use suite::load::unknown_hook;

pub(crate) fn test(args: &TestArgs, env: &Environment, out: &mut dyn Write) -> Result {
    if args.suite.are_given() {
        return suite::test(args, env, out);
    }
    open_file(args, env)?;
    let is_one_event = args.event.is_some()
        || args.dialect.is_some()
        || args.budget.is_some()
        || input::is_coming(Budget::from(Instant::now(), args.stdin_timeout));
    if !is_one_event {
        // Many CI systems use an empty pipe.
        if input::promises_event() {
            streams::remark("note: stdin is empty, so this runs the suite\n");
        }
        return suite::test(args, env, out);
    }
    if args.format.is_of_lists() {
        let format = args.format.name();
        return Err(Complaint::with_cure(
            format!("`--format {format}` is only for a suite"),
            format!("use --format json, or `hookrun test --suite --format {format}`"),
        ));
    }
    test_one(args, env, out)
}

fn test_one(args: &TestArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let (abort, grounds) = start_up()?;
    let deadline = Budget::from(Instant::now(), args.stdin_timeout);
    let context = input::read(deadline, Some(&abort))?;
    let request = match args.event_name() {
        Some(name) => EventRequest::new(name, args.host()),
        None => request_on_stdin(context.as_ref(), args)?,
    };
    let choice = args.source.choice(env, request.host());
    let choice = choice.with_folders_of(request.host(), context.as_ref());
    let mut config = request.load(&choice, env);
    request.check(&config)?;
    let paths = Paths::from(&env.cwd);
    let (hosted, origin) = match context {
        Some(context) => {
            let from = args.event_file().unwrap_or(Path::new("stdin"));
            let hosted = request.event(&config, context)?;
            (hosted, from.display().to_string())
        }
        // An earlier step that failed to write the event must not look like an allowed one.
        None if input::promises_event() => {
            let name = &request.name;
            let cause = match args.event_file() {
                Some(file) => format!("`{}` is empty", file.display()),
                None => "stdin is an empty file or pipe".to_string(),
            };
            let option = args.dialect.as_ref().map(|host| format!(" --host {host}"));
            let option = option.unwrap_or_default();
            let help = format!(
                "check the program that writes the event; to use the event's sample, run `hookrun test {name}{option} < /dev/null`"
            );
            return Err(Complaint::with_cure(cause, help));
        }
        None => {
            let sample = request.sample(&config, &env.cwd)?;
            let origin = "nothing on stdin, so this is the event's sample";
            (sample, origin.to_string())
        }
    };
    let event = hosted.event;
    let name = &event.spec().name;
    streams::problems(&config.problems, &paths);
    if !args.hook.is_empty() {
        pick(&mut config, &args.hook, name)?;
        // Problems of other files, printed already, do not matter for one hook.
        config.problems.clear();
    }
    let ui = Terminal::ui();
    let hooks = LoadedHooks::new(config, env, |runner| {
        let runner = runner.with_program(env).one_shot().rehearsal();
        let runner = runner.abort(abort.clone()).subreaper(grounds);
        match ui {
            Some(ui) => runner.ui(ui),
            None => runner,
        }
    });
    let budget = args.budget.or(request.budget());
    let budget = budget.map(|whole| Budget::from(Instant::now(), whole));
    let event = hooks.runner.follow_links(event);
    let mut run = hooks.runner.handle_within(&event, budget);
    run.outcome = with_complaint(run.outcome, hooks.config.complaint());
    let reply = reply_to(hosted.binding, &run.outcome);
    let report = run_report(&run, &reply, &paths);
    if args.format == CheckFormat::Human {
        let about = About {
            summary: &event.spec().summary,
            context: Some(event.context()),
            origin: vec![("event", origin)],
        };
        human::run(&report, &about, &paths, out)?;
        let hint = hooks.hint_of_none(&event.spec().name);
        streams::remark(&hint.unwrap_or_default());
        report_untrusted(args, env);
    } else {
        write_json(&report, out)?;
    }
    if let Some(signal) = abort.signal() {
        return Ok(ExitStatus::Signal(signal));
    }
    Ok(exit_of(&run))
}

/// Notes that `run` would block, if the project's hooks are untrusted.
fn report_untrusted(args: &TestArgs, env: &Environment) {
    let is_of_project = args.source.hooks.is_empty() && args.source.settings.is_empty();
    if args.format == CheckFormat::Human
        && is_of_project
        && let Some(note) = untrusted_note(env)
    {
        streams::remark(&format!("note: {note}\n"));
    }
}

/// Finds the event and its host by the context, and prints them unless it is in the named format, or
/// without one in the native format.
fn request_on_stdin(context: Option<&Context>, args: &TestArgs) -> Result<EventRequest<'static>> {
    let Some(context) = context else {
        let cause = match args.event_file() {
            Some(file) => format!("no event given, and `{}` is empty", file.display()),
            None => "no event given, and nothing on stdin".to_string(),
        };
        return Err(Complaint::with_cure(
            cause,
            "to use an event's sample, run `hookrun test EVENT < /dev/null`",
        ));
    };
    let host = args.dialect.as_deref();
    let certain = EventRequest::in_context(context, host, "test");
    let guess = signs::guess(context).filter(|_| host.is_none());
    let request = match (certain, guess) {
        (Ok(certain), _) if certain.host() == args.host() => return Ok(certain),
        (Err(_), Some(RecognisedEvent { dialect, event })) => EventRequest::new(event, dialect),
        (certain, _) => certain?,
    };
    let EventRequest { name, .. } = &request;
    let host = request.host();
    streams::remark(&format!(
        "note: testing this as the {host} event `{name}`; `--host` and EVENT override that\n"
    ));
    Ok(request)
}

/// Reopens stdin from the event's file on the command line.
fn open_file(args: &TestArgs, env: &Environment) -> Result<()> {
    let Some(file) = args.event_file() else {
        return Ok(());
    };
    let opened = File::open(env.cwd.join(file));
    let stdin = opened.and_then(|file| Ok(rustix::stdio::dup2_stdin(file)?));
    stdin.map_err(failed(format!("cannot read `{}`", file.display())))
}

/// 0 allowed, 1 blocked or asked, 2 hookrun failed.
fn exit_of(run: &Run) -> ExitStatus {
    if own_failure(&run.outcome).is_some() {
        return ExitStatus::CouldNot;
    }
    ExitStatus::yes_if(run.outcome.is_allowed())
}

fn pick(config: &mut Config, names: &[String], event: &str) -> Result<()> {
    for name in names {
        if config.hooks.iter().any(|hook| hook.is_called(name)) {
            continue;
        }
        let known: Vec<&str> = config.hooks.iter().map(|hook| hook.name.as_str()).collect();
        return Err(not_loaded(name, config).unwrap_or_else(|| unknown_hook(name, &known, event)));
    }
    let hooks = &mut config.hooks;
    hooks.retain(|hook| names.iter().any(|name| hook.is_called(name)));
    Ok(())
}
