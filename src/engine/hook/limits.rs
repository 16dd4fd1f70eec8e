//! What a hook may use up and touch, and how strictly everything that it starts ends with it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::duration::duration_text;
use crate::engine::names::names;

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

/// The units of sizes. A lone letter means powers of 1,024, as for `ulimit` and systemd.
const UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("K", 1 << 10),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("KB", 1_000),
    ("M", 1 << 20),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("G", 1 << 30),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
];

/// Reads a size as people write it: `64M`, `512 KiB`, `1GB`. `M` is 1,048,576 bytes, `MB` is
/// 1,000,000.
///
/// # Errors
/// When there is no whole number, no unit, an unknown one, or nothing but zero.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wanted = "write a whole number and K, M or G, for example `64M`";
    let text = text.trim();
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = UNITS
        .iter()
        .find(|(name, _)| *name == unit.trim())
        .map(|(_, factor)| *factor);
    let (Ok(number), Some(factor)) = (number.parse::<u64>(), factor) else {
        return Err(format!("`{text}` is not a size; {wanted}"));
    };
    match number.checked_mul(factor) {
        Some(0) => Err(format!("`{text}` leaves nothing; {wanted}")),
        Some(bytes) => Ok(bytes),
        None => Err(format!("`{text}` is more than any machine has; {wanted}")),
    }
}

/// A size as people read it, exact where it can be: `64 MiB`, `1.5 MiB`, `100 bytes`.
pub fn size_text(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(factor, _)| bytes >= *factor) {
        Some((factor, unit)) if bytes.is_multiple_of(*factor) => {
            format!("{} {unit}", bytes / factor)
        }
        Some((factor, unit)) => {
            // Tenths, rounded down: more than the limit must not read like the limit.
            let tenths = u128::from(bytes) * 10 / u128::from(*factor);
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
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
    fn sizes_are_read_and_written_as_people_do() {
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        assert_eq!(parse_size(" 512 KiB "), Ok(512 << 10));
        assert_eq!(parse_size("1MB"), Ok(1_000_000));
        assert_eq!(parse_size("10B"), Ok(10));
        for wrong in ["", "10", "M", "1.5M", "1T", "10 m", "99999999999G"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(size_text(64 << 20), "64 MiB");
        assert_eq!(size_text(3 << 19), "1.5 MiB");
        assert_eq!(size_text(1000), "1000 bytes");
    }

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
