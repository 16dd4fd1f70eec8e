//! Requests to stop, from a signal or the embedding program.
#![expect(
    unsafe_code,
    reason = "one handler for all signals; a library's, set for each of them, costs ten times as much"
)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use libc::{
    SIGBUS, SIGCHLD, SIGCONT, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGKILL, SIGPIPE, SIGQUIT, SIGSEGV,
    SIGSTOP, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH, SIGXFSZ, c_int,
};
use nix::sys::signal::SigSet;

/// Signals that stop a program even if it ignores them: from a terminal, host or init system.
const REQUESTS: &[c_int] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Signals that are not requests to stop. All others would end this process without a decision.
const OTHERS: &[c_int] = &[
    // Cannot be caught.
    SIGKILL,
    SIGSTOP,
    // Rust handles our own; it ignores those from another process.
    SIGSEGV,
    SIGBUS,
    // Harmless by default.
    SIGCHLD,
    SIGCONT,
    SIGURG,
    SIGWINCH,
    // Ignored by [`hold_out`], or by Rust (SIGPIPE).
    SIGTSTP,
    SIGTTIN,
    SIGTTOU,
    SIGXFSZ,
    SIGPIPE,
    #[cfg(not(target_os = "linux"))]
    libc::SIGIO,
    #[cfg(not(target_os = "linux"))]
    libc::SIGINFO,
];

/// Signals that our own faults raise too. Caught once: a failed instruction runs again and then ends
/// the process.
const FAULTS: &[c_int] = &[SIGILL, SIGFPE];

/// The last signal that is not a real-time signal.
pub(super) const LAST_CLASSIC: c_int = 31;

pub(super) const HELD_OUT: &[c_int] = &[SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ];

/// Value of `AbortState::signal` after [`Abort::raise`].
const BY_HAND: usize = usize::MAX;

/// Stops a run early. Clones share one state.
///
/// The first raise stops hooks with SIGTERM and a grace period; the second kills them. It is final:
/// later gates block.
#[derive(Debug, Clone)]
pub struct Abort {
    shared: Arc<AbortState>,
}

#[derive(Debug)]
struct AbortState {
    /// One byte per raise, counted and never read.
    reader: OwnedFd,
    writer: OwnedFd,
    /// The last signal, [`BY_HAND`], or 0 before the first raise.
    signal: AtomicUsize,
}

static OF_SIGNALS: OnceLock<Abort> = OnceLock::new();

/// Signal handler: only atomics and single system calls are allowed.
extern "C" fn note(signal: c_int) {
    if let Some(abort) = OF_SIGNALS.get() {
        let number = usize::try_from(signal).unwrap_or_default();
        abort.shared.signal.store(number, Ordering::Relaxed);
        abort.shared.wake();
    }
}

impl AbortState {
    fn wake(&self) {
        // The pipe holds 64 KiB, so a write can only fail long after the first raise.
        let _ = rustix::io::write(&self.writer, b"!");
    }
}

impl Abort {
    /// Creates an abort that only [`Abort::raise`] raises.
    ///
    /// # Errors
    /// If out of file descriptors.
    pub fn new() -> io::Result<Abort> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        let shared = AbortState {
            reader: reader.into(),
            writer: writer.into(),
            signal: AtomicUsize::new(0),
        };
        Ok(Abort {
            shared: Arc::new(shared),
        })
    }

    /// Returns this process's abort, which is also raised by every catchable signal that would end
    /// the process, except real-time signals. Resets an ignored SIGCHLD, which would hide exit statuses.
    ///
    /// # Errors
    /// If out of file descriptors, or SIGCHLD cannot be reset.
    pub fn on_signals() -> io::Result<Abort> {
        if let Some(abort) = OF_SIGNALS.get() {
            return Ok(abort.clone());
        }
        let new = Abort::new()?;
        let abort = OF_SIGNALS.get_or_init(|| new);
        for signal in stop_signals() {
            // A debugger or profiler may reserve a signal.
            let _ = catch(signal);
        }
        // Only if ignored: a handler would interrupt us after each hook.
        if handler_of(SIGCHLD) == Some(libc::SIG_IGN) {
            act(SIGCHLD, libc::SIG_DFL)?;
        }
        Ok(abort.clone())
    }

    pub fn raise(&self) {
        let signal = &self.shared.signal;
        let _ = signal.compare_exchange(0, BY_HAND, Ordering::Relaxed, Ordering::Relaxed);
        self.shared.wake();
    }

    pub fn times_raised(&self) -> u64 {
        // This is checked around every hook; the flag saves a system call.
        if self.shared.signal.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        rustix::io::ioctl_fionread(&self.shared.reader).unwrap_or(0)
    }

    /// Returns the signal that last raised it, if any.
    pub fn signal(&self) -> Option<i32> {
        match self.shared.signal.load(Ordering::Relaxed) {
            0 | BY_HAND => None,
            number => i32::try_from(number).ok(),
        }
    }
}

