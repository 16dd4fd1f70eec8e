//! Ways to run something that nobody has trusted. None of them runs anything.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{GUARD, git, project};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::bounds::{skip, works};
use crate::nasty::running::wait_until;
use crate::sandbox::{Sandbox, TOOL};

/// The folders above the records.
const OPEN: &[&str] = &[
    "home/.local/state/hookrun/trust",
    "home/.local/state/hookrun",
    "home/.local/state",
    "home/.local",
];

/// One that was trusted, and what is done to it then.
struct Attack {
    name: &'static str,
    make: fn() -> Sandbox,
    change: fn(&Path),
}

const NAMED: &str = "[[hook]]\nname = \"check\"\nevent = \"tool.pre\"\n";

/// A project whose hook is named by `hookrun.toml`.
fn naming(command: &str) -> Sandbox {
    let sandbox = Sandbox::new()
        .without_trust()
        .script("tools/check.sh", GUARD);
    sandbox.file("hookrun.toml", &format!("{NAMED}{command}\n"))
}

fn by_words() -> Sandbox {
    naming("command = \"tools/check.sh --all\"")
}

fn by_interpreter() -> Sandbox {
    naming("command = \"sh tools/check.sh\"")
}

fn by_shell() -> Sandbox {
    naming("shell = true\ncommand = 'true && sudo -n true; . \"$HOOKRUN_HOOK_DIR\"/tools/check.sh'")
}

fn by_shell_in_words() -> Sandbox {
    naming("command = '''sh -c '\"$HOOKRUN_PROJECT_DIR\"/tools/check.sh' '''")
}

fn not_there_yet() -> Sandbox {
    naming(
        "shell = true\ncommand = 'test ! -e \"$HOOKRUN_HOOK_DIR\"/tools/more.sh || \"$HOOKRUN_HOOK_DIR\"/tools/more.sh'",
    )
}

fn with_lib() -> Sandbox {
    project().file("hooks.d/lib/common.sh", "# nothing\n")
}

fn with_link() -> Sandbox {
    let sandbox = project()
        .file("elsewhere/common.sh", "# nothing\n")
        .file("hooks.d/lib/a", "");
    symlink(
        "../../elsewhere/common.sh",
        sandbox.at("hooks.d/lib/common.sh"),
    )
    .unwrap();
    symlink("nowhere", sandbox.at("hooks.d/lib/later")).unwrap();
    sandbox
}

fn linked_folder() -> Sandbox {
    let sandbox = Sandbox::new()
        .without_trust()
        .script("one/tool.pre/10-guard.sh", GUARD);
    let sandbox = sandbox.script("two/tool.pre/10-guard.sh", &format!("{GUARD}# other\n"));
    symlink("one", sandbox.at("hooks.d")).unwrap();
    sandbox
}

fn repository() -> Sandbox {
    let sandbox = project();
    git(sandbox.path(), &["init", "-q"]);
    sandbox
}

fn append(file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    fs::write(file, text + "# changed\n").unwrap();
}

fn program(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    fs::set_permissions(file, PermissionsExt::from_mode(0o755)).unwrap();
}

fn mode(file: &Path, mode: u32) {
    fs::set_permissions(file, PermissionsExt::from_mode(mode)).unwrap();
}

fn relink(link: &Path, to: &str) {
    fs::remove_file(link).unwrap();
    symlink(to, link).unwrap();
}

/// Other content of the same length, with the old time of the last change.
fn disguise(file: &Path, by: fn(&Path, &str)) {
    let before = fs::metadata(file).unwrap().modified().unwrap();
    let text = fs::read_to_string(file)
        .unwrap()
        .replace("echo ran", "echo RAN");
    by(file, &text);
    mode(file, 0o755);
    fs::File::options()
        .append(true)
        .open(file)
        .unwrap()
        .set_modified(before)
        .unwrap();
}

const HOOK: &str = "hooks.d/tool.pre/10-guard.sh";

fn by_variable() -> Sandbox {
    naming("shell = true\ncommand = 'sh \"${HOOKRUN_HOOK_DIR:?}\"/tools/check.sh'")
}

fn by_variable_of_a_host() -> Sandbox {
    naming("dialect = \"claude\"\nshell = true\ncommand = '\"$CLAUDE_PROJECT_DIR\"/tools/check.sh'")
        .variable("CLAUDE_PROJECT_DIR", ".")
}

fn by_assignment() -> Sandbox {
    naming("shell = true\ncommand = 'BASH_ENV=\"$HOOKRUN_HOOK_DIR\"/tools/check.sh bash -c true'")
}

fn with_hidden_folder() -> Sandbox {
    let sandbox = project().file(".hookrun/lib/common.sh", "");
    sandbox.script(
        ".hookrun/hooks.d/tool.pre/20-more.sh",
        "#!/bin/sh\n. \"$HOOKRUN_HOOK_DIR\"/../../lib/common.sh\n",
    )
}

/// One that blocks nothing else than what it is for.
fn narrow() -> Sandbox {
    Sandbox::new()
        .without_trust()
        .script(HOOK, "#!/bin/sh\n# hookrun: tool=note\necho ran >>ran\n")
}

