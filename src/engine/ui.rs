//! Dialogs between a running hook and the person at the host.
//!
//! A host shows dialogs through a [`Ui`]; without one, every answer is [`DialogAnswer::Nobody`].
//! Hooks send [`Request`]s through a socket in a private folder, opened for the first hook, with
//! one thread per request. A token identifies each hook, and its timeout pauses while a dialog is
//! open. When the hook ends or the server closes, its connections and open dialogs are closed.

mod connection;
mod dialog;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::engine::lock::{locked, wait_readable};
use crate::engine::session::{self, Message, Session};
pub use connection::{Clock, Connection, PATIENCE, Tenure};
use connection::{ConnectedHook, ConnectedHooks};
pub use dialog::{Asker, DialogAnswer, MessageKind, Request, Ui, WaitEnd, ask};
use dialog::{MOST_BYTES, SignedRequest};

const MOST_CALLS: usize = 64;

/// Time for a request to arrive. It is one line, written in one call.
const ARRIVAL: Duration = Duration::from_secs(5);

/// Portable limit on a socket's path, with its NUL.
const LONGEST_PATH_BYTES: usize = 104;

/// Age at which a socket without a listener is removed.
const STALE: Duration = Duration::from_secs(60);

/// Polling interval of a waiting question.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The dialogs and messages that a program offers its hooks, and their socket.
#[derive(Clone)]
pub struct Server {
    /// Root of the private folder for sockets.
    root: PathBuf,
    pub(crate) ui: Option<Arc<dyn Ui>>,
    pub(crate) session: Option<Arc<dyn Session>>,
    /// The program's id for this clone's decision: its dialogs and messages carry it
    /// ([`Asker::request`], [`Message::request`]).
    pub(crate) request: Option<Arc<str>>,
    socket: Arc<Mutex<Option<OpenSocket>>>,
}

impl Server {
    /// Creates a server that offers nothing, with its socket below `root`.
    pub fn new(root: &Path) -> Server {
        Server {
            root: root.to_path_buf(),
            ui: None,
            session: None,
            request: None,
            socket: Arc::default(),
        }
    }

    /// Returns a server with the same dialogs, another socket, and this session for messages.
    #[must_use]
    pub(crate) fn apart(&self, session: Arc<dyn Session>) -> Server {
        Server {
            session: Some(session),
            request: None,
            socket: Arc::default(),
            ..self.clone()
        }
    }

    /// Opens the connection of a hook that is about to start. `None` if no socket can be created;
    /// then the hook cannot ask.
    pub(crate) fn connection(
        &self,
        hook: &str,
        session: Option<&str>,
        tenure: Tenure,
    ) -> Option<Connection> {
        let mut socket = locked(&self.socket);
        let open = match socket.take() {
            Some(open) => open,
            None => OpenSocket::start(self)
                .inspect_err(|error| tracing::warn!(%error, "hooks cannot ask: no socket"))
                .ok()?,
        };
        let socket = socket.insert(open);
        let caller = Arc::new(ConnectedHook {
            hook: hook.to_string(),
            session: session.unwrap_or_default().to_string(),
            request: self.request.clone(),
            tenure,
            clock: Clock::new(tenure == Tenure::Session),
            open: Mutex::default(),
            closed: Condvar::new(),
        });
        let hooks = Arc::clone(&socket.shared.hooks);
        // It distinguishes the hooks of the one user who can reach the socket. Each has random keys
        // from the system.
        let random = RandomState::new();
        let token = format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1));
        locked(&hooks).insert(token.clone(), Arc::clone(&caller));
        Some(Connection {
            hooks,
            address: socket.address.clone(),
            token,
            caller,
        })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

struct OpenSocket {
    address: PathBuf,
    shared: Arc<SocketState>,
    /// Dropping it ends the accepting thread.
    _life: PipeWriter,
}

struct SocketState {
    ui: Option<Arc<dyn Ui>>,
    session: Option<Arc<dyn Session>>,
    hooks: Arc<ConnectedHooks>,
    /// Locked while a dialog is shown.
    turn: Mutex<()>,
}

impl OpenSocket {
    fn start(server: &Server) -> io::Result<OpenSocket> {
        let (address, listener) = listen(&server.root)?;
        let (reader, life) = io::pipe()?;
        let shared = Arc::new(SocketState {
            ui: server.ui.clone(),
            session: server.session.clone(),
            hooks: Arc::default(),
            turn: Mutex::default(),
        });
        let open = OpenSocket {
            address,
            shared: Arc::clone(&shared),
            _life: life,
        };
        listener.set_nonblocking(true)?;
        let thread = thread::Builder::new().name("hookrun-desk".to_string());
        thread.spawn(move || receive(&shared, &listener, reader.as_fd()))?;
        Ok(open)
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.address);
        let hooks = std::mem::take(&mut *locked(&self.shared.hooks));
        hooks.values().for_each(|caller| caller.withdraw());
    }
}

