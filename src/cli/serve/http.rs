//! `serve --http` and `--unix`: clients ask over HTTP/1.1.
//!
//! Threads of a runtime of their own serve the connections; what has hooks is decided in other
//! threads, as many as there are events at once.

mod access;
mod authzen;
mod ext_authz;
mod hosts;
mod listener;
mod message;
mod metrics;
mod opa;
mod paced;
mod pages;
mod permit;
mod route;
mod service;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::cli::args::ServeArgs;
use crate::cli::exit::{Result, failed};
use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::socket::SocketFile;
use crate::cli::streams;
use crate::config::Environment;
use access::AccessRule;
use paced::{AnswerCount, HttpPatience, PacedStream};
use route::ServerState;
use service::{ConnectionRoom, answer};
use tokio::net::UnixListener;

/// How many connections are served at once.
const MOST_CONNECTIONS: u32 = 1024;

/// How many more get an answer that there is no room for them.
const MOST_TURNED_AWAY: u32 = 256;

/// The longest head of a request, with all its headers.
const LONGEST_HEAD_BYTES: usize = 16 * 1024;

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
        let token = match &args.token {
            Some(file) => env.cwd.join(file),
            None => env.state_root().join("serve.token"),
        };
        let unix = args.unix.as_ref().map(|path| env.cwd.join(path));
        let is_any = args.http.is_some() || unix.is_some();
        is_any.then_some(HttpPlaces {
            tcp: args.http,
            unix,
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
    state: Arc<ServerState>,
    /// A permit for each connection that is served.
    room: Arc<Semaphore>,
    /// A permit for each that is turned away.
    turned_away: Arc<Semaphore>,
    /// Whether the doors are closing.
    closing: watch::Sender<bool>,
}

impl HttpDoor {
    /// Opens the doors.
    ///
    /// # Errors
    /// When a socket or the token cannot be used.
    pub(crate) fn open(decider: Arc<DecisionServer>, places: &HttpPlaces) -> Result<HttpDoor> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.enable_all().thread_name("hookrun-http").build();
        let runtime = runtime.map_err(failed("cannot start threads for HTTP"))?;
        let server = HttpServer::new(decider, HttpPatience::USUAL);
        let _inside = runtime.enter();
        if let Some(address) = places.tcp {
            let listener = listener::listen_on(address)?;
            let rule = AccessRule::Token(access::token(&places.token)?);
            let address = listener.local_addr().unwrap_or(address);
            let token = places.token.display();
            streams::remark(&format!(
                "serves http://{address}; the token is in {token}\n"
            ));
            runtime.spawn(server.clone().serve_tcp(listener, rule));
        }
        if let Some(path) = &places.unix {
            let socket = SocketFile::listen(path)?;
            let listener = socket.listener.try_clone().and_then(UnixListener::from_std);
            let listener = listener.map_err(failed("cannot listen on a socket"))?;
            streams::remark(&format!("serves http on the socket {}\n", path.display()));
            runtime.spawn(server.clone().serve_unix(listener, socket));
        }
        drop(_inside);
        Ok(HttpDoor { runtime, server })
    }

    /// Waits until a signal stops hookrun.
    pub(crate) fn wait(&self) {
        let abort = self.server.state.decider.abort();
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
        server.state.decider.abort().raise();
        server.closing.send_replace(true);
        runtime.block_on(async {
            let all = server.room.acquire_many(MOST_CONNECTIONS);
            let _ = tokio::time::timeout(LEAVING, all).await;
        });
        runtime.shutdown_timeout(LEAVING);
    }
}

impl HttpServer {
    fn new(decider: Arc<DecisionServer>, patience: HttpPatience) -> HttpServer {
        let state = ServerState {
            decider,
            metrics: metrics::HttpMetrics::default(),
            patience,
        };
        HttpServer {
            state: Arc::new(state),
            room: Arc::new(Semaphore::new(MOST_CONNECTIONS as usize)),
            turned_away: Arc::new(Semaphore::new(MOST_TURNED_AWAY as usize)),
            closing: watch::Sender::new(false),
        }
    }

    async fn serve_tcp(self, listener: tokio::net::TcpListener, rule: AccessRule) {
        let mut closing = self.closing.subscribe();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = is_closing(&mut closing) => return,
            };
            let Some((stream, _)) = taken(accepted).await else {
                continue;
            };
            let _ = stream.set_nodelay(true);
            self.take(stream, rule.clone()).await;
        }
    }

    /// Its file is there as long as it serves.
    async fn serve_unix(self, listener: UnixListener, _file: SocketFile) {
        let mut closing = self.closing.subscribe();
        let own = rustix::process::getuid().as_raw();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = is_closing(&mut closing) => return,
            };
            let Some((stream, _)) = taken(accepted).await else {
                continue;
            };
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
                self.take(stream, AccessRule::SameUser).await;
            }
        }
    }

    /// Serves a connection in a task of its own. With too many it is told so, and with far too many
    /// this waits.
    async fn take<S>(&self, stream: S, rule: AccessRule)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (room, permit) = match Arc::clone(&self.room).try_acquire_owned() {
            Ok(permit) => (ConnectionRoom::Enough, Some(permit)),
            Err(_) => {
                let permit = Arc::clone(&self.turned_away).acquire_owned().await;
                (ConnectionRoom::None, permit.ok())
            }
        };
        let server = self.clone();
        tokio::spawn(async move { server.serve(stream, rule, room, permit).await });
    }

    async fn serve<S>(
        self,
        stream: S,
        rule: AccessRule,
        room: ConnectionRoom,
        permit: Option<OwnedSemaphorePermit>,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let answers = AnswerCount::default();
        let stream = PacedStream::new(TokioIo::new(stream), self.state.patience, answers.clone());
        let service = service_fn(|request: Request<Incoming>| {
            let (state, rule, answers) = (&self.state, &rule, &answers);
            async move {
                answers.step();
                let answer = answer(state, rule, room, request).await;
                answers.step();
                Ok::<_, Infallible>(answer.response())
            }
        });
        let mut builder = http1::Builder::new();
        // The stream is paced, which needs no new alarm for each request.
        builder.header_read_timeout(None);
        builder
            .max_header_size(LONGEST_HEAD_BYTES)
            .keep_alive(room == ConnectionRoom::Enough);
        let mut connection = pin!(builder.serve_connection(stream, service));
        let mut closing = self.closing.subscribe();
        let served = tokio::select! {
            served = connection.as_mut() => served,
            () = is_closing(&mut closing) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = served {
            tracing::debug!(%error, "a connection has failed");
        }
        drop(permit);
    }
}

/// Waits until the doors are closing.
async fn is_closing(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|is_closing| *is_closing).await;
}

/// What was accepted. Where nothing can be, it takes a breath.
async fn taken<A>(accepted: io::Result<A>) -> Option<A> {
    match accepted {
        Ok(accepted) => Some(accepted),
        Err(error) => {
            tracing::warn!(%error, "no connection can be accepted");
            tokio::time::sleep(BREATH).await;
            None
        }
    }
}

#[cfg(test)]
mod tests;
