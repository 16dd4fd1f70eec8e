//! Delegates a decision to the helper, a background `hookrun` that keeps interpreters for hooks
//! that start warm (`docs/warm.md`).
//!
//! Nothing depends on it. `run` decides itself unless the helper has accepted the event and got
//! [`GO`]; after that only the helper decides, so that no hook runs twice.

use std::cell::Cell;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::Mode;
use rustix::io::{Errno, FdFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::config::{Config, Environment};
use crate::decide::EventDecision;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, Event, Schedule};
use crate::engine::exec::{Abort, Budget, Heartbeat, inherited_traits};
use crate::engine::hook::{Hook, Warm};
use crate::engine::lock::wait_readable;
use crate::engine::session::make_private;
use crate::hosts::Reply;

use crate::cli::args::{DecidingArgs, RunArgs, SourceArgs};
use crate::cli::exit::Result;
use crate::cli::input::DecideParams;
use crate::cli::terminal::Terminal;
use crate::engine::errand;

/// The timeout to connect and be accepted; after it `run` decides itself.
const ACCEPTING: Duration = Duration::from_millis(5);

/// The helper's time to decide, in addition to its hooks' timeouts.
const DECIDING: Duration = Duration::from_secs(2);

/// The longest socket path on every system, with the final NUL.
const LONGEST_PATH_BYTES: usize = 104;

/// The helper's line if it can decide; otherwise it disconnects.
pub(crate) const ACCEPTED: &str = "accepted";

/// The client's confirmation after acceptance: from then on only the helper decides.
pub(crate) const GO: &str = "go";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HelperRequest<'l> {
    /// The client's build, which the helper's must equal.
    pub(crate) build: String,
    /// Inherited process traits besides variables, which must be equal too.
    pub(crate) traits: String,
    pub(crate) variables: Vec<(String, String)>,
    #[serde(borrow)]
    pub(crate) event: DecideParams<'l>,
}

/// Whether the system supports warm starts.
const WARMS: bool = cfg!(target_os = "linux");

/// The peer's process, if it belongs to the same user.
#[cfg(target_os = "linux")]
pub(crate) fn peer(stream: &UnixStream) -> Option<Pid> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    (peer.uid == rustix::process::getuid()).then_some(peer.pid)
}

/// Without warm starts there is no helper and no client.
#[cfg(not(target_os = "linux"))]
pub(crate) fn peer(_: &UnixStream) -> Option<Pid> {
    None
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HelperDecision {
    pub(crate) reply: Reply,
    /// Whether only stdout has the decision.
    pub(crate) is_needed: bool,
}

/// An event that may be delegated.
#[derive(Debug)]
pub(crate) struct HelperQuestion {
    context: Context,
    /// The timeouts of all hooks in sequence.
    hooks_take: Duration,
}

#[derive(Debug)]
pub(crate) struct Helper<'a> {
    args: &'a RunArgs,
    env: &'a Environment,
    heartbeat: &'a Heartbeat,
    /// Whether it is needed but not running.
    is_missing: Cell<bool>,
}

