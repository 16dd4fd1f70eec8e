//! `hookrun run EVENT`: decide. Exit 0 allows, 2 blocks; anything that goes wrong blocks.

use std::time::Duration;

use crate::config::{Config, Environment};
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, Schedule};
use crate::engine::runner::Runner;
use crate::engine::ui::PATIENCE;
use crate::hosts::{LATEST, Reply, Wait, folders};
use crate::log::report::refusal_report;

use crate::cli::args::RunArgs;
use crate::cli::decide::ask::Person;
use crate::cli::decide::decision::{AskedEvent, EventNotes};
#[cfg(feature = "serve")]
use crate::cli::decide::helper::Helper;
use crate::cli::decide::input;
use crate::cli::decide::keep::{DecisionRecord, KeepSettings};
use crate::cli::decide::printed::{self, RunDecision};
use crate::cli::decide::progress;
use crate::cli::decide::request::{EventRequest, named_in};
use crate::cli::decide::startup::{self, Ground, check_depth, hold_ground, trusting_choice};
use crate::cli::decide::supervise::hand_over;
use crate::cli::decide::unbound::SearchedPlaces;
use crate::cli::decide::watchdog::{self, AnswerBy, LastWord, TimeLimit};
use crate::cli::exit::{ExitStatus, Result};

/// How long hookrun's own work on the largest event may take before the watchdog steps in.
const OWN_WORK: Duration = Duration::from_secs(30);

/// Decides one event. If hookrun itself fails, the event is blocked with that reason.
pub(crate) fn run(args: &RunArgs, env: &Environment) -> Result {
    if let Some(argument) = args.arguments.first() {
        return Err(Complaint::with_cure(
            format!("`{}` is one word too many", argument.display()),
            "arguments after the event are for `--host git`; a context comes on stdin",
        ));
    }
    let ground = hold_ground();
    let abort = ground.as_ref().ok().map(|(abort, _)| abort.clone());
    let request = EventRequest::new(args.event.as_deref().unwrap_or_default(), args.host());
    let by = answer_by(args, &request);
    let time = TimeLimit::start(args.stdin_timeout, last_word(args, &request), by);
    #[cfg(feature = "serve")]
    let helper = Helper::new(args, env, &time.heartbeat);
    let run = RunRequest {
        args,
        env,
        time: &time,
        #[cfg(feature = "serve")]
        helper: &helper,
    };
    let decided = match ground {
        Err(failure) => refuse(args, &request, &failure),
        Ok(ground) if args.event.is_some() => run.decide(&request, ground, None),
        Ok(ground) => run.decide_what_comes(ground),
    };
    let is_allowed = decided.give(args, env, &time, abort.as_ref());
    #[cfg(feature = "serve")]
    helper.start_if_missing();
    Ok(if is_allowed {
        ExitStatus::Yes
    } else {
        ExitStatus::CouldNot
    })
}

/// How long everything may take: `--budget`, else what the host leaves.
fn answer_by(args: &RunArgs, request: &EventRequest<'_>) -> Option<AnswerBy> {
    let of_host = request.budget();
    let budget = args.budget.or(of_host)?;
    let last_word = match of_host {
        Some(_) => Wait::last_word(budget),
        None => budget.saturating_add(LATEST),
    };
    Some(AnswerBy { budget, last_word })
}

fn last_word(args: &RunArgs, request: &EventRequest<'_>) -> LastWord {
    let (format, is_unknown) = (args.format, is_unknown(args, request));
    let (name, host) = (request.name.to_string(), request.host());
    Box::new(move || {
        let refusal = refusal(
            is_unknown,
            &EventRequest::new(&name, host),
            watchdog::REASON,
        );
        printed::last_word(format, &name, refusal)
    })
}

/// Whether not even the host is known.
fn is_unknown(args: &RunArgs, request: &EventRequest<'_>) -> bool {
    args.event.is_none() && args.dialect.is_none() && request.name.is_empty()
}

/// The reply that blocks for a reason of hookrun's own.
fn refusal(is_unknown: bool, request: &EventRequest<'_>, reason: &str) -> Reply {
    let mut reply = request.refuse(reason);
    if is_unknown {
        // Text on stderr blocks in every host.
        reply.stdout.clear();
    }
    reply
}

/// Blocks, because hookrun itself failed.
fn refuse(args: &RunArgs, request: &EventRequest<'_>, failure: &Complaint) -> RunDecision {
    let reason = failure.to_string();
    let report = {
        let reply = request.refuse(&reason);
        refusal_report(request.name, request.host(), &reason, &reply)
    };
    RunDecision::refused(refusal(is_unknown(args, request), request, &reason), report)
}

struct RunRequest<'a> {
    args: &'a RunArgs,
    env: &'a Environment,
    time: &'a TimeLimit,
    #[cfg(feature = "serve")]
    helper: &'a Helper<'a>,
}

