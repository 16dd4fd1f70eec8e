//! `hookrun man --dir DIR`.

use std::fs;
use std::process::{Command, Stdio};

use super::COMMANDS;
use crate::sandbox::Sandbox;

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

#[test]
fn a_page_has_a_synopsis_that_can_be_read_and_examples() {
    let sandbox = Sandbox::new();
    sandbox.hookrun(&["man", "--dir", "pages"], b"").exits(0);
    let page = |name: &str| sandbox.read(&format!("pages/hookrun-{name}.1"));
    let test = page("test");
    assert!(
        test.contains(".SH SYNOPSIS\nhookrun test [OPTIONS] [EVENT]\n"),
        "{test}"
    );
    let example = ".SH EXAMPLES\n.TP\n.B hookrun test\nplay the project's suite\n";
    assert!(test.contains(example), "{test}");
    for name in COMMANDS {
        assert!(!page(name).contains("EXTRA"), "{name}");
    }
}
