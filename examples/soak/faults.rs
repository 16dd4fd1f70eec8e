//! The ways of deciding an event: as it comes, and with a fault injected meanwhile.

use std::panic;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use hookrun::internals::exec::{Abort, Budget};
use hookrun::internals::run::Run;
use hookrun::internals::runner::Runner;
use rustix::process::{Resource, Rlimit};

use crate::detached;
use crate::dice::Dice;
use crate::filters::Filters;
use crate::judge::{self, Excuse, Terms};
use crate::leaks;
use crate::scenarios::{SCENARIOS, Scenario};
use crate::site::Site;

/// A way of deciding an event.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    /// How often it is picked, in relation to the others.
    pub(crate) weight: u64,
    /// Which scenarios it is for.
    pub(crate) suits: fn(&Scenario) -> bool,
    fire: fn(&mut Shot<'_>) -> Result<Fired, String>,
}

/// One event that is to be decided.
pub(crate) struct Shot<'s> {
    pub(crate) site: &'s Site,
    /// The runner that lives as long as the soak.
    pub(crate) runner: &'s Runner,
    pub(crate) filters: &'s Filters,
    /// The place of the scenario.
    pub(crate) number: usize,
    pub(crate) dice: &'s mut Dice,
}

/// What became of it: a run to be judged, or one that was judged already.
pub(crate) enum Fired {
    Run(Box<Run>, Terms),
    Judged(Box<Run>, Result<(), String>),
}

/// How it is without any fault.
pub(crate) const PLAIN: Way = Way {
    name: "as it comes",
    weight: 8500,
    suits: |_| true,
    fire: |shot| {
        Ok(run(
            shot.runner.handle(shot.site.event(shot.number)),
            Terms::NONE,
        ))
    },
};

/// Every other way.
pub(crate) const FAULTS: &[Way] = &[
    Way {
        name: "with keeper, as `run`",
        weight: 400,
        suits: |_| true,
        fire: full,
    },
    Way {
        name: "detached",
        weight: 100,
        suits: |_| true,
        fire: detached::fire,
    },
    Way {
        name: "few descriptors",
        weight: 300,
        suits: Scenario::is_frugal,
        fire: starved,
    },
    Way {
        name: "descriptors come and go",
        weight: 300,
        suits: stays_in_group,
        fire: flicker,
    },
    Way {
        name: "daemons, descriptors come and go",
        weight: 30,
        suits: leaves_group,
        fire: flicker,
    },
    Way {
        name: "no pidfd",
        weight: 200,
        suits: |_| true,
        fire: no_pidfd,
    },
    Way {
        name: "no fork (seccomp)",
        weight: 3,
        suits: Scenario::is_frugal,
        fire: no_fork,
    },
    Way {
        name: "killed from outside",
        weight: 100,
        suits: is_single,
        fire: killed,
    },
    Way {
        name: "told to stop",
        weight: 100,
        suits: |_| true,
        fire: told,
    },
    Way {
        name: "out of budget",
        weight: 20,
        suits: |_| true,
        fire: out_of_budget,
    },
];

/// Words of a reason that says that descriptors are short; the last one is what posix_spawn says
/// of a descriptor that is beyond a limit that was lowered after it was opened.
const NO_DESCRIPTORS: Excuse = Excuse::NotStarted(&[
    "out of file descriptors",
    "Too many open files",
    "Bad file descriptor",
]);

/// Words of a reason that says that processes are short.
pub(crate) const NO_PROCESSES: Excuse =
    Excuse::NotStarted(&["the system cannot start another process"]);

impl Way {
    /// Decides the event in this way, and says what is wrong with the decision.
    ///
    /// # Errors
    /// When this way is closed on this system.
    pub(crate) fn fire(&self, shot: &mut Shot<'_>) -> Result<(Run, Result<(), String>), String> {
        Ok(match (self.fire)(shot)? {
            Fired::Judged(run, judged) => (*run, judged),
            Fired::Run(run, terms) => {
                let judged = judge::judge(&SCENARIOS[shot.number], &run, terms);
                (*run, judged)
            }
        })
    }
}

fn run(run: Run, terms: Terms) -> Fired {
    Fired::Run(Box::new(run), terms)
}

fn leaves_group(scenario: &Scenario) -> bool {
    scenario.is_frugal() && scenario.leaves_group
}

fn stays_in_group(scenario: &Scenario) -> bool {
    scenario.is_frugal() && !scenario.leaves_group
}

fn is_single(scenario: &Scenario) -> bool {
    stays_in_group(scenario) && scenario.parts.len() == 1
}

/// A runner of its own for the event, as `hookrun run` has it.
fn full(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let runner = shot.site.full_runner_of(shot.number);
    Ok(run(
        runner.handle(shot.site.event(shot.number)),
        Terms::NONE,
    ))
}

/// From the start to the end of the event there are so few descriptors left.
fn starved(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let lowered = Lowered::descriptors(shot.dice.below(9))?;
    let decided = shot.runner.handle(shot.site.event(shot.number));
    drop(lowered);
    Ok(run(decided, Terms::maybe(NO_DESCRIPTORS)))
}

