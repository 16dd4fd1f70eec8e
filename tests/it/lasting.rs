//! Hooks that live as long as a session: `lives = "session"`.

mod configured;
mod ended;
mod shipped;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use hookrun::internals::chain::Surroundings;
use hookrun::internals::exec::OwnProgram;
use hookrun::{Event, Hook, Lives, Message, Registry, Runner, Session, SessionHooks, SessionSink};
use serde_json::{Value, json};

use crate::nasty::running::Cookie;
use crate::sandbox::Sandbox;

/// Longer than any test takes.
const NOT_HUNG: Duration = Duration::from_secs(60);

/// What a hook said, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Heard {
    Context(String, String),
    Message(String, Message),
    Status(String, Option<String>),
    Ended(String, Option<Duration>),
}

/// A program that holds sessions and notes everything.
struct Holder(Sender<(String, Heard)>);

impl Session for Holder {
    fn send(&self, session: &str, message: &Message) -> Result<(), String> {
        let hook = message.hook.clone().unwrap_or_default();
        self.note(session, Heard::Message(hook, message.clone()));
        Ok(())
    }
}

impl SessionSink for Holder {
    fn context(&self, session: &str, hook: &str, text: &str) {
        assert_ne!(text, "panic", "a holder may be at fault");
        self.note(session, Heard::Context(hook.to_string(), text.to_string()));
    }

    fn status(&self, session: &str, _: &str, key: &str, text: Option<&str>) {
        self.note(
            session,
            Heard::Status(key.to_string(), text.map(str::to_string)),
        );
    }

    fn ended(&self, session: &str, _: &str, how: &str, restarts_in: Option<Duration>) {
        self.note(session, Heard::Ended(how.to_string(), restarts_in));
    }
}

impl Holder {
    fn note(&self, session: &str, heard: Heard) {
        let _ = self.0.send((session.to_string(), heard));
    }
}

/// The hooks of sessions, and what they say.
struct Held {
    hooks: Option<SessionHooks>,
    heard: Receiver<(String, Heard)>,
    cookie: Cookie,
    /// The working directory of events.
    folder: PathBuf,
}

/// The pause before a hook is started again.
const PAUSE: Duration = Duration::from_millis(100);

impl Held {
    fn new(sandbox: &Sandbox, hooks: impl IntoIterator<Item = Hook>) -> Held {
        let cookie = Cookie::new();
        let mut runner = runner(sandbox.path(), hooks, &cookie);
        // A runner of a program that runs other things too has no subreaper.
        runner = runner.program(None);
        Held::of(&runner, sandbox.path(), cookie)
    }

    fn of(runner: &Runner, folder: &Path, cookie: Cookie) -> Held {
        let (sender, heard) = channel();
        let hooks = SessionHooks::new(runner, Arc::new(Holder(sender)));
        Held {
            hooks: Some(hooks),
            heard,
            cookie,
            folder: folder.to_path_buf(),
        }
    }

    fn hooks(&self) -> &SessionHooks {
        self.hooks.as_ref().unwrap()
    }

    #[track_caller]
    fn event(&self, name: &str, session: &str, more: &Value) -> &Held {
        let mut context = json!({ "sessionId": session, "cwd": self.folder });
        for (key, value) in more.as_object().into_iter().flatten() {
            context[key] = value.clone();
        }
        self.hooks().event(&Event::of(name, context).unwrap());
        self
    }

    #[track_caller]
    fn starts(&self, session: &str) -> &Held {
        self.event("session.start", session, &json!({}))
    }

    /// The next that is said, and the session of it.
    #[track_caller]
    fn next(&self) -> (String, Heard) {
        self.heard.recv_timeout(NOT_HUNG).unwrap()
    }

