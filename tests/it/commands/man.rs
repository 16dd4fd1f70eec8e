//! `hookrun man [PAGE]`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::COMMANDS;
use crate::sandbox::Sandbox;
use crate::ui::screen::{at, shown_at_terminal};

/// Commands of commands.
const PARTS: &[&str] = &[
    "ui-select",
    "ui-confirm",
    "ui-input",
    "ui-editor",
    "ui-notify",
    "ui-status",
    "state-get",
    "state-set",
    "state-append",
    "state-remove",
    "state-list",
    "sets-add",
    "sets-update",
    "sets-verify",
    "sets-list",
    "sets-why",
];

#[test]
fn every_command_has_a_page_under_its_short_and_its_long_name() {
    let sandbox = Sandbox::new();
    for name in COMMANDS.iter().chain(PARTS) {
        let short = sandbox.hookrun(&["man", name], b"");
        let long = sandbox.hookrun(&["man", &format!("hookrun-{name}")], b"");
        short
            .exits(0)
            .prints(&format!("hookrun-{name}(1)\n\nNAME\n"));
        assert_eq!(short.stdout, long.stdout, "{name}");
    }
    sandbox
        .hookrun(&["man"], b"")
        .exits(0)
        .prints("hookrun(1)\n");
    for name in ["hook", "hookrun-hook", "hookrun.toml"] {
        let ran = sandbox.hookrun(&["man", name], b"");
        ran.exits(0);
        assert!(!ran.stdout.trim().is_empty(), "{name} is empty");
    }
}

#[test]
fn every_page_is_set_without_a_warning() {
    let sandbox = Sandbox::new();
    sandbox.hookrun(&["man", "--dir", "pages"], b"").exits(0);
    for page in fs::read_dir(sandbox.at("pages")).unwrap() {
        let page = page.unwrap().path();
        let mut groff = Command::new("groff");
        groff
            .args(["-man", "-Tascii", "-ww", "-z"])
            .arg(&page)
            .stdin(Stdio::null());
        let Ok(output) = groff.output() else { return };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said, "", "{}", page.display());
        assert!(output.status.success());
    }
}

/// The words of a page as groff sets it, without the lines around it.
fn words_by_groff(page: &Path) -> Option<Vec<String>> {
    let mut groff = Command::new("groff");
    groff
        .args(["-man", "-Tutf8", "-P-cbou", "-rHY=0", "-rLL=900n", "-rcR=1"])
        .arg(page);
    let set = groff
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(set.stdout).unwrap();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let words = lines[1..lines.len() - 1]
        .iter()
        .flat_map(|line| line.split_whitespace());
    // It makes typographic signs of some that are meant as they are.
    let as_typed = |word: &str| word.replace(['‘', '’'], "'").replace(['“', '”'], "\"");
    Some(words.map(as_typed).collect())
}

#[test]
fn without_a_pager_a_page_is_text_with_all_words_in_short_lines() {
    let sandbox = Sandbox::new();
    sandbox.hookrun(&["man", "--dir", "pages"], b"").exits(0);
    for page in fs::read_dir(sandbox.at("pages")).unwrap() {
        let page = page.unwrap().path();
        let name = page.file_stem().unwrap().to_str().unwrap();
        let text = sandbox.hookrun(&["man", name], b"").stdout;
        assert!(!text.contains("\n\n\n") && !text.contains("\\f"), "{text}");
        for line in text.lines().filter(|line| line.chars().count() > 100) {
            // Only what cannot be broken is longer.
            let is_table = line.contains("  ");
            assert!(
                line.split_whitespace().count() == 1 || is_table,
                "{name}: {line}"
            );
        }
        if let Some(words) = words_by_groff(&page) {
            let ours: Vec<&str> = text.split_whitespace().skip(1).collect();
            assert_eq!(ours, words, "{name}");
        }
    }
}

