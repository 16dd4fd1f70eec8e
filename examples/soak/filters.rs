//! Threads in which system calls fail: a filter of the kernel's for one thread and all that it
//! starts, without unsafe code.

use std::{panic, thread};

use rustix::io::Errno;
use seccompiler::{BpfProgram, TargetArch};

/// System calls that fail in a thread, and in all that it starts; or why there is no such filter.
#[derive(Debug)]
pub(crate) struct Filters {
    pidfd: Result<BpfProgram, String>,
    fork: Result<BpfProgram, String>,
}

impl Filters {
    /// Compiles them for this processor.
    pub(crate) fn compile() -> Filters {
        Filters {
            // As a kernel says that does not know the call.
            pidfd: filter(&["pidfd_open"], Errno::NOSYS),
            fork: filter(&["clone", "clone3"], Errno::AGAIN),
        }
    }

    /// Does something in a thread of its own that gets no pidfd.
    ///
    /// # Errors
    /// When the system does not take the filter.
    pub(crate) fn without_pidfd<T: Send>(
        &self,
        task: impl FnOnce() -> T + Send,
    ) -> Result<T, String> {
        under(&self.pidfd, task)
    }

    /// Does something in a thread of its own that cannot start anything.
    ///
    /// # Errors
    /// When the system does not take the filter.
    pub(crate) fn without_fork<T: Send>(
        &self,
        task: impl FnOnce() -> T + Send,
    ) -> Result<T, String> {
        under(&self.fork, task)
    }
}

fn filter(calls: &[&str], errno: Errno) -> Result<BpfProgram, String> {
    let rules: Vec<_> = calls
        .iter()
        .map(|call| serde_json::json!({ "syscall": call }))
        .collect();
    let written = serde_json::json!({ "thread": {
        "mismatch_action": "allow",
        "match_action": { "errno": errno.raw_os_error() },
        "filter": rules,
    }});
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let compiled = seccompiler::compile_from_json(written.to_string().as_bytes(), arch);
    let mut compiled = compiled.map_err(|error| error.to_string())?;
    compiled
        .remove("thread")
        .ok_or_else(|| "no filter".to_string())
}

/// Does something in a thread of its own, in which system calls fail.
fn under<T: Send>(
    filter: &Result<BpfProgram, String>,
    task: impl FnOnce() -> T + Send,
) -> Result<T, String> {
    let filter = filter.as_ref().map_err(Clone::clone)?;
    thread::scope(|scope| {
        let filtered = thread::Builder::new().spawn_scoped(scope, || {
            seccompiler::apply_filter(filter).map_err(|error| error.to_string())?;
            Ok(task())
        });
        let filtered = filtered.map_err(|error| error.to_string())?;
        filtered
            .join()
            .unwrap_or_else(|cause| panic::resume_unwind(cause))
    })
}