#[rustfmt::skip]
const ATTACKS: &[Attack] = &[
    Attack { name: "a script behind a variable with a condition", make: by_variable, change: |at| append(&at.join("tools/check.sh")) },
    Attack { name: "a script in the words of a host", make: by_variable_of_a_host, change: |at| append(&at.join("tools/check.sh")) },
    Attack { name: "a script that a variable names", make: by_assignment, change: |at| append(&at.join("tools/check.sh")) },
    Attack { name: "code in the hidden folder", make: with_hidden_folder, change: |at| append(&at.join(".hookrun/lib/common.sh")) },
    Attack { name: "a matcher that takes nothing", make: narrow, change: |at| program(&at.join(HOOK), "#!/bin/sh\n# hookrun: tool=other\n") },
    Attack { name: "a hook that is switched off", make: project, change: |at| program(&at.join(HOOK), "#!/bin/sh\n# hookrun: enabled=false\n") },
    Attack { name: "no hook at all any more", make: with_lib, change: |at| fs::remove_dir_all(at.join("hooks.d/tool.pre")).unwrap() },
    Attack { name: "what an editor leaves behind", make: with_lib, change: |at| program(&at.join("hooks.d/lib/common.sh~"), "") },
    Attack { name: "another content", make: project, change: |at| append(&at.join(HOOK)) },
    Attack { name: "another hook", make: project, change: |at| program(&at.join("hooks.d/tool.pre/00-first.sh"), GUARD) },
    Attack { name: "a hook of another event", make: project, change: |at| program(&at.join("hooks.d/tool.post/00-first.sh"), GUARD) },
    Attack { name: "one hook less", make: || project().script("hooks.d/tool.pre/20-more.sh", GUARD), change: |at| fs::remove_file(at.join("hooks.d/tool.pre/20-more.sh")).unwrap() },
    Attack { name: "another name", make: project, change: |at| fs::rename(at.join(HOOK), at.join("hooks.d/tool.pre/10-Guard.sh")).unwrap() },
    Attack { name: "a twin in other letters", make: project, change: |at| program(&at.join("hooks.d/tool.pre/10-GUARD.sh"), GUARD) },
    Attack { name: "a Unicode twin", make: || project().script("hooks.d/tool.pre/20-caf\u{e9}.sh", GUARD), change: |at| program(&at.join("hooks.d/tool.pre/20-cafe\u{301}.sh"), GUARD) },
    Attack { name: "CR LF", make: project, change: |at| program(&at.join(HOOK), &GUARD.replace('\n', "\r\n")) },
    Attack { name: "the mode alone, on", make: with_lib, change: |at| mode(&at.join("hooks.d/lib/common.sh"), 0o755) },
    Attack { name: "the mode alone, off", make: || project().script("hooks.d/lib/tool", GUARD), change: |at| mode(&at.join("hooks.d/lib/tool"), 0o644) },
    Attack { name: "a module beside the hooks", make: with_lib, change: |at| fs::write(at.join("hooks.d/lib/json.py"), "").unwrap() },
    Attack { name: "compiled Python", make: with_lib, change: |at| program(&at.join("hooks.d/lib/__pycache__/json.cpython-312.pyc"), "x") },
    Attack { name: "a hidden file", make: with_lib, change: |at| fs::write(at.join("hooks.d/lib/.env"), "A=1").unwrap() },
    Attack { name: "same length and time, written", make: project, change: |at| disguise(&at.join(HOOK), |file, text| fs::write(file, text).unwrap()) },
    Attack { name: "same length and time, put in its place", make: project, change: |at| disguise(&at.join(HOOK), |file, text| {
        let new = file.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, file).unwrap();
    }) },
    Attack { name: "a link in the place of a hook", make: project, change: |at| {
        fs::copy(at.join(HOOK), at.join("copy.sh")).unwrap();
        relink(&at.join(HOOK), "../../copy.sh");
    } },
    Attack { name: "another name of the same file", make: || {
        let sandbox = project();
        fs::hard_link(sandbox.at(HOOK), sandbox.at("hard")).unwrap();
        sandbox
    }, change: |at| append(&at.join("hard")) },
    Attack { name: "what a link leads to", make: with_link, change: |at| append(&at.join("elsewhere/common.sh")) },
    Attack { name: "where a link leads", make: with_link, change: |at| {
        fs::copy(at.join("elsewhere/common.sh"), at.join("elsewhere/same.sh")).unwrap();
        relink(&at.join("hooks.d/lib/common.sh"), "../../elsewhere/same.sh");
    } },
    Attack { name: "what a link to nothing leads to", make: with_link, change: |at| fs::write(at.join("hooks.d/lib/nowhere"), "").unwrap() },
    Attack { name: "another folder behind hooks.d", make: linked_folder, change: |at| relink(&at.join("hooks.d"), "two") },
    Attack { name: "a hook in the folder behind hooks.d", make: linked_folder, change: |at| append(&at.join("one/tool.pre/10-guard.sh")) },
    Attack { name: "a copy of hooks.d behind a link", make: project, change: |at| {
        fs::rename(at.join("hooks.d"), at.join("real")).unwrap();
        symlink("real", at.join("hooks.d")).unwrap();
    } },
    Attack { name: "links in a circle", make: project, change: |at| symlink("..", at.join("hooks.d/lib")).unwrap() },
    Attack { name: "hookrun.toml", make: by_words, change: |at| {
        let text = fs::read_to_string(at.join("hookrun.toml")).unwrap();
        fs::write(at.join("hookrun.toml"), text + "priority = 1\n").unwrap();
    } },
    Attack { name: "a second configuration", make: project, change: |at| program(&at.join(".hookrun/hooks.d/tool.pre/00-first.sh"), GUARD) },
    Attack { name: "the script of a command", make: by_words, change: |at| append(&at.join("tools/check.sh")) },
    Attack { name: "the script of an interpreter", make: by_interpreter, change: |at| append(&at.join("tools/check.sh")) },
    Attack { name: "the script of a shell line", make: by_shell, change: |at| append(&at.join("tools/check.sh")) },
    Attack { name: "the script of a shell in a command", make: by_shell_in_words, change: |at| append(&at.join("tools/check.sh")) },
    Attack { name: "a script that comes later", make: not_there_yet, change: |at| program(&at.join("tools/more.sh"), GUARD) },
    Attack { name: "a lock file", make: project, change: |at| fs::write(at.join("hookrun.lock"), "version = 1\n").unwrap() },
    Attack { name: "a directive that claims trust", make: project, change: |at| program(&at.join(HOOK), &GUARD.replace("echo", "# hookrun: trust=true\necho")) },
    Attack { name: "trust in the project's file", make: project, change: |at| fs::write(at.join("hookrun.toml"), "[trust]\npaths = [\"/\"]\n").unwrap() },
    Attack { name: "trust in the hidden folder", make: project, change: |at| {
        fs::create_dir(at.join(".hookrun")).unwrap();
        fs::write(at.join(".hookrun/hookrun.toml"), "[trust]\npaths = [\"/\"]\n").unwrap();
    } },
    Attack { name: "10,000 files", make: project, change: |at| {
        fs::create_dir(at.join("hooks.d/lib")).unwrap();
        (0..10_000).for_each(|number| fs::write(at.join(format!("hooks.d/lib/{number}")), "").unwrap());
    } },
    Attack { name: "a pipe among the files", make: with_lib, change: |at| {
        assert!(Command::new("mkfifo").arg(at.join("hooks.d/lib/pipe")).status().unwrap().success());
    } },
    Attack { name: "one guard taken away, and a link to itself", make: with_lib, change: |at| {
        fs::remove_file(at.join(HOOK)).unwrap();
        symlink("l", at.join("hooks.d/lib/l")).unwrap();
    } },
    Attack { name: "one guard taken away, and a pipe", make: with_lib, change: |at| {
        fs::remove_file(at.join(HOOK)).unwrap();
        assert!(Command::new("mkfifo").arg(at.join("hooks.d/lib/pipe")).status().unwrap().success());
    } },
    Attack { name: "all guards taken away, and a pipe as the lock", make: project, change: |at| {
        fs::remove_dir_all(at.join("hooks.d")).unwrap();
        assert!(Command::new("mkfifo").arg(at.join("hookrun.lock")).status().unwrap().success());
    } },
    Attack { name: "a forged repository", make: repository, change: |at| {
        fs::rename(at.join(".git"), at.join("real")).unwrap();
        fs::write(at.join(".git"), "gitdir: real\n").unwrap();
        append(&at.join(HOOK));
    } },
    Attack { name: "all hooks taken away", make: project, change: |at| {
        fs::remove_dir_all(at.join("hooks.d")).unwrap();
    } },
    Attack { name: "all hooks and the repository taken away", make: repository, change: |at| {
        fs::rename(at.join(".git"), at.join("real")).unwrap();
        fs::remove_dir_all(at.join("hooks.d")).unwrap();
    } },
    Attack { name: "one guard and the repository taken away", make: repository, change: |at| {
        fs::rename(at.join(".git"), at.join("real")).unwrap();
        fs::rename(at.join(HOOK), at.join("hooks.d/README")).unwrap();
    } },
    Attack { name: "all hooks taken away, and records that cannot be read", make: project, change: |at| {
        let trust = at.join("home/.local/state/hookrun/trust");
        fs::rename(&trust, at.join("records")).unwrap();
        symlink("trust", trust).unwrap();
        fs::remove_dir_all(at.join("hooks.d")).unwrap();
    } },
    Attack { name: "a pipe instead of rules", make: project, change: |at| {
        assert!(Command::new("mkfifo").arg(at.join("hooks.d/tool.pre/00-rules.toml")).status().unwrap().success());
    } },
    Attack { name: "records that everyone may write", make: project, change: |at| {
        let trust = at.join("home/.local/state/hookrun/trust");
        for folder in fs::read_dir(trust).unwrap().flatten() {
            for file in fs::read_dir(folder.path()).unwrap().flatten() {
                mode(&file.path(), 0o666);
            }
            mode(&folder.path(), 0o777);
        }
        OPEN.iter().for_each(|folder| mode(&at.join(folder), 0o755));
    } },
];

