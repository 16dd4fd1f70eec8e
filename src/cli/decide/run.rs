//! `hookrun run EVENT`: decide. Exit 0 allows, 2 refuses; whatever goes wrong refuses.

use std::cell::Cell;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use crate::config::{Choice, Config, Environment};
use crate::dialects::folders::{self, HostFolders};
use crate::dialects::{self, LATEST, Reply, Wait, native};
use crate::engine::event::catalog::command;
use crate::engine::event::{Context, Event, Schedule};
use crate::engine::exec::{Abort, Budget, Heartbeat, OwnProgram, Subreaper};
use crate::engine::outcome::{Outcome, Settled};
use crate::engine::plan::Plan;
use crate::engine::run::Run;
use crate::engine::runner::{CallClaim, Runner};
use crate::engine::ui::PATIENCE;
use crate::lab::report::json;

use crate::cli::args::{KeepArgs, RunArgs, SourceArgs, SuperviseArgs};
use crate::cli::decide::ask::{self, Person};
use crate::cli::decide::input::{self, Deadline, StdinInput};
use crate::cli::decide::keep::{DecisionRecord, KeepSettings, KeptPlaces};
use crate::cli::decide::printed::{self, PrintedReply, Way};
use crate::cli::decide::progress;
use crate::cli::decide::request::{EventRequest, named_in};
use crate::cli::decide::unbound::SearchedPlaces;
use crate::cli::decide::watchdog::{self, Watchdog};
use crate::cli::errand;
use crate::cli::exit::{CommandFailure, ExitStatus, Result};
use crate::cli::streams;

/// How long hookrun's own work on the largest event may take before the watchdog steps in.
const OWN_WORK: Duration = Duration::from_secs(30);

/// Decides one event. A failure of our own is a refusal: stated, with exit status 2.
pub(crate) fn run(args: &RunArgs, env: &Environment) -> Result {
    if let Some(argument) = args.arguments.first() {
        return Err(CommandFailure::with_help(
            format!("`{}` is one word too many", argument.display()),
            "arguments after the event are for `--host git`; a context comes on stdin",
        ));
    }
    let ground = hold_ground();
    let abort = ground.as_ref().ok().map(|(abort, _)| abort.clone());
    let asked = EventRequest::new(args.event.as_deref().unwrap_or_default(), args.host());
    let time = TimeLimit::start(args, &asked);
    let decided = match (ground, &args.event) {
        (Err(failure), _) => refuse(&asked, &failure),
        (Ok(ground), Some(_)) => decide(&asked, Early { ground, context: None }, args, env, &time),
        (Ok(ground), None) => decide_what_comes(ground, args, env, &time),
    };
    let RunDecision { reply, report, kept, is_needed } = decided;
    if !time.pulse.claim() {
        Watchdog::leave_it_to_it();
    }
    let told = PrintedReply::of(args.format, &reply, report.as_ref());
    let budget = time.budget.get();
    let status = told.say(&Way { watchdog: &time.watchdog, abort, budget, is_needed }, env);
    told.summarise(env);
    if let Some(kept) = kept {
        kept.keep(&reply, &KeptPlaces::of(env, args.record.as_deref()));
    }
    Ok(if status == native::ALLOWED { ExitStatus::Yes } else { ExitStatus::CouldNot })
}

/// What `run` does first, so that from then on nothing ends it without a decision.
pub(crate) fn hold_ground() -> Result<Ground> {
    streams::bound_stderr();
    crate::engine::exec::hold_out();
    start_up()
}

/// Until when what is to be done.
struct TimeLimit {
    started: Instant,
    pulse: Heartbeat,
    watchdog: Watchdog,
    /// Until when everything is to be done, if there is a limit.
    budget: Cell<Option<Budget>>,
}

