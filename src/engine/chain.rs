//! Runs a plan step by step and merges verdicts in plan order.

mod files;
mod links;
mod mentions;
mod preparation;
mod staged;
mod surroundings;

use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::engine::complaint::Complaint;
use crate::engine::event::{Event, Merge, OnFailure, Stop};
use crate::engine::exec::{Budget, Engine, Job, PipeStore};
use crate::engine::hook::{Departure, EditedField, Handler, Hook, verdict_of_rule};
use crate::engine::outcome::merge::{self, Flow, Merger};
use crate::engine::outcome::{ContractRule, Decision, Rewritten, Verdict};
use crate::engine::plan::{Plan, PlannedHook, Selection};
use crate::engine::run::{Ending, Fate, HookRun, Run, Trace, TraceContext, interruption};
use files::EditedFile;
pub use links::follow;
use preparation::HookInputs;
pub(crate) use preparation::{HookTurn, Preparation};
use staged::StagedPlace;
pub(crate) use surroundings::event_variables;
pub use surroundings::{LONGEST_VARIABLE_BYTES, Surroundings, VARIABLES};

/// Runs `plan` for `event`.
///
/// After a rewrite it selects the remaining hooks again: guards see the command that will run, not
/// the original.
pub fn run(
    plan: Plan,
    event: &Event,
    engine: &Engine,
    surroundings: &Surroundings,
    budget: Option<Budget>,
) -> Run {
    let started = Instant::now();
    let spec = event.spec().clone();
    let trace = surroundings.trace_context(event);
    let hooks = plan.hooks().map(|planned| Arc::clone(&planned.hook));
    let mut chain = Chain {
        hooks: hooks.collect(),
        original: spec.conduct.isolated.then(|| event.clone()),
        event: event.clone(),
        merger: Merger::new(&spec),
        engine,
        surroundings,
        trace: &trace,
        started,
        budget,
        inputs: HookInputs::default(),
        pipes: PipeStore::default(),
        rewrites: 0,
        rewriter: None,
        runs: Vec::new(),
        turned: Vec::new(),
        last_group: None,
        is_settled: false,
        is_asking_again: false,
    };
    let mut steps = plan.steps.iter();
    let last = steps.rposition(|step| step.iter().any(PlannedHook::starts_program));
    for (number, step) in plan.steps.into_iter().enumerate() {
        let more_follow = last.is_some_and(|last| number < last);
        chain.pipes.expect_more(more_follow);
        chain.step(number, step);
    }
    chain.ask_again();
    let Chain {
        event,
        mut merger,
        runs,
        ..
    } = chain;
    if spec.blocks && engine.is_aborted() {
        merger.block(interruption(engine.stopped_by()));
    }
    let outcome = merger.finish();
    Run {
        event,
        hooks: runs,
        outcome,
        took: started.elapsed(),
        trace: Some(trace),
    }
}

/// Lists a plan's hooks without starting them. `wanted` is the fate of matching hooks.
pub(crate) fn runs_of(plan: &Plan, event: &Event, wanted: &Fate) -> Vec<HookRun> {
    plan.hooks()
        .map(|planned| {
            let fate = fate_of(planned.selection.clone(), wanted.clone());
            HookRun::new(&planned.hook, event, fate)
        })
        .collect()
}

fn fate_of(selection: Selection, wanted: Fate) -> Fate {
    match selection {
        Selection::Wanted => wanted,
        Selection::Unwanted(mismatch) => Fate::Unwanted(mismatch),
        Selection::Disabled => Fate::Disabled,
        Selection::Idle(why) => Fate::Idle(why),
    }
}

