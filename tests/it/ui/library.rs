//! A program that embeds hookrun and shows dialogs itself.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hookrun::internals::config::{Choice, Config, ConfigScope, Environment};
use hookrun::internals::event::{Context, Event};
use hookrun::internals::exec::Budget;
use hookrun::internals::run::Run;
use hookrun::internals::runner::Runner;
use hookrun::internals::session::{Message, Session};
use hookrun::internals::ui::{Asker, DialogAnswer, Request, Ui, WaitEnd};

use serde_json::json;

use super::with_hookrun;
use crate::nasty::running::wait_until;
use crate::sandbox::{Sandbox, with_tool};

/// A host that notes what it is asked, and always knows an answer.
#[derive(Debug, Default)]
struct Host {
    noted: Mutex<Vec<String>>,
    open: AtomicUsize,
}

impl Host {
    fn note(&self, asker: &Asker<'_>, words: &str) {
        self.noted
            .lock()
            .unwrap()
            .push(format!("{}: {words}", asker.hook));
    }

    fn noted(&self) -> Vec<String> {
        self.noted.lock().unwrap().clone()
    }
}

impl Ui for Host {
    fn show(&self, asker: &Asker<'_>, request: &Request) -> DialogAnswer {
        match request {
            Request::Select { title, options } => {
                self.note(asker, &format!("select {title} {options:?}"));
                DialogAnswer::from(options.last().cloned())
            }
            Request::Confirm { title, message } => {
                self.note(asker, &format!("confirm {title} {message}"));
                assert_ne!(title, "panic", "a host may be at fault");
                if title == "wait" {
                    while !asker.is_over() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    self.note(asker, "withdrawn");
                }
                DialogAnswer::Yes(true)
            }
            Request::Input { title, placeholder } => {
                let open = self.open.fetch_add(1, Ordering::SeqCst);
                assert_eq!(open, 0, "one dialog at a time");
                self.note(asker, &format!("input {title} {placeholder}"));
                std::thread::sleep(Duration::from_millis(30));
                self.open.fetch_sub(1, Ordering::SeqCst);
                DialogAnswer::from((title != "nothing").then(|| "typed\ntext".to_string()))
            }
            Request::Editor { title, text } => {
                self.note(asker, &format!("editor {title} {text}"));
                DialogAnswer::Text(text.to_uppercase())
            }
            Request::Notify { message, kind } => {
                self.note(asker, &format!("notify {message} {kind:?}"));
                DialogAnswer::Done
            }
            Request::Status { key, text } => {
                self.note(asker, &format!("status {key} {text:?}"));
                DialogAnswer::Done
            }
            Request::Send(_) => panic!("it is for the session"),
        }
    }
}

impl Session for Host {
    fn send(&self, id: &str, message: &Message) -> Result<(), String> {
        if message.text == "refuse" {
            return Err("the session is closed".to_string());
        }
        let Message {
            text,
            attachments,
            hook,
            custom_type,
            display,
            details,
            ..
        } = message;
        let of_host = format!("{custom_type:?} {display} {details:?}");
        let noted = format!("send {id} {text} {attachments:?} {hook:?} {of_host}");
        self.noted.lock().unwrap().push(noted);
        Ok(())
    }
}

