//! `--warm-differs` and `--profile`: plays the cases cold and warm.
//!
//! One after the other and in the same folders, so that nothing but the start differs, and so that
//! one interpreter serves them all.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::engine::event::catalog::Catalog;
use crate::engine::exec::{command, interpreter_words};
use crate::engine::hook::{Handler, Hook, Warm};
use crate::engine::registry::Registry;
use crate::engine::run::{ColdReason, Fate, ProcessStart, Trace};
use crate::lab::report::Paths;
use crate::lab::report::warm::{
    HookProfile, ProbeReport, ProfileReport, WarmCase, WarmEnd, WarmReport,
};
use crate::lab::scenario::coverage::{Who, can_run};
use crate::lab::scenario::warm::{
    Difference, NEIGHBOUR, PROBE_CASE, STATE, SeenCase, endings, is_known,
};
use crate::lab::scenario::{self, Case, CaseResult, End, StepResult};
use crate::log::report::run_report;

use super::play::{SuiteRunner, ended_early};
use super::progress::SuiteProgress;
use super::round::SuiteCommand;
use super::trial::{Asks, Bench, CaseTrial};
use super::workspace::{CaseDirs, SuiteFolder};
use crate::cli::decide::printed::paths;
use crate::cli::exit::{ExitStatus, Result, failed};

/// How long a first interpreter may take to get ready. Only a fault takes so long.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// How often `--profile` plays each case cold, and as often warm.
const ROUNDS: usize = 3;

/// Plays the cases cold and warm, and compares (`--warm-differs`) or measures (`--profile`).
pub(super) fn play(
    command: &SuiteCommand<'_>,
    trials: &[&CaseTrial],
    out: &mut dyn Write,
) -> Result<ExitStatus> {
    let paths = paths(command.args.format.name(), command.env);
    let folder = SuiteFolder::make(command.env)?;
    let player = WarmPlayer::new(command, &folder, &paths);
    match command.args.suite.warm_differs {
        Some(_) => differs(command, trials, player, out),
        None => profile(command, trials, player, out),
    }
}

/// Compares: 0 all is the same, 1 not, 2 could not.
fn differs(
    command: &SuiteCommand<'_>,
    trials: &[&CaseTrial],
    mut player: WarmPlayer<'_>,
    out: &mut dyn Write,
) -> Result<ExitStatus> {
    let started = Instant::now();
    let starts = player.starts(trials);
    let progress = SuiteProgress::of(trials.len() + starts.len());
    let mut report = WarmReport::default();
    for trial in trials {
        let compared = player.compare(trial);
        report.cold.extend(
            compared
                .warm
                .starts()
                .filter_map(|(who, start)| match start {
                    ProcessStart::Cold(reason) => Some((who, reason)),
                    ProcessStart::Warm => None,
                }),
        );
        let (file, name) = (trial.file.clone(), trial.case.name.clone());
        report.cases.push(WarmCase {
            file,
            line: trial.case.at.line,
            name,
            end: compared.end(),
        });
        progress.bar.inc(1);
    }
    let scripts = scripts(command).map_err(failed("the scripts of probes cannot be written"))?;
    for (place, start) in starts.iter().enumerate() {
        let is_first = starts[..place]
            .iter()
            .all(|other| other.words[0] != start.words[0]);
        report
            .probes
            .extend(player.probe(start, scripts.path(), is_first));
        progress.bar.inc(1);
    }
    progress.bar.finish_and_clear();
    report.took = started.elapsed();
    command.args.format.write(&report, player.paths, out)?;
    Ok(match (report.is_same(), report.is_incomplete()) {
        (false, _) => ExitStatus::No,
        (true, true) => ExitStatus::CouldNot,
        (true, false) => ExitStatus::Yes,
    })
}

/// Measures how long each hook takes, cold and warm.
fn profile(
    command: &SuiteCommand<'_>,
    trials: &[&CaseTrial],
    mut player: WarmPlayer<'_>,
    out: &mut dyn Write,
) -> Result<ExitStatus> {
    let started = Instant::now();
    let progress = SuiteProgress::of(trials.len());
    let mut measured: BTreeMap<Who, HookTimes> = BTreeMap::new();
    for trial in trials {
        for round in 0..2 * ROUNDS {
            let run = match round % 2 {
                0 => player.play(&started_as(trial, Warm::Off)),
                _ => player.warm(&started_as(trial, Warm::Fork)),
            };
            for RanHook {
                who,
                trace,
                timeout,
            } in run.traces()
            {
                let times = measured.entry(who).or_default();
                times.timeout = timeout;
                times.add(round % 2 == 0, trace);
            }
        }
        progress.bar.inc(1);
    }
    progress.bar.finish_and_clear();
    let hooks = measured
        .into_iter()
        .filter_map(|(who, times)| times.profile(who));
    let mut report = ProfileReport {
        hooks: hooks.collect(),
        took: started.elapsed(),
    };
    report
        .hooks
        .sort_by_key(|hook| std::cmp::Reverse(hook.cold));
    command.args.format.write(&report, player.paths, out)?;
    Ok(ExitStatus::Yes)
}

