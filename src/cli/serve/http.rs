//! `serve --http` and `--unix`: clients ask over HTTP/1.1.
//!
//! Threads of a runtime of their own serve the connections; what has hooks is decided in other
//! threads, as many as there are events at once.

mod access;
mod metrics;
mod service;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::cli::args::ServeArgs;
use crate::cli::exit::{Result, failed};
use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::socket::SocketFile;
use crate::cli::streams;
use crate::config::Environment;
use crate::engine::complaint::Complaint;
use crate::engine::lock::locked;
use access::AccessRule;
use service::HttpService;

/// How many connections are served at once.
const MOST_CONNECTIONS: usize = 1024;

/// How many more get an answer that there is no room for them.
const MOST_TURNED_AWAY: usize = 256;

/// The longest head of a request, with all its headers.
const LONGEST_HEAD_BYTES: usize = 16 * 1024;

/// How long a client may take with the body of a request, and from its connection or an answer to
/// the next whole head.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long clients may take to leave; hooks have their grace.
const LEAVING: Duration = Duration::from_secs(10);

/// How long to wait where no descriptor is left.
const BREATH: Duration = Duration::from_millis(100);

/// Where clients come.
#[derive(Debug)]
pub(crate) struct HttpPlaces {
    tcp: Option<SocketAddr>,
    unix: Option<PathBuf>,
    token: PathBuf,
}

impl HttpPlaces {
    /// Those that the command line names; `None` if it names none.
    pub(crate) fn of(args: &ServeArgs, env: &Environment) -> Option<HttpPlaces> {
        if args.http.is_none() && args.unix.is_none() {
            return None;
        }
        let token = match &args.token {
            Some(file) => env.cwd.join(file),
            None => env.state_root().join("serve.token"),
        };
        Some(HttpPlaces {
            tcp: args.http,
            unix: args.unix.as_ref().map(|path| env.cwd.join(path)),
            token,
        })
    }
}

/// The doors on TCP and Unix sockets, open until [`HttpDoor::close`].
pub(crate) struct HttpDoor {
    runtime: Runtime,
    server: HttpServer,
}

#[derive(Clone)]
struct HttpServer {
    service: Arc<HttpService>,
    /// A permit for each connection, also those that are turned away.
    room: Arc<Semaphore>,
    /// Whether the doors are closing.
    closing: watch::Sender<bool>,
}

enum HttpListener {
    Tcp(TcpListener, AccessRule),
    Unix {
        listener: UnixListener,
        /// Is there as long as it serves.
        _file: SocketFile,
    },
}

trait HttpStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> HttpStream for S {}

impl HttpDoor {
    /// Opens the doors.
    ///
    /// # Errors
    /// When a socket or the token cannot be used.
    pub(crate) fn open(decider: Arc<DecisionServer>, places: &HttpPlaces) -> Result<HttpDoor> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.enable_all().thread_name("hookrun-http").build();
        let runtime = runtime.map_err(failed("cannot start threads for HTTP"))?;
        let server = HttpServer::new(decider, PATIENCE);
        let inside = runtime.enter();
        if let Some(address) = places.tcp {
            let listener = listen_on(address)?;
            let rule = AccessRule::Token(access::token(&places.token)?);
            let address = listener.local_addr().unwrap_or(address);
            let token = places.token.display();
            streams::remark(&format!(
                "serves http://{address}; the token is in {token}\n"
            ));
            runtime.spawn(server.clone().accept_all(HttpListener::Tcp(listener, rule)));
        }
        if let Some(path) = &places.unix {
            let socket = SocketFile::listen(path)?;
            let listener = socket.listener.try_clone().and_then(UnixListener::from_std);
            let listener = listener.map_err(failed("cannot listen on a socket"))?;
            streams::remark(&format!("serves http on the socket {}\n", path.display()));
            runtime.spawn(server.clone().accept_all(HttpListener::Unix {
                listener,
                _file: socket,
            }));
        }
        drop(inside);
        Ok(HttpDoor { runtime, server })
    }

    /// Waits until a signal stops hookrun.
    pub(crate) fn wait(&self) {
        let abort = self.server.service.decider.abort();
        while abort.times_raised() == 0 {
            let mut raised = [PollFd::from_borrowed_fd(abort.as_fd(), PollFlags::IN)];
            match rustix::event::poll(&mut raised, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return tracing::warn!(%error, "cannot wait for signals"),
            }
        }
    }

    /// Ends what runs, tells every client, and closes.
    pub(crate) fn close(self) {
        let HttpDoor { runtime, server } = self;
        server.service.decider.abort().raise();
        server.closing.send_replace(true);
        runtime.block_on(async {
            let most = u32::try_from(MOST_CONNECTIONS + MOST_TURNED_AWAY).unwrap_or(u32::MAX);
            let all_gone = server.room.acquire_many(most);
            let _ = tokio::time::timeout(LEAVING, all_gone).await;
        });
        runtime.shutdown_timeout(LEAVING);
    }
}

