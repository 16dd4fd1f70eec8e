//! Sandboxes of hooks. The process that becomes the hook enters the sandbox itself. The Landlock
//! and seccomp rules then apply to everything that it starts.

#[cfg(target_os = "linux")]
mod filter;
mod rules;
#[cfg(target_os = "linux")]
mod system;

pub use rules::{DEVICES, SYSTEM_PATHS, SandboxRules};
#[cfg(target_os = "linux")]
pub(super) use system::{apply, lacking};

#[cfg(not(target_os = "linux"))]
pub(super) fn lacking(_: &SandboxRules) -> Option<String> {
    Some("it needs Landlock, which only Linux has".to_string())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn apply(rules: &SandboxRules) -> Result<(), String> {
    lacking(rules)
        .filter(|_| rules.required)
        .map_or(Ok(()), Err)
}
