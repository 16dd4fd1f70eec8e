//! What whole runs of hookrun cost, as ratios: `cargo bench --bench whole [-- PAIRS]`.
//!
//! Two programs take turns, and each pair gives one ratio; the table shows the median of the
//! ratios with the half of them that lies around it. So whatever else the machine does falls on
//! both. Times are printed to make sense of the ratios; they differ between machines and hours.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The binary of the bench profile.
const HOOKRUN: &str = env!("CARGO_BIN_EXE_hookrun");

/// What every hook is.
const HOOK: &str = "/bin/true";

/// The event that every run decides.
const EVENT: &str = r#"{"toolName":"Bash","toolInput":{"command":"cargo test --workspace"}}"#;

/// What Claude Code sent before it ran a tool, and the same facts under our keys.
const CLAUDE_EVENT: &str = include_str!("../fixtures/payloads/claude/PreToolUse.json");
/// What Claude Code tells its hooks; without it another host asks in its words.
const CLAUDE_SESSION: (&str, &str) = (
    "CLAUDE_CODE_SESSION_ID",
    "00000000-0000-4000-8000-000000000001",
);
const SAME_EVENT: &str = r#"{"sessionId":"00000000-0000-4000-8000-000000000001","cwd":"/home/user/project","toolName":"Bash","toolInput":{"command":"echo hello","description":"say hello"},"toolUseId":"toolu_03"}"#;

const DEFAULT_PAIRS: usize = 100;

/// Until trusted files are a minute old, every run reads all of them.
const SETTLED: Duration = Duration::from_secs(65);

/// One comparison of the table.
struct Row {
    /// What is measured.
    what: &'static str,
    a: Side,
    /// What it is compared with.
    against: &'static str,
    b: Side,
    goals: Goals,
    /// One pair in so many of the others: rows with many processes take long.
    thinned: usize,
    /// Its files must be older than [`SETTLED`].
    is_settled: bool,
}

/// What the ratio is to be at most.
#[derive(Clone, Copy, Default)]
struct Goals {
    now: Option<f64>,
    later: Option<f64>,
}

/// A program with its arguments and the file that becomes its stdin.
#[derive(Clone)]
struct Side {
    words: Vec<String>,
    stdin: PathBuf,
}

/// What became of a row.
enum Measured {
    Ratios { pairs: Vec<Pair> },
    LeftOut { why: String },
}

/// One turn of each side.
struct Pair {
    a_micros: f64,
    b_micros: f64,
    /// Of A, where they can be told.
    memory: Option<MemoryUse>,
}

struct MemoryUse {
    peak_kib: f64,
    /// Page faults, with those of the hooks.
    faults: f64,
}

fn main() -> Result<()> {
    let mut out = io::stdout().lock();
    let folder = tempfile::tempdir()?;
    let stage = Stage::build(folder.path())?;
    let built = Instant::now();
    let pairs = pairs(std::env::args().skip(1));
    writeln!(out, "{}", machine(&stage, pairs))?;
    writeln!(
        out,
        "{:<27} {:<22} {:>7} {:>11}  {:>9} {:>9}  {:>8} {:>8} {:>6} {:>8}",
        "what",
        "against",
        "ratio",
        "quartiles",
        "goal",
        "later",
        "A µs",
        "B µs",
        "A MiB",
        "A faults"
    )?;
    for row in rows(&stage).into_iter().chain([trusted(&stage)]) {
        if row.is_settled && pairs > 1 {
            std::thread::sleep(SETTLED.saturating_sub(built.elapsed()));
        }
        let measured = stage.measure(&row, pairs);
        writeln!(out, "{}", line(&row, &measured))?;
        out.flush()?;
    }
    Ok(())
}

/// How many pairs: the number among the arguments; a single one where cargo does not bench.
fn pairs(arguments: impl Iterator<Item = String>) -> usize {
    let arguments: Vec<String> = arguments.collect();
    let given = arguments.iter().find_map(|word| word.parse::<usize>().ok());
    let is_bench = arguments.iter().any(|word| word == "--bench");
    given
        .unwrap_or(if is_bench { DEFAULT_PAIRS } else { 1 })
        .max(1)
}

