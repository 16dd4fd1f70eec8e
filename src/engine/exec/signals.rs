//! Being told to stop: by a signal, or by the program that embeds us.
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

/// What a terminal, a host and an init system send to stop a program, also one that ignores it.
const REQUESTS: &[c_int] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Signals that are no request to stop. All others are: they would end this process, and nobody
/// would get a decision.
const OTHERS: &[c_int] = &[
    // Nobody can catch them.
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

/// What stops a process, and what ends one that writes more than it may: see [`hold_out`].
pub(super) const HELD_OUT: &[c_int] = &[SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ];

/// The signals that are a request to stop.
pub(super) fn stop_signals() -> impl Iterator<Item = c_int> {
    let classic = (1..32).filter(|signal| !OTHERS.contains(signal));
    #[cfg(target_os = "linux")]
    let classic = classic.chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
    classic
}

/// Stands for [`Abort::raise`] among the numbers of signals.
const BY_HAND: usize = usize::MAX;

/// A way to end a run before its time. Clones belong together: raise one and all are raised.
///
/// Raised once, hooks are ended with SIGTERM and a grace; raised again, they are killed at once.
/// It stays raised: a chain that has not begun refuses.
#[derive(Debug, Clone)]
pub struct Abort {
    shared: Arc<SignalState>,
}

#[derive(Debug)]
struct SignalState {
    /// A byte for each time it was raised; never read, only counted.
    reader: OwnedFd,
    writer: OwnedFd,
    /// What raised it: the number of a signal, or [`BY_HAND`]; 0 while it is not raised.
    signal: AtomicUsize,
}

impl SignalState {
    fn wake(&self) {
        // The pipe holds 64 KiB: a write can only fail after 65,536 calls, when it is long raised.
        let _ = rustix::io::write(&self.writer, b"!");
    }
}

/// What the handler tells of a signal. Never freed: the handler may run at any time.
struct Listener {
    shared: Arc<SignalState>,
    next: *const Listener,
}

/// The newest of all listeners.
static LISTENERS: AtomicPtr<Listener> = AtomicPtr::new(ptr::null_mut());

/// Handlers of the program around us that were there before ours, by signal.
static BEFORE: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

fn listen(shared: Arc<SignalState>) {
    let listener = Box::into_raw(Box::new(Listener { shared, next: ptr::null() }));
    let mut newest = LISTENERS.load(Ordering::Relaxed);
    loop {
        // SAFETY: until the exchange nobody else knows of it.
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

/// Tells all listeners. Only atomics and one system call each: nothing else may be done here.
extern "C" fn note(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let number = usize::try_from(signal).unwrap_or_default();
    let before = BEFORE.get(number).map_or(0, |before| before.load(Ordering::Relaxed));
    if before != 0 {
        // SAFETY: it was installed as a handler. One that takes only the signal leaves the rest.
        unsafe { std::mem::transmute::<usize, SignalHandler>(before)(signal, info, context) };
    }
    let mut at: *const Listener = LISTENERS.load(Ordering::Acquire);
    // SAFETY: listeners are never freed, and complete before they are in the list.
    while let Some(listener) = unsafe { at.as_ref() } {
        listener.shared.signal.store(number, Ordering::Relaxed);
        listener.shared.wake();
        at = listener.next;
    }
}

/// Handles a signal. One that the program around us handles or ignores does not end it, and is
/// left alone, unless it is one of [`REQUESTS`].
fn catch(signal: c_int) -> io::Result<()> {
    let ours = note as SignalHandler as usize;
    let before = act(signal, ours)?;
    let is_request = REQUESTS.contains(&signal);
    match before.sa_sigaction {
        libc::SIG_DFL => {}
        libc::SIG_IGN if is_request => {}
        handler if handler == ours => {}
        handler if is_request => {
            let before = usize::try_from(signal).ok().and_then(|number| BEFORE.get(number));
            before.iter().for_each(|before| before.store(handler, Ordering::Relaxed));
        }
        // SAFETY: it is what the system gave us.
        _ => drop(unsafe { libc::sigaction(signal, &raw const before, ptr::null_mut()) }),
    }
    Ok(())
}

/// Outlives signals to the group that are for a child in it. What is ignored stays so, because the
/// child inherits that.
pub(super) fn survive() {
    for signal in stop_signals().chain([SIGXFSZ]) {
        // Without it the signal does what it does everywhere.
        let _ = catch(signal);
    }
}

/// Sets what becomes of a signal, and gives what became of it before.
fn act(signal: c_int, handler: usize) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: all zeroes are an action without flags that blocks no signal.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the action is initialised, and its handler, if it is one, does only what a handler
    // may. The other pointer is to room for an action.
    match unsafe { libc::sigaction(signal, &raw const action, before.as_mut_ptr()) } {
        // SAFETY: then it has been written.
        0 => Ok(unsafe { before.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// From now on a signal does to this process what it does everywhere.
pub(super) fn take_as_usual(signal: c_int) {
    // One that cannot be changed does so anyway.
    let _ = act(signal, libc::SIG_DFL);
}

/// Ends the calling process by a signal, whatever it has done about it so far.
pub(super) fn end_by(signal: c_int) {
    take_as_usual(signal);
    // SAFETY: the system does what is usual, and no handler of ours runs.
    unsafe { libc::raise(signal) };
}

/// Goes on where others stop: in the background of a terminal, at a file of the longest permitted
/// size. For a program whose host waits for its answer. Hooks get these signals as usual.
pub fn hold_out() {
    for signal in HELD_OUT {
        // Without it they do what they do everywhere.
        let _ = act(*signal, libc::SIG_IGN);
    }
}

/// Whether this process ignores a signal, and not only lets it have no effect.
pub(super) fn is_ignored(signal: libc::c_int) -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action it only writes the present one, to room for it.
    let is_known = unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) } == 0;
    // SAFETY: then it has been written.
    is_known && unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN
}

impl Abort {
    /// One that only [`Abort::raise`] raises.
    ///
    /// # Errors
    /// When there are no descriptors left for a pipe.
    pub fn new() -> io::Result<Abort> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        let signal = AtomicUsize::new(0);
        let shared = SignalState { reader: reader.into(), writer: writer.into(), signal };
        Ok(Abort { shared: Arc::new(shared) })
    }

    /// One that every signal raises as well that can be caught and would end this process. It
    /// also takes back an inherited "ignore" for SIGCHLD, with which no exit status could be read.
    ///
    /// # Errors
    /// When there are no descriptors left, or a handler cannot be installed.
    pub fn on_signals() -> io::Result<Abort> {
        let abort = Abort::new()?;
        listen(Arc::clone(&abort.shared));
        for signal in stop_signals() {
            catch(signal)?;
        }
        // Else no handler: it would interrupt us at the end of each hook.
        if is_ignored(SIGCHLD) {
            act(SIGCHLD, libc::SIG_DFL)?;
        }
        Ok(abort)
    }

    /// One that a signal raises which then does nothing else.
    ///
    /// # Errors
    /// When there are no descriptors left, or the signal cannot be handled.
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

    /// How often it was raised.
    pub fn times_raised(&self) -> u64 {
        // Asked before and after every hook: the flag spares a system call each time.
        if self.shared.signal.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        rustix::io::ioctl_fionread(&self.shared.reader).unwrap_or(0)
    }

    /// The signal that raised it last, if it was one.
    pub fn signal(&self) -> Option<i32> {
        match self.shared.signal.load(Ordering::Relaxed) {
            0 | BY_HAND => None,
            number => i32::try_from(number).ok(),
        }
    }
}

impl AsFd for Abort {
    /// Readable from the moment it is raised.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.reader.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abort_stays_raised_and_counts() {
        let abort = Abort::new().unwrap();
        assert_eq!(abort.times_raised(), 0);
        abort.clone().raise();
        abort.raise();
        assert_eq!(abort.times_raised(), 2);
        assert_eq!(abort.signal(), None);
    }
}