impl SocketState {
    fn serve(&self, mut stream: &UnixStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(ARRIVAL))?;
        stream.set_write_timeout(Some(ARRIVAL))?;
        let mut line = Vec::new();
        BufReader::new(stream.take(MOST_BYTES)).read_until(b'\n', &mut line)?;
        let call: SignedRequest = serde_json::from_slice(&line)?;
        let caller = locked(&self.hooks).get(&call.token).cloned();
        let answer = caller.map_or(DialogAnswer::Nobody, |caller| {
            self.answer(&caller, stream, call.request)
        });
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        stream.write_all(&line)
    }

    fn answer(
        &self,
        caller: &ConnectedHook,
        stream: &UnixStream,
        request: Request,
    ) -> DialogAnswer {
        if let Request::Send(message) = request {
            let message = Message {
                hook: Some(caller.hook.clone()),
                request: caller.request.as_deref().map(str::to_string),
                ..message
            };
            return self.send(&caller.session, &message);
        }
        let Some(ui) = &self.ui else {
            return DialogAnswer::Nobody;
        };
        let Some(_opened) = caller.open(stream) else {
            return DialogAnswer::Nobody;
        };
        let now = Instant::now();
        let until = now + caller.clock.time_left(now);
        let asker = Asker {
            session: &caller.session,
            request: caller.request.as_deref(),
            ..Asker::new(&caller.hook, until, vec![stream.as_fd()])
        };
        let Some(_turn) = self.turn(&asker) else {
            return DialogAnswer::Cancelled;
        };
        // A panic in the host is not an answer.
        let shown = catch_unwind(AssertUnwindSafe(|| ui.show(&asker, &request)));
        let answer = shown.unwrap_or(DialogAnswer::Nobody);
        // Neither is a late answer.
        if asker.is_over() && answer != DialogAnswer::Done {
            return DialogAnswer::Cancelled;
        }
        answer
    }

    /// Waits for other dialogs; `None` if the question ends before.
    fn turn(&self, asker: &Asker<'_>) -> Option<MutexGuard<'_, ()>> {
        let mut pause = Duration::ZERO;
        while asker.wait(None, pause) != WaitEnd::Over {
            match self.turn.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(turn)) => return Some(turn.into_inner()),
                Err(TryLockError::WouldBlock) => pause = LOOK_EVERY,
            }
        }
        None
    }

    fn send(&self, id: &str, message: &Message) -> DialogAnswer {
        let Some(session) = &self.session else {
            return DialogAnswer::Nobody;
        };
        let sent = catch_unwind(AssertUnwindSafe(|| session.send(id, message)));
        match sent {
            Ok(Ok(())) => DialogAnswer::Done,
            Ok(Err(why)) => DialogAnswer::Rejected(why),
            Err(_) => DialogAnswer::Rejected(
                "the embedding program's message handler panicked".to_string(),
            ),
        }
    }
}

fn receive(shared: &Arc<SocketState>, listener: &UnixListener, life: BorrowedFd<'_>) {
    loop {
        if wait_readable(&[life, listener.as_fd()], None) == Ok(Some(0)) {
            return;
        }
        match listener.accept() {
            Ok((stream, _)) => receive_one(shared, stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // Out of descriptors: wait until some are closed.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Serves a connection in a new thread. Dialogs still take turns.
fn receive_one(shared: &Arc<SocketState>, stream: UnixStream) {
    // The socket and the accepting thread have one each, as does every open call.
    if Arc::strong_count(shared) >= MOST_CALLS + 2 {
        return;
    }
    let own = Arc::clone(shared);
    let thread = thread::Builder::new().name("hookrun-dialog".to_string());
    // Without a thread, the connection is closed.
    let _ = thread.spawn(move || {
        if let Err(error) = own.serve(&stream) {
            tracing::debug!(%error, "a request of a hook");
        }
    });
}

/// Creates the socket below `root`, or in `/tmp` if its path is too long.
fn listen(root: &Path) -> io::Result<(PathBuf, UnixListener)> {
    let own = rustix::process::getuid().as_raw();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default().as_nanos() % 1_000_000_000_000;
    let name = format!("{}-{now}", std::process::id());
    let temporary = PathBuf::from(format!("/tmp/hookrun-{own}"));
    let mut problem = io::Error::new(io::ErrorKind::InvalidInput, "its path would be too long");
    for root in [root, &temporary] {
        let folder = root.join("desks");
        let address = folder.join(&name);
        if address.as_os_str().len() >= LONGEST_PATH_BYTES {
            continue;
        }
        let made = session::make_private(root, &folder);
        match made.and_then(|()| UnixListener::bind(&address)) {
            Ok(listener) => {
                remove_stale(&folder);
                return Ok((address, listener));
            }
            Err(error) => problem = error,
        }
    }
    Err(problem)
}

fn remove_stale(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|meta| meta.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        if age.is_none_or(|age| age <= STALE) {
            continue;
        }
        let tried = UnixStream::connect(entry.path());
        if tried.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