impl RunRequest<'_> {
    /// Decides an event that the host's own context names.
    fn decide_what_comes(&self, ground: Ground) -> RunDecision {
        let args = self.args;
        let named = self.read_event(&ground).and_then(|context| {
            let (name, host) = named_in(&context, args.dialect.as_deref(), "run")?;
            Ok((name, host, context))
        });
        let (name, host, context) = match named {
            Ok(named) => named,
            Err(failure) => return refuse(args, &EventRequest::new("", args.host()), &failure),
        };
        let request = EventRequest::new(&name, host);
        self.time
            .change(last_word(args, &request), answer_by(args, &request));
        if let Some(failure) = request.wrong_host() {
            return refuse(args, &request, &failure);
        }
        if let Some(reply) = request.reply_to_new().filter(|_| args.require.is_empty()) {
            return RunDecision {
                reply,
                report: None,
                kept: None,
                is_needed: false,
            };
        }
        self.decide(&request, ground, Some(context))
    }

    fn read_event(&self, (abort, _): &Ground) -> Result<Context> {
        let cure = "pipe in its context as one JSON object, `{}` at the least";
        input::needed(self.time.stdin, Some(abort), "no event on stdin", cure)
    }

    /// Decides; a failure of hookrun itself blocks. `context` is `None` if it is not read yet.
    fn decide(
        &self,
        request: &EventRequest<'_>,
        ground: Ground,
        context: Option<Context>,
    ) -> RunDecision {
        let decided = self.try_to_decide(request, ground, context);
        decided.unwrap_or_else(|failure| refuse(self.args, request, &failure))
    }

    fn try_to_decide(
        &self,
        request: &EventRequest<'_>,
        ground: Ground,
        context: Option<Context>,
    ) -> Result<RunDecision> {
        let (args, env, budget) = (self.args, self.env, self.time.budget());
        check_depth(env)?;
        let context = match context {
            // It may say where the hooks are.
            None if folders::are_told(request.host()) => Some(self.read_event(&ground)?),
            context => context,
        };
        let choice = trusting_choice(&args.source, env, request.host(), &args.trust);
        let choice = choice.told_in(request.host(), context.as_ref());
        // Mostly before stdin is read: the host writes the event meanwhile.
        let config = request.load(&choice, env);
        request.check(&config)?;
        let context = context.map_or_else(|| self.read_event(&ground), Ok)?;
        self.time.heartbeat.expect_within(OWN_WORK);
        #[cfg(feature = "serve")]
        let asked = self.helper.question(&config, &context);
        let (event, host) = request.event(&config, context)?;
        let notes = EventNotes::of(&config, &event);
        let settings = KeepSettings::of(&config);
        let person = Person::find(env);
        #[cfg(feature = "serve")]
        if let Some(decided) = self.helper.decide(asked, &event, budget, &ground.0) {
            return decided;
        }
        let abort = ground.0.clone();
        let runner = runner(config, ground, self.time, args, env, person.as_ref());
        let searched = SearchedPlaces {
            choice: &choice,
            env,
        };
        searched.require(&args.require, runner.registry(), &event.spec().name)?;
        let event = runner.follow_links(event);
        let asked = AskedEvent {
            event: &event,
            host,
            notes: &notes,
            runner: &runner,
            person: person.as_ref(),
            budget,
            abort: &abort,
        };
        let handle = || match event.spec().schedule {
            Schedule::Detached if notes.is_in_order() => {
                hand_over(&event, &runner, args, env, budget)
            }
            Schedule::Detached | Schedule::Sequential | Schedule::Parallel => {
                runner.handle_within(&event, budget)
            }
        };
        let run = asked.decide(handle, || self.time.heartbeat.expect_within(PATIENCE));
        let mut reply = host.reply(&run.outcome);
        let is_seen = printed::is_for_people(args.format) && notes.is_in_order();
        if is_seen || notes.says_nobody_bound(host) {
            let name = &event.spec().name;
            reply
                .stderr
                .extend(searched.nobody_bound(runner.registry(), name));
        }
        let report = printed::report(args.format, &run, &reply, &runner, env);
        let is_needed = !run.outcome.is_allowed() || !run.outcome.rewrites.is_empty();
        let kept = DecisionRecord::decided(event, run, settings);
        Ok(RunDecision {
            reply,
            report,
            kept,
            is_needed,
        })
    }
}

/// The runner with what the command line and the person at the terminal give it.
pub(crate) fn runner(
    config: Config,
    (abort, subreaper): Ground,
    time: &TimeLimit,
    args: &RunArgs,
    env: &Environment,
    person: Option<&Person>,
) -> Runner {
    let runner = startup::runner(config, env)
        .abort(abort)
        .subreaper(subreaper)
        .heartbeat(time.heartbeat.clone());
    let mut runner = runner.watch(progress::watcher(args.format));
    if let Some(person) = person {
        runner = runner.ui(person.ui());
    }
    match args.jobs {
        Some(jobs) => runner.jobs(jobs),
        None => runner,
    }
}
