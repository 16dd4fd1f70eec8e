//! `hookrun test --suite`: the cases of hooks, each in its own folders.

mod find;
pub(super) mod load;
mod play;

use std::collections::HashSet;
use std::io::Write;
use std::time::Instant;

use crate::config::{Environment, Problem, Severity, line_of_directive};
use crate::engine::complaint::Complaint;
use crate::engine::exec::{Abort, OwnProgram, Subreaper};
use crate::engine::registry::Registry;
use crate::engine::run::Fate;
use crate::engine::runner::Runner;
use crate::lab::report::style::counted;
use crate::lab::report::suite::{CoverageReport, Gap};
use crate::lab::report::{plain, suite as report};
use crate::lab::scenario::coverage::{self, CoveragePart, Who, Witness};
use crate::lab::scenario::{CaseResult, End, StepResult};

use crate::cli::args::TestArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::problems::problems_of;
use crate::cli::run::{paths, start_up};
use crate::cli::streams;
use crate::cli::test::tell_untrusted;
use find::find;
use load::{LoadedCase, LoadedSuite, is_selected, load};
use play::{SuitePlayer, suite_folder};

/// More names are not listed.
const MOST_NAMES: usize = 8;

/// Plays the cases: 0 all as expected, 1 not, 2 could not.
pub(super) fn test(args: &TestArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let (abort, subreaper) = start_up()?;
    let runner = runner(env, &abort, subreaper);
    let paths = args.suite.suite.as_deref().unwrap_or_default();
    let files = find(paths, &args.source, env)?;
    let loaded = load(&files, &args.source, env);
    let exit = play(&loaded, args, env, &runner, &abort, out)?;
    if paths.is_empty() {
        tell_untrusted(args, env);
    }
    Ok(abort.signal().map_or(exit, ExitStatus::Signal))
}

/// What decides all cases, with every guard that hookrun's own program has.
fn runner(env: &Environment, abort: &Abort, subreaper: Option<Subreaper>) -> Runner {
    let own = env.image().map(|path| OwnProgram {
        path,
        mark: env.run_id.clone(),
    });
    let runner = Runner::embedded(Registry::default(), env);
    runner
        .program(own)
        .rehearsal()
        .one_shot()
        .abort(abort.clone())
        .subreaper(subreaper)
}

/// Plays the selected cases once and reports them; an error if nothing was played.
fn play(
    loaded: &LoadedSuite,
    args: &TestArgs,
    env: &Environment,
    runner: &Runner,
    abort: &Abort,
    out: &mut dyn Write,
) -> Result {
    let paths = paths(args.format, env);
    for file in &loaded.skipped {
        let shown = plain(&paths.show(file));
        streams::remark(&format!("note: {shown} has no [[case]]; skipped\n"));
    }
    if !loaded.checks.is_empty() {
        // Nothing is run: what cannot be read might be what fails.
        args.format.write(loaded.checks.as_slice(), &paths, out)?;
        let cause = "no case was run; correct these errors first";
        return Err(Complaint::new(cause));
    }
    let cases = loaded.selected(args);
    if let Some(complaint) = loaded.check_selection(&cases, args) {
        return Err(complaint);
    }
    let vacuous: Vec<Problem> = cases
        .iter()
        .filter_map(|case| proves_nothing(case))
        .collect();
    streams::problems(&vacuous, &paths);
    let folder = suite_folder(env)?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let started = Instant::now();
    let player = SuitePlayer {
        runner,
        abort,
        env,
        root: folder.path(),
        jobs: args.suite.jobs.unwrap_or(processors),
    };
    let results = player.play_all(&cases);
    let took = started.elapsed();
    let mut exit = judge(&results);
    // A suite with failed cases proves nothing about coverage.
    let wants_coverage = args.suite.coverage || args.suite.coverage_min.is_some();
    let coverage = if wants_coverage && exit == ExitStatus::Yes {
        Some(measure(loaded, &cases, &results, args))
    } else {
        None
    };
    let untested = UntestedHooks::find(loaded, &results, args, env);
    let whole = report::Whole {
        played: &results,
        broken: &untested.errors,
        took,
        coverage: coverage.as_ref(),
        is_stopped: abort.times_raised() > 0,
    };
    if exit == ExitStatus::Yes && !whole.is_enough() {
        exit = ExitStatus::No;
    }
    args.format.write(&whole, &paths, out)?;
    streams::problems(untested.errors.iter().chain(&untested.warnings), &paths);
    if let Some(line) = untested.line() {
        streams::remark(&format!("note: {}\n", plain(&line)));
    }
    let shown = folder.path().display().to_string();
    if let Err(error) = folder.close() {
        streams::remark(&format!("warning: cannot remove `{shown}`: {error}\n"));
    }
    Ok(exit)
}

