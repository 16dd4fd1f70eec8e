//! The server for hooks' requests: a socket in a private folder, created for the first hook. One
//! thread accepts connections, and each request gets another thread.
//!
//! Each hook has a token, which identifies it, and a clock. When the hook ends or the server
//! closes, its connections are cut, which withdraws their open dialogs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags};

use super::caller::{MOST_BYTES, SignedRequest};
use super::connection::{Connection, Guest, Guests, Tenure};
use super::dialog::{Asker, DialogAnswer, Request, Ui};
use crate::engine::lock::locked;
use crate::engine::session::{self, Message, Session};

/// How many requests may wait at once. A hook that sends more is cut off.
const MOST_CALLS: usize = 64;

/// How long a request may take to arrive. It is one line, written at once.
const ARRIVAL: Duration = Duration::from_secs(5);

/// The longest path of a socket, with its final NUL, that every system takes.
const LONGEST_PATH_BYTES: usize = 104;

/// The age at which a socket without a listener is removed.
const STALE: Duration = Duration::from_secs(60);

/// How often a question that waits for its turn checks whether it is over.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What an embedding program offers to its hooks, and the socket where they find it.
#[derive(Clone)]
pub struct Server {
    /// Sockets are created in a folder below it that only the owner can read.
    root: PathBuf,
    ui: Option<Arc<dyn Ui>>,
    session: Option<Arc<dyn Session>>,
    /// What the program calls the decision that this clone serves.
    request: Option<Arc<str>>,
    socket: Arc<Mutex<Option<OpenSocket>>>,
}

impl Server {
    /// A server that offers nothing, with its socket below `root`.
    pub fn new(root: &Path) -> Server {
        Server {
            root: root.to_path_buf(),
            ui: None,
            session: None,
            request: None,
            socket: Arc::default(),
        }
    }

    /// Lets hooks ask a person and show messages.
    #[must_use]
    pub fn with_ui(mut self, ui: Arc<dyn Ui>) -> Server {
        self.ui = Some(ui);
        self
    }

    /// Lets hooks send messages to the session.
    #[must_use]
    pub fn with_session(mut self, session: Arc<dyn Session>) -> Server {
        self.session = Some(session);
        self
    }

    /// A server with the same person, a socket of its own, and this session for messages.
    #[must_use]
    pub(crate) fn apart(&self, session: Arc<dyn Session>) -> Server {
        Server {
            session: Some(session),
            request: None,
            socket: Arc::default(),
            ..self.clone()
        }
    }

    /// The same server for one decision, which the program calls `request`: dialogs and messages of
    /// its hooks say so ([`Asker::request`], [`Message::request`]). For a program that decides
    /// several events at once and shows each where it belongs.
    #[must_use]
    pub fn for_request(&self, request: &str) -> Server {
        Server {
            request: Some(Arc::from(request)),
            ..self.clone()
        }
    }

    pub fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }

    pub fn has_ui(&self) -> bool {
        self.ui.is_some()
    }

    /// The connection of a hook that is about to start. `None` if no socket can be created; then
    /// the hook cannot ask anyone.
    pub(crate) fn connection(
        &self,
        hook: &str,
        session: Option<&str>,
        tenure: Tenure,
    ) -> Option<Connection> {
        let mut socket = locked(&self.socket);
        if socket.is_none() {
            match OpenSocket::start(&self.root, self.ui.clone(), self.session.clone()) {
                Ok(started) => *socket = Some(started),
                Err(error) => {
                    tracing::warn!(%error, "hooks cannot ask: no socket");
                    return None;
                }
            }
        }
        let guest = Guest::new(
            hook,
            session.unwrap_or_default(),
            self.request.clone(),
            tenure,
        );
        socket.as_ref().map(|socket| socket.connection(guest))
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let offers = (self.ui.is_some(), self.session.is_some());
        f.debug_struct("Server")
            .field("root", &self.root)
            .field("offers", &offers)
            .finish()
    }
}

#[derive(Debug)]
struct OpenSocket {
    address: PathBuf,
    shared: Arc<SocketState>,
    /// Dropping it ends the thread that accepts connections.
    _life: PipeWriter,
}

struct SocketState {
    ui: Option<Arc<dyn Ui>>,
    session: Option<Arc<dyn Session>>,
    guests: Arc<Guests>,
    turns: Turns,
    calls: AtomicUsize,
}

impl OpenSocket {
    fn start(
        root: &Path,
        ui: Option<Arc<dyn Ui>>,
        session: Option<Arc<dyn Session>>,
    ) -> io::Result<OpenSocket> {
        let (address, listener) = listen(root)?;
        let (reader, life) = io::pipe()?;
        let shared = Arc::new(SocketState {
            ui,
            session,
            guests: Arc::default(),
            turns: Turns::default(),
            calls: AtomicUsize::new(0),
        });
        let server = OpenSocket {
            address,
            shared,
            _life: life,
        };
        listener.set_nonblocking(true)?;
        let shared = Arc::clone(&server.shared);
        let thread = thread::Builder::new().name("hookrun-desk".to_string());
        thread.spawn(move || receive(&shared, &listener, reader.as_fd()))?;
        Ok(server)
    }

