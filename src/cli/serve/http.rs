//! `serve --http` and `--unix`: HTTP/1.1. A separate runtime serves connections; events with hooks
//! are decided on other threads, one each.

mod service;

use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use rustix::fs::OFlags;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use super::decider::DecisionServer;
use super::socket::SocketFile;
use crate::cli::args::ServeArgs;
use crate::cli::exit::{Result, failed};
use crate::cli::streams;
use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::lock::wait_readable;
use crate::engine::names::hex;
use crate::engine::session::make_private;
use service::HttpService;

const MOST_CONNECTIONS: usize = 1024;

/// The longest request head, including headers.
const LONGEST_HEAD_BYTES: usize = 16 * 1024;

/// The timeout for a request's head, and for its body.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time for clients to disconnect; hooks have their grace.
const LEAVING: Duration = Duration::from_secs(10);

const BREATH: Duration = Duration::from_millis(100);

/// The random bytes of a token, written as twice as many digits.
const TOKEN_BYTES: usize = 32;

const LONGEST_TOKEN_BYTES: u64 = 4096;

/// The listeners on TCP and Unix sockets, open until [`HttpDoor::close`].
pub(crate) struct HttpDoor {
    runtime: Runtime,
    decider: Arc<DecisionServer>,
    connections: Arc<GracefulShutdown>,
    acceptors: Vec<JoinHandle<()>>,
    /// Removed on drop.
    _socket: Option<SocketFile>,
}

impl HttpDoor {
    /// Opens the listeners on the command line; `None` without any.
    pub(crate) fn open(
        decider: &DecisionServer,
        args: &ServeArgs,
        env: &Environment,
    ) -> Result<Option<HttpDoor>> {
        if args.http.is_none() && args.unix.is_none() {
            return Ok(None);
        }
        let decider = Arc::new(decider.beside(crate::decide::Door::Http));
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.enable_all().thread_name("hookrun-http").build();
        let runtime = runtime.map_err(failed("cannot start threads for HTTP"))?;
        let mut door = HttpDoor {
            runtime,
            decider: Arc::clone(&decider),
            connections: Arc::default(),
            acceptors: Vec::new(),
            _socket: None,
        };
        let mut opened = String::new();
        if let Some(address) = args.http {
            let file = match &args.token {
                Some(file) => env.cwd.join(file),
                None => env.state_root().join("serve.token"),
            };
            opened = door.serve_tcp(address, &file)?;
        }
        if let Some(path) = &args.unix {
            opened.push_str(&door.serve_unix(&env.cwd.join(path))?);
        }
        // A client that waits for the first line can connect to every listener.
        streams::remark(&opened);
        Ok(Some(door))
    }

    /// Opens the listener on TCP, and returns the line that says so.
    fn serve_tcp(&mut self, address: SocketAddr, token: &Path) -> Result<String> {
        if !address.ip().is_loopback() {
            let cause = format!("`--http {address}` is reachable from other machines");
            let cure = "use 127.0.0.1, with a TLS proxy in front if other machines must reach it";
            return Err(Complaint::with_cure(cause, cure));
        }
        let cannot = || failed(format!("cannot listen on {address}"));
        let server = HttpService::new(&self.decider, Some(read_token(token)?), PATIENCE);
        let _inside = self.runtime.enter();
        let listener = std::net::TcpListener::bind(address).map_err(cannot())?;
        listener.set_nonblocking(true).map_err(cannot())?;
        let listener = TcpListener::from_std(listener).map_err(cannot())?;
        let address = listener.local_addr().unwrap_or(address);
        let token = token.display();
        let opened = format!("listening on http://{address}; the token is in {token}\n");
        let connections = Arc::clone(&self.connections);
        let acceptor = self.runtime.spawn(async move {
            loop {
                let permit = server.permit().await;
                match listener.accept().await {
                    Ok((stream, _)) => {
                        let _ = stream.set_nodelay(true);
                        tokio::spawn(server.serve(stream, connections.watcher(), permit));
                    }
                    Err(error) => take_breath(&error).await,
                }
            }
        });
        self.acceptors.push(acceptor);
        Ok(opened)
    }

    /// Opens the listener on a Unix socket, and returns the line that says so.
    fn serve_unix(&mut self, path: &Path) -> Result<String> {
        let server = HttpService::new(&self.decider, None, PATIENCE);
        let socket = SocketFile::listen(path)?;
        let _inside = self.runtime.enter();
        let listener = socket.listener.try_clone().and_then(UnixListener::from_std);
        let listener = listener.map_err(failed("cannot listen on a socket"))?;
        let connections = Arc::clone(&self.connections);
        let acceptor = self.runtime.spawn(async move {
            let own = rustix::process::getuid().as_raw();
            loop {
                let permit = server.permit().await;
                match listener.accept().await {
                    Ok((stream, _)) if stream.peer_cred().is_ok_and(|peer| peer.uid() == own) => {
                        tokio::spawn(server.serve(stream, connections.watcher(), permit));
                    }
                    Ok(_) => {}
                    Err(error) => take_breath(&error).await,
                }
            }
        });
        self.acceptors.push(acceptor);
        self._socket = Some(socket);
        Ok(format!("listening on the socket {}\n", path.display()))
    }

