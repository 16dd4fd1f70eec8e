//! The hooks of `examples/session-hooks` do what pi's documentation says of its own.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use hookrun::internals::config::{Choice, Config, ConfigScope, Environment};
use hookrun::internals::ui::{Asker, DialogAnswer, Request, Ui};
use hookrun::{Hook, Runner};
use serde_json::json;

use super::{Heard, Held, runner};
use crate::nasty::running::{Cookie, wait_until};
use crate::sandbox::{Sandbox, takes_posts};

/// The hook of this name, with these variables and with `hookrun` in its `PATH`.
fn shipped(name: &str, variables: &[(&str, &str)]) -> Vec<Hook> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/session-hooks");
    let choice = Choice {
        explicit: vec![folder],
        ..Choice::default()
    };
    let config = Config::load(&choice, &Environment::capture(), ConfigScope::All);
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    let programs = Path::new(env!("CARGO_BIN_EXE_hookrun")).parent().unwrap();
    let search = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
    let set = [("PATH", search.as_str())]
        .into_iter()
        .chain(variables.iter().copied());
    let set: Vec<(String, String)> = set
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let hooks = config.hooks.into_iter().filter(|hook| hook.name == name);
    let hooks = hooks
        .map(|hook| Hook {
            variables: set.clone(),
            ..hook
        })
        .collect::<Vec<_>>();
    assert!(!hooks.is_empty());
    hooks
}

/// A person who chooses the first of all options, and reads everything.
#[derive(Debug, Default)]
struct Agreeable(Mutex<Vec<String>>);

impl Ui for Agreeable {
    fn show(&self, _: &Asker<'_>, request: &Request) -> DialogAnswer {
        match request {
            Request::Select { title, options } => {
                self.0.lock().unwrap().push(title.clone());
                DialogAnswer::from(options.first().cloned())
            }
            Request::Notify { message, .. } => {
                self.0.lock().unwrap().push(message.clone());
                DialogAnswer::Done
            }
            Request::Confirm { .. } => DialogAnswer::Yes(true),
            Request::Input { .. } | Request::Editor { .. } => DialogAnswer::Cancelled,
            Request::Status { .. } | Request::Send(_) => DialogAnswer::Done,
        }
    }
}

fn with_person(sandbox: &Sandbox, hooks: Vec<Hook>, person: &Arc<Agreeable>) -> Held {
    let cookie = Cookie::new();
    let runner: Runner = runner(sandbox.path(), hooks, &cookie).ui(Arc::clone(person) as _);
    Held::of(&runner, sandbox.path(), cookie)
}

#[track_caller]
fn message(held: &Held) -> String {
    match held.next().1 {
        Heard::Message(_, message) => message.text,
        other @ (Heard::Context(..) | Heard::Status(..) | Heard::Ended(..)) => panic!("{other:?}"),
    }
}

#[test]
fn what_is_written_into_the_trigger_file_is_sent_until_the_session_is_over() {
    let sandbox = Sandbox::new();
    let file = sandbox.at("trigger.txt");
    let hooks = shipped("file-trigger", &[("TRIGGER_FILE", file.to_str().unwrap())]);
    let person = Arc::new(Agreeable::default());
    let mut held = with_person(&sandbox, hooks, &person);
    held.starts("s");
    for text in ["Run the tests", "Say \"hello\""] {
        fs::write(&file, format!("{text}\n")).unwrap();
        assert_eq!(message(&held), format!("External trigger: {text}"));
        wait_until("an empty file", || {
            fs::read_to_string(&file).unwrap().is_empty()
        });
    }
    let watching = format!("Watching {}", file.display());
    wait_until("the person has read it", || {
        person.0.lock().unwrap().contains(&watching)
    });
    held.event("session.end", "s", &json!({}));
    assert_eq!(held.ended(), ("its session is over".to_string(), None));
    held.drop_all();
}

#[test]
fn what_is_posted_is_sent_until_the_session_is_over() {
    let sandbox = Sandbox::new();
    let held = Held::new(&sandbox, shipped("webhook", &[("WEBHOOK_PORT", "0")]));
    held.starts("s");
    let (_, Heard::Status(key, Some(status))) = held.next() else {
        panic!("no status")
    };
    assert_eq!(key, "webhook");
    let port: u16 = status.rsplit(':').next().unwrap().parse().unwrap();
    for (body, text) in [
        ("CI build failed", "CI build failed"),
        ("", "Webhook triggered"),
    ] {
        takes_posts(port, body);
        assert_eq!(message(&held), text);
    }
    held.event("session.end", "s", &json!({}));
    assert_eq!(held.ended(), ("its session is over".to_string(), None));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn files_come_back_when_the_conversation_branches() {
    let sandbox = Sandbox::new();
    let git = |line: &str| {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-ec", line])
            .current_dir(sandbox.path())
            .env("HOME", sandbox.path());
        assert!(shell.status().unwrap().success(), "{line}");
    };
    git("git init -q; git config user.name a; git config user.email a@b; echo one > file");
    git("git add file; git commit -qm one; echo two > file");
    let person = Arc::new(Agreeable::default());
    let held = with_person(&sandbox, shipped("git-checkpoint", &[]), &person);
    held.event("turn.start", "s", &json!({ "turnIndex": 1 }));
    // The hook may take its time: the last object that Git writes for it is the third commit, after
    // ours and one of what is staged. A turn without changes follows.
    let commits = || {
        let mut git = Command::new("git");
        git.args([
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objecttype)",
        ]);
        let found = git.current_dir(sandbox.path()).output().unwrap();
        String::from_utf8_lossy(&found.stdout)
            .matches("commit")
            .count()
    };
    wait_until("a checkpoint", || commits() == 3);
    held.event("turn.start", "s", &json!({ "turnIndex": 2 }));
    git("echo three > file");
    held.event("session.branch", "s", &json!({ "targetTurnIndex": 7 }));
    held.event("session.branch", "s", &json!({ "targetTurnIndex": 1 }));
    let restored = Heard::Status(
        "git-checkpoint".into(),
        Some("Code restored to checkpoint".into()),
    );
    assert_eq!(held.next().1, restored);
    assert_eq!(sandbox.read("file"), "two\n");
    assert_eq!(*person.0.lock().unwrap(), ["Restore code state?"]);
    held.event("agent.end", "s", &json!({}));
    held.event("session.branch", "s", &json!({ "targetTurnIndex": 1 }));
    held.event("session.end", "s", &json!({}));
    assert_eq!(held.ended(), ("its session is over".to_string(), None));
    assert_eq!(person.0.lock().unwrap().len(), 1);
}

#[test]
fn each_of_them_is_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/session-hooks");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 30, "{}: {lines}", path.display());
    }
}
