//! Kills and names processes that left a hook's process group, through the subreaper.
//!
//! This needs Linux, and a program that exists to run hooks: then every process re-parented to it
//! came from a hook. Elsewhere, a hook's children can escape by leaving its process group.

use std::collections::HashSet;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::child::{GIVE_UP, group_of};
use crate::engine::lock::locked;

/// Time limit of a sweep while new processes appear.
const SWEEP_LIMIT: Duration = Duration::from_millis(500);

/// Time for a process to execute a program, on a busy machine.
const EXECUTING_LIMIT: Duration = Duration::from_millis(200);

const MOST_NAMED: usize = 16;

/// Makes this process the subreaper of its hooks' processes.
#[derive(Debug)]
pub struct Subreaper {
    /// Children from before the first hook, spared by sweeps.
    strangers: HashSet<i32>,
    sweeps: AtomicU64,
    /// The list of the main thread's children, kept open after the second sweep.
    children: Mutex<Option<File>>,
}

impl Subreaper {
    /// Makes this process the subreaper of its descendants. Only for programs that exist to run
    /// hooks: other children of the main thread started after this call are killed and reaped too.
    /// `None` if unsupported.
    #[cfg(target_os = "linux")]
    pub fn take() -> Option<Subreaper> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).ok()?;
        // A shell may have left us children through `exec`.
        let strangers = if has_children() {
            children().into_iter().collect()
        } else {
            HashSet::new()
        };
        Some(Subreaper {
            strangers,
            sweeps: AtomicU64::new(0),
            children: Mutex::new(None),
        })
    }

    /// Returns `None`: unsupported.
    #[cfg(not(target_os = "linux"))]
    pub fn take() -> Option<Subreaper> {
        None
    }

    /// Kills all processes re-parented to us, except those of `spared` hooks. With a mark, only
    /// processes with it or an extension of it. Call it while no hook, or none with that mark,
    /// runs. `groups` were killed already. Returns the processes that still ran outside of them.
    pub(super) fn sweep(
        &self,
        spared: &SparedHooks,
        mark: Option<&str>,
        keeper: Option<Pid>,
        groups: &[Pid],
    ) -> SweepResult {
        let mut swept = SweepResult::default();
        let keeper = keeper.map_or(0, |pid| pid.as_raw_nonzero().get());
        if self.sweeps.fetch_add(1, Ordering::Relaxed) == 1 {
            *locked(&self.children) = open_children();
        }
        if !has_children() {
            return swept;
        }
        let started = Instant::now();
        let mut seen = HashSet::new();
        loop {
            let Some(mut ours) = self.adopted() else {
                swept.is_incomplete = true;
                return swept;
            };
            ours.retain(|pid| *pid != keeper && !self.strangers.contains(pid));
            ours.retain(|pid| !spared.has(*pid));
            ours.retain(|pid| mark.is_none_or(|mark| is_marked(*pid, mark)));
            if ours.is_empty() {
                return swept;
            }
            let mut comes_more = false;
            for pid in ours {
                let is_new = seen.insert(pid);
                comes_more |= is_new;
                // Inspection is slower than a fork bomb.
                if is_new && swept.left.len() < MOST_NAMED {
                    // Members of killed groups may be exiting.
                    let group = Pid::from_raw(pid).and_then(group_of);
                    let mut killed = groups.iter().map(|group| group.as_raw_nonzero().get());
                    let is_killed = killed.any(|one| Some(one) == group);
                    if group.is_some() && !is_killed && !is_zombie(pid) {
                        let words = format!("`{}` (pid {pid})", name_of(pid));
                        swept.left.push(Leftover {
                            hook: variable_of(pid, HOOK),
                            words,
                        });
                    }
                }
                end(pid);
            }
            // A killed process may wait for a processor.
            let limit = if comes_more {
                SWEEP_LIMIT
            } else {
                SWEEP_LIMIT + GIVE_UP
            };
            if started.elapsed() > limit {
                swept.is_incomplete = true;
                return swept;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Subreaper {
    /// Returns the children of the main thread, including re-parented processes. `None` without
    /// `/proc` or descriptors.
    ///
    /// After more than one step the list stays open: reading costs one system call and works
    /// without free descriptors.
    fn adopted(&self) -> Option<Vec<i32>> {
        let kept = locked(&self.children);
        let opened = if kept.is_none() {
            open_children()
        } else {
            None
        };
        let list = kept.as_ref().or(opened.as_ref())?;
        let mut text = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            match rustix::io::pread(list, &mut buffer, text.len() as u64) {
                Ok(0) => break,
                Ok(length) => text.extend_from_slice(buffer.get(..length)?),
                Err(_) => return None,
            }
            // The list is complete if it fits; a space follows each pid.
            if text.len() < buffer.len() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text);
        Some(
            text.split_ascii_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect(),
        )
    }
}

fn open_children() -> Option<File> {
    let main = rustix::process::getpid().as_raw_nonzero();
    File::open(format!("/proc/self/task/{main}/children")).ok()
}

#[derive(Debug, Default)]
pub(super) struct SweepResult {
    pub(super) left: Vec<Leftover>,
    /// Whether processes were left that could not be killed.
    pub(super) is_incomplete: bool,
}

#[derive(Debug)]
pub(super) struct Leftover {
    /// The hook that started it, if its environment names one.
    pub(super) hook: Option<String>,
    pub(super) words: String,
}

/// Returns true if this process has a child. Costs one system call.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        rustix::process::waitid(WaitId::All, options),
        Err(Errno::CHILD)
    )
}

