//! Names of enum variants, and texts of durations (`1m 30s`), sizes (`64 MiB`) and bytes (`0a1f`).

use std::fmt::Write;
use std::time::Duration;

/// Gives an enum `NAMES` and `name()`.
macro_rules! names {
    ($kind:ident: $($variant:ident $name:literal),+ $(,)?) => {
        impl $kind {
            pub const NAMES: &[($kind, &str)] = &[$(($kind::$variant, $name)),+];

            /// Returns the name in files, on the command line and in output.
            pub fn name(self) -> &'static str {
                match self {
                    $($kind::$variant => $name),+
                }
            }
        }
    };
}

pub(crate) use names;

/// Lists words without rustfmt's one item per line.
macro_rules! words {
    ($($word:literal)+) => {
        &[$($word),+]
    };
}

pub(crate) use words;

/// Types in reports: they derive `JsonSchema` with the feature `cli`.
macro_rules! reported {
    ($($type:item)+) => {
        $(#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))] $type)+
    };
}

pub(crate) use reported;

/// Default timeout of hooks, as in loom and `opa test`.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Formats a duration: `5s`, `200ms`, `1m 30s`.
pub fn duration_text(duration: Duration) -> String {
    if duration == Duration::MAX {
        return "any time".to_string();
    }
    humantime::format_duration(duration).to_string()
}

/// Parses a duration: `5s`, `200ms`, `1m30s`. Fails for zero, which every hook would exceed.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wanted = "write a number and a unit, for example `10s` or `500ms`";
    match humantime::parse_duration(text.trim()) {
        Ok(Duration::ZERO) => Err(format!("`{text}` is zero; {wanted}")),
        Ok(duration) => Ok(duration),
        Err(_) => Err(format!("`{text}` is not a duration; {wanted}")),
    }
}

/// Units of sizes. A single letter is a power of 1,024, as in `ulimit` and systemd.
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

/// Parses a size: `64M`, `512 KiB`, `1GB`. `M` is 1,048,576 bytes, `MB` is 1,000,000.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wanted = "write a whole number and K, M or G, for example `64M`";
    let text = text.trim();
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let mut units = UNITS.iter();
    let unit = units.find(|(name, _)| *name == unit.trim());
    let (Ok(number), Some((_, factor))) = (number.parse::<u64>(), unit) else {
        return Err(format!("`{text}` is not a size; {wanted}"));
    };
    match number.checked_mul(*factor) {
        Some(0) => Err(format!("`{text}` is zero; {wanted}")),
        Some(bytes) => Ok(bytes),
        None => Err(format!("`{text}` is too large; write a smaller size")),
    }
}

/// Formats a size, exactly if possible: `64 MiB`, `1.5 MiB`, `100 bytes`.
pub fn size_text(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(factor, _)| bytes >= *factor) {
        Some((factor, unit)) if bytes.is_multiple_of(*factor) => {
            format!("{} {unit}", bytes / factor)
        }
        Some((factor, unit)) => {
            // Round down to tenths: usage above a limit must not read like the limit.
            let tenths = u128::from(bytes) * 10 / u128::from(*factor);
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

/// Writes bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
