//! Asks the person at the terminal. Without a terminal there is nobody to ask.

use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use hookrun::exec::Abort;
use hookrun::outcome::{Outcome, Settled};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::termios::QueueSelector;

/// How long an answer is waited for, unless a budget ends earlier: a person who has left must
/// not keep a host waiting for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Puts the questions of an outcome to the person at the controlling terminal, and returns the
/// outcome with their answer. Only while stderr is a terminal: a host that captures stderr is
/// using the terminal itself.
pub(crate) fn settle(outcome: Outcome, until: Option<Instant>, abort: Option<&Abort>) -> Outcome {
    let Settled::Asked { questions } = &outcome.settled else { return outcome };
    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty");
    let terminal = terminal.ok().filter(|_| std::io::stderr().is_terminal());
    let Some(mut terminal) = terminal.filter(is_ours) else {
        return outcome.answered(false, "nobody can be asked: no terminal");
    };
    let patience = Instant::now() + PATIENCE;
    let until = until.map_or(patience, |until| until.min(patience));
    for question in questions.clone() {
        // What was typed before the question is no answer to it.
        let _ = rustix::termios::tcflush(&terminal, QueueSelector::IFlush);
        let text: String = question.question.chars().map(plain).take(LONGEST_QUESTION).collect();
        let hook: String = question.hook.chars().map(plain).collect();
        let asked = write!(terminal, "hook {hook} asks: {text} [y/N] ");
        let answer = asked.ok().and_then(|()| read_line(&terminal, until, abort));
        match answer.as_deref().map(str::trim) {
            Some("y" | "Y" | "yes" | "Yes") => {}
            Some(_) => return outcome.answered(false, "answered no"),
            None => {
                let _ = writeln!(terminal);
                return outcome.answered(false, "nobody answered");
            }
        }
    }
    outcome.answered(true, "")
}

/// How much of a question is shown.
const LONGEST_QUESTION: usize = 1000;

/// Whether we are in the foreground: reading a terminal from the background stops a process.
fn is_ours(terminal: &File) -> bool {
    let ours = nix::unistd::getpgrp().as_raw();
    rustix::termios::tcgetpgrp(terminal).is_ok_and(|group| group.as_raw_nonzero().get() == ours)
}

/// A question cannot move the cursor.
fn plain(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// A line from the terminal, or `None` when time is up or we are told to stop.
fn read_line(terminal: &File, until: Instant, abort: Option<&Abort>) -> Option<String> {
    use std::os::fd::AsFd;
    let mut line = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || abort.is_some_and(|abort| abort.times_raised() > 0) {
            return None;
        }
        let mut fds = vec![PollFd::new(terminal, PollFlags::IN)];
        if let Some(abort) = abort {
            fds.push(PollFd::from_borrowed_fd(abort.as_fd(), PollFlags::IN));
        }
        let timeout = Timespec::try_from(left).ok();
        if rustix::event::poll(&mut fds, timeout.as_ref()).is_err() || fds[0].revents().is_empty() {
            continue;
        }
        let mut buffer = [0; 256];
        let count = rustix::io::read(terminal, &mut buffer).ok().filter(|count| *count > 0)?;
        line.extend_from_slice(&buffer[..count]);
        if line.ends_with(b"\n") {
            return Some(String::from_utf8_lossy(&line).into_owned());
        }
    }
}