/// A runner for the sandbox's hooks, as a program of its own would make it.
fn runner(sandbox: &Sandbox) -> (Runner, Event) {
    runner_for(sandbox, r#"{"sessionId":"s"}"#)
}

/// The same, with an event that has this context.
fn runner_for(sandbox: &Sandbox, context: &str) -> (Runner, Event) {
    let mut env = Environment::capture();
    env.state_home = Some(sandbox.at("state"));
    let choice = Choice {
        explicit: vec![sandbox.path().into()],
        ..Choice::default()
    };
    let config = Config::load(&choice, &env, ConfigScope::All);
    let spec = config.catalog.find("tool.pre").unwrap();
    let context = with_tool(context.as_bytes(), &["tool.pre"]);
    let context = Context::from_bytes(context).unwrap();
    let event = Event::new(spec, "native", context).unwrap();
    (Runner::from_config(config, &env), event)
}

fn hook(body: &str) -> Sandbox {
    Sandbox::new().hook("guard", &with_hookrun(&format!("set -e\n{body}")))
}

#[track_caller]
fn allowed(run: &Run) -> String {
    assert!(run.outcome.is_allowed(), "{run:?}");
    run.outcome.output().unwrap_or_default()
}

#[test]
fn every_dialog_reaches_the_host_and_its_answer_the_hook() {
    let sandbox = hook(
        "test $HOOKRUN_HAS_UI = 1\n\
         hookrun hook ui select T a 'b c'; hookrun hook ui confirm T M; hookrun hook ui input T P\n\
         hookrun hook ui editor T 'some text'; hookrun hook ui notify N --type warning\n\
         hookrun hook ui status k v; hookrun hook ui status k\n\
         if hookrun hook ui input nothing; then exit 1; fi",
    );
    let (runner, event) = runner(&sandbox);
    let host = Arc::new(Host::default());
    let ui: Arc<dyn Ui> = Arc::clone(&host) as Arc<dyn Ui>;

    let run = runner.ui(ui).handle(&event);

    assert_eq!(allowed(&run), "b c\ntyped\ntext\nSOME TEXT");
    let noted = [
        "guard: select T [\"a\", \"b c\"]",
        "guard: confirm T M",
        "guard: input T P",
        "guard: editor T some text",
        "guard: notify N Warning",
        "guard: status k Some(\"v\")",
        "guard: status k None",
        "guard: input nothing ",
    ];
    assert_eq!(host.noted(), noted);
}

#[test]
fn messages_reach_the_session_of_the_host_with_their_files() {
    let sandbox = hook(
        "test $HOOKRUN_HAS_UI = 0\n\
         hookrun hook send 'run the tests' --attach event.txt --type ci --hidden --details 1\n\
         if hookrun hook send refuse 2>&1; then exit 1; fi\n\
         if hookrun hook ui confirm Sure; then exit 1; fi",
    )
    .file("event.txt", "");
    let folder = json!({ "sessionId": "s", "cwd": sandbox.path() });
    let (runner, event) = runner_for(&sandbox, &folder.to_string());
    let host = Arc::new(Host::default());

    let run = runner
        .session(Arc::clone(&host) as Arc<dyn Session>)
        .handle(&event);

    assert!(allowed(&run).contains("the host did not accept the message: the session is closed"));
    let file = sandbox.at("event.txt").canonicalize().unwrap();
    let one = Some(json!(1));
    let noted =
        format!("send s run the tests [{file:?}] Some(\"guard\") Some(\"ci\") false {one:?}");
    assert_eq!(host.noted(), [noted]);
}

#[test]
fn dialogs_of_hooks_that_run_together_wait_their_turn() {
    let names = ["a", "b", "c", "d"];
    let sandbox = names.iter().fold(Sandbox::new(), |sandbox, name| {
        let body = with_hookrun("hookrun hook ui input Name >/dev/null");
        sandbox.hook(name, &format!("# hookrun: parallel timeout=1m\n{body}"))
    });
    let (runner, event) = runner(&sandbox);
    let host = Arc::new(Host::default());
    let run = runner
        .ui(Arc::clone(&host) as Arc<dyn Ui>)
        .jobs(4)
        .handle(&event);
    allowed(&run);
    assert_eq!(host.noted().len(), names.len());
}

#[test]
fn a_host_that_panics_has_not_answered() {
    let sandbox =
        hook("if hookrun hook ui confirm panic; then exit 1; fi\nhookrun hook ui confirm again");
    let (runner, event) = runner(&sandbox);
    let host = Arc::new(Host::default());
    let run = runner.ui(Arc::clone(&host) as Arc<dyn Ui>).handle(&event);
    allowed(&run);
    assert_eq!(
        host.noted(),
        ["guard: confirm panic ", "guard: confirm again "]
    );
}

#[test]
fn a_dialog_is_withdrawn_when_the_budget_ends_its_hook() {
    let sandbox = hook("hookrun hook ui confirm wait");
    let (runner, event) = runner(&sandbox);
    let host = Arc::new(Host::default());
    let budget = Budget::from(Instant::now(), Duration::from_secs(3));
    let runner = runner.ui(Arc::clone(&host) as Arc<dyn Ui>);

    let run = runner.handle_within(&event, Some(budget));

    assert!(
        run.outcome
            .block()
            .unwrap()
            .reason
            .contains("the budget of 3s was used up")
    );
    assert_eq!(host.noted(), ["guard: confirm wait ", "guard: withdrawn"]);
}

#[test]
fn no_hook_speaks_for_another_or_after_its_end() {
    let sandbox = hook("echo $HOOKRUN_SOCKET");
    let (runner, event) = runner(&sandbox);
    let host = Arc::new(Host::default());
    let runner = runner.ui(Arc::clone(&host) as Arc<dyn Ui>);
    let first = allowed(&runner.handle(&event));
    let second = allowed(&runner.handle(&event));
    assert_ne!(first, second, "each hook has a token of its own");
    let (_, path) = second.split_once('@').unwrap();
    for address in [&first, &second, &format!("@{path}")] {
        let ran = sandbox.hookrun_as(
            |hookrun| {
                hookrun.env("HOOKRUN_SOCKET", address.trim());
            },
            &["hook", "ui", "confirm", "Sure"],
            b"",
        );
        ran.exits(1);
    }
    assert!(host.noted().is_empty());
    drop(runner);
    assert_eq!(
        std::fs::read_dir(sandbox.at("state/hookrun/desks"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn what_a_hook_may_leave_running_can_still_send() {
    let body = "(until [ -e go ]; do sleep 0.05; done; hookrun hook send later; touch sent) \
                </dev/null >/dev/null 2>&1 &";
    let body = with_hookrun(body);
    let sandbox = Sandbox::new().hook("watch", &format!("# hookrun: background=detach\n{body}"));
    let (runner, event) = runner_for(&sandbox, &json!({ "cwd": sandbox.path() }).to_string());
    let host = Arc::new(Host::default());
    let runner = runner.session(Arc::clone(&host) as Arc<dyn Session>);
    allowed(&runner.handle(&event));
    let sandbox = sandbox.file("go", "");
    wait_until("it has sent", || sandbox.at("sent").exists());
    assert_eq!(
        host.noted(),
        ["send  later [] Some(\"watch\") None true None"]
    );
}

#[test]
fn nonsense_at_the_socket_changes_nothing() {
    let nonsense = "#!/usr/bin/env python3
# hookrun: timeout=1m
import os, socket
path = os.environ['HOOKRUN_SOCKET'].split('@', 1)[1]
kept = []
for number in range(200):
    one = socket.socket(socket.AF_UNIX)
    one.connect(path)
    try:
        one.sendall([b'', b'{', b'nonsense\\n', b'{\"token\":1}\\n', b'\\0' * 100000][number % 5])
    except OSError:
        pass
    kept.append(one)
";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/10-nonsense", nonsense);
    let (runner, event) = runner(&sandbox);
    let host = Arc::new(Host::default());
    let runner = runner.ui(Arc::clone(&host) as Arc<dyn Ui>);
    allowed(&runner.handle(&event));
    assert!(host.noted().is_empty());
    // All that were cut off are closed now: others are heard again, when the threads have ended.
    let ask = with_hookrun("until hookrun hook ui confirm T M; do sleep 0.05; done");
    let sandbox = sandbox.script("hooks.d/tool.pre/10-nonsense", &format!("#!/bin/sh\n{ask}"));
    allowed(&runner.handle(&event));
    assert_eq!(host.noted(), ["10-nonsense: confirm T M"]);
    drop(sandbox);
}

#[test]
fn a_host_without_dialogs_opens_no_socket() {
    let sandbox = hook("test -z \"$HOOKRUN_SOCKET\"");
    let (runner, event) = runner(&sandbox);
    allowed(&runner.handle(&event));
    sandbox.has_no_file("state/hookrun/desks");
}

#[test]
fn a_dialog_is_over_when_its_time_is_up_or_it_is_withdrawn() {
    let (reader, writer) = std::io::pipe().unwrap();
    let (input, typed) = std::io::pipe().unwrap();
    let far = Instant::now() + Duration::from_secs(3600);
    let asker = Asker::new("hook", far, vec![reader.as_fd()]);
    assert!(!asker.is_over());
    let input = Some(input.as_fd());
    assert_eq!(asker.wait(input, Duration::ZERO), WaitEnd::Quiet);
    rustix::io::write(&typed, b"x").unwrap();
    assert_eq!(asker.wait(input, Duration::MAX), WaitEnd::Ready);
    drop(writer);
    assert_eq!(asker.wait(input, Duration::MAX), WaitEnd::Over);
    assert!(Asker::new("hook", Instant::now(), Vec::new()).is_over());
}

#[test]
fn a_request_is_one_short_line() {
    let request = Request::Confirm {
        title: "a\nb".to_string(),
        message: String::new(),
    };
    let line = serde_json::to_string(&request).unwrap();
    assert_eq!(line, r#"{"confirm":{"title":"a\nb","message":""}}"#);
    let answer = serde_json::to_string(&DialogAnswer::Yes(true)).unwrap();
    assert_eq!(answer, r#"{"yes":true}"#);
}
