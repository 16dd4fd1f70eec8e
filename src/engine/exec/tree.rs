//! Whatever left a hook's process group: found through the subreaper, ended and named.
//!
//! Linux only, and only for a process that exists to run hooks: everything that is then
//! re-parented to it was started by a hook. On other systems, and inside programs that have
//! children of their own, a hook's children that leave its process group can escape.

use std::collections::HashSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::child::{GIVE_UP, group_of};
use super::usage;
use crate::engine::hook::Hook;
use crate::engine::lock::locked;

/// How long a sweep goes on while new processes keep appearing.
const SWEEP_LIMIT: Duration = Duration::from_millis(500);

/// How many of the processes that a sweep finds it names.
const MOST_NAMED: usize = 16;

/// The ground on which this process stands: it is the subreaper of all that its hooks start.
#[derive(Debug)]
pub struct Subreaper {
    /// Children that were there before the first hook; they are left alone.
    strangers: HashSet<i32>,
    /// How often there was a sweep.
    sweeps: AtomicU64,
    /// The list of the main thread's children, once there was more than one sweep.
    children: Mutex<Option<File>>,
}

impl Subreaper {
    /// Makes this process the subreaper of its descendants. Only for a program that exists to run
    /// hooks: every child that its main thread has besides, if it was started after this, is
    /// ended and reaped as well.
    ///
    /// `None` where the system has no subreapers.
    #[cfg(target_os = "linux")]
    pub fn take() -> Option<Subreaper> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).ok()?;
        // A shell may have left children to us by `exec`.
        let strangers =
            if has_children() { children().into_iter().collect() } else { HashSet::new() };
        Some(Subreaper { strangers, sweeps: AtomicU64::new(0), children: Mutex::new(None) })
    }

    /// `None`: this system has no subreapers.
    #[cfg(not(target_os = "linux"))]
    pub fn take() -> Option<Subreaper> {
        None
    }

    /// Ends every process that was re-parented to us, except those of hooks in `spared`, whose
    /// specs let them leave processes behind. With a mark, only those that carry it. To be called
    /// while no hook runs, or none with that mark.
    ///
    /// `groups` are those of hooks that were just killed with all their members. The names of what
    /// was still running outside them, and whether all of it is gone.
    pub(super) fn sweep(
        &self,
        spared: &HashSet<String>,
        mark: Option<&str>,
        keeper: Option<Pid>,
        groups: &[Pid],
    ) -> Swept {
        let mut swept = Swept { left: Vec::new(), is_clean: true };
        let keeper = keeper.map_or(0, |pid| pid.as_raw_nonzero().get());
        if self.sweeps.fetch_add(1, Ordering::Relaxed) == 1 {
            *locked(&self.children) = open_children();
        }
        if !has_children() {
            return swept;
        }
        let is_killed = |group| groups.iter().any(|one| one.as_raw_nonzero().get() == group);
        let started = Instant::now();
        let mut seen = HashSet::new();
        loop {
            let Some(mut ours) = self.adopted() else {
                swept.is_clean = false;
                return swept;
            };
            ours.retain(|pid| *pid != keeper && !self.strangers.contains(pid));
            ours.retain(|pid| !is_spared(*pid, spared));
            ours.retain(|pid| mark.is_none() || mark_of(*pid).as_deref() == mark);
            if ours.is_empty() {
                return swept;
            }
            let mut comes_more = false;
            for pid in ours {
                let is_new = seen.insert(pid);
                comes_more |= is_new;
                // Looking takes longer than a bomb needs for the next process.
                if is_new && swept.left.len() < MOST_NAMED {
                    // Members of the groups were killed with them and may just be ending.
                    let group = Pid::from_raw(pid).and_then(group_of);
                    if group.is_some_and(|group| !is_killed(group)) && !is_zombie(pid) {
                        let words = format!("{} (pid {pid})", name_of(pid));
                        swept.left.push(Leftover { hook: hook_of(pid), words });
                    }
                }
                end(pid);
            }
            // What is killed and not dead yet only waits for a processor.
            let limit = if comes_more { SWEEP_LIMIT } else { SWEEP_LIMIT + GIVE_UP };
            if started.elapsed() > limit {
                swept.is_clean = false;
                return swept;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Subreaper {
    /// The children of the main thread, to which all is added that is re-parented to us. `None` if
    /// the system does not tell: there is no `/proc`, or no descriptor left.
    ///
    /// A program that runs more than one step keeps the list open: then it costs one system call,
    /// and can be read when there are no descriptors left.
    fn adopted(&self) -> Option<Vec<i32>> {
        let kept = locked(&self.children);
        let opened = if kept.is_none() { open_children() } else { None };
        let list = kept.as_ref().or(opened.as_ref())?;
        let mut text = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            match rustix::io::pread(list, &mut buffer, text.len() as u64) {
                Ok(0) => break,
                Ok(length) => text.extend_from_slice(buffer.get(..length)?),
                Err(_) => return None,
            }
            // What fits was all; each pid ends in a blank.
            if text.len() < buffer.len() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text);
        Some(text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect())
    }
}

/// The list of the main thread's children.
fn open_children() -> Option<File> {
    let main = rustix::process::getpid().as_raw_nonzero();
    File::open(format!("/proc/self/task/{main}/children")).ok()
}

/// What a sweep found.
#[derive(Debug)]
pub(super) struct Swept {
    /// What was still running when it was found.
    pub(super) left: Vec<Leftover>,
    /// Whether nothing of it is left.
    pub(super) is_clean: bool,
}

/// A process that a hook left behind.
#[derive(Debug)]
pub(super) struct Leftover {
    /// The hook that it came from, if it still had the hook's environment.
    pub(super) hook: Option<String>,
    /// Its name and pid.
    pub(super) words: String,
}

/// Whether this process has any child, in one system call.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(rustix::process::waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// The children of this process.
fn children() -> Vec<i32> {
    usage::children_of(rustix::process::getpid().as_raw_nonzero().get())
}

/// The children of this process that were started by `hook` and are none of `leaders`: those of
/// its processes that were re-parented to us, as far as they need to be counted.
pub(super) fn strays_of(hook: &Hook, mark: Option<&str>, leaders: &[i32]) -> Vec<i32> {
    let is_stray = |pid: &i32| {
        !leaders.contains(pid)
            && hook_of(*pid).as_deref() == Some(hook.name.as_str())
            && (mark.is_none() || mark_of(*pid).as_deref() == mark)
    };
    let most = usize::try_from(usage::most_counted(&hook.limits)).unwrap_or(usize::MAX);
    children().into_iter().filter(is_stray).take(most).collect()
}

/// Kills every child of this process, a half-started one included, which nobody knows yet.
pub fn end_children() {
    for pid in children().into_iter().filter_map(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Kills a child of ours and takes it out of the process table if it is dead.
fn end(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else {
        return;
    };
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    let _ =
        rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
}

/// The name and pid of another process that has the other end of a pipe open; `None` if none is
/// found, or the system has no `/proc`.
pub(super) fn holder_of(pipe: &OwnedFd) -> Option<String> {
    let inode = rustix::fs::fstat(pipe).ok()?.st_ino;
    let link = format!("pipe:[{inode}]");
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let holds = |pid: &i32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let mut targets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        targets.any(|target| target.as_os_str() == link.as_str())
    };
    let pid = all_pids().filter(|pid| *pid != own).find(holds)?;
    Some(format!("`{}` (pid {pid})", name_of(pid)))
}

/// Every process that is there; none where the system has no `/proc`.
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
    status.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// The hook whose environment a process still has.
fn hook_of(pid: i32) -> Option<String> {
    variable_of(pid, "HOOKRUN_HOOK=")
}

/// The mark of the run that a process was started in.
fn mark_of(pid: i32) -> Option<String> {
    variable_of(pid, "HOOKRUN_RUN_ID=")
}

/// The value of a variable in the environment that a process was started with.
fn variable_of(pid: i32, name_and_sign: &str) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(name_and_sign.as_bytes()))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Kills a process group.
pub(super) fn end_group(group: i32) {
    if let Some(group) = Pid::from_raw(group) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// Kills every process whose environment carries the mark of a run, as long as new ones appear.
pub(super) fn end_marked(mark: &str) {
    end_started_with("HOOKRUN_RUN_ID", mark);
}

/// Kills every process that was started with this variable, or with a value that begins with it
/// and a dot, as long as new ones appear.
pub fn end_started_with(name: &str, value: &str) {
    let started = Instant::now();
    while started.elapsed() < SWEEP_LIMIT {
        let marked = pids_started_with(name, value);
        if marked.is_empty() {
            return;
        }
        for pid in marked.into_iter().filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The processes that were started with this variable, by name and pid; none where the system has
/// no `/proc`.
pub fn started_with(name: &str, value: &str) -> Vec<String> {
    let marked = pids_started_with(name, value).into_iter();
    marked.map(|pid| format!("{} (pid {pid})", name_of(pid))).collect()
}

fn pids_started_with(name: &str, value: &str) -> Vec<i32> {
    let name_and_sign = format!("{name}=");
    let has = |pid: &i32| {
        variable_of(*pid, &name_and_sign).is_some_and(|found| is_part_of(&found, value))
    };
    all_pids().filter(has).collect()
}

/// Whether `found` is the mark `mark`, or that of a part of what has it.
fn is_part_of(found: &str, mark: &str) -> bool {
    let rest = found.strip_prefix(mark);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a process was left behind by a hook that may do so: those have no mark.
fn is_spared(pid: i32, spared: &HashSet<String>) -> bool {
    !spared.is_empty()
        && hook_of(pid).is_some_and(|hook| spared.contains(&hook))
        && mark_of(pid).is_none()
}
