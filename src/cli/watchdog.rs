//! Answers for `run` when the thread that decides hangs in the system.

use std::thread;
use std::time::{Duration, Instant};

use hookrun::dialect::native;
use hookrun::exec::{Pulse, tree};

/// The thread needs next to nothing, and its stack is part of every run's start.
const STACK_BYTES: usize = 64 * 1024;

/// Between the first and the second look at a broken promise.
const SECOND_LOOK: Duration = Duration::from_millis(250);

/// The same, when the watchdog itself was late.
const AFTER_A_PAUSE: Duration = Duration::from_secs(2);

/// How long the deciding thread has to answer after what it waits for was killed.
const LAST_CHANCE: Duration = Duration::ZERO;

/// Watches `pulse` from a thread of its own. Without threads there is no watchdog.
pub(crate) fn start(pulse: &Pulse) {
    let pulse = pulse.clone();
    let thread = thread::Builder::new().name("watchdog".to_string()).stack_size(STACK_BYTES);
    if let Err(error) = thread.spawn(move || watch(&pulse)) {
        tracing::warn!(%error, "no watchdog");
    }
}

/// Waits for the watchdog, which is answering, to end the process.
pub(crate) fn leave_it_to_it() {
    loop {
        thread::park();
    }
}

fn watch(pulse: &Pulse) {
    wait(pulse);
    leave_if_answered(pulse);
    // The program that could not be started may still be between fork and exec: with it gone,
    // the deciding thread goes on and refuses in its own words.
    tree::end_children();
    pulse.promise(LAST_CHANCE);
    wait(pulse);
    if pulse.claim() {
        refuse();
    }
    // The deciding thread answers just now. What it does then is watched again.
    loop {
        thread::sleep(SECOND_LOOK);
        wait(pulse);
        leave_if_answered(pulse);
    }
}

/// Ends the process if its answer is given: what is kept of it hangs, and the host waits.
#[expect(clippy::disallowed_methods, clippy::exit, reason = "the other thread hangs in the system")]
fn leave_if_answered(pulse: &Pulse) {
    if let Some(status) = pulse.answer() {
        std::process::exit(i32::from(status));
    }
}

/// Sleeps until a promise is broken, and stays broken when looked at again: after a pause of the
/// whole machine, or of hookrun alone, the deciding thread needs some time to renew it.
fn wait(pulse: &Pulse) {
    loop {
        let mut again = SECOND_LOOK;
        while let Some(left) = pulse.left() {
            let asleep = Instant::now();
            thread::sleep(left);
            if asleep.elapsed() > left + SECOND_LOOK {
                again = AFTER_A_PAUSE;
            }
        }
        thread::sleep(again);
        if pulse.left().is_none() {
            return;
        }
    }
}

/// States the refusal and ends the process.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "the thread that would return from main hangs in the system"
)]
fn refuse() {
    let reply = native::refuse(
        "hookrun itself failed: it was not done in time, and what it waits for in the system does \
         not answer (fail closed)",
    );
    // Not through the locks of `Stdout` and `Stderr`, which the deciding thread may hold.
    let _ = rustix::io::write(rustix::stdio::stdout(), reply.stdout.as_bytes());
    let _ = rustix::io::write(rustix::stdio::stderr(), reply.stderr.as_bytes());
    std::process::exit(i32::from(reply.status));
}
