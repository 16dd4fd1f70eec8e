//! The command line of the soak, and its main loop.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Instant;

use hookrun::internals::exec::{Abort, confine, keeper};

use crate::dice::Dice;
use crate::faults::{FAULTS, PLAIN, Shot, Way};
use crate::filters::Filters;
use crate::processes::{self, Sent};
use crate::report::{Ended, Ledger};
use crate::scenarios::{SCENARIOS, Scenario};
use crate::site::Site;
use crate::watch::Watch;
use crate::{hook, leaks};

const DEFAULT_EVENTS: u64 = 100_000;

const DEFAULT_SEED: u64 = 1;

/// One event in so many is decided by the child for which processes run short.
const SHARE_OF_PROCESSES: u64 = 250;

/// What is asked for on the command line.
#[derive(Debug)]
struct Wish {
    events: u64,
    seed: u64,
    /// Only scenarios with this in their name: for a closer look at a finding.
    scenario: String,
    /// Only ways with this in their name.
    way: String,
}

/// Becomes a hook, a keeper, a child of the soak, or the soak.
pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.split_first() {
        Some((first, more)) if first == "--hook" => return hook::act(more),
        Some((first, more)) if first == "keep" => {
            keeper::keep(io::stdin().lock(), more.first().map_or("", String::as_str));
            return ExitCode::SUCCESS;
        }
        Some((first, more)) if first == "confine" => {
            let bounds: Vec<OsString> = more.iter().map(OsString::from).collect();
            return ExitCode::from(confine::enter(&bounds));
        }
        Some((first, more)) if first == "--processes" => process_stage(more).map(|()| true),
        _ => read(&words)
            .map_err(Into::into)
            .and_then(|wish| soak(&wish)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn read(words: &[String]) -> Result<Wish, String> {
    let mut wish = Wish {
        events: DEFAULT_EVENTS,
        seed: DEFAULT_SEED,
        scenario: String::new(),
        way: String::new(),
    };
    let mut words = words.iter().cloned();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--scenario" => wish.scenario = words.next().unwrap_or_default(),
            "--way" => wish.way = words.next().unwrap_or_default(),
            "--seed" => wish.seed = number(&words.next().unwrap_or_default())?,
            events => wish.events = number(events)?,
        }
    }
    if ways().any(|way| wish.has(way)) {
        return Ok(wish);
    }
    Err(format!(
        "no way has `{}` in its name and suits a scenario like that",
        wish.way
    ))
}

fn number(word: &str) -> Result<u64, String> {
    let usage = "[EVENTS] [--seed NUMBER] [--scenario NAME] [--way NAME]";
    let number = word.replace([',', '_'], "").parse();
    number.map_err(|_| format!("`{word}` is not a number; the soak takes {usage}"))
}

fn process_stage(words: &[String]) -> Result<(), Box<dyn Error>> {
    let [events, seed] = words else {
        return Err("--processes EVENTS SEED".into());
    };
    processes::decide(number(events)?, number(seed)?, &mut io::stdout().lock())
}

/// Decides all events and tells of them. Whether all is as it should be.
fn soak(wish: &Wish) -> Result<bool, Box<dyn Error>> {
    let started = Instant::now();
    let mut ledger = Ledger::default();
    let mut out = io::stdout().lock();
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let version = env!("CARGO_PKG_VERSION");
    writeln!(
        out,
        "soak of hookrun {version} ({build}): {} events, seed {}, {cores} processors\n",
        wish.events, wish.seed
    )?;
    out.flush()?;
    let short_of_processes = if wish.is_whole() {
        wish.events / SHARE_OF_PROCESSES
    } else {
        0
    };
    let sent = match short_of_processes {
        0 => None,
        events => Some(processes::send(events, wish.seed)?),
    };
    let decided = match &sent {
        Some(Sent::Decided(sent)) => sent.events(),
        Some(Sent::Closed(_)) | None => 0,
    };
    main_loop(wish, wish.events - decided, &mut ledger)?;
    match sent {
        Some(Sent::Decided(sent)) => ledger.add(*sent),
        Some(Sent::Closed(why)) => ledger.closes(processes::ROW, &why),
        None => {}
    }
    ledger.tell(wish.events, started.elapsed(), &mut out)?;
    Ok(ledger.is_good(wish.events))
}

