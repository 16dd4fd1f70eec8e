//! `hookrun helper`: decides for runs of the same user, and keeps interpreters between them. `run`
//! starts it in the background; nothing depends on it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::config::Environment;
use crate::engine::event::Context;
use crate::engine::exec::Abort;
use crate::engine::lock::locked;

use crate::cli::args::ServeArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::run::helper::{self, GO, HelperRequest, HelperWord};
use crate::cli::run::start_up;
use crate::cli::serve::decider::DecisionServer;
use crate::cli::serve::question::{ClientPlace, ClientQuestion};
use crate::cli::serve::socket::SocketFile;
use crate::decide::Door;

/// Without an event for this long it ends.
const IDLE: Duration = Duration::from_secs(600);

/// How often it looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// How many runs it serves at once. Others decide themselves.
const MOST_RUNS: usize = 64;

/// How many environments it keeps apart: each agent has one.
const MOST_ENVIRONMENTS: usize = 16;

/// How long a run may take to say something.
const ARRIVAL: Duration = Duration::from_secs(5);

/// The longest request.
const MOST_BYTES: u64 = 2 * 1024 * 1024;

/// The names and values of a run's variables.
type ClientVariables = Vec<(String, String)>;

struct HelperServer {
    build: String,
    traits: String,
    first: Arc<DecisionServer>,
    servers: Mutex<HashMap<ClientVariables, Arc<DecisionServer>>>,
    open: AtomicUsize,
    clients: Mutex<Vec<WaitingRun>>,
}

/// A run that waits for a decision, which ends if it goes away.
struct WaitingRun {
    number: usize,
    stream: UnixStream,
    cancel: Abort,
}

/// Serves until nobody needs it.
pub(crate) fn helper(env: &Environment) -> Result {
    // Out of the host's session, so that its terminal and its end do not reach the hooks.
    let _ = rustix::process::setsid();
    let traits = helper::own_traits();
    let (abort, subreaper) = start_up()?;
    let _ = rustix::process::chdir("/");
    let (Some(address), Some(build)) = (helper::address(env), helper::build(env)) else {
        return Ok(ExitStatus::CouldNot);
    };
    // The client has made the folder. If it is gone, so is the home of this user.
    if !helper::folder(env).is_dir() {
        return Ok(ExitStatus::CouldNot);
    }
    // Another one may be there already.
    let Ok(socket) = SocketFile::listen(&address) else {
        return Ok(ExitStatus::Yes);
    };
    let args = ServeArgs::default();
    let first = DecisionServer::new(Door::Command, args, env, abort.clone(), subreaper)?;
    let server = Arc::new(HelperServer {
        build,
        traits,
        first: Arc::new(first),
        servers: Mutex::default(),
        open: AtomicUsize::new(0),
        clients: Mutex::default(),
    });
    let mut last = Instant::now();
    let mut number = 0;
    while abort.times_raised() == 0 && socket.is_there() {
        let is_busy = server.open.load(Ordering::SeqCst) > 0;
        if is_busy {
            last = Instant::now();
        } else if last.elapsed() > IDLE || !helper::is_same_file(env) {
            break;
        }
        server.wait(&socket, &abort);
        while let Ok((stream, _)) = socket.listener.accept() {
            number += 1;
            last = Instant::now();
            server.take(stream, number);
        }
    }
    Ok(ExitStatus::Yes)
}

impl HelperServer {
    /// Waits until a run comes, or one goes away, whose event is then ended.
    fn wait(&self, socket: &SocketFile, abort: &Abort) {
        let clients = locked(&self.clients);
        // One that has gone away stays readable until its event has ended.
        let streams: Vec<(UnixStream, Abort)> = clients
            .iter()
            .filter(|client| client.cancel.times_raised() == 0)
            .filter_map(|client| Some((client.stream.try_clone().ok()?, client.cancel.clone())))
            .collect();
        drop(clients);
        let own = [socket.listener.as_fd(), abort.as_fd()];
        let all = own
            .into_iter()
            .chain(streams.iter().map(|(stream, _)| stream.as_fd()));
        let mut fds: Vec<_> = all
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        // Runs that came since the last look are watched from the next one on.
        let is_busy = self.open.load(Ordering::SeqCst) > streams.len();
        let longest = if is_busy {
            Duration::from_millis(10)
        } else {
            LOOK_EVERY
        };
        let timeout = Timespec::try_from(longest).ok();
        if rustix::event::poll(&mut fds, timeout.as_ref()).is_ok() {
            let gone = fds[2..]
                .iter()
                .zip(&streams)
                .filter(|(fd, _)| !fd.revents().is_empty());
            gone.for_each(|(_, (_, cancel))| cancel.raise());
        }
    }

