//! How durations are written and read: `10s`, `1m 30s`.

use std::time::Duration;

/// How long a hook may take unless its spec says otherwise (loom's default, and `opa test`'s).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// A duration as people read it: `5s`, `200ms`, `1m 30s`.
pub fn duration_text(duration: Duration) -> String {
    if duration == Duration::MAX {
        return "any time".to_string();
    }
    humantime::format_duration(duration).to_string()
}

/// Reads a duration as people write it: `5s`, `200ms`, `1m30s`.
///
/// # Errors
/// When there is no number, no unit, an unknown unit, or only zero: a hook without time could only
/// fail.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wanted = "write a number and a unit, for example `10s` or `500ms`";
    match humantime::parse_duration(text.trim()) {
        Ok(Duration::ZERO) => Err(format!("`{text}` leaves no time; {wanted}")),
        Ok(duration) => Ok(duration),
        Err(_) => Err(format!("`{text}` is not a duration; {wanted}")),
    }
}
