//! What a client cannot do to the server, and what it leaves behind.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{HttpReply, HttpServer, signal};
use crate::sandbox::Sandbox;
use crate::serve::{Client, FAR, KEPT, cases};

const PATH: &str = "/hooks/native?event=tool.pre";
const SLOW: &str = r#"{"toolName":"bash","toolInput":{"command":"slow"}}"#;

/// A hook that writes its process and stays.
fn slow() -> Sandbox {
    let body = "case $(cat) in *slow*) echo $$ >pid.new; mv pid.new pid; exec sleep 600 ;; esac";
    let text = format!("#!/bin/sh\n# hookrun: timeout=10m\n{body}\n");
    Sandbox::new().script("hooks.d/tool.pre/slow.sh", &text)
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < FAR, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process of the slow hook, once it runs.
fn process(sandbox: &Sandbox) -> i32 {
    until("the hook does not start", || sandbox.at("pid").exists());
    sandbox.read("pid").trim().parse().unwrap()
}

fn is_alive(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn send(server: &HttpServer, body: &str) -> std::net::TcpStream {
    let mut stream = server.tcp();
    let head = server.head("POST", PATH);
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}

#[test]
fn a_client_that_goes_away_ends_the_hooks_of_its_event() {
    let sandbox = slow();
    let server = HttpServer::start(&sandbox);
    let stream = send(&server, SLOW);
    let hook = process(&sandbox);
    drop(stream);
    until("the hook goes on", || !is_alive(hook));
    assert_eq!(server.post(PATH, r#"{"toolName":"bash"}"#).status, 200);
}

#[test]
fn a_server_that_is_told_to_stop_answers_with_a_block_and_ends_its_hooks() {
    let sandbox = slow();
    let server = HttpServer::start(&sandbox);
    let mut stream = send(&server, SLOW);
    let mut idle = server.tcp();
    let hook = process(&sandbox);
    signal(server.id(), "TERM");
    let reply = HttpReply::read(&mut stream).expect("an answer").json();
    assert_eq!(reply["continue"], false, "{reply}");
    assert!(
        reply["reason"].as_str().unwrap().contains("SIGTERM"),
        "{reply}"
    );
    assert!(!is_alive(hook));
    assert_eq!(idle.read(&mut [0; 8]).unwrap_or(0), 0);
    assert!(server.end().success());
}

#[test]
fn a_server_that_is_killed_leaves_no_hook_behind() {
    let sandbox = slow();
    let mut server = HttpServer::start(&sandbox);
    let _stream = send(&server, SLOW);
    let hook = process(&sandbox);
    std::thread::sleep(KEPT);
    server.kill();
    until("the hook goes on", || !is_alive(hook));
}

#[test]
fn half_of_a_request_holds_nothing_up() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let whole = format!(
        "{}Content-Length: 400\r\n\r\n{SLOW}",
        server.head("POST", PATH)
    );
    let halves: Vec<_> = (0..whole.len())
        .step_by(7)
        .map(|end| {
            let mut stream = server.tcp();
            stream.write_all(&whole.as_bytes()[..end]).unwrap();
            if end % 2 == 0 {
                stream.shutdown(Shutdown::Write).unwrap();
            }
            stream
        })
        .collect();
    assert_eq!(server.post(PATH, r#"{"toolName":"bash"}"#).status, 200);
    drop(halves);
    until("events stay open", || {
        server.health()["inProgress"] == json!(0)
    });
    assert_eq!(server.health()["inProgress"], 0);
}

#[test]
fn a_head_that_is_too_long_is_rejected() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let mut long = server.tcp();
    let head = format!(
        "{}X-Long: {}\r\n\r\n",
        server.head("GET", "/health"),
        "a".repeat(17 * 1024)
    );
    long.write_all(head.as_bytes()).unwrap();
    assert_eq!(HttpReply::read(&mut long).expect("an answer").status, 431);
}

#[test]
fn a_body_that_is_too_long_is_rejected_before_it_is_there() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let most = 64 << 20;
    for (path, status) in [(PATH, 200), ("/decide", 413)] {
        let mut stream = server.tcp();
        let head = server.head("POST", path);
        write!(stream, "{head}Content-Length: {}\r\n\r\n", most + 1).unwrap();
        let reply = HttpReply::read(&mut stream).expect("an answer");
        assert_eq!(reply.status, status, "{reply:?}");
        assert!(reply.body.contains("longer than 64 MiB"), "{reply:?}");
    }
    // 100 MB, of which no length is told.
    let mut stream = server.tcp();
    let head = server.head("POST", PATH);
    write!(stream, "{head}Transfer-Encoding: chunked\r\n\r\n").unwrap();
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 0x10_0000], b"\r\n"].concat();
    let mut writer = stream.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        (0..100)
            .try_for_each(|_| writer.write_all(&chunk))
            .and_then(|()| writer.write_all(b"0\r\n\r\n"))
    });
    let reply = HttpReply::read(&mut stream).expect("an answer");
    assert_eq!(reply.json()["continue"], false, "{reply:?}");
    assert!(reply.body.contains("longer than 64 MiB"), "{reply:?}");
    let _ = writing.join().unwrap();
    let own = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap_or_default();
    let peak = own.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    if let Some(peak) = peak {
        let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kib < 300 * 1024, "{kib} KiB");
    }
}

