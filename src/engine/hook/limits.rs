//! Limits, sandbox and containment of a hook.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::names::{duration_text, names, size_text};

/// Resource limits. All but the timeout are off by default. The system enforces `memory_bytes`,
/// `cpu` and `files` for each process separately.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Run time; `None` for the default of its dialect or event (see
    /// [`Hook::timeout`](super::Hook::timeout)).
    pub timeout: Option<Duration>,
    /// Bytes of heap and other private writable memory per process. Larger allocations fail.
    pub memory_bytes: Option<u64>,
    /// Processor time per process, rounded up to seconds.
    pub cpu: Option<Duration>,
    /// Open files per process.
    pub files: Option<u64>,
    /// Bytes written to stdout and stderr together.
    pub output_bytes: Option<u64>,
}

impl Limits {
    /// Returns the limits that the system enforces per process, if any.
    pub(crate) fn of_process(&self) -> Option<ProcessLimits> {
        let limits = ProcessLimits {
            memory_bytes: self.memory_bytes,
            cpu_seconds: self.cpu.map(|time| time.as_millis().div_ceil(1000) as u64),
            files: self.files,
        };
        (limits != ProcessLimits::default()).then_some(limits)
    }

    /// Describes the limits that may have caused a failure.
    pub(crate) fn notes(&self) -> Vec<String> {
        let limits = [
            self.memory_bytes
                .map(|bytes| format!("{} of memory", size_text(bytes))),
            self.cpu
                .map(|time| format!("{} of processor time", duration_text(time))),
            self.files.map(|files| format!("{files} open files")),
        ];
        let set = limits.into_iter().flatten();
        set.map(|limit| format!("each process of the hook was limited to {limit}"))
            .collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessLimits {
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpu_seconds: Option<u64>,
    pub(crate) files: Option<u64>,
}

/// Access rights of a sandboxed hook. By default it may read everything, write only its state
/// folder, and not use the network.
///
/// Paths are as written: relative to the project root, or `~/` for the home folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Sandbox {
    /// Readable and executable paths; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
    /// Readable and writable paths.
    pub write: Vec<String>,
    /// Network access.
    pub network: bool,
    /// Whether the hook fails if the system cannot enforce all rules.
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
        let read = match &self.read {
            Some(paths) => paths.join(", "),
            None => "everything".to_string(),
        };
        let write = match self.write.as_slice() {
            [] => "nothing".to_string(),
            paths => paths.join(", "),
        };
        let network = if self.network { "" } else { "no " };
        write!(f, "reads {read}; writes {write}; {network}network")?;
        if !self.required {
            f.write_str("; as far as the system supports it")?;
        }
        Ok(())
    }
}

/// How reliably a hook's processes end with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// Kills its process group, and with subreapers also processes that left it.
    Auto,
    /// Runs it in a PID namespace, which ends even if hookrun is killed.
    Pidns,
}

names! { Containment: Auto "auto", Pidns "pidns" }
