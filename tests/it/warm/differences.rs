//! Cold against warm: what a script sees of its process, and how it ends. `hookrun test
//! --warm-differs` compares.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use hookrun::internals::scenario::warm::{DIFFERENCES, RARE, endings};
use serde_json::Value;

use super::{python, pythons, skip};
use crate::sandbox::Sandbox;

/// How an interpreter is started.
struct StartSetting {
    options: &'static str,
    variables: &'static str,
    /// More keys of the hook.
    keys: &'static str,
}

const fn setting(options: &'static str, variables: &'static str) -> StartSetting {
    StartSetting {
        options,
        variables,
        keys: "",
    }
}

/// With all of these the state is compared.
const SETTINGS: &[StartSetting] = &[
    setting("", ""),
    setting("-I", ""),
    setting("-u -OO", "PYTHONHASHSEED = '7'"),
    setting("-S -E", "LANG = 'C.UTF-8'"),
    setting("-B -s", "LC_ALL = 'POSIX', TZ = 'Asia/Tokyo'"),
    setting(
        "",
        "PYTHONIOENCODING = 'latin-1:replace', PYTHONUNBUFFERED = '1'",
    ),
    setting("", "PYTHONUTF8 = '0', PYTHONDONTWRITEBYTECODE = '1'"),
    StartSetting {
        keys: "limits = { files = 64 }",
        ..setting("", "")
    },
    #[cfg(target_os = "linux")]
    StartSetting {
        keys: "sandbox = { write = ['.'] }",
        ..setting("", "")
    },
];

/// A project with one hook and one case for each of these starts of these interpreters.
fn project(interpreters: &[String], settings: &[StartSetting]) -> Sandbox {
    let (mut hooks, mut cases) = (String::new(), String::new());
    for (place, python) in interpreters.iter().enumerate() {
        for (
            number,
            StartSetting {
                options,
                variables,
                keys,
            },
        ) in settings.iter().enumerate()
        {
            let name = format!("{place}-{number}");
            writeln!(hooks, "[[hook]]\nname = '{name}'\nevent = 'tool.pre'").unwrap();
            writeln!(hooks, "command = '{python} {options} ./hook.py'").unwrap();
            writeln!(hooks, "{keys}").unwrap();
            writeln!(cases, "[[case]]\nname = '{name}'\nevent = 'tool.pre'").unwrap();
            writeln!(cases, "hook = '{name}'\nenv = {{ {variables} }}").unwrap();
            writeln!(cases, "expect = {{ decision = 'allow' }}").unwrap();
        }
    }
    let sandbox = Sandbox::new().file("p/hook.py", "print('fine')\n");
    sandbox
        .file("p/hookrun.toml", &hooks)
        .file("p/tests/cases.toml", &cases)
}

fn differs(sandbox: &Sandbox) -> (i32, Value) {
    let ran = sandbox.hookrun(&["test", "--warm-differs", "p", "--format", "json"], b"");
    let report = serde_json::from_str(&ran.stdout);
    (
        ran.status,
        report.unwrap_or_else(|error| panic!("{error}: {ran:?}")),
    )
}

#[test]
fn a_script_sees_the_same_process_and_ends_in_the_same_way() {
    let found = pythons();
    let [first, .., last] = &found[..] else {
        return skip("there are not two versions of CPython 3.8 or later here");
    };
    let (status, report) = differs(&project(
        &[first, last].map(|file| file.display().to_string()),
        SETTINGS,
    ));
    let probes = report["probes"].as_array().unwrap();
    let mut seen = BTreeSet::new();
    for one in probes {
        assert_eq!(one["differences"], Value::Array(Vec::new()), "{one:#}");
        assert!(one["probes"].as_u64().unwrap() >= 100, "{one:#}");
        let known = one["known"].as_array().unwrap().iter();
        seen.extend(known.map(|name| name.as_str().unwrap().to_string()));
    }
    assert_eq!(
        (status, &report["ok"]),
        (0, &Value::Bool(true)),
        "{report:#}"
    );
    assert_eq!(probes.len(), 2 * SETTINGS.len());
    let endings = |one: &Value| one["endings"].as_u64().unwrap();
    assert_eq!(probes.iter().filter(|one| endings(one) > 150).count(), 2);
    let listed = DIFFERENCES.iter().flat_map(|known| known.probes);
    let never = listed.filter(|name| !seen.contains(**name) && !RARE.contains(name));
    let never: Vec<_> = never.collect();
    assert!(never.is_empty(), "listed, and do not differ: {never:?}");
}

