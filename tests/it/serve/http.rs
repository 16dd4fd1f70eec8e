//! `--http` and `--unix`: whoever asks by HTTP.

mod access;
mod bounds;
mod decide;
mod gateways;
mod hosts;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, ExitStatus};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A server on both kinds of sockets.
pub(super) struct HttpServer {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub(super) address: String,
    pub(super) token: String,
    pub(super) socket: std::path::PathBuf,
    /// It may still say something.
    _stderr: BufReader<std::process::ChildStderr>,
}

/// What was answered.
#[derive(Debug)]
pub(super) struct HttpReply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl HttpReply {
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim())
    }

    /// Reads one answer.
    pub(super) fn read(from: &mut impl Read) -> Option<HttpReply> {
        let mut reader = BufReader::new(from);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let mut reply = HttpReply {
            status,
            head,
            body: String::new(),
        };
        let length = reply
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        reply.body = String::from_utf8(body).unwrap();
        Some(reply)
    }
}

/// How each line begins that says that a listener is open.
pub(super) const LISTENING: &str = "listening on ";

impl HttpServer {
    pub(super) fn start(sandbox: &Sandbox) -> HttpServer {
        HttpServer::start_with(sandbox, &[])
    }

    pub(super) fn start_with(sandbox: &Sandbox, arguments: &[&str]) -> HttpServer {
        let socket = sandbox.at("sockets/own/hookrun.sock");
        let shown = socket.display().to_string();
        let words = ["serve", "--http", "127.0.0.1:0", "--unix", &shown];
        let words: Vec<&str> = words.iter().chain(arguments).copied().collect();
        let mut child = sandbox.command(&words).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while said.matches(LISTENING).count() < 2 {
            assert!(
                stderr.read_line(&mut said).unwrap() > 0,
                "it has ended: {said}"
            );
        }
        let address = said.split_once("http://").unwrap().1;
        let address = address.split(';').next().unwrap().to_string();
        let token = said
            .split_once("the token is in ")
            .unwrap()
            .1
            .lines()
            .next()
            .unwrap();
        let token = std::fs::read_to_string(token).unwrap().trim().to_string();
        HttpServer {
            child,
            address,
            token,
            socket,
            _stderr: stderr,
        }
    }

    pub(super) fn tcp(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    pub(super) fn unix(&self) -> UnixStream {
        UnixStream::connect(&self.socket).unwrap()
    }

    /// The head of a request with the right token, but for its length and the empty line.
    pub(super) fn head(&self, method: &str, path: &str) -> String {
        let HttpServer { address, token, .. } = self;
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n")
    }

    /// Asks over TCP.
    #[track_caller]
    pub(super) fn ask(&self, method: &str, path: &str, body: &str) -> HttpReply {
        self.ask_with(method, path, &[], body)
    }

    /// The same with more headers.
    #[track_caller]
    pub(super) fn ask_with(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> HttpReply {
        let mut stream = self.tcp();
        let more: String = headers
            .iter()
            .map(|header| format!("{header}\r\n"))
            .collect();
        let head = self.head(method, path);
        let head = format!("{head}{more}Content-Length: {}\r\n\r\n", body.len());
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        HttpReply::read(&mut stream).expect("an answer")
    }

    #[track_caller]
    pub(super) fn post(&self, path: &str, body: &str) -> HttpReply {
        self.ask("POST", path, body)
    }

    /// Asks over the Unix socket, without a token.
    #[track_caller]
    pub(super) fn ask_socket(&self, path: &str, body: &str) -> HttpReply {
        let mut stream = self.unix();
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nHost: any\r\nContent-Length: {length}\r\n\r\n");
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        HttpReply::read(&mut stream).expect("an answer")
    }

    /// What the server says about itself to its own user.
    #[track_caller]
    pub(super) fn health(&self) -> Value {
        let mut stream = self.unix();
        stream
            .write_all(b"GET /health HTTP/1.1\r\nHost: any\r\n\r\n")
            .unwrap();
        HttpReply::read(&mut stream).expect("an answer").json()
    }

    pub(super) fn id(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// VariableValue it to stop, and waits for that.
    pub(super) fn end(mut self) -> ExitStatus {
        signal(self.id(), "TERM");
        self.child.wait().unwrap()
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub(super) fn signal(process: i32, name: &str) {
    let words = [format!("-{name}"), process.to_string()];
    assert!(
        std::process::Command::new("kill")
            .args(words)
            .status()
            .unwrap()
            .success()
    );
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            signal(self.id(), "TERM");
        }
        let _ = self.child.wait();
    }
}
