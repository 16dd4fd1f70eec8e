//! Detached events: `run` hands them to `hookrun supervise`, a process that outlives the reply.

use std::ffi::OsString;
use std::path::Path;

use crate::config::Environment;
use crate::decide::{DetachedRun, Door, EventRequest, LoadedHooks, Terms, decide};
use crate::engine::event::Event;
use crate::engine::exec::{Abort, Subreaper};

use crate::cli::args::{RunArgs, SuperviseArgs};
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::input::{self, Deadline};
use crate::cli::streams;
use crate::engine::errand;

/// Starts `hookrun supervise` for an event. False if it cannot.
pub(crate) fn start(event: &Event, args: &RunArgs, env: &Environment) -> bool {
    let Some(own) = env.image() else {
        return false;
    };
    let payload = event.context().to_json();
    errand::hand_over(&own, &arguments(event, args, env), &payload).is_ok()
}

fn arguments(event: &Event, args: &RunArgs, env: &Environment) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["supervise".into(), event.spec().name.as_ref().into()];
    arguments.push(format!("--dialect={}", event.host()).into());
    for folder in &args.source.hooks {
        arguments.push(with_value("--hooks=", folder));
    }
    for file in &args.source.settings {
        arguments.push(with_value("--settings=", file));
    }
    if args.source.discover {
        arguments.push("--discover".into());
    }
    if let Some(jobs) = args.jobs {
        arguments.push(format!("--jobs={jobs}").into());
    }
    for digest in &args.trust {
        arguments.push(format!("--trust={digest}").into());
    }
    if let Some(file) = &args.record {
        arguments.push(with_value("--record=", &env.cwd.join(file)));
    }
    arguments
}

fn with_value(option: &str, value: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}

/// `hookrun supervise EVENT`: the other end of [`start`].
pub(crate) fn supervise(
    args: &SuperviseArgs,
    env: &Environment,
    abort: &Abort,
    subreaper: Option<Subreaper>,
) -> Result {
    let cure = "it is for `hookrun run` only";
    let context = input::needed(Deadline::soon(), Some(abort), "no event on stdin", cure)?;
    let request = EventRequest::new(args.event.as_str(), &args.dialect);
    let choice = args.source.trusting(&args.trust, env, &args.dialect);
    let choice = choice.told_in(&args.dialect, Some(&context));
    let config = request.load(&choice, env);
    let hosted = request.event(&config, context)?;
    let hooks = LoadedHooks::new(config, env, |runner| {
        let runner = runner.with_program(env).one_shot();
        let runner = runner.abort(abort.clone()).subreaper(subreaper);
        match args.jobs {
            Some(jobs) => runner.jobs(jobs),
            None => runner,
        }
    });
    let terms = Terms {
        budget: None,
        abort,
        person: None,
        detached: DetachedRun::Awaited,
        is_watched: false,
        heartbeat: None,
    };
    let decision = decide(hosted, &hooks, &hooks.runner, &terms);
    let unwritten = decision.keep(Door::Command, env, args.record.as_deref());
    if let Some(problem) = unwritten.recording {
        streams::remark(&format!("the event is not recorded: {problem}\n"));
    }
    Ok(ExitStatus::Yes)
}

/// `hookrun keep MARK`: the keeper.
pub(crate) fn keep(mark: &str) -> ExitStatus {
    crate::engine::exec::keeper::keep(std::io::stdin().lock(), mark);
    ExitStatus::Yes
}
