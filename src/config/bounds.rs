//! What a hook may use up and touch, as it is being read: `limits` and `sandbox`.

use super::draft::SettingValue;
use super::keys::KeyValue;
use crate::engine::complaint::Complaint;
use crate::engine::hook::limits::{Limits, parse_size};
use crate::engine::hook::{Containment, Sandbox, parse_duration};

/// The bounds of a hook so far.
#[derive(Debug, Clone)]
pub(super) struct DraftBounds {
    pub(super) limits: Limits,
    pub(super) sandbox: Option<Sandbox>,
    pub(super) containment: Containment,
}

impl Default for DraftBounds {
    fn default() -> DraftBounds {
        DraftBounds { limits: Limits::default(), sandbox: None, containment: Containment::Auto }
    }
}

impl DraftBounds {
    /// Takes a key of `limits`.
    ///
    /// # Errors
    /// When the value is not what the key takes.
    pub(super) fn limit(
        &mut self,
        key: &str,
        takes: KeyValue,
        given: SettingValue,
    ) -> Result<(), Complaint> {
        let fault = |problem: String| Complaint::new(format!("`limits.{key}`: {problem}"));
        let limits = &mut self.limits;
        match (key, given) {
            ("memory", SettingValue::Text(text)) => {
                limits.memory_bytes = Some(parse_size(&text).map_err(fault)?);
            }
            ("output", SettingValue::Text(text)) => {
                limits.output_bytes = Some(parse_size(&text).map_err(fault)?);
            }
            ("cpu", SettingValue::Text(text)) => {
                limits.cpu = Some(parse_duration(&text).map_err(fault)?);
            }
            ("files", SettingValue::Number(number)) => {
                // Its three streams, and what its interpreter is read from.
                limits.files = Some(at_least(4, number).map_err(fault)?);
            }
            ("processes", SettingValue::Number(number)) => {
                limits.processes = Some(at_least(1, number).map_err(fault)?);
            }
            (_, given) => return Err(wrong(&format!("limits.{key}"), takes, &given)),
        }
        Ok(())
    }

    /// Puts the hook into a sandbox, or takes it out.
    pub(super) fn switch_sandbox(&mut self, on: bool) {
        self.sandbox = on.then(|| self.sandbox.take().unwrap_or_default());
    }

    /// Takes a key of `sandbox`. Paths add up.
    ///
    /// # Errors
    /// When the value is not what the key takes, or a path could never be meant.
    pub(super) fn sandbox(
        &mut self,
        key: &str,
        takes: KeyValue,
        given: SettingValue,
    ) -> Result<(), Complaint> {
        let sandbox = self.sandbox.get_or_insert_default();
        match (key, given) {
            ("read", SettingValue::Text(path)) => {
                sandbox.read.get_or_insert_default().push(checked(path)?);
            }
            ("write", SettingValue::Text(path)) => sandbox.write.push(checked(path)?),
            ("read", SettingValue::Texts(paths)) => {
                for path in paths {
                    sandbox.read.get_or_insert_default().push(checked(path)?);
                }
                // An empty list is said on purpose: nothing of its own.
                sandbox.read.get_or_insert_default();
            }
            ("write", SettingValue::Texts(paths)) => {
                for path in paths {
                    sandbox.write.push(checked(path)?);
                }
            }
            ("network", SettingValue::Flag(flag)) => sandbox.network = flag,
            ("required", SettingValue::Flag(flag)) => sandbox.required = flag,
            (_, given) => return Err(wrong(&format!("sandbox.{key}"), takes, &given)),
        }
        Ok(())
    }
}

fn wrong(key: &str, takes: KeyValue, given: &SettingValue) -> Complaint {
    let cause = format!("`{key}` takes {}, not {}", takes.describe(), given.describe());
    Complaint::with_cure(cause, takes.cure(key))
}

fn at_least(least: u64, number: i64) -> Result<u64, String> {
    let number = u64::try_from(number).unwrap_or(0);
    if number < least {
        return Err(format!("nothing can run with fewer than {least}"));
    }
    Ok(number)
}

/// A path that can be meant: a file or folder, not a pattern.
fn checked(path: String) -> Result<String, Complaint> {
    let fault = |cause: String| {
        Err(Complaint::with_cure(cause, "name a file or a folder: `src`, `~/.cache`"))
    };
    if path.is_empty() || path.contains('\0') {
        return fault("a path of the sandbox is empty".to_string());
    }
    if path.contains(['*', '?', '[', '{']) {
        return fault(format!("`{path}` looks like a pattern, and the sandbox takes none"));
    }
    if path.starts_with('~') && path != "~" && !path.starts_with("~/") {
        return fault(format!("`{path}` begins with another user's home folder"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_slips_are_named() {
        let mut bounds = DraftBounds::default();
        let text = |text: &str| SettingValue::Text(text.to_string());
        bounds.limit("memory", KeyValue::Size, text("64M")).unwrap();
        bounds.limit("cpu", KeyValue::Duration, text("2s")).unwrap();
        bounds.limit("files", KeyValue::Number, SettingValue::Number(16)).unwrap();
        assert_eq!(bounds.limits.memory_bytes, Some(64 << 20));
        assert_eq!(bounds.limits.files, Some(16));
        for (key, takes, given) in [
            ("memory", KeyValue::Size, text("64")),
            ("memory", KeyValue::Size, SettingValue::Number(64)),
            ("cpu", KeyValue::Duration, text("0s")),
            ("files", KeyValue::Number, SettingValue::Number(3)),
            ("processes", KeyValue::Number, SettingValue::Number(0)),
            ("processes", KeyValue::Number, SettingValue::Number(-1)),
        ] {
            assert!(bounds.limit(key, takes, given).is_err(), "{key}");
        }
    }

    #[test]
    fn paths_add_up_and_patterns_are_refused() {
        let mut bounds = DraftBounds::default();
        bounds.sandbox("write", KeyValue::Texts, SettingValue::Text("a".to_string())).unwrap();
        bounds.sandbox("write", KeyValue::Texts, SettingValue::Text("~/b".to_string())).unwrap();
        bounds.sandbox("read", KeyValue::Texts, SettingValue::Texts(Vec::new())).unwrap();
        let sandbox = bounds.sandbox.clone().unwrap();
        assert_eq!(sandbox.write, ["a", "~/b"]);
        assert_eq!(sandbox.read, Some(Vec::new()));
        for path in ["", "src/**", "~root/x"] {
            let given = SettingValue::Text(path.to_string());
            assert!(bounds.sandbox("write", KeyValue::Texts, given).is_err(), "{path}");
        }
    }
}