#[test]
fn the_command_shows_both_values_of_what_differs_and_why_hooks_started_cold() {
    let Some(python) = python() else { return };
    let hook = format!(
        "#!{python}\nimport gc, json, sys, time\ncommand = json.load(sys.stdin)['toolInput']['command']\n\
         if command == 'gc': sys.exit(str(gc.get_freeze_count() > 0))\n\
         if command == 'time': print(time.time_ns())\n\
         if command == 'file': open('left', 'w').write(str(gc.get_freeze_count() > 0))\n"
    );
    let rows = ["ls", "gc", "time", "file"].map(|word| format!("{{ command = '{word}' }}"));
    let cases = format!(
        "[[case]]\nname = '{{command}}'\nevent = 'tool.pre'\nexpect = {{ decision = 'allow' }}\n\
         context = {{ toolName = 'bash', toolInput = {{ command = '{{command}}' }} }}\n\
         with = [{}]\n[[case]]\nname = 'skipped'\nevent = 'tool.pre'\nskip = 'why'\n\
         expect = {{ decision = 'allow' }}\n",
        rows.join(", ")
    );
    let sandbox = Sandbox::new()
        .script("p/hooks.d/tool.pre/10-python.py", &hook)
        .script("p/hooks.d/tool.pre/20-shell.sh", "#!/bin/sh\n")
        .file("p/hooks.d/tests/cases.toml", &cases);
    let (status, report) = differs(&sandbox);
    assert_eq!(
        (status, &report["ok"]),
        (1, &Value::Bool(false)),
        "{report:#}"
    );
    let case = |number: usize| &report["cases"][number];
    let results: Vec<&Value> = (0..5).map(|number| &case(number)["result"]).collect();
    assert_eq!(
        results,
        ["same", "differs", "same", "differs", "skipped"],
        "{report:#}"
    );
    let is_there = |number: usize, place: &str, cold: &str, warm: &str| {
        let found = case(number)["differences"].as_array().unwrap();
        found
            .iter()
            .any(|one| one["place"] == place && one["cold"] == cold && one["warm"] == warm)
    };
    assert!(is_there(1, "steps.0.reason", "False", "True"), "{report:#}");
    assert!(
        is_there(1, "steps.0.hooks.0.stderr.text", "False\n", "True\n"),
        "{report:#}"
    );
    assert!(
        is_there(3, "files work/left", "False", "True"),
        "{report:#}"
    );
    let varies = case(2)["varies"].as_array().unwrap();
    assert!(
        varies
            .iter()
            .any(|place| place == "steps.0.hooks.0.stdout.text"),
        "{report:#}"
    );
    let cold = report["cold"].as_array().unwrap();
    assert_eq!(
        (cold.len(), &cold[0]["hook"]),
        (1, &Value::from("20-shell.sh")),
        "{report:#}"
    );
    assert_eq!(cold[0]["reason"], "no-script");

    let arguments = [
        "test",
        "--warm-differs",
        "p",
        "--filter",
        "^ls$",
        "--format",
        "tap",
    ];
    let ran = sandbox.hookrun(&arguments, b"");
    assert!(ran.status == 0 && ran.stdout.contains("ok 1 - "), "{ran:?}");
}

#[test]
fn a_profile_shows_what_a_warm_start_saves() {
    let Some(python) = python() else { return };
    let case = "[[case]]\nname = 'one'\nevent = 'tool.pre'\nexpect = { decision = 'allow' }\n";
    let sandbox = Sandbox::new()
        .script(
            "hooks.d/tool.pre/10-python.py",
            &format!("#!{python}\nimport json\n"),
        )
        .script("hooks.d/tool.pre/20-own.py", &format!("#!{python} -v\n"))
        .script(
            "hooks.d/tool.pre/30-off.py",
            &format!("#!{python}\n# hookrun: warm=off\n"),
        )
        .file("hooks.d/tests/cases.toml", case);
    let ran = sandbox.hookrun(&["test", "--profile", "--format", "json"], b"");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let hooks = report["hooks"].as_array().unwrap();
    let hook = |name: &str| hooks.iter().find(|hook| hook["hook"] == name).unwrap();
    let saving = hook("10-python.py");
    assert!(saving["gainMs"].as_f64().unwrap() > 0.0, "{report:#}");
    assert!(
        saving["warmMs"].as_f64() < saving["coldMs"].as_f64(),
        "{report:#}"
    );
    assert_eq!(hook("20-own.py")["reason"], "options");
    assert!(hook("30-off.py")["warmMs"].is_null() && hook("30-off.py")["reason"].is_null());
    let ran = sandbox.hookrun(&["test", "--profile"], b"");
    assert!(ran.stdout.contains("with `warm = \"fork\"`"), "{ran:?}");
    // The bar of the slowest is as wide as a bar can be; nobody's p99 is below its median.
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let is_bar = |c: &char| matches!(c, '█' | '░');
    let widths = lines.iter().map(|line| line.chars().filter(is_bar).count());
    assert_eq!(widths.max(), Some(24), "{ran:?}");
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains(" % of its timeout"))
            .count(),
        3
    );
    for hook in hooks {
        assert!(
            hook["coldMs"].as_f64() <= hook["p99Ms"].as_f64(),
            "{report:#}"
        );
        assert_eq!(hook["timeoutMs"], 5000.0);
    }
    let said = sandbox.hookrun(&["doctor"], b"").stdout;
    let line = said
        .lines()
        .find(|line| line.starts_with("Hooks that could start warm"));
    assert!(
        line.is_some_and(|line| line.contains(": 10-python.py (")),
        "{said}"
    );
    assert!(
        !said.contains("20-own.py (") && !said.contains("30-off.py ("),
        "{said}"
    );
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
