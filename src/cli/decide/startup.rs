//! What every command that runs hooks does first: it undoes what its host may have left behind,
//! which hooks would inherit, and takes charge of signals and of its descendants.

use std::io;

use rustix::process::{Resource, Rlimit};

use crate::engine::exec::{Abort, Subreaper};

/// The first descriptor that is no standard stream.
const FIRST_OWN_DESCRIPTOR: i32 = 3;

/// Clears the mask of blocked signals, keeps descriptors that the host left open from hooks, and
/// switches core files off; then handles signals ([`Abort::on_signals`]) and becomes the
/// subreaper ([`Subreaper::take`]). Call it once, before other threads start.
///
/// # Errors
/// When signals cannot be handled.
pub(in crate::cli) fn start_up() -> io::Result<(Abort, Option<Subreaper>)> {
    // A host that blocks SIGTERM would have us, and our hooks, never hear of it.
    nix::sys::signal::SigSet::empty().thread_set_mask()?;
    close_fds::CloseFdsBuilder::new().cloexecfrom(FIRST_OWN_DESCRIPTOR);
    // A hook that crashes is to leave nothing behind; one that wants a core file may raise this.
    let hard = rustix::process::getrlimit(Resource::Core).maximum;
    let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: hard });
    // The order matters: children need the handler for SIGCHLD and a parent that adopts them.
    let abort = Abort::on_signals()?;
    Ok((abort, Subreaper::take()))
}
