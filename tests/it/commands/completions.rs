//! `hookrun completions SHELL`, by the shells themselves.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::Sandbox;

/// Asks each shell for the words that may stand at the end of a line: `$1` is the line, its last
/// word is being typed.
const SHELLS: &[(&str, &str)] = &[
    (
        "bash",
        r#"source <(hookrun completions bash) || exit
        complete -p hookrun >/dev/null || exit
        IFS=' ' read -ra COMP_WORDS <<<"$1"
        [[ $1 == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9
        _clap_complete_hookrun hookrun "${COMP_WORDS[COMP_CWORD]}" ''
        printf '%s\n' "${COMPREPLY[@]}""#,
    ),
    (
        "zsh",
        r#"compdef() { :; }
        _describe() { print -rl -- ${(P)@[-1]%%:*}; }
        source <(hookrun completions zsh)
        words=(${(s: :)1}); [[ $1 == *' ' ]] && words+=('')
        CURRENT=${#words}
        _clap_dynamic_completer_hookrun"#,
    ),
    (
        "fish",
        r#"hookrun completions fish | source
        complete -C "$argv[1]" | string replace -r '\t.*' ''"#,
    ),
];

/// What a shell offers, if it is there; nothing may come on stderr.
fn offered(sandbox: &Sandbox, shell: &str, program: &str, line: &str) -> Option<Vec<String>> {
    let own = Path::new(env!("CARGO_BIN_EXE_hookrun"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    let mut command = Command::new(shell);
    if shell == "zsh" {
        command.arg("-f");
    }
    command
        .args(["-c", program])
        .args((shell != "fish").then_some(shell))
        .arg(line);
    let like = sandbox.command(&[]);
    command.env_clear().current_dir(sandbox.path());
    command.envs(
        like.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command.env("PATH", format!("{own}:/usr/local/bin:/usr/bin:/bin"));
    // A shell that is not installed has nothing to show.
    let output = command.output().ok()?;
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "",
        "{shell}: {line}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    Some(
        text.lines()
            .map(str::to_string)
            .filter(|word| !word.is_empty())
            .collect(),
    )
}

/// A project whose configuration is broken in all the usual ways, and whose hooks leave a mark
/// when they are run.
fn project() -> Sandbox {
    let sandbox = Sandbox::new()
        .hook("10-guard.sh", "touch ran")
        .hook("$(touch ran)", "touch ran")
        .hook("two words", "touch ran")
        .hook_for("agent.stop", "tests.sh", "# hookrun: timeuot=3\ntouch ran")
        .hook_for("tool.pro", "never.sh", "touch ran")
        .file("hookrun.toml", "[event.\"deploy.pre\"]\nsummary = \"x\"\n[[hook]]\nname = 3\n[sets.base]\npath = 's'\n[sets.more]\npath = 's'\n");
    fs::create_dir(sandbox.at(".git")).unwrap();
    sandbox
}

#[test]
fn every_shell_completes_what_exists_here_and_runs_no_hook() {
    let sandbox = project();
    for (line, with, without) in [
        (
            "hookrun run tool.",
            &["tool.pre", "tool.post"][..],
            &["agent.stop", "10-guard.sh"][..],
        ),
        ("hookrun run PreT", &["PreToolUse"], &["tool.pre"]),
        (
            "hookrun test ",
            &["tool.pre", "agent.stop", "commit.msg", "deploy.pre"],
            &["PreToolUse"],
        ),
        (
            "hookrun new guard --event comm",
            &["commit.pre", "commit.msg"],
            &["tool.pre"],
        ),
        ("hookrun list --event pu", &["push.pre"], &["tool.pre"]),
        ("hookrun events se", &["session.start"], &["tool.pre"]),
        ("hookrun schema deploy", &["deploy.pre"], &["tool.pre"]),
        (
            "hookrun why --event agent.s",
            &["agent.stop"],
            &["tool.pre"],
        ),
        (
            "hookrun test tool.pre --hook ",
            &["10-guard.sh", "tests.sh"],
            &["two", "$(touch ran)"],
        ),
        ("hookrun test --hook te", &["tests.sh"], &["10-guard.sh"]),
        (
            "hookrun run tool.pre --require 1",
            &["10-guard.sh"],
            &["tests.sh"],
        ),
        (
            "hookrun list ",
            &["10-guard.sh", "tests.sh"],
            &["two words", "hookrun.toml"],
        ),
        ("hookrun why --hook 10", &["10-guard.sh"], &["tests.sh"]),
        (
            "hookrun run --host c",
            &["claude", "codex", "cursor", "copilot"],
            &["git"],
        ),
        (
            "hookrun run --host ",
            &["claude", "git", "native", "pi"],
            &["tool.pre"],
        ),
        (
            "hookrun why --host ",
            &["claude", "git", "native"],
            &["tool.pre"],
        ),
        ("hookrun list --dialect ", &["claude", "omp"], &["git"]),
        (
            "hookrun install ",
            &["claude", "git"],
            &["hooks.d", "hooks.d/", "home"],
        ),
        ("hookrun uninstall co", &["codex"], &["claude"]),
        ("hookrun doctor g", &["gemini", "git"], &["claude"]),
        ("hookrun sets update b", &["base"], &["more"]),
        ("hookrun completions f", &["fish"], &["bash"]),
        ("hookrun new a --lang p", &["python"], &["sh"]),
        ("hookrun inst", &["install"], &["run"]),
        ("hookrun s", &["schema", "send"], &["supervise"]),
        ("hookrun --col", &["--color"], &["--log"]),
        ("hookrun field toolInput.x", &[], &[]),
        ("hookrun nothing like ", &[], &[]),
    ] {
        for (shell, program) in SHELLS {
            let Some(words) = offered(&sandbox, shell, program, line) else {
                continue;
            };
            let has = |word: &&str| words.iter().any(|offered| offered == word);
            assert!(with.iter().all(has), "{shell}: {line}: {words:?}");
            assert!(!without.iter().any(has), "{shell}: {line}: {words:?}");
        }
    }
    sandbox.has_no_file("ran");
}

#[test]
fn all_events_are_offered_the_common_ones_first() {
    let sandbox = Sandbox::new();
    let (shell, program) = SHELLS[0];
    let words = offered(&sandbox, shell, program, "hookrun run ").unwrap();
    assert_eq!(words[..2], ["tool.pre", "tool.post"], "{words:?}");
    for spec in hookrun::internals::event::catalog::EVENTS {
        assert!(words.iter().any(|word| *word == spec.name), "{}", spec.name);
    }
}

#[test]
fn every_shell_has_a_script_and_it_says_nothing_internal() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Sandbox::new().hookrun(&["completions", shell], b"");
        ran.exits(0);
        assert!(ran.stdout.contains("HOOKRUN_COMPLETE"), "{shell}: {ran:?}");
        assert_eq!(ran.stderr, "", "{shell}");
    }
}

#[test]
fn the_variable_of_the_scripts_answers_no_command_and_opens_no_gate() {
    let sandbox = Sandbox::new()
        .hook("a.sh", "echo no >&2; exit 1")
        .hook_for("commit.pre", "a.sh", "echo no >&2; exit 1")
        .variable("HOOKRUN_COMPLETE", "bash");
    sandbox.run("tool.pre").blocks("no");
    for line in [
        &["run", "tool.pre", "--color", "never"][..],
        &["run", "--host", "git", "pre-commit"],
    ] {
        let ran = sandbox.hookrun(line, b"{}");
        assert_ne!(ran.status, 0, "{line:?}: {ran:?}");
    }
    let sandbox = Sandbox::new().variable("HOOKRUN_COMPLETE", "nosh");
    for line in [&["--"][..], &["--", "hookrun", "run"]] {
        let ran = sandbox.hookrun(line, b"{}");
        assert_eq!(ran.status, 2, "{line:?}: {ran:?}");
    }
}

#[test]
fn an_unknown_shell_is_refused_with_those_that_are_known() {
    let ran = Sandbox::new().hookrun(&["completions", "tcsh"], b"");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    ran.says("[possible values: bash, elvish, fish, powershell, zsh]");
}
