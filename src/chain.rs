//! Runs a plan, step by step, and hears the hooks in plan order.

mod surroundings;

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::event::{Context, Event, Merge, OnFailure};
use crate::exec::answer::Permit;
use crate::exec::{Budget, Call, Engine, Job, Runs, command};
use crate::hook::{Background, Handler, Hook};
use crate::outcome::merge::{self, Flow, Merger};
use crate::outcome::{Decision, Rewritten, Rule, Verdict};
use crate::plan::{Plan, Planned, Step, Wish};
use crate::run::{Ending, Fate, HookRun, Run, Trace};
use crate::ui::desk::Seat;
pub use surroundings::{LONGEST_VARIABLE_BYTES, Surroundings, VARIABLES, VariableRow};
use surroundings::{absent, facts, sandbox, session_of, variables, ways_to_ask, working_directory};

/// Runs `plan` for `event`.
///
/// A hook's wish is asked again when an earlier one rewrote the context: a guard sees the
/// command that will run, not the one that was asked for.
pub fn run(
    plan: Plan,
    event: &Event,
    engine: &Engine,
    surroundings: &Surroundings,
    budget: Option<Budget>,
) -> Run {
    let started = Instant::now();
    let spec = event.spec().clone();
    let mut chain = Chain {
        came: spec.conduct.isolated.then(|| event.clone()),
        event: event.clone(),
        merger: Merger::new(&spec),
        engine,
        surroundings,
        budget,
        payload: None,
        is_rewritten: false,
        runs: Vec::new(),
        is_settled: false,
    };
    for step in plan.steps {
        chain.step(step);
    }
    let Chain { event, mut merger, runs, .. } = chain;
    let told_to_stop = engine.is_aborted();
    if spec.blocks && told_to_stop {
        merger.refuse("hookrun was told to stop".to_string());
    }
    let outcome = merger.finish();
    Run { event, hooks: runs, outcome, took: started.elapsed() }
}

struct Chain<'c> {
    /// The event as the rewrites so far have left it.
    event: Event,
    /// The event as it came, where every hook sees that.
    came: Option<Event>,
    merger: Merger<'c>,
    engine: &'c Engine,
    surroundings: &'c Surroundings,
    budget: Option<Budget>,
    /// The context as the next native hook gets it; made anew after a rewrite.
    payload: Option<Arc<Vec<u8>>>,
    is_rewritten: bool,
    runs: Vec<HookRun>,
    is_settled: bool,
}

