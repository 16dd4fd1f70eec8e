//! Watches over the soak: after every event nothing may be left of it, and no event may hang.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hookrun::internals::exec::tree;

use crate::leaks;
use crate::report::Ledger;

/// After how long an event counts as never decided.
const HUNG: Duration = Duration::from_secs(120);

/// How often progress is shown.
const BLINK: Duration = Duration::from_millis(500);

/// Every so many events the whole system is searched for marked processes.
const SEARCH_EVERY: u64 = 500;

/// How long a keeper may take to end on a busy machine.
const KEEPERS_END: Duration = Duration::from_secs(5);

/// What a process should have after each event, and what it is doing.
#[derive(Debug)]
pub(crate) struct Watch {
    descriptors: usize,
    threads: usize,
    looks: u64,
    now: Arc<Now>,
}

/// The event that is being decided.
#[derive(Debug)]
struct Now {
    number: AtomicU64,
    what: Mutex<String>,
}

impl Watch {
    /// Starts to watch; with a line of progress towards `events` on a terminal.
    ///
    /// # Errors
    /// When there is no thread for it, or `/proc` cannot be read.
    pub(crate) fn start(events: u64) -> io::Result<Watch> {
        let now = Arc::new(Now {
            number: AtomicU64::new(0),
            what: Mutex::default(),
        });
        let watched = Arc::clone(&now);
        let is_shown = io::stderr().is_terminal();
        thread::Builder::new()
            .name("watch".to_string())
            .spawn(move || stand_guard(&watched, is_shown.then_some(events)))?;
        Ok(Watch {
            descriptors: leaks::descriptors()?.len(),
            threads: leaks::threads(),
            looks: 0,
            now,
        })
    }

    /// Notes which event begins.
    pub(crate) fn begins(&self, what: &str) {
        self.now.number.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut now) = self.now.what.lock() {
            what.clone_into(&mut now);
        }
    }

    /// Looks what an event has left behind.
    pub(crate) fn look(&mut self, ledger: &mut Ledger, what: &str, mark: &str) {
        self.looks += 1;
        let mut children = leaks::children();
        // A keeper that was told that all is over ends by itself; the library waits 50 ms for it.
        children.retain(|child| {
            let is_ending = leaks::is_keeper(*child) && leaks::ends_within(*child, KEEPERS_END);
            ledger.late_keepers += u64::from(is_ending);
            !is_ending
        });
        let mut left: Vec<String> = children.into_iter().map(leaks::described).collect();
        if self.looks.is_multiple_of(SEARCH_EVERY) {
            left.extend(leaks::marked(mark).into_iter().map(leaks::described));
        }
        if !left.is_empty() {
            left.dedup();
            ledger.leaked_processes += left.len() as u64;
            ledger.finds(format!("{what}: left processes: {}", left.join(", ")));
            if !leaks::clear_children() {
                ledger.finds(format!("{what}: they cannot be ended"));
            }
        }
        let open = leaks::descriptors().map_or(0, |open| open.len());
        if open != self.descriptors {
            ledger.leaked_descriptors += (open as u64).saturating_sub(self.descriptors as u64);
            ledger.finds(format!(
                "{what}: {open} descriptors are open, not {}",
                self.descriptors
            ));
            self.descriptors = open;
        }
    }

    /// The last look.
    pub(crate) fn close(&mut self, ledger: &mut Ledger, mark: &str) {
        self.looks = SEARCH_EVERY - 1;
        self.look(ledger, "at the end", mark);
        ledger.threads = (self.threads, leaks::threads());
        self.now.number.store(u64::MAX, Ordering::Relaxed);
        if io::stderr().is_terminal() {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

/// Shows progress; ends everything when one event takes for ever.
fn stand_guard(now: &Now, events: Option<u64>) {
    let (mut seen, mut since) = (0, Instant::now());
    let started = Instant::now();
    loop {
        thread::sleep(BLINK);
        let number = now.number.load(Ordering::Relaxed);
        if number == u64::MAX {
            continue;
        }
        let what = now.what.lock().map(|what| what.clone()).unwrap_or_default();
        if let Some(events) = events {
            let rate = number as f64 / started.elapsed().as_secs_f64();
            let line = format!("{number} of {events} events, {rate:.0} a second: {what}");
            let _ = write!(io::stderr(), "\r\u{1b}[K{line}");
        }
        if number != seen {
            (seen, since) = (number, Instant::now());
        } else if since.elapsed() > HUNG {
            let _ = writeln!(
                io::stderr(),
                "\nno decision after {HUNG:?}: event {number}, {what}: the soak has failed"
            );
            tree::end_children();
            std::process::abort();
        }
    }
}
