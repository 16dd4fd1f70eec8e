//! Slow and excessive clients, with short limits.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tokio::runtime::Runtime;

use super::{HttpService, MOST_CONNECTIONS, PATIENCE};
use crate::cli::serve::decider::MOST_AT_ONCE;
use crate::cli::serve::tests::idle_server;

/// Long enough for a request, and short enough to wait for.
const SHORT: Duration = Duration::from_millis(100);

/// The server's output until it closes the connection.
fn reply_of(most_at_once: usize, request: &str) -> String {
    let (decider, _folder) = idle_server(most_at_once);
    let server = HttpService::new(&decider, None, SHORT);
    let runtime = Runtime::new().unwrap();
    let (mut client, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let connections = GracefulShutdown::new();
    let watcher = connections.watcher();
    runtime.spawn(async move {
        let theirs = tokio::net::UnixStream::from_std(theirs).unwrap();
        server.serve(theirs, watcher, None).await;
    });
    client.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    let _ = client.read_to_string(&mut reply);
    reply
}

fn post(path: &str, length: usize, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn a_connection_that_says_nothing_is_closed_before_and_after_a_request() {
    reply_of(1, "");
    let reply = reply_of(1, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(
        reply.starts_with("HTTP/1.1 200") && reply.contains("\"status\":\"ok\""),
        "{reply}"
    );
}

#[test]
fn a_head_that_does_not_end_is_cut_off() {
    let reply = reply_of(1, "POST /hooks/native HTTP/1.1\r\nHost: lo");
    assert!(!reply.contains("200"), "{reply}");
}

#[test]
fn a_body_that_does_not_come_is_a_block_in_the_words_of_its_path() {
    for (path, status, words) in [
        ("/hooks/native?event=tool.pre", "200", "\"continue\":false"),
        ("/decide", "408", ""),
    ] {
        let reply = reply_of(1, &post(path, 9, "{"));
        let is_right = reply.starts_with(&format!("HTTP/1.1 {status}")) && reply.contains(words);
        assert!(
            is_right && reply.contains("did not arrive within"),
            "{path}: {reply}"
        );
    }
}

#[test]
fn one_event_too_many_is_a_block_in_the_words_of_its_path() {
    for (path, status, words) in [
        ("/hooks/native?event=tool.pre", "200", "\"continue\":false"),
        (
            "/hooks/claude?event=PreToolUse",
            "200",
            "\"decision\":\"block\"",
        ),
        ("/decide", "503", ""),
    ] {
        let body = r#"{"event": "tool.pre", "context": {}}"#;
        let reply = reply_of(0, &post(path, body.len(), body));
        let is_right = reply.starts_with(&format!("HTTP/1.1 {status}")) && reply.contains(words);
        assert!(
            is_right && reply.contains("too many events at the same time (0)"),
            "{path}: {reply}"
        );
    }
}

#[test]
fn the_page_has_these_limits() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/embedding.md");
    let page = std::fs::read_to_string(file).unwrap();
    for words in [
        format!("slow or idle for {} s", PATIENCE.as_secs()),
        format!(
            "Above {},{:03} connections",
            MOST_CONNECTIONS / 1000,
            MOST_CONNECTIONS % 1000
        ),
        format!(
            "{},{:03} concurrent events",
            MOST_AT_ONCE / 1000,
            MOST_AT_ONCE % 1000
        ),
    ] {
        assert!(page.contains(&words), "{words}");
    }
}