#[test]
fn nothing_that_was_changed_after_it_was_trusted_runs() {
    for attack in ATTACKS {
        let sandbox = (attack.make)().trusted();
        if sandbox.gate().status != 0 {
            panic!("{}: {:?}", attack.name, sandbox.gate());
        }
        (attack.change)(sandbox.path());
        let _ = fs::remove_file(sandbox.at("ran"));
        let ran = sandbox.gate();
        assert!(
            ran.status == 2 && !sandbox.at("ran").exists(),
            "{}: {ran:?}",
            attack.name
        );
    }
}

/// Commands that run `tools/check` as a script, which is not executable.
const RUNNING: &[&str] = &[
    "command = 'sh tools/check'",
    "command = 'sh -e tools/check x'",
    "command = 'node --require ./tools/check main.js'",
    "command = 'python3 -W ignore tools/check'",
    "command = 'chronic -e python3.12 tools/check'",
    "command = 'make -s -f tools/check lint'",
    "command = 'env -i X=1 sh tools/check'",
    "command = 'awk -f tools/check data'",
    "command = \"bash -c '. ./tools/check'\"",
    "command = \"env BASH_ENV=tools/check bash -c true\"",
    "shell = true\ncommand = 'cat tools/check | sh -e'",
    "shell = true\ncommand = 'bash -e < tools/check'",
    "shell = true\ncommand = 'python3 - < tools/check'",
    "shell = true\ncommand = 'sh $FLAGS tools/check'",
    "shell = true\ncommand = '$RUN tools/check'",
    "shell = true\ncommand = 'true && eval \"$(cat tools/check)\"'",
    "shell = true\ncommand = 'source tools/check; run'",
    "shell = true\ncommand = 'echo tools/check | xargs sh'",
    "shell = true\ncommand = '. \"$HOOKRUN_HOOK_DIR\"/tools/check'",
    "command = '''bash -c '. \"$HOOKRUN_HOOK_DIR\"/tools/check' '''",
    "shell = true\ncommand = 'node --require=\"$HOOKRUN_HOOK_DIR\"/tools/check -e 1'",
];

/// Commands for which it is data.
const READING: &[&str] = &[
    "command = 'wc -l tools/check'",
    "command = 'prettier --check tools/check'",
    "command = 'ruff --config=tools/check check'",
    "command = 'sh -e other.sh tools/check'",
    "command = 'python3 -u other.py tools/check'",
    "command = \"python3 -c 'import json' tools/check\"",
    "command = \"sed -n 1p tools/check\"",
    "shell = true\ncommand = 'grep -q x tools/check || exit 1'",
    "shell = true\ncommand = 'jq . < tools/check > /dev/null'",
];

#[test]
fn the_script_of_a_command_is_trusted_content_and_its_data_is_not() {
    for (commands, is_part) in [(RUNNING, true), (READING, false)] {
        for command in commands {
            let sandbox = Sandbox::new()
                .file("tools/check", "true\n")
                .file("hookrun.toml", &format!("{NAMED}{command}\n"))
                .without_trust();
            let shown = sandbox.hookrun(&["trust", "--show"], b"").stdout;
            assert_eq!(
                shown.contains("tools/check\n"),
                is_part,
                "{command}: {shown}"
            );
        }
    }
}

#[test]
fn a_hook_may_read_a_file_that_changes() {
    let sandbox = Sandbox::new()
        .file("package.json", "{}\n")
        .file(
            "hookrun.toml",
            &format!("{NAMED}command = 'wc -l package.json'\n"),
        )
        .trusted();
    sandbox.gate().exits(0);
    fs::write(sandbox.at("package.json"), "{ }\n").unwrap();
    sandbox.gate().exits(0);
}