impl<'a> Helper<'a> {
    pub(crate) fn new(
        args: &'a RunArgs,
        env: &'a Environment,
        heartbeat: &'a Heartbeat,
    ) -> Helper<'a> {
        Helper {
            args,
            env,
            heartbeat,
            is_missing: Cell::new(false),
        }
    }

    /// Returns the event if it may be delegated: a hook can start warm, there is no user here,
    /// and no option needs this process. Not in CI.
    pub(crate) fn question(&self, config: &Config, context: &Context) -> Option<HelperQuestion> {
        let RunArgs {
            source,
            require,
            deciding,
            format,
            ..
        } = self.args;
        let is_plain = *source == SourceArgs::default()
            && require.is_empty()
            && *deciding == DecidingArgs::default()
            && format.is_none();
        let mut hooks = config.hooks.iter();
        let is_warm = hooks.any(|hook| hook.warm.is_some_and(|warm| warm != Warm::Off));
        let is_possible = WARMS && is_plain && is_warm && !self.env.is_ci;
        if !is_possible || self.env.cwd_problem.is_some() || Terminal::open().is_some() {
            return None;
        }
        let timeouts = config.hooks.iter().map(Hook::usual_timeout);
        Some(HelperQuestion {
            context: context.clone(),
            hooks_take: timeouts.fold(Duration::ZERO, Duration::saturating_add),
        })
    }

    /// Returns the helper's decision; `None` if it has not started to decide. If it started but
    /// gives no decision, the event is blocked.
    pub(crate) fn decide(
        &self,
        question: &HelperQuestion,
        event: &Event,
        budget: Option<Budget>,
        abort: &Abort,
    ) -> Option<Result<EventDecision>> {
        if event.spec().schedule == Schedule::Detached {
            return None;
        }
        let address = address(self.env)?;
        let until = Instant::now() + ACCEPTING;
        let stream = match connected(&address) {
            Ok(stream) => stream,
            Err(error) => {
                self.is_missing
                    .set(matches!(error, Errno::NOENT | Errno::CONNREFUSED));
                return None;
            }
        };
        let context = String::from_utf8(question.context.to_json()).ok()?;
        let context = RawValue::from_string(context).ok()?;
        let request = self.request(&context, budget)?;
        let mut lines = BufReader::new(&stream);
        if !self.is_accepted(&request, &stream, &mut lines, until) {
            return None;
        }
        let mut longest = question.hooks_take.saturating_add(DECIDING);
        if let Some(budget) = budget {
            longest = longest.min(budget.until.saturating_duration_since(Instant::now()));
        }
        self.heartbeat.expect_within(longest);
        Some(
            read_decision(&stream, &mut lines, longest, abort).map_err(|error| {
                let cause =
                    format!("the helper process for warm hooks did not decide the event: {error}");
                Complaint::with_cure(cause, "try again, or set `warm = \"off\"`")
            }),
        )
    }

    fn is_accepted(
        &self,
        request: &HelperRequest<'_>,
        mut stream: &UnixStream,
        lines: &mut BufReader<&UnixStream>,
        until: Instant,
    ) -> bool {
        // Accept a decision only from the same program.
        let is_ours = peer(stream).is_some_and(|pid| {
            let image = PathBuf::from(format!("/proc/{}/exe", pid.as_raw_nonzero()));
            build_of(&image).is_some_and(|build| build == request.build)
        });
        if !is_ours || send(stream, request).is_err() {
            return false;
        }
        let answered = wait_readable(&[stream.as_fd()], Some(until));
        let _ = stream.set_nonblocking(false);
        let mut line = String::new();
        matches!(answered, Ok(Some(_)))
            && lines.read_line(&mut line).is_ok()
            && line.trim_end() == ACCEPTED
            && stream.write_all(format!("{GO}\n").as_bytes()).is_ok()
    }

    fn request<'l>(
        &self,
        context: &'l RawValue,
        budget: Option<Budget>,
    ) -> Option<HelperRequest<'l>> {
        let left = budget.map(|budget| budget.until.saturating_duration_since(Instant::now()));
        Some(HelperRequest {
            build: build(self.env)?,
            traits: own_traits(),
            variables: Environment::all_readable()?,
            event: DecideParams {
                host: self.args.dialect.clone(),
                event: self.args.event.clone(),
                context,
                cwd: Some(self.env.cwd.clone()),
                budget_ms: left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            },
        })
    }

    /// Starts a missing helper for the next event. Call it after the reply.
    pub(crate) fn start_if_missing(&self) {
        if self.is_missing.get()
            && let Some(own) = self.env.image()
        {
            let made = make_private(&self.env.state_root(), &folder(self.env));
            let started = made.and_then(|()| errand::hand_over(&own, &["helper".into()], b""));
            if let Err(error) = started {
                tracing::debug!(%error, "no helper");
            }
        }
    }
}

/// Connects without blocking: the queue of a stopped helper fills up.
fn connected(address: &Path) -> std::result::Result<UnixStream, Errno> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(address)?)?;
    Ok(UnixStream::from(socket))
}

fn read_decision(
    stream: &UnixStream,
    lines: &mut BufReader<&UnixStream>,
    longest: Duration,
    abort: &Abort,
) -> io::Result<EventDecision> {
    let until = Instant::now().checked_add(longest);
    match wait_readable(&[stream.as_fd(), abort.as_fd()], until)? {
        Some(0) => {}
        Some(_) => return Err(io::Error::other("hookrun was interrupted")),
        None => return Err(io::Error::new(ErrorKind::TimedOut, "it took too long")),
    }
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let HelperDecision { reply, is_needed } = serde_json::from_str(&line)
        .map_err(|_| io::Error::new(ErrorKind::UnexpectedEof, "it exited"))?;
    Ok(EventDecision::of_reply(reply, is_needed))
}

pub(crate) fn send(mut stream: &UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// The helper's socket for this user and build; `None` if the path is too long.
pub(crate) fn address(env: &Environment) -> Option<PathBuf> {
    let path = folder(env).join(format!("{}.sock", build(env)?));
    (path.as_os_str().len() < LONGEST_PATH_BYTES).then_some(path)
}

pub(crate) fn folder(env: &Environment) -> PathBuf {
    env.state_root().join("helper")
}

/// Identifies a build by its file's metadata; hashing the file would take longer than a decision.
pub(crate) fn build(env: &Environment) -> Option<String> {
    build_of(&env.image()?)
}

fn build_of(image: &Path) -> Option<String> {
    let found = fs::metadata(image).ok()?;
    let written = found.mtime_nsec() ^ found.mtime();
    Some(format!("{:x}-{:x}-{written:x}", found.dev(), found.ino()))
}

/// Whether the program's file is unchanged since the start.
pub(crate) fn is_same_file(env: &Environment) -> bool {
    let named = env.program.as_deref().and_then(build_of);
    named.is_some() && named == build(env)
}

/// Traits that hooks inherit. Call it before other threads create files: it sets the umask.
pub(crate) fn own_traits() -> String {
    let mask = rustix::process::umask(Mode::empty());
    rustix::process::umask(mask);
    format!("{mask:?} {}", inherited_traits())
}
