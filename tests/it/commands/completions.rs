//! `hookrun completions SHELL`.

use std::path::Path;
use std::process::Command;

use crate::sandbox::Sandbox;

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Sandbox::new().hookrun(&["completions", shell], b"");
        ran.exits(0).prints("uninstall");
        assert_eq!(ran.stderr, "", "{shell}");
    }
}

#[test]
fn bash_completes_commands_options_and_their_values() {
    let program = r#"source <(hookrun completions bash) || exit
        IFS=' ' read -ra COMP_WORDS <<<"$1"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _hookrun hookrun "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let folder = Path::new(env!("CARGO_BIN_EXE_hookrun")).parent().unwrap();
    for (line, word) in [
        ("hookrun inst", "install"),
        ("hookrun run --bud", "--budget"),
        ("hookrun run --host c", "claude"),
        ("hookrun hook u", "ui"),
    ] {
        let mut bash = Command::new("bash");
        bash.args(["-c", program, "bash", line]);
        bash.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
        let Ok(output) = bash.output() else { return };
        let offered = String::from_utf8_lossy(&output.stdout);
        assert!(
            offered.lines().any(|offer| offer == word),
            "{line}: {offered}"
        );
    }
}

#[test]
fn an_unknown_shell_is_rejected_with_those_that_are_known() {
    let ran = Sandbox::new().hookrun(&["completions", "tcsh"], b"");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    ran.says("[possible values: bash, elvish, fish, powershell, zsh]");
}