/// What trust costs: the same project in a folder that `[trust] paths` lists is not checked.
fn trusted(stage: &Stage) -> Row {
    let run = |project: &str| Side {
        stdin: stage.root.join(format!("{project}.json")),
        ..stage.side(&[HOOKRUN, "run", "tool.pre"])
    };
    Row {
        what: "20 files, trusted",
        a: run("trusted"),
        against: "the same, unchecked",
        b: run("listed"),
        goals: Goals::default(),
        thinned: 1,
        is_settled: true,
    }
    .goals(1.1, 1.05)
}

#[expect(clippy::too_many_lines, reason = "a table, a row each")]
fn rows(stage: &Stage) -> Vec<Row> {
    let row = |what, a, against, b| Row {
        what,
        a,
        against,
        b,
        goals: Goals::default(),
        thinned: 1,
        is_settled: false,
    };
    let hookrun = |event: &str, hooks: &str| stage.hookrun(event, hooks, "event.json");
    let bare = || stage.side(&[HOOK]);
    let one = || hookrun("tool.pre", "one");
    let thousand = hookrun("tool.pre", "thousand");
    let run_parts = |hooks: &str| stage.side(&["run-parts", &stage.path(hooks)]);
    let git = stage.side(&[
        "git",
        "-C",
        &stage.path("repository"),
        "hook",
        "run",
        "pre-commit",
    ]);
    vec![
        row("one hook", one(), "/bin/true", bare()).goals(2.7, 2.4),
        row(
            "no hook bound",
            hookrun("tool.pre", "none"),
            "/bin/true",
            bare(),
        )
        .goals(1.3, 1.1),
        row(
            "no hook bound",
            hookrun("tool.pre", "none"),
            "C, nothing",
            stage.nothing(),
        )
        .later(1.5),
        row("one hook", one(), "C floor, 1 spawn", stage.floor(1)).later(1.3),
        row(
            "ten in sequence",
            hookrun("tool.pre", "ten"),
            "C floor, 10 spawns",
            stage.floor(10),
        )
        .goals(1.4, 1.08),
        row(
            "ten in parallel",
            hookrun("session.start", "ten"),
            "C floor, 10 spawns",
            stage.floor(10),
        )
        .later(0.75),
        row(
            "1,000 in sequence",
            thousand,
            "C floor, 1,000",
            stage.floor(1000),
        )
        .later(1.1)
        .thinned(20),
        row(
            "one hook in another cwd",
            stage.hookrun("tool.pre", "one", "elsewhere.json"),
            "one hook",
            one(),
        )
        .later(1.05),
        row(
            "one hook, --host claude",
            stage.of_host("claude", "one", "claude.json"),
            "the same, native",
            stage.hookrun("tool.pre", "one", "same.json"),
        )
        .later(1.1),
        row(
            "one hook",
            one(),
            "run-parts, one",
            run_parts("one/hooks.d/tool.pre"),
        )
        .later(1.0),
        row("one hook", one(), "git hook run, one", git).goals(1.0, 1.0),
        row(
            "ten in sequence",
            hookrun("tool.pre", "ten"),
            "run-parts, ten",
            run_parts("ten/hooks.d/tool.pre"),
        )
        .later(1.0),
        row(
            "suite of 100 cases of sh",
            stage.suite(),
            "C floor, their spawns",
            stage.spawns(100),
        )
        .goals(1.3, 1.15),
        row(
            "one hook of sh",
            hookrun("tool.pre", "shell"),
            "sh hook alone",
            stage.side(&[&stage.path("shell/hooks.d/tool.pre/01")]),
        ),
    ]
}

impl Row {
    fn goals(self, now: f64, later: f64) -> Row {
        Row {
            goals: Goals {
                now: Some(now),
                later: Some(later),
            },
            ..self
        }
    }

    fn later(self, later: f64) -> Row {
        Row {
            goals: Goals {
                now: None,
                later: Some(later),
            },
            ..self
        }
    }

    fn thinned(self, thinned: usize) -> Row {
        Row { thinned, ..self }
    }
}

