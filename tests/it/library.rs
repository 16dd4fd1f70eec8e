//! The library as a program embeds it: function hooks, sharing, stopping.

mod parts;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hookrun::hosts::native;
use hookrun::internals::chain::Surroundings;
use hookrun::internals::event::catalog::Catalog;
use hookrun::internals::event::{Context, Event, OnFailure};
use hookrun::internals::exec::{Abort, Budget};
use hookrun::internals::hook::{Handler, Hook, Matcher};
use hookrun::internals::log::report::run_report;
use hookrun::internals::outcome::{Cause, Settled, Verdict};
use hookrun::internals::registry::Registry;
use hookrun::internals::report::{Paths, human};
use hookrun::internals::run::{Ending, Fate, Run};
use hookrun::internals::runner::Runner;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

fn surroundings(folder: &Path) -> Surroundings {
    Surroundings {
        search: Some("/usr/local/bin:/usr/bin:/bin".into()),
        cwd: folder.into(),
        project: folder.into(),
        state: folder.join("state"),
        run_id: "library".to_string(),
        ..Surroundings::default()
    }
}

fn runner(sandbox: &Sandbox, hooks: impl IntoIterator<Item = Hook>) -> Runner {
    Runner::new(Registry::new(hooks).unwrap(), surroundings(sandbox.path()))
}

fn event(name: &str, context: &Value) -> Event {
    let spec = Catalog::default().find(name).unwrap();
    Event::new(spec, "native", Context::parse(context.to_string()).unwrap()).unwrap()
}

fn call(command: &str) -> Event {
    event(
        "tool.pre",
        &json!({ "toolName": "bash", "toolInput": { "command": command } }),
    )
}

/// A call in the sandbox's folder.
fn call_in(sandbox: &Sandbox) -> Event {
    let input = json!({ "command": "ls" });
    event(
        "tool.pre",
        &json!({ "toolName": "bash", "toolInput": input, "cwd": sandbox.path() }),
    )
}

/// Waits for a file that a hook makes.
fn wait_for(file: &Path) {
    let started = Instant::now();
    while !file.exists() {
        assert!(
            started.elapsed() < LONG / 2,
            "{} does not come",
            file.display()
        );
        thread::sleep(Duration::from_millis(1));
    }
}

fn shell(name: &str, line: &str) -> Hook {
    Hook::new(name, "tool.pre", Handler::Shell(line.into()))
}

fn reason(run: &Run) -> &str {
    run.outcome
        .block()
        .map_or("", |block| block.reason.as_str())
}

fn ending(run: &Run, place: usize) -> &Ending {
    let Fate::Ran(trace) = &run.hooks[place].fate else {
        panic!("{:?}", run.hooks[place])
    };
    &trace.ending
}

#[test]
fn a_function_decides_as_a_command_does() {
    let sandbox = Sandbox::new();
    let guard = Hook::function("guard", "tool.pre", |event| {
        match event.action().and_then(|action| action.command.as_deref()) {
            Some(command) if command.contains("rm ") => Verdict::block("no rm"),
            Some(command) if command.contains("sudo") => Verdict::ask("as root?"),
            _ => Verdict::allow()
                .with_output("fine")
                .with_context("branch main"),
        }
    });
    let runner = runner(&sandbox, [guard]);
    let run = runner.handle(&call("rm -rf /"));
    let block = run.outcome.block().unwrap();
    assert_eq!(
        (block.reason.as_str(), block.cause),
        ("no rm", Cause::Policy)
    );
    assert_eq!(block.hook.as_deref(), Some("guard"));
    assert!(matches!(
        runner.handle(&call("sudo ls")).outcome.settled,
        Settled::Asked { .. }
    ));
    let run = runner.handle(&call("ls"));
    assert_eq!(run.outcome.output().as_deref(), Some("fine"));
    assert_eq!(
        run.outcome.additional_context().as_deref(),
        Some("branch main")
    );
    assert!(
        !sandbox.at("state").exists(),
        "a function has no state folder"
    );
}