impl TimeLimit {
    /// The time of a host that has just asked.
    fn start(args: &RunArgs, asked: &EventRequest<'_>) -> TimeLimit {
        let started = Instant::now();
        let pulse = Heartbeat::new(patience(args, asked));
        let mut refusal = asked.refuse(watchdog::REASON);
        if args.event.is_none() && args.dialect.is_none() {
            // Who asks is not known, and words alone refuse in every host.
            refusal.stdout.clear();
        }
        let refusal = printed::last_word(args.format, asked.name(), refusal);
        let (budget, last_word) = limits(args, asked, started);
        let watchdog = Watchdog::start(&pulse, refusal, last_word);
        TimeLimit { started, pulse, watchdog, budget: Cell::new(budget) }
    }

    /// Tells the watchdog which event it is.
    fn is_for(&self, args: &RunArgs, asked: &EventRequest<'_>) {
        let refusal = asked.refuse(watchdog::REASON);
        let refusal = printed::last_word(args.format, asked.name(), refusal);
        let (budget, last_word) = limits(args, asked, self.started);
        self.budget.set(budget);
        self.watchdog.order(refusal, last_word);
    }
}

/// The budget, and when the watchdog has the last word.
fn limits(
    args: &RunArgs,
    asked: &EventRequest<'_>,
    started: Instant,
) -> (Option<Budget>, Option<Instant>) {
    let Some(whole) = whole_budget(args, asked) else { return (None, None) };
    let last_word = match asked.budget() {
        Some(_) => Wait::last_word(whole),
        None => whole.saturating_add(LATEST),
    };
    (Some(Budget::from(started, whole)), started.checked_add(last_word))
}

/// How long everything may take: what was asked for, else what the host leaves.
fn whole_budget(args: &RunArgs, asked: &EventRequest<'_>) -> Option<Duration> {
    args.budget.or_else(|| asked.budget())
}

/// How long the event on stdin is waited for.
fn patience(args: &RunArgs, asked: &EventRequest<'_>) -> Duration {
    let whole = whole_budget(args, asked);
    whole.map_or(args.stdin_timeout, |whole| whole.min(args.stdin_timeout))
}

/// What stops us, and where we sweep.
pub(crate) type Ground = (Abort, Option<Subreaper>);

/// What has been done before it is known which event it is.
struct Early {
    ground: Ground,
    /// The context, if the event had to be looked for in it.
    context: Option<Context>,
}

/// What came out.
struct RunDecision {
    /// What the host gets.
    reply: Reply,
    /// For the formats that are reports.
    report: Option<json::RunReport>,
    /// What is to be kept of it.
    kept: Option<DecisionRecord>,
    /// Whether what it decides is said nowhere but in the reply on stdout.
    is_needed: bool,
}

/// Decides an event that the host's own context names.
fn decide_what_comes(
    ground: Ground,
    args: &RunArgs,
    env: &Environment,
    time: &TimeLimit,
) -> RunDecision {
    let named = || {
        let unknown = EventRequest::new("", args.host());
        let context = read_event(args, &unknown, time, &ground)?;
        let (name, host) = named_in(&context, args.dialect.as_deref(), "run")?;
        Ok((name, host, context))
    };
    let (name, host, context) = match named() {
        Ok(named) => named,
        Err(failure) => {
            let mut refused = refuse(&EventRequest::new("", args.host()), &failure);
            if args.dialect.is_none() {
                // Who asks is not known, and words alone refuse in every host.
                refused.reply.stdout.clear();
            }
            return refused;
        }
    };
    let asked = EventRequest::new(&name, host);
    time.is_for(args, &asked);
    if let Some(other) = asked.gate_of_another() {
        let (host, other) = (asked.host(), other.name);
        let failure = CommandFailure::with_help(
            format!("{host} has no event `{name}`, and {other} has"),
            format!("ask with `--host {other}`"),
        );
        return refuse(&asked, &failure);
    }
    if asked.is_new() && args.require.is_empty() {
        // A new event of a host must not stop the whole host.
        let host = asked.host();
        let stderr = format!("hookrun knows no event `{name}` of {host}, and allowed it\n");
        let reply = Reply { stdout: String::new(), stderr, status: native::ALLOWED };
        return RunDecision { reply, report: None, kept: None, is_needed: false };
    }
    decide(&asked, Early { ground, context: Some(context) }, args, env, time)
}