#[test]
fn all_pages_can_be_written_into_a_folder() {
    let sandbox = Sandbox::new();
    let ran = sandbox.hookrun(&["man", "--dir", "new/man1"], b"");
    ran.exits(0);
    assert_eq!(ran.stdout, "");

    let mut names: Vec<String> = fs::read_dir(sandbox.at("new/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut wanted: Vec<String> = COMMANDS
        .iter()
        .map(|name| format!("hookrun-{name}.1"))
        .collect();
    wanted.extend(PARTS.iter().map(|name| format!("hookrun-{name}.1")));
    wanted.extend(
        [
            "hookrun-hook.5",
            "hookrun-suite.5",
            "hookrun.1",
            "hookrun.toml.5",
        ]
        .map(str::to_string),
    );
    wanted.sort();
    assert_eq!(names, wanted);
    assert!(
        sandbox
            .read("new/man1/hookrun-run.1")
            .contains(".TH hookrun-run 1")
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let sandbox = Sandbox::new().file("file", "");
    sandbox
        .hookrun(&["man", "--dir", "file/man"], b"")
        .exits(2)
        .says("error: cannot write into `file/man`: ");
}

/// `man` of the test's own, so that nothing depends on the one that is installed.
#[test]
fn at_a_terminal_a_page_is_read_by_man() {
    let says = "head -c 14 \"$1\"; echo; echo \"reads $(basename \"$1\")\"; echo \"$1\" > read";
    let reads = Sandbox::new().script("bin/man", &format!("#!/bin/sh\n{says}; read -r key\n"));
    let path = format!("{}:/usr/bin:/bin", reads.at("bin").display());
    let reads = reads.variable("PATH", &path).file("event", "");
    for (page, file) in [("run", "hookrun-run.1"), ("hook", "hookrun-hook.5")] {
        let shown = format!("reads {file}");
        let steps = [at("reads hookrun-", "q\r")];
        let ran = shown_at_terminal(&reads, &["man", page], &steps);
        ran.exits(0).says(&shown);
        assert!(!ran.stderr.contains(".SH"), "{ran:?}");
        let written = reads.read("read");
        assert!(!Path::new(written.trim()).exists(), "{written} is left");
    }
    // What `man` cannot show is printed, and so is what goes into a pipe.
    let fails = Sandbox::new()
        .script("bin/man", "#!/bin/sh\nexit 3\n")
        .file("event", "");
    let path = format!("{}:/usr/bin:/bin", fails.at("bin").display());
    let fails = fails.variable("PATH", &path);
    shown_at_terminal(&fails, &["man", "state-get"], &[])
        .exits(0)
        .says("hookrun-state-get(1)");
    reads.hookrun(&["man", "run"], b"").prints("hookrun-run(1)");
}

#[test]
fn an_unknown_page_is_refused_with_the_nearest_one() {
    let said = |page: &str| {
        let ran = Sandbox::new().hookrun(&["man", page], b"");
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.stderr
    };
    assert_eq!(
        said("tset"),
        "error: no manual page `tset`\n  help: did you mean `test`?\n"
    );
    assert_eq!(
        said("hookrun-valdate"),
        "error: no manual page `hookrun-valdate`\n  help: did you mean `hookrun-validate`?\n"
    );
    assert!(said("zzz").contains("help: there are hookrun, hookrun-run, "));
}

#[test]
fn a_page_has_a_synopsis_that_can_be_read_and_examples() {
    let page = |name: &str| Sandbox::new().hookrun(&["man", name], b"").stdout;
    let test = page("test");
    assert!(
        test.contains("SYNOPSIS\n    hookrun test [OPTIONS] [EVENT]\n"),
        "{test}"
    );
    let example = "EXAMPLES\n    hookrun test\n        play the project's suite\n";
    assert!(test.contains(example), "{test}");
    for name in COMMANDS {
        assert!(!page(name).contains("EXTRA"), "{name}");
    }
}
