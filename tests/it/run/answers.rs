//! What a hook says by its exit status and its output: the table of answers. Answers that are
//! not what they should be: `nasty`.

use serde_json::{Value, json};

use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox};

/// The reply to a gate with one hook, `hook`.
fn answer(body: &str) -> Ran {
    Sandbox::new().hook("hook", body).run("tool.pre")
}

/// The reply to a gate whose one hook prints exactly these bytes and exits with `status`.
fn printed(bytes: &[u8], status: i32) -> Ran {
    let sandbox = Sandbox::new().hook("hook", &format!("cat answer; exit {status}"));
    std::fs::write(sandbox.at("answer"), bytes).unwrap();
    sandbox.run("tool.pre")
}

#[test]
fn no_hook_at_all_allows() {
    let ran = Sandbox::new().run("tool.pre");
    assert_eq!((ran.allows().stdout.as_str(), ran.status), ("", 0));
}

#[test]
fn a_hook_that_prints_nothing_allows() {
    assert_eq!(answer("true").allows().stderr, "");
    answer("echo; echo '   '").allows();
}

#[test]
fn words_on_stderr_alone_decide_nothing() {
    answer("echo 'rm: refused, block, continue: false' >&2").allows();
}

#[test]
fn text_becomes_the_output() {
    printed(b"two\nlines\n", 0).allows_with(json!({ "output": "two\nlines" }));
}

#[test]
fn json_that_is_no_object_is_text() {
    printed(b"[1,2]", 0).allows_with(json!({ "output": "[1,2]" }));
    printed(b"false", 0).allows_with(json!({ "output": "false" }));
    printed(b"\"{\"", 0).allows_with(json!({ "output": "\"{\"" }));
}

#[test]
fn an_object_says_output_and_context() {
    let said = json!({ "output": "for the person", "additionalContext": "for the model" });
    printed(said.to_string().as_bytes(), 0).allows_with(said);
    printed(b"{}", 0).allows();
    printed(b"{\"continue\":true,\"reason\":\"fine\"}", 0).allows();
}

#[test]
fn continue_false_blocks_with_its_reason() {
    printed(br#"{"continue":false,"reason":"not on Friday"}"#, 0).blocks("not on Friday");
    printed(br#"{"reason":"first","continue":false,"ask":"sure?"}"#, 0).blocks("first");
}

#[test]
fn a_block_without_a_reason_still_states_one() {
    for bytes in [
        r#"{"continue":false}"#,
        r#"{"continue":false,"reason":" "}"#,
    ] {
        let ran = printed(bytes.as_bytes(), 0);
        ran.blocks_saying("blocked without a reason");
    }
}

#[test]
fn a_question_without_a_terminal_blocks_with_the_question() {
    let ran = printed(br#"{"ask":"Deploy to production?"}"#, 0);
    ran.blocks_saying("Deploy to production?");
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(
        said["reason"]
            .as_str()
            .unwrap()
            .starts_with("Deploy to production?"),
        "{ran:?}"
    );
}

#[test]
fn a_block_is_stricter_than_a_question() {
    let sandbox = Sandbox::new()
        .hook("10-ask", r#"echo '{"ask":"sure?"}'"#)
        .hook("20-deny", "echo no >&2; exit 1");
    sandbox.run("tool.pre").blocks("no");
}

#[test]
fn a_non_zero_exit_gives_stderr_as_its_reason() {
    answer("echo text; echo 'why not' >&2; exit 1").blocks("why not");
    answer(r#"echo '{"reason":"json"}'; printf 'first\nsecond\n' >&2; exit 1"#)
        .blocks("first\nsecond");
}

#[test]
fn a_non_zero_exit_without_stderr_gives_the_reason_of_its_object() {
    printed(br#"{"reason":"from json"}"#, 1).blocks("from json");
}

#[test]
fn a_non_zero_exit_without_either_gives_its_text() {
    printed(b"from text\n", 1).blocks("from text");
}

#[test]
fn a_non_zero_exit_without_a_word_gives_its_status() {
    answer("exit 7").blocks("hook `hook` exited with status 7 and gave no reason");
    printed(b"{}", 7).blocks("hook `hook` exited with status 7 and gave no reason");
    answer("no-such-command-anywhere 2>/dev/null").blocks_saying("(status 127)");
}

#[test]
fn nothing_on_stdout_undoes_a_non_zero_exit() {
    for consent in [
        r#"{"continue":true}"#,
        r#"{"continue":true,"reason":"fine"}"#,
        r#"{"output":"fine"}"#,
        r#"{"ask":"sure?"}"#,
        "fine",
    ] {
        let ran = printed(consent.as_bytes(), 1);
        assert_eq!(ran.status, 2, "{consent}: {ran:?}");
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(said["continue"], false, "{consent}: {ran:?}");
    }
}

#[test]
fn every_status_but_zero_blocks_with_2() {
    let sandbox = Sandbox::new().hook("hook", "exit $STATUS");
    for status in 1..=255 {
        let mut command = sandbox.command(&["run", "tool.pre"]);
        command.env("STATUS", status.to_string());
        let ran = Running::start_as(command).feed(b"{}").ended_alone().ran;
        // 126 and 127 are a shell's words for a hook that never ran.
        let words = if matches!(status, 126 | 127) {
            "(status "
        } else {
            "exited with status "
        };
        ran.blocks_saying(&format!("{words}{status}"));
    }
}

#[test]
fn a_block_with_half_a_character_is_not_lost_where_failures_are_allowed() {
    let block = br#"{"continue":false,"reason":"no \ud83d"}"#;
    for before in [&b""[..], b"profile\n"] {
        let sandbox = Sandbox::new().hook("hook", "# hookrun: on_failure=allow\ncat answer");
        std::fs::write(sandbox.at("answer"), [before, block].concat()).unwrap();
        sandbox.run("tool.pre").blocks_saying("no \u{fffd}");
    }
}

#[test]
fn a_question_among_other_text_is_not_lost() {
    printed(b"profile\n{\"ask\":\"sure?\"}\n", 0).blocks_saying("sure?");
}

#[test]
fn an_update_without_leave_is_malformed() {
    let update = br#"{"update":{"toolInput":{"command":"ls"}}}"#;
    printed(update, 0).blocks_saying("add `rewrite` to the `# hookrun:` line");
}

#[test]
fn an_update_of_a_field_that_is_not_the_hooks_to_change_is_malformed() {
    for update in [
        r#"{"update":{"cwd":"/"}}"#,
        r#"{"update":{"toolInput":"text"}}"#,
    ] {
        let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: rewrite\necho '{update}'"));
        let ran = sandbox.run("tool.pre");
        ran.blocks_saying("failed: malformed answer: ")
            .says("toolInput");
    }
}

#[test]
fn keys_that_are_not_ours_are_ignored_where_nothing_is_gated_and_named_in_the_trace() {
    let hook = r#"echo '{"version":2,"output":"x"}'"#;
    let sandbox = Sandbox::new().hook_for("tool.post", "hook", hook);
    sandbox
        .run("tool.post")
        .allows_with(json!({ "output": "x" }));
    let notes = &sandbox.report("tool.post", "{}")["hooks"][0]["notes"];
    assert_eq!(*notes, json!(["ignored the unknown key `version`"]));
}
