//! `hookrun completions SHELL`.

use std::process::Command;

use crate::sandbox::Sandbox;

#[test]
fn every_shell_gets_a_script_with_every_command_and_nothing_internal() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Sandbox::new().hookrun(&["completions", shell], b"");
        ran.exits(0);
        for word in [
            "run", "test", "list", "show", "validate", "events", "schema", "field", "ui", "send",
            "state", "man",
        ] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
        assert!(!ran.stdout.contains("supervise"), "{shell} completes an internal command");
        assert_eq!(ran.stderr, "", "{shell}");
    }
}

#[test]
fn the_script_for_bash_parses() {
    let sandbox = Sandbox::new();
    let script = sandbox.hookrun(&["completions", "bash"], b"").stdout;
    let sandbox = sandbox.file("script", &script);
    let Ok(output) = Command::new("bash").arg("-n").arg(sandbox.at("script")).output() else {
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn an_unknown_shell_is_refused_with_those_that_are_known() {
    let ran = Sandbox::new().hookrun(&["completions", "tcsh"], b"");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    ran.says("[possible values: bash, elvish, fish, powershell, zsh]");
}