/// What is mounted over what, in the namespace of one process.
const MOUNTS: &[(&str, &str)] = &[
    ("evil/hooks.d", "hooks.d"),
    ("evil/hooks.d/tool.pre", "hooks.d/tool.pre"),
    ("evil/hooks.d/tool.pre/10-guard.sh", HOOK),
    ("evil/hooks.d/lib/common.sh", "hooks.d/lib/common.sh"),
    ("evil/hooks.d/lib", "hooks.d/lib"),
    ("evil/hookrun.toml", "hookrun.toml"),
    ("evil", "."),
    ("empty", "hooks.d"),
    ("/dev/null", HOOK),
];

/// The stamps of what is mounted are those of another file, even where all else is the same.
#[test]
fn what_is_mounted_over_trusted_hooks_does_not_run() {
    if !works(&["unshare", "-Urm"], &["true"]) {
        return skip("users may make no namespaces for mounts here");
    }
    let evil = "#!/bin/sh\necho evil >>\"$HOME/evil\"\n";
    let from_lib = format!("{GUARD}. \"$HOOKRUN_HOOK_DIR\"/../lib/common.sh\n");
    for (from, over) in MOUNTS {
        let sandbox = with_lib()
            .script(HOOK, &from_lib)
            .file("hookrun.toml", "# nothing\n");
        let sandbox = sandbox.script("evil/hooks.d/tool.pre/10-guard.sh", evil);
        let sandbox = sandbox
            .file("evil/hooks.d/lib/common.sh", evil)
            .file("empty/lib/a", "");
        let sandbox = sandbox
            .file("evil/hookrun.toml", "[trust]\npaths = ['/']\n")
            .trusted();
        let line = |mount: &str| {
            let inner = format!("{mount}cd \"$PWD\" && exec \"$0\" run tool.pre");
            sandbox.hookrun_by_shell(
                &format!("unshare -Urm sh -c '{inner}' \"$0\""),
                TOOL.as_bytes(),
            )
        };
        line("").allows();
        sandbox.has_file("ran");
        let _ = fs::remove_file(sandbox.at("ran"));
        let ran = line(&format!("mount --bind {from} {over} && "));
        assert!(
            ran.status == 2 && ran.stdout.contains("trust"),
            "{from}: {ran:?}"
        );
        sandbox.has_no_file("home/evil");
        sandbox.has_no_file("ran");
    }
}

#[test]
fn nothing_in_the_environment_stands_for_trust() {
    let trusted = repository().trusted();
    let git_folder = trusted.at(".git").display().to_string();
    for (name, value) in [
        ("GIT_DIR", git_folder.as_str()),
        ("GIT_COMMON_DIR", &git_folder),
        ("GIT_WORK_TREE", &trusted.path().display().to_string()),
        ("CI", "true"),
        ("HOOKRUN_TRUST", "1"),
        ("HOOKRUN_TRUST_PATHS", "/"),
        ("CLAUDE_PROJECT_DIR", "/"),
    ] {
        project().variable(name, value).holds();
    }
}

#[test]
fn a_copy_or_another_name_of_a_project_is_another_project() {
    let sandbox = Sandbox::new()
        .without_trust()
        .script("a/hooks.d/tool.pre/10-guard.sh", GUARD);
    let at = |folder: &str, arguments: &[&str]| sandbox.hookrun_in(&sandbox.at(folder), arguments);
    let shown = at("a", &["trust", "--show"]).stdout;
    let digest = shown
        .split_whitespace()
        .find(|word| word.starts_with("sha256:"))
        .unwrap();
    assert_eq!(at("a", &["trust", "--digest", digest]).status, 0);
    at("a", &["run", "tool.pre"]).allows();
    fs::rename(sandbox.at("a"), sandbox.at("b")).unwrap();
    assert_eq!(at("b", &["run", "tool.pre"]).status, 2);
}

#[test]
fn a_repository_in_a_trusted_one_is_not_trusted_with_it() {
    let sandbox = repository().trusted();
    let sandbox = sandbox.script("inner/hooks.d/tool.pre/20-inner.sh", GUARD);
    for link in [false, true] {
        let inner = sandbox.at("inner");
        if link {
            let module = sandbox.at(".git/modules/inner");
            fs::create_dir_all(module.parent().unwrap()).unwrap();
            fs::rename(inner.join(".git"), module).unwrap();
            fs::write(inner.join(".git"), "gitdir: ../.git/modules/inner\n").unwrap();
        } else {
            git(&inner, &["init", "-q"]);
        }
        let _ = fs::remove_file(sandbox.at("inner/ran"));
        let ran = sandbox.gate_in(&inner);
        assert!(
            ran.status == 2 && ran.stdout.contains("20-inner.sh"),
            "{ran:?}"
        );
        sandbox.has_no_file("inner/ran");
    }
}

#[test]
fn what_changes_while_hooks_run_takes_their_word_away() {
    let own = "#!/bin/sh\necho >>\"$HOOKRUN_HOOK_DIR\"/../lib/common.sh\n";
    let sandbox = with_lib().script(HOOK, own).trusted();
    let ran = sandbox.gate();
    assert!(
        ran.status == 2 && ran.stdout.contains("changed while"),
        "{ran:?}"
    );
}

#[test]
fn what_a_hook_swaps_in_does_not_run_and_takes_its_word_away() {
    const GUARDED: &str = "hooks.d/tool.pre/20-guard.sh";
    for swapped in [GUARDED, "hooks.d/tool.pre", "hooks.d"] {
        // The first hook stands for any program that swaps at this moment.
        let swap = |away: &str, here: &str| {
            format!(
                "#!/bin/sh\ncd \"$HOOKRUN_PROJECT_DIR\"\nmv {swapped} {away}; mv {here} {swapped}\n"
            )
        };
        let sandbox = Sandbox::new()
            .without_trust()
            .script("hooks.d/tool.pre/10-swap.sh", &swap("good", "evil"))
            .script(GUARDED, "#!/bin/sh\necho no >&2\nexit 1\n")
            .trusted();
        let copied = Command::new("cp")
            .args(["-R", swapped, "evil"])
            .current_dir(sandbox.path())
            .status();
        assert!(copied.unwrap().success());
        let rest = GUARDED.strip_prefix(swapped).unwrap();
        let planted = format!("evil{rest}");
        let sandbox = sandbox.script(
            &planted,
            &format!("{}touch ran\nexit 0\n", swap("evil", "good")),
        );
        let ran = sandbox.gate();
        assert!(sandbox.at("good").exists(), "{swapped} was not swapped");
        sandbox.has_no_file("ran");
        assert!(
            ran.status == 2 && ran.stdout.contains("changed while"),
            "{swapped}: {ran:?}"
        );
    }
}

