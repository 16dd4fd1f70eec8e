//! If hookrun itself is killed with SIGKILL, somebody else must end its hooks: the keeper.
//!
//! A process of its own that is told, through a pipe, which process groups have run for 10 ms.
//! When the pipe ends without a good-bye, it kills them, and whatever else carries the mark of
//! the run.
//! It is started only for hooks that outlive 10 ms; most never pay for it.

use std::collections::HashSet;
use std::io::{self, BufRead};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;

use super::{cgroup, child, tree};

/// How long a hook runs before the keeper is started.
pub(super) const LATER: Duration = Duration::from_millis(10);

/// How long the keeper's end is waited for: it takes less than a millisecond.
const LAST_WAIT: Duration = Duration::from_millis(50);

/// The good-bye.
const DONE: &str = "done";

/// hookrun's own program, for what must be a process of its own: the keeper, and what sets
/// bounds that cannot be set from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProgram {
    /// The `hookrun` binary, or a program that answers `keep MARK` by `keep` and
    /// `confine …` by [`super::confine::enter`].
    pub path: PathBuf,
    /// The mark that the processes of its hooks carry in `HOOKRUN_RUN_ID`.
    pub mark: String,
}

/// A running keeper.
#[derive(Debug)]
pub(super) struct Keeper {
    pid: Pid,
    pipe: OwnedFd,
}

impl Keeper {
    /// Starts one. `None` where that fails: hooks then depend on hookrun's own life.
    pub(super) fn start(own: &OwnProgram) -> Option<Keeper> {
        match child::companion(&own.path, &["keep".to_string(), own.mark.clone()]) {
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

    /// Tells it of a control group that has a hook in it.
    pub(super) fn watch_cgroup(&self, group: &Path) {
        self.tell(&format!("+{}\n", group.display()));
    }

    /// Tells it that a control group is gone.
    pub(super) fn forget_cgroup(&self, group: &Path) {
        self.tell(&format!("-{}\n", group.display()));
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
            // In a container nobody may reap what we leave behind, and a hook may have stopped it.
            if !child::reap_within(self.pid, LAST_WAIT) {
                child::end(self.pid);
            }
        }
    }
}

/// The keeper's whole life: reads from `pipe` what runs, until good-bye or the end.
pub fn keep(pipe: impl BufRead, mark: &str) {
    let mut groups: HashSet<i32> = HashSet::new();
    let mut cgroups: HashSet<PathBuf> = HashSet::new();
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
        match (sign, name.parse::<i32>()) {
            ("+", Ok(number)) => drop(groups.insert(number)),
            ("+", Err(_)) => drop(cgroups.insert(PathBuf::from(name))),
            (_, Ok(number)) => drop(groups.remove(&number)),
            (_, Err(_)) => drop(cgroups.remove(Path::new(name))),
        }
    }
    for group in groups {
        tree::end_group(group);
    }
    for group in cgroups {
        cgroup::end(&group);
    }
    tree::end_marked(mark);
}