/// Two projects of a hook of sh and 19 files of code beside it: one is trusted by its digest, the
/// user's settings list the other.
fn trusted_projects(root: &Path) -> Result<()> {
    for project in ["trusted", "listed"] {
        let folder = root.join(project);
        fs::create_dir_all(folder.join("hooks.d/tool.pre"))?;
        script(&folder.join("hooks.d/tool.pre/01"))?;
        fs::create_dir(folder.join("hooks.d/lib"))?;
        for number in 1..20 {
            let file = folder.join(format!("hooks.d/lib/{number}.py"));
            fs::write(file, format!("# {number}\n"))?;
        }
        fs::write(root.join(format!("{project}.json")), in_folder(&folder))?;
    }
    let settings = root.join("home/hookrun");
    fs::create_dir_all(&settings)?;
    let listed = format!("[trust]\npaths = ['{}']\n", root.join("listed").display());
    fs::write(settings.join("hookrun.toml"), listed)?;
    let trust = |arguments: &[&str]| {
        let mut command = Command::new(HOOKRUN);
        command.arg("trust").args(arguments);
        command.current_dir(root.join("trusted"));
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env(name, root.join("home"));
        }
        command.output()
    };
    let shown = String::from_utf8(trust(&["--show"])?.stdout)?;
    let digest = shown
        .split_whitespace()
        .find(|word| word.starts_with("sha256:"));
    let status = trust(&["--digest", digest.ok_or("no digest")?])?.status;
    if status.success() {
        Ok(())
    } else {
        Err("the project cannot be trusted".into())
    }
}

/// The temporary folder with hooks, events and the programs to compare with.
struct Stage {
    root: PathBuf,
    /// Why there is no C floor and no C timer, if there is none.
    no_c: Option<String>,
}

impl Stage {
    fn build(root: &Path) -> Result<Stage> {
        for (hooks, count) in [("none", 0), ("one", 1), ("ten", 10), ("thousand", 1000)] {
            for event in ["tool.pre", "session.start"] {
                let folder = root.join(hooks).join("hooks.d").join(event);
                fs::create_dir_all(&folder)?;
                for number in 1..=count {
                    symlink(HOOK, folder.join(format!("{number:04}")))?;
                }
            }
        }
        let shell = root.join("shell/hooks.d/tool.pre");
        fs::create_dir_all(&shell)?;
        script(&shell.join("01"))?;
        let cases = root.join("shell/hooks.d/tests");
        fs::create_dir_all(&cases)?;
        fs::write(cases.join("cases.toml"), suite())?;
        fs::create_dir(root.join("elsewhere"))?;
        fs::write(root.join("event.json"), EVENT)?;
        fs::write(root.join("claude.json"), CLAUDE_EVENT)?;
        fs::write(root.join("same.json"), SAME_EVENT)?;
        let elsewhere = in_folder(&root.join("elsewhere"));
        fs::write(root.join("elsewhere.json"), elsewhere)?;
        repository(root)?;
        trusted_projects(root)?;
        // hookrun is static, so what it is compared with must not pay for a dynamic loader.
        let programs = [
            ("timer", None),
            ("nothing", Some("-static")),
            ("floor", Some("-static")),
        ];
        let no_c = programs
            .iter()
            .find_map(|(program, how)| compile(root, program, *how).err());
        Ok(Stage {
            root: root.to_path_buf(),
            no_c: no_c.map(|error| error.to_string()),
        })
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).to_string_lossy().into_owned()
    }

    /// A program that gets the event on stdin. A bare name is looked up in PATH now, so that
    /// the search is not measured; where it is not there, the row will be left out.
    fn side(&self, words: &[&str]) -> Side {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_string()).collect();
        if let Some(found) = find(&words[0]) {
            words[0] = found;
        }
        Side {
            words,
            stdin: self.root.join("event.json"),
        }
    }

    fn hookrun(&self, event: &str, hooks: &str, stdin: &str) -> Side {
        let side = self.side(&[HOOKRUN, "run", event, "--hooks", &self.path(hooks)]);
        Side {
            stdin: self.root.join(stdin),
            ..side
        }
    }

    fn of_host(&self, host: &str, hooks: &str, stdin: &str) -> Side {
        let side = self.side(&[HOOKRUN, "run", "--host", host, "--hooks", &self.path(hooks)]);
        Side {
            stdin: self.root.join(stdin),
            ..side
        }
    }

    /// A program that does nothing.
    fn nothing(&self) -> Side {
        self.side(&[&self.path("nothing")])
    }

    /// The floor starts as many programs, and feeds each what hookrun feeds a hook.
    fn floor(&self, times: usize) -> Side {
        self.side(&[&self.path("floor"), &times.to_string(), "200", HOOK])
    }

    /// `hookrun test --suite` with a hundred cases of a hook that is a shell script.
    fn suite(&self) -> Side {
        self.side(&[HOOKRUN, "test", "--suite", &self.path("shell/hooks.d")])
    }

    /// The floor of so many starts of that hook, dealt out to the processors.
    fn spawns(&self, times: usize) -> Side {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (floor, hook) = (self.path("floor"), self.path("shell/hooks.d/tool.pre/01"));
        let line = (0..cores).map(|core| {
            let own = times / cores + usize::from(core < times % cores);
            format!("{floor} {own} 200 {hook} &")
        });
        let line = line.collect::<Vec<_>>().join(" ") + " wait";
        let mut side = self.side(&["/bin/sh", "-c", &line]);
        if self.no_c.is_some() {
            side.words[0] = floor;
        }
        side
    }

    fn measure(&self, row: &Row, pairs: usize) -> Measured {
        let missing = [&row.a, &row.b]
            .into_iter()
            .find(|side| !Path::new(&side.words[0]).exists());
        if let Some(side) = missing {
            let name = Path::new(&side.words[0])
                .file_name()
                .unwrap_or_default()
                .display();
            return Measured::LeftOut {
                why: format!("no `{name}` here"),
            };
        }
        let pairs = (pairs / row.thinned).max(1);
        let measured = match &self.no_c {
            None => self.time_in_c(row, pairs),
            Some(_) => self.time_here(row, pairs),
        };
        match measured {
            Ok(pairs) => Measured::Ratios { pairs },
            Err(error) => Measured::LeftOut {
                why: error.to_string(),
            },
        }
    }

    fn time_in_c(&self, row: &Row, pairs: usize) -> Result<Vec<Pair>> {
        let mut timer = Command::new(self.root.join("timer"));
        timer.env(CLAUDE_SESSION.0, CLAUDE_SESSION.1);
        timer
            .arg(pairs.to_string())
            .arg(&row.a.stdin)
            .args(&row.a.words);
        timer.arg("--").arg(&row.b.stdin).args(&row.b.words);
        self.quiet(&mut timer);
        let output = timer.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().into());
        }
        let text = String::from_utf8(output.stdout)?;
        text.lines().map(read_pair).collect()
    }

    /// Without a C compiler: the same in this process, which cannot tell the memory of a child.
    fn time_here(&self, row: &Row, pairs: usize) -> Result<Vec<Pair>> {
        let turn = || -> Result<Pair> {
            let (a_micros, b_micros) = (self.time(&row.a)?, self.time(&row.b)?);
            Ok(Pair {
                a_micros,
                b_micros,
                memory: None,
            })
        };
        turn()?;
        (0..pairs).map(|_| turn()).collect()
    }

    fn time(&self, side: &Side) -> Result<f64> {
        let mut command = Command::new(&side.words[0]);
        command.env(CLAUDE_SESSION.0, CLAUDE_SESSION.1);
        command
            .args(&side.words[1..])
            .stdin(File::open(&side.stdin)?);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.quiet(&mut command);
        let started = Instant::now();
        let status = command.status()?;
        let micros = started.elapsed().as_secs_f64() * 1e6;
        if status.success() {
            return Ok(micros);
        }
        Err(format!("`{}`: {status}", side.words[0]).into())
    }

    /// Nothing of the person who benches is used or written to.
    fn quiet(&self, command: &mut Command) {
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env(name, self.root.join("home"));
        }
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(&self.root);
    }
}