/// Decides `events` in this process, or fewer if it is interrupted.
fn main_loop(wish: &Wish, events: u64, ledger: &mut Ledger) -> Result<(), Box<dyn Error>> {
    let site = Site::build()?;
    let filters = Filters::compile();
    let abort = Abort::on_signals()?;
    let runner = site.runner_of_all().abort(abort.clone());
    let mut dice = Dice::new(wish.seed);
    // What a runner keeps from its first events on: a list of children.
    for number in 0..2 {
        let (site, runner) = (&site, &runner);
        let mut shot = Shot {
            site,
            runner,
            filters: &filters,
            number,
            dice: &mut dice,
        };
        let _ = fire(&PLAIN, &mut shot)??;
    }
    let mut watch = Watch::start(events)?;
    let warm = (events / 10).max(1);
    let step = (events / 10).clamp(1, 10_000);
    for place in 0..events {
        let (way, number) = pick(place, wish, &mut dice);
        let scenario = &SCENARIOS[number];
        let row = if way.name == PLAIN.name {
            scenario.name
        } else {
            way.name
        };
        let about = format!("{}, {}", way.name, scenario.name);
        watch.begins(&about);
        let began = Instant::now();
        let of_sandbox = scenario.is_sandboxed();
        let of_sandbox = of_sandbox.then(|| site.runner_of(number).abort(abort.clone()));
        let runner = of_sandbox.as_ref().unwrap_or(&runner);
        let mut shot = Shot {
            site: &site,
            runner,
            filters: &filters,
            number,
            dice: &mut dice,
        };
        let ended = fire(way, &mut shot);
        let took = began.elapsed();
        if abort.times_raised() > 0 {
            break;
        }
        match ended {
            Ok(ended) => ledger.note(row, scenario, took, ended),
            Err(closed) => {
                ledger.closes(way.name, &closed);
                ledger.note(scenario.name, scenario, took, fire(&PLAIN, &mut shot)?);
            }
        }
        // Its keeper ends with it, and is no leak.
        drop(of_sandbox);
        watch.look(ledger, &about, site.mark());
        let done = place + 1;
        if done == warm || (done > warm && done.is_multiple_of(step)) || done == events {
            ledger.memory.push((done, leaks::resident_bytes()));
        }
    }
    watch.close(ledger, site.mark());
    Ok(())
}

/// Every way, the plain one first.
fn ways() -> impl Iterator<Item = &'static Way> + Clone {
    std::iter::once(&PLAIN).chain(FAULTS)
}

/// Each scenario and each way once, and then whatever the dice say, as far as it is wished.
fn pick(place: u64, wish: &Wish, dice: &mut Dice) -> (&'static Way, usize) {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    if wish.is_whole() && place < SCENARIOS.len() {
        return (&PLAIN, place);
    }
    let mut mixed = FAULTS.iter().filter(|way| way.weight > 0);
    let once = if wish.is_whole() {
        mixed.nth(place - SCENARIOS.len())
    } else {
        None
    };
    // What is asked for by its name is tried, even if it is not in the mix.
    let least = u64::from(!wish.way.is_empty());
    let weights = ways().map(|way| {
        if wish.has(way) {
            way.weight.max(least)
        } else {
            0
        }
    });
    let way = once
        .or_else(|| ways().nth(dice.pick(weights)))
        .unwrap_or(&PLAIN);
    // Under faults the rare ones are met more often than otherwise.
    let is_even = way.name != PLAIN.name && dice.once_in(8);
    let weights = SCENARIOS
        .iter()
        .map(|scenario| match wish.has_both(way, scenario) {
            true if is_even => 1,
            true => scenario.weight,
            false => 0,
        });
    (way, dice.pick(weights))
}

impl Wish {
    fn is_whole(&self) -> bool {
        self.way.is_empty() && self.scenario.is_empty()
    }

    fn has(&self, way: &Way) -> bool {
        way.name.contains(&self.way) && SCENARIOS.iter().any(|it| self.has_both(way, it))
    }

    fn has_both(&self, way: &Way, scenario: &Scenario) -> bool {
        (way.suits)(scenario) && scenario.name.contains(&self.scenario)
    }
}

/// Decides one event. The outer error says that the way is closed here, the inner one that no
/// decision was reached.
fn fire(way: &Way, shot: &mut Shot<'_>) -> Result<Ended, String> {
    match panic::catch_unwind(AssertUnwindSafe(|| way.fire(shot))) {
        Ok(Ok(ended)) => Ok(Ok(ended)),
        Ok(Err(closed)) => Err(closed),
        Err(_) => Ok(Err("it panicked".to_string())),
    }
}