/// What one hook took.
#[derive(Default)]
struct HookTimes {
    cold: Vec<Duration>,
    warm: Vec<Duration>,
    reason: Option<ColdReason>,
    timeout: Option<Duration>,
}

impl HookTimes {
    fn add(&mut self, is_cold: bool, trace: &Trace) {
        match trace.start {
            _ if is_cold => self.cold.push(trace.took),
            Some(ProcessStart::Warm) => self.warm.push(trace.took),
            Some(ProcessStart::Cold(reason)) => self.reason = Some(reason),
            None => {}
        }
    }

    /// `None` for a hook that took no time: a rule.
    fn profile(mut self, who: Who) -> Option<HookProfile> {
        let warm = match (reached_by(0.5, &mut self.warm), self.reason) {
            (Some(warm), _) => Some(Ok(warm)),
            (None, reason) => reason.map(Err),
        };
        Some(HookProfile {
            who,
            runs: self.cold.len(),
            cold: reached_by(0.5, &mut self.cold)?,
            p99: reached_by(0.99, &mut self.cold)?,
            timeout: self.timeout,
            warm,
        })
    }
}

/// The time that this share of them did not exceed.
fn reached_by(share: f64, times: &mut [Duration]) -> Option<Duration> {
    times.sort();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rank among so many"
    )]
    let rank = (times.len() as f64 * share).ceil() as usize;
    times.get(rank.saturating_sub(1)).copied()
}

/// Plays cases in one set of folders.
struct WarmPlayer<'c> {
    suite: SuiteRunner<'c>,
    paths: &'c Paths,
    spare: Option<CaseDirs>,
}

/// A case that was played, and what can be seen of it.
#[derive(Clone)]
struct SeenRun {
    played: CaseResult,
    seen: SeenCase,
}

/// A hook of a case that ran, and how long it might.
struct RanHook<'t> {
    who: Who,
    trace: &'t Trace,
    timeout: Option<Duration>,
}

/// A case that was played cold and warm.
struct ComparedRun {
    cold: SeenRun,
    warm: SeenRun,
    /// What is not the same, and does not vary.
    differences: Vec<Difference>,
    /// Places that are not the same from one cold start to the next.
    varies: Vec<String>,
}

/// A way in which hooks start their interpreter.
#[derive(Clone)]
struct ProbeStart {
    /// The interpreter and its options.
    words: Vec<String>,
    env: Vec<(String, String)>,
    /// Where the limits and the sandbox come from.
    hook: Hook,
    bench: Arc<Bench>,
}

impl<'c> WarmPlayer<'c> {
    fn new(command: &'c SuiteCommand<'_>, folder: &'c SuiteFolder, paths: &'c Paths) -> Self {
        let SuiteCommand { runner, abort, .. } = command;
        let suite = SuiteRunner {
            runner,
            folder,
            abort,
            jobs: 1,
            fail_fast: false,
        };
        WarmPlayer {
            suite,
            paths,
            spare: None,
        }
    }

    fn play(&mut self, trial: &CaseTrial) -> SeenRun {
        if let Some(why) = &trial.case.skip {
            return self.seen(ended_early(trial, End::Skipped(why.clone())), &[]);
        }
        if self.suite.abort.times_raised() > 0 {
            return self.seen(ended_early(trial, End::NotRun), &[]);
        }
        match self.suite.folder.workspace(0, trial, self.spare.take()) {
            Ok(workspace) => {
                let played = self.suite.play_in(&workspace, trial);
                let run = self.seen(played, &workspace.left());
                self.spare = workspace.leave();
                run
            }
            Err(error) => {
                let why = format!("cannot make its folders: {error}");
                self.seen(ended_early(trial, End::CouldNot(why)), &[])
            }
        }
    }