/// A line of `timer.c`.
fn read_pair(line: &str) -> Result<Pair> {
    let numbers: Vec<f64> = line
        .split(' ')
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    let [a, b, peak_kib, _, faults] = numbers[..] else {
        return Err(format!("the timer printed `{line}`").into());
    };
    let memory = Some(MemoryUse { peak_kib, faults });
    Ok(Pair {
        a_micros: a / 1e3,
        b_micros: b / 1e3,
        memory,
    })
}

/// The event in another working directory, whose project decides it.
fn in_folder(cwd: &Path) -> String {
    EVENT.replacen('{', &format!("{{\"cwd\":\"{}\",", cwd.display()), 1)
}

/// A hook that is a shell script, as most are.
fn script(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(file, "#!/bin/sh\nexit 0\n")?;
    Ok(fs::set_permissions(
        file,
        fs::Permissions::from_mode(0o755),
    )?)
}

/// A hundred cases of that hook.
fn suite() -> String {
    let case = |number: usize| {
        format!(
            "[[case]]\nname = \"case {number}\"\nevent = \"tool.pre\"\ncontext = '{EVENT}'\nexpect = {{ decision = \"allow\" }}\n"
        )
    };
    (1..=100).map(case).collect()
}

/// A git repository whose pre-commit hook is the hook. What git needs to take a folder for one
/// is written by hand, so that git itself may be missing.
fn repository(root: &Path) -> Result<()> {
    let git = root.join("repository/.git");
    for folder in ["objects", "refs", "hooks"] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    Ok(symlink(HOOK, git.join("hooks/pre-commit"))?)
}