/// Swaps `path` for another file or folder, and back, until dropped.
struct Swapping {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Swapping {
    fn start(path: PathBuf, other: PathBuf) -> Swapping {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let away = path.with_extension("away");
            let mut swaps = 0;
            while !stopped.load(Ordering::Relaxed) {
                fs::rename(&path, &away).unwrap();
                fs::rename(&other, &path).unwrap();
                thread::sleep(Duration::from_micros(swaps % 7 * 100));
                fs::rename(&path, &other).unwrap();
                fs::rename(&away, &path).unwrap();
                thread::sleep(Duration::from_micros(swaps % 11 * 100));
                swaps += 1;
            }
            swaps
        });
        Swapping {
            stop,
            thread: Some(thread),
        }
    }

    fn stop(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

#[test]
fn what_is_swapped_in_while_events_run_is_never_started() {
    const GUARD_PATH: &str = "hooks.d/tool.pre/20-guard.sh";
    let by_shell = "touch \"$HOOKRUN_PROJECT_DIR/evil-ran\"";
    let by_python = "import os; open(os.environ['HOOKRUN_PROJECT_DIR'] + '/evil-ran', 'w')";
    let block = "echo no >&2; exit 1";
    for (interpreter, guard, evil) in [
        ("/bin/sh", block, by_shell),
        ("/usr/bin/env bash", block, by_shell),
        ("/bin/bash -e", block, by_shell),
        (
            "/usr/bin/env python3",
            "import sys; sys.exit('no')",
            by_python,
        ),
        (
            "/usr/bin/env -S python3 -IS",
            "import sys; sys.exit('no')",
            by_python,
        ),
    ] {
        for swapped in [GUARD_PATH, "hooks.d/tool.pre"] {
            let sandbox = Sandbox::new()
                .without_trust()
                .script(GUARD_PATH, &format!("#!{interpreter}\n{guard}\n"))
                .trusted();
            let rest = GUARD_PATH.strip_prefix(swapped).unwrap();
            let evil = format!("#!{interpreter}\n{evil}\n");
            let sandbox = sandbox.script(&format!("other{rest}"), &evil);
            let swapping = Swapping::start(sandbox.at(swapped), sandbox.at("other"));
            for _ in 0..40 {
                let ran = sandbox.gate();
                assert_eq!(ran.status, 2, "{swapped}: {ran:?}");
            }
            let swaps = swapping.stop();
            assert!(swaps > 40, "{swaps} swaps");
            sandbox.has_no_file("evil-ran");
        }
    }
}

#[test]
fn a_script_that_a_command_starts_runs_as_it_was_checked() {
    for (command, swapped) in [
        ("tools/check.sh", "tools/check.sh"),
        ("tools/check.sh", "tools"),
        ("./tools/check.sh", "tools/check.sh"),
    ] {
        let sandbox = naming(&format!("command = \"{command}\""))
            .script("tools/check.sh", "#!/bin/sh\necho no >&2; exit 1\n")
            .trusted();
        let rest = "tools/check.sh".strip_prefix(swapped).unwrap();
        let evil = "#!/bin/sh\ntouch \"$HOOKRUN_PROJECT_DIR/evil-ran\"\n";
        let sandbox = sandbox.script(&format!("other{rest}"), evil);
        let swapping = Swapping::start(sandbox.at(swapped), sandbox.at("other"));
        for _ in 0..40 {
            let ran = sandbox.gate();
            assert_eq!(ran.status, 2, "{swapped}: {ran:?}");
        }
        swapping.stop();
        sandbox.has_no_file("evil-ran");
    }
}

#[test]
fn a_link_on_the_way_to_a_hook_is_not_changed_and_put_back_unseen() {
    let sandbox = Sandbox::new()
        .without_trust()
        .script(
            "hooks.d/tool.pre/10-swap.sh",
            "#!/bin/sh\nln -sfn evil.sh mid\n",
        )
        .script("real.sh", "#!/bin/sh\necho no >&2; exit 1\n")
        .script("evil.sh", "#!/bin/sh\nln -sfn real.sh mid\n");
    symlink("real.sh", sandbox.at("mid")).unwrap();
    symlink("../../mid", sandbox.at("hooks.d/tool.pre/20-guard.sh")).unwrap();
    sandbox.trusted().gate().blocks_saying("changed while");
}

/// Like [`Swapping`], without a moment at which a path is missing.
fn exchange(path: &Path, other: &Path, pause: Duration) {
    let flags = RenameFlags::EXCHANGE;
    renameat_with(CWD, path, CWD, other, flags).unwrap();
    thread::sleep(pause);
}

#[test]
fn a_project_that_is_exchanged_while_it_is_read_never_decides() {
    let sandbox = Sandbox::new()
        .without_trust()
        .script(
            "p/x/hooks.d/tool.pre/20-guard.sh",
            "#!/bin/sh\necho no >&2; exit 1\n",
        )
        .script(
            "q/x/hooks.d/tool.pre/20-guard.sh",
            "#!/bin/sh\n# hookrun: tool=none\nexit 0\n",
        );
    let digest = "$(\"$0\" trust --show | grep -o 'sha256:[0-9a-f]*' | head -n 1)";
    let line = format!("cd p/x && \"$0\" trust --digest \"{digest}\"");
    sandbox.hookrun_by_shell(&line, b"").exits(0);
    let event = json!({
        "cwd": sandbox.at("p/x"), "toolName": "bash", "toolInput": { "command": "x" },
    });
    let event = event.to_string();
    // The project itself, and the folder around it.
    for (path, other) in [("p/x", "q/x"), ("p", "q")] {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let (path, other) = (sandbox.at(path), sandbox.at(other));
                let mut swaps = 0;
                while !stop.load(Ordering::Relaxed) {
                    exchange(&path, &other, Duration::from_micros(swaps % 7 * 100));
                    exchange(&path, &other, Duration::from_micros(swaps % 11 * 100));
                    swaps += 1;
                }
            });
            let mut statuses = (0..60).map(|_| {
                let ran = sandbox.hookrun(&["run", "tool.pre"], event.as_bytes());
                ran.status
            });
            let other = statuses.find(|status| *status != 2);
            stop.store(true, Ordering::Relaxed);
            assert_eq!(other, None, "{path}");
        });
    }
}