    pub(crate) fn wait(&self) {
        let abort = &self.decider.abort;
        while abort.times_raised() == 0 {
            if let Err(error) = wait_readable(&[abort.as_fd()], None) {
                return tracing::warn!(%error, "cannot wait for signals");
            }
        }
    }

    /// Cancels running events, answers every client, and closes.
    pub(crate) fn close(self) {
        self.decider.abort.raise();
        self.runtime.block_on(async {
            for acceptor in self.acceptors {
                acceptor.abort();
                let _ = acceptor.await;
            }
            if let Some(connections) = Arc::into_inner(self.connections) {
                let _ = tokio::time::timeout(LEAVING, connections.shutdown()).await;
            }
        });
        self.runtime.shutdown_timeout(LEAVING);
    }
}

/// Pauses after a failed accept.
async fn take_breath(error: &io::Error) {
    tracing::warn!(%error, "cannot accept connections");
    tokio::time::sleep(BREATH).await;
}

impl HttpService {
    fn new(
        decider: &Arc<DecisionServer>,
        token: Option<String>,
        patience: Duration,
    ) -> Arc<HttpService> {
        Arc::new(HttpService {
            decider: Arc::clone(decider),
            token,
            room: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            patience,
        })
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).acquire_owned().await.ok()
    }

    /// Serves a connection until its client disconnects, is too slow, or the listener closes.
    fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        self: &Arc<HttpService>,
        stream: S,
        connections: Watcher,
        permit: Option<OwnedSemaphorePermit>,
    ) -> impl Future<Output = ()> + Send + use<S> {
        let service = Arc::clone(self);
        let (stream, writer) = tokio::io::split(stream);
        let is_ambiguous = Arc::new(AtomicBool::new(false));
        let reader = HeadReader {
            stream,
            head: Vec::new(),
            is_ambiguous: Arc::clone(&is_ambiguous),
        };
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .max_header_size(LONGEST_HEAD_BYTES)
            .header_read_timeout(self.patience);
        let answer = service_fn(move |request| {
            let service = Arc::clone(&service);
            let is_ambiguous = is_ambiguous.load(Ordering::Relaxed);
            async move { Ok::<_, Infallible>(service.answer(request, is_ambiguous).await) }
        });
        let stream = TokioIo::new(tokio::io::join(reader, writer));
        let connection = builder.serve_connection(stream, answer);
        let connection = connections.watch(connection);
        async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection has failed");
            }
            drop(permit);
        }
    }
}

/// Reads requests, and notices one whose body has both a length and chunks: hyper reads the chunks,
/// and hides the length. No line of a JSON body looks like a header.
struct HeadReader<R> {
    stream: R,
    /// What was read since the last empty line, in lower case; of a long body, the end.
    head: Vec<u8>,
    is_ambiguous: Arc<AtomicBool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for HeadReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        for byte in &buffer.filled()[before..] {
            self.head.push(byte.to_ascii_lowercase());
            if self.head.ends_with(b"\n\r\n") || self.head.ends_with(b"\n\n") {
                let head = String::from_utf8_lossy(&self.head);
                let mut names = ["\ncontent-length:", "\ntransfer-encoding:"].iter();
                let has_both = names.all(|name| head.contains(name));
                self.is_ambiguous.fetch_or(has_both, Ordering::Relaxed);
                self.head.clear();
            } else if self.head.len() > 2 * LONGEST_HEAD_BYTES {
                self.head.drain(..LONGEST_HEAD_BYTES);
            }
        }
        read
    }
}

/// The token in `file`, which is created if missing.
fn read_token(file: &Path) -> Result<String> {
    let shown = file.display();
    // Opening a pipe would wait for a writer.
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let opened = match options.open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make_token(file).map_err(failed(format!("cannot write the token file `{shown}`")))?;
            options.open(file)
        }
        opened => opened,
    };
    let cannot = || failed(format!("cannot read the token file `{shown}`"));
    let opened = opened.map_err(cannot())?;
    let meta = opened.metadata().map_err(cannot())?;
    if !meta.is_file() || meta.uid() != rustix::process::getuid().as_raw() {
        return Err(Complaint::with_cure(
            format!("the token file `{shown}` is not a regular file that you own"),
            "use a file that you own: `--token FILE`",
        ));
    }
    let mut text = String::new();
    let read = opened.take(LONGEST_TOKEN_BYTES).read_to_string(&mut text);
    read.map_err(cannot())?;
    let token = text.trim();
    let least = 2 * TOKEN_BYTES;
    let is_token = token.len() >= least && token.bytes().all(|it| it.is_ascii_graphic());
    let cause = if meta.mode() & 0o077 != 0 {
        format!("other users have access to the token file `{shown}`")
    } else if !is_token {
        format!(
            "the token in `{shown}` is shorter than {least} characters, or contains white space or \
             non-ASCII characters"
        )
    } else {
        return Ok(token.to_string());
    };
    let quoted = shell_words::quote(&file.to_string_lossy()).into_owned();
    let cure = format!("run `rm {quoted}`; hookrun then creates a new one");
    Err(Complaint::with_cure(cause, cure))
}

/// Writes a new token atomically; one that another server just wrote stays.
fn make_token(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    if !folder.exists() {
        make_private(folder, folder)?;
    }
    let mut random = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(new, "{}", hex(&random))?;
    match new.persist_noclobber(file) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