    fn connection(&self, guest: Guest) -> Connection {
        let guest = Arc::new(guest);
        let guests = Arc::clone(&self.shared.guests);
        let token = new_token();
        locked(&guests).insert(token.clone(), Arc::clone(&guest));
        Connection {
            guests,
            address: self.address.clone(),
            token,
            guest,
        }
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.address);
        let guests: Vec<Arc<Guest>> = locked(&self.shared.guests)
            .drain()
            .map(|(_, guest)| guest)
            .collect();
        guests.iter().for_each(|guest| guest.withdraw());
    }
}

impl SocketState {
    fn serve(&self, stream: &UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(ARRIVAL))?;
        stream.set_write_timeout(Some(ARRIVAL))?;
        let mut line = Vec::new();
        BufReader::new(stream.take(MOST_BYTES)).read_until(b'\n', &mut line)?;
        let call: SignedRequest = serde_json::from_slice(&line)?;
        let guest = locked(&self.guests).get(&call.token).cloned();
        let answer = guest.map_or(DialogAnswer::Nobody, |guest| {
            self.answer(&guest, stream, call.request)
        });
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        let mut stream = stream;
        stream.write_all(&line)
    }

    fn answer(&self, guest: &Guest, stream: &UnixStream, request: Request) -> DialogAnswer {
        if let Request::Send(message) = request {
            let hook = Some(guest.hook.clone());
            let request = guest.request.as_deref().map(str::to_string);
            return self.send(
                &guest.session,
                &Message {
                    hook,
                    request,
                    ..message
                },
            );
        }
        let Some(ui) = &self.ui else {
            return DialogAnswer::Nobody;
        };
        let Some(_opened) = guest.open(stream) else {
            return DialogAnswer::Nobody;
        };
        let now = Instant::now();
        let until = now + guest.clock.patience(now);
        let asker = Asker::new(&guest.hook, until, vec![stream.as_fd()])
            .about(&guest.session, guest.request.as_deref());
        let Some(_turn) = self.turns.take(&asker) else {
            return DialogAnswer::Cancelled;
        };
        // A panic in the host's code does not count as an answer.
        let shown = catch_unwind(AssertUnwindSafe(|| ui.show(&asker, &request)));
        let answer = shown.unwrap_or(DialogAnswer::Nobody);
        // Nor does a late answer.
        if asker.is_over() && answer != DialogAnswer::Done {
            DialogAnswer::Cancelled
        } else {
            answer
        }
    }

    fn send(&self, id: &str, message: &Message) -> DialogAnswer {
        let Some(session) = &self.session else {
            return DialogAnswer::Nobody;
        };
        let sent = catch_unwind(AssertUnwindSafe(|| session.send(id, message)));
        match sent {
            Ok(Ok(())) => DialogAnswer::Done,
            Ok(Err(why)) => DialogAnswer::Refused(why),
            Err(_) => DialogAnswer::Refused("the host failed to take it".to_string()),
        }
    }
}

/// Lets one dialog at a time through.
#[derive(Debug, Default)]
struct Turns {
    is_taken: Mutex<bool>,
    given_back: Condvar,
}

/// A turn, until it is dropped.
#[derive(Debug)]
struct DialogTurn<'t>(&'t Turns);

impl Turns {
    /// Waits for a turn; `None` if the question is over before it comes.
    fn take(&self, asker: &Asker<'_>) -> Option<DialogTurn<'_>> {
        let mut is_taken = locked(&self.is_taken);
        loop {
            if asker.is_over() {
                return None;
            }
            if !*is_taken {
                *is_taken = true;
                return Some(DialogTurn(self));
            }
            let waited = self.given_back.wait_timeout(is_taken, LOOK_EVERY);
            is_taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for DialogTurn<'_> {
    fn drop(&mut self) {
        *locked(&self.0.is_taken) = false;
        self.0.given_back.notify_one();
    }
}

/// Accepts connections until `life` ends.
fn receive(shared: &Arc<SocketState>, listener: &UnixListener, life: BorrowedFd<'_>) {
    loop {
        let mut fds =
            [life, listener.as_fd()].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let polled = rustix::event::poll(&mut fds, None);
        if polled.is_ok() && !fds[0].revents().is_empty() {
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

/// Serves a connection in a new thread. The dialogs still take turns.
fn receive_one(shared: &Arc<SocketState>, stream: UnixStream) {
    if shared.calls.fetch_add(1, Ordering::SeqCst) >= MOST_CALLS {
        shared.calls.fetch_sub(1, Ordering::SeqCst);
        return;
    }
    let own = Arc::clone(shared);
    let thread = thread::Builder::new().name("hookrun-dialog".to_string());
    let started = thread.spawn(move || {
        let served = stream
            .set_nonblocking(false)
            .and_then(|()| own.serve(&stream));
        if let Err(error) = served {
            tracing::debug!(%error, "a request of a hook");
        }
        own.calls.fetch_sub(1, Ordering::SeqCst);
    });
    if started.is_err() {
        shared.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Creates the socket below `root`, or in the system's temporary folder if its path is too long.
fn listen(root: &Path) -> io::Result<(PathBuf, UnixListener)> {
    let own = rustix::process::getuid().as_raw();
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let name = format!(
        "{}-{}",
        std::process::id(),
        now.as_nanos() % 1_000_000_000_000
    );
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

fn new_token() -> String {
    let mut bytes = [0; 16];
    // Only the same user can reach the socket; the token distinguishes that user's hooks.
    let _ = File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes));
    let own = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let number = u128::from_ne_bytes(bytes) ^ own.as_nanos();
    format!("{number:032x}")
}

impl std::fmt::Debug for SocketState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SocketState")
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}