/// Compiles `benches/<program>.c` into `root`.
fn compile(root: &Path, program: &str, how: Option<&str>) -> Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/{program}.c"));
    let mut compiler = Command::new("cc");
    compiler
        .arg("-O2")
        .args(how)
        .arg("-o")
        .arg(root.join(program))
        .arg(source);
    let output = compiler
        .output()
        .map_err(|error| format!("no C compiler `cc`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`cc {}` fails: {}",
        how.unwrap_or_default(),
        said.lines().next().unwrap_or("failed")
    )
    .into())
}

/// The absolute path of a program.
fn find(program: &str) -> Option<String> {
    if program.contains('/') {
        return Some(program.to_string());
    }
    let folders = ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"].iter();
    folders
        .map(|folder| format!("{folder}/{program}"))
        .find(|file| Path::new(file).exists())
}

/// What was measured, and on what.
fn machine(stage: &Stage, pairs: usize) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let said = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output().ok();
        output.map_or_else(String::new, |output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.lines().next().unwrap_or_default().to_string()
        })
    };
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor
        .lines()
        .find_map(|line| line.strip_prefix("model name\t: "));
    let mut text = format!(
        "{} for {} · {cores} cores of {} · {} {} · {pairs} pairs a row, in turn\n",
        said(HOOKRUN, "--version"),
        if cfg!(target_env = "musl") {
            "musl"
        } else {
            "glibc"
        },
        processor.unwrap_or(std::env::consts::ARCH),
        said("uname", "-s"),
        said("uname", "-r"),
    );
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load
        .split(' ')
        .next()
        .and_then(|load| load.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| *load > 0.5) {
        let _ = writeln!(
            text,
            "other work is going on (load {load:.1}): trust wide rows less"
        );
    }
    match &stage.no_c {
        None => text.push_str(
            "C floor, and nothing: `cc -O2 -static` of benches/floor.c and benches/nothing.c\n",
        ),
        Some(why) => {
            let _ = writeln!(
                text,
                "rows with C, peak memory and page faults are left out: {why}"
            );
        }
    }
    text
}

/// A row as it is printed.
fn line(row: &Row, measured: &Measured) -> String {
    let pairs = match measured {
        Measured::Ratios { pairs } => pairs,
        Measured::LeftOut { why } => {
            return format!("{:<27} {:<22} left out: {why}", row.what, row.against);
        }
    };
    let of = |value: &dyn Fn(&Pair) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let ratios = of(&|pair| pair.a_micros / pair.b_micros);
    let ratio = quantile(&ratios, 0.5);
    let goal = |goal: Option<f64>| match goal {
        Some(goal) if ratio <= goal => format!("{goal:.2} ok"),
        Some(goal) => format!("{goal:.2} over"),
        None => String::new(),
    };
    let memory = |of: &dyn Fn(&MemoryUse) -> f64| {
        let mut values: Vec<f64> = pairs
            .iter()
            .filter_map(|pair| Some(of(pair.memory.as_ref()?)))
            .collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (peaks, faults) = (
        memory(&|memory| memory.peak_kib),
        memory(&|memory| memory.faults),
    );
    format!(
        "{:<27} {:<22} {ratio:>7.2} {:>11}  {:>9} {:>9}  {:>8.0} {:>8.0} {:>6} {:>8}",
        row.what,
        row.against,
        format!(
            "{:.2}–{:.2}",
            quantile(&ratios, 0.25),
            quantile(&ratios, 0.75)
        ),
        goal(row.goals.now),
        goal(row.goals.later),
        quantile(&of(&|pair| pair.a_micros), 0.5),
        quantile(&of(&|pair| pair.b_micros), 0.5),
        peaks
            .last()
            .map_or_else(String::new, |kib| format!("{:.1}", kib / 1024.0)),
        faults
            .get(faults.len() / 2)
            .map_or_else(String::new, f64::to_string),
    )
}

/// The value below which `part` of the sorted values lie, between two neighbours if need be.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * part;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}
