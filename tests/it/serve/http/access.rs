//! Who may ask.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;

use super::{HttpReply, HttpServer, LISTENING};
use crate::sandbox::Sandbox;
use crate::serve::cases;

const TOKEN: &str = "home/.local/state/hookrun/serve.token";

fn request(server: &HttpServer, head: &str) -> HttpReply {
    let mut stream = server.tcp();
    stream.write_all(head.as_bytes()).unwrap();
    HttpReply::read(&mut stream).expect("an answer")
}

#[test]
fn over_tcp_only_the_token_opens_and_only_under_a_name_of_this_machine() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let HttpServer { address, token, .. } = &server;
    assert_eq!(token.len(), 64);
    let wrong = "0".repeat(64);
    let heads = [
        (
            format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n"),
            400,
        ),
        (
            format!("Host: localhost\r\nauthorization: bearer {token}\r\n"),
            400,
        ),
        (format!("Host: {address}\r\n"), 401),
        (
            format!("Host: {address}\r\nAuthorization: Bearer {wrong}\r\n"),
            401,
        ),
        (
            format!(
                "Host: {address}\r\nAuthorization: Bearer {}\r\n",
                &token[..63]
            ),
            401,
        ),
        (
            format!("Host: {address}\r\nAuthorization: Basic {token}\r\n"),
            401,
        ),
        (
            format!("Host: evil.example\r\nAuthorization: Bearer {token}\r\n"),
            403,
        ),
        (
            format!("Host: {address}\r\nAuthorization: Bearer {token}0\r\n"),
            401,
        ),
        (format!("Authorization: Bearer {token}\r\n"), 403),
    ];
    let own = ["LOCALHOST:80", "127.1.2.3", "[::1]:9", "[::1]"].map(|host| (host, 400));
    let foreign = [
        "localhost.evil.example:80",
        "10.0.0.1",
        "[::2]:9",
        "::1:80:x",
    ];
    let hosts = own.into_iter().chain(foreign.map(|host| (host, 403)));
    let hosts = hosts.map(|(host, status)| {
        let head = format!("Host: {host}\r\nAuthorization: Bearer {token}\r\n");
        (head, status)
    });
    for (head, status) in heads.into_iter().chain(hosts) {
        let reply = request(
            &server,
            &format!("POST /decide HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\n{{}}"),
        );
        assert_eq!(reply.status, status, "{head}: {reply:?}");
    }
    let health = request(&server, "GET /health HTTP/1.1\r\nHost: any\r\n\r\n");
    assert_eq!(
        (health.status, health.body.trim()),
        (200, r#"{"status":"ok"}"#)
    );
}

#[test]
fn the_token_is_made_once_and_only_its_owner_can_read_it() {
    let sandbox = cases();
    let first = HttpServer::start(&sandbox).token.clone();
    assert_eq!(HttpServer::start(&sandbox).token, first);
    let mode = sandbox.at(TOKEN).metadata().unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_ne!(HttpServer::start(&cases()).token, first);
}

#[track_caller]
fn fails(sandbox: &Sandbox, arguments: &[&str], cause: &str, cure: &str) {
    let whole: Vec<&str> = ["serve"].iter().chain(arguments).copied().collect();
    let ran = sandbox.hookrun(&whole, b"");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.stderr.contains(cause) && ran.stderr.contains(cure),
        "{ran:?}"
    );
}

#[test]
fn a_token_that_others_can_read_or_that_is_short_is_an_error_with_a_cure() {
    let sandbox = cases().file(TOKEN, &"a".repeat(64));
    let http = ["--http", "127.0.0.1:0"];
    fails(
        &sandbox,
        &http,
        "other users have access to the token file",
        "run `rm ",
    );
    let mode = |mode| fs::set_permissions(sandbox.at(TOKEN), fs::Permissions::from_mode(mode));
    mode(0o640).unwrap();
    fails(
        &sandbox,
        &http,
        "other users have access to the token file",
        "run `rm ",
    );
    fs::write(sandbox.at(TOKEN), "short\n").unwrap();
    mode(0o600).unwrap();
    fails(&sandbox, &http, "is shorter than 64 characters", "run `rm ");
    let pipe = sandbox.at("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for other in [sandbox.path().to_path_buf(), pipe] {
        let other = other.display().to_string();
        let token = ["--http", "127.0.0.1:0", "--token", &other];
        fails(
            &sandbox,
            &token,
            "is not a regular file that you own",
            "file",
        );
    }
}