/// A failure of our own, as a refusal.
fn refuse(asked: &EventRequest<'_>, failure: &CommandFailure) -> RunDecision {
    let reply = asked.refuse(&failure.line());
    let report = json::refusal_report(asked.name(), asked.host(), &failure.line(), &reply);
    let kept = Some(DecisionRecord::refused(report.clone()));
    RunDecision { reply, report: Some(report), kept, is_needed: true }
}

/// The event on stdin.
fn read_event(
    args: &RunArgs,
    asked: &EventRequest<'_>,
    time: &TimeLimit,
    (abort, _): &Ground,
) -> Result<Context> {
    let deadline = Deadline::after(time.started, patience(args, asked));
    match input::read(deadline, Some(abort))? {
        StdinInput::Event { context, .. } => Ok(context),
        StdinInput::Nothing => Err(CommandFailure::with_help(
            "no event on stdin",
            "pipe in its context as one JSON object, `{}` at the least",
        )),
    }
}

/// Decides; a failure of our own refuses.
fn decide(
    asked: &EventRequest<'_>,
    early: Early,
    args: &RunArgs,
    env: &Environment,
    time: &TimeLimit,
) -> RunDecision {
    let decided = try_to_decide(asked, early, args, env, time);
    decided.unwrap_or_else(|failure| refuse(asked, &failure))
}

/// The runner with what the command line and the person at the terminal give it.
fn equipped(runner: Runner, args: &RunArgs, person: Option<&Person>) -> Runner {
    let mut runner = runner.watch(progress::watcher(args.format));
    if let Some(person) = person {
        runner = runner.ui(person.ui());
    }
    match args.jobs {
        Some(jobs) => runner.jobs(jobs),
        None => runner,
    }
}

fn try_to_decide(
    asked: &EventRequest<'_>,
    early: Early,
    args: &RunArgs,
    env: &Environment,
    time: &TimeLimit,
) -> Result<RunDecision> {
    check_depth(env)?;
    let (budget, pulse) = (time.budget.get(), &time.pulse);
    let Early { ground, context } = early;
    let context = match context {
        // Where the hooks are may be told in it.
        None if folders::are_told(asked.host()) => Some(read_event(args, asked, time, &ground)?),
        context => context,
    };
    let choice = choice(&args.source, env, asked.host()).told_in(asked.host(), context.as_ref());
    // Mostly before stdin is read: the host writes the event meanwhile.
    let config = asked.load(&choice, env);
    asked.check(&config)?;
    let context = match context {
        Some(context) => context,
        None => read_event(args, asked, time, &ground)?,
    };
    let (abort, grounds) = ground;
    pulse.expect_within(OWN_WORK);
    let (event, host) = asked.event(&config, context)?;
    let complaint = config.complaint();
    let settings = KeepSettings::of(&config);
    // A gate without a single hook lets everything through.
    let is_bare = config.layers.is_empty() && event.spec().blocks;
    let is_in_order = complaint.is_none();
    let person = Person::find(env);
    let runner = runner(config, env).abort(abort.clone()).subreaper(grounds);
    let runner = equipped(runner.heartbeat(pulse.clone()), args, person.as_ref());
    let sought = SearchedPlaces { choice: &choice, env };
    sought.require(&args.require, runner.registry(), &event.spec().name)?;
    let event = runner.follow_links(event);
    let call = host.call(&event, env);
    let once = call.map_or(CallClaim::Now(None), |call| runner.once(&event, &call, budget));
    let (mut run, claimed) = match once {
        CallClaim::Earlier(run) => (*run, None),
        CallClaim::Now(claimed) if event.spec().schedule == Schedule::Detached => {
            (hand_over(&event, &runner, args, env, budget, is_in_order)?, claimed)
        }
        CallClaim::Now(claimed) => (runner.handle_within(&event, budget), claimed),
    };
    pulse.expect_within(PATIENCE);
    if !host.can_ask() {
        let until = budget.map(|budget| budget.until);
        run = answered(run, &runner, |outcome| {
            ask::settle(outcome, person.as_ref(), until, Some(&abort))
        });
    }
    // Who has told us to stop has not told others.
    if let Some(claimed) = claimed.filter(|_| abort.times_raised() == 0) {
        claimed.tell(&run);
    }
    run.outcome = with_complaint(run.outcome, complaint);
    let mut reply = host.reply(&run.outcome);
    if is_in_order && (printed::is_for_people(args.format) || is_bare && !host.reads_stderr()) {
        reply.stderr.extend(sought.nobody_bound(runner.registry(), &event.spec().name));
    }
    let report = printed::report(args.format, &run, &reply, &runner, env);
    let is_needed = !run.outcome.is_allowed() || !run.outcome.rewrites.is_empty();
    Ok(RunDecision {
        reply,
        report,
        kept: DecisionRecord::decided(event, run, settings),
        is_needed,
    })
}