#[test]
fn requests_may_follow_each_other_on_one_connection() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let mut stream = server.tcp();
    for command in ["ls", "rm x", "ls"] {
        let body = json!({ "toolName": "bash", "toolInput": { "command": command } }).to_string();
        let head = server.head("POST", PATH);
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let reply = HttpReply::read(&mut stream).expect("an answer");
        let decision = reply.header("x-hookrun-decision").unwrap().to_string();
        assert_eq!(decision, if command == "ls" { "allow" } else { "block" });
    }
}

/// What the server answers until it closes the connection.
fn replies(server: &HttpServer, requests: &str) -> String {
    let mut stream = server.tcp();
    stream.write_all(requests.as_bytes()).unwrap();
    let mut replies = String::new();
    let _ = stream.read_to_string(&mut replies);
    replies
}

#[test]
fn a_request_with_two_meanings_is_an_error() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let (address, token) = (server.address.clone(), server.token.clone());
    let end = "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
    for (target, more, status) in [
        (PATH.to_string(), String::new(), 200),
        (format!("http://{address}{PATH}"), String::new(), 200),
        (PATH.to_string(), "Host: b\r\n".to_string(), 400),
        (
            PATH.to_string(),
            format!("Authorization: Bearer {token}\r\n"),
            400,
        ),
        (
            PATH.to_string(),
            "authorization: Bearer x\r\n".to_string(),
            400,
        ),
        (format!("http://evil{PATH}"), String::new(), 400),
        (format!("http://evil@{address}{PATH}"), String::new(), 400),
        (format!("{PATH}&event=tool.post"), String::new(), 400),
        (format!("{PATH}&event"), String::new(), 400),
        (format!("{PATH}&a=1&a=1"), String::new(), 400),
    ] {
        let reply = replies(
            &server,
            &format!("{}{more}{end}", server.head("POST", &target)),
        );
        let start = format!("HTTP/1.1 {status}");
        assert!(reply.starts_with(&start), "{target} {more}: {reply}");
    }
}

/// What may be another request is not answered.
#[test]
fn a_body_with_a_length_and_chunks_is_an_error_and_ends_the_connection() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let health = server.head("GET", "/health");
    let length = "Content-Length: 4\r\n";
    let chunked = "transfer-encoding: chunked\r\n";
    let body = "\r\n2\r\n{}\r\n0\r\n\r\n";
    for both in [[length, chunked], [chunked, length]] {
        let request = format!("{health}{}{body}{health}\r\n", both.concat());
        let reply = replies(&server, &request);
        assert!(reply.starts_with("HTTP/1.1 400"), "{reply}");
        assert_eq!(reply.matches("HTTP/1.1 ").count(), 1, "{reply}");
        let reply = replies(&server, &format!("{health}\r\n{request}"));
        assert!(reply.contains("HTTP/1.1 400"), "{reply}");
        assert!(reply.matches("HTTP/1.1 ").count() <= 2, "{reply}");
    }
    let sized = format!("{health}{length}\r\n[{{}}]");
    let last = format!("{health}Connection: close\r\n{chunked}{body}");
    let reply = replies(&server, &format!("{sized}{sized}{last}"));
    assert_eq!(reply.matches("HTTP/1.1 200").count(), 3, "{reply}");
}

#[test]
fn the_doors_close_with_the_client_on_stdin() {
    let sandbox = slow();
    let socket = sandbox.at("sockets/own/hookrun.sock");
    let shown = socket.display().to_string();
    let mut client = Client::start(&sandbox, &["--stdio", "--unix", &shown]);
    until("there is no socket", || socket.exists());
    let reply = client.call(
        "hookrun/decide",
        json!({ "event": "turn.end", "context": {} }),
    );
    assert_eq!(reply["result"]["status"], 0, "{reply}");
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let length = SLOW.len();
    write!(
        stream,
        "POST {PATH} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{SLOW}"
    )
    .unwrap();
    let hook = process(&sandbox);
    assert!(client.end().success());
    assert!(!is_alive(hook));
    assert!(!socket.exists());
}
