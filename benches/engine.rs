//! What hookrun costs in process: `cargo bench --bench engine`.
//!
//! Compare rows of one run with each other, never times of two machines: `bare_spawn` is the
//! unit for everything that starts a program.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use hookrun::internals::answer;
use hookrun::internals::chain::Surroundings;
use hookrun::internals::event::catalog::Catalog;
use hookrun::internals::event::{Context, Event};
use hookrun::internals::hook::Permit;
use hookrun::internals::hook::{Handler, Hook, Matcher, Sandbox};
use hookrun::internals::outcome::{Decision, Settled};
use hookrun::internals::plan::Plan;
use hookrun::internals::registry::Registry;
use hookrun::internals::run::{CapturedStream, Exit};
use hookrun::internals::runner::Runner;
use hookrun::internals::shell;

const PROGRAM: &str = "/bin/true";

const EVENT: &str = r#"{"toolName":"Bash","toolInput":{"command":"cargo test --workspace"}}"#;

fn main() {
    divan::main();
}

fn hook(name: &str, matcher: Matcher, parallel: bool) -> Hook {
    let handler = Handler::File(PathBuf::from(PROGRAM));
    Hook {
        matcher,
        parallel: Some(parallel),
        ..Hook::new(name, "tool.pre", handler)
    }
}

fn hooks(count: usize, parallel: bool) -> Vec<Hook> {
    (0..count)
        .map(|number| hook(&number.to_string(), Matcher::default(), parallel))
        .collect()
}

fn surroundings() -> Surroundings {
    let cwd = env!("CARGO_MANIFEST_DIR");
    Surroundings {
        cwd: cwd.into(),
        project: cwd.into(),
        state: std::env::temp_dir().join("hookrun-bench-state"),
        run_id: "bench".to_string(),
        ..Surroundings::default()
    }
}

fn event(context: &str) -> Event {
    let spec = Catalog::default()
        .find("tool.pre")
        .expect("tool.pre is in the catalog");
    let context = Context::parse(context).expect("the contexts here are JSON objects");
    Event::new(spec, "native", context).expect("the contexts here fit tool.pre")
}

/// Measures the whole way from an event to its outcome.
fn handle(bencher: Bencher<'_, '_>, hooks: Vec<Hook>) {
    let runner = Runner::new(
        Registry::new(hooks).expect("canonical events"),
        surroundings(),
    );
    let event = event(EVENT);
    let settled = runner.handle(&event).outcome.settled;
    assert!(
        matches!(settled, Settled::Allowed),
        "a bench of failures measures nothing"
    );
    bencher.bench_local(|| runner.handle(&event));
}

/// The unit: std starts the program that the hooks are, with three pipes, and collects it.
#[divan::bench(min_time = Duration::from_secs(1))]
fn bare_spawn(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| Command::new(PROGRAM).output().expect("/bin/true starts"));
}

#[divan::bench(min_time = Duration::from_secs(1))]
fn one_hook(bencher: Bencher<'_, '_>) {
    handle(bencher, hooks(1, false));
}

/// Starting a program must not cost more in a large one: `fork` would copy its page tables.
#[divan::bench(min_time = Duration::from_secs(1))]
fn one_hook_in_a_program_of_1_gib(bencher: Bencher<'_, '_>) {
    let resident = vec![1_u8; 1 << 30];
    handle(bencher, hooks(1, false));
    divan::black_box_drop(resident);
}

/// The walls are raised once, by a thread that then starts the hook each time.
#[divan::bench(min_time = Duration::from_secs(1))]
fn one_hook_in_a_sandbox(bencher: Bencher<'_, '_>) {
    let mut hooks = hooks(1, false);
    hooks[0].sandbox = Some(Sandbox {
        read: Some(Vec::new()),
        ..Sandbox::default()
    });
    handle(bencher, hooks);
}

#[divan::bench(min_time = Duration::from_secs(1))]
fn ten_hooks_in_sequence(bencher: Bencher<'_, '_>) {
    handle(bencher.counter(ItemsCount::new(10_usize)), hooks(10, false));
}

#[divan::bench(min_time = Duration::from_secs(1))]
fn ten_hooks_in_parallel(bencher: Bencher<'_, '_>) {
    handle(bencher.counter(ItemsCount::new(10_usize)), hooks(10, true));
}

#[divan::bench]
fn no_hook_bound(bencher: Bencher<'_, '_>) {
    handle(bencher, Vec::new());
}

/// A closure that says nothing: what a thread, an answer and the merge cost.
#[divan::bench(min_time = Duration::from_secs(1))]
fn one_function(bencher: Bencher<'_, '_>) {
    handle(
        bencher,
        vec![Hook::function("function", "tool.pre", |_| ())],
    );
}

#[divan::bench(min_time = Duration::from_secs(1))]
fn ten_functions_in_sequence(bencher: Bencher<'_, '_>) {
    let hook = |number: usize| Hook::function(&number.to_string(), "tool.pre", |_| ());
    handle(
        bencher.counter(ItemsCount::new(10_usize)),
        (0..10).map(hook).collect(),
    );
}

