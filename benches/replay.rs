//! What `hookrun replay` costs: `cargo bench --bench replay [-- EVENTS]`.
//!
//! A million events that no hook wants, by the clock and by peak memory; and events with one hook
//! of sh, as a ratio to the bare starts of that hook (benches/floor.c), as many at once as there
//! are processors, in turn. Times differ between machines and hours, ratios hardly.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The binary of the bench profile.
const HOOKRUN: &str = env!("CARGO_BIN_EXE_hookrun");

const HOOK: &str = "#!/bin/sh\nexit 0\n";

/// How many events there are without a hook, and how many with one in each turn.
const IDLE_EVENTS: usize = 1_000_000;
const HOOK_EVENTS: usize = 2_000;

/// How many turns the ratio is the median of; together 10,000 events.
const TURNS: usize = 5;

/// The goals.
const IDLE_SECONDS: f64 = 20.0;
const IDLE_MIB: f64 = 64.0;
const HOOK_RATIO: f64 = 1.15;

fn main() -> Result<()> {
    let mut out = io::stdout().lock();
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    let is_bench = std::env::args().any(|word| word == "--bench");
    let given = std::env::args().find_map(|word| word.parse::<usize>().ok());
    let idle_events = given.unwrap_or(if is_bench { IDLE_EVENTS } else { 1000 });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    writeln!(out, "{cores} processors, {}", load())?;

    fs::create_dir_all(root.join("none/hooks.d"))?;
    let recording = root.join("idle.jsonl");
    let bytes = record(&recording, idle_events, "")?;
    let (seconds, peak_mib) = measure(replay(root, "none", &recording).spawn()?)?;
    let rate = idle_events as f64 / seconds;
    writeln!(
        out,
        "no hook bound     {idle_events:>9} events of {} bytes: {seconds:.2} s ({rate:.0} a second), {peak_mib:.1} MiB   goal {IDLE_SECONDS} s, {IDLE_MIB} MiB",
        bytes / idle_events.max(1),
    )?;

    let events = if is_bench { HOOK_EVENTS } else { 20 };
    let turns = if is_bench { TURNS } else { 1 };
    let hook = root.join("one/hooks.d/tool.pre/10-guard.sh");
    fs::create_dir_all(hook.parent().unwrap_or(root))?;
    fs::write(&hook, HOOK)?;
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755))?;
    let recording = root.join("hooks.jsonl");
    record(&recording, events, "10-guard.sh")?;
    let floor = match compile(root) {
        Ok(floor) => floor,
        Err(error) => {
            writeln!(
                out,
                "one hook of sh    left out: no bare starts to compare with: {error}"
            )?;
            return Ok(());
        }
    };
    let mut ratios = Vec::new();
    let mut line = String::new();
    for _ in 0..turns {
        let (replayed, _) = measure(replay(root, "one", &recording).spawn()?)?;
        let bare = bare(&floor, &hook, events, cores)?;
        ratios.push(replayed / bare);
        write!(line, " {replayed:.2}/{bare:.2}")?;
    }
    ratios.sort_by(f64::total_cmp);
    writeln!(
        out,
        "one hook of sh    {:>9} events: {:.2} times the bare starts, middle of {:.2} to {:.2}   goal {HOOK_RATIO}\n  seconds, replay/bare:{line}",
        events * turns,
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1],
    )?;
    Ok(())
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load {}", text.split(' ').next().unwrap_or("unknown"))
}

/// Writes so many lines as `run --record` does, of a shell command each; the size of the file.
fn record(file: &Path, events: usize, hook: &str) -> Result<usize> {
    let mut out = BufWriter::new(File::create(file)?);
    let mut bytes = 0;
    for number in 0..events {
        let line = line(number, hook);
        bytes += line.len();
        out.write_all(line.as_bytes())?;
    }
    out.flush()?;
    Ok(bytes)
}

fn line(number: usize, hook: &str) -> String {
    let session = number / 500;
    let command = format!("cargo test --workspace -- case_{number}");
    let hooks = if hook.is_empty() {
        String::new()
    } else {
        format!(
            r#"{{"name":"{hook}","file":"/p/hooks.d/tool.pre/{hook}","layer":"project","wants":"everything","onFailure":"block","fate":"ran","ending":"answered","status":0,"tookMs":1.2,"stdout":{{"text":"","bytes":0}},"stderr":{{"text":"","bytes":0}},"verdict":{{"decision":"allow","rule":"silence"}},"containment":"sweep","notes":[]}}"#
        )
    };
    format!(
        r#"{{"hookrun":1,"time":"2026-01-31T09:30:00.123Z","event":"tool.pre","host":"native","session":"session-{session}","cwd":"/home/user/project","context":{{"event":"tool.pre","sessionId":"session-{session}","turnIndex":{number},"cwd":"/","toolName":"bash","toolInput":{{"command":"{command}","description":"run the tests of the workspace"}},"toolUseId":"use-{number}","action":{{"kind":"shell","command":"{command}","paths":[]}}}},"run":{{"version":1,"event":"tool.pre","host":"native","decision":"allow","rewrites":[],"notices":[],"reminders":[],"hooks":[{hooks}],"reply":{{"stdout":"","stderr":"","status":0}},"tookMs":1.5}}}}
"#
    )
}

fn replay(root: &Path, hooks: &str, recording: &Path) -> Command {
    let mut command = Command::new(HOOKRUN);
    command
        .arg("replay")
        .arg(recording)
        .arg("--hooks")
        .arg(root.join(hooks));
    // No file of the user is read or written.
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        command.env(name, root.join("home"));
    }
    command.env("TMPDIR", root).current_dir(root);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit());
    command
}

/// Seconds, and peak memory in MiB if the system reports it.
fn measure(mut child: Child) -> Result<(f64, f64)> {
    let started = Instant::now();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak_kib = 0.0_f64;
    loop {
        if let Ok(text) = fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
            peak_kib = peak_kib.max(kib.unwrap_or(0.0));
        }
        if let Some(status) = child.try_wait()? {
            let seconds = started.elapsed().as_secs_f64();
            if status.success() {
                return Ok((seconds, peak_kib / 1024.0));
            }
            return Err(format!("hookrun replay: {status}").into());
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Seconds for so many starts of the hook, as many at once as there are processors.
fn bare(floor: &Path, hook: &Path, times: usize, at_once: usize) -> Result<f64> {
    let started = Instant::now();
    let mut children = Vec::new();
    for number in 0..at_once {
        let own = times / at_once + usize::from(number < times % at_once);
        let mut command = Command::new(floor);
        children.push(command.arg(own.to_string()).arg("400").arg(hook).spawn()?);
    }
    for mut child in children {
        if !child.wait()?.success() {
            return Err("the floor failed".into());
        }
    }
    Ok(started.elapsed().as_secs_f64())
}

fn compile(root: &Path) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/floor.c");
    let program = root.join("floor");
    let output = Command::new("cc")
        .arg("-O2")
        .arg("-o")
        .arg(&program)
        .arg(source)
        .output()?;
    if output.status.success() {
        return Ok(program);
    }
    Err(String::from_utf8_lossy(&output.stderr)
        .lines()
        .next()
        .unwrap_or("cc failed")
        .into())
}
