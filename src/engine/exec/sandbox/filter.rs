//! The system calls that a sandbox forbids through seccomp, because Landlock does not cover them.
//! Each fails with EACCES, as under Landlock.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use super::rules::SandboxRules;

/// Forbidden in every sandbox: calls that bypass the other rules (`io_uring`, file handles), keys
/// and queues shared with other processes, and calls that affect the whole machine.
const NEVER: &[c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_open_by_handle_at,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_perf_event_open,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
];

/// Calls that change modes, owners, times and attributes of files. The last ones, fchmodat2,
/// setxattrat, removexattrat and file_setattr, came with Linux 6.6, 6.13 and 6.17 and have one
/// number everywhere.
const MODES: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    452,
    463,
    466,
    469,
];

/// Older forms of these calls, which newer systems lack.
#[cfg(target_arch = "x86_64")]
const OLD_MODES: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_MODES: &[c_long] = &[];

/// A call, the place of an argument and a value. Any other value makes the call forbidden.
type Unless = (c_long, u8, u64);

/// Calls that a process may use on itself (process 0) and on nothing else.
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

/// The sandbox still allows `touch` on an open file (no path, no times): that is how `touch` makes
/// a new file.
const TIMES: &[Unless] = &[(libc::SYS_utimensat, 1, 0), (libc::SYS_utimensat, 2, 0)];

/// Ioctls that change attributes: FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR.
const ATTRIBUTES: &[u64] = &[0x4008_6602, 0x4004_6602, 0x401c_5820];

/// The BPF program that the kernel runs at each call.
pub(super) fn filter(rules: &SandboxRules) -> Result<BpfProgram, String> {
    build(rules).map_err(|error| format!("seccomp: {error}"))
}

fn build(rules: &SandboxRules) -> Result<BpfProgram, seccompiler::BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, Ne};
    let mut forbidden: BTreeMap<c_long, Vec<SeccompRule>> = BTreeMap::new();
    let mut forbid = |call: c_long, when: Vec<SeccompCondition>| {
        let ways = forbidden.entry(call).or_default();
        if !when.is_empty() {
            ways.push(SeccompRule::new(when)?);
        }
        Ok::<(), seccompiler::BackendError>(())
    };
    let changes = [MODES, OLD_MODES]
        .into_iter()
        .flatten()
        .filter(|_| !rules.modes);
    for call in NEVER.iter().chain(changes) {
        forbid(*call, Vec::new())?;
    }
    for (call, place, number) in OTHERS.iter().chain(TIMES.iter().filter(|_| !rules.modes)) {
        let length = if *call == libc::SYS_utimensat {
            Qword
        } else {
            Dword
        };
        forbid(
            *call,
            vec![SeccompCondition::new(*place, length, Ne, *number)?],
        )?;
    }
    for request in ATTRIBUTES.iter().filter(|_| !rules.modes) {
        forbid(
            libc::SYS_ioctl,
            vec![SeccompCondition::new(1, Dword, Eq, *request)?],
        )?;
    }
    // A new limit on hookrun's processor time could send it SIGXCPU.
    let of_others = [(0, Dword), (2, Qword)];
    let of_others = of_others.map(|(place, length)| SeccompCondition::new(place, length, Ne, 0));
    forbid(
        libc::SYS_prlimit64,
        of_others.into_iter().collect::<Result<_, _>>()?,
    )?;
    // Landlock covers only TCP.
    let unix = libc::AF_UNIX as u64;
    let not_unix = || SeccompCondition::new(0, Dword, Ne, unix).map(|one| vec![one]);
    match (rules.network, rules.sockets) {
        (true, _) => {}
        (false, true) => forbid(libc::SYS_socket, not_unix()?)?,
        (false, false) => forbid(libc::SYS_socket, Vec::new())?,
    }
    if !rules.network {
        forbid(libc::SYS_socketpair, not_unix()?)?;
    }
    let denied = SeccompAction::Errno(libc::EACCES as u32);
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(forbidden, SeccompAction::Allow, denied, arch)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(without_x32(program))
}

/// x86-64 has every call a second time, under other numbers, for x32 programs. This forbids them
/// all. (Calls of 32-bit programs come from another architecture, for which the BPF program itself
/// ends the process.)
fn without_x32(program: BpfProgram) -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    if !cfg!(target_arch = "x86_64") {
        return program;
    }
    let step = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    let denied = u32::from(SeccompAction::Errno(libc::EACCES as u32));
    let first = [
        step(LOAD, 0, 0),
        step(JUMP_IF_AT_LEAST, 1, 0x4000_0000),
        step(RETURN, 0, denied),
    ];
    first.into_iter().chain(program).collect()
}