/// The run with the answer to what it asks, which may be one refusal too many.
fn answered(mut run: Run, runner: &Runner, settle: impl FnOnce(Outcome) -> Outcome) -> Run {
    if matches!(run.outcome.settled, Settled::Asked { .. }) {
        run.outcome = settle(run.outcome);
        runner.keep_from_looping(&mut run);
    }
    run
}

/// How many runs of hookrun may be inside of each other. A hook set can be a hook of another; one
/// that is its own hook would never end.
const DEEPEST: u32 = 8;

/// Whether this run is one too many inside of others.
pub(crate) fn check_depth(env: &Environment) -> Result<()> {
    if env.depth <= DEEPEST {
        return Ok(());
    }
    Err(CommandFailure::with_help(
        format!("hookrun is its own hook: {DEEPEST} runs are inside of each other"),
        "take the hook that runs hookrun with its own settings out of them",
    ))
}

/// What every command that runs hooks does first.
pub(crate) fn start_up() -> Result<Ground> {
    let started = super::startup::start_up();
    started.map_err(|error| CommandFailure::new(format!("cannot handle signals: {error}")))
}

/// Gives the hooks of a detached event to a process of their own, which outlives us.
fn hand_over(
    event: &Event,
    runner: &Runner,
    args: &RunArgs,
    env: &Environment,
    budget: Option<Budget>,
    is_in_order: bool,
) -> Result<Run> {
    let plan: Plan = runner.plan(event);
    if plan.is_idle() || !is_in_order {
        return Ok(runner.handle_within(event, budget));
    }
    let name = event.spec().name.as_ref();
    let mut arguments: Vec<OsString> = vec!["supervise".into(), name.into()];
    arguments.push(format!("--dialect={}", event.host()).into());
    let named = args.source.hooks.iter().map(|folder| ("--hooks=", folder));
    let named = named.chain(args.source.settings.iter().map(|file| ("--settings=", file)));
    for (option, path) in named {
        let mut argument = OsString::from(option);
        argument.push(path);
        arguments.push(argument);
    }
    if args.source.discover {
        arguments.push("--discover".into());
    }
    if let Some(jobs) = args.jobs {
        arguments.push(format!("--jobs={jobs}").into());
    }
    if let Some(file) = &args.record {
        arguments.extend(["--record".into(), env.cwd.join(file).into()]);
    }
    let payload = event.context().to_json();
    let handed = env.image().map(|own| errand::hand_over(&own, &arguments, &payload));
    match handed {
        Some(Ok(())) => Ok(runner.left_to_others(event)),
        // Nobody else can do it, so they are waited for.
        Some(Err(_)) | None => Ok(runner.handle_within(event, budget)),
    }
}

