//! What is done with the process of a hook that was there before its event.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::engine::exec::child::{Child, reap_within};
use crate::engine::exec::job::Job;
use crate::engine::run::CapturedStream;

impl Child {
    /// Whether a process that has ended ran nothing of its hook: it would have said so before the
    /// first line.
    pub(crate) fn never_began(&self) -> bool {
        let Some(socket) = &self.beginning else {
            return false;
        };
        loop {
            match recv(socket, &mut [0; 1], RecvFlags::DONTWAIT | RecvFlags::PEEK) {
                Ok((_, length)) => return length == 0,
                Err(Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    /// Gives it the next event. It has read the one before.
    pub(crate) fn ask(&mut self, job: &Job<'_>) {
        if let Some(feed) = &mut self.stdin {
            feed.take(&job.payload);
        }
        self.feed();
    }

    /// Whether all of the last event was written to it. The rest would stand before the next one.
    pub(crate) fn is_fed(&self) -> bool {
        self.stdin.as_ref().is_some_and(|feed| feed.is_done)
    }

    /// Whether it reads on. That of a program which has closed its stdin is an error.
    fn listens(&self) -> bool {
        let Some(feed) = &self.stdin else {
            return false;
        };
        let mut fds = [PollFd::new(&feed.fd, PollFlags::OUT)];
        let polled = rustix::event::poll(&mut fds, Some(&Timespec::default()));
        polled.is_ok() && !fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
    }

    /// Whether it has written nothing and still could, and reads on. What is on its stderr belongs to no event.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let mut buffer = Vec::with_capacity(4096);
        self.stdout.read(&mut buffer, false);
        self.stderr.read(&mut buffer, false);
        self.stderr.kept = CapturedStream::default();
        self.stdout.kept.total_bytes == 0 && !self.stdout.is_closed() && self.listens()
    }

    /// Waits for its end, and reaps it.
    pub(crate) fn reap_within(&self, limit: Duration) {
        reap_within(self.pid, limit);
    }
}
