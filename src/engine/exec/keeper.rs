//! The keeper: a process that kills the hooks if hookrun dies of SIGKILL.
//!
//! hookrun reports process groups that have run for 10 ms to it through a pipe; most hooks exit
//! sooner. If the pipe closes without `done`, the keeper kills these groups and every process with
//! the mark of the run.

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

/// Time for the keeper to exit, which takes less than a millisecond.
const LAST_WAIT: Duration = Duration::from_millis(50);

const DONE: &str = "done";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProgram {
    /// The `hookrun` binary, or a program that handles `keep MARK` with `keep` and `confine …` with
    /// [`super::confine::enter`].
    pub path: PathBuf,
    /// `HOOKRUN_RUN_ID` of its hooks' processes.
    pub mark: String,
}

#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) pid: Pid,
    pipe: OwnedFd,
}

impl Keeper {
    /// Starts a keeper in a new session, so that killing hookrun's group spares it.
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
            // Inside another hookrun's hook, it must not look like a stray process.
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

    pub(super) fn watch(&self, group: Pid) {
        self.write(&format!("+{}\n", group.as_raw_nonzero()));
    }

    pub(super) fn forget(&self, group: Pid) {
        self.write(&format!("-{}\n", group.as_raw_nonzero()));
    }

    fn write(&self, line: &str) {
        // A dead keeper cannot be revived, and must not block us.
        let _ = rustix::io::write(&self.pipe, line.as_bytes());
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // After a panic hooks may still be running, so close the pipe without `done`.
        if !std::thread::panicking() {
            self.write(&format!("{DONE}\n"));
            // In a container nothing may reap it, and a hook may have stopped it.
            if !child::reap_within(self.pid, LAST_WAIT) {
                child::end(self.pid);
            }
        }
    }
}

/// The keeper's main loop: reads running groups from `pipe` until `done` or end of file.
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
