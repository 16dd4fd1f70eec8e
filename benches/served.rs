//! Programs that stay up, which a runner in this process asks: `cargo bench --bench served`.
//!
//! One is this bench itself, which answers at once, and the other the example of `docs/warm.md` in
//! Python.

#![expect(clippy::print_stdout, reason = "numbers for a person")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::io::{BufRead, Write};
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use hookrun::internals::exec::Subreaper;
use hookrun::{Environment, Event, Runner};
use serde_json::json;

const EVENTS: usize = 20_000;

/// Events that nobody counts: the first of them start the programs.
const BEFORE: usize = 20;

/// With this word the bench is a program that stays up.
const WORKER: &str = "answers-lines";

/// Answers each line at once, without an objection.
fn answer_lines() {
    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let id = line.split('"').nth(3).unwrap();
        writeln!(stdout, r#"{{"id":"{id}"}}"#).unwrap();
        stdout.flush().unwrap();
    }
}

/// Prints how long events take with one program that stays up, which this script is or starts.
fn serve(what: &str, goal: &str, events: usize, script: &str) {
    let folder = tempfile::tempdir().unwrap();
    let hooks = folder.path().join("hooks.d/tool.pre");
    fs::create_dir_all(&hooks).unwrap();
    let file = hooks.join("gate");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let env = Environment::capture().moved_to(folder.path().to_path_buf());
    let runner = Runner::builder()
        .hooks_dir(folder.path().join("hooks.d"))
        .environment(env);
    let runner = runner.build().unwrap().subreaper(Subreaper::take());
    let event = Event::tool_pre("bash", json!({ "command": "x".repeat(2048) })).unwrap();
    let decide = |_| {
        let started = Instant::now();
        assert!(runner.handle(&event).outcome.is_allowed());
        started.elapsed().as_secs_f64() * 1_000_000.0
    };
    let before: f64 = (0..BEFORE).map(decide).sum();
    assert!(before > 0.0);
    let mut times: Vec<f64> = (0..events).map(decide).collect();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[(times.len() * part / 1000).min(times.len() - 1)];
    println!(
        "{what:<36} {:>8.1} {:>8.1} {:>8.1}  {goal}",
        at(500),
        at(900),
        at(990)
    );
}

fn main() {
    if std::env::args().any(|word| word == WORKER) {
        return answer_lines();
    }
    println!(
        "{:<36} {:>8} {:>8} {:>8}  goal",
        "in process", "p50, us", "p90", "p99"
    );
    let own = std::env::current_exe().unwrap();
    let own = format!(
        "#!/bin/sh\n# hookrun: warm=serve\nexec '{}' {WORKER}\n",
        own.display()
    );
    serve("a program that answers at once", "40", EVENTS, &own);
    let guard = include_str!("../examples/served/guard.py");
    serve("the example in Python", "", EVENTS, guard);
}
