//! `warm_imports`: modules of other packages that an interpreter imports in advance.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{Report, Warmer, python, skip};
use crate::nasty::running::wait_until;
use crate::sandbox::{Sandbox, USER_FILE};

/// A module that knows the process which imported it.
const SLOW: &str = "import os\nPROCESS = os.getpid()\n";

/// Prints `early` if the module was imported before the process of the script was forked.
const ASKS: &str = "import os, slow
print('early' if slow.PROCESS != os.getpid() else 'late')
";

/// A virtual environment in a sandbox, with modules of its own.
struct Packages {
    sandbox: Sandbox,
    python: String,
    folder: String,
}

impl Packages {
    /// Returns none if the interpreter makes no virtual environments.
    fn new(modules: &[(&str, &str)]) -> Option<Packages> {
        let python = python()?;
        let sandbox = Sandbox::new();
        let mut made = Command::new(python);
        made.args(["-m", "venv", "--without-pip"])
            .arg(sandbox.at("venv"));
        if !made.status().is_ok_and(|status| status.success()) {
            skip("this interpreter makes no virtual environments");
            return None;
        }
        let python = sandbox.at("venv/bin/python3").display().to_string();
        let asks = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
        let printed = Command::new(&python).args(["-c", asks]).output().unwrap();
        let folder = String::from_utf8(printed.stdout)
            .unwrap()
            .trim()
            .to_string();
        let packages = Packages {
            sandbox,
            python,
            folder,
        };
        for (name, text) in modules {
            packages.write(name, text);
        }
        Some(packages)
    }

    fn write(&self, module: &str, text: &str) {
        fs::write(format!("{}/{module}.py", self.folder), text).unwrap();
    }

    fn hook(&self, script: &str, imports: &[&str]) -> Value {
        fs::write(self.sandbox.at("hook.py"), script).unwrap();
        json!([{ "words": [self.python, "hook.py"], "imports": imports }])
    }

    /// Runs a script warm that may have these modules.
    fn runs_warm(&self, warmer: &mut Warmer, script: &str, imports: &[&str]) -> Report {
        warmer.starts_warm(&self.hook(script, imports), |_| ())
    }
}

#[test]
fn only_modules_that_the_user_names_are_imported_in_advance() {
    let Some(packages) = Packages::new(&[("slow", SLOW)]) else {
        return;
    };
    let mut warmer = Warmer::start(&packages.sandbox, &[]);
    for (imports, when) in [(&["slow"][..], "early\n"), (&[], "late\n")] {
        let report = packages.runs_warm(&mut warmer, ASKS, imports);
        assert_eq!([report.stdout.as_str(), &report.note], [when, ""]);
    }
    warmer.ends();
}

/// A package such as pydantic imports most of itself when a part is used.
#[test]
fn the_parts_that_a_script_imports_are_imported_in_advance_too() {
    let modules = [
        ("slow", SLOW),
        (
            "lazy",
            "def __getattr__(name):\n    import slow\n    return getattr(slow, name)\n",
        ),
    ];
    let Some(packages) = Packages::new(&modules) else {
        return;
    };
    let mut warmer = Warmer::start(&packages.sandbox, &[]);
    let script = "import os\nfrom lazy import PROCESS\nprint(PROCESS != os.getpid())\n";
    let early = packages.runs_warm(&mut warmer, script, &["lazy"]);
    assert_eq!(early.stdout, "True\n");
    warmer.ends();
}

#[test]
fn a_module_that_cannot_be_imported_in_advance_is_left_to_the_script() {
    let modules = [
        ("slow", SLOW),
        ("fails", "raise ImportError('no library')"),
        ("leaves", "import sys\nsys.exit(3)"),
        ("prints", "print('hello')"),
        (
            "warns",
            "import warnings\nwarnings.warn('old', stacklevel=2)",
        ),
        (
            "threads",
            "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
        ),
        ("crashes", "import os\nos.kill(os.getpid(), 11)"),
    ];
    let Some(packages) = Packages::new(&modules) else {
        return;
    };
    let cases = [
        ("fails", "ImportError: no library"),
        ("leaves", "SystemExit: 3"),
        ("prints", "it prints `hello`"),
        ("warns", "UserWarning: old"),
        ("threads", "it starts threads"),
        ("crashes", "it ends its process"),
        ("absent", "ModuleNotFoundError: No module named 'absent'"),
    ];
    for (name, problem) in cases {
        let mut warmer = Warmer::start(&packages.sandbox, &[]);
        let report = packages.runs_warm(&mut warmer, ASKS, &[name, "slow"]);
        assert_eq!(report.stdout, "early\n", "{name}");
        let begins = format!("warm start: `{name}` was not imported in advance: ");
        assert!(report.note.starts_with(&begins), "{report:?}");
        assert!(report.note.contains(problem), "{report:?}");
        // What the module does is what the script sees.
        let script = format!("import {name}\n");
        let hook = packages.hook(&script, &[name, "slow"]);
        let warm = warmer.starts_warm(&hook, |_| ());
        let cold = warmer.runs_cold(&[&packages.python, "hook.py"]);
        let of = |report: &Report| [report.ending.clone(), report.stdout.clone()];
        assert_eq!(of(&warm), of(&cold), "{name}");
        assert_eq!(warm.stderr, cold.stderr, "{name}");
        warmer.ends();
    }
}

