//! What a person sees.

use crate::sandbox::{Ran, Sandbox};

const RM: &[u8] = br#"{"toolName":"Bash","toolInput":{"command":"rm -rf /"}}"#;

/// The report with times made equal.
fn screen(ran: &Ran) -> String {
    let number = |word: &str| word.parse::<f64>().is_ok();
    let mut lines = Vec::new();
    for line in ran.stdout.lines() {
        let mut words: Vec<&str> = line.split(' ').collect();
        for at in 1..words.len() {
            if words[at] == "ms" && number(words[at - 1]) {
                words[at - 1] = "N";
            }
        }
        lines.push(words.join(" "));
    }
    lines.join("\n")
}

#[test]
fn a_block_can_be_understood_by_somebody_who_has_never_seen_the_tool() {
    let sandbox = Sandbox::new()
        .hook("10-look.sh", "echo looked")
        .hook("20-write.sh", "# hookrun: tool=write")
        .hook(
            "30-guard.sh",
            "# hookrun: tool=bash\necho 'rm -rf needs a person' >&2; exit 1",
        )
        .hook("40-late.sh", "");

    let ran = sandbox.hookrun(&["test", "tool.pre"], RM);

    ran.exits(1);
    assert_eq!(ran.stderr, "");
    assert_eq!(
        screen(&ran),
        "\
tool.pre  a tool is about to run
        event    stdin
        tool     Bash (shell)
        command  rm -rf /
        paths    /

allow   10-look.sh
        file     hooks.d/tool.pre/10-look.sh (project layer)
        matched  every event
        exit     status 0 after N ms
        stdout   looked
        verdict  allow
        output   looked
        rule     the hook exits 0 and prints text
                 means: allow; the text is `output`, or `additionalContext`
                 where the event says so

skip    20-write.sh
        file     hooks.d/tool.pre/20-write.sh (project layer)
        why      its `tool` is `write`; the event's tool is `Bash`

BLOCK   30-guard.sh
        file     hooks.d/tool.pre/30-guard.sh (project layer)
        matched  tool bash
        exit     status 1 after N ms
        stderr   rm -rf needs a person
        verdict  block: rm -rf needs a person
        rule     the hook exits with a status other than 0
                 means: block; the reason is stderr, else the answer's `reason`,
                 else stdout

skip    40-late.sh
        file     hooks.d/tool.pre/40-late.sh (project layer)
        why      `30-guard.sh` settled the event before this hook's turn

BLOCKED by 30-guard.sh
        reason   rm -rf needs a person
        cause    a hook decided
        see      hooks.d/tool.pre/30-guard.sh
        took     N ms

The host gets
        exit     status 2
        stdout   {\"continue\":false,\"reason\":\"rm -rf needs a person\"}
        stderr   rm -rf needs a person"
    );
}

#[test]
fn no_hooks_means_allowed_and_says_so() {
    let ran = Sandbox::new().hookrun(&["test", "tool.pre"], b"{}");
    ran.exits(0);
    assert_eq!(
        screen(&ran),
        "\
tool.pre  a tool is about to run
        event    stdin
        tool     note (other)

No hook is bound to this event.

ALLOWED  the action continues.
        took     N ms

The host gets
        exit     status 0"
    );
}

#[test]
fn with_nothing_on_stdin_the_sample_is_used_and_said_to_be() {
    let sandbox = Sandbox::new().hook("x", "");
    let said = "nothing on stdin, so this is the event's sample";
    let null = sandbox.hookrun_as(
        |command| {
            command.stdin(std::fs::File::open("/dev/null").unwrap());
        },
        &["test", "tool.pre"],
        b"",
    );
    null.exits(0).prints(said);
}

#[test]
fn an_empty_file_or_pipe_is_an_event_that_is_missing_and_never_allowed() {
    let sandbox = Sandbox::new()
        .hook("x", "")
        .file("empty.json", "")
        .file("blank.json", " \n\t");
    for line in [
        "\"$0\" test tool.pre < empty.json",
        "\"$0\" test tool.pre < blank.json",
        ": | \"$0\" test tool.pre",
        "\"$0\" test PreToolUse --host claude < empty.json",
        "\"$0\" test tool.pre --format json < empty.json",
    ] {
        let ran = sandbox.hookrun_by_shell(line, b"");
        ran.exits(2).says("stdin is an empty file or pipe");
        assert!(
            ran.stdout.is_empty() && ran.stderr.contains(" < /dev/null`"),
            "{line}: {ran:?}"
        );
    }
    let closed = sandbox.hookrun_by_shell("\"$0\" test tool.pre <&-", b"");
    closed
        .exits(0)
        .prints("nothing on stdin, so this is the event's sample");
}

#[test]
fn without_a_name_an_empty_stdin_of_any_sort_plays_the_suite() {
    let case = "[[case]]\nname = 'a'\nevent = 'tool.pre'\nexpect = { decision = 'allow' }\n";
    let sandbox = Sandbox::new().hook("x", "").file("empty.json", "");
    let sandbox = sandbox.file("hooks.d/tests/x.toml", case);
    for (line, is_noted) in [
        ("\"$0\" test < empty.json", true),
        (": | \"$0\" test", true),
        ("\"$0\" test < /dev/null", false),
        ("\"$0\" test <&-", false),
        ("\"$0\" test --suite < empty.json", false),
    ] {
        let ran = sandbox.hookrun_by_shell(line, b"");
        ran.exits(0).prints("ok: 1 case");
        let note = "note: stdin is empty, so this runs the suite\n";
        assert_eq!(ran.stderr, if is_noted { note } else { "" }, "{line}");
    }
    let unnamed = sandbox.hookrun_by_shell("\"$0\" test --budget 5s < empty.json", b"");
    unnamed
        .exits(2)
        .says("no event given, and nothing on stdin");
}

#[test]
fn a_question_says_who_asks_and_what_happens_without_a_person() {
    let sandbox = Sandbox::new().hook("x.sh", r#"echo '{"ask":"Push to main?"}'"#);
    let ran = sandbox.hookrun(&["test", "tool.pre"], b"{}");
    ran.exits(1).prints("ASK     x.sh\n").prints("        verdict  ask: Push to main?\n").prints(
        "ASK  a person decides; if nobody can answer, hookrun blocks.\n        asks     x.sh: Push to main?\n",
    );
}

#[test]
fn a_failure_is_told_from_a_decision() {
    let sandbox = Sandbox::new().hook("x.sh", "# hookrun: timeout=100ms\nsleep 30");
    let ran = sandbox.hookrun(&["test", "tool.pre"], b"{}");
    ran.exits(1)
        .prints("FAILED  x.sh\n")
        .prints("        failed   timed out after 100ms\n")
        .prints("        reason   hook `x.sh` failed: timed out after 100ms (fail closed)\n")
        .prints(
            "        cause    a hook or hookrun itself failed, and failures block this event\n",
        );
}

#[test]
fn a_failure_that_is_let_through_says_so() {
    let sandbox = Sandbox::new().hook("x.sh", "# hookrun: on_failure=allow\nkill -KILL $$");
    let ran = sandbox.hookrun(&["test", "tool.pre"], b"{}");
    ran.exits(0)
        .prints("FAILED  x.sh\n")
        .prints("killed by SIGKILL")
        .prints("a failure allows (on_failure = allow)\n")
        .prints("ALLOWED  the action continues.");
}

#[test]
fn a_rewrite_is_shown_as_a_difference() {
    let sandbox = Sandbox::new().hook(
        "safe.sh",
        "# hookrun: rewrite\n\
         echo '{\"update\":{\"toolInput\":{\"command\":\"rm -ri /\",\"cwd\":\"/\",\"list\":[1],\"timeout\":9}}}'",
    );
    let came = br#"{"toolName":"Bash","toolInput":{"command":"rm -rf /","cwd":"/","list":[1,2]}}"#;
    sandbox
        .hookrun(&["test", "tool.pre"], came)
        .exits(0)
        .prints(
            "\nrewrite of toolInput by safe.sh\n\
         \x20 - toolInput.command: \"rm -rf /\"\n\
         \x20 + toolInput.command: \"rm -ri /\"\n\
         \x20 - toolInput.list.1: 2\n\
         \x20 + toolInput.timeout: 9\n",
        );
    // The head is the event as it came.
    sandbox
        .hookrun(&["test", "tool.pre"], RM)
        .prints("        command  rm -rf /\n");
}

#[test]
fn a_disabled_hook_and_a_detached_event_are_told() {
    let sandbox = Sandbox::new().hook("off.sh", "# hookrun: enabled=false");
    sandbox
        .hookrun(&["test", "tool.pre"], b"{}")
        .exits(0)
        .prints("skip    off.sh\n")
        .prints("        why      disabled: `enabled = false`\n");
}

#[test]
fn our_own_words_fit_into_80_columns() {
    let bodies = [
        "",
        "echo text",
        "echo '{\"continue\":true}'",
        "echo '{\"continue\":false}'",
        "echo '{\"ask\":\"?\"}'",
        "echo '{\"contine\":false}'",
        "echo 'noise'; echo '{\"continue\":false}'",
        "exit 1",
        "kill -SEGV $$",
        "# hookrun: timeout=100ms\nsleep 9",
        "# hookrun: timeout=100ms on_failure=allow\nsleep 9",
        "# hookrun: tool=write",
        "# hookrun: enabled=false",
        "# hookrun: rewrite\necho '{\"update\":{\"toolInput\":{\"command\":\"x\"}}}'",
    ];
    for body in bodies {
        for event in ["tool.pre", "turn.start"] {
            let sandbox = Sandbox::new().hook_for(event, "x", body);
            let ran = sandbox.hookrun(
                &["test", event],
                b"{\"toolName\":\"bash\",\"toolInput\":{}}",
            );
            // What the host gets is its words, not ours.
            let ours = ran
                .stdout
                .split("The host gets")
                .next()
                .unwrap()
                .to_string();
            for line in ours.lines() {
                assert!(line.chars().count() <= 80, "{body}: {line}");
            }
        }
    }
}

#[test]
fn there_is_no_colour_but_on_a_terminal_or_by_order() {
    let plain = Sandbox::new().hook("x", "echo no >&2; exit 1");
    let test = |sandbox: &Sandbox, more: &[&str]| {
        let mut all = vec!["test", "tool.pre"];
        all.extend(more);
        sandbox.hookrun(&all, b"{}").stdout.contains('\u{1b}')
    };
    assert!(!test(&plain, &[]));
    assert!(!test(&plain, &["--color", "auto"]));
    assert!(!test(&plain, &["--color", "never"]));
    assert!(test(&plain, &["--color", "always"]));
    assert!(
        !test(&plain, &["--color", "always", "--format", "json"]),
        "data has no colour"
    );

    let asked_not_to = plain.variable("NO_COLOR", "1");
    assert!(!test(&asked_not_to, &[]));
    assert!(
        test(&asked_not_to, &["--color", "always"]),
        "what is typed goes before NO_COLOR"
    );
}

/// Runs hookrun on a terminal of `script`'s, if there is one.
fn on_a_terminal(sandbox: &Sandbox, line: &str) -> Option<String> {
    let mut command = std::process::Command::new("script");
    command
        .args(["-qec", line, "/dev/null"])
        .current_dir(sandbox.path());
    command
        .stdin(std::process::Stdio::null())
        .env_clear()
        .env("TERM", "xterm-256color");
    command
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", sandbox.at("home"));
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_terminal_gets_colour_unless_no_color_is_set() {
    let sandbox = Sandbox::new().hook("x", "echo no >&2; exit 1");
    let line = format!("{} test tool.pre </dev/null", env!("CARGO_BIN_EXE_hookrun"));
    let Some(screen) = on_a_terminal(&sandbox, &line) else {
        return;
    };
    assert!(screen.contains("\u{1b}["), "{screen:?}");

    let screen = on_a_terminal(&sandbox, &format!("NO_COLOR=1 {line}")).unwrap();
    assert!(!screen.contains("\u{1b}["), "{screen:?}");
}

#[test]
fn escape_sequences_of_hooks_never_reach_the_terminal() {
    let evil = "\\033[31mred\\033]0;title\\007\\r\\177\\302\\2331mc1";
    let update = r#"{"update":{"toolInput":{"a\u001b[2J":"\u001b[2J\u009b2J\u007f"}}}"#;
    let sandbox = Sandbox::new()
        .hook(
            "10-out\u{1b}[31m",
            &format!("printf 'out {evil}'; printf 'err {evil}' >&2"),
        )
        .hook(
            "20-rewrite",
            &format!("# hookrun: rewrite\nprintf '%s' '{update}'"),
        )
        .hook("30-match", "# hookrun: command='rm|\u{1b}\\[31m'")
        .hook("40-unwanted", "# hookrun: command='q|\u{1b}\\[31m'")
        .hook("50-ask", r#"printf '%s' '{"ask":"\u001b[2Jsure?"}'"#);
    let context = r#"{"toolName":"Bash\u001b[31m","toolInput":{"command":"rm \u001b[31m\u009b"}}"#;

    for format in ["always", "never"] {
        let arguments = ["test", "tool.pre", "--color", format];
        let ran = sandbox.hookrun(&arguments, context.as_bytes());
        assert!(ran.stdout.contains("red"), "{ran:?}");
        for (start, _) in ran.stdout.match_indices('\u{1b}') {
            let rest = &ran.stdout[start + 1..];
            let ours = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];
            assert!(
                ours.iter().any(|one| rest.starts_with(one)),
                "{:?}",
                &rest[..20.min(rest.len())]
            );
        }
        let without_ours = ran.stdout.replace("\u{1b}[", "");
        for bad in ['\u{7}', '\r', '\u{7f}', '\u{9b}'] {
            assert!(!without_ours.contains(bad), "{bad:?} in {without_ours:?}");
        }
        // Red is ours only around words of ours.
        for word in ["[31mred", "out [31m", "Bash\u{1b}", "rm \u{1b}", "a\u{1b}"] {
            assert!(
                !ran.stdout
                    .replace("\u{1b}[31m- ", "")
                    .contains(&format!("\u{1b}{word}"))
            );
        }
    }
}

#[test]
fn long_output_is_cut_and_says_where_the_rest_is() {
    let sandbox = Sandbox::new().hook("x", "seq 1 30; head -c 5000 /dev/zero | tr '\\0' y >&2");
    let ran = sandbox.hookrun(&["test", "tool.pre"], b"{}");
    ran.exits(0)
        .prints("… 10 more lines, 81 bytes in all; --format json shows them")
        .prints("… (5000 characters)");
    assert!(ran.stdout.lines().count() < 100, "{ran:?}");
}
