//! What the processes of a hook use, read from `/proc`, and whether it is too much.
//!
//! Looked at every few milliseconds while a hook with such limits runs, so that one limit holds
//! for all its processes together, which no rlimit does. Linux only.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use crate::hook::limits::{Limits, size_text};
use crate::run::Ending;

/// How many processes are counted at most: looking at one takes about 50 µs, and a hook that has
/// started so many must not delay its own end.
const COUNTED_PROCESSES: u64 = 4096;

/// What a tree of processes uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) memory_bytes: u64,
    pub(super) cpu: Duration,
    pub(super) processes: u64,
}

impl Usage {
    /// What is used by `roots` and all their descendants.
    pub(super) fn of_trees(roots: Vec<i32>) -> Usage {
        let mut usage = Usage::default();
        let mut seen: HashSet<i32> = HashSet::new();
        let mut ticks = 0;
        let mut rest = roots;
        while let Some(pid) = rest.pop() {
            if usage.processes == COUNTED_PROCESSES {
                break;
            }
            if !seen.insert(pid) {
                continue;
            }
            let Some(used) = ticks_of(pid) else { continue };
            ticks += used;
            usage.processes += 1;
            usage.memory_bytes += memory_of(pid);
            rest.extend(children_of(pid));
        }
        let nanos = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        usage.cpu = Duration::from_nanos(ticks.saturating_mul(nanos));
        usage
    }

    /// The first limit that is exceeded.
    pub(super) fn excess(&self, limits: &Limits) -> Option<Ending> {
        let memory = limits.memory_bytes.filter(|limit| self.memory_bytes > *limit);
        if let Some(limit) = memory {
            let used = size_text(self.memory_bytes);
            return Some(over("memory", format!("it held {used} of {}", size_text(limit))));
        }
        if let Some(limit) = limits.cpu.filter(|limit| self.cpu > *limit) {
            let limit = crate::hook::duration_text(limit);
            let used = self.cpu.as_secs_f64();
            return Some(over("cpu", format!("it used {used:.2}s of {limit}")));
        }
        let limit = limits.processes.filter(|limit| self.processes > *limit)?;
        Some(over("processes", format!("it had {} at once of {limit}", self.processes)))
    }
}

/// A struck limit.
pub(super) fn over(limit: &'static str, problem: String) -> Ending {
    Ending::OverLimit { limit, problem }
}

/// The processor time of a process and of those children that it has waited for, in ticks;
/// `None` if it is gone.
fn ticks_of(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // proc(5): the name may hold blanks and brackets; utime, stime, cutime and cstime are the
    // fields 14 to 17, and what stands behind the name begins with the third.
    let (_, behind) = text.rsplit_once(')')?;
    let ticks = behind.split_ascii_whitespace().skip(11).take(4);
    Some(ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum())
}

/// What a process holds of its own: resident memory that is no file's, and what was swapped out.
fn memory_of(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let own = ["RssAnon:", "RssShmem:", "VmSwap:"];
    let kibibytes = text.lines().filter_map(|line| {
        let value = own.iter().find_map(|name| line.strip_prefix(name))?;
        value.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    kibibytes.sum::<u64>() * 1024
}

/// The children of every thread of a process.
pub(super) fn children_of(pid: i32) -> Vec<i32> {
    let mut pids = Vec::new();
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        pids.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    pids
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_counted_with_all_its_children() {
        let own = i32::try_from(std::process::id()).unwrap();
        let alone = Usage::of_trees(vec![own]);
        assert!(alone.processes >= 1 && alone.memory_bytes > 0, "{alone:?}");
        let limits = Limits { memory_bytes: Some(1), ..Limits::default() };
        assert!(matches!(alone.excess(&limits), Some(Ending::OverLimit { limit: "memory", .. })));
        assert_eq!(alone.excess(&Limits::default()), None);
    }
}