struct Chain<'c> {
    hooks: Vec<Arc<Hook>>,
    event: Event,
    /// Original event, in dialects whose hooks all see it.
    original: Option<Event>,
    merger: Merger<'c>,
    engine: &'c Engine,
    surroundings: &'c Surroundings,
    trace: &'c TraceContext,
    started: Instant,
    budget: Option<Budget>,
    inputs: HookInputs,
    pipes: PipeStore,
    /// Rewrites so far, and the hook that made the last one.
    rewrites: usize,
    rewriter: Option<Arc<Hook>>,
    runs: Vec<HookRun>,
    turned: Vec<FinishedTurn>,
    /// Group that blocked: no hook of another group runs.
    last_group: Option<(i64, Option<u64>)>,
    is_settled: bool,
    /// Second run of hooks, for their decisions only.
    is_asking_again: bool,
}

/// Hook that has had its turn, matching or not.
struct FinishedTurn {
    hook: Arc<Hook>,
    step: usize,
    /// Rewrites before this hook's verdict, including its own.
    rewrites: usize,
    has_rewritten: bool,
}

impl Chain<'_> {
    fn step(&mut self, number: usize, step: Vec<PlannedHook>) {
        let group = step.first().map(|planned| planned.hook.group());
        self.is_settled |= self.last_group.is_some() && self.last_group != group;
        let mut wanted: Vec<HookTurn> = Vec::new();
        let mut places = Vec::new();
        for planned in step {
            let hook = Arc::clone(&planned.hook);
            let mut selection = planned.selection;
            if self.rewrites > 0 {
                let seen = self.seen();
                selection = Selection::of(&hook, seen, &self.surroundings.place(seen));
            }
            let fate = fate_of(selection, Fate::Unreached);
            if matches!(fate, Fate::Unreached | Fate::Unwanted(_)) {
                self.turned.push(FinishedTurn {
                    hook: Arc::clone(&hook),
                    step: number,
                    rewrites: self.rewrites,
                    has_rewritten: false,
                });
            }
            if !matches!(fate, Fate::Unreached) || self.is_settled {
                self.runs.push(HookRun::new(&hook, &self.event, fate));
                continue;
            }
            for turn in self.turns(&hook) {
                places.push(self.runs.len());
                wanted.push(turn);
                self.runs
                    .push(HookRun::new(&hook, &self.event, Fate::Unreached));
            }
        }
        if wanted.is_empty() {
            return;
        }
        let traces = self.run_step(&wanted);
        for ((turn, trace), place) in wanted.iter().zip(traces).zip(places) {
            self.merge(&turn.hook, &trace);
            self.runs[place].fate = Fate::Ran(Box::new(trace));
        }
    }

    /// Runs a gate's earlier hooks again if they match the rewritten event: guards must see the
    /// final action. Only their decisions count, and they cannot rewrite again, so this ends.
    ///
    /// Hooks of a dialect that shows the original event or keeps the last result follow that
    /// dialect's rule. Native hooks run again there too.
    fn ask_again(&mut self) {
        let spec = self.event.spec();
        let Some(rewriter) = self.rewriter.clone() else {
            return;
        };
        if !spec.blocks || self.merger.is_blocked() {
            return;
        }
        let conduct = spec.conduct;
        let is_strange = conduct.isolated || conduct.last_result || conduct.first_question;
        self.original = None;
        self.is_asking_again = true;
        self.inputs = HookInputs::default();
        let place = self.surroundings.place(&self.event);
        let mut again = std::mem::take(&mut self.turned);
        again.retain(|one| {
            one.rewrites < self.rewrites
                && !(is_strange && one.hook.is_foreign())
                && Selection::of(&one.hook, &self.event, &place) == Selection::Wanted
        });
        for step in again.chunk_by(|one, next| one.step == next.step) {
            if self.is_settled {
                return;
            }
            let mut turns = Vec::new();
            let mut have_rewritten = Vec::new();
            for one in step {
                for turn in self.turns(&one.hook) {
                    turns.push(turn);
                    have_rewritten.push(one.has_rewritten);
                }
            }
            let traces = self.run_step(&turns);
            for ((turn, mut trace), has_rewritten) in turns.iter().zip(traces).zip(have_rewritten) {
                trace.notes.push(format!(
                    "ran again, because `{}` rewrote the event after this hook's first run",
                    rewriter.name
                ));
                self.merge_again(&turn.hook, &trace, has_rewritten);
                let fate = Fate::Ran(Box::new(trace));
                self.runs.push(HookRun::new(&turn.hook, &self.event, fate));
            }
        }
    }

    fn merge_again(&mut self, hook: &Hook, trace: &Trace, has_rewritten: bool) {
        let Some(verdict) = trace.ending.verdict() else {
            // The first run already reported a failure that allows.
            if trace.ending.is_interruption()
                || hook.on_failure(self.event.spec()) == OnFailure::Block
            {
                self.merge(hook, trace);
            }
            return;
        };
        let mut update = verdict.update.iter();
        let change = update.find(|(field, new)| self.value(field) != *new);
        // Of a hook that allows, the first run has said the rest.
        let mut again = Verdict::new(verdict.decision.clone(), verdict.rule);
        if verdict.decision != Decision::Allow {
            again = Verdict {
                update: Vec::new(),
                ..verdict.clone()
            };
        }
        let mut failure = None;
        match change {
            Some((field, new)) if has_rewritten => {
                self.merger.rewritten(Rewritten {
                    hook: hook.name.clone(),
                    field: field.clone(),
                    old: self.value(field),
                    new: new.clone(),
                    rejected: Some("this was the hook's second run for the event, and a hook can rewrite an event only once".to_string()),
                });
            }
            Some((field, _)) if verdict.decision == Decision::Allow => {
                failure = Some(format!(
                    "its second run rewrote `{field}`, but a later hook has already rewritten that field; give this hook a larger `priority`, so that it runs later"
                ));
            }
            Some(_) | None => {}
        }
        let result = failure.as_deref().map_or(Ok(&again), Err);
        match self.merger.add(&hook.name, OnFailure::Block, result) {
            Flow::GoesOn => {}
            Flow::EndsGroup | Flow::Ends => self.is_settled = true,
        }
    }

    fn value(&self, field: &str) -> Value {
        let value = self.event.context().value(field).ok().flatten();
        value.unwrap_or(Value::Null)
    }

    fn seen(&self) -> &Event {
        self.original.as_ref().unwrap_or(&self.event)
    }

    fn seen_by(&self, hook: &Hook) -> &Event {
        hook.seen(self.seen()).unwrap_or(self.seen())
    }

    fn turns(&self, hook: &Arc<Hook>) -> Vec<HookTurn> {
        let seen = self.seen_by(hook);
        let place = StagedPlace::find(self.engine, hook, seen, self.surroundings);
        let Some(convention) = &hook.convention else {
            return vec![HookTurn {
                place,
                ..HookTurn::whole(hook)
            }];
        };
        let parts = convention.parts(seen, &hook.matcher).into_iter();
        let turns = parts.map(|part| HookTurn {
            hook: Arc::clone(hook),
            part,
            arguments: convention.arguments(seen),
            edited: convention
                .edits()
                .map(|field| self.edited_file(field, hook)),
            place: place.clone(),
        });
        turns.collect()
    }

    fn edited_file(&self, field: EditedField, hook: &Hook) -> Result<EditedFile, Complaint> {
        let event = self.seen();
        if event.host() == hook.dialect_name() && !self.is_asking_again {
            let cwd = self.surroundings.place(event).cwd;
            if let Some(file) = EditedFile::of_host(field, event, &cwd) {
                return Ok(file);
            }
        }
        let session = event.context().string("sessionId");
        let surroundings = self.surroundings;
        let folder = surroundings.state_folder(session.as_deref(), &hook.name);
        let folder = folder.map_err(|error| {
            Complaint::with_cure(
                format!("cannot create its state folder: {error}"),
                "check the free disk space and the permissions of hookrun's state folder, or \
                 set XDG_STATE_HOME to another folder",
            )
        })?;
        let unique = format!("{}-{}", self.trace.span, self.runs.len());
        EditedFile::copy(field, event, &folder.join(unique))
    }

    fn run_step(&mut self, turns: &[HookTurn]) -> Vec<Trace> {
        let after = self.started.elapsed();
        let mut traces = self.run_together(turns);
        for (turn, trace) in turns.iter().zip(&mut traces) {
            let HookTurn { hook, place, .. } = turn;
            if place.leave(self.engine, hook, trace, Departure::Blocked) {
                *trace = self.run_together(std::slice::from_ref(turn)).remove(0);
                place.leave(self.engine, hook, trace, Departure::BlockedAgain);
            }
            turn.place_findings(trace, &self.surroundings.place(&self.event).cwd);
        }
        traces.iter_mut().for_each(|trace| trace.after = after);
        traces
    }

    /// Runs hooks in parallel and returns a trace for each. A hook with many files has several
    /// calls.
    fn run_together(&mut self, turns: &[HookTurn]) -> Vec<Trace> {
        // A rule is alone in its step.
        if let [HookTurn { hook, .. }] = turns
            && let Handler::Rule(decision) = &hook.handler
        {
            let seen = self.seen_by(hook);
            let place = self.surroundings.place(seen);
            let verdict = verdict_of_rule(decision, &hook.matcher, seen, &hook.place(&place));
            return vec![Trace::not_run(Ending::Answered(verdict))];
        }
        let hooks: Vec<Arc<Hook>> = turns.iter().map(|turn| Arc::clone(&turn.hook)).collect();
        if hooks.iter().all(|hook| hook.handler.is_function()) {
            let calls = hooks.iter();
            let calls = calls.filter_map(|hook| preparation::call(hook, self.seen_by(hook)));
            let jobs: Vec<Job<'_>> = calls.collect();
            return self.engine.step(&jobs, self.budget, &self.settles(&hooks));
        }
        let mut inputs = std::mem::take(&mut self.inputs);
        let mut preparations = Vec::with_capacity(turns.len());
        let mut payloads = Vec::with_capacity(turns.len());
        for turn in turns {
            let seen = self.seen_by(&turn.hook);
            payloads.push(inputs.payload(turn, seen));
            preparations.push(Preparation {
                seen,
                engine: self.engine,
                surroundings: self.surroundings,
                variables: inputs.variables(&turn.hook, seen, self.surroundings, self.trace),
                pipes: &self.pipes,
            });
        }
        let mut counts = Vec::with_capacity(turns.len());
        let mut jobs: Vec<Job<'_>> = Vec::with_capacity(turns.len());
        for ((turn, payload), preparation) in turns.iter().zip(payloads).zip(&preparations) {
            let calls = turn.calls();
            counts.push(calls.len());
            for files in &calls {
                let job = preparation.job(turn, files.as_ref(), Arc::clone(&payload));
                jobs.push(turn.place.adapt(job));
            }
        }
        let is_divided = jobs.len() > turns.len();
        let settles = self.settles(&hooks);
        let mut ended = self
            .engine
            .step(&jobs, self.budget, &|trace| !is_divided && settles(trace))
            .into_iter();
        let mut traces = Vec::with_capacity(turns.len());
        let spec = self.seen().spec();
        for (turn, count) in turns.iter().zip(counts) {
            let fails_closed = turn.hook.on_failure(spec) == OnFailure::Block;
            let calls = ended.by_ref().take(count).collect();
            traces.extend(files::together(calls, fails_closed));
        }
        for (turn, trace) in turns.iter().zip(&mut traces) {
            turn.take_edit(trace);
        }
        self.inputs = inputs;
        traces
    }

    fn settles(&self, hooks: &[Arc<Hook>]) -> impl Fn(&Trace) -> bool + use<> {
        let spec = self.seen().spec();
        let blocks = spec.blocks && spec.conduct.stop == Stop::First;
        // The loop does not know which hook failed, so a failure ends the step only if all of its
        // hooks fail closed.
        let mut hooks = hooks.iter();
        let all_close = hooks.all(|hook| hook.on_failure(spec) == OnFailure::Block);
        move |trace: &Trace| {
            let ending = &trace.ending;
            blocks && (ending.blocks() || all_close && ending.failure().is_some())
        }
    }

    fn merge(&mut self, hook: &Hook, trace: &Trace) {
        let failure = trace.ending.failure();
        let result = match (trace.ending.verdict(), &failure) {
            (Some(verdict), _) => Ok(verdict),
            (None, Some(failure)) => Err(failure.as_str()),
            (None, None) => return,
        };
        // Interruptions and an exhausted budget are not the hook's failure: its `on_failure` does
        // not open the gate.
        let is_ours = trace.ending.is_interruption();
        if is_ours && self.merger.is_blocked() {
            self.is_settled = true;
            return;
        }
        let own = hook.on_failure(self.event.spec());
        let on_failure = if is_ours { OnFailure::Block } else { own };
        // A hook that asks may still rewrite in the same answer.
        let is_frozen = self.event.spec().conduct.first_question && self.merger.is_asking();
        match self.merger.add(&hook.name, on_failure, result) {
            Flow::GoesOn | Flow::EndsGroup if is_ours => {
                self.is_settled = self.merger.is_blocked();
            }
            Flow::GoesOn => {}
            Flow::EndsGroup => self.last_group = Some(hook.group()),
            Flow::Ends => {
                self.is_settled = true;
                return;
            }
        }
        if let Some(verdict) = trace.ending.verdict() {
            self.take(hook, verdict, is_frozen);
        }
        if let Ending::Threw { left, .. } = &trace.ending {
            self.rewrite(hook, left, is_frozen);
        }
    }

    fn take(&mut self, hook: &Hook, verdict: &Verdict, is_frozen: bool) {
        if matches!(verdict.decision, Decision::Block { .. }) {
            return;
        }
        // A native answer without a new value keeps earlier values.
        let is_result = match verdict.rule {
            ContractRule::Translated => true,
            ContractRule::Structured | ContractRule::Returned => !verdict.update.is_empty(),
            ContractRule::Silence
            | ContractRule::Text
            | ContractRule::Asked
            | ContractRule::ContinueFalse
            | ContractRule::NonZeroExit
            | ContractRule::PassingExit
            | ContractRule::Ruled => false,
        };
        if is_result
            && let Some(original) = &self.original
            && original.spec().conduct.last_result
        {
            self.event = original.clone();
            self.merger.start_over();
        }
        self.rewrite(hook, &verdict.update, is_frozen);
    }

    fn rewrite(&mut self, hook: &Hook, update: &[(String, Value)], is_frozen: bool) {
        for (field, value) in update {
            let Some(rule) = self.event.spec().rewrite(field) else {
                continue;
            };
            let rule = rule.merge;
            let old = self.value(field);
            let merged = if is_frozen {
                let why = "the event cannot be rewritten while a person decides about the original";
                Err(why.to_string())
            } else {
                merge::rewrite(rule, &old, value, self.merger.has_rewritten(field))
            };
            let result = merged.and_then(|new| {
                let applied = self.event.rewrite(field, &new);
                applied.map(|()| new).map_err(|error| error.to_string())
            });
            self.event = follow(self.event.clone(), &self.hooks, self.surroundings);

            let (new, rejected) = match result {
                Ok(new) => (new, None),
                Err(why) => (value.clone(), Some(why)),
            };
            if rejected.is_none() {
                self.inputs = HookInputs::default();
                self.rewrites += 1;
                let mut turned = self.turned.iter_mut();
                if let Some(own) = turned.find(|one| ptr::eq(Arc::as_ptr(&one.hook), hook)) {
                    own.rewrites = self.rewrites;
                    own.has_rewritten = true;
                    self.rewriter = Some(Arc::clone(&own.hook));
                }
                // A hook that claims the event ends the chain.
                self.is_settled |= rule == Merge::Claim && new == Value::Bool(true);
            }
            self.merger.rewritten(Rewritten {
                hook: hook.name.clone(),
                field: field.clone(),
                old,
                new,
                rejected,
            });
        }
    }
}
