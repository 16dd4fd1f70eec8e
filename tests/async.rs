//! Async functions as hooks, and decisions that are awaited.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::{pending, poll_fn};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use hookrun::internals::chain::Surroundings;
use hookrun::internals::event::Event;
use hookrun::internals::hook::{Handler, Hook};
use hookrun::internals::outcome::Verdict;
use hookrun::internals::registry::Registry;
use hookrun::internals::reminder::Reminders;
use hookrun::internals::run::Run;
use hookrun::internals::runner::Runner;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Barrier;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

fn runner(folder: &Path, hooks: impl IntoIterator<Item = Hook>) -> Runner {
    let surroundings = Surroundings {
        search: Some("/usr/local/bin:/usr/bin:/bin".into()),
        cwd: folder.into(),
        project: folder.into(),
        state: folder.join("state"),
        run_id: "async".to_string(),
        ..Surroundings::default()
    };
    Runner::new(Registry::new(hooks).unwrap(), surroundings)
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

fn call(folder: &Path) -> Event {
    let input = json!({ "command": "ls" });
    let context = json!({ "toolName": "bash", "toolInput": input, "cwd": folder });
    Event::of("tool.pre", context).unwrap()
}

/// One thread: whoever blocks it stops everything else.
fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn shell(line: &str) -> Hook {
    let mut hook = Hook::new("command", "tool.pre", Handler::Shell(line.into()));
    hook.limits.timeout = Some(LONG);
    hook
}

fn reason(run: &Run) -> &str {
    run.outcome
        .block()
        .map_or("", |block| block.reason.as_str())
}

async fn until(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LONG / 2, "it does not come");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Raises its flag when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// An async hook that never returns, and whether its future was begun and dropped.
fn never() -> (Hook, Arc<AtomicBool>, Arc<AtomicBool>) {
    let (begun, dropped) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let (begins, drops) = (Arc::clone(&begun), Arc::clone(&dropped));
    let hook = Hook::async_function("never", "tool.pre", move |_| {
        let (begins, guard) = (Arc::clone(&begins), Dropped(Arc::clone(&drops)));
        async move {
            let _guard = guard;
            begins.store(true, Ordering::SeqCst);
            pending::<()>().await;
        }
    });
    (hook, begun, dropped)
}

#[test]
fn async_functions_decide_together_in_one_thread() {
    let (_kept, folder) = folder();
    let together = Arc::new(Barrier::new(3));
    let mut meets = Hook::async_function("meets", "tool.pre", move |event: Event| {
        let together = Arc::clone(&together);
        async move {
            together.wait().await;
            let command = event.action().and_then(|action| action.command.clone());
            Verdict::block(format!("no {}", command.unwrap_or_default()))
        }
    });
    meets.limits.timeout = Some(LONG);
    let reminders = Reminders::default();
    let runner = runner(&folder, [meets]).reminders(reminders.clone());
    one_thread().block_on(async {
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let (runner, event) = (runner.clone(), call(&folder));
                tokio::spawn(async move { runner.handle_async(&event).await })
            })
            .collect();
        for task in tasks {
            assert_eq!(reason(&task.await.unwrap()), "no ls");
        }
    });
    assert_eq!(reminders.drain().len(), 3);
}

#[test]
fn the_executor_goes_on_while_a_command_runs() {
    let (_kept, folder) = folder();
    let runner = runner(
        &folder,
        [shell("while ! test -e go; do sleep 0.01; done; echo went")],
    );
    let run = one_thread().block_on(async {
        let file = folder.join("go");
        let other = tokio::spawn(async move { std::fs::write(file, "").unwrap() });
        let run = runner.handle_async(&call(&folder)).await;
        other.await.unwrap();
        run
    });
    assert_eq!(run.outcome.output().as_deref(), Some("went"));
}

#[test]
fn dropping_the_decision_ends_its_hooks() {
    let (_kept, folder) = folder();
    let (mut never, begun, dropped) = never();
    never.limits.timeout = Some(LONG);
    let mut command = shell("echo $$ > pid.new; mv pid.new pid; exec sleep 60");
    for hook in [&mut never, &mut command] {
        hook.parallel = Some(true);
    }
    let reminders = Reminders::default();
    let runner = runner(&folder, [never, command]).reminders(reminders.clone());
    one_thread().block_on(async {
        let (decides, event) = (runner.clone(), call(&folder));
        let decision = tokio::spawn(async move { decides.handle_async(&event).await });
        let file = folder.join("pid");
        until(|| begun.load(Ordering::SeqCst) && file.exists()).await;
        let pid = std::fs::read_to_string(file).unwrap();
        decision.abort();
        assert!(decision.await.unwrap_err().is_cancelled());
        until(|| dropped.load(Ordering::SeqCst)).await;
        let alive = |pid: &str| {
            let status = std::process::Command::new("kill")
                .args(["-0", pid])
                .output()
                .unwrap();
            status.status.success()
        };
        until(|| !alive(pid.trim())).await;
        // Nobody else is told to stop.
        runner.registry().retain(|_| false);
        assert!(
            runner
                .handle_async(&call(&folder))
                .await
                .outcome
                .is_allowed()
        );
    });
    assert!(
        reminders.drain().is_empty(),
        "a decision that was given up tells nobody anything"
    );
}