    fn seen(&self, played: CaseResult, left: &[(String, String)]) -> SeenRun {
        let report = |step: &StepResult| {
            let StepResult::Run { run, reply } = step else {
                return Value::Null;
            };
            serde_json::to_value(run_report(run, reply, self.paths)).unwrap_or_default()
        };
        let steps: Vec<Value> = played.steps.iter().map(report).collect();
        SeenRun {
            seen: SeenCase::of(played.end.name(), &steps, left),
            played,
        }
    }

    /// Plays a case until no hook of it waits for its interpreter.
    fn warm(&mut self, trial: &CaseTrial) -> SeenRun {
        let until = Instant::now() + READY_WITHIN;
        loop {
            let run = self.play(trial);
            let is_early = |start| {
                let ProcessStart::Cold(reason) = start else {
                    return false;
                };
                matches!(
                    reason,
                    ColdReason::NotReady | ColdReason::Died | ColdReason::TooMany
                )
            };
            let is_waiting = run.starts().any(|(_, start)| is_early(start));
            if !is_waiting || Instant::now() > until {
                return run;
            }
        }
    }

    fn compare(&mut self, trial: &CaseTrial) -> ComparedRun {
        let as_cold = started_as(trial, Warm::Off);
        let cold = self.play(&as_cold);
        let warm = match &cold.played.end {
            End::Expected | End::Unexpected(_) => self.warm(&started_as(trial, Warm::Fork)),
            End::CouldNot(_) | End::Skipped(_) | End::NotRun => cold.clone(),
        };
        let mut differences = cold.seen.differences(&warm.seen);
        let mut varies = Vec::new();
        if !differences.is_empty() {
            let again = self.play(&as_cold);
            let places = cold
                .seen
                .differences(&again.seen)
                .into_iter()
                .map(|one| one.place);
            varies = places.collect();
            differences.retain(|one| !varies.contains(&one.place));
        }
        ComparedRun {
            cold,
            warm,
            differences,
            varies,
        }
    }

    /// The ways in which the hooks of these cases start Python.
    fn starts(&mut self, trials: &[&CaseTrial]) -> Vec<ProbeStart> {
        let mut starts: Vec<ProbeStart> = Vec::new();
        for trial in trials {
            let Ok(workspace) = self.suite.folder.workspace(0, trial, self.spare.take()) else {
                continue;
            };
            for asks in &trial.asks {
                for hook in asks.registry.hooks().iter().filter(|hook| can_run(hook)) {
                    let search = workspace.env.search.as_deref();
                    let words = command::resolve(&hook.handler, search).ok();
                    let words = words.and_then(|program| interpreter_words(&program, search).ok());
                    let words = words.and_then(|words| {
                        words
                            .into_iter()
                            .map(OsString::into_string)
                            .collect::<std::result::Result<Vec<_>, _>>()
                            .ok()
                    });
                    let Some(words) = words else { continue };
                    let (env, bench) = (trial.case.env.clone(), Arc::clone(&asks.bench));
                    let start = ProbeStart {
                        words,
                        env,
                        hook: Hook::clone(hook),
                        bench,
                    };
                    if !starts.iter().any(|known| known.is_like(&start)) {
                        starts.push(start);
                    }
                }
            }
            self.spare = workspace.leave();
        }
        starts
    }

    /// What scripts see of their process, and how they end; `None` if they cannot start warm.
    fn probe(&mut self, start: &ProbeStart, scripts: &Path, ends: bool) -> Option<ProbeReport> {
        let compared = self.compare(&start.trial(scripts, "state.py")?);
        if compared
            .warm
            .starts()
            .any(|(_, start)| start != ProcessStart::Warm)
        {
            return None;
        }
        let mut report = ProbeReport {
            start: start.to_string(),
            probes: compared.cold.seen.probes(),
            ..ProbeReport::default()
        };
        for one in compared.differences {
            match is_known(one.probe()) {
                true => drop(report.known.insert(one.probe().to_string())),
                false => report.differences.push(one),
            }
        }
        for (number, (name, _)) in endings().enumerate().filter(|_| ends) {
            let compared = self.compare(&start.trial(scripts, &format!("e{number}.py"))?);
            report.endings += 1;
            if is_known(name) && !compared.differences.is_empty() {
                report.known.insert(name.to_string());
                continue;
            }
            report
                .differences
                .extend(compared.differences.into_iter().map(|mut one| {
                    one.place = format!("{name}: {}", one.place);
                    one
                }));
        }
        Some(report)
    }
}

