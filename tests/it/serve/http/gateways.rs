//! The adapters of `examples/gateways`, which ask `/decide` for other protocols.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::HttpServer;
use crate::serve::cases;
use crate::serve::kit::finds;

/// An adapter in Python, in front of a server.
struct Gateway {
    child: Child,
    port: u16,
}

impl Gateway {
    /// `None` where there is no Python.
    fn start(name: &str, url: &str, token: &str) -> Option<Gateway> {
        let python = finds("python3")?;
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/gateways/");
        let mut child = Command::new(python)
            .args([&format!("{file}{name}"), "0", url])
            .env("HOOKRUN_TOKEN", token)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap();
        Some(Gateway { child, port })
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let answer = std::io::read_to_string(stream).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_string())
    }

    fn evaluate(&self, action: &str, command: &str) -> Value {
        let evaluation = json!({
            "subject": { "type": "identity", "id": "ana" },
            "action": { "name": action },
            "resource": { "type": "tool", "id": "bash",
                "properties": { "input": { "command": command } } },
        });
        let path = "/access/v1/evaluation";
        let (status, body) = self.ask("POST", path, &evaluation.to_string());
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn authzen_gets_yes_or_no_with_the_reason() {
    let sandbox = cases();
    let mut server = HttpServer::start(&sandbox);
    let url = format!("http://{}", server.address);
    let Some(gateway) = Gateway::start("authzen.py", &url, &server.token) else {
        return;
    };
    assert_eq!(gateway.evaluate("tool.pre", "ls")["decision"], true);
    for action in ["tool.pre", "tools/call"] {
        let denied = gateway.evaluate(action, "rm x");
        assert_eq!(denied["decision"], false);
        assert_eq!(denied["context"]["reason"], "no rm, \"never\"");
    }
    for (action, command, reason) in [
        ("tool.pre", "old", "a hook changes the call"),
        ("tool.pre", "ask", "really?"),
        ("tool.pre", "crash", "SIGSEGV"),
        ("can_read", "ls", "unknown event"),
    ] {
        let denied = gateway.evaluate(action, command);
        assert_eq!(denied["decision"], false, "{command}");
        let said = denied["context"]["reason"].as_str().unwrap();
        assert!(said.contains(reason), "{command}: {said}");
    }
    let (status, body) = gateway.ask("POST", "/access/v1/evaluation", "{");
    assert!(
        status == 200 && body.contains("\"decision\": false"),
        "{body}"
    );
    server.kill();
    let denied = gateway.evaluate("tool.pre", "ls");
    assert_eq!(denied["decision"], false);
}

#[test]
fn a_proxy_gets_a_status_for_an_event_that_the_user_declares() {
    let sandbox = cases()
        .file(
            "hookrun.toml",
            "[event.\"http.request\"]\nsummary = \"a request at the proxy\"\nblocks = true\n",
        )
        .hook_for(
            "http.request",
            "10-shop.sh",
            "case $(cat) in *'\"path\":\"/admin'*) echo no admin >&2; exit 1 ;; esac",
        );
    let mut server = HttpServer::start(&sandbox);
    let url = format!("http://{}", server.address);
    let Some(gateway) = Gateway::start("ext_authz.py", &url, &server.token) else {
        return;
    };
    assert_eq!(gateway.ask("GET", "/shop?id=1", ""), (200, String::new()));
    let denied = (403, "no admin".to_string());
    assert_eq!(gateway.ask("DELETE", "/admin/users", ""), denied);
    server.kill();
    let (status, body) = gateway.ask("GET", "/shop", "");
    assert!(status == 403 && body.contains("did not decide"), "{body}");
}

#[test]
fn a_request_without_the_event_does_not_pass() {
    let sandbox = cases();
    let server = HttpServer::start(&sandbox);
    let url = format!("http://{}", server.address);
    let Some(gateway) = Gateway::start("ext_authz.py", &url, &server.token) else {
        return;
    };
    assert_eq!(gateway.ask("GET", "/shop", "").0, 403);
}
