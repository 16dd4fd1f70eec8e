//! The keeper: a separate process that ends the hooks if hookrun is killed with SIGKILL.
//!
//! hookrun writes to it, through a pipe, which process groups have run for 10 ms. When the pipe
//! ends without a good-bye, the keeper kills those groups and every process that carries the mark
//! of the run. Most hooks end sooner and never pay for it.

use std::collections::HashSet;
use std::io::{self, BufRead};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;

use super::command::Program;
use super::spawn::{Inherited, Spawn};
use super::{child, tree};

/// How long a hook runs before the keeper is started.
pub(super) const LATER: Duration = Duration::from_millis(10);

/// How long to wait for the keeper's end, which takes less than a millisecond.
const LAST_WAIT: Duration = Duration::from_millis(50);

const DONE: &str = "done";

/// hookrun's own program. It runs as the keeper, and to set bounds that cannot be set from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProgram {
    /// The `hookrun` binary, or a program that answers `keep MARK` with `keep` and `confine …` with
    /// [`super::confine::enter`].
    pub path: PathBuf,
    /// The mark in the `HOOKRUN_RUN_ID` of its hooks' processes.
    pub mark: String,
}

#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) pid: Pid,
    pipe: OwnedFd,
}

impl Keeper {
    /// Starts a keeper. It begins in its own session: what ends hookrun's group at this moment
    /// must not end it.
    pub(super) fn start(own: &OwnProgram) -> io::Result<Keeper> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        let arguments = vec!["keep".into(), own.mark.clone().into()];
        let program = Program {
            path: own.path.clone(),
            name: "hookrun".into(),
            arguments,
        };
        let spawn = Spawn {
            program: &program,
            inherited: Inherited::of_this_process(),
            // Inside a hook of another hookrun, that hookrun must not mistake it for a stray process.
            without: &["HOOKRUN_RUN_ID"],
            variables: &[],
            cwd: None,
        };
        let pid = spawn.start_alone(reader.into())?;
        Ok(Keeper {
            pid,
            pipe: writer.into(),
        })
    }

    /// Reports a running process group to the keeper.
    pub(super) fn watch(&self, group: Pid) {
        self.tell(&format!("+{}\n", group.as_raw_nonzero()));
    }

    /// Tells the keeper that a process group is gone.
    pub(super) fn forget(&self, group: Pid) {
        self.tell(&format!("-{}\n", group.as_raw_nonzero()));
    }

    fn tell(&self, line: &str) {
        // We cannot revive a dead keeper, and must not wait for it.
        let _ = rustix::io::write(&self.pipe, line.as_bytes());
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // After a panic hooks may still be running, so closing the pipe without a good-bye is
        // right.
        if !std::thread::panicking() {
            self.tell(&format!("{DONE}\n"));
            // In a container nothing may reap what we leave behind, and a hook may have stopped the
            // keeper.
            if !child::reap_within(self.pid, LAST_WAIT) {
                child::end(self.pid);
            }
        }
    }
}

/// The keeper's main loop: reads from `pipe` which hooks run, until good-bye or end of file.
pub fn keep(pipe: impl BufRead, mark: &str) {
    let mut groups: HashSet<i32> = HashSet::new();
    for line in pipe.lines() {
        let line = match line {
            Ok(line) => line,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        if line == DONE {
            return;
        }
        let (sign, name) = line.split_at(line.len().min(1));
        let Ok(group) = name.parse::<i32>() else {
            continue;
        };
        if sign == "+" {
            groups.insert(group);
        } else {
            groups.remove(&group);
        }
    }
    for group in groups {
        tree::end_group(group);
    }
    tree::end_marked(mark);
}
