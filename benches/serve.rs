//! `hookrun serve --http` under load, next to a bare hyper server that answers everything alike.
//!
//! ```text
//! cargo bench --profile release --bench serve [-- SECONDS]
//! ```
//!
//! It prints requests a second and latencies of both without a hook, then holds the server to right
//! decisions: 64 clients with a hook for SECONDS (60 by default), 1,000 sessions in as many folders
//! at once, and its memory over 100,000 events.

#![expect(clippy::print_stdout, reason = "numbers for a person")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

const CLIENTS: usize = 16;

/// A server of its own process.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn echo() -> Server {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.arg("echo").stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        Server {
            child,
            address: address.trim().to_string(),
            token: "none".to_string(),
        }
    }

    fn hookrun(folder: &Path) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookrun"));
        command
            .args(["serve", "--http", "127.0.0.1:0"])
            .current_dir(folder);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", folder.join("home"));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut said)
            .unwrap();
        let address = said
            .split_once("http://")
            .unwrap()
            .1
            .split(';')
            .next()
            .unwrap()
            .to_string();
        let token = said.trim().split_once("the token is in ").unwrap().1;
        let token = std::fs::read_to_string(token).unwrap().trim().to_string();
        Server {
            child,
            address,
            token,
        }
    }

    fn client(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        let (address, token) = (&self.address, &self.token);
        let head = format!(
            "POST /hooks/native?event=tool.pre HTTP/1.1\r\nHost: {address}\r\n\
             Authorization: Bearer {token}\r\nContent-Length: "
        );
        Client {
            reader: BufReader::new(stream),
            head,
        }
    }

    /// The memory that is its own, in KiB.
    fn memory(&self) -> u64 {
        let file = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
            .unwrap_or(0)
    }
}

struct Client {
    reader: BufReader<TcpStream>,
    head: String,
}

impl Client {
    fn ask(&mut self, body: &str) -> String {
        let request = format!("{}{}\r\n\r\n{body}", self.head, body.len());
        self.reader.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            assert!(
                self.reader.read_line(&mut line).unwrap() > 0,
                "the answer is lost"
            );
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }
}

fn event(command: &str, session: &str, cwd: &Path) -> String {
    format!(
        r#"{{"toolName":"bash","toolInput":{{"command":"{command}"}},"sessionId":"{session}","cwd":"{}"}}"#,
        cwd.display()
    )
}

/// Asks from so many clients for so long, and returns how long each answer took.
fn load(
    server: &Server,
    clients: usize,
    time: Duration,
    ask: impl Fn(&mut Client, usize, usize) + Sync,
) -> Vec<Duration> {
    let start = Barrier::new(clients);
    let mut all: Vec<Duration> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                let (start, ask) = (&start, &ask);
                scope.spawn(move || {
                    let mut own = server.client();
                    start.wait();
                    let (until, mut took) = (Instant::now() + time, Vec::new());
                    while Instant::now() < until {
                        let asked = Instant::now();
                        ask(&mut own, client, took.len());
                        took.push(asked.elapsed());
                    }
                    took
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    all.sort_unstable();
    all
}

fn report(what: &str, took: &[Duration], time: Duration) {
    let at = |part: f64| took[((took.len() - 1) as f64 * part) as usize];
    let rate = took.len() as f64 / time.as_secs_f64();
    let (half, most) = (at(0.5), at(0.99));
    println!("{what:<34} {rate:>9.0} a second, half {half:>9.1?}, 99 % {most:>9.1?}");
}

fn guard(folder: &Path) {
    let hooks = folder.join("hooks.d/tool.pre");
    std::fs::create_dir_all(&hooks).unwrap();
    let file = hooks.join("10-guard.sh");
    let text = "#!/bin/sh\ncase $(cat) in *'rm x'*) echo no >&2; exit 1 ;; esac\n";
    std::fs::write(&file, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&file, mode).unwrap();
}

fn is_right(answer: &str, is_blocked: bool) {
    let says_no = answer.contains("\"continue\":false") && answer.contains("\"no\"");
    let is_empty = answer.trim().is_empty();
    assert!(
        if is_blocked { says_no } else { is_empty },
        "a wrong decision: {answer}"
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "echo") {
        return serve_echo();
    }
    let seconds = arguments
        .iter()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(60);
    let folder = tempfile::tempdir().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).unwrap();
    let user = folder.path().join("home/.config/hookrun");
    std::fs::create_dir_all(&user).unwrap();
    let trust = format!("[trust]\npaths = \"{}\"\n", folder.path().display());
    std::fs::write(user.join("hookrun.toml"), trust).unwrap();

    let short = Duration::from_secs(5);
    let bare = folder.path().join("bare");
    std::fs::create_dir(&bare).unwrap();
    let body = event("ls", "s", &bare);
    let echo = Server::echo();
    let server = Server::hookrun(folder.path());
    for _ in 0..2 {
        let took = load(&echo, CLIENTS, short, |client, _, _| {
            drop(client.ask(&body))
        });
        report("hyper alone", &took, short);
        let took = load(&server, CLIENTS, short, |client, _, _| {
            is_right(&client.ask(&body), false)
        });
        report("hookrun, no hook bound", &took, short);
    }
    drop(echo);

    let mut clients: Vec<Client> = (0..4).map(|_| server.client()).collect();
    let before = server.memory();
    for part in 1..=4 {
        std::thread::scope(|scope| {
            for client in &mut clients {
                let body = &body;
                scope.spawn(move || (0..6250).for_each(|_| is_right(&client.ask(body), false)));
            }
        });
        println!(
            "{} events: {} KiB, at first {before} KiB",
            part * 25_000,
            server.memory()
        );
    }

    guard(folder.path());
    std::thread::sleep(Duration::from_secs(1));
    let time = Duration::from_secs(seconds);
    let took = load(&server, 64, time, |client, number, count| {
        let is_blocked = (number + count) % 2 == 0;
        let command = if is_blocked { "rm x" } else { "ls" };
        let body = event(command, &format!("s{number}"), folder.path());
        is_right(&client.ask(&body), is_blocked);
    });
    report("64 clients, one sh hook", &took, time);

    sessions(&server, folder.path());
}

/// Asks from 1,000 sessions at once, each in a folder of its own.
fn sessions(server: &Server, folder: &Path) {
    let started = Instant::now();
    let all = Barrier::new(1000);
    std::thread::scope(|scope| {
        for number in 0..1000 {
            let all = &all;
            let own = folder.join(format!("projects/{number}"));
            scope.spawn(move || {
                std::fs::create_dir_all(&own).unwrap();
                let mut client = server.client();
                all.wait();
                let command = if number % 2 == 0 { "rm x" } else { "ls" };
                let body = event(command, &format!("session-{number}"), &own);
                is_right(&client.ask(&body), number % 2 == 0);
            });
        }
    });
    let (took, memory) = (started.elapsed(), server.memory());
    println!("1,000 sessions at once: all right after {took:.1?}, {memory} KiB");
}

/// Answers every request with nothing, once its body is read.
fn serve_echo() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let answer = service_fn(|request: Request<Incoming>| async {
                drop(request.into_body().collect().await);
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
            });
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder.header_read_timeout(None);
            tokio::spawn(builder.serve_connection(TokioIo::new(stream), answer));
        }
    });
}
