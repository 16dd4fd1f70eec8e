//! Applies a sandbox to a process: files and TCP through Landlock, the rest through seccomp.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use super::filter;
use super::rules::{DEVICES, SYSTEM_PATHS, SandboxRules};

/// The Landlock version that every sandbox needs; it covers truncation. Linux 6.2.
const FILES: ABI = ABI::V3;

/// Later rights, used where the system has them: ioctl on devices, and signals and abstract sockets
/// to outside processes. Up to Linux 6.12.
const MORE: ABI = ABI::V6;

/// Why the system cannot enforce all of these rules; `None` if it can.
pub(crate) fn lacking(rules: &SandboxRules) -> Option<String> {
    if let Err(error) = ruleset(rules, CompatLevel::HardRequirement) {
        return Some(format!(
            "this kernel's Landlock is too old, or switched off: {error}"
        ));
    }
    filter::filter(rules).err()
}

/// Applies the rules to the calling thread and to everything it starts from now on. If they are not
/// required, it applies as many as the system supports.
pub(crate) fn apply(rules: &SandboxRules) -> Result<(), String> {
    let level = match rules.required {
        true => CompatLevel::HardRequirement,
        false => CompatLevel::BestEffort,
    };
    let raised = ruleset(rules, level)
        .and_then(|ruleset| open_gates(ruleset.set_compatibility(CompatLevel::BestEffort), rules))
        .and_then(RulesetCreated::restrict_self);
    if let (Err(error), true) = (raised, rules.required) {
        return Err(format!("Landlock: {error}"));
    }
    let filtered = filter::filter(rules).and_then(|program| {
        seccompiler::apply_filter(&program).map_err(|error| format!("seccomp: {error}"))
    });
    if rules.required { filtered } else { Ok(()) }
}

fn ruleset(rules: &SandboxRules, level: CompatLevel) -> Result<RulesetCreated, RulesetError> {
    let changes = AccessFs::from_write(FILES);
    let files = if rules.read.is_some() {
        AccessFs::from_all(FILES)
    } else {
        changes
    };
    let mut ruleset = Ruleset::default()
        .set_compatibility(level)
        .handle_access(files)?;
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
    // If reading is unrestricted, Landlock need not handle it.
    let given = if rules.read.is_some() {
        all
    } else {
        AccessFs::from_write(MORE)
    };
    // No ioctl on the terminal: it could inject what its user seems to type next.
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
