//! What a hook may use up, and how such amounts are written.

use std::time::Duration;

use crate::engine::duration::duration_text;

/// What a hook may use up. Every limit but the timeout is off unless its spec sets it; each one
/// is for all processes of the hook together, except `files`, which is for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run; `None` leaves it to its dialect and the event (see
    /// [`Hook::timeout`](super::Hook::timeout)).
    pub timeout: Option<Duration>,
    /// How much memory its processes may hold, in bytes: what is resident and their own.
    pub memory_bytes: Option<u64>,
    /// How much processor time they may use.
    pub cpu: Option<Duration>,
    /// How many files each of them may have open at once.
    pub files: Option<u64>,
    /// How many of them there may be at once, the hook itself included.
    pub processes: Option<u64>,
    /// How much it may write to stdout and stderr together, in bytes.
    pub output_bytes: Option<u64>,
}

impl Limits {
    /// Whether one of them can only be kept by checking its processes from time to time.
    pub fn need_looking(&self) -> bool {
        self.memory_bytes.is_some() || self.cpu.is_some() || self.processes.is_some()
    }

    /// All but the timeout that are set, with the names of their keys.
    pub fn set(&self) -> Vec<(&'static str, String)> {
        let count = |number: Option<u64>| number.map(|number| number.to_string());
        let all = [
            ("memory", self.memory_bytes.map(size_text)),
            ("cpu", self.cpu.map(duration_text)),
            ("files", count(self.files)),
            ("processes", count(self.processes)),
            ("output", self.output_bytes.map(size_text)),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
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
        Some(0) => Err(format!("`{text}` leaves nothing at all; {wanted}")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written_as_people_do() {
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        assert_eq!(parse_size(" 512 KiB "), Ok(512 << 10));
        assert_eq!(parse_size("1MB"), Ok(1_000_000));
        assert_eq!(parse_size("10B"), Ok(10));
        for wrong in [
            "",
            "10",
            "M",
            "-1M",
            "1.5M",
            "0M",
            "1T",
            "10 m",
            "99999999999G",
        ] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(size_text(64 << 20), "64 MiB");
        assert_eq!(size_text(3 << 19), "1.5 MiB");
        assert_eq!(size_text(1000), "1000 bytes");
    }

    #[test]
    fn only_limits_that_are_set_are_told() {
        let limits = Limits {
            memory_bytes: Some(1 << 20),
            files: Some(16),
            ..Limits::default()
        };
        assert_eq!(
            limits.set(),
            [("memory", "1 MiB".to_string()), ("files", "16".to_string())]
        );
        assert!(limits.need_looking() && !Limits::default().need_looking());
    }
}
