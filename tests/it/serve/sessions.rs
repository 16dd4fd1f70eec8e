//! Hooks that live as long as the sessions that a client holds.

use std::process::Command;

use serde_json::{Value, json};

use super::{Client, wait_for};
use crate::sandbox::Sandbox;

/// Writes each event that it reads into a file, and says that it did.
const WATCHER: &str = r#"#!/bin/sh
echo $$ >>pids
while read -r event; do
    echo "$event" >>events
    echo '{"message":"seen"}'
done
"#;

fn watched() -> Sandbox {
    let events = r#"["session.start", "turn.end"]"#;
    let table = format!(
        "[[hook]]\nname = \"watch\"\nevent = {events}\ncommand = \"./watch.sh\"\n\
         lives = \"session\"\n"
    );
    Sandbox::new()
        .script("watch.sh", WATCHER)
        .file("hookrun.toml", &table)
}

fn event(name: &str, session: &str) -> Value {
    json!({ "event": name, "context": { "sessionId": session } })
}

fn hello(client: &mut Client) {
    let answer = client.call(
        "hookrun/hello",
        json!({ "messages": true, "dialogs": ["notify"] }),
    );
    assert!(answer["result"].is_object(), "{answer}");
}

/// The message that comes, and the answer to the event, in any order.
fn tells(client: &mut Client, name: &str, session: &str) -> Value {
    client.request(1, "hookrun/decide", event(name, session));
    let both = [client.next(), client.next()];
    let message = both.iter().find(|one| one["method"] == "hookrun/message");
    message.unwrap_or_else(|| panic!("{both:?}"))["params"].clone()
}

fn count(sandbox: &Sandbox, file: &str) -> usize {
    sandbox.read(file).lines().count()
}

#[test]
fn a_hook_lives_from_the_first_event_of_its_session_to_its_end() {
    let sandbox = watched();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    hello(&mut client);
    let message = tells(&mut client, "session.start", "a");
    assert_eq!(
        (&message["session"], &message["text"]),
        (&json!("a"), &json!("seen"))
    );
    assert_eq!(message["hook"], "watch");
    tells(&mut client, "turn.end", "a");
    assert_eq!((count(&sandbox, "pids"), count(&sandbox, "events")), (1, 2));
    // Another session has its own, also if its start was before ours.
    let message = tells(&mut client, "turn.end", "b");
    assert_eq!(message["session"], "b");
    assert_eq!(count(&sandbox, "pids"), 2);
    client.request(1, "hookrun/decide", event("session.end", "a"));
    let ended = client.next();
    assert!(
        ended["result"].is_object() || ended["method"] == "hookrun/notify",
        "{ended}"
    );
    drop(client);
}

#[test]
fn nothing_of_it_is_left_when_the_client_is_gone() {
    let body = "#!/bin/sh\n# hookrun: lives=session\nexec 9>lock; flock 9; echo >started\n\
        sleep 600 & setsid sleep 600 & wait\n";
    for is_killed in [false, true] {
        let sandbox = Sandbox::new().script("hooks.d/session.start/10-watch.sh", body);
        let mut client = Client::start(&sandbox, &["--stdio"]);
        hello(&mut client);
        client.request(1, "hookrun/decide", event("session.start", "a"));
        wait_for(&sandbox, "started");
        if is_killed {
            // The keeper starts once a hook has run for a while.
            std::thread::sleep(super::KEPT);
            client.kill();
        } else {
            drop(client);
        }
        let lock = Command::new("flock")
            .arg(sandbox.at("lock"))
            .arg("true")
            .status();
        assert!(lock.unwrap().success(), "killed: {is_killed}");
    }
}

#[test]
fn nobody_holds_a_session_without_hello_or_with_run() {
    let sandbox = watched();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    assert_eq!(client.decide(event("session.start", "a"))["status"], 0);
    assert!(client.end().success());
    sandbox
        .hookrun(&["run", "session.start"], br#"{"sessionId":"a"}"#)
        .exits(0);
    sandbox.has_no_file("pids");
}

#[test]
fn one_that_is_not_trusted_does_not_start() {
    let sandbox = watched().without_trust();
    let mut client = Client::start(&sandbox, &["--stdio"]);
    hello(&mut client);
    client.decide(event("session.start", "a"));
    assert!(client.end().success());
    sandbox.has_no_file("pids");
}
