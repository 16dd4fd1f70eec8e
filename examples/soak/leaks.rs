//! What this process has and should not have: processes, descriptors, threads, memory.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use hookrun::internals::exec::tree;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// The children of every thread of this process, zombies included. As it is the subreaper, all
/// that hooks leave behind is among them.
pub(crate) fn children() -> Vec<Pid> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if let Err(Errno::CHILD) = rustix::process::waitid(WaitId::All, options) {
        return Vec::new();
    }
    let mut pids = Vec::new();
    for task in fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten()
    {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        let numbers = list
            .split_ascii_whitespace()
            .filter_map(|word| word.parse().ok());
        pids.extend(numbers.filter_map(Pid::from_raw));
    }
    pids
}

/// A process in words, for a finding.
pub(crate) fn described(pid: Pid) -> String {
    let number = pid.as_raw_nonzero();
    let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&line).replace('\0', " ");
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.split(' ').next())
        .unwrap_or("gone");
    format!("{number} `{}` ({state})", words.trim())
}

/// Whether a child is a keeper: every hook has a group of its own, and only a keeper is in ours.
pub(crate) fn is_keeper(pid: Pid) -> bool {
    let pid = nix::unistd::Pid::from_raw(pid.as_raw_nonzero().get());
    nix::unistd::getpgid(Some(pid)).is_ok_and(|group| group == nix::unistd::getpgrp())
}

/// Waits for a child that is about to end by itself, and reaps it. False if it does not end.
pub(crate) fn ends_within(pid: Pid, limit: Duration) -> bool {
    let started = Instant::now();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    while let Ok(None) = rustix::process::waitid(WaitId::Pid(pid), options) {
        if started.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Ends and reaps all children, so that one leak is counted once. False if some stay.
pub(crate) fn clear_children() -> bool {
    let started = Instant::now();
    while !children().is_empty() {
        tree::end_children();
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        while let Ok(Some(_)) = rustix::process::waitid(WaitId::All, options) {}
        if started.elapsed() > Duration::from_secs(2) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Every process whose environment carries `mark`, whoever its parent is by now.
pub(crate) fn marked(mark: &str) -> Vec<Pid> {
    let wanted = format!("HOOKRUN_RUN_ID={mark}").into_bytes();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let carries = |number: &i32| {
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted)
    };
    numbers.filter(carries).filter_map(Pid::from_raw).collect()
}

/// Kills a child of this process, if there is one, and says whether. The number cannot be a
/// stranger's: it is held by a pidfd before it is checked.
pub(crate) fn kill_a_child(choice: u64) -> bool {
    let children = children();
    if children.is_empty() {
        return false;
    }
    let count = children.len() as u64;
    let child = children[usize::try_from(choice % count).unwrap_or(0)];
    let flags = rustix::process::PidfdFlags::empty();
    let Ok(held) = rustix::process::pidfd_open(child, flags) else {
        return false;
    };
    self::children().contains(&child)
        && rustix::process::pidfd_send_signal(held, Signal::KILL).is_ok()
}

/// The numbers of the open descriptors.
pub(crate) fn descriptors() -> io::Result<HashSet<u64>> {
    let mut numbers = HashSet::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        // The descriptor of this very listing is closed again, and its link then leads nowhere.
        numbers.extend(
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<u64>().ok()),
        );
    }
    numbers.retain(|number| fs::read_link(format!("/proc/self/fd/{number}")).is_ok());
    Ok(numbers)
}

/// Whether a thread of this process has that name.
pub(crate) fn has_thread(name: &str) -> bool {
    let tasks = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.into_iter().any(|known| known.trim_end() == name)
}

/// How many threads there are.
pub(crate) fn threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// How much memory is resident.
pub(crate) fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap_or_default();
    line.split_whitespace()
        .next()
        .and_then(|kib| kib.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}