#[test]
fn hooks_that_vanish_between_the_approval_and_the_first_event_are_missed() {
    let sandbox = guarded_by("#!/bin/sh\nexit 0\n");
    fs::remove_dir_all(sandbox.at("hooks.d")).unwrap();
    sandbox.gate().blocks_saying("hooks changed");
}

#[test]
fn rules_that_are_swapped_in_while_events_run_never_decide() {
    let rule = |reason: &str| format!("[[rule]]\ntool = \"bash\"\ndeny = \"{reason}\"\n");
    let sandbox = Sandbox::new()
        .without_trust()
        .file("hookrun.toml", &rule("no"))
        .trusted()
        .file("other", &rule("evil"));
    let swapping = Swapping::start(sandbox.at("hookrun.toml"), sandbox.at("other"));
    for _ in 0..30 {
        let ran = sandbox.gate();
        assert!(ran.status == 2 && !ran.stdout.contains("evil"), "{ran:?}");
    }
    swapping.stop();
}

/// A trusted project with this script as its guard.
fn guarded_by(script: &str) -> Sandbox {
    Sandbox::new()
        .without_trust()
        .script("hooks.d/tool.pre/20-guard.sh", script)
        .trusted()
}

#[test]
fn a_script_that_is_started_from_its_content_gets_stdin_and_names_its_path_in_errors() {
    for interpreter in ["/bin/sh", "/bin/sh -", "/bin/bash --", "/bin/bash -u"] {
        let sandbox = guarded_by(&format!(
            "#!{interpreter}\n\nread -r event\n\
             case $event in *tool*) ;; *) exit 0 ;; esac\n\
             not-a-program >/dev/null\nexit 1\n"
        ));
        let ran = sandbox.gate();
        ran.blocks_saying("20-guard.sh:5)");
        let has_copy = ran.stdout.contains("/trust/texts/");
        assert!(
            !has_copy && !ran.stdout.contains("/proc/self/fd"),
            "{ran:?}"
        );
    }
}

/// A copy must have the checked content.
#[test]
fn a_copy_of_a_script_that_was_changed_does_not_run() {
    let sandbox = guarded_by("#!/bin/sh\necho no >&2; exit 1\n");
    let copies = sandbox.at("home/.local/state/hookrun/trust/texts");
    let evil = "#!/bin/sh\ntouch \"$HOOKRUN_PROJECT_DIR/evil-ran\"\n";
    for copy in fs::read_dir(&copies).unwrap().flatten() {
        fs::write(copy.path(), evil).unwrap();
    }
    sandbox.gate().blocks_saying("no");
    for copy in fs::read_dir(&copies).unwrap().flatten() {
        fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o666)).unwrap();
    }
    sandbox.gate().blocks_saying("no");
    // Without a place for copies, it is started by its path.
    fs::remove_dir_all(&copies).unwrap();
    fs::write(&copies, "").unwrap();
    sandbox.gate().blocks_saying("no");
    sandbox.has_no_file("evil-ran");
}

#[test]
fn a_script_that_names_its_own_path_gets_it() {
    let zero = "echo \"$0|${0##*/}|$(cd \"$(dirname \"$0\")\" && pwd)|$#|$(set -o | grep -c '^errexit.*on')\" >&2";
    for (interpreter, script) in [
        ("/bin/sh", zero),
        ("/bin/sh -e", zero),
        ("/bin/bash", zero),
        ("/usr/bin/env bash", zero),
        (
            "/bin/bash",
            "echo \"$0|${BASH_SOURCE##*/}|$(cd \"${BASH_SOURCE%/*}\"; pwd)|$#|$(set -o | grep -c '^errexit.*on')\" >&2",
        ),
    ] {
        let sandbox = guarded_by(&format!("#!{interpreter}\n{script}\nexit 1\n"));
        let folder = sandbox.at("hooks.d/tool.pre").canonicalize().unwrap();
        let path = folder.join("20-guard.sh");
        let ran = sandbox.gate();
        ran.blocks_saying(&format!(
            "{}|20-guard.sh|{}|0|{}",
            path.display(),
            folder.display(),
            u8::from(interpreter.ends_with("-e"))
        ));
    }
}