    /// The next text that a hook has for the model.
    #[track_caller]
    fn context(&self) -> String {
        match self.next() {
            (_, Heard::Context(_, text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn ended(&self) -> (String, Option<Duration>) {
        match self.next() {
            (_, Heard::Ended(how, restarts_in)) => (how, restarts_in),
            other => panic!("{other:?}"),
        }
    }

    /// Ends everything, and finds nothing left of it.
    #[track_caller]
    fn drop_all(&mut self) {
        self.hooks = None;
        assert_eq!(self.cookie.holders(), Vec::<i32>::new());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.hooks = None;
    }
}

/// A runner with a state folder and a mark of its own, whose processes have the cookie.
fn runner(folder: &Path, hooks: impl IntoIterator<Item = Hook>, cookie: &Cookie) -> Runner {
    let mark = format!("lasting-{}", cookie.0);
    let surroundings = Surroundings {
        search: Some("/usr/local/bin:/usr/bin:/bin".into()),
        cwd: folder.into(),
        project: folder.into(),
        state: folder.join("state"),
        run_id: mark.clone(),
        ..Surroundings::default()
    };
    let with_cookie = |mut hook: Hook| {
        hook.variables
            .push(("COOKIE".to_string(), cookie.0.clone()));
        hook
    };
    let hooks = hooks.into_iter().map(with_cookie);
    let path = env!("CARGO_BIN_EXE_hookrun").into();
    Runner::new(Registry::new(hooks).unwrap(), surroundings)
        .program(Some(OwnProgram { path, mark }))
}

/// Says what it is given as context for the model.
const ECHO: &str = r#"while read -r line; do
  printf '%s' "$line" | sed 's/[\\"]//g; s/^/{"additionalContext": "/; s/$/"}\n/'
done"#;

fn lasting(hook: Hook) -> Hook {
    Hook {
        lives: Lives::Session,
        ..hook
    }
}

/// A hook of `session.start` that runs this line of shell.
fn watcher(line: &str) -> Hook {
    lasting(Hook::shell("watcher", "session.start", line))
}

/// The same, which also gets the ends of tools.
fn watchers(line: &str) -> [Hook; 2] {
    [
        watcher(line),
        lasting(Hook::shell("watcher", "tool.post", line)),
    ]
}

fn tool(name: &str) -> Value {
    json!({ "toolName": name, "toolInput": { "command": "ls" }, "result": "" })
}

#[test]
fn one_process_gets_every_event_of_its_session_in_order() {
    let sandbox = Sandbox::new();
    let line = r#"echo '{"additionalContext": "born"}'; while read -r line; do
        case $line in *session.start*) name=start ;; *) name=${line##*toolName\":\"}; name=${name%%\"*} ;; esac
        printf '{"additionalContext": "%s"}\n' "$name"; done"#;
    let held = Held::new(&sandbox, watchers(line));
    held.starts("s");
    for number in 0..200 {
        held.event("tool.post", "s", &tool(&format!("t{number}")));
    }
    assert_eq!([held.context(), held.context()], ["born", "start"]);
    for number in 0..200 {
        assert_eq!(held.context(), format!("t{number}"));
    }
}

#[test]
fn it_starts_with_the_first_event_of_a_session_whatever_that_is_and_needs_a_session() {
    let sandbox = Sandbox::new();
    let held = Held::new(
        &sandbox,
        [watcher(
            r#"echo '{"additionalContext": "born"}'; sleep 1000"#,
        )],
    );
    held.hooks()
        .event(&Event::of("turn.start", json!({})).unwrap());
    held.event("session.end", "never-held", &json!({}));
    held.event("turn.start", "s", &json!({})).starts("s");
    assert_eq!(
        held.next(),
        ("s".into(), Heard::Context("watcher".into(), "born".into()))
    );
    held.hooks().end_all();
    assert_eq!(held.ended(), ("its session is over".to_string(), None));
    assert!(held.heard.try_recv().is_err());
}

#[test]
fn only_events_that_it_wants_come_to_it() {
    let sandbox = Sandbox::new();
    let [start, mut post] = watchers(ECHO);
    post.matcher = hookrun::Matcher::default().tool("bash").unwrap();
    let held = Held::new(&sandbox, [start, post]);
    held.starts("s")
        .event("tool.post", "s", &tool("read"))
        .event("tool.post", "s", &tool("bash"));
    assert!(held.context().contains("session.start"));
    assert!(held.context().contains("toolName:bash"));
}

#[test]
fn a_line_may_carry_context_a_message_and_a_status_and_any_other_is_a_note() {
    let sandbox = Sandbox::new();
    let line = r#"cat << 'END'
no JSON
{"additionalContext": 5}
{"additionalContent": "misspelt"}
{"message": "first"}
{"message": {"text": "second", "customType": "ci", "display": false, "attachments": ["/a"]}}
{"message": {"words": "none"}}
{"status": "working", "additionalContext": "also"}
{"status": {"key": "build", "text": "red"}}
{"status": null}
END
printf '{"additionalContext": "the last line"}'"#;
    let held = Held::new(&sandbox, [watcher(line)]);
    held.starts("s");
    let mut messages = Vec::new();
    for _ in 0..2 {
        let (_, Heard::Message(hook, message)) = held.next() else {
            panic!("no message")
        };
        assert_eq!(hook, "watcher");
        messages.push((
            message.text,
            message.custom_type,
            message.display,
            message.attachments,
        ));
    }
    assert_eq!(messages[0], ("first".into(), None, true, vec![]));
    assert_eq!(
        messages[1],
        ("second".into(), Some("ci".into()), false, vec!["/a".into()])
    );
    assert_eq!(held.context(), "also");
    let statuses = [held.next().1, held.next().1, held.next().1];
    let status =
        |key: &str, text: Option<&str>| Heard::Status(key.to_string(), text.map(str::to_string));
    let expected = [
        status("watcher", Some("working")),
        status("build", Some("red")),
        status("watcher", None),
    ];
    assert_eq!(statuses, expected);
    assert_eq!(held.context(), "the last line");
    assert_eq!(held.ended(), ("exited with status 0".to_string(), None));
}

#[test]
fn hookrun_send_reaches_the_session_of_the_hook_at_any_time() {
    let sandbox = Sandbox::new();
    let program = env!("CARGO_BIN_EXE_hookrun");
    let held = Held::new(
        &sandbox,
        watchers(&format!(
            "while read -r line; do '{program}' hook send \"seen $HOOKRUN_SESSION_ID\"; done"
        )),
    );
    for session in ["s", "t"] {
        held.starts(session);
        for _ in 0..2 {
            held.event("tool.post", session, &tool("bash"));
            let (told, Heard::Message(hook, message)) = held.next() else {
                panic!("no message")
            };
            assert_eq!((told.as_str(), hook.as_str()), (session, "watcher"));
            assert_eq!(message.text, format!("seen {session}"));
        }
        let (_, Heard::Message(..)) = held.next() else {
            panic!("no message")
        };
    }
}

#[test]
fn sessions_have_folders_and_processes_of_their_own() {
    let sandbox = Sandbox::new();
    let line = r#"test -e "$HOOKRUN_STATE_DIR/mark" && seen=1 || seen=0; touch "$HOOKRUN_STATE_DIR/mark"
        printf '{"additionalContext": "%s %s %s"}\n' "$HOOKRUN_SESSION_ID" $seen "${HOOKRUN_TIMEOUT_MS-none}"
        exec sleep 1000"#;
    let held = Held::new(&sandbox, [watcher(line)]);
    held.starts("one").starts("two").starts("one");
    let mut said = [held.context(), held.context()];
    said.sort();
    assert_eq!(said, ["one 0 none", "two 0 none"]);
    held.hooks().end("one");
    assert_eq!(
        held.next(),
        (
            "one".into(),
            Heard::Ended("its session is over".into(), None)
        )
    );
    held.starts("one");
    assert_eq!(held.context(), "one 1 none");
}

#[test]
fn it_starts_again_after_a_crash_each_time_later() {
    let sandbox = Sandbox::new();
    let line = r#"read -r line; case $line in *last*) echo '{"additionalContext": "last"}'; exec sleep 1000 ;; esac
        echo 'out of luck' >&2; exit 3"#;
    let held = Held::new(&sandbox, watchers(line));
    held.starts("s");
    let crashed = |pause| ("exited with status 3: out of luck".to_string(), Some(pause));
    assert_eq!(held.ended(), crashed(PAUSE));
    held.event("tool.post", "s", &tool("one"));
    assert_eq!(held.ended(), crashed(2 * PAUSE));
    held.event("tool.post", "s", &tool("two"));
    assert_eq!(held.ended(), crashed(4 * PAUSE));
    held.event("tool.post", "s", &tool("last"));
    assert_eq!(held.context(), "last");
}

#[test]
fn what_cannot_start_is_told_and_one_that_has_had_enough_stays_away() {
    let sandbox = Sandbox::new();
    let missing = lasting(Hook::command(
        "missing",
        "session.start",
        ["/nowhere/watch"],
    ));
    let held = Held::new(&sandbox, [missing]);
    held.starts("s");
    let (how, restarts_in) = held.ended();
    assert!(
        how.contains("never ran: no such file: `/nowhere/watch`"),
        "{how}"
    );
    assert_eq!(restarts_in, None);

    let held = Held::new(&sandbox, [watcher("exit 0")]);
    held.starts("s");
    assert_eq!(held.ended(), ("exited with status 0".to_string(), None));
    held.starts("s").hooks().end_all();
    assert!(held.heard.try_recv().is_err());
}

#[test]
fn a_holder_that_panics_does_not_end_the_hook() {
    let sandbox = Sandbox::new();
    let line = r#"echo '{"additionalContext": "panic"}'; echo '{"additionalContext": "after"}'; exec sleep 1000"#;
    let held = Held::new(&sandbox, [watcher(line)]);
    held.starts("s");
    assert_eq!(held.context(), "after");
}

#[test]
fn a_guard_and_a_function_still_run_for_each_event() {
    let sandbox = Sandbox::new();
    let guard = lasting(Hook::shell("guard", "tool.pre", "echo no >&2; exit 1"));
    let cookie = Cookie::new();
    let runner = runner(sandbox.path(), [guard], &cookie);
    let event = Event::tool_pre("bash", json!({ "command": "ls" })).unwrap();
    assert_eq!(runner.handle(&event).permit().unwrap_err().reason, "no");
}