/// From the bytes of a typical event to the decision of these many rules about commands.
#[divan::bench(args = [0, 20, 1000])]
fn rules(bencher: Bencher<'_, '_>, count: usize) {
    let rule = |number: usize| {
        let form = match number % 4 {
            0 => format!("git push --force-{number}|-f"),
            1 => format!("kubectl delete ** prod-{number}"),
            2 => format!("tool-{number} *"),
            _ => format!("rm -r /{number}|/srv/{number}/*"),
        };
        let matcher = Matcher::default()
            .runs(&form)
            .expect("these forms are valid");
        let handler = Handler::Rule(Decision::Block {
            reason: "no: {command}".to_string(),
        });
        Hook {
            matcher,
            ..Hook::new(&number.to_string(), "tool.pre", handler)
        }
    };
    let registry = Registry::new((0..count).map(rule)).expect("canonical events");
    let runner = Runner::new(registry, surroundings());
    let typical = r#"{"toolName":"Bash","toolInput":{"command":"cd build && git push origin HEAD 2>&1 | tail -5"}}"#;
    let settled = runner.handle(&event(typical)).outcome.settled;
    assert!(
        matches!(settled, Settled::Allowed),
        "a bench of blocks measures less"
    );
    bencher.bench_local(|| runner.handle(&event(typical)));
}

/// One in four hooks wants the event; the others are kept out by a tool, a path, a command or
/// a field.
#[divan::bench]
fn plan_of_1000_hooks_with_matchers(bencher: Bencher<'_, '_>) {
    let matcher = |number: usize| match number % 4 {
        0 => Matcher::default().tool("bash|write"),
        1 => Matcher::default()
            .tool("bash")
            .and_then(|tool| tool.path("src/**/*.rs")),
        2 => Matcher::default().command(&format!(r"\brm\s+-[rf]+\s+/{number}")),
        _ => Matcher::default().field("toolInput.command", &format!("^deploy-{number}$")),
    };
    let hooks = (0..1000).map(|number| {
        let matcher = matcher(number).expect("these patterns are valid");
        hook(&number.to_string(), matcher, false)
    });
    let registry = Registry::new(hooks).expect("canonical events");
    let event = event(EVENT);
    let place = surroundings().place(&event);
    bencher
        .counter(ItemsCount::new(1000_usize))
        .bench_local(|| Plan::build(&registry.bound("tool.pre"), &event, &place));
}

/// The context of a tool that writes a file of `bytes` bytes, with the escapes that source
/// code has.
fn large_context(bytes: usize) -> Vec<u8> {
    let mut content = String::with_capacity(bytes + 100);
    let mut number = 0;
    while content.len() < bytes {
        number += 1;
        write!(content, r#"    println!(\"line {number}\\n\");\n"#)
            .expect("writing to a String cannot fail");
    }
    format!(r#"{{"toolName":"Write","toolInput":{{"path":"a.rs","content":"{content}"}}}}"#).into()
}

#[divan::bench]
fn decode_10_mb(bencher: Bencher<'_, '_>) {
    let bytes = large_context(10_000_000);
    bencher
        .counter(BytesCount::new(bytes.len()))
        .with_inputs(|| bytes.clone())
        .bench_local_values(Context::from_bytes);
}

#[divan::bench]
fn encode_10_mb(bencher: Bencher<'_, '_>) {
    let bytes = large_context(10_000_000);
    let size = BytesCount::new(bytes.len());
    let context = Context::from_bytes(bytes).expect("the context is one JSON object");
    bencher.counter(size).bench_local(|| context.to_json());
}

/// What hooks print, and how they exit with it.
const ANSWERS: &[(&str, i32, &str)] = &[
    ("silence", 0, ""),
    ("text", 0, "12 files checked, nothing found\n"),
    (
        "context",
        0,
        r#"{"additionalContext":"the branch is behind main by 3 commits"}"#,
    ),
    (
        "update",
        0,
        r#"{"update":{"toolInput":{"command":"cargo test --workspace --locked"}}}"#,
    ),
    (
        "refusal",
        1,
        r#"{"continue":false,"reason":"no force push to main"}"#,
    ),
];

#[divan::bench(args = ANSWERS.iter().map(|(name, ..)| *name))]
fn judge_an_answer(bencher: Bencher<'_, '_>, name: &str) {
    let (_, status, stdout) = ANSWERS
        .iter()
        .find(|(known, ..)| *known == name)
        .expect("the names come from ANSWERS");
    let spec = Catalog::default()
        .find("tool.pre")
        .expect("tool.pre is in the catalog");
    let captured = CapturedStream {
        head: stdout.as_bytes().to_vec(),
        tail: Vec::new(),
        total_bytes: stdout.len() as u64,
    };
    let handler = Handler::File("guard".into());
    let hook = Hook {
        rewrite: true,
        ..Hook::new("guard", "tool.pre", handler)
    };
    let (nothing, permit) = (
        CapturedStream::default(),
        Permit {
            spec: &spec,
            hook: &hook,
            part: None,
            about: None,
        },
    );
    bencher.bench_local(|| answer::judge(Exit::Status(*status), &captured, &nothing, permit));
}

const LINES: &[(&str, &str)] = &[
    ("typical", "cd src && cargo test --workspace 2>&1 | tail -5"),
    (
        "wrapped",
        "sudo -n env A=1 timeout 5 bash -c 'rm -rf \"$dir\"; git push --force'",
    ),
];

/// What a command line runs, as it is found for each event of a shell tool.
#[divan::bench(args = ["typical", "wrapped", "1000 commands"])]
fn read_a_command_line(bencher: Bencher<'_, '_>, name: &str) {
    let known = LINES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, line)| line.to_string());
    let line = known.unwrap_or_else(|| "echo \"$(git status)\" > a.txt; ".repeat(1000));
    bencher.bench_local(|| shell::read(&line));
}