impl SeenRun {
    fn traces(&self) -> Vec<RanHook<'_>> {
        let mut traces = Vec::new();
        for step in &self.played.steps {
            let StepResult::Run { run, .. } = step else {
                continue;
            };
            for hook in &run.hooks {
                if let Fate::Ran(trace) = &hook.fate {
                    let timeout = Some(hook.timeout).filter(|timeout| *timeout < Duration::MAX);
                    traces.push(RanHook {
                        who: Who::in_run(run, hook),
                        trace,
                        timeout,
                    });
                }
            }
        }
        traces
    }

    /// How the hooks started that may start warm.
    fn starts(&self) -> impl Iterator<Item = (Who, ProcessStart)> {
        self.traces()
            .into_iter()
            .filter_map(|ran| Some((ran.who, ran.trace.start?)))
    }
}

impl ComparedRun {
    fn end(self) -> WarmEnd {
        match self.cold.played.end {
            End::Skipped(why) => WarmEnd::Skipped(why),
            End::CouldNot(why) => WarmEnd::CouldNot(why),
            End::NotRun => WarmEnd::NotRun,
            End::Expected | End::Unexpected(_) if self.differences.is_empty() => WarmEnd::Same {
                varies: self.varies,
            },
            End::Expected | End::Unexpected(_) => WarmEnd::Differs(self.differences),
        }
    }
}

impl ProbeStart {
    /// Whether its process is like that of `other`.
    fn is_like(&self, other: &ProbeStart) -> bool {
        let of_hook = |hook: &Hook| {
            (
                hook.sandbox.clone(),
                hook.limits.files,
                hook.variables.clone(),
            )
        };
        self.words == other.words
            && self.env == other.env
            && of_hook(&self.hook) == of_hook(&other.hook)
    }

    /// A case that runs one script.
    fn trial(&self, scripts: &Path, script: &str) -> Option<CaseTrial> {
        let mut words = self.words.clone();
        words.push(scripts.join(script).to_str()?.to_string());
        let mut hook = Hook::new(
            "probe",
            "tool.pre",
            Handler::Words {
                words,
                base: scripts.to_path_buf(),
            },
        );
        hook.sandbox = self.hook.sandbox.clone();
        if let Some(read) = hook
            .sandbox
            .as_mut()
            .and_then(|sandbox| sandbox.read.as_mut())
        {
            read.push(scripts.to_str()?.to_string());
        }
        hook.limits.files = self.hook.limits.files;
        hook.variables = self.hook.variables.clone();
        let registry = Registry::loaded([hook], Catalog::default());
        let (suite, _) = scenario::read(PROBE_CASE, scripts);
        let case = suite.cases.into_iter().next()?;
        let case = Case {
            env: self.env.clone(),
            ..case
        };
        let events = vec!["tool.pre".to_string()];
        let asks = vec![Asks {
            bench: Arc::clone(&self.bench),
            registry,
            events,
        }];
        let (file, folder) = (scripts.join(script), scripts.to_path_buf());
        Some(CaseTrial {
            file,
            folder,
            case,
            asks,
        })
    }
}

impl std::fmt::Display for ProbeStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.env {
            write!(f, "{name}={value} ")?;
        }
        f.write_str(&self.words.join(" "))?;
        match &self.hook.sandbox {
            Some(sandbox) => write!(f, " (sandbox: {sandbox})"),
            None => Ok(()),
        }
    }
}

/// The same case, with `warm` set for every hook. A hook whose own setting is `off` or `serve`
/// keeps it.
fn started_as(trial: &CaseTrial, warm: Warm) -> CaseTrial {
    let change = |hook: &Hook| {
        let own = hook.warm.filter(|own| *own != Warm::Fork);
        Hook {
            warm: own.or(Some(warm)),
            ..hook.clone()
        }
    };
    let asks = trial.asks.iter();
    let asks = asks.map(|asks| Asks {
        registry: asks.registry.map(change),
        ..asks.clone()
    });
    CaseTrial {
        asks: asks.collect(),
        ..trial.clone()
    }
}

/// The scripts of probes, in a folder of their own.
fn scripts(command: &SuiteCommand<'_>) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    let folder = builder
        .prefix("hookrun-probes-")
        .tempdir_in(&command.env.temporary)?;
    fs::write(folder.path().join("state.py"), STATE)?;
    fs::write(folder.path().join("warm_neighbour.py"), NEIGHBOUR)?;
    for (number, (_, text)) in endings().enumerate() {
        fs::write(
            folder.path().join(format!("e{number}.py")),
            format!("{text}\n"),
        )?;
    }
    Ok(folder)
}