#[test]
fn a_changed_module_is_what_the_next_event_gets() {
    let Some(packages) = Packages::new(&[("slow", SLOW)]) else {
        return;
    };
    let mut warmer = Warmer::start(&packages.sandbox, &[]);
    let script = "import slow\nprint(getattr(slow, 'VERSION', 0))\n";
    let hook = packages.hook(script, &["slow"]);
    for version in 1..5 {
        warmer.starts_warm(&hook, |_| ());
        // Python itself takes a file of the same size and second for unchanged.
        let length = "#".repeat(version);
        packages.write("slow", &format!("{SLOW}VERSION = {version} {length}\n"));
        let report = warmer.decides(&hook).remove(0);
        assert_eq!(report.stdout, format!("{version}\n"), "{report:?}");
    }
    warmer.ends();
}

#[test]
fn a_module_sees_the_variables_of_the_hook() {
    let modules = [(
        "reads",
        "import os\nLEVEL = os.environ.get('LEVEL')\nos.environ['READ'] = 'yes'\n",
    )];
    let Some(packages) = Packages::new(&modules) else {
        return;
    };
    let mut warmer = Warmer::start(&packages.sandbox, &[]);
    let script = "import os, reads\nprint(reads.LEVEL, os.environ['READ'], os.environ['OTHER'])\n";
    let mut hook = packages.hook(script, &["reads"]);
    for (level, other) in [("1", "a"), ("1", "b"), ("2", "b"), ("1", "c")] {
        hook[0]["variables"] = json!({ "LEVEL": level, "OTHER": other });
        let report = warmer.starts_warm(&hook, |_| ());
        assert_eq!(report.stdout, format!("{level} yes {other}\n"));
        let is_told = report.note
            == "warm start: the interpreter was started again: a module read LEVEL, which has changed";
        assert_eq!(is_told, level == "2", "{report:?}");
    }
    warmer.ends();
}

/// numpy seeds its generator when it is imported.
#[test]
fn numpy_is_random_in_each_event() {
    let random = "import os\nVALUE = 0\ndef seed():\n    global VALUE\n    VALUE = os.urandom(8)\n";
    let Some(packages) = Packages::new(&[]) else {
        return;
    };
    fs::create_dir(format!("{}/numpy", packages.folder)).unwrap();
    packages.write("numpy/__init__", "");
    packages.write("numpy/random", random);
    let mut warmer = Warmer::start(&packages.sandbox, &[]);
    let script = "import numpy.random\nprint(numpy.random.VALUE)\n";
    let one = packages.runs_warm(&mut warmer, script, &["numpy"]).stdout;
    let other = packages.runs_warm(&mut warmer, script, &["numpy"]).stdout;
    assert!(one != other && one != "0\n", "{one}{other}");
    warmer.ends();
}

#[test]
fn the_user_names_modules_and_doctor_says_what_was_left_out() {
    let Some(packages) = Packages::new(&[("slow", SLOW), ("prints", "print('hello')")]) else {
        return;
    };
    let script = format!("#!{}\n# hookrun: warm=fork\n{ASKS}", packages.python);
    let sandbox = packages
        .sandbox
        .script("home/.config/hookrun/hooks.d/tool.pre/10-guard.py", &script)
        .file(USER_FILE, "warm_imports = [\"prints\", \"slow\"]\n");
    let mut client = crate::serve::Client::start(&sandbox, &["--stdio"]);
    let event = json!({ "event": "tool.pre", "context": { "toolName": "note" } });
    wait_until("it starts warm", || {
        let decision = client.decide(event.clone());
        assert_eq!(decision["status"], 0, "{decision}");
        decision.to_string().contains("early")
    });
    assert!(client.end().success());
    let says = "last warm start of `10-guard.py`: `prints` was not imported in advance: it prints `hello`\n";
    let told = sandbox.hookrun(&["doctor"], b"").stdout;
    assert!(told.contains(says), "{told}");
}

#[test]
fn only_the_user_names_modules() {
    let cases = [
        (
            "hookrun.toml",
            "warm_imports = ['numpy']\n",
            "error: hookrun.toml:1:17: only the system and user files may set `warm_imports`
  help: remove it here; `warm_imports` belongs in ~/.config/hookrun/hookrun.toml\n",
        ),
        (
            USER_FILE,
            "\nwarm_imports = ['numpy', 'pydantic==2']\n",
            "hookrun.toml:2:26: `pydantic==2` is not the name of a Python module
  help: write the name that scripts import: `numpy` or `numpy.linalg`\n",
        ),
    ];
    for (file, text, says) in cases {
        let sandbox = Sandbox::new().file(file, text);
        let ran = sandbox.hookrun(&["validate"], b"");
        assert!(ran.exits(1).stdout.contains(says), "{}", ran.stdout);
    }
}
