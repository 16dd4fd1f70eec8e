//! What a hook may use up and touch, and how strictly everything that it starts ends with it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::names::{duration_text, names, size_text};

/// What a hook may use up. Every limit but the timeout is off unless its spec sets it. The system
/// enforces `memory_bytes`, `cpu` and `files` for each process of the hook by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run; `None` leaves it to its dialect and the event (see
    /// [`Hook::timeout`](super::Hook::timeout)).
    pub timeout: Option<Duration>,
    /// How much memory each of its processes may have for its data, in bytes: heap and other
    /// private writable memory. An allocation beyond it fails.
    pub memory_bytes: Option<u64>,
    /// How much processor time each of them may use, rounded up to whole seconds.
    pub cpu: Option<Duration>,
    /// How many files each of them may have open at once.
    pub files: Option<u64>,
    /// How much it may write to stdout and stderr together, in bytes.
    pub output_bytes: Option<u64>,
}

impl Limits {
    /// The limits that the system enforces for each process; `None` if there are none.
    pub(crate) fn of_process(&self) -> Option<ProcessLimits> {
        let limits = ProcessLimits {
            memory_bytes: self.memory_bytes,
            cpu_seconds: self.cpu.map(|time| time.as_millis().div_ceil(1000) as u64),
            files: self.files,
        };
        (limits != ProcessLimits::default()).then_some(limits)
    }

    /// Notes for a hook that failed, which may have failed because of these limits.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(bytes) = self.memory_bytes {
            notes.push(format!(
                "each of its processes could hold {}",
                size_text(bytes)
            ));
        }
        if let Some(time) = self.cpu {
            let time = duration_text(time);
            notes.push(format!(
                "each of its processes could use {time} of processor time"
            ));
        }
        if let Some(files) = self.files {
            notes.push(format!(
                "each of its processes could have {files} files open"
            ));
        }
        notes
    }
}

/// The limits of one process, which its children inherit. The system enforces them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessLimits {
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpu_seconds: Option<u64>,
    pub(crate) files: Option<u64>,
}

/// What a hook in a sandbox may touch. By default it may read everything, write nothing but its own
/// state folder, and has no network.
///
/// Paths are as written: relative to the project's root, or with `~/` below the home folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Files and folders that it may read and run; `None` for everything.
    pub read: Option<Vec<String>>,
    /// Files and folders that it may read, change, make and remove.
    pub write: Vec<String>,
    /// It may use the network.
    pub network: bool,
    /// It does not run if the system cannot enforce all of this.
    pub required: bool,
}

impl Default for Sandbox {
    fn default() -> Sandbox {
        Sandbox {
            read: None,
            write: Vec::new(),
            network: false,
            required: true,
        }
    }
}

impl std::fmt::Display for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.read {
            Some(paths) => write!(f, "reads {}", paths.join(", "))?,
            None => f.write_str("reads everything")?,
        }
        match self.write.as_slice() {
            [] => f.write_str("; writes nothing")?,
            paths => write!(f, "; writes {}", paths.join(", "))?,
        }
        f.write_str(if self.network {
            "; network"
        } else {
            "; no network"
        })?;
        f.write_str(if self.required {
            ""
        } else {
            "; as far as the system supports it"
        })
    }
}

/// How surely all that a hook starts ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// Its process group, and on systems with subreapers all that has left the group.
    Auto,
    /// Its own process namespace, which ends even if hookrun is killed.
    Pidns,
}

names! { Containment: Auto "auto", Pidns "pidns" }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_is_told_in_words() {
        assert_eq!(
            Sandbox::default().to_string(),
            "reads everything; writes nothing; no network"
        );
        let sandbox = Sandbox {
            read: Some(vec!["src".to_string(), "docs".to_string()]),
            write: vec!["/tmp".to_string()],
            network: true,
            required: false,
        };
        assert_eq!(
            sandbox.to_string(),
            "reads src, docs; writes /tmp; network; as far as the system supports it"
        );
    }
}
