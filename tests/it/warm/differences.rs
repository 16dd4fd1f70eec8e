//! Cold against warm: what a script sees of its process, and how it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::{Report, Warmer, pythons, skip};
use crate::nasty::running::NOT_HUNG;
use crate::sandbox::Sandbox;

/// A script that prints what it sees of its process: under `x-state`, the values of probes by their
/// names.
const STATE: &str = include_str!("state.py");

/// Scripts that end in many ways, each under a line with its name.
const ENDINGS: &str = include_str!("endings.txt");

/// A module beside them, `warm_neighbour`.
const NEIGHBOUR: &str = "VALUE = 3\ndef fails():\n    return undefined_name\n";

/// Something that differs between a cold and a warm start, as `docs/warm.md` says.
#[derive(Debug)]
struct KnownDifference {
    /// The probes and endings that show it.
    probes: &'static [&'static str],
    about: &'static str,
}

const fn known(probes: &'static [&'static str], about: &'static str) -> KnownDifference {
    KnownDifference { probes, about }
}

/// Those that only some versions show, or only some scripts: a package that is imported in a
/// function is in the cache of paths before that.
const RARE: &[&str] = &[
    "exit with a huge number",
    "exit with an object whose text fails",
    "finalizing",
    "path_cache",
];

const DIFFERENCES: &[KnownDifference] = &[
    known(
        &["command_line", "c_arguments"],
        "The system shows the warm interpreter's command line",
    ),
    known(
        &["environment_shown", "marks"],
        "`/proc/self/environ` shows the warm interpreter's variables",
    ),
    known(
        &[
            "stack_depth",
            "outermost_frame",
            "recursion that is not caught",
        ],
        "hookrun's frames are below the script's own",
    ),
    known(
        &["loaded_modules", "path_cache"],
        "`sys.modules` has more standard library modules at the start, and `sys.path_importer_cache` their folders",
    ),
    known(&["collector_frozen"], "`gc.get_freeze_count()` is not 0"),
    known(
        &[
            "destructor of what a module keeps",
            "destructor of what builtins keep",
            "destructor of what a class of a module keeps",
        ],
        "An object stored in a standard library module, or in a module of `warm_imports`, is not destroyed at exit",
    ),
    known(
        &["finalizing"],
        "`sys.is_finalizing()` is false while objects are destroyed at exit",
    ),
    known(
        &[
            "exit with a huge number",
            "exit with an object whose text fails",
        ],
        "CPython 3.12 and 3.13 print shorter errors for an exit status that is too large and for text that cannot be encoded",
    ),
];

/// The scripts that end in many ways: a name, and the text.
fn endings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let parts = ENDINGS
        .strip_prefix("#### ")
        .unwrap_or(ENDINGS)
        .split("\n#### ");
    parts.map(|part| part.split_once('\n').unwrap_or((part, "")))
}

/// Whether docs/warm.md says that this probe or ending differs.
fn is_known(name: &str) -> bool {
    DIFFERENCES.iter().any(|known| known.probes.contains(&name))
}

/// How an interpreter is started.
struct StartSetting {
    options: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

const fn setting(
    options: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
) -> StartSetting {
    StartSetting { options, variables }
}

/// With all of these the state is compared.
const SETTINGS: &[StartSetting] = &[
    setting(&[], &[]),
    setting(&["-I"], &[]),
    setting(&["-u", "-OO"], &[("PYTHONHASHSEED", "7")]),
    setting(&["-S", "-E"], &[("LANG", "C.UTF-8")]),
    setting(&["-B", "-s"], &[("LC_ALL", "POSIX"), ("TZ", "Asia/Tokyo")]),
    setting(
        &[],
        &[
            ("PYTHONIOENCODING", "latin-1:replace"),
            ("PYTHONUNBUFFERED", "1"),
        ],
    ),
    setting(
        &[],
        &[("PYTHONUTF8", "0"), ("PYTHONDONTWRITEBYTECODE", "1")],
    ),
];

/// What can be seen of a run, each value under its name.
type Seen = BTreeMap<String, String>;

/// One interpreter, started in one way.
struct Probing<'p> {
    sandbox: &'p Sandbox,
    warmer: Warmer,
    python: &'p str,
    setting: &'p StartSetting,
}

