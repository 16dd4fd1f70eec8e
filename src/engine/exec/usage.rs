//! Measures from `/proc` what a hook's processes use, and whether it is too much.
//!
//! A hook with such limits is measured every few milliseconds, so that one limit covers all its
//! processes together. No rlimit does that. Linux only.

use std::collections::HashSet;
use std::fs;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::engine::hook::duration_text;
use crate::engine::hook::limits::{Limits, size_text};
use crate::engine::run::Ending;

/// How many processes are counted at most. Measuring one takes about 50 µs, and a hook with so many
/// must not delay its own end.
const COUNTED_PROCESSES: u64 = 4096;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) memory_bytes: u64,
    pub(super) cpu: Duration,
    pub(super) processes: u64,
    pids: Vec<i32>,
}

impl Usage {
    /// What `roots` and all their descendants use. It stops counting at the first process too many,
    /// since a bomb keeps growing meanwhile.
    pub(super) fn of_trees(roots: Vec<i32>, limits: &Limits) -> Usage {
        let most = most_counted(limits);
        let mut usage = Usage::default();
        let mut seen: HashSet<i32> = HashSet::new();
        let mut ticks = 0;
        let mut rest = roots;
        while let Some(pid) = rest.pop() {
            if usage.processes == most {
                break;
            }
            if !seen.insert(pid) {
                continue;
            }
            let Some(used) = ticks_of(pid, ALL) else {
                continue;
            };
            ticks += used;
            usage.processes += 1;
            usage.memory_bytes += memory_of(pid);
            usage.pids.push(pid);
            rest.extend(children_of(pid));
        }
        usage.cpu = cpu_time(ticks);
        usage
    }

    /// What the process namespace of `wrapper` uses. The wrapper and its first child, which is the
    /// first process of the namespace, are ours and do not count. Their waited-for children do.
    pub(super) fn in_namespace(wrapper: i32, limits: &Limits) -> Usage {
        let mut roots = children_of(wrapper);
        let mut waited = ticks_of(wrapper, WAITED).unwrap_or(0);
        if !roots.is_empty() {
            let first = roots.remove(0);
            roots.extend(children_of(first));
            waited += ticks_of(first, WAITED).unwrap_or(0);
        }
        let mut usage = Usage::of_trees(roots, limits);
        usage.cpu += cpu_time(waited);
        usage
    }

    /// A closer measurement if memory use seems too high: shared memory then counts once. It takes
    /// ten times as long.
    pub(super) fn looked_into(mut self, limits: &Limits) -> Usage {
        if limits
            .memory_bytes
            .is_some_and(|limit| self.memory_bytes > limit)
        {
            let pids = self.pids.iter().filter(|pid| !is_being_started(**pid));
            self.memory_bytes = pids.map(|pid| share_of(*pid)).sum();
        }
        self
    }

    pub(super) fn excess(&self, limits: &Limits) -> Option<Ending> {
        let memory = limits
            .memory_bytes
            .filter(|limit| self.memory_bytes > *limit);
        if let Some(limit) = memory {
            let used = size_text(self.memory_bytes);
            return Some(over(
                "memory",
                format!("it held {used} of {}", size_text(limit)),
            ));
        }
        if let Some(limit) = limits.cpu.filter(|limit| self.cpu > *limit) {
            let limit = duration_text(limit);
            let used = self.cpu.as_secs_f64();
            return Some(over("cpu", format!("it used {used:.2}s of {limit}")));
        }
        let limit = limits.processes.filter(|limit| self.processes > *limit)?;
        Some(over(
            "processes",
            format!("it had {} at once of {limit}", self.processes),
        ))
    }
}

/// The number of processes at which counting stops.
pub(super) fn most_counted(limits: &Limits) -> u64 {
    limits.processes.map_or(COUNTED_PROCESSES, |limit| {
        limit.saturating_add(1).min(COUNTED_PROCESSES)
    })
}

pub(super) fn over(limit: &'static str, problem: String) -> Ending {
    Ending::OverLimit { limit, problem }
}

/// The processor time of a process and of its waited-for children: proc(5), utime, stime, cutime
/// and cstime.
const ALL: RangeInclusive<usize> = 14..=17;

/// The time of those children alone.
const WAITED: RangeInclusive<usize> = 16..=17;

/// The sum of these fields of a process, in ticks; `None` if it is gone.
fn ticks_of(pid: i32, fields: RangeInclusive<usize>) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain spaces and brackets; the third field follows it.
    let (_, behind) = text.rsplit_once(')')?;
    let all = (3..).zip(behind.split_ascii_whitespace());
    let ticks = all.filter(|(field, _)| fields.contains(field));
    Some(
        ticks
            .filter_map(|(_, ticks)| ticks.parse::<u64>().ok())
            .sum(),
    )
}

fn cpu_time(ticks: u64) -> Duration {
    let nanos = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Duration::from_nanos(ticks.saturating_mul(nanos))
}

/// Resident memory that belongs to no file, plus swap.
pub(super) fn memory_of(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    kibibytes(&text, &["RssAnon:", "RssShmem:", "VmSwap:"]) * 1024
}

fn kibibytes(text: &str, names: &[&str]) -> u64 {
    let values = text.lines().filter_map(|line| {
        let value = names.iter().find_map(|name| line.strip_prefix(name))?;
        value.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    values.sum()
}

/// A process's private memory plus its proportional share of shared memory.
fn share_of(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    if !text.contains("Pss_Anon:") {
        return memory_of(pid);
    }
    kibibytes(&text, &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"]) * 1024
}

/// Whether a process is between vfork and exec. Until exec it only shares its parent's memory, and
/// the parent is paused.
fn is_being_started(pid: i32) -> bool {
    let read = |pid: i32, file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
    let is_started = || {
        let stat = read(pid, "stat")?;
        let (_, behind) = stat.rsplit_once(')')?;
        let mut fields = behind.split_ascii_whitespace();
        let parent: i32 = fields.nth(1)?.parse().ok()?;
        // proc(5): the ninth field; PF_FORKNOEXEC.
        let flags: u64 = fields.nth(4)?.parse().ok()?;
        let waits = |task: fs::DirEntry| {
            let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.rsplit_once(')')
                .is_some_and(|(_, behind)| behind.starts_with(" D"))
        };
        let tasks = || {
            fs::read_dir(format!("/proc/{parent}/task"))
                .into_iter()
                .flatten()
                .flatten()
        };
        let is_same = || Some(read(pid, "smaps_rollup")? == read(parent, "smaps_rollup")?);
        Some(flags & 0x40 != 0 && tasks().any(waits) && is_same()?)
    };
    is_started().unwrap_or(false)
}

pub(super) fn children_of(pid: i32) -> Vec<i32> {
    let mut pids = Vec::new();
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    for task in tasks {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        pids.extend(
            list.split_ascii_whitespace()
                .filter_map(|pid| pid.parse::<i32>().ok()),
        );
    }
    pids
}