/// Listens on an address of this machine.
fn listen_on(address: SocketAddr) -> Result<TcpListener> {
    if !address.ip().is_loopback() {
        let cause = format!("`--http {address}` can be reached from other machines");
        let cure = "use 127.0.0.1, and put a proxy with TLS before it if others must reach it";
        return Err(Complaint::with_cure(cause, cure));
    }
    let listener = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    });
    listener.map_err(failed(format!("cannot listen on {address}")))
}

impl HttpListener {
    /// The next connection; `None` for one of another user.
    async fn accept(&self) -> io::Result<Option<Box<dyn HttpStream>>> {
        match self {
            HttpListener::Tcp(listener, _) => {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok(Some(Box::new(stream)))
            }
            HttpListener::Unix { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                let own = rustix::process::getuid().as_raw();
                let is_own = stream.peer_cred().is_ok_and(|peer| peer.uid() == own);
                Ok(is_own.then(|| Box::new(stream) as Box<dyn HttpStream>))
            }
        }
    }

    fn rule(&self) -> AccessRule {
        match self {
            HttpListener::Tcp(_, rule) => rule.clone(),
            HttpListener::Unix { .. } => AccessRule::SameUser,
        }
    }
}

impl HttpServer {
    fn new(decider: Arc<DecisionServer>, patience: Duration) -> HttpServer {
        HttpServer {
            service: Arc::new(HttpService::new(decider, patience)),
            room: Arc::new(Semaphore::new(MOST_CONNECTIONS + MOST_TURNED_AWAY)),
            closing: watch::Sender::new(false),
        }
    }

    /// Serves each connection in a task of its own. With far too many this waits.
    async fn accept_all(self, listener: HttpListener) {
        let mut closing = self.closing.subscribe();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = is_closing(&mut closing) => return,
            };
            match accepted {
                Ok(Some(stream)) => {
                    let Ok(permit) = Arc::clone(&self.room).acquire_owned().await else {
                        return;
                    };
                    let server = self.clone();
                    let rule = listener.rule();
                    tokio::spawn(async move { server.serve(stream, rule, permit).await });
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "no connection can be accepted");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    }

    async fn serve(
        self,
        stream: Box<dyn HttpStream>,
        rule: AccessRule,
        _permit: OwnedSemaphorePermit,
    ) {
        let is_full = self.room.available_permits() < MOST_TURNED_AWAY;
        let patience = self.service.patience;
        // When the next head must be there; `None` while a request is being answered.
        let head_until = Mutex::new(Some(Instant::now() + patience));
        let service = service_fn(|request: Request<Incoming>| {
            let (service, rule, head_until) = (&self.service, &rule, &head_until);
            async move {
                *locked(head_until) = None;
                let answer = service.answer(rule, is_full, request).await;
                *locked(head_until) = Some(Instant::now() + patience);
                Ok::<_, Infallible>(answer)
            }
        });
        let mut builder = http1::Builder::new();
        builder
            .max_header_size(LONGEST_HEAD_BYTES)
            .header_read_timeout(None)
            .keep_alive(!is_full);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut closing = self.closing.subscribe();
        let mut is_leaving = false;
        let mut look = tokio::time::interval((patience / 8).max(Duration::from_millis(1)));
        loop {
            tokio::select! {
                biased;
                served = connection.as_mut() => {
                    if let Err(error) = served {
                        tracing::debug!(%error, "a connection has failed");
                    }
                    return;
                }
                () = is_closing(&mut closing), if !is_leaving => {
                    is_leaving = true;
                    connection.as_mut().graceful_shutdown();
                }
                _ = look.tick() => {
                    if locked(&head_until).is_some_and(|until| until < Instant::now()) {
                        tracing::debug!("a client has taken too long");
                        return;
                    }
                }
            }
        }
    }
}

/// Waits until the doors are closing.
async fn is_closing(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|is_closing| *is_closing).await;
}

#[cfg(test)]
mod tests;