impl AsFd for Abort {
    /// Readable once raised.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.reader.as_fd()
    }
}

/// Ignores signals that stop a background process or end it at the file size limit, for programs
/// whose host waits for an answer. Hooks get the default actions.
pub fn hold_out() {
    for signal in HELD_OUT {
        let _ = act(*signal, libc::SIG_IGN);
    }
}

/// Sets this thread's signal mask to the real-time signals. Threads that it starts inherit the mask;
/// hooks start with an empty one. A handler for each signal would cost three system calls, because
/// every hook resets it.
pub fn block_real_time() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    let signals = libc::SIGRTMIN()..=libc::SIGRTMAX();
    #[cfg(not(target_os = "linux"))]
    let signals = std::iter::empty();
    let mut set = *SigSet::empty().as_ref();
    for signal in signals {
        // SAFETY: the set is initialised. An invalid signal is an error.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: it is initialised.
    unsafe { SigSet::from_sigset_t_unchecked(set) }.thread_set_mask()?;
    Ok(())
}

pub(super) fn take_as_usual(signal: c_int) {
    // Signals that cannot change have the default action.
    let _ = act(signal, libc::SIG_DFL);
}

/// Makes this process survive signals to its group that are for a child. They are caught, since
/// children inherit ignored signals.
pub(super) fn survive() {
    for signal in stop_signals().chain([SIGXFSZ]) {
        let _ = catch(signal);
    }
}

/// Lets the kernel reap the children of this process.
pub(super) fn leave_children_to_the_system() {
    let _ = act(SIGCHLD, libc::SIG_IGN);
}

/// Ends this process by a signal with its default action.
pub(super) fn end_by(signal: c_int) {
    take_as_usual(signal);
    // SAFETY: the default action applies, so no code of ours runs.
    unsafe { libc::raise(signal) };
}

/// Returns the handler of a signal: `SIG_DFL`, `SIG_IGN` or a function. `None` for an unknown
/// signal.
pub(super) fn handler_of(signal: c_int) -> Option<usize> {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action this call only writes the current one, and there is room for it.
    let is_known = unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) } == 0;
    // SAFETY: on success the system has written it.
    is_known.then(|| unsafe { now.assume_init() }.sa_sigaction)
}

fn stop_signals() -> impl Iterator<Item = c_int> {
    (1..=LAST_CLASSIC).filter(|signal| !OTHERS.contains(signal))
}

/// Installs our handler for a signal, unless the embedding program handles it, or ignores it and it
/// is not one of [`REQUESTS`].
fn catch(signal: c_int) -> io::Result<()> {
    let before = act(signal, note as extern "C" fn(c_int) as usize)?;
    let ends_us = match before.sa_sigaction {
        libc::SIG_DFL => true,
        libc::SIG_IGN => REQUESTS.contains(&signal),
        _ => false,
    };
    if !ends_us {
        // SAFETY: this action came from the system.
        unsafe { libc::sigaction(signal, &raw const before, ptr::null_mut()) };
    }
    Ok(())
}

fn act(signal: c_int, handler: usize) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: all zeroes are a valid action, with no flags and no blocked signals.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    if FAULTS.contains(&signal) {
        action.sa_flags |= libc::SA_RESETHAND;
    }
    // SAFETY: the action is initialised, and its handler, if any, does only what a handler may. The
    // other pointer has room for an action.
    match unsafe { libc::sigaction(signal, &raw const action, before.as_mut_ptr()) } {
        // SAFETY: on success the system has written it.
        0 => Ok(unsafe { before.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}