#[test]
fn panics_and_errors_of_functions_are_failures() {
    let sandbox = Sandbox::new();
    let text = "it's broken";
    let panics =
        |name: &str| Hook::function(name, "tool.pre", move |_| -> Verdict { panic!("{text}") });
    let fails = Hook::function("fails", "tool.pre", |_| {
        Err::<(), _>("no answer from the server")
    });
    let run = runner(&sandbox, [panics("guard")]).handle(&call("ls"));
    assert_eq!(
        reason(&run),
        "hook `guard` failed: panicked: it's broken (fail closed)"
    );
    assert_eq!(run.outcome.block().unwrap().cause, Cause::Failure);

    let open = Hook {
        on_failure: Some(OnFailure::Allow),
        ..panics("open")
    };
    let run = runner(&sandbox, [open, fails]).handle(&call("ls"));
    assert_eq!(
        run.outcome.notices[0].text,
        "failed: panicked: it's broken (fail open)"
    );
    assert_eq!(
        reason(&run),
        "hook `fails` failed: returned an error: no answer from the server (fail closed)"
    );
}

/// A function that waits until the sender of the other end is dropped.
fn hangs(name: &str) -> (Hook, std::sync::mpsc::Sender<()>) {
    let (release, held) = channel::<()>();
    let held: Mutex<Receiver<()>> = Mutex::new(held);
    let wait = move |_: &Event| {
        let _ = held.lock().unwrap().recv();
    };
    (Hook::function(name, "tool.pre", wait), release)
}

#[test]
fn a_function_that_hangs_fails_closed_and_hangs_nobody_else() {
    let sandbox = Sandbox::new();
    let (mut hook, release) = hangs("slow");
    hook.limits.timeout = Some(Duration::from_millis(20));
    let runner = runner(&sandbox, [hook]);
    for _ in 0..3 {
        let run = runner.handle(&call("ls"));
        assert_eq!(
            reason(&run),
            "hook `slow` failed: timed out after 20ms (fail closed)"
        );
        let Fate::Ran(trace) = &run.hooks[0].fate else {
            panic!()
        };
        assert!(
            trace.notes[0].contains("keeps running"),
            "{:?}",
            trace.notes
        );
    }
    drop(release);
}

#[test]
fn the_budget_ends_the_wait_for_a_function() {
    let sandbox = Sandbox::new();
    let (mut hook, release) = hangs("slow");
    hook.limits.timeout = Some(LONG);
    let budget = Budget::from(Instant::now(), Duration::from_millis(20));
    let run = runner(&sandbox, [hook]).handle_within(&call("ls"), Some(budget));
    assert!(matches!(ending(&run, 0), Ending::OutOfBudget { .. }));
    assert!(run.outcome.block().is_some());
    drop(release);
}

#[test]
fn an_abort_from_another_thread_ends_functions_and_commands() {
    let sandbox = Sandbox::new();
    let (mut slow, release) = hangs("function");
    slow.limits.timeout = Some(LONG);
    slow.parallel = Some(true);
    let mut command = shell("command", "touch started; exec sleep 60");
    command.limits.timeout = Some(LONG);
    command.parallel = Some(true);
    let abort = Abort::new().unwrap();
    let runner = runner(&sandbox, [slow, command]).abort(abort.clone());
    let run = thread::scope(|scope| {
        let decision = scope.spawn(|| runner.handle(&call_in(&sandbox)));
        wait_for(&sandbox.at("started"));
        abort.raise();
        decision.join().unwrap()
    });
    let aborted = Ending::Aborted { signal: None };
    assert_eq!((ending(&run, 0), ending(&run, 1)), (&aborted, &aborted));
    abort.raise();
    assert_eq!((abort.times_raised(), abort.signal()), (2, None));
    assert!(reason(&run).contains("interrupted"), "{}", reason(&run));
    drop(release);
}

#[test]
fn order_priority_and_matchers_hold_for_functions_and_commands_alike() {
    let sandbox = Sandbox::new();
    let said: Arc<Mutex<Vec<&str>>> = Arc::default();
    let says = |name: &'static str, priority: i64| {
        let said = Arc::clone(&said);
        let note = move |_: &Event| said.lock().unwrap().push(name);
        Hook {
            priority,
            ..Hook::function(name, "tool.pre", note)
        }
    };
    let seen = Arc::clone(&said);
    let checks = Hook::function("checks", "tool.pre", move |_| {
        assert_eq!(*seen.lock().unwrap(), ["first", "second"], "in order");
    });
    let matcher = Matcher::default().tool("write").unwrap();
    let unwanted = Hook {
        matcher,
        ..says("unwanted", 1)
    };
    let hooks = [
        says("second", 60),
        unwanted,
        says("first", 50),
        shell("middle", "test ! -e x"),
        checks,
    ];
    let run = runner(&sandbox, hooks).handle(&call("ls"));
    assert_eq!(run.outcome.settled, Settled::Allowed, "{:?}", run.hooks);
    let names: Vec<&str> = run.hooks.iter().map(|hook| hook.hook.as_str()).collect();
    assert_eq!(names, ["unwanted", "first", "second", "middle", "checks"]);
    assert!(matches!(run.hooks[0].fate, Fate::Unwanted(_)));
}