/// Each of these reads a library that blocks only if it finds itself by the script's path.
#[test]
fn a_script_that_reads_another_is_started_by_its_path() {
    let by_shell = "if [ -e \"$(dirname \"$0\")/../lib/lib.sh\" ]; then echo no >&2; exit 1; fi\n";
    let by_bash = "if [[ ${BASH_SOURCE[1]} == *.sh ]]; then echo no >&2; exit 1; fi\n";
    let by_python = "import os, sys\n\
         if os.path.exists(os.path.dirname(sys.argv[0]) + '/../lib/lib.sh'): sys.exit('no')\n";
    let modules = "import os, sys\nlib = os.environ['HOOKRUN_HOOK_DIR'] + '/../lib/'\n";
    for (interpreter, script, library) in [
        ("sh", "cd \"$HOOKRUN_HOOK_DIR\"; . ../lib/lib.sh", by_shell),
        ("sh", "cd \"$HOOKRUN_HOOK_DIR\";.\t../lib/lib.sh", by_shell),
        (
            "sh",
            "cd \"$HOOKRUN_HOOK_DIR\"; \\. ../lib/lib.sh",
            by_shell,
        ),
        (
            "sh",
            "cd \"$HOOKRUN_HOOK_DIR\"; '.' ../lib/lib.sh",
            by_shell,
        ),
        (
            "sh",
            "cd \"$HOOKRUN_HOOK_DIR\"; . \\\n../lib/lib.sh",
            by_shell,
        ),
        (
            "sh",
            "eval \"$(cat \"$HOOKRUN_HOOK_DIR/../lib/lib.sh\")\"",
            by_shell,
        ),
        (
            "bash",
            "source \"$HOOKRUN_HOOK_DIR/../lib/lib.sh\"",
            by_bash,
        ),
        (
            "bash",
            "builtin . \"$HOOKRUN_HOOK_DIR/../lib/lib.sh\"",
            by_bash,
        ),
        (
            "bash",
            "cd \"$HOOKRUN_HOOK_DIR\"; inc=.; $inc ../lib/lib.sh",
            by_bash,
        ),
        (
            "bash",
            "cd \"$HOOKRUN_HOOK_DIR\"; {.,../lib/lib.sh}",
            by_bash,
        ),
        (
            "bash",
            "[[ ${@:0:1} == *.sh ]] || exit 0; echo no >&2; exit 1",
            "",
        ),
        (
            "sh",
            "cd \"$HOOKRUN_HOOK_DIR\"; case x in *). ../lib/lib.sh; esac",
            by_shell,
        ),
        (
            "sh",
            "trap \"$(cat \"$HOOKRUN_HOOK_DIR/../lib/lib.sh\")\" EXIT",
            by_shell,
        ),
        (
            "python3",
            "if 'tool.pre' in sys.path[0]: sys.exit('no')",
            "",
        ),
        (
            "python3",
            "from sys import path\nif 'tool.pre' in path[0]: sys.exit('no')",
            "",
        ),
        ("python3", "sys.path.append(lib)\nimport lib", by_python),
        (
            "python3",
            "sys.path.append(lib)\nfrom lib import os",
            by_python,
        ),
        (
            "python3",
            "sys.path.append(lib)\nif lib: import json, lib",
            by_python,
        ),
        (
            "python3",
            "sys.path.append(lib)\n__import__('lib')",
            by_python,
        ),
        ("python3", "exec(open(lib + 'lib.py').read())", by_python),
    ] {
        let modules = if interpreter == "python3" {
            modules
        } else {
            ""
        };
        let script = format!("#!/usr/bin/env {interpreter}\n{modules}{script}\n");
        let sandbox = Sandbox::new()
            .without_trust()
            .script("hooks.d/tool.pre/20-guard.sh", &script)
            .file("hooks.d/lib/lib.sh", library)
            .file("hooks.d/lib/lib.py", library)
            .trusted();
        let ran = sandbox.gate();
        assert_eq!((ran.status, ran.stderr.trim_end()), (2, "no"), "{script}");
    }
}

/// It is read by a program that its first line names, which finds its list next to the script.
#[test]
fn a_script_with_a_program_in_its_first_line_is_started_by_its_path() {
    let by_shell = "[ ! -e \"$(dirname \"$1\")/../lib/guard\" ] || { echo no >&2; exit 1; }\n";
    let by_python = "import os, sys\n\
         if os.path.exists(os.path.dirname(sys.argv[1]) + '/../lib/guard'): sys.exit('no')\n";
    for (interpreter, guard) in [("sh", by_shell), ("python3", by_python)] {
        let sandbox = Sandbox::new().without_trust();
        let lib = sandbox.at("hooks.d/lib/guard");
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {interpreter}")])
            .output();
        let found = found.unwrap().stdout;
        let found = String::from_utf8(found).unwrap();
        let script = format!("#!{} {}\n", found.trim(), lib.display());
        let sandbox = sandbox
            .script("hooks.d/tool.pre/20-guard.sh", &script)
            .file("hooks.d/lib/guard", guard)
            .trusted();
        let ran = sandbox.gate();
        assert_eq!((ran.status, ran.stderr.trim_end()), (2, "no"), "{script}");
    }
}

/// What never ends, or waits for a writer, is not read.
#[test]
fn a_pipe_or_a_device_in_place_of_a_script_blocks_at_once() {
    for swap in ["mkfifo", "ln -s /dev/zero"] {
        let swap = format!(
            "#!/bin/sh\ncd \"$HOOKRUN_PROJECT_DIR/hooks.d/tool.pre\"\nrm 20-guard.sh; {swap} 20-guard.sh\n"
        );
        let sandbox = Sandbox::new()
            .without_trust()
            .script("hooks.d/tool.pre/10-swap.sh", &swap)
            .script("hooks.d/tool.pre/20-guard.sh", "#!/bin/sh\nexit 0\n")
            .trusted();
        sandbox.gate().blocks_saying("changed while");
        // It stays there when the next event is decided.
        sandbox.gate().blocks_saying("hooks not trusted");
    }
}

/// Writes through shared memory to a page that has changed already: no time of the file tells it.
const WRITES: &str = "
import mmap, os, time
file = open('hookrun.toml', 'r+b')
page = mmap.mmap(file.fileno(), 0)
page[:1] = page[:1]
os.open('mapped', os.O_CREAT)
while not os.path.exists('go'):
    time.sleep(0.01)
at = page.find(b'true ')
page[at:at + 5] = b'false'
";

#[test]
fn what_is_written_through_shared_memory_is_a_change() {
    let rule = "[[rule]]\ntool = \"note\"\ndeny = \"no\"\nenabled = true \n";
    let sandbox = Sandbox::new()
        .without_trust()
        .file("hookrun.toml", rule)
        .trusted();
    let writes = Command::new("python3")
        .args(["-c", WRITES])
        .current_dir(sandbox.path())
        .spawn();
    wait_until("the file is mapped", || sandbox.at("mapped").exists());
    // Longer than a step of the times of files.
    thread::sleep(Duration::from_millis(50));
    sandbox.gate().blocks_saying("no");
    fs::write(sandbox.at("go"), "").unwrap();
    assert!(writes.unwrap().wait().unwrap().success());
    sandbox.gate().blocks_saying("hooks changed");
}

#[test]
fn hooks_that_are_touched_between_events_stay_trusted() {
    let sandbox = with_lib().trusted();
    sandbox.gate().allows();
    let touched = Command::new("touch")
        .args(["common.sh", ".x.swp", ".DS_Store"])
        .current_dir(sandbox.at("hooks.d/lib"))
        .status();
    assert!(touched.unwrap().success());
    sandbox.gate().allows();
}

