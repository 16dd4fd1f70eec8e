//! `hookrun test --suite`: cases beside the hooks, each played on a stage of its own.

mod found;
mod load;
mod measure;
mod mutate;
mod play;
mod progress;
mod stage;
mod stillness;
mod watch;

use std::io::Write;
use std::time::Instant;

use crate::config::{Environment, Problem, Severity};
use crate::dialects::DIALECTS;
use crate::engine::event::catalog;
use crate::engine::exec::{Abort, OwnProgram, Subreaper};
use crate::engine::registry::Registry;
use crate::engine::runner::Runner;
use crate::engine::spelling;
use crate::lab::report::{CheckFormat, Paths, plain, problems, suite as report};
use crate::lab::scenario::coverage::can_run;
use crate::lab::scenario::{CaseStep, End, Played};

use crate::cli::args::TestArgs;
use crate::cli::decide::printed::paths;
use crate::cli::decide::startup::start_up;
use crate::cli::decide::unbound::meant;
use crate::cli::exit::{CommandFailure, ExitStatus, Result};
use crate::cli::streams;
use load::{Asks, CaseTrial, Loaded};
use play::Company;
use progress::SuiteProgress;
use stage::Theatre;

/// Plays the cases: 0 all as expected, 1 not, 2 could not.
pub(super) fn test(args: &TestArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let (abort, grounds) = start_up()?;
    let runner = runner(env, &abort, grounds);
    let paths = args.suite.suite.as_deref().unwrap_or_default();
    if args.suite.watch {
        if args.format != CheckFormat::Human {
            let cause =
                format!("--watch is for people, and cannot be --format {}", args.format.name());
            return Err(CommandFailure::with_help(cause, "drop one of them"));
        }
        return watch::watch(args, env, &runner, &abort, out);
    }
    let files = found::find(paths, &args.source, env)?;
    let loaded = load::load(&files, &args.source, env);
    let trials = chosen(&loaded.trials, args);
    let (exit, _) = round(&loaded, &trials, args, env, &runner, &abort, out)?;
    Ok(abort.signal().map_or(exit, ExitStatus::Signal))
}

/// What decides all cases, with every guard that a program of our own can have.
fn runner(env: &Environment, abort: &Abort, grounds: Option<Subreaper>) -> Runner {
    let own = env.image().map(|path| OwnProgram { path, mark: env.run_id.clone() });
    let runner = Runner::embedded(Registry::default(), env);
    runner.program(own).rehearsal().abort(abort.clone()).subreaper(grounds)
}

/// Plays `trials` once and reports them; an error if nothing was played.
fn round(
    loaded: &Loaded,
    trials: &[&CaseTrial],
    args: &TestArgs,
    env: &Environment,
    runner: &Runner,
    abort: &Abort,
    out: &mut dyn Write,
) -> Result<(ExitStatus, Vec<Played>)> {
    let paths = paths(args.format.name(), env);
    for (path, why) in &loaded.passed_over {
        let shown = plain(&paths.show(path));
        streams::remark(&format!("note: {shown} {why}; skipped\n"));
    }
    if !loaded.checks.is_empty() {
        return Err(broken(loaded, args, &paths, out)?);
    }
    if let Some(failure) = unknown_event(loaded, args) {
        return Err(failure);
    }
    if trials.is_empty() {
        return Err(no_cases(loaded, args));
    }
    for problem in trials.iter().filter_map(|trial| doubt(trial)) {
        streams::remark(&format!("{}\n", problems::problem_text(&problem, &paths)));
    }
    let theatre = Theatre::build(env)?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = args.vectors.jobs.unwrap_or(processors);
    let fail_fast = args.suite.fail_fast;
    let started = Instant::now();
    let mut progress = SuiteProgress::of(trials.len());
    let company = Company { runner, theatre: &theatre, abort, jobs, fail_fast };
    let played = company.play_all(trials, &mut |one| progress.tell(one));
    progress.clear();
    let took = started.elapsed();
    let mut exit = judge(&played, fail_fast);
    let (mut coverage, mut mutation) = (None, None);
    // What a case shows that is not as expected is not what it is there to show.
    if matches!(exit, ExitStatus::Yes) {
        coverage = measure::measure(loaded, trials, &played, args);
        mutation = mutate::mutate(&company, trials, &played, args);
    }
    let further = report::Further { coverage: coverage.as_ref(), mutation: mutation.as_ref() };
    if !further.is_good() {
        exit = ExitStatus::No;
    }
    if mutation.as_ref().is_some_and(|mutation| mutation.trouble.is_some()) {
        exit = ExitStatus::CouldNot;
    }
    let whole =
        report::Whole { played: &played, took, further, is_stopped: abort.times_raised() > 0 };
    args.format.write(&whole, &paths, out)?;
    if let Some(left) = theatre.close() {
        streams::remark(&format!("warning: {left}\n"));
    }
    Ok((exit, played))
}