#[test]
fn an_async_function_that_never_returns_fails_closed_and_is_dropped() {
    let (_kept, folder) = folder();
    let (mut never, _, dropped) = never();
    never.limits.timeout = Some(Duration::from_millis(20));
    let runner = runner(&folder, [never]);
    one_thread().block_on(async {
        let run = runner.handle_async(&call(&folder)).await;
        assert_eq!(
            reason(&run),
            "hook `never` failed: timed out after 20ms (fail closed)"
        );
        until(|| dropped.load(Ordering::SeqCst)).await;
    });
}

#[test]
fn panics_of_async_functions_are_failures() {
    let (_kept, folder) = folder();
    let early = Hook::async_function("early", "tool.pre", |event: Event| {
        assert!(event.action().is_none(), "too early");
        async {}
    });
    let late = Hook::async_function("late", "tool.pre", |_| async {
        tokio::task::yield_now().await;
        poll_fn(|_| -> Poll<()> { panic!("too late") }).await;
    });
    let runtime = one_thread();
    for (hook, text) in [(early, "too early"), (late, "too late")] {
        let name = hook.name.clone();
        let run = runtime.block_on(runner(&folder, [hook]).handle_async(&call(&folder)));
        assert_eq!(
            reason(&run),
            format!("hook `{name}` failed: panicked: {text} (fail closed)")
        );
    }
}

#[test]
fn an_async_function_without_a_runtime_is_a_failure() {
    let (_kept, folder) = folder();
    let hook = Hook::async_function("hook", "tool.pre", |_| async {});
    let run = runner(&folder, [hook]).handle(&call(&folder));
    assert!(reason(&run).contains("Runner::runtime"), "{}", reason(&run));
}

#[test]
fn a_runtime_that_is_gone_is_a_failure() {
    let (_kept, folder) = folder();
    let gone = one_thread().handle().clone();
    let hook = Hook::async_function("hook", "tool.pre", |_| async {});
    let run = runner(&folder, [hook]).runtime(gone).handle(&call(&folder));
    assert!(
        reason(&run).contains("its runtime has shut down"),
        "{}",
        reason(&run)
    );
}

#[path = "../examples/axum_service.rs"]
#[expect(dead_code, reason = "its `main` is for `cargo run`")]
mod axum_service;

/// What the service answers to one request.
fn post(address: std::net::SocketAddr, body: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(request(body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn request(body: &str) -> String {
    format!(
        "POST /tools/bash HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_service_asks_and_a_caller_that_goes_away_ends_its_hooks() {
    use std::io::Write;

    let (_kept, path) = folder();
    let script = format!(
        "cd {}; case $(cat) in *rm*) echo no >&2; exit 1 ;; \
         *slow*) exec 9>lock; flock 9; echo >started; sleep 600 ;; esac",
        path.display()
    );
    let mut slow = Hook::shell("guard", "tool.pre", &script);
    slow.limits.timeout = Some(LONG);
    let runner = runner(&path, [slow]);
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let address = listener.local_addr().unwrap();
    let service = axum::serve(listener, axum_service::routes(runner));
    let served = runtime.spawn(service.into_future());
    let allowed = post(address, r#"{"command":"ls"}"#);
    assert!(
        allowed.contains("200 OK") && allowed.contains(r#"{"command":"ls"}"#),
        "{allowed}"
    );
    let blocked = post(address, r#"{"command":"rm x"}"#);
    assert!(
        blocked.contains("403") && blocked.contains(r#"{"blocked":"no"}"#),
        "{blocked}"
    );
    let mut leaving = std::net::TcpStream::connect(address).unwrap();
    leaving
        .write_all(request(r#"{"command":"slow"}"#).as_bytes())
        .unwrap();
    let until = Instant::now() + LONG;
    while !path.join("started").exists() {
        assert!(Instant::now() < until, "the hook does not start");
        std::thread::yield_now();
    }
    drop(leaving);
    // The lock is free when the hook and all that it started are gone.
    let lock = std::process::Command::new("flock")
        .arg(path.join("lock"))
        .arg("true")
        .status();
    assert!(lock.unwrap().success());
    served.abort();
}
