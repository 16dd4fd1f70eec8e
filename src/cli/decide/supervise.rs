//! Detached events: `run` hands them to `hookrun supervise`, a process that outlives the reply.

use std::ffi::OsString;
use std::path::Path;

use crate::config::Environment;
use crate::engine::event::Event;
use crate::engine::exec::Budget;
use crate::engine::run::Run;
use crate::engine::runner::Runner;

use crate::cli::args::{RunArgs, SuperviseArgs};
use crate::cli::decide::input::{self, Deadline};
use crate::cli::decide::keep::{DecisionRecord, KeepSettings};
use crate::cli::decide::request::EventRequest;
use crate::cli::decide::startup::{runner, start_up, trusting_choice};
use crate::cli::errand;
use crate::cli::exit::{ExitStatus, Result};

/// Hands the hooks of a detached event to `hookrun supervise`. If that cannot be started, it waits
/// for the hooks here.
pub(crate) fn hand_over(
    event: &Event,
    runner: &Runner,
    args: &RunArgs,
    env: &Environment,
    budget: Option<Budget>,
) -> Run {
    if !runner.plan(event).is_idle() {
        let arguments = arguments(event, args, env);
        let payload = event.context().to_json();
        let handed = env
            .image()
            .map(|own| errand::hand_over(&own, &arguments, &payload));
        if let Some(Ok(())) = handed {
            return runner.left_to_others(event);
        }
    }
    runner.handle_within(event, budget)
}

fn arguments(event: &Event, args: &RunArgs, env: &Environment) -> Vec<OsString> {
    let with_value = |option: &str, value: &Path| {
        let mut argument = OsString::from(option);
        argument.push(value);
        argument
    };
    let mut arguments: Vec<OsString> = vec!["supervise".into(), event.spec().name.as_ref().into()];
    arguments.push(format!("--dialect={}", event.host()).into());
    arguments.extend(
        args.source
            .hooks
            .iter()
            .map(|folder| with_value("--hooks=", folder)),
    );
    arguments.extend(
        args.source
            .settings
            .iter()
            .map(|file| with_value("--settings=", file)),
    );
    arguments.extend(args.source.discover.then(|| "--discover".into()));
    arguments.extend(args.jobs.map(|jobs| format!("--jobs={jobs}").into()));
    arguments.extend(
        args.trust
            .iter()
            .map(|digest| format!("--trust={digest}").into()),
    );
    let record = args.record.as_ref().map(|file| env.cwd.join(file));
    arguments.extend(record.map(|file| with_value("--record=", &file)));
    arguments
}

/// `hookrun supervise EVENT`: the other end of [`hand_over`].
pub(crate) fn supervise(args: &SuperviseArgs, env: &Environment) -> Result {
    // Out of the host's session, so that its terminal and its end do not reach the hooks.
    let _ = rustix::process::setsid();
    let (abort, subreaper) = start_up()?;
    let cure = "it is for `hookrun run` only";
    let context = input::needed(Deadline::soon(), Some(&abort), "no event on stdin", cure)?;
    let request = EventRequest::new(&args.event, &args.dialect);
    let choice = trusting_choice(&args.source, env, &args.dialect, &args.trust);
    let choice = choice.told_in(&args.dialect, Some(&context));
    let config = request.load(&choice, env);
    let (event, host) = request.event(&config, context)?;
    let settings = KeepSettings::of(&config);
    let mut runner = runner(config, env).abort(abort).subreaper(subreaper);
    if let Some(jobs) = args.jobs {
        runner = runner.jobs(jobs);
    }
    let event = runner.follow_links(event);
    let run = runner.handle_within(&event, None);
    let reply = host.reply(&run.outcome);
    if let Some(kept) = DecisionRecord::decided(event, run, settings) {
        let _ = kept.keep(&reply, env, args.record.as_deref());
    }
    Ok(ExitStatus::Yes)
}

/// `hookrun keep MARK`: the keeper.
pub(crate) fn keep(mark: &str) -> ExitStatus {
    crate::engine::exec::keeper::keep(std::io::stdin().lock(), mark);
    ExitStatus::Yes
}
