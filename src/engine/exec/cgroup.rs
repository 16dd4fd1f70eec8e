//! A control group for one hook: no process that the hook starts can leave it, and one write kills
//! them all. Version 2, below hookrun's own group.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::child::GIVE_UP;

/// The file that takes the numbers of processes to move into a group.
const PROCESSES: &str = "cgroup.procs";

/// A control group made for a hook. Dropping it kills its processes and removes it.
#[derive(Debug)]
pub(super) struct Cgroup {
    pub(super) path: PathBuf,
    is_over: bool,
}

impl Cgroup {
    /// Makes a control group with this name. Where the system counts processes, the limit leaves a
    /// little room above `processes`: a hook that exceeds it is seen, and a fork bomb is stopped.
    ///
    /// # Errors
    /// When the system cannot make one.
    pub(super) fn make(name: &str, processes: Option<u64>) -> Result<Cgroup, String> {
        let own = own_group()?;
        let path = own.join(name);
        fs::create_dir(&path).map_err(|error| {
            format!(
                "no control group can be made below {}: {error}",
                own.display()
            )
        })?;
        let group = Cgroup {
            path,
            is_over: false,
        };
        // Linux 5.14. Without it a hook that forks could outrun us while we kill one process at a
        // time.
        if !group.path.join("cgroup.kill").exists() {
            return Err("this kernel cannot kill a control group at once".to_string());
        }
        if let Some(limit) = processes {
            let most = limit.saturating_mul(2).saturating_add(64);
            let _ = fs::write(group.path.join("pids.max"), most.to_string());
        }
        Ok(group)
    }

    /// Moves a process into it.
    ///
    /// # Errors
    /// When the system does not let us.
    pub(super) fn adopt(&self, pid: Pid) -> io::Result<()> {
        fs::write(self.path.join(PROCESSES), pid.as_raw_nonzero().to_string())
    }

    /// Kills its processes and removes it. Returns whether nothing is left.
    pub(super) fn end(mut self) -> bool {
        self.is_over = true;
        end(&self.path)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if !self.is_over {
            end(&self.path);
        }
    }
}

pub(super) fn join(group: &Path) -> io::Result<()> {
    fs::write(group.join(PROCESSES), "0")
}

/// Kills all processes in a control group, waits until they are dead, and removes the group.
pub(super) fn end(group: &Path) -> bool {
    let _ = fs::write(group.join("cgroup.kill"), "1");
    let started = Instant::now();
    loop {
        match fs::remove_dir(group) {
            Ok(()) => return true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
            // Killed processes stay in the group until they are dead.
            Err(_) if started.elapsed() < GIVE_UP => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(_) => return false,
        }
    }
}

fn own_group() -> Result<PathBuf, String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mount = mounts.lines().find_map(|line| {
        // proc(5): the mount point is the fifth field; the file system follows ` - `.
        let (mount, system) = line.split_once(" - ")?;
        system
            .starts_with("cgroup2 ")
            .then(|| mount.split(' ').nth(4))
            .flatten()
    });
    let mount = mount.ok_or("control groups of version 2 are not mounted here")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let group = group.ok_or("hookrun is in no control group of version 2")?;
    Ok(Path::new(mount).join(group))
}