#[test]
fn a_function_and_a_command_run_beside_each_other() {
    let sandbox = Sandbox::new();
    // Each waits for the other: one after the other they would both time out.
    let folder = sandbox.path().to_path_buf();
    let waits = Hook::function("function", "tool.pre", move |_| {
        std::fs::write(folder.join("function"), "").unwrap();
        wait_for(&folder.join("command"));
        Verdict::allow().with_output("function")
    });
    let command = shell(
        "command",
        "touch command; while ! test -e function; do sleep 0.01; done; echo command",
    );
    let mut hooks = [waits, command];
    for hook in &mut hooks {
        hook.parallel = Some(true);
        hook.limits.timeout = Some(LONG);
    }
    let run = runner(&sandbox, hooks).handle(&call_in(&sandbox));
    assert_eq!(run.outcome.output().as_deref(), Some("function\ncommand"));
}

#[test]
fn a_block_voids_what_runs_beside_it() {
    let sandbox = Sandbox::new();
    let (mut slow, release) = hangs("slow");
    slow.limits.timeout = Some(LONG);
    let mut command = shell("command", "exec sleep 60");
    command.limits.timeout = Some(LONG);
    let no = Hook::function("no", "tool.pre", |_| Verdict::block("no"));
    let mut hooks = [no, slow, command];
    hooks.iter_mut().for_each(|hook| hook.parallel = Some(true));
    let run = runner(&sandbox, hooks).jobs(3).handle(&call("ls"));
    assert_eq!(reason(&run), "no");
    assert_eq!(
        (ending(&run, 1), ending(&run, 2)),
        (&Ending::Voided, &Ending::Voided)
    );
    drop(release);
}

#[test]
fn a_function_rewrites_only_with_leave_and_what_may_be_rewritten() {
    let sandbox = Sandbox::new();
    let rewrites = |name: &str, field: &'static str| {
        Hook::function(name, "tool.pre", move |_| {
            Verdict::allow().with_update(field, json!({ "command": "ls -a" }))
        })
    };
    let sees = Hook::function("sees", "tool.pre", |event: &Event| {
        let command = event.action().and_then(|action| action.command.clone());
        Verdict::allow().with_output(command.unwrap_or_default())
    });
    let may = Hook {
        rewrite: true,
        ..rewrites("may", "toolInput")
    };
    let run = runner(&sandbox, [may, sees]).handle(&call("ls"));
    assert_eq!(run.outcome.output().as_deref(), Some("ls -a"));
    assert_eq!(
        run.outcome.update()["toolInput"],
        json!({ "command": "ls -a" })
    );

    let run = runner(&sandbox, [rewrites("may-not", "toolInput")]).handle(&call("ls"));
    assert!(
        reason(&run).contains("add `rewrite = true`"),
        "{}",
        reason(&run)
    );
    let other = Hook {
        rewrite: true,
        ..rewrites("other", "cwd")
    };
    let run = runner(&sandbox, [other]).handle(&call("ls"));
    assert!(
        reason(&run).contains("may rewrite `toolInput`"),
        "{}",
        reason(&run)
    );
}

#[test]
fn a_runner_is_shared_and_its_hooks_change_while_it_decides() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let sandbox = Sandbox::new();
    let runner = runner(&sandbox, []);
    is_shared(&runner);
    let together = Arc::new(Barrier::new(3));
    let count = Arc::new(AtomicUsize::new(0));
    let (meet, counted) = (Arc::clone(&together), Arc::clone(&count));
    // All three events are in it at once, or it does not end.
    let mut meets = Hook::function("meets", "tool.pre", move |_| {
        meet.wait();
        counted.fetch_add(1, Ordering::Relaxed);
    });
    meets.limits.timeout = Some(LONG);
    runner.registry().register(meets).unwrap();
    runner
        .registry()
        .register(shell("command", "exit 0"))
        .unwrap();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert!(runner.handle(&call("ls")).outcome.is_allowed()));
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 3);
    assert_eq!(runner.registry().remove("meets"), 1);
    let no = Hook::function("no", "tool.pre", |_| Verdict::block("no"));
    runner.registry().register(no).unwrap();
    assert_eq!(reason(&runner.clone().handle(&call("ls"))), "no");
    assert_eq!(count.load(Ordering::Relaxed), 3);
}

