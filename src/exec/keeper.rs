//! If hookrun itself is killed with SIGKILL, somebody else must end its hooks: the keeper.
//!
//! A process of its own that is told which process groups are running, through a pipe. When the
//! pipe ends without a good-bye, it kills them, and whatever else carries the mark of the run.
//! It is started only for hooks that outlive 10 ms; most never pay for it.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;

use super::{child, tree};

/// How long a hook runs before the keeper is started.
pub(super) const LATER: Duration = Duration::from_millis(10);

/// How long the keeper's end is waited for: it takes less than a millisecond.
const LAST_WAIT: Duration = Duration::from_millis(50);

/// The good-bye.
const DONE: &str = "done";

/// How the keeper is started: a program that calls [`keep`] and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperProgram {
    /// The program; a hidden command of hookrun's own binary.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// A running keeper.
#[derive(Debug)]
pub(super) struct Keeper {
    pid: Pid,
    pipe: OwnedFd,
}

impl Keeper {
    /// Starts one. `None` where that fails: hooks then depend on hookrun's own life.
    pub(super) fn start(how: &KeeperProgram) -> Option<Keeper> {
        match child::companion(&how.program, &how.arguments) {
            Ok((pid, pipe)) => Some(Keeper { pid, pipe }),
            Err(error) => {
                tracing::warn!(%error, "no keeper");
                None
            }
        }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Tells it of a group that is running.
    pub(super) fn watch(&self, group: Pid) {
        self.tell(&format!("+{}\n", group.as_raw_nonzero()));
    }

    /// Tells it that a group is over.
    pub(super) fn forget(&self, group: Pid) {
        self.tell(&format!("-{}\n", group.as_raw_nonzero()));
    }

    fn tell(&self, line: &str) {
        // A keeper that has died cannot be helped, and nobody may wait for it.
        let _ = rustix::io::write(&self.pipe, line.as_bytes());
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // In a panic hooks may still run, and the end of the pipe is then the right message.
        if !std::thread::panicking() {
            self.tell(&format!("{DONE}\n"));
            // In a container nobody may reap what we leave behind.
            child::reap_within(self.pid, LAST_WAIT);
        }
    }
}

/// The keeper's whole life: reads from `pipe` what runs, until good-bye or the end.
pub fn keep(pipe: impl BufRead, mark: &str) {
    let mut groups: HashMap<i32, Option<OwnedFd>> = HashMap::new();
    for line in pipe.lines() {
        let line = match line {
            Ok(line) => line,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        if line == DONE {
            return;
        }
        let (sign, number) = line.split_at(line.len().min(1));
        let Ok(number) = number.parse::<i32>() else { continue };
        match sign {
            "+" => drop(groups.insert(number, tree::hold(number))),
            _ => drop(groups.remove(&number)),
        }
    }
    for group in groups.keys() {
        tree::end_group(*group);
    }
    tree::end_marked(mark);
}
