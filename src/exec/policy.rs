//! Policy threads: each raises the walls of one sandbox around itself and then only starts
//! hooks, which inherit them.
//!
//! So a hook in a sandbox is started by posix_spawn as any other, and nothing has to run between
//! fork and exec. But the hook is then behind the same walls as the thread, and may signal and
//! trace it: only for programs that name no binary of hookrun's, through which it is done
//! otherwise ([`super::confine`]).

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rustix::process::Pid;

use super::spawn::Start;
use super::walls::{self, Walls};

/// How many threads are kept: a program that runs for long meets many sandboxes, because each
/// session has state folders of its own.
const KEPT_THREADS: usize = 8;

/// What a thread needs at most to start a program.
const STACK_BYTES: usize = 256 * 1024;

/// The policy threads of an engine.
#[derive(Debug, Default)]
pub(super) struct Policies {
    /// Those used last stand last.
    threads: Vec<Arc<Policy>>,
}

/// A thread that starts programs behind walls. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Policy {
    walls: Walls,
    requests: SyncSender<Request>,
}

/// Why there is no such thread.
#[derive(Debug)]
pub(super) enum PolicyError {
    /// The system has none to give.
    NoThread(io::Error),
    /// It could not raise the walls.
    NoWalls(String),
}

#[derive(Debug)]
struct Request {
    start: Start,
    reply: SyncSender<io::Result<Pid>>,
}

impl Policies {
    /// The thread behind these walls, started if there is none.
    ///
    /// # Errors
    /// When the walls cannot be raised, or there is no thread to be had.
    pub(super) fn behind(&mut self, walls: &Walls) -> Result<Arc<Policy>, PolicyError> {
        let policy = match self.threads.iter().position(|policy| policy.walls == *walls) {
            Some(place) => self.threads.remove(place),
            None => Arc::new(Policy::start(walls)?),
        };
        if self.threads.len() >= KEPT_THREADS {
            self.threads.remove(0);
        }
        self.threads.push(Arc::clone(&policy));
        Ok(policy)
    }
}

impl Policy {
    fn start(walls: &Walls) -> Result<Policy, PolicyError> {
        let (requests, received) = sync_channel(0);
        let (raised, is_raised) = sync_channel(1);
        let own = walls.clone();
        let live = move || {
            let result = walls::raise(&own);
            let goes_on = result.is_ok();
            if raised.send(result).is_ok() && goes_on {
                serve(&received);
            }
        };
        let thread = thread::Builder::new().name("policy".to_string()).stack_size(STACK_BYTES);
        thread.spawn(live).map_err(PolicyError::NoThread)?;
        let raised =
            is_raised.recv().unwrap_or_else(|_| Err("its thread ended at once".to_string()));
        raised.map_err(PolicyError::NoWalls)?;
        Ok(Policy { walls: walls.clone(), requests })
    }

    /// Starts a program behind the walls.
    pub(super) fn spawn(&self, start: Start) -> io::Result<Pid> {
        let (reply, result) = sync_channel(1);
        let gone = || io::Error::other("the thread of its sandbox has ended");
        self.requests.send(Request { start, reply }).map_err(|_| gone())?;
        result.recv().map_err(|_| gone())?
    }
}

fn serve(requests: &Receiver<Request>) {
    while let Ok(Request { start, reply }) = requests.recv() {
        let _ = reply.send(start.spawn());
    }
}