/// A warning about a case that passes with any hooks: an event without hooks is allowed.
fn proves_nothing(loaded: &LoadedCase) -> Option<Problem> {
    let case = &loaded.case;
    for step in &case.steps {
        if step.expect.decision.value != "allow" || step.expect.asked.is_some() {
            return None;
        }
    }
    let hooks: Vec<_> = loaded
        .step_hooks
        .iter()
        .flat_map(|step| step.registry.hooks())
        .collect();
    if case.skip.is_some() || hooks.iter().any(|hook| hook.may_run()) {
        return None;
    }
    let event = &case.steps.first()?.event.value;
    let why = match hooks.first() {
        Some(hook) => format!("no hook of `{event}` can run, not even `{}`", hook.name),
        None => format!("no hook is bound to `{event}`"),
    };
    let cause = format!("`{}` proves nothing: {why}", case.name);
    let complaint =
        Complaint::with_cure(cause, "bind a hook; if none must run, expect `asked = []`");
    Some(complaint.warning(&loaded.file, Some(case.at)))
}

fn judge(results: &[CaseResult]) -> ExitStatus {
    let mut exit = ExitStatus::Yes;
    for result in results {
        match result.end {
            End::CouldNot(_) => return ExitStatus::CouldNot,
            End::Unexpected(_) => exit = ExitStatus::No,
            End::NotRun if exit == ExitStatus::Yes => exit = ExitStatus::CouldNot,
            End::NotRun | End::Expected | End::Skipped(_) => {}
        }
    }
    exit
}

/// The coverage of the hooks that `--hook` and `--event` select.
fn measure(
    loaded: &LoadedSuite,
    cases: &[&LoadedCase],
    results: &[CaseResult],
    args: &TestArgs,
) -> CoverageReport {
    let mut witnesses = Vec::new();
    for (loaded, result) in cases.iter().zip(results) {
        for (step, decided) in loaded.case.steps.iter().zip(&result.steps) {
            if let StepResult::Run { run, .. } = decided {
                witnesses.push(Witness {
                    run,
                    looks_at_files: !step.expect.files.is_empty(),
                });
            }
        }
    }
    let configs: Vec<_> = loaded.tested.iter().map(|tested| &tested.config).collect();
    let mut coverage = coverage::measure(&configs, &witnesses);
    coverage.parts.retain(|part| is_selected(&part.who, args));
    let mut gaps = Vec::new();
    for (part, point) in coverage.missing() {
        gaps.push(Gap {
            who: part.who.clone(),
            line: line(part, &point.name),
            point: point.clone(),
        });
    }
    CoverageReport {
        coverage,
        gaps,
        least: args.suite.coverage_min,
    }
}

/// Where a point of a hook is configured: in its table, in its directive, or in the whole file.
fn line(part: &CoveragePart, point: &str) -> usize {
    if let Some(line) = part.who.line {
        return line;
    }
    let setting = match point {
        "failed" => "on_failure",
        _ => point.strip_prefix("matched.").unwrap_or(point),
    };
    line_of_directive(&part.who.file, setting).unwrap_or(1)
}

/// The hooks that no case ran, and what is wrong with them.
#[derive(Debug, Default)]
struct UntestedHooks {
    /// The reasons why hooks cannot run.
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
    names: Vec<String>,
}

impl UntestedHooks {
    /// Nothing if only some cases were played.
    fn find(
        loaded: &LoadedSuite,
        results: &[CaseResult],
        args: &TestArgs,
        env: &Environment,
    ) -> UntestedHooks {
        let mut untested = UntestedHooks::default();
        let named = args.suite.suite.as_deref().unwrap_or_default();
        let is_part = args.suite.filter.is_some()
            || results.iter().any(|result| result.end == End::NotRun)
            || !named.iter().all(|path| env.cwd.join(path).is_dir());
        if is_part {
            return untested;
        }
        let mut seen: HashSet<Who> = HashSet::new();
        for step in results.iter().flat_map(|result| &result.steps) {
            if let StepResult::Run { run, .. } = step {
                for hook in &run.hooks {
                    if matches!(hook.fate, Fate::Ran(_) | Fate::Detached) {
                        seen.insert(Who::in_run(run, hook));
                    }
                }
            }
        }
        let configs = loaded.tested.iter().map(|tested| &tested.config);
        for hook in configs.clone().flat_map(|config| &config.hooks) {
            let who = Who::of(hook);
            let is_meant = hook.may_run() && hook.source.set.is_none() && is_selected(&who, args);
            if is_meant && seen.insert(who) {
                untested.add(problems_of(hook, env));
                untested.names.push(hook.name.clone());
            }
        }
        for config in configs {
            untested.add(config.problems.clone());
        }
        untested
    }

    fn add(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            let list = match problem.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
                Severity::Note => continue,
            };
            if !list.contains(&problem) {
                list.push(problem);
            }
        }
    }

    /// One line about the hooks without a case.
    fn line(&self) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let count = counted(self.names.len(), "hook");
        let have = if self.names.len() == 1 { "has" } else { "have" };
        let shown = self.names[..self.names.len().min(MOST_NAMES)].join(", ");
        let more = match self.names.len().saturating_sub(MOST_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("{count} {have} no case: {shown}{more}"))
    }
}