impl Chain<'_> {
    fn step(&mut self, step: Step) {
        let mut wanted: Vec<Arc<Hook>> = Vec::new();
        let mut places = Vec::new();
        for planned in step.hooks {
            let hook = Arc::clone(&planned.hook);
            let fate = self.first_fate(planned);
            if matches!(fate, Fate::Unreached) && !self.is_settled {
                places.push(self.runs.len());
                wanted.push(Arc::clone(&hook));
            }
            self.runs.push(HookRun::new(&hook, &self.event, fate));
        }
        if wanted.is_empty() {
            return;
        }
        let traces = self.run_together(&wanted);
        for ((hook, trace), place) in wanted.iter().zip(traces).zip(places) {
            self.hear(hook, &trace);
            self.runs[place].fate = Fate::Ran(Box::new(trace));
        }
    }

    /// The fate of a hook before it runs; `Unreached` if its turn has now come.
    fn first_fate(&self, planned: Planned) -> Fate {
        let wish = if self.is_rewritten {
            let seen = self.seen();
            Wish::of(&planned.hook, seen, &self.surroundings.place(seen))
        } else {
            planned.wish
        };
        match wish {
            Wish::Disabled => Fate::Disabled,
            Wish::Idle(why) => Fate::Idle(why.clone()),
            Wish::Unwanted(mismatch) => Fate::Unwanted(mismatch),
            Wish::Wanted => Fate::Unreached,
        }
    }

    /// The event as hooks see it now.
    fn seen(&self) -> &Event {
        self.came.as_ref().unwrap_or(&self.event)
    }

    /// What `hook` gets on stdin.
    fn payload(&mut self, hook: &Hook) -> Arc<Vec<u8>> {
        if let Some(binding) = hook.dialect {
            return line(&binding.encode(self.seen()));
        }
        let seen = self.came.as_ref().unwrap_or(&self.event);
        Arc::clone(self.payload.get_or_insert_with(|| line(seen.context())))
    }

    fn run_together(&mut self, hooks: &[Arc<Hook>]) -> Vec<Trace> {
        // Functions need nothing of what follows.
        if hooks.iter().all(|hook| hook.handler.is_function()) {
            let jobs: Vec<Job<'_>> = hooks.iter().filter_map(|hook| self.call(hook)).collect();
            return self.engine.step(&jobs, self.budget, &self.settles(hooks));
        }
        let payloads: Vec<_> = hooks.iter().map(|hook| self.payload(hook)).collect();
        let seen = self.seen();
        let spec = seen.spec();
        let facts = facts(seen, self.surroundings);
        let (cwd, cwd_note) = working_directory(seen, self.surroundings);
        // Until the end of the step: a dialog of a hook that has ended is withdrawn.
        let seats: Vec<Option<Seat>> = hooks.iter().map(|hook| self.seat(hook, &facts)).collect();
        let own = |(hook, seat): (&Arc<Hook>, &Option<Seat>)| {
            let mut own = self.variables(hook, &facts);
            own.extend(ways_to_ask(seat.as_ref(), self.engine.desk.as_ref()));
            own
        };
        let variables: Vec<Vec<(String, String)>> = hooks.iter().zip(&seats).map(own).collect();
        let absent: Vec<Vec<&str>> =
            variables.iter().map(|set| absent(set, &self.surroundings.inherited)).collect();
        let search = self.surroundings.search.as_deref();
        let jobs: Vec<Job<'_>> = hooks
            .iter()
            .zip(variables.into_iter().zip(payloads))
            .zip(&absent)
            .zip(&seats)
            .map(|(((hook, (variables, payload)), without), seat)| {
                if let Some(job) = self.call(hook) {
                    return job;
                }
                let program = command::resolve(&hook.handler, search);
                let (walls, notes) = sandbox(hook, &program, &variables, self.surroundings);
                let permit = Permit { spec, rewrite: hook.rewrite, dialect: hook.dialect };
                let (timeout, cwd) = (hook.timeout(spec), cwd.clone());
                Job {
                    hook,
                    runs: program.map(Runs::Program),
                    payload,
                    variables,
                    without,
                    cwd,
                    timeout,
                    permit,
                    walls,
                    notes,
                    clock: seat.as_ref().map(Seat::clock),
                }
            })
            .collect();
        let mut traces = self.engine.step(&jobs, self.budget, &self.settles(hooks));
        if let Some(note) = cwd_note {
            let commands = hooks.iter().zip(&mut traces);
            for (_, trace) in commands.filter(|(hook, _)| !hook.handler.is_function()) {
                trace.notes.push(note.clone());
            }
        }
        traces
    }

    /// Where a hook can ask a person, or send messages.
    fn seat(&self, hook: &Hook, facts: &[(&'static str, String)]) -> Option<Seat> {
        if hook.handler.is_function() {
            return None;
        }
        let stays = hook.background == Background::Detach;
        self.engine.desk.as_ref()?.seat(&hook.name, session_of(facts), stays)
    }

    /// The variables of a hook; a function has no environment.
    fn variables(&self, hook: &Hook, facts: &[(&'static str, String)]) -> Vec<(String, String)> {
        if hook.handler.is_function() {
            return Vec::new();
        }
        variables((hook, hook.timeout(self.seen().spec())), facts, self.surroundings)
    }

    /// The job of a hook that is a function.
    fn call<'h>(&'h self, hook: &'h Hook) -> Option<Job<'h>> {
        let Handler::Function(function) = &hook.handler else { return None };
        let seen = self.seen();
        let call = Call { function: function.clone(), event: seen.clone() };
        let permit = Permit { spec: seen.spec(), rewrite: hook.rewrite, dialect: None };
        Some(Job::of_function((hook, hook.timeout(seen.spec())), call, permit))
    }

    /// Says whether a trace of one of these hooks settles the event.
    fn settles(&self, hooks: &[Arc<Hook>]) -> impl Fn(&Trace) -> bool + use<> {
        let spec = self.seen().spec();
        let blocks = spec.blocks;
        // A failure ends its neighbours early only if every one of them fails closed: the loop
        // does not know whose failure it sees.
        let all_close = hooks.iter().all(|hook| hook.on_failure(spec) == OnFailure::Block);
        move |trace: &Trace| blocks && refuses(&trace.ending, all_close)
    }

    fn hear(&mut self, hook: &Hook, trace: &Trace) {
        let Some(heard) = trace.ending.heard() else {
            return;
        };
        // That time is up or that we were told to stop is no failure of the hook's: what its spec
        // says about those does not open the gate.
        let is_ours = matches!(trace.ending, Ending::OutOfBudget { .. } | Ending::Aborted);
        let own = hook.on_failure(self.event.spec());
        let on_failure = if is_ours { OnFailure::Block } else { own };
        // Its own rewrites still count when it asks.
        let is_frozen = self.event.spec().conduct.first_question && self.merger.is_asking();
        if self.merger.hear(&hook.name, on_failure, &heard) == Flow::Ends {
            self.is_settled = true;
            return;
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
        // Our own hooks also answer without giving a new value, and then leave the others'.
        let is_result = match verdict.rule {
            Rule::Translated => true,
            Rule::Structured | Rule::Returned => !verdict.update.is_empty(),
            Rule::Silence
            | Rule::Text
            | Rule::Asked
            | Rule::ContinueFalse
            | Rule::RefusalInText
            | Rule::NonZeroExit => false,
        };
        if let Some(came) =
            self.came.as_ref().filter(|came| is_result && came.spec().conduct.last_result)
        {
            self.event = came.clone();
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
            let old = self.event.context().value(field).ok().flatten().unwrap_or(Value::Null);
            let already = self.merger.has_rewritten(field);
            let merged = match is_frozen {
                true => Err("a person is asked about the event as it was then".to_string()),
                false => merge::rewrite(rule, &old, value, already),
            };
            let result = merged.and_then(|new| {
                let applied = self.event.rewrite(field, &new);
                applied.map(|()| new).map_err(|error| error.to_string())
            });
            let (new, rejected) = match result {
                Ok(new) => (new, None),
                Err(why) => (value.clone(), Some(why)),
            };
            if rejected.is_none() {
                self.payload = None;
                self.is_rewritten = true;
                // Who takes the event is the last to be asked.
                self.is_settled |= rule == Merge::Claim && new == Value::Bool(true);
            }
            let (hook, field) = (hook.name.clone(), field.clone());
            self.merger.rewritten(Rewritten { hook, field, old, new, rejected });
        }
    }
}

/// A context as a hook reads it.
fn line(context: &Context) -> Arc<Vec<u8>> {
    let mut json = context.to_json();
    json.push(b'\n');
    Arc::new(json)
}

/// Whether an ending refuses a gate, where every failure counts as one if `failures_close`.
fn refuses(ending: &Ending, failures_close: bool) -> bool {
    match ending.verdict() {
        Some(verdict) => matches!(verdict.decision, Decision::Block { .. }),
        None => failures_close && ending.failure().is_some(),
    }
}
