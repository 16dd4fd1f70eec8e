//! Dialogs on a real terminal.

use serde_json::json;

use super::screen::{UNTIL_SHOWN, asking, at, at_terminal, decided, told};
use crate::sandbox::{Sandbox, TOOL};

const SELECT: &str = "chosen=$(hookrun hook ui select 'Which one?' alpha 'beta two' gamma); \
                      echo \"$? <$chosen>\"";
const INPUT: &str = "text=$(hookrun hook ui input Name 'like this'); echo \"$? <$text>\"";
const CONFIRM: &str = "hookrun hook ui confirm Dangerous 'Allow it?'; echo $?";

/// What a hook with this body prints after somebody has pressed `keys` at the text `at`.
#[track_caller]
fn says(body: &str, text: &'static str, keys: &'static str, output: &str) {
    let ran = decided(&asking("timeout=1m", body), &[at(text, keys)]);
    ran.allows_with(json!({ "output": output }));
}

#[test]
fn a_choice_is_the_number_of_an_option() {
    for (keys, output) in [
        ("1\r", "0 <alpha>"),
        ("2\r", "0 <beta two>"),
        ("1\u{7f}3\r", "0 <gamma>"),
        ("0\r", "1 <>"),
        ("4\r", "1 <>"),
        ("x\r", "1 <>"),
        ("\r", "1 <>"),
        ("\u{4}", "1 <>"),
    ] {
        says(SELECT, "number> ", keys, output);
    }
}

#[test]
fn a_line_is_typed_and_edited() {
    for (keys, output) in [
        ("Ada L\r", "0 <Ada L>"),
        ("\r", "0 <>"),
        ("bcd\u{7f}\r", "0 <bc>"),
        ("one two\u{17}three\r", "0 <one three>"),
        ("gone\u{15}there\r", "0 <there>"),
        ("日本\r", "0 <日本>"),
        ("\u{4}", "1 <>"),
    ] {
        says(INPUT, "(like this) > ", keys, output);
    }
}

#[test]
fn only_a_yes_confirms() {
    for (keys, output) in [
        ("y\r", "0"),
        ("yes\r", "0"),
        ("n\r", "1"),
        ("\r", "1"),
        ("maybe\r", "1"),
        ("\u{4}", "1"),
    ] {
        says(CONFIRM, "Allow it? [y/N] ", keys, output);
    }
}

#[test]
fn only_a_host_has_an_editor() {
    let body = "hookrun hook ui editor Edit 'old text'; echo \"$?\"";
    decided(&asking("timeout=1m", body), &[]).allows_with(json!({ "output": "1" }));
}

