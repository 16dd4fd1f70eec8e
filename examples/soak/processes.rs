//! Processes run short: the share of the events for which `RLIMIT_NPROC` is used up.
//!
//! The system counts processes by user, and root's not at all. So these events are decided in a
//! child of the soak, as a user of their own where that can be had.

use std::error::Error;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Resource;

use crate::dice::Dice;
use crate::faults::{Lowered, NO_PROCESSES};
use crate::judge::{self, Terms};
use crate::report::Ledger;
use crate::scenarios::SCENARIOS;
use crate::site::Site;
use crate::watch::Watch;

/// The row of these events in the report.
pub(crate) const ROW: &str = "no process (RLIMIT_NPROC)";

/// `nobody`.
const NOBODY: u32 = 65_534;

/// What became of the events of the child.
pub(crate) enum Sent {
    Decided(Box<Ledger>),
    /// None were decided: there can be no such child here.
    Closed(String),
}

/// Has `events` decided by a child.
///
/// # Errors
/// When the child ends without its account.
pub(crate) fn send(events: u64, seed: u64) -> Result<Sent, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut program = std::env::current_exe()?;
    let is_root = rustix::process::getuid().is_root();
    if is_root {
        // Where this program lies, others may not come.
        let copy = folder.path().join("soak");
        fs::copy(&program, &copy)?;
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        program = copy;
    }
    let mut command = Command::new(&program);
    command.args(["--processes", &events.to_string(), &seed.to_string()]);
    command
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Ok(Sent::Closed(error.to_string())),
    };
    if !output.status.success() {
        return Err(format!("the child for `{ROW}` ended with {}", output.status).into());
    }
    Ok(Sent::Decided(serde_json::from_slice(&output.stdout)?))
}

/// The whole life of that child.
///
/// # Errors
/// When nothing can be tried here.
pub(crate) fn decide(
    events: u64,
    seed: u64,
    out: &mut dyn io::Write,
) -> Result<(), Box<dyn Error>> {
    let site = Site::build()?;
    let mut dice = Dice::new(seed);
    let mut watch = Watch::start(events)?;
    let mut ledger = Ledger::default();
    for _ in 0..events {
        let weights = SCENARIOS.iter().map(|scenario| {
            if scenario.is_frugal() {
                scenario.weight
            } else {
                0
            }
        });
        let number = dice.pick(weights);
        watch.begins(&format!("{ROW}, {}", SCENARIOS[number].name));
        let started = Instant::now();
        let (run, terms) = decide_one(&site, number, &mut dice);
        let judged = judge::judge(&SCENARIOS[number], &run, terms);
        ledger.note(
            ROW,
            &SCENARIOS[number],
            started.elapsed(),
            Ok((run, judged)),
        );
        watch.look(&mut ledger, ROW, site.mark());
    }
    watch.close(&mut ledger, site.mark());
    serde_json::to_writer(out, &ledger)?;
    Ok(())
}

/// Decides one event without any process to be had: at first, or for as long as it takes.
fn decide_one(
    site: &Site,
    number: usize,
    dice: &mut Dice,
) -> (hookrun::internals::run::Run, Terms) {
    let is_for_ever = dice.once_in(6);
    let pause = dice.time_below(Duration::from_millis(60));
    let terms = if is_for_ever {
        Terms::certain(NO_PROCESSES)
    } else {
        Terms::maybe(NO_PROCESSES)
    };
    let runner = site.runner_of(number);
    let (over, is_over) = mpsc::channel::<()>();
    // Started first: threads count as processes.
    let run = thread::scope(|scope| {
        let (lowered, is_lowered) = mpsc::channel::<Lowered>();
        scope.spawn(move || {
            let Ok(lowered) = is_lowered.recv() else {
                return;
            };
            if is_for_ever {
                let _ = is_over.recv();
            } else {
                thread::sleep(pause);
            }
            drop(lowered);
        });
        let _ = lowered.send(Lowered::to(Resource::Nproc, 1));
        let run = runner.handle(site.event(number));
        drop(over);
        run
    });
    (run, terms)
}