#[test]
fn a_function_may_ask_the_runner_itself() {
    let sandbox = Sandbox::new();
    let runner = runner(&sandbox, [shell("command", "echo no >&2; exit 1")]);
    let inner = runner.clone();
    let asks = Hook::function("asks", "prompt.submit", move |_| {
        match inner.handle(&call("ls")).permit() {
            Err(blocked) => Verdict::block(blocked.reason),
            Ok(_) => Verdict::allow(),
        }
    });
    runner.registry().register(asks).unwrap();
    let run = runner.handle(&event("prompt.submit", &json!({ "prompt": "hi" })));
    assert_eq!(reason(&run), "no");
}

#[test]
fn a_function_of_a_detached_event_is_called_though_nobody_waits() {
    let sandbox = Sandbox::new();
    let (told, hears) = channel();
    let hook = Hook::function("tells", "message.sent", move |event: &Event| {
        let _ = told.send(event.context().string("content"));
    });
    let runner = runner(&sandbox, [hook]);
    let run = runner.handle(&event("message.sent", &json!({ "content": "hi" })));
    assert!(matches!(run.hooks[0].fate, Fate::Detached));
    assert_eq!(hears.recv_timeout(LONG).unwrap().as_deref(), Some("hi"));
}

#[test]
fn reports_show_functions_as_what_they_are() {
    let sandbox = Sandbox::new();
    let no = Hook::function("no", "tool.pre", |_| Verdict::block("no"));
    let run = runner(&sandbox, [no]).handle(&call("ls"));
    let (reply, paths) = (native::encode(&run.outcome), Paths::from(sandbox.path()));
    let report = serde_json::to_value(run_report(&run, &reply, &paths)).unwrap();
    let hook = &report["hooks"][0];
    assert_eq!(
        (&hook["function"], &hook["ending"]),
        (&json!(true), &json!("answered"))
    );
    assert_eq!(hook["verdict"]["rule"], "returned");
    assert!(hook.get("status").is_none(), "{hook}");

    let mut out = Vec::new();
    let report = run_report(&run, &reply, &paths);
    let (summary, context) = (&run.event.spec().summary, Some(run.event.context()));
    let about = human::About {
        summary,
        context,
        origin: Vec::new(),
    };
    human::run(&report, &about, &paths, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.contains("a function of the embedding program"),
        "{text}"
    );
    assert!(text.contains("its return value"), "{text}");
    assert!(!text.contains("explicit layer"), "{text}");
}

#[test]
fn a_function_sees_the_session_and_two_decisions_at_once_start_processes_of_their_own() {
    let sandbox = Sandbox::new();
    // Each command waits for the other's file, so both decisions are under way at once.
    let line = "touch $HOOKRUN_SESSION_ID; while ! test -e a -a -e b; do sleep 0.01; done; \
                echo $HOOKRUN_SESSION_ID";
    let mut waits = shell("waits", line);
    waits.limits.timeout = Some(LONG);
    let names = Hook::function("names", "tool.pre", |event: &Event| {
        Verdict::allow().with_context(event.context().string("sessionId").unwrap_or_default())
    });
    let runner = runner(&sandbox, [waits, names]);
    let decide = &|session: &str| {
        let event = Event::of("tool.pre", json!({ "toolName": "bash", "toolInput": { "command": "ls" }, "sessionId": session, "cwd": sandbox.path() })).unwrap();
        let outcome = runner.handle(&event).outcome;
        (
            outcome.output().unwrap(),
            outcome.additional_context().unwrap(),
        )
    };
    let said = thread::scope(|scope| {
        let decisions = ["a", "b"].map(|session| scope.spawn(move || decide(session)));
        decisions.map(|decision| decision.join().unwrap())
    });
    assert_eq!(
        said,
        ["a", "b"].map(|name| (name.to_string(), name.to_string()))
    );
}

