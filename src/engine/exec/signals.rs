//! Requests to stop, from a signal or from the program that embeds us.
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

/// Signals with which a terminal, a host or an init system stops a program, even one that ignores
/// them.
const REQUESTS: &[c_int] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Signals that are not requests to stop. All others are: they would end this process without a
/// decision.
const OTHERS: &[c_int] = &[
    // These cannot be caught.
    SIGKILL,
    SIGSTOP, // They come from a fault of our own, after which nothing can be relied on.
    SIGSEGV,
    SIGBUS,
    SIGILL,
    SIGFPE, // They end nothing.
    SIGCHLD,
    SIGCONT,
    SIGURG,
    SIGWINCH, // See [`hold_out`]; Rust ignores SIGPIPE.
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

/// Signals that stop a process, or end one that writes too large a file: see [`hold_out`].
pub(super) const HELD_OUT: &[c_int] = &[SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ];

/// Marks [`Abort::raise`] among signal numbers.
const BY_HAND: usize = usize::MAX;

/// Ends a run early. Clones share one state: raise one and all are raised.
///
/// The first raise ends hooks with SIGTERM and a grace period; the second kills them at once. An
/// abort stays raised, and a chain that has not begun then blocks.
#[derive(Debug, Clone)]
pub struct Abort {
    shared: Arc<AbortState>,
}

#[derive(Debug)]
struct AbortState {
    /// Holds one byte for each raise. The bytes are counted and never read.
    reader: OwnedFd,
    writer: OwnedFd,
    /// The number of the signal that raised it, or [`BY_HAND`]; 0 while it is not raised.
    signal: AtomicUsize,
}

/// What signals raise.
static OF_SIGNALS: OnceLock<Abort> = OnceLock::new();

/// A signal handler may use only atomics and single system calls.
extern "C" fn note(signal: c_int) {
    if let Some(abort) = OF_SIGNALS.get() {
        let number = usize::try_from(signal).unwrap_or_default();
        abort.shared.signal.store(number, Ordering::Relaxed);
        abort.shared.wake();
    }
}

impl AbortState {
    fn wake(&self) {
        // The pipe holds 64 KiB, so a write can only fail after 65,536 calls, when it is long
        // raised.
        let _ = rustix::io::write(&self.writer, b"!");
    }
}

impl Abort {
    /// An abort that only [`Abort::raise`] raises.
    ///
    /// # Errors
    /// When out of file descriptors for a pipe.
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

    /// The abort of this process that is also raised by every signal that can be caught and would
    /// end it. All calls return clones of one. It also stops ignoring SIGCHLD if that was inherited,
    /// since otherwise no exit status could be read.
    ///
    /// # Errors
    /// When out of file descriptors, or SIGCHLD cannot be handled.
    pub fn on_signals() -> io::Result<Abort> {
        if let Some(abort) = OF_SIGNALS.get() {
            return Ok(abort.clone());
        }
        let new = Abort::new()?;
        let abort = OF_SIGNALS.get_or_init(|| new);
        for signal in stop_signals() {
            // What watches a program may keep a signal for itself.
            let _ = catch(signal);
        }
        // Only if needed: a handler would interrupt us at the end of each hook.
        if handler_of(SIGCHLD) == Some(libc::SIG_IGN) {
            act(SIGCHLD, libc::SIG_DFL)?;
        }
        Ok(abort.clone())
    }

    /// Raises it.
    pub fn raise(&self) {
        let signal = &self.shared.signal;
        let _ = signal.compare_exchange(0, BY_HAND, Ordering::Relaxed, Ordering::Relaxed);
        self.shared.wake();
    }

    pub fn times_raised(&self) -> u64 {
        // This is checked before and after every hook, and the flag saves a system call.
        if self.shared.signal.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        rustix::io::ioctl_fionread(&self.shared.reader).unwrap_or(0)
    }

    /// The signal that last raised it, if it was a signal.
    pub fn signal(&self) -> Option<i32> {
        match self.shared.signal.load(Ordering::Relaxed) {
            0 | BY_HAND => None,
            number => i32::try_from(number).ok(),
        }
    }
}

impl AsFd for Abort {
    /// Readable once it is raised.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.reader.as_fd()
    }
}

/// Ignores signals that would stop this process in the background of a terminal, or end it at the
/// file size limit. For a program whose host waits for its answer. Hooks get the default actions.
pub fn hold_out() {
    for signal in HELD_OUT {
        // On failure they have their default effect.
        let _ = act(*signal, libc::SIG_IGN);
    }
}

/// Restores the default action of a signal.
pub(super) fn take_as_usual(signal: c_int) {
    // A signal that cannot be changed has its default action anyway.
    let _ = act(signal, libc::SIG_DFL);
}

/// Makes this process survive signals to its group that are meant for a child. They are caught and
/// not ignored, because a child would inherit that.
pub(super) fn survive() {
    for signal in stop_signals().chain([SIGXFSZ]) {
        // On failure the signal has its default effect.
        let _ = catch(signal);
    }
}

/// Lets the system reap the children of this process.
pub(super) fn leave_children_to_the_system() {
    let _ = act(SIGCHLD, libc::SIG_IGN);
}

/// Ends this process by a signal, whatever handles it.
pub(super) fn end_by(signal: c_int) {
    take_as_usual(signal);
    // SAFETY: the default action applies, so no code of ours runs.
    unsafe { libc::raise(signal) };
}

/// What handles a signal: `SIG_DFL`, `SIG_IGN` or a function. `None` if there is no such signal.
pub(super) fn handler_of(signal: c_int) -> Option<usize> {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action this call only writes the current one, and there is room for it.
    let is_known = unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) } == 0;
    // SAFETY: on success the system has written it.
    is_known.then(|| unsafe { now.assume_init() }.sa_sigaction)
}

fn stop_signals() -> impl Iterator<Item = c_int> {
    let classic = (1..32).filter(|signal| !OTHERS.contains(signal));
    #[cfg(target_os = "linux")]
    let classic = classic.chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
    classic
}

/// Installs our handler for a signal. A signal that the surrounding program handles does not end
/// it, and neither does one that it ignores, unless it is one of [`REQUESTS`]: then all stays as it
/// is.
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

/// Sets the action of a signal and returns the previous one.
fn act(signal: c_int, handler: usize) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: all zeroes are a valid action, with no flags and no blocked signals.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the action is initialised, and its handler, if any, does only what a handler may. The
    // other pointer has room for an action.
    match unsafe { libc::sigaction(signal, &raw const action, before.as_mut_ptr()) } {
        // SAFETY: on success the system has written it.
        0 => Ok(unsafe { before.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}