/// What is to be said of a case that is as expected whatever hooks there are: what nobody is asked
/// about is allowed.
fn doubt(trial: &CaseTrial) -> Option<Problem> {
    let case = &trial.case;
    let is_open =
        |step: &CaseStep| step.expect.decision.value == "allow" && step.expect.asked.is_none();
    let asks_nobody = |asks: &Asks| !asks.registry.hooks().iter().any(|hook| can_run(hook));
    let is_empty = case.steps.iter().all(is_open) && trial.asks.iter().all(asks_nobody);
    let (step, asks) = (case.steps.first()?, trial.asks.first()?);
    let event = &step.event.value;
    let why = match asks.registry.hooks().first() {
        Some(hook) => format!("no hook of `{event}` can run, not even `{}`", hook.name),
        None => format!("no hook is bound to `{event}`"),
    };
    (is_empty && case.skip.is_none()).then(|| Problem {
        severity: Severity::Warning,
        file: trial.file.clone(),
        at: Some(case.at),
        cause: format!("`{}` proves nothing: {why}", case.name),
        cure: Some("bind one; if none must run, expect `asked = []`".to_string()),
        events: Vec::new(),
    })
}

/// The exit status of cases that were played.
fn judge(played: &[Played], fail_fast: bool) -> ExitStatus {
    let has = |is: fn(&End) -> bool| played.iter().any(|one| is(&one.end));
    if has(|end| matches!(end, End::CouldNot(_))) {
        return ExitStatus::CouldNot;
    }
    let is_bad = has(|end| matches!(end, End::Unexpected(_)));
    match (is_bad, has(|end| matches!(end, End::NotRun))) {
        (true, _) => ExitStatus::No,
        (false, true) if !fail_fast => ExitStatus::CouldNot,
        (false, _) => ExitStatus::Yes,
    }
}

/// Tells every mistake in every file. Nothing is run: what cannot be read might be what fails.
fn broken(
    loaded: &Loaded,
    args: &TestArgs,
    paths: &Paths,
    out: &mut dyn Write,
) -> Result<CommandFailure> {
    args.format.write(loaded.checks.as_slice(), paths, out)?;
    Ok(CommandFailure::new("no case was run, because not all of them can be read"))
}

/// The cases that the command line asks for.
fn chosen<'t>(trials: &'t [CaseTrial], args: &TestArgs) -> Vec<&'t CaseTrial> {
    let is_chosen = |trial: &&CaseTrial| {
        let is_named =
            args.vectors.filter.as_ref().is_none_or(|filter| filter.is_match(&trial.case.name));
        is_named && is_of_event(trial, &args.suite.events) && may_ask(trial, &args.hook)
    };
    trials.iter().filter(is_chosen).collect()
}

fn is_of_event(trial: &CaseTrial, events: &[String]) -> bool {
    let is_called = |name: &String| {
        let meant = meant_by(name);
        let steps = trial.case.steps.iter().zip(&trial.asks);
        steps.into_iter().any(|(step, asks)| {
            step.event.value.eq_ignore_ascii_case(name)
                || asks.events.iter().any(|event| event.eq_ignore_ascii_case(name))
                || asks.events.iter().any(|event| meant.contains(&event.as_str()))
        })
    };
    events.is_empty() || events.iter().any(is_called)
}

/// The canonical names of what an event may be called: by us, or by any host.
fn meant_by(name: &str) -> Vec<&'static str> {
    let of_hosts = DIALECTS.iter().flat_map(|dialect| dialect.called(name));
    let own = catalog::find(name).map(|spec| spec.name.as_ref());
    of_hosts.map(|binding| binding.row.event).chain(own).collect()
}

/// A name after `--event` that no event has, and so no case: with another name beside it, nobody
/// would miss its cases.
fn unknown_event(loaded: &Loaded, args: &TestArgs) -> Option<CommandFailure> {
    let own = loaded.benches.iter().flat_map(|bench| bench.config.catalog.iter());
    let own: Vec<&str> = own.map(|spec| spec.name.as_ref()).collect();
    let is_known = |name: &str| {
        own.iter().any(|known| known.eq_ignore_ascii_case(name)) || !meant_by(name).is_empty()
    };
    let name = args.suite.events.iter().find(|name| !is_known(name))?;
    let of_hosts = DIALECTS.iter().flat_map(|dialect| dialect.events.iter().map(|row| row.name));
    let help = match spelling::nearest(name, own.into_iter().chain(of_hosts)) {
        Some(nearest) => format!("did you mean `--event {nearest}`?"),
        None => "`hookrun events` lists them".to_string(),
    };
    Some(CommandFailure::with_help(format!("unknown event `{name}`"), help))
}

fn may_ask(trial: &CaseTrial, hooks: &[String]) -> bool {
    let has = |name: &String| {
        trial.asks.iter().any(|asks| asks.registry.hooks().iter().any(|hook| hook.name == *name))
    };
    hooks.is_empty() || hooks.iter().any(has)
}

/// What to say where the filters leave nothing, or there is nothing.
fn no_cases(loaded: &Loaded, args: &TestArgs) -> CommandFailure {
    let all = loaded.trials.len();
    if all == 0 {
        let help = "write a table `[[case]]`; `hookrun man hookrun-suite` describes it";
        return CommandFailure::with_help("there are no cases", help);
    }
    let hooks: Vec<String> = loaded
        .trials
        .iter()
        .flat_map(|trial| trial.asks.iter().flat_map(|asks| asks.registry.hooks()))
        .map(|hook| hook.name.clone())
        .collect();
    let near = args.hook.iter().find_map(|name| {
        let is_known = hooks.contains(name);
        if is_known { None } else { meant(name, hooks.iter().map(String::as_str)) }
    });
    let help = match near {
        Some(nearest) => format!("did you mean `--hook {nearest}`?"),
        None => "check --filter, --hook and --event".to_string(),
    };
    CommandFailure::with_help(format!("none of the {all} cases is chosen"), help)
}
