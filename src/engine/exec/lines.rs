//! What a hook that lives as long as its session reads and writes, as the loop of the engine sees
//! it.

use std::fmt::Debug;
use std::os::fd::BorrowedFd;

/// The lines of one hook of one session, for all lives of its process.
pub trait LineStream: Debug + Send + Sync {
    /// Readable when there is something new.
    fn fd(&self) -> BorrowedFd<'_>;

    fn clear_news(&self);

    fn life(&self) -> LineLife;

    /// Begins with new streams: what comes now is for the next process.
    fn renew(&self);

    /// Adds the next line to `out`, if one waits. Returns whether it was the last one ever.
    fn take_next(&self, out: &mut Vec<u8>) -> bool;

    /// The process has closed its stdin: nothing needs to wait for it.
    fn stop_feeding(&self);

    /// Hands out the whole lines of `written`, and keeps the rest there.
    fn hear(&self, written: &mut Vec<u8>);
}

/// How much longer the process may live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LineLife {
    /// As long as it wants.
    #[default]
    Open,
    /// It gets what waits and the end of its input, and then has its timeout to exit.
    Closing,
    /// It is ended now.
    Stopped,
}
