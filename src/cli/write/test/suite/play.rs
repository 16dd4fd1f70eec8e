//! Plays cases: each in its own workspace, several at once, reported in their order.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use crate::engine::complaint::Complaint;
use crate::engine::event::Context;
use crate::engine::exec::{Abort, Budget};
use crate::engine::lock::locked;
use crate::engine::outcome::Outcome;
use crate::engine::runner::Runner;
use crate::lab::scenario::{
    CaseFolders, CaseResult, CaseStep, End, StepInput, StepOutcome, StepResult, misses,
};

use super::trial::{self, Asks, CaseTrial};
use super::workspace::{CaseDirs, SuiteFolder, Workspace};
use crate::cli::exit::Result;
use crate::decide::EventRequest;
use crate::decide::request::reply_to;

#[derive(Debug)]
pub(super) struct SuiteRunner<'c> {
    /// What decides, with the hooks of each case.
    pub(super) runner: &'c Runner,
    pub(super) folder: &'c SuiteFolder,
    pub(super) abort: &'c Abort,
    pub(super) jobs: usize,
    /// Whether the first that is not as expected is the last.
    pub(super) fail_fast: bool,
}

/// What came of the cases so far.
struct Board<'b> {
    next: usize,
    first_bad: usize,
    played: Vec<Option<CaseResult>>,
    told: &'b mut (dyn FnMut(&CaseResult) + Send),
}

