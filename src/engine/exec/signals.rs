//! Requests to stop, from a signal or from the program that embeds us.
#![expect(
    unsafe_code,
    reason = "one handler for all signals; a library's, set for each of them, costs ten times as much"
)]

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

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

pub(super) fn stop_signals() -> impl Iterator<Item = c_int> {
    let classic = (1..32).filter(|signal| !OTHERS.contains(signal));
    #[cfg(target_os = "linux")]
    let classic = classic.chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
    classic
}

/// Marks [`Abort::raise`] among signal numbers.
const BY_HAND: usize = usize::MAX;

/// Ends a run early. Clones share one state: raise one and all are raised.
///
/// The first raise ends hooks with SIGTERM and a grace period; the second kills them at once. An
/// abort stays raised, and a chain that has not begun then blocks.
#[derive(Debug, Clone)]
pub struct Abort {
    shared: Arc<SignalState>,
}

#[derive(Debug)]
struct SignalState {
    /// Holds one byte for each raise. The bytes are counted and never read.
    reader: OwnedFd,
    writer: OwnedFd,
    /// The number of the signal that raised it, or [`BY_HAND`]; 0 while it is not raised.
    signal: AtomicUsize,
}

impl SignalState {
    fn wake(&self) {
        // The pipe holds 64 KiB, so a write can only fail after 65,536 calls, when it is long
        // raised.
        let _ = rustix::io::write(&self.writer, b"!");
    }
}

/// What a signal handler raises. Never freed, since the handler may run at any time.
struct Listener {
    shared: Arc<SignalState>,
    next: *const Listener,
}

/// The head of the list of listeners.
static LISTENERS: AtomicPtr<Listener> = AtomicPtr::new(ptr::null_mut());

/// Handlers that the surrounding program installed before ours, by signal.
static BEFORE: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

fn listen(shared: Arc<SignalState>) {
    let listener = Box::into_raw(Box::new(Listener {
        shared,
        next: ptr::null(),
    }));
    let mut newest = LISTENERS.load(Ordering::Relaxed);
    loop {
        // SAFETY: until the exchange no other code has this pointer.
        unsafe { (*listener).next = newest };
        let exchanged =
            LISTENERS.compare_exchange_weak(newest, listener, Ordering::Release, Ordering::Relaxed);
        match exchanged {
            Ok(_) => return,
            Err(newer) => newest = newer,
        }
    }
}

type SignalHandler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Notifies all listeners. A signal handler may use only atomics and single system calls.
extern "C" fn note(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let number = usize::try_from(signal).unwrap_or_default();
    let before = BEFORE
        .get(number)
        .map_or(0, |before| before.load(Ordering::Relaxed));
    if before != 0 {
        // SAFETY: this was installed as a handler. One that takes only the signal ignores the rest.
        unsafe { std::mem::transmute::<usize, SignalHandler>(before)(signal, info, context) };
    }
    let mut at: *const Listener = LISTENERS.load(Ordering::Acquire);
    // SAFETY: listeners are never freed, and are complete before they join the list.
    while let Some(listener) = unsafe { at.as_ref() } {
        listener.shared.signal.store(number, Ordering::Relaxed);
        listener.shared.wake();
        at = listener.next;
    }
}

/// Installs our handler for a signal. It leaves a signal alone that the surrounding program handles
/// or ignores, because that signal does not end the program. [`REQUESTS`] are the exception.
fn catch(signal: c_int) -> io::Result<()> {
    let ours = note as SignalHandler as usize;
    let before = act(signal, ours)?;
    let is_request = REQUESTS.contains(&signal);
    match before.sa_sigaction {
        libc::SIG_DFL => {}
        libc::SIG_IGN if is_request => {}
        handler if handler == ours => {}
        handler if is_request => {
            let before = usize::try_from(signal)
                .ok()
                .and_then(|number| BEFORE.get(number));
            before
                .iter()
                .for_each(|before| before.store(handler, Ordering::Relaxed));
        }
        // SAFETY: this action came from the system.
        _ => drop(unsafe { libc::sigaction(signal, &raw const before, ptr::null_mut()) }),
    }
    Ok(())
}

