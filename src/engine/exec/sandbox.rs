//! The rules of a hook's sandbox, raised by the process that then becomes the hook: what Landlock
//! and seccomp forbid it, they forbid all that it starts.

#[cfg(target_os = "linux")]
mod filter;

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::hook::Sandbox;

/// What a program needs to run at all: itself, its libraries, their settings, and itself again
/// under `/proc`. Readable in every sandbox.
pub const SYSTEM_PATHS: &[&str] = &[
    "/bin",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/proc",
    "/sbin",
    "/usr",
];

/// Devices that hold nothing; readable and writable in every sandbox.
pub const DEVICES: &[&str] =
    &["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// A sandbox with its paths found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxRules {
    /// What may be read and run; `None` for everything.
    pub read: Option<Vec<PathBuf>>,
    /// What may be read and changed.
    pub write: Vec<PathBuf>,
    /// Whether there is a network.
    pub network: bool,
    /// Whether there are sockets of this machine: with the network, and to reach hookrun where a
    /// person can be asked.
    pub sockets: bool,
    /// Whether modes, owners, times and attributes may be changed: no system can forbid that for
    /// some files only.
    pub modes: bool,
    /// Whether it is better not to run than to run without them.
    pub required: bool,
}

impl SandboxRules {
    /// Finds the paths of `sandbox`: those without a slash at the beginning are relative to
    /// `project`, `~/` is below `home`. Those that do not exist cannot be granted and are
    /// left out, with a note for each.
    pub fn find(
        sandbox: &Sandbox,
        project: &Path,
        home: Option<&Path>,
    ) -> (SandboxRules, Vec<String>) {
        let mut notes = Vec::new();
        let mut find = |path: &String| {
            let found = match (path.strip_prefix('~'), home) {
                (Some(below), Some(home)) => home.join(below.trim_start_matches('/')),
                (Some(_), None) => {
                    notes.push(format!("sandbox: `{path}` is left out: there is no HOME"));
                    return None;
                }
                (None, _) => project.join(path),
            };
            if let Err(error) = found.metadata() {
                let is_missing = error.kind() == io::ErrorKind::NotFound;
                let why = if is_missing { "it does not exist" } else { &error.to_string() };
                notes.push(format!("sandbox: `{path}` is left out: {why}"));
                return None;
            }
            Some(found)
        };
        let read = sandbox.read.as_ref().map(|paths| paths.iter().filter_map(&mut find).collect());
        let write: Vec<_> = sandbox.write.iter().filter_map(&mut find).collect();
        let Sandbox { network, required, .. } = *sandbox;
        let (sockets, modes) = (network, !write.is_empty());
        (SandboxRules { read, write, network, sockets, modes, required }, notes)
    }
}

impl SandboxRules {
    /// The same rules with one more file to read and run.
    #[must_use]
    pub fn with_readable(mut self, file: &Path) -> SandboxRules {
        if let Some(read) = &mut self.read {
            read.push(file.to_path_buf());
        }
        self
    }
}

/// Why the system cannot raise rules like these, wholly; `None` if it can.
pub(super) fn lacking(rules: &SandboxRules) -> Option<String> {
    system::lacking(rules)
}

/// Raises the rules around the calling thread and everything that it starts from now on. As far
/// as the system can, if they are not required.
pub(super) fn apply(rules: &SandboxRules) -> Result<(), String> {
    system::apply(rules)
}

#[cfg(target_os = "linux")]
mod system {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
    };

    use super::{DEVICES, SYSTEM_PATHS, SandboxRules};

    /// What every sandbox needs: up to the right to truncate, Linux 6.2.
    const FILES: ABI = ABI::V3;

    /// Rights that came later and are taken where they are: ioctl on devices, signals and
    /// abstract sockets to processes outside, up to Linux 6.12.
    const MORE: ABI = ABI::V6;

    pub(super) fn lacking(rules: &SandboxRules) -> Option<String> {
        if let Err(error) = ruleset(rules, CompatLevel::HardRequirement) {
            return Some(format!("this kernel's Landlock is too old, or switched off: {error}"));
        }
        super::filter::filter(rules).err()
    }

    pub(super) fn apply(rules: &SandboxRules) -> Result<(), String> {
        let level = match rules.required {
            true => CompatLevel::HardRequirement,
            false => CompatLevel::BestEffort,
        };
        let raised = ruleset(rules, level)
            .and_then(|ruleset| {
                open_gates(ruleset.set_compatibility(CompatLevel::BestEffort), rules)
            })
            .and_then(RulesetCreated::restrict_self);
        if let (Err(error), true) = (raised, rules.required) {
            return Err(format!("Landlock: {error}"));
        }
        let filtered = super::filter::filter(rules).and_then(|program| {
            seccompiler::apply_filter(&program).map_err(|error| format!("seccomp: {error}"))
        });
        if rules.required { filtered } else { Ok(()) }
    }

    fn ruleset(rules: &SandboxRules, level: CompatLevel) -> Result<RulesetCreated, RulesetError> {
        let changes = AccessFs::from_write(FILES);
        let files = if rules.read.is_some() { AccessFs::from_all(FILES) } else { changes };
        let mut ruleset = Ruleset::default().set_compatibility(level).handle_access(files)?;
        if !rules.network {
            ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
        }
        ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::IoctlDev)?
            .scope(Scope::from_all(MORE))?
            .create()
    }

    fn open_gates(
        ruleset: RulesetCreated,
        rules: &SandboxRules,
    ) -> Result<RulesetCreated, RulesetError> {
        let all = AccessFs::from_all(MORE);
        // Where reading is free, no gate is needed for it.
        let given = if rules.read.is_some() { all } else { AccessFs::from_write(MORE) };
        // No ioctl on the terminal: it could be told what its user types next.
        let mut ruleset = ruleset
            .add_rules(path_beneath_rules(DEVICES, given & !AccessFs::IoctlDev))?
            .add_rules(path_beneath_rules(&rules.write, given))?;
        if let Some(read) = &rules.read {
            let reading = AccessFs::from_read(MORE);
            ruleset = ruleset
                .add_rules(path_beneath_rules(SYSTEM_PATHS, reading))?
                .add_rules(path_beneath_rules(read, reading))?;
        }
        Ok(ruleset)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::SandboxRules;

    pub(super) fn lacking(_: &SandboxRules) -> Option<String> {
        Some("it needs Landlock, which only Linux has".to_string())
    }

    pub(super) fn apply(rules: &SandboxRules) -> Result<(), String> {
        if rules.required {
            Err("it needs Landlock, which only Linux has".to_string())
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_and_what_does_not_exist_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let sandbox = Sandbox {
            read: Some(vec!["src".to_string(), "/usr".to_string(), "none".to_string()]),
            write: vec!["~/src".to_string(), "~".to_string()],
            ..Sandbox::default()
        };
        let (rules, notes) = SandboxRules::find(&sandbox, folder.path(), Some(folder.path()));
        assert_eq!(rules.read.unwrap(), [folder.path().join("src"), PathBuf::from("/usr")]);
        assert_eq!(rules.write, [folder.path().join("src"), folder.path().join("")]);
        assert_eq!(notes, ["sandbox: `none` is left out: it does not exist"]);
        let (_, notes) = SandboxRules::find(&sandbox, folder.path(), None);
        assert_eq!(notes.len(), 3);
    }
}