fn children() -> Vec<i32> {
    let mut pids = Vec::new();
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    for task in tasks.flatten() {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        let numbers = list.split_ascii_whitespace();
        pids.extend(numbers.filter_map(|pid| pid.parse::<i32>().ok()));
    }
    pids
}

/// Kills all children, including half-started ones that no other code knows yet.
pub fn end_children() {
    for pid in children().into_iter().filter_map(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

fn end(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else {
        return;
    };
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    let _ = rustix::process::waitid(WaitId::Pid(pid), options);
}

/// Returns the name and pid of another process that holds the other end of a pipe, if found. Needs
/// `/proc`.
pub(super) fn holder_of(pipe: BorrowedFd<'_>) -> Option<String> {
    let inode = rustix::fs::fstat(pipe).ok()?.st_ino;
    let link = format!("pipe:[{inode}]");
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let pid = all_pids().find(|pid| *pid != own && has_open(*pid, &link))?;
    Some(format!("`{}` (pid {pid})", name_of(pid)))
}

fn has_open(pid: i32, link: &str) -> bool {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let files = files.into_iter().flatten().flatten();
    let mut targets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    targets.any(|target| target.as_os_str() == link)
}

fn all_pids() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
}

fn name_of(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().to_string()
}

fn is_zombie(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = status.rsplit(')').next().unwrap_or_default();
    rest.trim_start().starts_with('Z')
}

const HOOK: &str = "HOOKRUN_HOOK=";

const MARK: &str = "HOOKRUN_RUN_ID=";

fn variable_of(pid: i32, name_and_sign: &str) -> Option<String> {
    let environment = environment_of(pid)?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(name_and_sign.as_bytes()))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Returns the environment of a process. While it executes a program, Linux shows an empty one,
/// and a process that is taken for unmarked then would outlive the run.
fn environment_of(pid: i32) -> Option<Vec<u8>> {
    let started = Instant::now();
    let mut buffer = vec![0; 1 << 14];
    loop {
        // What is read by two calls may be cut off, because the first program ended in between.
        let file = File::open(format!("/proc/{pid}/environ")).ok()?;
        let length = rustix::io::pread(&file, &mut buffer, 0).ok()?;
        if length == buffer.len() {
            buffer.resize(2 * length, 0);
            continue;
        }
        // Kernel threads and zombies have no program.
        let may_be_executing = length == 0
            && std::fs::read_link(format!("/proc/{pid}/exe")).is_ok()
            && started.elapsed() < EXECUTING_LIMIT;
        if !may_be_executing {
            buffer.truncate(length);
            return Some(buffer);
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

pub(super) fn end_group(group: i32) {
    if let Some(group) = Pid::from_raw(group) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// Kills every process with this mark or an extension of it, while new ones appear.
pub(super) fn end_marked(mark: &str) {
    let started = Instant::now();
    while started.elapsed() < SWEEP_LIMIT {
        let marked: Vec<i32> = all_pids().filter(|pid| is_marked(*pid, mark)).collect();
        if marked.is_empty() {
            return;
        }
        for pid in marked.into_iter().filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn is_marked(pid: i32, mark: &str) -> bool {
    variable_of(pid, MARK).is_some_and(|found| is_part_of(&found, mark))
}

fn is_part_of(found: &str, mark: &str) -> bool {
    let rest = found.strip_prefix(mark);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Hooks whose processes sweeps spare.
#[derive(Debug, Default)]
pub(super) struct SparedHooks {
    /// Names of hooks that may leave processes behind.
    pub(super) hooks: HashSet<String>,
    /// Marks of session-lived hooks and kept interpreters.
    pub(super) marks: Vec<String>,
}

impl SparedHooks {
    pub(super) fn forget(&mut self, mark: &str) {
        self.marks.retain(|known| known != mark);
    }

    /// Returns true if one of them started this process. Hooks that may leave processes behind have
    /// no mark.
    fn has(&self, pid: i32) -> bool {
        if self.hooks.is_empty() && self.marks.is_empty() {
            return false;
        }
        match variable_of(pid, MARK) {
            Some(found) => self.marks.iter().any(|mark| is_part_of(&found, mark)),
            None => variable_of(pid, HOOK).is_some_and(|hook| self.hooks.contains(&hook)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_its_mark_while_it_executes_programs() {
        let script = "exec sh -c \"$AGAIN\"";
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", script]);
        shell.env("AGAIN", script).env("HOOKRUN_RUN_ID", "mark.1");
        let mut shell = shell.spawn().unwrap();
        let pid = i32::try_from(shell.id()).unwrap();
        let missed = (0..2000).filter(|_| !is_marked(pid, "mark")).count();
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert_eq!(missed, 0);
    }
}
