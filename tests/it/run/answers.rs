//! What a hook says by its exit status and its output: the table of answers.

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

fn malformed(bytes: &[u8], problem: &str) {
    let reason = format!("hook `hook` failed: malformed answer: {problem} (fail closed)");
    printed(bytes, 0).blocks(&reason);
}

#[test]
fn no_hook_at_all_allows() {
    let ran = Sandbox::new().run("tool.pre");
    assert_eq!((ran.allows().stderr.as_str(), ran.status), ("", 0));
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
fn an_object_may_stand_on_many_lines_with_a_byte_order_mark_and_carriage_returns() {
    let text = "\u{feff}\r\n{\r\n  \"output\": \"x\"\r\n}\r\n";
    printed(text.as_bytes(), 0).allows_with(json!({ "output": "x" }));
    let text = "\u{feff}{\"continue\":false,\"reason\":\"no\"}\r\n";
    printed(text.as_bytes(), 0).blocks("no");
}

#[test]
fn continue_false_refuses_with_its_reason() {
    printed(br#"{"continue":false,"reason":"not on Friday"}"#, 0).blocks("not on Friday");
    printed(br#"{"reason":"first","continue":false,"ask":"sure?"}"#, 0).blocks("first");
}

#[test]
fn a_refusal_without_a_reason_still_states_one() {
    for bytes in [r#"{"continue":false}"#, r#"{"continue":false,"reason":" "}"#] {
        let ran = printed(bytes.as_bytes(), 0);
        ran.blocks_saying("refused without a reason");
    }
}

#[test]
fn a_question_without_a_terminal_refuses_with_the_question() {
    let ran = printed(br#"{"ask":"Deploy to production?"}"#, 0);
    ran.blocks_saying("Deploy to production?");
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(said["reason"].as_str().unwrap().starts_with("Deploy to production?"), "{ran:?}");
}

#[test]
fn a_refusal_is_stricter_than_a_question() {
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
    answer("exit 7").blocks("exited with status 7");
    printed(b"{}", 7).blocks("exited with status 7");
    answer("no-such-command-anywhere 2>/dev/null").blocks_saying("exited with status 127");
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
fn every_status_but_zero_refuses_with_2() {
    let sandbox = Sandbox::new().hook("hook", "exit $STATUS");
    for status in 1..=255 {
        let mut command = sandbox.command(&["run", "tool.pre"]);
        command.env("STATUS", status.to_string());
        let ran = Running::start_as(command).feed(b"{}").ended_alone().ran;
        ran.blocks_saying(&format!("exited with status {status}"));
    }
}

#[test]
fn a_refusal_among_other_text_is_not_lost() {
    let refusal = r#"{"continue":false,"reason":"no"}"#;
    for text in [
        format!("Welcome to the profile!\n{refusal}\n"),
        format!("{refusal}\nlogout\n"),
        format!("hello\n  {refusal}  \nbye"),
        format!("no newline at the end of the profile {refusal}"),
        format!("{{\"continue\":true}}\n{refusal}"),
        format!("{refusal}{{\"continue\":true}}"),
        format!("{{ broken\n{refusal}"),
        format!("\u{1b}[1mcolour\u{1b}[0m\r\n{refusal}\r\n"),
        format!("nul \0 byte\n{refusal}\0\n"),
        "[\n{\n \"continue\" : false,\n \"reason\" : \"no\"\n}\n]".to_string(),
    ] {
        let ran = printed(text.as_bytes(), 0);
        assert_eq!((ran.status, ran.stderr.trim_end()), (2, "no"), "{text:?}");
    }
}

#[test]
fn a_question_among_other_text_is_not_lost() {
    printed(b"profile\n{\"ask\":\"sure?\"}\n", 0).blocks_saying("sure?");
}

#[test]
fn a_refusal_that_breaks_the_contract_elsewhere_still_refuses() {
    printed(br#"{"continue":false,"reason":"no","update":{"cwd":"/"}}"#, 0).blocks("no");
    printed(br#"{"continue":true,"continue":false,"reason":"no"}"#, 0).blocks("no");
    printed(br#"{"continue":false,"continue":true,"reason":"no"}"#, 0).blocks("no");
}

#[test]
fn bytes_that_are_no_text_are_shown_as_far_as_they_are() {
    printed(b"a\xff\xfeb\0c", 0).allows_with(json!({ "output": "a\u{fffd}\u{fffd}b\0c" }));
    printed(b"{\"output\":\"\xff\"}", 0).allows_with(json!({ "output": "\u{fffd}" }));
    printed(b"{\"continue\":false,\"reason\":\"\xff\"}", 0).blocks("\u{fffd}");
    answer(r"printf 'bad \377 byte' >&2; exit 1").blocks("bad \u{fffd} byte");
}

#[test]
fn a_near_miss_of_a_key_is_malformed() {
    malformed(br#"{"contine":false}"#, "`contine` is not a key; did you mean `continue`?");
    malformed(br#"{"Reason":"x"}"#, "`Reason` is not a key; did you mean `reason`?");
    malformed(
        br#"{"additional_context":"x"}"#,
        "`additional_context` is not a key; did you mean `additionalContext`?",
    );
}

#[test]
fn a_key_that_stands_twice_is_malformed() {
    malformed(br#"{"output":"a","output":"b"}"#, "the key `output` stands twice");
    malformed(br#"{"output":"a","\u006futput":"b"}"#, "the key `output` stands twice");
}

#[test]
fn a_key_of_the_wrong_type_is_malformed() {
    malformed(br#"{"continue":"false"}"#, "`continue` must be a JSON boolean");
    malformed(br#"{"continue":0}"#, "`continue` must be a JSON boolean");
    malformed(br#"{"continue":null}"#, "`continue` must be a JSON boolean");
    malformed(br#"{"output":["a"]}"#, "`output` must be a JSON string");
    malformed(br#"{"update":[]}"#, "`update` must be a JSON object");
}

#[test]
fn two_documents_are_malformed() {
    let ran = printed(b"{\"output\":\"a\"}\n{\"output\":\"b\"}", 0);
    ran.blocks_saying("failed: malformed answer: ");
}

#[test]
fn text_that_begins_like_json_and_is_not_is_malformed() {
    for bytes in [&b"{"[..], b"{oops}", b"{'continue': false}", b"{\"a\":}", b"{\"x\":1e999}"] {
        printed(bytes, 0).blocks_saying("failed: malformed answer: ");
    }
}

#[test]
fn an_update_without_leave_is_malformed() {
    let update = br#"{"update":{"toolInput":{"command":"ls"}}}"#;
    printed(update, 0).blocks_saying("`rewrite = true`");
}

#[test]
fn an_update_of_a_field_that_is_not_the_hooks_to_change_is_malformed() {
    for update in [r#"{"update":{"cwd":"/"}}"#, r#"{"update":{"toolInput":"text"}}"#] {
        let sandbox = Sandbox::new().hook("hook", &format!("# hookrun: rewrite\necho '{update}'"));
        let ran = sandbox.run("tool.pre");
        ran.blocks_saying("failed: malformed answer: ").says("toolInput");
    }
}

#[test]
fn more_than_a_mebibyte_is_malformed_and_its_beginning_is_not_read() {
    let reason = "hook `hook` failed: malformed answer: stdout has 1048577 bytes, more than 1 MiB \
                  (fail closed)";
    let mut long = br#"{"output":"x"}"#.to_vec();
    long.resize(1024 * 1024 + 1, b' ');
    printed(&long, 0).blocks(reason);
    long.pop();
    printed(&long, 0).allows_with(json!({ "output": "x" }));
}

#[test]
fn nesting_without_end_is_malformed_and_no_crash() {
    let deep = format!("{{\"x\":{}", "[".repeat(100_000));
    printed(deep.as_bytes(), 0).blocks_saying("failed: malformed answer: ");
    let closed = format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    printed(closed.as_bytes(), 0).blocks_saying("failed: malformed answer: ");
    let inside = format!("{{\"x\":{}{}}}", "[".repeat(120), "]".repeat(120));
    printed(inside.as_bytes(), 0).allows();
    let outside = format!("{{\"x\":{}{}}}", "[".repeat(128), "]".repeat(128));
    printed(outside.as_bytes(), 0).blocks_saying("failed: malformed answer: ");
}

#[test]
fn a_long_line_full_of_objects_is_read_in_time() {
    // A list of records, as `jq -c` or `gh api` print it: a million bytes on one line.
    let record = r#"{"id":1,"name":"x"},"#;
    let list = format!("[{}{{}}]", record.repeat(1_000_000 / record.len()));
    let sandbox = Sandbox::new().hook("hook", "cat answer");
    std::fs::write(sandbox.at("answer"), &list).unwrap();
    let started = std::time::Instant::now();
    let ran = sandbox.run("tool.pre");
    ran.allows_with(json!({ "output": list }));
    assert!(started.elapsed().as_secs() < 20, "took {:?}", started.elapsed());
}

#[test]
fn keys_that_are_not_ours_are_ignored_and_named_in_the_trace() {
    let sandbox = Sandbox::new().hook("hook", r#"echo '{"version":2,"output":"x"}'"#);
    sandbox.run("tool.pre").allows_with(json!({ "output": "x" }));
    let notes = &sandbox.report("tool.pre", "{}")["hooks"][0]["notes"];
    assert_eq!(*notes, json!(["the key `version` is not known and was ignored"]));
}