#[test]
fn a_hook_keeps_its_own_stdin_and_stdout() {
    let body = "hookrun hook ui confirm Sure >/dev/null </dev/null || exit 1\nhookrun hook field a";
    let sandbox = asking("timeout=1m", body).file("event", r#"{"toolName":"x","a":"from stdin"}"#);
    let ran = decided(&sandbox, &[at("Sure [y/N] ", "y\r")]);
    ran.allows_with(json!({ "output": "from stdin" }));
}

#[test]
fn a_person_is_told_of_messages_and_knows_from_whom() {
    let body = "hookrun hook ui notify one; hookrun hook ui notify --type warning two\n\
                hookrun hook ui notify --type error three; hookrun hook ui status key text; echo $?";
    let ran = decided(&asking("timeout=1m", body), &[]);
    ran.allows_with(json!({ "output": "0" }));
    ran.says("hook guard: one\r\nhook guard: warning: two\r\nhook guard: error: three\r\n");
}

#[test]
fn a_hook_knows_that_there_is_somebody() {
    let ran = decided(&asking("timeout=1m", "echo $HOOKRUN_HAS_UI"), &[]);
    ran.allows_with(json!({ "output": "1" }));
}

#[test]
fn no_text_of_a_hook_moves_the_cursor_or_looks_like_a_prompt() {
    let body = "hookrun hook ui select \"$(printf 'a\\033[2J\\rb\\nhook other asks: c')\" \
                \"$(printf 'x\\033[9Ay\\nz')\"";
    let ran = decided(
        &asking("timeout=1m", body),
        &[at(r"1. x\u{1b}[9Ay\nz", "1\r")],
    );
    ran.says("hook guard asks: a\\u{1b}[2J\\rb\r\n  hook other asks: c\r\n");
    assert!(!ran.stderr.contains("\u{1b}[2J"), "{ran:?}");
    assert!(!ran.stderr.contains("\u{1b}[9A"), "{ran:?}");
}

#[test]
fn a_long_text_is_cut_and_says_how_much_is_hidden() {
    let body = "hookrun hook ui select \"$(printf '%02000d' 0)\" yes";
    let ran = decided(&asking("timeout=1m", body), &[at("number> ", "1\r")]);
    ran.says("00 … (1000 more characters)");
}

#[test]
fn dialogs_of_hooks_that_run_together_come_one_after_the_other() {
    let steps = [
        at("> ", "first\r"),
        at("> ", "second\r"),
        at("> ", "third\r"),
    ];
    let sandbox = Sandbox::new().file("event", TOOL);
    let sandbox = ["one", "two", "three"]
        .iter()
        .fold(sandbox, |sandbox, name| {
            let body = super::with_hookrun("hookrun hook ui input Name");
            sandbox.hook(name, &format!("# hookrun: timeout=1m parallel\n{body}"))
        });
    let ran = at_terminal(&sandbox, &["run", "tool.pre", "--jobs", "3"], &steps);
    ran.exits(0);
    for answer in ["first", "second", "third"] {
        ran.prints(answer);
    }
}

#[test]
fn a_dialog_is_withdrawn_when_a_neighbour_blocks() {
    let waits = format!("{UNTIL_SHOWN}; echo no >&2; exit 1");
    let asks = super::with_hookrun("hookrun hook ui confirm Sure");
    let sandbox = Sandbox::new()
        .file("event", TOOL)
        .hook(
            "10-refuse",
            &format!("# hookrun: timeout=1m parallel\n{waits}"),
        )
        .hook("20-ask", &format!("# hookrun: timeout=1m parallel\n{asks}"));
    decided(&sandbox, &[told("Sure [y/N] ")]).blocks_saying("no");
}

#[test]
fn a_dialog_is_withdrawn_when_its_hook_ends() {
    let body = format!("hookrun hook ui select Which a b & {UNTIL_SHOWN}; echo over >&2; exit 1");
    let ran = decided(&asking("timeout=1m", &body), &[told("number> ")]);
    ran.blocks_saying("over").says("(no option chosen)");
}

#[test]
fn control_c_at_a_dialog_blocks() {
    for (body, text) in [
        (SELECT, "number> "),
        (INPUT, "this) > "),
        (CONFIRM, "[y/N] "),
    ] {
        let ran = decided(&asking("timeout=1m", body), &[at(text, "\u{3}")]);
        ran.blocks_saying("hookrun was interrupted");
    }
}

#[test]
fn a_question_of_a_hook_and_one_of_hookrun_can_follow_each_other() {
    let body = "hookrun hook ui confirm First >/dev/null || exit 1\necho '{\"ask\":\"Second?\"}'";
    let steps = [at("First [y/N] ", "y\r"), at("Second? [y/N] ", "y\r")];
    decided(&asking("timeout=1m", body), &steps).allows();
}

#[test]
fn test_asks_as_run_does() {
    let steps = [at("[y/N] ", "y\r")];
    let ran = at_terminal(
        &asking("timeout=1m", CONFIRM),
        &["test", "tool.pre"],
        &steps,
    );
    ran.exits(0).prints("ALLOWED");
}

#[test]
fn started_by_hand_it_asks_by_itself() {
    let sandbox = Sandbox::new().file("event", "");
    let ran = at_terminal(
        &sandbox,
        &["hook", "ui", "select", "Which", "a", "b"],
        &[at("number> ", "2\r")],
    );
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "b\n"), "{ran:?}");
    ran.says("hook hookrun asks: Which");
    let interrupted = at_terminal(
        &sandbox,
        &["hook", "ui", "input", "Name"],
        &[at("> ", "\u{3}")],
    );
    interrupted.exits(1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_hook_in_a_sandbox_can_ask_send_and_share() {
    let body = "hookrun hook ui confirm Sure || exit 1\n\
                hookrun hook state --shared set a b && hookrun hook state set c d || exit 1\n\
                hookrun hook send text || exit 1\nhookrun hook state --shared get a";
    let sandbox = asking(
        "timeout=1m sandbox.network=false sandbox.required=false",
        body,
    );
    let ran = decided(&sandbox, &[at("Sure [y/N] ", "y\r")]);
    ran.allows_with(json!({ "output": "b" }));
    sandbox
        .hookrun(&["hook", "send", "--take"], b"")
        .exits(0)
        .prints(r#""text":"text""#);
}

#[test]
fn hooks_are_seen_at_work_and_the_reason_comes_last() {
    let body = format!("echo 'half \u{1b}[2J' >&2\n{UNTIL_SHOWN}\nprintf rest >&2");
    let sandbox = Sandbox::new()
        .hook("10-slow", &body)
        .hook("20-no", "echo 'not today' >&2; exit 1")
        .file("event", TOOL);
    let ran = decided(&sandbox, &[told("10-slow: half \\u{1b}[2J\r\n")]);
    ran.blocks_saying("not today");
    let screen = ran.stderr.replace('\r', "");
    let lines: Vec<&str> = screen.lines().collect();
    assert_eq!(lines[1], "10-slow: rest", "{screen}");
    assert!(
        lines[2].starts_with("ok 10-slow ") && lines[2].ends_with('s'),
        "{screen}"
    );
    assert_eq!(lines[3], "20-no: not today", "{screen}");
    assert!(lines[4].starts_with("BLOCKED 20-no "), "{screen}");
    assert!(
        lines[5..].iter().any(|line| line.ends_with("not today")),
        "{screen}"
    );
}

#[test]
fn git_shows_its_hooks_on_a_terminal_and_no_line_twice() {
    let sandbox = Sandbox::new()
        .hook_for("commit.pre", "10-warns", "echo careful >&2")
        .hook_for(
            "commit.pre",
            "20-dies",
            "# hookrun: on_failure=allow\nkill -9 $$",
        )
        .file("event", "");
    let mut git = std::process::Command::new("git");
    git.args(["init", "-q"])
        .current_dir(sandbox.path())
        .env("HOME", sandbox.path());
    assert!(git.status().unwrap().success());
    let ran = at_terminal(&sandbox, &["run", "--host", "git", "pre-commit"], &[]);
    ran.exits(0)
        .says("10-warns: careful")
        .says("ok 10-warns ")
        .says("fail 20-dies ");
    assert_eq!(ran.stderr.matches("careful").count(), 1, "{}", ran.stderr);
    // Where nobody looks only what hooks say is said.
    let ran = sandbox.hookrun(&["run", "--host", "git", "pre-commit"], b"");
    assert!(
        ran.stderr.starts_with("10-warns: careful\n"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("ok 10-warns"), "{}", ran.stderr);
}