#[test]
fn only_what_no_hook_blocks_and_no_question_holds_up_is_permitted() {
    let sandbox = Sandbox::new();
    let asks = |_: &Event| Verdict::ask("really?");
    let rewrites = |_: &Event| {
        Verdict::allow()
            .with_update("toolInput", json!({ "command": "ls -l" }))
            .with_output("hi")
    };
    let one = |hook: Hook| runner(&sandbox, [hook]).handle(&call("ls")).permit();

    let allowed = one(Hook {
        rewrite: true,
        ..Hook::function("r", "tool.pre", rewrites)
    })
    .unwrap();
    assert_eq!(
        allowed.event.action().unwrap().command.as_deref(),
        Some("ls -l")
    );
    assert_eq!(allowed.outcome.output().as_deref(), Some("hi"));
    let unanswered = one(Hook::function("a", "tool.pre", asks)).unwrap_err();
    assert_eq!(unanswered.to_string(), "really? (no answer)");
    assert_eq!(unanswered.hook.as_deref(), Some("a"));
    let blocked = one(Hook::function("b", "tool.pre", |_| Verdict::block("no"))).unwrap_err();
    assert_eq!(blocked.to_string(), "no");
    let panics = one(Hook::function("p", "tool.pre", |_| -> Verdict {
        panic!("oh")
    }))
    .unwrap_err();
    assert!(panics.reason.contains("oh"), "{panics}");

    // A host that can ask people gives the answer first.
    let mut run = runner(&sandbox, [Hook::function("a", "tool.pre", asks)]).handle(&call("ls"));
    run.outcome = run.outcome.answered(true, "");
    assert!(run.permit().is_ok());
}

#[test]
fn a_runner_is_built_from_folders_and_from_hooks_of_every_sort() {
    let guard = "#!/bin/sh\necho no >&2; exit 1\n";
    let sandbox = Sandbox::new().script("hooks.d/tool.pre/guard.sh", guard);
    let missing = Runner::builder()
        .hooks_dir(sandbox.at("nowhere"))
        .build()
        .unwrap_err();
    assert!(
        missing.to_string().contains("no such file or folder"),
        "{missing}"
    );

    let from_folder = Runner::builder()
        .hooks_dir(sandbox.at("hooks.d"))
        .build()
        .unwrap();
    assert_eq!(
        from_folder.handle(&call("ls")).permit().unwrap_err().reason,
        "no"
    );

    let empty = || Runner::builder().build().unwrap();
    assert!(empty().handle(&call("ls")).permit().is_ok());
    let reason = |hook: Hook| {
        let runner = empty();
        runner.register(hook).unwrap();
        runner
            .handle(&call("ls"))
            .permit()
            .err()
            .map(|blocked| blocked.reason)
    };
    let words = ["sh", "-c", "echo no >&2; exit 1"];
    for hook in [
        Hook::command("guard", "tool.pre", words),
        Hook::shell("guard", "PreToolUse", "echo no >&2; exit 1"),
        Hook::script("tool.pre", sandbox.at("hooks.d/tool.pre/guard.sh")),
    ] {
        let others = Hook {
            matcher: Matcher::default().tool("write").unwrap(),
            ..hook.clone()
        };
        assert_eq!(reason(others), None, "{}", hook.name);
        assert_eq!(reason(hook).as_deref(), Some("no"));
    }
    let mut slow = Hook::shell("slow", "tool.pre", "sleep 60");
    slow.limits.timeout = Some(Duration::from_millis(1));
    assert!(
        reason(slow.clone())
            .unwrap()
            .contains("timed out after 1ms")
    );
    slow.on_failure = Some(OnFailure::Allow);
    assert_eq!(reason(slow), None);
    let update = r#"echo '{"update": {"toolInput": {"command": "pwd"}}}'"#;
    assert!(
        reason(Hook::shell("new", "tool.pre", update))
            .unwrap()
            .contains("rewrite")
    );
    let rewriting = Hook {
        rewrite: true,
        ..Hook::shell("new", "tool.pre", update)
    };
    assert_eq!(reason(rewriting), None);
    let unknown = empty()
        .register(Hook::shell("guard", "tool.pr", "true"))
        .unwrap_err();
    assert!(unknown.to_string().contains("tool.pre"), "{unknown}");
}
