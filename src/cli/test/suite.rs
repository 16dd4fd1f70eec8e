//! `hookrun test --suite`: runs test cases, each in separate folders.

mod find;
pub(super) mod load;
mod play;

use std::collections::HashSet;
use std::io::Write;
use std::time::Instant;

use crate::config::{Environment, Problem, Severity};
use crate::engine::complaint::Complaint;
use crate::engine::exec::Abort;
use crate::engine::hook::Hook;
use crate::engine::registry::Registry;
use crate::engine::run::Fate;
use crate::engine::runner::Runner;
use crate::lab::report::plain;
use crate::lab::report::problems::FilesReport;
use crate::lab::report::style::counted;
use crate::lab::report::suite::{CoverageReport, SuiteReport};
use crate::lab::scenario::coverage::{self, Coverage, Who, Witness};
use crate::lab::scenario::{CaseResult, End};

use crate::cli::args::TestArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::problems::problems_of;
use crate::cli::run::{paths, start_up};
use crate::cli::streams;
use crate::cli::test::report_untrusted;
use find::find;
use load::{LoadedCase, LoadedSuite, is_selected, load};
use play::{SuitePlayer, suite_folder};

const MOST_NAMES: usize = 8;

/// Runs the cases: 0 passed, 1 failed, 2 error.
pub(super) fn test(args: &TestArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let (abort, subreaper) = start_up()?;
    let runner = Runner::embedded(Registry::default(), env)
        .with_program(env)
        .rehearsal()
        .one_shot()
        .abort(abort.clone())
        .subreaper(subreaper);
    let paths = args.suite.suite.as_deref().unwrap_or_default();
    let files = find(paths, &args.source, env)?;
    let loaded = load(&files, &args.source, env);
    let exit = play(&loaded, args, env, &runner, &abort, out)?;
    if paths.is_empty() {
        report_untrusted(args, env);
    }
    Ok(abort.signal().map_or(exit, ExitStatus::Signal))
}

/// Runs the selected cases once and reports them; fails if none ran.
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
        streams::remark(&format!(
            "note: skipped {shown}, because it has no `[[case]]` table\n"
        ));
    }
    if !loaded.checks.is_empty() {
        // Run nothing, because an unreadable case might be the one that fails.
        let report = FilesReport::new(loaded.checks.iter().cloned(), &paths);
        args.format.write(&report, out)?;
        let cause = "no case ran; fix these errors first";
        return Err(Complaint::new(cause));
    }
    let cases = loaded.selected(args);
    if let Some(complaint) = loaded.check_selection(&cases) {
        return Err(complaint);
    }
    let vacuous = cases.iter().filter_map(|case| proves_nothing(case));
    streams::problems(vacuous, &paths);
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
    // Failed cases prove nothing about coverage.
    let mut coverage = None;
    if let (Some(least), ExitStatus::Yes) = (args.suite.coverage, exit) {
        let measured = measure(loaded, &cases, &results, args);
        coverage = Some(CoverageReport::new(measured, least, &paths));
    }
    let mut untested: Vec<&Hook> = Vec::new();
    let mut problems: Vec<Problem> = Vec::new();
    if is_whole(&results, args, env) {
        untested = untested_hooks(loaded, &results, args);
        let of_hooks = untested.iter().flat_map(|hook| problems_of(hook, env));
        problems.extend(of_hooks);
        for tested in &loaded.tested {
            problems.extend(tested.config.problems.iter().cloned());
        }
        problems.retain(|problem| problem.severity != Severity::Note);
        problems.sort_by_key(|problem| problem.severity);
        problems.dedup();
    }
    let broken = problems.partition_point(|problem| problem.severity == Severity::Error);
    let broken = problems[..broken].to_vec();
    let mut report = SuiteReport::new(&results, took, broken, coverage, &paths);
    report.is_stopped = abort.times_raised() > 0;
    if exit == ExitStatus::Yes && !report.ok {
        exit = ExitStatus::No;
    }
    args.format.write(&report, out)?;
    streams::problems(&problems, &paths);
    if !untested.is_empty() {
        note_untested(&untested);
    }
    let shown = folder.path().display().to_string();
    if let Err(error) = folder.close() {
        streams::remark(&format!("warning: cannot remove `{shown}`: {error}\n"));
    }
    Ok(exit)
}

/// Warns about a case that passes without hooks, because an event without hooks is allowed.
fn proves_nothing(loaded: &LoadedCase) -> Option<Problem> {
    let case = &loaded.case;
    for step in &case.steps {
        if step.expect.decision() != "allow" || step.expect.hooks("asked").is_some() {
            return None;
        }
    }
    let hooks = loaded.hooks();
    if case.skip.is_some() || hooks.iter().any(|hook| hook.may_run()) {
        return None;
    }
    let event = &case.steps.first()?.event.value;
    let why = if hooks.is_empty() {
        format!("no hook is bound to `{event}`")
    } else {
        format!("every hook for `{event}` is disabled or idle")
    };
    let cause = format!("`{}` proves nothing: {why}", case.name);
    let cure = "add a hook for this event or, if none should run, expect `asked = []`";
    let complaint = Complaint::with_cure(cause, cure);
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

fn measure(
    loaded: &LoadedSuite,
    cases: &[&LoadedCase],
    results: &[CaseResult],
    args: &TestArgs,
) -> Coverage {
    let mut witnesses = Vec::new();
    for (loaded, result) in cases.iter().zip(results) {
        for (step, decided) in loaded.case.steps.iter().zip(&result.steps) {
            if let Some(run) = &decided.run {
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
    coverage
}

/// Whether all cases of the hooks ran.
fn is_whole(results: &[CaseResult], args: &TestArgs, env: &Environment) -> bool {
    let mut paths = args.suite.suite.iter().flatten();
    args.suite.filter.is_none()
        && results.iter().all(|result| result.end != End::NotRun)
        && paths.all(|path| env.cwd.join(path).is_dir())
}

/// The hooks without a case that ran them.
fn untested_hooks<'l>(
    loaded: &'l LoadedSuite,
    results: &[CaseResult],
    args: &TestArgs,
) -> Vec<&'l Hook> {
    let mut seen: HashSet<Who> = HashSet::new();
    for step in results.iter().flat_map(|result| &result.steps) {
        if let Some(run) = &step.run {
            for hook in &run.hooks {
                if matches!(hook.fate, Fate::Ran(_) | Fate::Detached) {
                    seen.insert(Who::in_run(run, hook));
                }
            }
        }
    }
    let mut hooks: Vec<&Hook> = Vec::new();
    for hook in loaded.tested.iter().flat_map(|tested| &tested.config.hooks) {
        let who = Who::of(hook);
        let is_meant = hook.may_run() && hook.source.set.is_none() && is_selected(&who, args);
        if is_meant && seen.insert(who) {
            hooks.push(hook);
        }
    }
    hooks
}

fn note_untested(hooks: &[&Hook]) {
    let mut shown: Vec<&str> = hooks.iter().map(|hook| hook.name.as_str()).collect();
    shown.truncate(MOST_NAMES);
    let more = match hooks.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let count = counted(hooks.len(), "hook");
    let line = format!("no case runs {count}: {}{more}", shown.join(", "));
    streams::remark(&format!("note: {}\n", plain(&line)));
}