impl SuiteRunner<'_> {
    /// Plays all `trials`; `told` is called as each ends, in any order. The result is in the order of
    /// the trials, whichever ends first.
    pub(super) fn play_all(
        &self,
        trials: &[&CaseTrial],
        told: &mut (dyn FnMut(&CaseResult) + Send),
    ) -> Vec<CaseResult> {
        let played = trials.iter().map(|_| None).collect();
        let board = Mutex::new(Board {
            next: 0,
            first_bad: usize::MAX,
            played,
            told,
        });
        thread::scope(|scope| {
            for _ in 0..self.jobs.min(trials.len()) {
                let thread = thread::Builder::new().name("hookrun-case".to_string());
                if let Err(error) = thread.spawn_scoped(scope, || self.work(trials, &board)) {
                    tracing::warn!(%error, "no thread for cases");
                }
            }
        });
        let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Whether those after the first bad one were played is chance.
        let last = if self.fail_fast {
            board.first_bad
        } else {
            usize::MAX
        };
        let in_order = (0..).zip(board.played).zip(trials);
        in_order
            .map(|((place, one), trial)| {
                one.filter(|_| place <= last)
                    .unwrap_or_else(|| ended_early(trial, End::NotRun))
            })
            .collect()
    }

    /// What each thread does: take the next case until there is none. It reports the case itself, so
    /// no other thread has to wake up for that.
    fn work(&self, trials: &[&CaseTrial], board: &Mutex<Board<'_>>) {
        let lock = || locked(board);
        let mut spare = None;
        loop {
            let place = {
                let mut board = lock();
                let is_over = self.fail_fast && board.next > board.first_bad;
                if board.next >= trials.len() || is_over || self.abort.times_raised() > 0 {
                    return;
                }
                board.next += 1;
                board.next - 1
            };
            let played = self.play(trials[place], place, &mut spare);
            let mut board = lock();
            if played.end.is_bad() {
                board.first_bad = board.first_bad.min(place);
            }
            (board.told)(&played);
            board.played[place] = Some(played);
        }
    }

    /// Plays one case, in the folders of an earlier one if there are some to spare.
    pub(super) fn play(
        &self,
        trial: &CaseTrial,
        number: usize,
        spare: &mut Option<CaseDirs>,
    ) -> CaseResult {
        let started = Instant::now();
        let mut played = match &trial.case.skip {
            Some(why) => return ended_early(trial, End::Skipped(why.clone())),
            None => match self.folder.workspace(number, trial, spare.take()) {
                Ok(workspace) => {
                    let played = self.play_in(&workspace, trial);
                    *spare = workspace.leave();
                    played
                }
                Err(error) => {
                    let why = format!("cannot make its folders: {error}");
                    ended_early(trial, End::CouldNot(why))
                }
            },
        };
        if self.abort.times_raised() > 0 {
            // Its hooks may have been ended before their time.
            played.end = End::NotRun;
        }
        played.took = started.elapsed();
        played
    }

    pub(super) fn play_in(&self, workspace: &Workspace, trial: &CaseTrial) -> CaseResult {
        let mut played = ended_early(trial, End::Expected);
        if let Err(why) = workspace.prepare(&trial.case.files, &trial.case.setup, self.abort) {
            return CaseResult {
                end: End::CouldNot(why),
                ..played
            };
        }
        let mut missed = Vec::new();
        for (step, asks) in trial.case.steps.iter().zip(&trial.asks) {
            let of_step = |why: String| match step.number {
                Some(number) => format!("step {number}: {why}"),
                None => why,
            };
            let decided = match self.decide(workspace, step, asks) {
                Ok(decided) => decided,
                Err(why) => {
                    return CaseResult {
                        end: End::CouldNot(of_step(why)),
                        ..played
                    };
                }
            };
            let is_meant = step
                .expect
                .failed
                .value
                .iter()
                .any(|name| name == "hookrun");
            if let (Some(why), false) = (decided.own_failure(), is_meant) {
                let why = of_step(format!("hookrun could not decide: {why}"));
                played.steps.push(decided);
                return CaseResult {
                    end: End::CouldNot(why),
                    ..played
                };
            }
            let look = |path: &str| workspace.look(path);
            let seen = StepOutcome {
                decided: &decided,
                folders: &workspace.folders,
                look: &look,
            };
            let found = misses(&step.expect, seen);
            missed.extend(found.into_iter().map(|mut miss| {
                miss.step = step.number;
                miss
            }));
            played.steps.push(decided);
        }
        if !missed.is_empty() {
            played.end = End::Unexpected(missed);
        }
        played
    }

    fn decide(
        &self,
        workspace: &Workspace,
        step: &CaseStep,
        asks: &Asks,
    ) -> std::result::Result<StepResult, String> {
        workspace.prepare(&step.files, &step.setup, self.abort)?;
        let config = &asks.bench.config;
        let asked = EventRequest::new(&step.event.value, &step.host.value);
        let bytes = match bytes(&step.input, &workspace.folders) {
            Ok(bytes) => bytes.unwrap_or_else(|| asked.least(config).into_bytes()),
            Err(error) => return Err(format!("cannot read its context: {error}")),
        };
        let told: Result<_> = Context::from_bytes(bytes)
            .map_err(Complaint::of)
            .and_then(|context| asked.event(config, context));
        let hosted = match told {
            Ok(hosted) => hosted,
            Err(failure) => {
                let reason = failure.to_string();
                let reply = asked.refuse(&reason);
                let (event, host) = (step.event.value.clone(), step.host.value.clone());
                let outcome = Box::new(Outcome::own_failure(reason));
                return Ok(StepResult::Refused {
                    event,
                    host,
                    outcome,
                    reply,
                });
            }
        };
        let project = workspace.folders.work.clone();
        let runner = self
            .runner
            .elsewhere(asks.registry.clone(), &workspace.env, project);
        let budget = asked
            .budget()
            .map(|whole| Budget::from(Instant::now(), whole));
        let run = runner.handle_within(&hosted.event, budget);
        let reply = reply_to(hosted.binding, &run.outcome);
        Ok(StepResult::Run {
            run: Box::new(run),
            reply,
        })
    }
}

fn bytes(input: &StepInput, folders: &CaseFolders) -> io::Result<Option<Vec<u8>>> {
    let bytes = match input {
        StepInput::Nothing => return Ok(None),
        StepInput::Context(value) => folders.fill_value(&value.value).to_string().into_bytes(),
        StepInput::Json(text) => folders.fill(&text.value).into_bytes(),
        StepInput::Text(text) => folders.fill(text).into_bytes(),
        StepInput::File(path) => {
            let bytes = trial::read(&folders.suite.join(&path.value))?;
            match String::from_utf8(bytes) {
                Ok(text) => folders.fill(&text).into_bytes(),
                Err(error) => error.into_bytes(),
            }
        }
    };
    Ok(Some(bytes))
}

/// A case of which only the end is known.
pub(super) fn ended_early(trial: &CaseTrial, end: End) -> CaseResult {
    CaseResult {
        file: trial.file.clone(),
        name: trial.case.name.clone(),
        at: trial.case.at,
        event: trial
            .case
            .steps
            .first()
            .map(|step| step.event.value.clone())
            .unwrap_or_default(),
        end,
        steps: Vec::new(),
        took: Duration::ZERO,
    }
}
