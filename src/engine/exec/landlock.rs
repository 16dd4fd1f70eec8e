//! Applies a sandbox to a process: files and TCP through Landlock, the rest through seccomp.
//! Forbidden system calls fail with EACCES, as in Landlock.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

use super::sandbox::{DEVICES, SYSTEM_PATHS, SandboxRules};

/// Required Landlock version, which includes truncation. Linux 6.2.
const FILES: ABI = ABI::V3;

/// Optional rights: ioctl on devices, and signals and abstract sockets to outside processes. Up to
/// Linux 6.12.
const MORE: ABI = ABI::V6;

/// Returns why the system cannot enforce all rules, if so.
pub(crate) fn lacking(rules: &SandboxRules) -> Option<String> {
    if let Err(error) = ruleset(rules, CompatLevel::HardRequirement) {
        return Some(format!(
            "this kernel's Landlock is too old, or switched off: {error}"
        ));
    }
    let error = filter(rules).err()?;
    Some(format!("seccomp: {error}"))
}

/// Applies the rules to the calling thread and its future children. Optional rules apply as far as
/// the system supports them.
pub(crate) fn apply(rules: &SandboxRules) -> Result<(), String> {
    let level = if rules.required {
        CompatLevel::HardRequirement
    } else {
        CompatLevel::BestEffort
    };
    let raised = ruleset(rules, level)
        .and_then(|ruleset| open_gates(ruleset.set_compatibility(CompatLevel::BestEffort), rules))
        .and_then(RulesetCreated::restrict_self);
    if let (Err(error), true) = (raised, rules.required) {
        return Err(format!("Landlock: {error}"));
    }
    let filtered = filter(rules)
        .map_err(|error| error.to_string())
        .and_then(|program| seccompiler::apply_filter(&program).map_err(|error| error.to_string()));
    match filtered {
        Err(error) if rules.required => Err(format!("seccomp: {error}")),
        _ => Ok(()),
    }
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
    // ioctl on a terminal could inject input.
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

/// Lists system calls without rustfmt's one item per line.
macro_rules! calls {
    ($($call:ident)+ $(; $($number:literal)+)?) => {
        &[$(libc::$call),+ $(, $($number),+)?]
    };
}

/// Forbidden in every sandbox: calls that bypass other rules (`io_uring`, file handles), keys and
/// queues shared with other processes, and calls that affect the machine.
const NEVER: &[c_long] = calls!(
    SYS_io_uring_setup SYS_open_by_handle_at SYS_add_key SYS_keyctl SYS_request_key SYS_shmget
    SYS_shmat SYS_shmctl SYS_semget SYS_semop SYS_semtimedop SYS_semctl SYS_msgget SYS_msgsnd
    SYS_msgrcv SYS_msgctl SYS_mq_open SYS_mq_unlink SYS_acct SYS_adjtimex SYS_bpf SYS_clock_adjtime
    SYS_clock_settime SYS_delete_module SYS_finit_module SYS_init_module SYS_kexec_load
    SYS_perf_event_open SYS_quotactl SYS_reboot SYS_setdomainname SYS_sethostname SYS_setns
    SYS_settimeofday SYS_swapoff SYS_swapon
);

/// Calls that change modes, owners, times and attributes of files. The numbers are fchmodat2,
/// setxattrat, removexattrat and file_setattr of Linux 6.6, 6.13 and 6.17, equal on all
/// architectures.
const MODES: &[c_long] = calls!(
    SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_setxattr SYS_lsetxattr SYS_fsetxattr
    SYS_removexattr SYS_lremovexattr SYS_fremovexattr; 452 463 466 469
);

/// Older forms of these calls, missing on newer architectures.
#[cfg(target_arch = "x86_64")]
const OLD_MODES: &[c_long] =
    calls!(SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat);
#[cfg(not(target_arch = "x86_64"))]
const OLD_MODES: &[c_long] = &[];

/// A call, an argument's index and its only allowed value.
type Unless = (c_long, u8, u64);

/// Calls that a process may use only on itself (process 0).
const OTHERS: &[Unless] = &[
    (libc::SYS_setpriority, 0, libc::PRIO_PROCESS as u64),
    (libc::SYS_setpriority, 1, 0),
    (libc::SYS_sched_setaffinity, 0, 0),
    (libc::SYS_sched_setattr, 0, 0),
    (libc::SYS_sched_setparam, 0, 0),
    (libc::SYS_sched_setscheduler, 0, 0),
    // IOPRIO_WHO_PROCESS.
    (libc::SYS_ioprio_set, 0, 1),
    (libc::SYS_ioprio_set, 1, 0),
];

/// `touch` creates files by setting times on an open file (no path, no times), which stays allowed.
const TIMES: &[Unless] = &[(libc::SYS_utimensat, 1, 0), (libc::SYS_utimensat, 2, 0)];

/// FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR.
const ATTRIBUTES: &[u64] = &[0x4008_6602, 0x4004_6602, 0x401c_5820];

/// Builds the BPF program that the kernel runs for each call.
fn filter(rules: &SandboxRules) -> Result<BpfProgram, BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, Ne};
    let mut always = NEVER.to_vec();
    let mut sometimes: Vec<(c_long, Vec<SeccompCondition>)> = Vec::new();
    for (call, place, number) in OTHERS {
        let is_other = SeccompCondition::new(*place, Dword, Ne, *number)?;
        sometimes.push((*call, vec![is_other]));
    }
    if !rules.modes {
        always.extend(MODES.iter().chain(OLD_MODES));
        for (call, place, number) in TIMES {
            let is_other = SeccompCondition::new(*place, Qword, Ne, *number)?;
            sometimes.push((*call, vec![is_other]));
        }
        for request in ATTRIBUTES {
            let is_this = SeccompCondition::new(1, Dword, Eq, *request)?;
            sometimes.push((libc::SYS_ioctl, vec![is_this]));
        }
    }
    // A new CPU limit for hookrun could send it SIGXCPU.
    let is_other = SeccompCondition::new(0, Dword, Ne, 0)?;
    let is_new = SeccompCondition::new(2, Qword, Ne, 0)?;
    sometimes.push((libc::SYS_prlimit64, vec![is_other, is_new]));
    // Landlock covers only TCP.
    if !rules.network {
        let is_not_unix = SeccompCondition::new(0, Dword, Ne, libc::AF_UNIX as u64)?;
        sometimes.push((libc::SYS_socketpair, vec![is_not_unix.clone()]));
        if rules.sockets {
            sometimes.push((libc::SYS_socket, vec![is_not_unix]));
        } else {
            always.push(libc::SYS_socket);
        }
    }
    let mut forbidden: BTreeMap<c_long, Vec<SeccompRule>> = BTreeMap::new();
    for call in always {
        forbidden.insert(call, Vec::new());
    }
    for (call, conditions) in sometimes {
        let rule = SeccompRule::new(conditions)?;
        forbidden.entry(call).or_default().push(rule);
    }
    let denied = SeccompAction::Errno(libc::EACCES as u32);
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(forbidden, SeccompAction::Allow, denied, arch)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(without_x32(program))
}

/// Forbids the x32 variants of all calls, which x86-64 has under other numbers. (32-bit calls have
/// another architecture, for which the BPF program kills the process.)
fn without_x32(program: BpfProgram) -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    if !cfg!(target_arch = "x86_64") {
        return program;
    }
    let denied = u32::from(SeccompAction::Errno(libc::EACCES as u32));
    let first = [
        instruction(LOAD, 0, 0),
        instruction(JUMP_IF_AT_LEAST, 1, 0x4000_0000),
        instruction(RETURN, 0, denied),
    ];
    first.into_iter().chain(program).collect()
}

fn instruction(code: u16, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf, k }
}
