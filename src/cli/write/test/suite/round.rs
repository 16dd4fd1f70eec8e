//! One round: plays cases once and reports them.

use std::io::Write;
use std::time::Instant;

use crate::config::{Environment, Problem, line_of_directive};
use crate::engine::complaint::Complaint;
use crate::engine::exec::Abort;
use crate::engine::runner::Runner;
use crate::lab::report::suite::{CoverageReport, Gap};
use crate::lab::report::{plain, suite as report};
use crate::lab::scenario::coverage::{self, CoveragePart, Witness, can_run};
use crate::lab::scenario::{CaseResult, CaseStep, End, StepResult};

use super::play::SuiteRunner;
use super::progress::SuiteProgress;
use super::selection::{is_chosen, no_cases, unknown_event};
use super::trial::{Asks, CaseTrial, LoadedSuite};
use super::untested::UntestedHooks;
use super::workspace::SuiteFolder;
use crate::cli::args::TestArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::run::paths;
use crate::cli::streams;

/// The command, and what decides all its cases.
pub(super) struct SuiteCommand<'a> {
    pub(super) args: &'a TestArgs,
    pub(super) env: &'a Environment,
    pub(super) runner: Runner,
    pub(super) abort: Abort,
}

/// Reports what is wrong with the files of cases, and what is doubtful.
///
/// # Errors
/// When nothing should be played.
fn check(
    command: &SuiteCommand<'_>,
    loaded: &LoadedSuite,
    trials: &[&CaseTrial],
    out: &mut dyn Write,
) -> Result<()> {
    let args = command.args;
    let paths = paths(args.format.name(), command.env);
    for (path, why) in &loaded.passed_over {
        let shown = plain(&paths.show(path));
        streams::remark(&format!("note: {shown} {why}; skipped\n"));
    }
    if !loaded.checks.is_empty() {
        // Nothing is run: what cannot be read might be what fails.
        args.format.write(loaded.checks.as_slice(), &paths, out)?;
        return Err(Complaint::new(
            "no case was run; correct these errors first",
        ));
    }
    if let Some(failure) = unknown_event(loaded, args) {
        return Err(failure);
    }
    if trials.is_empty() {
        return Err(no_cases(loaded, args));
    }
    streams::problems(trials.iter().filter_map(|trial| doubt(trial)), &paths);
    Ok(())
}

/// Plays `trials` once and reports them; an error if nothing was played.
pub(super) fn round(
    command: &SuiteCommand<'_>,
    loaded: &LoadedSuite,
    trials: &[&CaseTrial],
    out: &mut dyn Write,
) -> Result<(ExitStatus, Vec<CaseResult>)> {
    let SuiteCommand {
        args,
        env,
        runner,
        abort,
    } = command;
    check(command, loaded, trials, out)?;
    let paths = paths(args.format.name(), env);
    let folder = SuiteFolder::make(env)?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = args.suite.jobs.unwrap_or(processors);
    let fail_fast = args.suite.fail_fast;
    let started = Instant::now();
    let mut progress = SuiteProgress::of(trials.len());
    let suite = SuiteRunner {
        runner,
        folder: &folder,
        abort,
        jobs,
        fail_fast,
    };
    let played = suite.play_all(trials, &mut |one| progress.tell(one));
    progress.bar.finish_and_clear();
    let took = started.elapsed();
    let mut exit = judge(&played, fail_fast);
    // A suite with failed cases proves nothing about coverage.
    let coverage = if matches!(exit, ExitStatus::Yes) {
        measure(loaded, trials, &played, args)
    } else {
        None
    };
    let untested = UntestedHooks::find(loaded, &played, args, env);
    let whole = report::Whole {
        played: &played,
        broken: &untested.errors,
        took,
        coverage: coverage.as_ref(),
        is_stopped: abort.times_raised() > 0,
    };
    if matches!(exit, ExitStatus::Yes) && !whole.is_enough() {
        exit = ExitStatus::No;
    }
    args.format.write(&whole, &paths, out)?;
    streams::problems(untested.errors.iter().chain(&untested.warnings), &paths);
    if let Some(line) = untested.line() {
        streams::remark(&format!("note: {}\n", plain(&line)));
    }
    if let Some(left) = folder.close() {
        streams::remark(&format!("warning: {left}\n"));
    }
    Ok((exit, played))
}

/// A warning about a case that passes with any hooks: an event without hooks is allowed.
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
    let cause = format!("`{}` proves nothing: {why}", case.name);
    let complaint = Complaint::with_cure(cause, "bind one; if none must run, expect `asked = []`");
    (is_empty && case.skip.is_none()).then(|| complaint.warning(&trial.file, Some(case.at)))
}

fn judge(played: &[CaseResult], fail_fast: bool) -> ExitStatus {
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

/// The coverage of the hooks under test, if it is wanted: of those that `--hook` and `--event`
/// name, or of all.
fn measure(
    loaded: &LoadedSuite,
    trials: &[&CaseTrial],
    played: &[CaseResult],
    args: &TestArgs,
) -> Option<CoverageReport> {
    if !args.suite.coverage && args.suite.coverage_min.is_none() {
        return None;
    }
    let mut witnesses = Vec::new();
    for (trial, played) in trials.iter().zip(played) {
        for (step, decided) in trial.case.steps.iter().zip(&played.steps) {
            if let StepResult::Run { run, .. } = decided {
                let looks_at_files = !step.expect.files.is_empty();
                witnesses.push(Witness {
                    run,
                    looks_at_files,
                });
            }
        }
    }
    let configs: Vec<_> = loaded.benches.iter().map(|bench| &bench.config).collect();
    let mut coverage = coverage::measure(&configs, &witnesses, &loaded.never);
    coverage
        .parts
        .retain(|part| is_chosen(&part.who, part.is_event, args));
    let gap = |(part, point): (&CoveragePart, &coverage::Point)| Gap {
        who: part.who.clone(),
        is_event: part.is_event,
        line: line(part, &point.name),
        point: point.clone(),
    };
    let gaps = coverage.missing().map(gap).collect();
    Some(CoverageReport {
        coverage,
        gaps,
        least: args.suite.coverage_min,
    })
}

/// Where a point of a hook is configured: in its table, in its directive, or in the whole file.
fn line(part: &CoveragePart, point: &str) -> usize {
    let setting = match point {
        "failed" => "on_failure",
        _ => point.strip_prefix("matched.").unwrap_or(point),
    };
    let of_directive = || line_of_directive(&part.who.file, setting);
    part.who.line.or_else(of_directive).unwrap_or(1)
}