#[test]
fn only_addresses_of_this_machine_are_served() {
    let sandbox = cases();
    fails(
        &sandbox,
        &["--http", "0.0.0.0:0"],
        "from other machines",
        "a TLS proxy",
    );
    fails(
        &sandbox,
        &["--http", "[::]:0"],
        "from other machines",
        "a TLS proxy",
    );
    for address in [
        "8123",
        "localhost:8123",
        "http://127.0.0.1:8123",
        "127.0.0.1:70000",
    ] {
        fails(
            &sandbox,
            &["--http", address],
            "invalid value",
            "`127.0.0.1:8123`",
        );
    }
}

#[test]
fn a_socket_needs_a_private_folder_and_replaces_only_what_nobody_listens_on() {
    let sandbox = cases().file("open/file", "");
    let open = sandbox.at("open/hookrun.sock").display().to_string();
    fails(
        &sandbox,
        &["--unix", &open],
        "other users can access the folder",
        "mode 0700",
    );
    // Until all listeners are open it does not say that one is.
    let both = ["serve", "--http", "127.0.0.1:0", "--unix", &open];
    let ran = sandbox.hookrun(&both, b"");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(!ran.stderr.contains(LISTENING), "{ran:?}");
    let long = sandbox
        .at(&format!("own/{}", "x".repeat(108)))
        .display()
        .to_string();
    fails(
        &sandbox,
        &["--unix", &long],
        "too long for a socket",
        "at most 10",
    );
    let mut server = HttpServer::start(&sandbox);
    let socket = server.socket.display().to_string();
    let folder = server.socket.parent().unwrap().metadata().unwrap().mode();
    assert_eq!(folder & 0o777, 0o700);
    assert_eq!(server.socket.metadata().unwrap().mode() & 0o777, 0o600);
    fails(
        &sandbox,
        &["--unix", &socket],
        "another server uses",
        "another path",
    );
    assert_eq!(
        server
            .ask_socket("/hooks/native?event=turn.end", "{}")
            .status,
        200
    );
    server.kill();
    assert!(server.socket.exists());
    let server = HttpServer::start(&sandbox);
    assert_eq!(
        server
            .ask_socket("/hooks/native?event=turn.end", "{}")
            .status,
        200
    );
    let file = server.socket.clone();
    assert!(server.end().success());
    assert!(!file.exists(), "the socket stays");
    fs::write(&file, "text").unwrap();
    fails(
        &sandbox,
        &["--unix", &socket],
        "is not a socket",
        "a path that does not exist yet",
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
}

#[test]
fn another_user_gets_no_answer_on_the_socket_even_where_its_folder_lets_them_in() {
    if !crate::bounds::is_root() {
        return crate::bounds::skip("only root can be another user");
    }
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let folder = fs::File::open(server.socket.parent().unwrap()).unwrap();
    folder
        .set_permissions(fs::Permissions::from_mode(0o711))
        .unwrap();
    fs::set_permissions(&server.socket, fs::Permissions::from_mode(0o666)).unwrap();
    // Past the folders above, which stay closed to others.
    let socket = format!("/proc/self/fd/{}/hookrun.sock", folder.as_raw_fd());
    let ask = move || {
        let mut stream = UnixStream::connect(socket).unwrap();
        let _ = stream.write_all(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let mut said = String::new();
        let _ = stream.read_to_string(&mut said);
        said
    };
    let as_another = {
        let ask = ask.clone();
        move || {
            let nobody = rustix::process::Uid::from_raw(65534);
            // Of this thread only.
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            ask()
        }
    };
    assert_eq!(std::thread::spawn(as_another).join().unwrap(), "");
    assert!(ask().starts_with("HTTP/1.1 200"));
}
