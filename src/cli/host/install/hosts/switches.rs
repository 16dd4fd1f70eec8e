//! Switches in the settings of hosts with which hookrun is not asked. Tables.

use serde_json::Value;

use crate::cli::host::install::program::NAME;

/// A value in the settings of a host that keeps it from asking hookrun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostSwitch {
    /// Where, as keys with dots.
    pub(crate) at: &'static str,
    /// Whether hookrun is not asked with this value.
    pub(crate) is_off: fn(&Value) -> bool,
    /// Whether the first file that has it decides; else any of them does. The project's come before
    /// the user's, and those beside a file before the file itself.
    pub(crate) first_decides: bool,
}

pub(super) const CLAUDE: &[HostSwitch] = &[decides("disableAllHooks", is_true)];

/// The second is the older name.
pub(super) const CODEX: &[HostSwitch] =
    &[decides("features.hooks", is_false), decides("features.codex_hooks", is_false)];

pub(super) const GEMINI: &[HostSwitch] = &[
    decides("hooksConfig.enabled", is_false),
    HostSwitch { at: "hooksConfig.disabled", is_off: names_hookrun, first_decides: false },
];

const fn decides(at: &'static str, is_off: fn(&Value) -> bool) -> HostSwitch {
    HostSwitch { at, is_off, first_decides: true }
}

fn is_true(value: &Value) -> bool {
    value == true
}

fn is_false(value: &Value) -> bool {
    value == false
}

/// Whether a list has hookrun in it: by its label, or by the command.
fn names_hookrun(value: &Value) -> bool {
    let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.into_iter().any(|name| name == NAME || name.contains(" run --host "))
}