/// `hookrun supervise EVENT`: the other end of [`hand_over`].
pub(crate) fn supervise(args: &SuperviseArgs, env: &Environment) -> Result {
    // Out of the host's session, so that its terminal and its end do not reach the hooks.
    let _ = rustix::process::setsid();
    let (abort, grounds) = start_up()?;
    let deadline = Deadline::after(Instant::now(), Duration::from_secs(5));
    let StdinInput::Event { context, .. } = input::read(deadline, Some(&abort))? else {
        return Err(CommandFailure::new("no event on stdin"));
    };
    let asked = EventRequest::new(&args.event, &args.dialect);
    let choice = choice(&args.source, env, &args.dialect).told_in(&args.dialect, Some(&context));
    let config = asked.load(&choice, env);
    let (event, host) = asked.event(&config, context)?;
    let settings = KeepSettings::of(&config);
    let mut runner = runner(config, env).abort(abort).subreaper(grounds);
    if let Some(jobs) = args.jobs {
        runner = runner.jobs(jobs);
    }
    let event = runner.follow_links(event);
    let run = runner.handle_within(&event, None);
    let reply = host.reply(&run.outcome);
    if let Some(kept) = DecisionRecord::decided(event, run, settings) {
        kept.keep(&reply, &KeptPlaces::of(env, args.record.as_deref()));
    }
    Ok(ExitStatus::Yes)
}

/// The layers that the arguments ask for.
pub(crate) fn choice(source: &SourceArgs, env: &Environment, dialect: &str) -> Choice {
    Choice {
        explicit: source.hooks.clone(),
        settings: source.settings.clone(),
        discover: source.discover,
        host: dialects::find(dialect).and_then(|dialect| folders::of(dialect.name)),
        program: env.image(),
        told: HostFolders { roots: env.projects_of(dialect), cwd: None },
    }
}

/// The event that `name` names.
pub(crate) fn find_event(
    config: &Config,
    name: &str,
) -> Result<std::sync::Arc<crate::engine::event::EventSpec>> {
    config.catalog.find(name).map_err(|unknown| match unknown.nearest {
        // It may be declared where there is a mistake.
        _ if config.has_errors() => {
            let complaint = config.complaint().unwrap_or_default();
            CommandFailure::with_help(format!("unknown event `{name}`"), complaint)
        }
        None if command::name_of(name).is_some() => CommandFailure::with_help(
            format!("unknown command `{name}`"),
            "an executable file in hooks.d/command/ is one, called as the file without its ending",
        ),
        Some(nearest) => CommandFailure::with_help(
            format!("unknown event `{name}`"),
            format!("did you mean `{nearest}`?"),
        ),
        None => {
            let looked = config.layers.iter().map(|layer| layer.folder.display().to_string());
            let looked: Vec<String> = looked.collect();
            let looked = match looked.as_slice() {
                [] => "no hookrun.toml was found".to_string(),
                folders => format!("none of {} does", folders.join(", ")),
            };
            let cure = format!(
                "`hookrun events` lists them; [event.\"{name}\"] in a hookrun.toml declares one, \
                 and {looked}: `--hooks DIR` reads another folder"
            );
            CommandFailure::with_help(format!("unknown event `{name}`"), cure)
        }
    })
}

/// A runner for a configuration, with every guard that a program of our own can have.
pub(crate) fn runner(config: Config, env: &Environment) -> Runner {
    let own = env.image().map(|path| OwnProgram { path, mark: env.run_id.clone() });
    Runner::from_config(config, env).program(own)
}

/// The outcome, with what is wrong with the configuration where the outcome does not say it: an
/// event that goes on all the same must not do so in silence.
pub(crate) fn with_complaint(outcome: Outcome, complaint: Option<String>) -> Outcome {
    let is_told = |complaint: &String| {
        outcome.refusal().is_some_and(|refusal| refusal.reason.contains(complaint))
    };
    match complaint.filter(|complaint| !is_told(complaint)) {
        Some(complaint) => outcome.with_notice(complaint),
        None => outcome,
    }
}

/// `hookrun keep MARK`: the keeper.
pub(crate) fn keep(args: &KeepArgs) -> ExitStatus {
    // Out of the session, so that what ends hookrun's group does not end the keeper.
    let _ = rustix::process::setsid();
    crate::engine::exec::keeper::keep(std::io::stdin().lock(), &args.mark);
    ExitStatus::Yes
}
