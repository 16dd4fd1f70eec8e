//! What a person is shown and asked at the terminal.

use std::fs;
use std::process::Command;

use super::{GUARD, QUESTION, project};
use crate::sandbox::{Sandbox, TOOL};
use crate::ui::screen::{at, at_terminal, words_at_terminal};

fn with_event(sandbox: Sandbox) -> Sandbox {
    sandbox.file("event", "")
}

#[test]
fn a_person_sees_what_would_run_and_is_asked_once_for_a_content() {
    let sandbox = with_event(project()).script(
        "hooks.d/tool.pre/20-loose.sh",
        "#!/bin/sh\n# hookrun: on_failure=allow timeout=90s\n",
    );
    let asked = at_terminal(&sandbox, &["trust"], &[at(QUESTION, "y\r")]);
    asked.exits(0);
    for part in [
        "are not trusted yet",
        "tool.pre         10-guard.sh, 20-loose.sh",
    ] {
        assert!(asked.stderr.contains(part), "{part}: {asked:?}");
    }
    sandbox.runs();
    // Nobody is asked again.
    at_terminal(&sandbox, &["trust"], &[]).exits(0);
    assert!(sandbox.read("stdout").contains("are already trusted"));
}

#[test]
fn a_change_is_shown_and_the_files_if_wanted() {
    let sandbox = with_event(project().trusted());
    let sandbox = sandbox.script(
        "hooks.d/tool.pre/10-guard.sh",
        &format!("{GUARD}# \u{1b}[2J\n"),
    );
    let asked = at_terminal(
        &sandbox,
        &["trust"],
        &[at(QUESTION, "d\r"), at(QUESTION, "n\r")],
    );
    asked.exits(1);
    for part in [
        "have changed since you trusted them",
        "+# \\u{1b}[2J",
        "--- 755",
        "10-guard.sh: changed",
    ] {
        assert!(asked.stderr.contains(part), "{part}: {asked:?}");
    }
    assert!(!asked.stderr.contains("\u{1b}[2J"), "{asked:?}");
    sandbox.holds();
}

#[test]
fn a_host_at_a_terminal_asks_nobody_about_trust() {
    let sandbox = with_event(project());
    fs::write(sandbox.at("event"), TOOL).unwrap();
    let ran = at_terminal(&sandbox, &["run", "tool.pre"], &[]);
    ran.exits(2);
    assert!(!ran.stderr.contains(QUESTION), "{ran:?}");
    sandbox.has_no_file("ran");
}

#[test]
fn a_job_in_the_background_of_a_terminal_is_no_person() {
    let sandbox = with_event(project());
    let hookrun = sandbox.command(&[]);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-mc", "\"$0\" trust & wait $!"])
        .arg(hookrun.get_program());
    let ran = words_at_terminal((24, 80), &sandbox, &shell, &[]);
    ran.exits(2);
    assert!(
        ran.stderr.contains("needs an interactive terminal"),
        "{ran:?}"
    );
    sandbox.holds();
}

#[test]
fn install_asks_a_person_and_tells_everybody_else() {
    let sandbox = with_event(project());
    let told = sandbox.hookrun(&["install", "claude"], b"");
    told.exits(0).prints("to do: run `hookrun trust`");
    sandbox.holds();
    at_terminal(&sandbox, &["install", "claude"], &[at(QUESTION, "y\r")]).exits(0);
    sandbox.runs();
}

#[test]
fn a_person_who_trusts_a_hook_is_told_what_is_wrong_with_it() {
    let wrong = "#!/bin/sh\n# hookrun: tool=wrte\nexit 1\n";
    let sandbox = with_event(project()).script("hooks.d/tool.pre/20-env.sh", wrong);
    let trusted = at_terminal(&sandbox, &["trust"], &[at(QUESTION, "y\r")]);
    trusted.exits(0).says("did you mean `write`?");
}

#[test]
fn a_person_sees_what_is_wrong_before_the_question() {
    let sandbox = with_event(project()).file("hooks.d/tool.pre/20-env.sh", "#!/bin/sh\n");
    let asked = at_terminal(&sandbox, &["trust"], &[at(QUESTION, "n\r")]);
    let place = |text: &str| {
        asked
            .stderr
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {asked:?}"))
    };
    assert!(
        place("is not executable") < place("Run these hooks from now on?"),
        "{asked:?}"
    );
    assert!(
        place("chmod +x") < place("Run these hooks from now on?"),
        "{asked:?}"
    );
    // What is asked about is no problem.
    assert!(!asked.stderr.contains("warning"), "{asked:?}");
    asked.exits(1);
}
