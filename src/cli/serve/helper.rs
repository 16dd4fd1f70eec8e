//! `hookrun helper`: decides for runs of the same user, and keeps interpreters between them. `run`
//! starts it in the background; nothing depends on it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::engine::exec::Abort;
use crate::engine::lock::{locked, wait_readable};

use crate::cli::args::ServeArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::run::helper::{self, ACCEPTED, GO, HelperDecision, HelperRequest, send};
use crate::cli::run::start_up;
use crate::cli::serve::decider::{DecisionServer, ReadyEvent};
use crate::cli::serve::question::{ClientAnswer, ClientQuestion};
use crate::cli::serve::socket::SocketFile;
use crate::decide::Door;

/// The idle time after which it exits.
const IDLE: Duration = Duration::from_secs(600);

/// How often it checks whether it is still needed.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The most runs in parallel; further ones decide themselves.
const MOST_RUNS: usize = 64;

/// The most environments (one for each agent) with a separate server.
const MOST_ENVIRONMENTS: usize = 16;

const ARRIVAL: Duration = Duration::from_secs(5);

const MOST_BYTES: u64 = 2 * 1024 * 1024;

type ClientVariables = Vec<(String, String)>;

struct HelperServer {
    build: String,
    traits: String,
    first: Arc<DecisionServer>,
    servers: Mutex<HashMap<ClientVariables, Arc<DecisionServer>>>,
}

/// Serves until it is idle.
pub(crate) fn helper(env: &Environment) -> Result {
    // Leave the host's session, so that its terminal and its end do not affect the hooks.
    let _ = rustix::process::setsid();
    let traits = helper::own_traits();
    let (abort, subreaper) = start_up()?;
    let _ = rustix::process::chdir("/");
    let (Some(address), Some(build)) = (helper::address(env), helper::build(env)) else {
        return Ok(ExitStatus::CouldNot);
    };
    // The client created the folder. Without it, the state home was removed.
    if !helper::folder(env).is_dir() {
        return Ok(ExitStatus::CouldNot);
    }
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
    });
    let mut last = Instant::now();
    while abort.times_raised() == 0 && socket.is_there() {
        if server.open_runs() > 0 {
            last = Instant::now();
        } else if last.elapsed() > IDLE || !helper::is_same_file(env) {
            break;
        }
        let fds = [abort.as_fd(), socket.listener.as_fd()];
        let _ = wait_readable(&fds, Some(Instant::now() + LOOK_EVERY));
        while let Ok((stream, _)) = socket.listener.accept() {
            last = Instant::now();
            server.take(stream);
        }
    }
    Ok(ExitStatus::Yes)
}

impl HelperServer {
    fn take(self: &Arc<Self>, stream: UnixStream) {
        if helper::peer(&stream).is_none() || self.open_runs() >= MOST_RUNS {
            return;
        }
        let server = Arc::clone(self);
        let thread = thread::Builder::new().name("hookrun-helper".to_string());
        let _ = thread.spawn(move || server.serve(&stream));
    }

    /// The number of runs in progress; each one's thread holds the server.
    fn open_runs(self: &Arc<Self>) -> usize {
        Arc::strong_count(self) - 1
    }

    fn serve(&self, mut stream: &UnixStream) -> std::io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(ARRIVAL))?;
        let mut lines = BufReader::new(stream.take(MOST_BYTES));
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let Some((variables, question)) = self.read_request(&line) else {
            return Ok(());
        };
        let decider = self.server_for(variables);
        stream.write_all(format!("{ACCEPTED}\n").as_bytes())?;
        line.clear();
        lines.read_line(&mut line)?;
        if line.trim_end() != GO {
            return Ok(());
        }
        let answer = match decider.prepare(question) {
            Ok(ready) => decide_for(stream, ready)?,
            Err(answer) => *answer,
        };
        let decided = HelperDecision {
            is_needed: !answer.outcome.is_allowed() || !answer.outcome.rewrites.is_empty(),
            reply: answer.reply,
        };
        send(stream, &decided)
    }

    /// Parses a request; `None` if the run must decide itself.
    fn read_request(&self, line: &str) -> Option<(ClientVariables, ClientQuestion)> {
        let request: HelperRequest<'_> = serde_json::from_str(line).ok()?;
        if request.build != self.build || request.traits != self.traits {
            return None;
        }
        Some((request.variables, request.event.question().ok()?))
    }

    fn server_for(&self, variables: ClientVariables) -> Arc<DecisionServer> {
        let mut servers = locked(&self.servers);
        if let Some(known) = servers.get(&variables) {
            return Arc::clone(known);
        }
        if servers.len() >= MOST_ENVIRONMENTS {
            servers.clear();
        }
        let given = variables
            .iter()
            .map(|(name, value)| (OsString::from(name), value.into()))
            .collect();
        let server = Arc::new(self.first.in_environment(given));
        servers.insert(variables, Arc::clone(&server));
        server
    }
}

/// Decides; cancels if the run disconnects.
fn decide_for(mut stream: &UnixStream, ready: ReadyEvent) -> std::io::Result<ClientAnswer> {
    let cancel = Abort::new()?;
    stream.set_read_timeout(None)?;
    thread::scope(|scope| {
        let of_watcher = cancel.clone();
        let watcher = thread::Builder::new().name("hookrun-watcher".to_string());
        watcher.spawn_scoped(scope, move || {
            // The run sends nothing more; its stream ends when it exits or gets the decision.
            let _ = stream.read(&mut [0]);
            of_watcher.raise();
        })?;
        let answer = ready.decide(Some(cancel));
        let _ = stream.shutdown(Shutdown::Read);
        Ok(answer)
    })
}
