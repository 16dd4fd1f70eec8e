//! What a kept interpreter and a hook must have in common, so that a process forked from the one
//! is like a fresh start for the other.

use std::ffi::OsString;
use std::path::PathBuf;

use rustix::process::{Resource, Rlimit};

use super::files::stamp;
use super::script::ScriptCommand;
use crate::engine::run::ColdReason;

/// Variables that the interpreter and the system's libraries read once, at their start.
const START_UP: &[&str] = &["HOME", "LANG", "LANGUAGE", "LOCPATH", "TZ", "VIRTUAL_ENV"];

/// The same, by how their names begin.
const START_UP_BEGINNINGS: &[&str] = &["PYTHON", "LC_", "LD_", "GLIBC_", "MALLOC_", "OPENSSL_"];

/// The variables of Python whose meaning is the same for a forked process. Others add folders to
/// search, print at the end, or hook into the start.
const USUAL_OF_PYTHON: &[&str] = &[
    "PYTHONCOERCECLOCALE",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONINTMAXSTRDIGITS",
    "PYTHONIOENCODING",
    "PYTHONNODEBUGRANGES",
    "PYTHONNOUSERSITE",
    "PYTHONOPTIMIZE",
    "PYTHONPYCACHEPREFIX",
    "PYTHONSAFEPATH",
    "PYTHONUNBUFFERED",
    "PYTHONUSERBASE",
    "PYTHONUTF8",
];

/// The limits that a process inherits.
const LIMITS: &[Resource] = &[
    Resource::As,
    Resource::Core,
    Resource::Cpu,
    Resource::Data,
    Resource::Fsize,
    Resource::Memlock,
    Resource::Nofile,
    Resource::Nproc,
    Resource::Rss,
    Resource::Stack,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct WarmKey {
    interpreter: PathBuf,
    /// Device, inode, size and times of its file: another one may be there by now.
    file: [i64; 5],
    name: OsString,
    options: Vec<OsString>,
    /// Variables that count at the start, as `NAME=VALUE`.
    variables: Vec<Vec<u8>>,
    traits: ProcessTraits,
    /// The sandbox and the limits that its processes have from the start; empty for none.
    bounds: String,
}

/// What a process has from its parent and can be changed from outside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ProcessTraits {
    user: [u32; 2],
    groups: Vec<u32>,
    niceness: i32,
    limits: Vec<[Option<u64>; 2]>,
    cgroup: Vec<u8>,
}

impl WarmKey {
    /// The key of `command` with the environment `lines`, within `bounds`.
    ///
    /// # Errors
    /// Why no interpreter can be kept for it.
    pub(super) fn of(
        command: &ScriptCommand,
        lines: &[&[u8]],
        bounds: String,
    ) -> Result<WarmKey, ColdReason> {
        let file = stamp(&command.interpreter).ok_or(ColdReason::NoScript)?;
        let mut variables = Vec::new();
        for line in lines {
            let end = line
                .iter()
                .position(|byte| *byte == b'=')
                .unwrap_or(line.len());
            let name = str::from_utf8(&line[..end]).unwrap_or_default();
            let is_set = line.len() > end + 1;
            if name.starts_with("PYTHON") && is_set && !USUAL_OF_PYTHON.contains(&name) {
                return Err(ColdReason::Variables);
            }
            // An interpreter that is called by a bare name looks for itself there.
            let is_search = name == "PATH" && !command.interpreter.as_os_str().eq(&command.name);
            let begins = |beginning: &&str| name.starts_with(*beginning);
            if is_search || START_UP.contains(&name) || START_UP_BEGINNINGS.iter().any(begins) {
                variables.push(line.to_vec());
            }
        }
        variables.sort();
        let (interpreter, name) = (command.interpreter.clone(), command.name.clone());
        let (options, traits) = (command.options.clone(), ProcessTraits::own());
        Ok(WarmKey {
            interpreter,
            file,
            name,
            options,
            variables,
            traits,
            bounds,
        })
    }
}

/// What a hook would inherit from this process and can be changed from outside, as a text to
/// compare.
pub fn inherited_traits() -> String {
    let mut text = format!("{:?}", ProcessTraits::own());
    for namespace in ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"] {
        let found = std::fs::read_link(format!("/proc/self/ns/{namespace}"));
        text.push_str(&found.unwrap_or_default().to_string_lossy());
    }
    text
}

impl ProcessTraits {
    fn own() -> ProcessTraits {
        use rustix::process::{getgid, getpriority_process, getrlimit, getuid};
        let limit = |limit: &Resource| {
            let Rlimit { current, maximum } = getrlimit(*limit);
            [current, maximum]
        };
        let groups = rustix::process::getgroups().unwrap_or_default();
        ProcessTraits {
            user: [getuid().as_raw(), getgid().as_raw()],
            groups: groups.into_iter().map(|group| group.as_raw()).collect(),
            niceness: getpriority_process(None).unwrap_or_default(),
            limits: LIMITS.iter().map(limit).collect(),
            cgroup: std::fs::read("/proc/self/cgroup").unwrap_or_default(),
        }
    }
}
