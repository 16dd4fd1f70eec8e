//! Clients that are too slow or too many, with limits that a test need not wait for.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::access::AccessRule;
use super::{HttpServer, MOST_CONNECTIONS, PATIENCE};
use crate::cli::serve::decider::MOST_AT_ONCE;
use crate::cli::serve::tests::idle_server;

/// Long enough for a request, and short enough to wait for.
const SHORT: Duration = Duration::from_millis(100);

/// A server without hooks, and what it runs in.
struct TestDoor {
    runtime: Runtime,
    server: HttpServer,
    _folder: tempfile::TempDir,
}

impl TestDoor {
    fn new(patience: Duration, most_at_once: usize) -> TestDoor {
        let (decider, folder) = idle_server(most_at_once);
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        TestDoor {
            runtime,
            server: HttpServer::new(decider, patience),
            _folder: folder,
        }
    }

    fn connect(&self) -> UnixStream {
        let (client, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        let server = self.server.clone();
        self.runtime.spawn(async move {
            let theirs = tokio::net::UnixStream::from_std(theirs).unwrap();
            let permit = Arc::clone(&server.room).acquire_owned().await.unwrap();
            server
                .serve(Box::new(theirs), AccessRule::SameUser, permit)
                .await;
        });
        client
    }

    /// What comes until the server closes the connection.
    fn said(&self, request: &str) -> String {
        let mut client = self.connect();
        client.write_all(request.as_bytes()).unwrap();
        let mut said = String::new();
        let _ = client.read_to_string(&mut said);
        said
    }
}

fn post(path: &str, length: usize, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn a_connection_that_says_nothing_is_closed_before_and_after_a_request() {
    let door = TestDoor::new(SHORT, 1);
    assert_eq!(door.said(""), "");
    let said = door.said("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(
        said.starts_with("HTTP/1.1 200") && said.contains("\"status\":\"ok\""),
        "{said}"
    );
}

#[test]
fn a_head_that_does_not_end_is_cut_off() {
    let door = TestDoor::new(SHORT, 1);
    let said = door.said("POST /hooks/native HTTP/1.1\r\nHost: lo");
    assert!(!said.contains("200"), "{said}");
}

#[test]
fn a_body_that_does_not_come_is_a_block_in_the_words_of_its_path() {
    let door = TestDoor::new(SHORT, 1);
    for (path, status, words) in [
        ("/hooks/native?event=tool.pre", "200", "\"continue\":false"),
        ("/decide", "408", ""),
    ] {
        let said = door.said(&post(path, 9, "{"));
        let is_right = said.starts_with(&format!("HTTP/1.1 {status}")) && said.contains(words);
        assert!(
            is_right && said.contains("did not come within"),
            "{path}: {said}"
        );
    }
}

#[test]
fn a_client_that_does_not_read_its_answers_is_cut_off() {
    let door = TestDoor::new(SHORT, 1);
    let mut client = door.connect();
    // Until the server reads no more, since it cannot write, and hangs up.
    while client
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        .is_ok()
    {}
}

#[test]
fn one_event_too_many_is_a_block_in_the_words_of_its_path() {
    let door = TestDoor::new(SHORT, 0);
    for (path, status, words) in [
        ("/hooks/native?event=tool.pre", "200", "\"continue\":false"),
        (
            "/hooks/claude?event=PreToolUse",
            "200",
            "\"decision\":\"block\"",
        ),
        ("/decide", "503", ""),
    ] {
        let said = door.said(&post(path, 2, "{}"));
        let is_right = said.starts_with(&format!("HTTP/1.1 {status}")) && said.contains(words);
        assert!(
            is_right && said.contains("0 events are being decided"),
            "{path}: {said}"
        );
    }
    let said = door.said("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(
        said.contains("hookrun_unserved_total{reason=\"overload\"} 3"),
        "{said}"
    );
}

#[test]
fn the_page_has_these_limits() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/embedding.md");
    let page = std::fs::read_to_string(file).unwrap();
    for words in [
        format!("cut off after {} s", PATIENCE.as_secs()),
        format!(
            "With {},{:03} connections",
            MOST_CONNECTIONS / 1000,
            MOST_CONNECTIONS % 1000
        ),
        format!(
            "{},{:03} events at once",
            MOST_AT_ONCE / 1000,
            MOST_AT_ONCE % 1000
        ),
    ] {
        assert!(page.contains(&words), "{words}");
    }
}