/// Descriptors run short and are there again, at any moment.
fn flicker(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let left = shot.dice.below(9);
    let mut dice = Dice::new(shot.dice.roll());
    let limit = limit_for(left)?;
    let decided = beside(
        |over| {
            let pause = Duration::from_micros(800);
            while is_going_on(over, dice.time_below(pause)) {
                let lowered = Lowered::to(Resource::Nofile, limit);
                if !is_going_on(over, dice.time_below(pause)) {
                    return;
                }
                drop(lowered);
            }
        },
        || shot.runner.handle(shot.site.event(shot.number)),
    )?;
    Ok(run(decided, Terms::maybe(NO_DESCRIPTORS)))
}

/// The system has no pidfd, like an old kernel: the loop looks at its hooks every few ms.
fn no_pidfd(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let (site, number) = (shot.site, shot.number);
    let decide = || site.runner_of(number).handle(site.event(number));
    Ok(run(shot.filters.without_pidfd(decide)?, Terms::NONE))
}

/// No process can be started, and no thread either.
fn no_fork(shot: &mut Shot<'_>) -> Result<Fired, String> {
    if shot.dice.once_in(3) {
        return detached::without_threads(shot);
    }
    let (site, number) = (shot.site, shot.number);
    let decide = || site.runner_of(number).handle(site.event(number));
    Ok(run(
        shot.filters.without_fork(decide)?,
        Terms::certain(NO_PROCESSES),
    ))
}

/// Somebody kills the hook with SIGKILL. A short one may have ended before.
fn killed(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let (delay, choice) = (
        shot.dice.time_below(Duration::from_millis(2)),
        shot.dice.roll(),
    );
    let decided = beside(
        |over| {
            if is_going_on(over, delay) {
                while !leaks::kill_a_child(choice) && is_going_on(over, Duration::ZERO) {}
            }
        },
        || shot.runner.handle(shot.site.event(shot.number)),
    )?;
    Ok(run(decided, Terms::maybe(Excuse::Killed)))
}

/// hookrun is told to stop: before it begins, or at any moment; sometimes twice.
fn told(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let abort = Abort::new().map_err(|error| error.to_string())?;
    let runner = shot.site.runner_of(shot.number).abort(abort.clone());
    let event = shot.site.event(shot.number);
    if shot.dice.once_in(8) {
        abort.raise();
        return Ok(run(runner.handle(event), Terms::certain(Excuse::Told)));
    }
    let first = shot.dice.time_below(Duration::from_millis(3));
    let second = shot
        .dice
        .once_in(2)
        .then(|| shot.dice.time_below(Duration::from_millis(3)));
    let decided = beside(
        |over| {
            if is_going_on(over, first) {
                abort.raise();
            }
            if second.is_some_and(|second| is_going_on(over, second)) {
                abort.raise();
            }
        },
        || runner.handle(event),
    )?;
    Ok(run(decided, Terms::maybe(Excuse::Told)))
}

/// The time for everything is used up while the hook runs, or before it starts.
fn out_of_budget(shot: &mut Shot<'_>) -> Result<Fired, String> {
    let budget = Budget::from(
        Instant::now(),
        shot.dice.time_below(Duration::from_millis(20)),
    );
    let decided = shot
        .runner
        .handle_within(shot.site.event(shot.number), Some(budget));
    Ok(run(decided, Terms::maybe(Excuse::OutOfBudget)))
}

/// Decides, while another thread does harm until it is told that all is over.
fn beside(
    harm: impl FnOnce(&Receiver<()>) + Send,
    decide: impl FnOnce() -> Run,
) -> Result<Run, String> {
    let (over, is_over) = mpsc::channel();
    thread::scope(|scope| {
        let harm = thread::Builder::new().spawn_scoped(scope, move || harm(&is_over));
        let harm: ScopedJoinHandle<'_, ()> = harm.map_err(|error| error.to_string())?;
        let decided = decide();
        drop(over);
        harm.join()
            .unwrap_or_else(|cause| panic::resume_unwind(cause));
        Ok(decided)
    })
}

/// Waits; false if all is over by then.
fn is_going_on(over: &Receiver<()>, wait: Duration) -> bool {
    matches!(over.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
}

/// A lowered limit; it is raised again when this is dropped.
#[derive(Debug)]
pub(crate) struct Lowered {
    resource: Resource,
    before: Rlimit,
}

impl Lowered {
    /// Lowers the limit until this is dropped.
    pub(crate) fn to(resource: Resource, limit: u64) -> Lowered {
        let before = rustix::process::getrlimit(resource);
        let lower = Rlimit {
            current: Some(limit),
            maximum: before.maximum,
        };
        // A limit below what is open is allowed, so this fails only without a system.
        let _ = rustix::process::setrlimit(resource, lower);
        Lowered { resource, before }
    }

    /// Leaves so many descriptors.
    fn descriptors(left: u64) -> Result<Lowered, String> {
        Ok(Lowered::to(Resource::Nofile, limit_for(left)?))
    }
}

impl Drop for Lowered {
    fn drop(&mut self) {
        let _ = rustix::process::setrlimit(self.resource, self.before);
    }
}

/// The limit below which exactly `left` numbers are free.
fn limit_for(left: u64) -> Result<u64, String> {
    let open = leaks::descriptors().map_err(|error| error.to_string())?;
    let mut free = (0..).filter(|number| !open.contains(number));
    let wanted = usize::try_from(left).unwrap_or(0);
    free.nth(wanted).ok_or_else(|| "no limit".to_string())
}
