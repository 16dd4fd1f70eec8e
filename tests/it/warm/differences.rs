//! Cold against warm: what a script sees of its process, and how it ends.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value};

use super::{Report, Warmer, pythons, skip};
use crate::sandbox::Sandbox;

/// A script that prints what it sees, by the names of probes.
const STATE: &str = include_str!("state.py");

/// Scripts that end in many ways, each under its name.
const ENDINGS: &str = include_str!("endings.txt");

/// A module beside them.
const NEIGHBOUR: &str = "VALUE = 3\ndef fails():\n    return undefined_name\n";

/// Probes and endings that may differ, and what `docs/warm.md` says of them.
const DIFFERENCES: &[(&[&str], &str)] = &[
    (
        &["command_line", "c_arguments"],
        "The command line that the system shows is that of the kept interpreter",
    ),
    (
        &["environment_shown", "marks"],
        "`/proc/self/environ` shows the variables of the kept interpreter",
    ),
    (
        &["stack_depth", "outermost_frame", "recursion that nobody catches"],
        "Frames of hookrun are below the script's own",
    ),
    (
        &["loaded_modules", "path_cache"],
        "More modules of the standard library are in `sys.modules` at the start, and their folders in `sys.path_importer_cache`",
    ),
    (&["collector_frozen"], "`gc.get_freeze_count()` is not 0"),
    (
        &[
            "destructor of what a module keeps",
            "destructor of what builtins keep",
            "destructor of what a class of a module keeps",
        ],
        "An object that a script has put into a module of the standard library is not destroyed at the end",
    ),
    (&["finalizing"], "`sys.is_finalizing()` is false while the last objects are destroyed"),
    (
        OF_SOME_VERSIONS,
        "What CPython 3.12 and 3.13 say of an exit status that is too large, or of a text that cannot be made, is shorter",
    ),
];

/// Those that only some versions show.
const OF_SOME_VERSIONS: &[&str] =
    &["exit with a huge number", "exit with an object whose text fails", "finalizing"];

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
    setting(&[], &[("PYTHONIOENCODING", "latin-1:replace"), ("PYTHONUNBUFFERED", "1")]),
    setting(&[], &[("PYTHONUTF8", "0"), ("PYTHONDONTWRITEBYTECODE", "1")]),
];

fn may_differ(name: &str) -> bool {
    DIFFERENCES.iter().any(|(names, _)| names.contains(&name))
}

/// The oldest and the newest interpreter here.
fn two() -> Option<[String; 2]> {
    let found = pythons();
    match &found[..] {
        [first, .., last] => Some([first, last].map(|file| file.display().to_string())),
        _ => {
            skip("there are not two versions of CPython 3.8 or later here");
            None
        }
    }
}

fn state(report: &Report) -> Map<String, Value> {
    serde_json::from_str(&report.stdout).unwrap_or_else(|error| panic!("{error}: {report:?}"))
}

#[test]
fn a_script_sees_the_same_process() {
    let Some(both) = two() else { return };
    let sandbox = Sandbox::new().file("state.py", STATE).file("warm_neighbour.py", NEIGHBOUR);
    let mut seen = BTreeSet::new();
    for python in &both {
        for StartSetting { options, variables } in SETTINGS {
            let mut warmer = Warmer::start(&sandbox, variables);
            let mut words = vec![python.as_str()];
            words.extend(*options);
            words.push("state.py");
            let cold = state(&warmer.runs_cold(&words));
            let warm = state(&warmer.runs_warm(&words));
            assert!(cold.len() >= 100 && warm.len() == cold.len());
            for (name, value) in &cold {
                if *value != warm[name] {
                    assert!(may_differ(name), "{words:?} {name}:\n{value}\n{}", warm[name]);
                    seen.insert(name.clone());
                }
            }
            warmer.ends();
        }
    }
    check_table(&seen, |name| STATE.contains(&format!("def {name}():")));
}

/// What is listed of these names does differ.
fn check_table(seen: &BTreeSet<String>, is_one: impl Fn(&str) -> bool) {
    let listed = DIFFERENCES.iter().flat_map(|(names, _)| *names).filter(|name| is_one(name));
    let listed = listed.filter(|name| !OF_SOME_VERSIONS.contains(name));
    let never: Vec<_> = listed.filter(|name| !seen.contains(**name)).collect();
    assert!(never.is_empty(), "listed, and do not differ: {never:?}");
}

/// Without addresses and numbers that differ from start to start.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let marks = ["0x", "refcount : ", "Thread-", "pid="];
    while let Some((at, mark)) =
        marks.iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min()
    {
        let end = at + mark.len();
        out.push_str(&rest[..end]);
        rest = rest[end..].trim_start_matches(|letter: char| letter.is_ascii_hexdigit());
    }
    out + rest
}

/// What can be compared of a run, with the files that the script has left in its home.
fn comparable(sandbox: &Sandbox, report: &Report) -> Vec<String> {
    let mut all = vec![
        report.decision.clone(),
        report.exit.clone(),
        without_numbers(&report.ending),
        without_numbers(&report.reason),
        without_numbers(&report.stdout),
        without_numbers(&report.stderr),
    ];
    for name in ["left-open", "left-open-2"] {
        let file = sandbox.at("home").join(name);
        all.push(fs::read_to_string(&file).unwrap_or_default());
        let _ = fs::remove_file(file);
    }
    all
}

fn ends_alike(python: &str, seen: &mut BTreeSet<String>) {
    let sandbox = Sandbox::new().file("warm_neighbour.py", NEIGHBOUR);
    let mut warmer = Warmer::start(&sandbox, &[]);
    let mut count = 0;
    for program in format!("\n{ENDINGS}").split("\n#### ").skip(1) {
        count += 1;
        let (name, text) = program.split_once('\n').unwrap_or((program, ""));
        let file = sandbox.at(&format!("e{count}.py"));
        fs::write(&file, format!("{text}\n")).unwrap();
        let words = [python, file.to_str().unwrap()];
        let cold = comparable(&sandbox, &warmer.runs_cold(&words));
        let warm = comparable(&sandbox, &warmer.runs_warm(&words));
        if cold != warm {
            let differing = cold.iter().zip(&warm).filter(|(cold, warm)| cold != warm);
            let differing: Vec<_> = differing.collect();
            assert!(may_differ(name), "{python} {name}: {differing:#?}");
            seen.insert(name.to_string());
        }
    }
    assert!(count > 150, "{count}");
    warmer.ends();
}

#[test]
fn a_script_ends_in_the_same_way() {
    let Some(both) = two() else { return };
    let mut seen = BTreeSet::new();
    both.iter().for_each(|python| ends_alike(python, &mut seen));
    check_table(&seen, |name| ENDINGS.contains(&format!("#### {name}\n")));
}

#[test]
fn the_page_lists_what_differs_and_why_a_hook_starts_cold() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/warm.md")).unwrap();
    for (_, text) in DIFFERENCES {
        assert!(page.contains(&format!("| {text}")), "docs/warm.md lacks: {text}");
    }
    for (reason, name) in super::ColdReason::NAMES {
        let row = format!("| `{name}` | {} |", reason.about());
        assert!(page.contains(&row), "docs/warm.md lacks: {row}");
    }
}