    fn take(self: &Arc<Self>, stream: UnixStream, number: usize) {
        if helper::peer(&stream).is_none() || self.open.load(Ordering::SeqCst) >= MOST_RUNS {
            return;
        }
        self.open.fetch_add(1, Ordering::SeqCst);
        let server = Arc::clone(self);
        let serve = move || {
            let _ = server.serve(&stream, number);
            locked(&server.clients).retain(|client| client.number != number);
            server.open.fetch_sub(1, Ordering::SeqCst);
        };
        let thread = thread::Builder::new()
            .name("hookrun-helper".to_string())
            .spawn(serve);
        if thread.is_err() {
            self.open.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn serve(&self, stream: &UnixStream, number: usize) -> std::io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(ARRIVAL))?;
        let mut lines = BufReader::new(stream.take(MOST_BYTES));
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let request: HelperRequest = match serde_json::from_str(&line) {
            Ok(request) => request,
            Err(error) => return say(stream, &HelperWord::Refused(error.to_string())),
        };
        if let Some(why) = self.refusal(&request) {
            return say(stream, &HelperWord::Refused(why));
        }
        let Ok(context) = Context::parse(request.context.get()) else {
            return say(
                stream,
                &HelperWord::Refused("the context cannot be read".to_string()),
            );
        };
        let Ok(cancel) = Abort::new() else {
            return say(
                stream,
                &HelperWord::Refused("no descriptors are left".to_string()),
            );
        };
        let decider = self.server_for(request.variables);
        say(stream, &HelperWord::Accepted)?;
        line.clear();
        lines.read_line(&mut line)?;
        if line.trim_end() != GO {
            return Ok(());
        }
        let waiting = WaitingRun {
            number,
            stream: stream.try_clone()?,
            cancel: cancel.clone(),
        };
        locked(&self.clients).push(waiting);
        let question = ClientQuestion {
            host: request.host,
            event: request.event,
            context,
            place: ClientPlace::Folder(request.cwd),
            budget: request.budget_ms.map(Duration::from_millis),
        };
        let answer = match decider.prepare(question) {
            Ok(ready) => ready.decide(Some(cancel)),
            Err(answer) => *answer,
        };
        let is_needed = !answer.outcome.is_allowed() || !answer.outcome.rewrites.is_empty();
        let reply = answer.reply;
        let (status, stdout, stderr) = (reply.status, reply.stdout, reply.stderr);
        say(
            stream,
            &HelperWord::Decided {
                status,
                stdout,
                stderr,
                is_needed,
            },
        )
    }

    /// Why a run must decide itself.
    fn refusal(&self, request: &HelperRequest) -> Option<String> {
        if request.build != self.build {
            return Some("it is another build".to_string());
        }
        (request.traits != self.traits)
            .then(|| "its limits, groups, priority, mask or namespaces differ".to_string())
    }

    /// The server for runs with these variables.
    fn server_for(&self, variables: ClientVariables) -> Arc<DecisionServer> {
        let mut servers = locked(&self.servers);
        if let Some(known) = servers.get(&variables) {
            return Arc::clone(known);
        }
        if servers.len() >= MOST_ENVIRONMENTS {
            servers.clear();
        }
        let of_system = |(name, value): &(String, String)| (OsString::from(name), value.into());
        let given = variables.iter().map(of_system).collect();
        let server = Arc::new(self.first.in_environment(given));
        servers.insert(variables, Arc::clone(&server));
        server
    }
}

fn say(mut stream: &UnixStream, word: &HelperWord) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    stream.write_all(&line)
}