/// Makes this process survive group signals that are meant for a child. Ignored signals stay
/// ignored, because the child inherits that.
pub(super) fn survive() {
    for signal in stop_signals().chain([SIGXFSZ]) {
        // On failure the signal has its default effect.
        let _ = catch(signal);
    }
}

/// Sets the action of a signal and returns the previous one.
fn act(signal: c_int, handler: usize) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: all zeroes are a valid action, with no flags and no blocked signals.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the action is initialised, and its handler, if any, does only what a handler may. The
    // other pointer has room for an action.
    match unsafe { libc::sigaction(signal, &raw const action, before.as_mut_ptr()) } {
        // SAFETY: on success the system has written it.
        0 => Ok(unsafe { before.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Restores the default action of a signal.
pub(super) fn take_as_usual(signal: c_int) {
    // A signal that cannot be changed has its default action anyway.
    let _ = act(signal, libc::SIG_DFL);
}

/// Ends this process by a signal, ignoring any handler set so far.
pub(super) fn end_by(signal: c_int) {
    take_as_usual(signal);
    // SAFETY: the default action applies, and no handler of ours runs.
    unsafe { libc::raise(signal) };
}

/// Ignores signals that would stop this process in the background of a terminal, or end it at the
/// file size limit. For a program whose host waits for its answer. Hooks get the default actions.
pub fn hold_out() {
    for signal in HELD_OUT {
        // On failure they have their default effect.
        let _ = act(*signal, libc::SIG_IGN);
    }
}

/// Whether this process explicitly ignores a signal, rather than taking a default without effect.
fn is_ignored(signal: c_int) -> bool {
    handler_of(signal) == Some(libc::SIG_IGN)
}

/// What handles a signal: `SIG_DFL`, `SIG_IGN` or a function. `None` if there is no such signal.
pub(super) fn handler_of(signal: c_int) -> Option<usize> {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action this call only writes the current one, and there is room for it.
    let is_known = unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) } == 0;
    // SAFETY: on success the system has written it.
    is_known.then(|| unsafe { now.assume_init() }.sa_sigaction)
}

impl Abort {
    /// An abort that only [`Abort::raise`] raises.
    ///
    /// # Errors
    /// When no descriptors are left for a pipe.
    pub fn new() -> io::Result<Abort> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        let signal = AtomicUsize::new(0);
        let shared = SignalState {
            reader: reader.into(),
            writer: writer.into(),
            signal,
        };
        Ok(Abort {
            shared: Arc::new(shared),
        })
    }

    /// An abort that is also raised by every signal that can be caught and would end this process.
    /// It also stops ignoring SIGCHLD if that was inherited, since otherwise no exit status could
    /// be read.
    ///
    /// # Errors
    /// When no descriptors are left, or SIGCHLD cannot be handled.
    pub fn on_signals() -> io::Result<Abort> {
        let abort = Abort::new()?;
        listen(Arc::clone(&abort.shared));
        for signal in stop_signals() {
            // What watches a program may keep a signal for itself.
            let _ = catch(signal);
        }
        // Only if needed: a handler would interrupt us at the end of each hook.
        if is_ignored(SIGCHLD) {
            act(SIGCHLD, libc::SIG_DFL)?;
        }
        Ok(abort)
    }

    /// An abort that a signal raises, in place of the signal's default effect.
    ///
    /// # Errors
    /// When no descriptors are left, or the signal cannot be handled.
    pub(super) fn on_signal(signal: c_int) -> io::Result<Abort> {
        let abort = Abort::new()?;
        listen(Arc::clone(&abort.shared));
        act(signal, note as SignalHandler as usize)?;
        Ok(abort)
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