#[test]
fn escapes_in_what_has_changed_are_shown() {
    let sandbox = project().trusted();
    let evil = "#!/bin/sh\n# \u{1b}[2K\u{1b}[1A \u{202e}drowssap \u{7}\nexit 0\n";
    let sandbox = sandbox
        .script(HOOK, evil)
        .script("hooks.d/lib/\u{1b}[2J", "x\n");
    let shown = sandbox.hookrun(&["trust", "--show"], b"").stdout;
    assert!(
        !shown.contains(['\u{1b}', '\u{202e}', '\u{7}']),
        "{shown:?}"
    );
    assert!(
        shown.contains("10-guard.sh") && shown.contains("\\u{1b}[2K"),
        "{shown}"
    );
}

#[test]
fn a_project_cannot_switch_the_log_off() {
    let sandbox = Sandbox::new()
        .without_trust()
        .file("hookrun.toml", "[log]\nenabled = false\n");
    let found = sandbox.problems(&[]);
    assert!(
        found
            .iter()
            .any(|one| one.starts_with("error hookrun.toml:2:11")),
        "{found:?}"
    );
}

#[test]
fn a_changed_file_does_not_make_a_gate_of_a_team_an_event_that_passes() {
    let declared = |how: &str| {
        let hook = "[[hook]]\nevent = \"deploy.now\"\nname = \"g\"\ncommand = \"true\"\n";
        format!("[event.\"deploy.now\"]\nsummary = \"a deployment\"\n{how}\n{hook}")
    };
    let changes = ["blocks = false", "blocks = true\non_failure = \"allow\""];
    for change in changes {
        let sandbox = Sandbox::new().without_trust();
        let sandbox = sandbox
            .file("hookrun.toml", &declared("blocks = true"))
            .trusted();
        sandbox.run("deploy.now").allows();
        let ran = sandbox
            .file("hookrun.toml", &declared(change))
            .run("deploy.now");
        assert!(
            ran.status == 2 && ran.stdout.contains("hooks changed: run `hookrun trust`"),
            "{change}: {ran:?}"
        );
    }
}

#[test]
fn a_project_that_is_not_trusted_does_not_say_what_the_log_hides() {
    let hides = "[log]\nredact = [\"secret-[a-z]+\"]\n";
    let rule = "[[rule]]\nruns = \"echo\"\ndeny = \"no\"\n";
    let sandbox = Sandbox::new().without_trust().file("hookrun.toml", hides);
    let sandbox = sandbox.file("home/.config/hookrun/hookrun.toml", rule);
    let kept = |sandbox: &Sandbox| {
        sandbox.run_shell("echo secret-word");
        sandbox.hookrun(&["why", "--format", "json"], b"").stdout
    };
    assert!(kept(&sandbox).contains("secret-word"));
    assert!(!kept(&sandbox.trusted()).contains("secret-word"));
}

#[test]
fn a_person_may_say_that_there_are_no_hooks_any_more() {
    for words in [&["trust", "--revoke"][..], &["trust", "--digest"]] {
        let sandbox = project().trusted();
        sandbox.runs();
        fs::remove_dir_all(sandbox.at("hooks.d")).unwrap();
        let reason = "hooks changed: run `hookrun trust`";
        let held = sandbox.holds().stdout;
        assert!(
            held.contains(reason) && held.contains(": hooks.d/tool.pre/10-guard.sh)"),
            "{held}"
        );
        sandbox.hookrun(&["list"], b"").says(reason);
        sandbox
            .hookrun(&["trust", "--show"], b"")
            .exits(1)
            .prints("10-guard.sh: removed");
        let digest = sandbox.digest();
        let digest = words.contains(&"--digest").then_some(digest.as_str());
        let words: Vec<&str> = words.iter().copied().chain(digest).collect();
        sandbox.hookrun(&words, b"").exits(0);
        sandbox.gate().allows();
    }
}

/// The system looks for the interpreter in the working directory, which the agent chooses.
#[test]
fn a_first_line_that_the_working_directory_resolves_is_never_trusted() {
    for line in [
        "bin/interp",
        "/usr/bin/env bin/interp",
        "/usr/bin/env -S bin/interp -x",
        "/usr/bin/env -S node --import=./hook.js",
        "/bin/bash tools/prelude",
        "/bin/sh prelude",
        "python3",
        "/usr/bin/env -S sh run",
        "/usr/bin/env -S sh -e run",
        "/usr/bin/env -S bash -eo pipefail run",
        "/usr/bin/env -S A=1 sh run",
        "/usr/bin/env -Ssh\\_run",
        "/usr/bin/env -S timeout 5 sh run",
        "/usr/bin/env -S BASH_ENV=run bash",
        "/usr/bin/env -S PATH=. python3",
        "/usr/bin/env -S -C sub sh",
        "/usr/bin/env -S PATH=/usr/bin:. guardx",
        "/usr/bin/env -S \"bash\" prelude",
        "/usr/bin/env -S ${SHELL} prelude",
        "/usr/bin/env -S awk -f prelude.awk",
        "/usr/bin/awk -fprelude.awk",
        "/usr/bin/node --require=./prelude.js",
        "/usr/bin/env -S PERL5OPT=-MPre perl",
    ] {
        let sandbox = Sandbox::new().without_trust();
        let sandbox = sandbox.script(HOOK, &format!("#!{line}\ntrue\n"));
        let shown = sandbox.hookrun(&["trust", "--show"], b"");
        assert!(!shown.stdout.contains("sha256:"), "{line}: {shown:?}");
        let ran = sandbox.gate();
        ran.exits(2)
            .says("names a program or script by a relative path");
    }
    for line in [
        "/usr/bin/env -S deno run --allow-net=a.example https://a.example/hook.ts",
        "/usr/bin/env -S uv run --script",
        "/usr/bin/env -S bash -euo pipefail",
        "/usr/bin/env -S A=1 python3 -W ignore -u",
        "/usr/bin/env bash",
        "/usr/bin/env -S NODE_ENV=production TZ=Europe/Berlin node",
        "/bin/busybox sh",
        "/usr/local/bin/deno run",
        "/usr/bin/awk -f",
    ] {
        let sandbox = Sandbox::new().without_trust();
        let sandbox = sandbox.script(HOOK, &format!("#!{line}\ntrue\n"));
        let shown = sandbox.hookrun(&["trust", "--show"], b"");
        assert!(shown.stdout.contains("sha256:"), "{line}: {shown:?}");
    }
}