impl<'p> Probing<'p> {
    fn start(sandbox: &'p Sandbox, python: &'p str, setting: &'p StartSetting) -> Probing<'p> {
        Probing {
            sandbox,
            warmer: Warmer::start(sandbox, setting.variables),
            python,
            setting,
        }
    }

    fn spec(&self, script: &str) -> Value {
        let script = self.sandbox.at(script).display().to_string();
        let mut words = vec![self.python];
        words.extend(self.setting.options);
        words.push(&script);
        json!({ "words": words, "timeout_ms": 10_000 })
    }

    fn runs_cold(&mut self, script: &str) -> Seen {
        let mut spec = self.spec(script);
        spec["cold"] = true.into();
        let report = self.warmer.decides(&json!([spec])).remove(0);
        self.seen(&report)
    }

    #[track_caller]
    fn runs_warm(&mut self, script: &str) -> Seen {
        let spec = json!([self.spec(script)]);
        let until = Instant::now() + NOT_HUNG;
        loop {
            let report = self.warmer.decides(&spec).remove(0);
            let seen = self.seen(&report);
            if report.start == "warm" {
                return seen;
            }
            assert!(Instant::now() < until, "{script}: {report:?}");
        }
    }

    /// What can be seen of a run. Removes the files that it left.
    fn seen(&self, report: &Report) -> Seen {
        let mut seen = Seen::new();
        for (name, text) in [
            ("decision", &report.decision),
            ("reason", &report.reason),
            ("ending", &report.ending),
            ("exit", &report.exit),
            ("stderr", &report.stderr),
        ] {
            seen.insert(name.to_string(), without_numbers(text));
        }
        match serde_json::from_str::<Value>(&report.stdout) {
            Ok(printed) if printed["x-state"].is_object() => {
                seen.remove("ending");
                for (name, value) in printed["x-state"].as_object().unwrap() {
                    seen.insert(name.clone(), without_numbers(&value.to_string()));
                }
            }
            _ => {
                seen.insert("stdout".to_string(), without_numbers(&report.stdout));
            }
        }
        for entry in fs::read_dir(self.sandbox.at("home")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let text = fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&text);
                seen.insert(format!("file {}", path.display()), without_numbers(&text));
                fs::remove_file(path).unwrap();
            }
        }
        seen
    }

    /// The names of what differs between a cold and a warm start, and not between two cold ones.
    #[track_caller]
    fn differences(&mut self, script: &str) -> (Seen, Vec<String>) {
        let cold = self.runs_cold(script);
        let warm = self.runs_warm(script);
        if cold == warm {
            return (cold, Vec::new());
        }
        let again = self.runs_cold(script);
        let mut differing = Vec::new();
        for name in cold.keys().chain(warm.keys()).collect::<BTreeSet<_>>() {
            if cold.get(name) != warm.get(name) && cold.get(name) == again.get(name) {
                differing.push(format!(
                    "{name}: {:?}, warm {:?}",
                    cold.get(name),
                    warm.get(name)
                ));
            }
        }
        (cold, differing)
    }
}

/// A sandbox with the scripts of the probes.
fn with_scripts() -> Sandbox {
    let mut sandbox = Sandbox::new()
        .file("state.py", STATE)
        .file("warm_neighbour.py", NEIGHBOUR);
    for (number, (_, text)) in endings().enumerate() {
        sandbox = sandbox.file(&format!("e{number}.py"), &format!("{text}\n"));
    }
    sandbox
}

#[test]
fn a_script_sees_the_same_process_and_ends_in_the_same_way() {
    let found = pythons();
    let [first, .., last] = &found[..] else {
        return skip("there are not two versions of CPython 3.8 or later here");
    };
    let mut shown = BTreeSet::new();
    for python in [first, last] {
        for (number, setting) in SETTINGS.iter().enumerate() {
            let known = same_in_both(python, setting, number == 0);
            shown.extend(known);
        }
    }
    let listed = DIFFERENCES.iter().flat_map(|known| known.probes);
    let never: Vec<_> = listed
        .filter(|name| !shown.contains(**name) && !RARE.contains(name))
        .collect();
    assert!(never.is_empty(), "listed, and do not differ: {never:?}");
}

/// Compares the state, and with `has_endings` how scripts end. Returns the known differences.
#[track_caller]
fn same_in_both(python: &Path, setting: &StartSetting, has_endings: bool) -> BTreeSet<String> {
    let sandbox = with_scripts();
    let python = python.display().to_string();
    let mut probing = Probing::start(&sandbox, &python, setting);
    let mut shown = BTreeSet::new();
    let (seen, differing) = probing.differences("state.py");
    assert!(seen.len() >= 100, "{seen:#?}");
    for one in differing {
        let (name, _) = one.split_once(": ").unwrap();
        assert!(is_known(name), "{python} {:?}: {one}", setting.options);
        shown.insert(name.to_string());
    }
    if has_endings {
        assert!(endings().count() > 150);
        for (number, (name, _)) in endings().enumerate() {
            let (_, differing) = probing.differences(&format!("e{number}.py"));
            if differing.is_empty() {
                continue;
            }
            assert!(is_known(name), "{python}: {name}: {differing:#?}");
            shown.insert(name.to_string());
        }
    }
    probing.warmer.ends();
    shown
}

/// Without addresses and numbers that differ from start to start.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let marks = ["0x", "refcount : ", "Thread-", "pid="];
    while let Some((at, mark)) = marks
        .iter()
        .filter_map(|mark| Some((rest.find(mark)?, *mark)))
        .min()
    {
        let end = at + mark.len();
        out.push_str(&rest[..end]);
        rest = rest[end..].trim_start_matches(|letter: char| letter.is_ascii_hexdigit());
    }
    out + rest
}

#[test]
fn the_page_lists_what_differs_and_why_a_hook_starts_cold() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/warm.md")).unwrap();
    for known in DIFFERENCES {
        let text = known.about;
        assert!(
            page.contains(&format!("| {text}")),
            "docs/warm.md lacks: {text}"
        );
    }
    for (reason, name) in super::ColdReason::NAMES {
        let row = format!("| `{name}` | {} |", reason.about());
        assert!(page.contains(&row), "docs/warm.md lacks: {row}");
    }
    assert!(endings().all(|(name, text)| !name.is_empty() && !text.contains("####")));
}
