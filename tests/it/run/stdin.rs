//! The event on stdin, whatever it is: the status is 0 or 2, and never late.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::time::Instant;

use serde_json::json;

use crate::nasty::running::Running;
use crate::sandbox::{Ran, Sandbox, TOOL};

fn given(bytes: &[u8]) -> Ran {
    let sandbox = Sandbox::new().hook("hook", "true");
    Running::start(&sandbox, &["run", "tool.pre"])
        .feed(bytes)
        .ended()
        .ran
}

#[test]
fn no_event_blocks() {
    given(b"").blocks_saying("no event on stdin");
    given(b" \n\t\r\n").blocks_saying("no event on stdin");
}

#[test]
fn what_is_not_one_json_object_blocks_and_says_why() {
    for (bytes, why) in [
        (&b"hello"[..], "is not a JSON object"),
        (
            b"\0\xff\xfe\x01binary",
            "is not UTF-8: invalid byte at offset 1",
        ),
        (b"\0\x01binary", "is not a JSON object"),
        (b"[1]", "is not a JSON object"),
        (b"\"text\"", "is not a JSON object"),
        (b"null", "is not a JSON object"),
        (b"{\"a\":", "is incomplete"),
        (b"{\"a\":1", "is incomplete"),
        (b"{\"a\":\"\xff\"}", "is not UTF-8"),
        (b"{a:1}", "is not valid JSON"),
        (b"{\"a\":1,}", "is not valid JSON"),
        (b"{} {}", "exactly one document"),
        (b"{}\n{\"toolName\":\"bash\"}\n", "exactly one document"),
        (b"{}]", "exactly one document"),
        (
            b"{\"toolName\":\"a\",\"toolName\":\"b\"}",
            "`toolName` appears twice",
        ),
        (
            b"{\"toolName\":\"a\",\"\\u0074oolName\":\"b\"}",
            "`toolName` appears twice",
        ),
        (b"{\"event\":\"tool.post\"}", "`tool.pre`"),
    ] {
        let ran = given(bytes);
        ran.blocks_saying(why);
    }
}

#[test]
fn an_event_with_a_byte_order_mark_is_read() {
    given("\u{feff}{\"toolName\":\"note\"}\r\n".as_bytes()).allows();
}

#[test]
fn an_event_may_say_its_own_name() {
    given(br#"{"event":"tool.pre","toolName":"x"}"#).allows();
    given(br#"{"event":"PreToolUse","toolName":"x"}"#).allows();
}

#[test]
fn nesting_without_end_blocks() {
    given("[".repeat(1_000_000).as_bytes()).blocks_saying("nested deeper than 128");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    given(deep.as_bytes()).blocks_saying("nested deeper than 128");
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    given(objects.as_bytes()).blocks_saying("nested deeper than 128");
    let inside = format!("{{\"a\":{}{}}}", "[".repeat(120), "]".repeat(120));
    given(inside.as_bytes()).allows();
}

#[test]
fn the_end_of_the_document_is_enough() {
    let sandbox = Sandbox::new().hook("hook", "echo no >&2; exit 1");
    let arguments = ["run", "tool.pre", "--stdin-timeout", "1h"];
    let mut running = Running::start(&sandbox, &arguments);
    let mut stdin = running.stdin();
    stdin.write_all(b"{\"toolName\":\"note\"}").unwrap();
    running.ended().ran.blocks("no");
    drop(stdin);
}

#[test]
fn a_document_that_comes_in_pieces_is_one() {
    let sandbox = Sandbox::new().hook("hook", "echo \"$HOOKRUN_TOOL_NAME\"");
    let mut running = Running::start(&sandbox, &["run", "tool.pre", "--stdin-timeout", "1m"]);
    let mut stdin = running.stdin();
    for piece in [
        &b"\xef"[..],
        b"\xbb\xbf",
        b"{\"toolName\":\"b\\",
        b"\"}",
        b"\xc3",
        b"\xa9\"",
        b"}",
    ] {
        stdin.write_all(piece).unwrap();
        stdin.flush().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    running
        .ended()
        .ran
        .allows_with(serde_json::json!({ "output": "b\"}\u{e9}" }));
}

#[test]
fn an_event_that_does_not_become_complete_blocks_in_time() {
    for begun in [&b""[..], b"  ", b"{\"toolName\":\"ba"] {
        let sandbox = Sandbox::new().hook("hook", "true");
        let mut running =
            Running::start(&sandbox, &["run", "tool.pre", "--stdin-timeout", "300ms"]);
        let mut stdin = running.stdin();
        stdin.write_all(begun).unwrap();
        let ran = running.ended().ran;
        ran.blocks_saying("no complete input arrived on stdin within 300ms");
        drop(stdin);
    }
}

#[test]
fn the_budget_counts_while_the_event_is_awaited() {
    let sandbox = Sandbox::new().hook("hook", "true");
    let arguments = [
        "run",
        "tool.pre",
        "--stdin-timeout",
        "1h",
        "--budget",
        "300ms",
    ];
    let mut running = Running::start(&sandbox, &arguments);
    let stdin = running.stdin();
    running.ended().ran.blocks_saying("300ms");
    drop(stdin);
}

#[test]
fn a_stream_without_end_blocks() {
    let sandbox = Sandbox::new().hook("hook", "true");
    // What can be told at once is, however late it comes; the others end at the timeout.
    for (stream, timeout, why) in [
        ("yes", "20s", "is not a JSON object"),
        ("yes '  '", "700ms", "no complete input arrived"),
        ("printf '{\"a\":\"'; yes", "700ms", ""),
        ("printf '{\"a\":['; yes '[],'", "700ms", ""),
        (
            "printf '{\"a\":['; yes '['",
            "20s",
            "nested deeper than 128",
        ),
        ("cat /dev/zero", "20s", "is not a JSON object"),
    ] {
        let line = format!("({stream}) 2>/dev/null | \"$@\"");
        let arguments = ["run", "tool.pre", "--stdin-timeout", timeout];
        let running = Running::start_by(&sandbox, &line, &arguments);
        let started = Instant::now();
        let ran = running.ended().ran;
        ran.blocks_saying(why);
        assert!(
            started.elapsed().as_secs() < 30,
            "{stream}: {:?}",
            started.elapsed()
        );
    }
}

#[test]
fn a_hundred_megabytes_are_decided() {
    let tool = "\"toolName\":\"note\",\"action\":{\"kind\":\"other\"}";
    let mut event = format!("{{{tool},\"text\":\"").into_bytes();
    event.resize(100 * 1024 * 1024, b'x');
    event.extend_from_slice(b"\"}");
    let ran = given(&event);
    assert!(ran.status == 0 || ran.status == 2, "{:?}", ran.status);
    let sandbox = Sandbox::new().hook("hook", "# hookrun: timeout=50s\nwc -c");
    let arguments = ["run", "tool.pre", "--stdin-timeout", "50s"];
    let ran = Running::start(&sandbox, &arguments)
        .feed(&event)
        .ended()
        .ran;
    // The event's name is added to the context, and the final newline.
    let count = event.len() + "\"event\":\"tool.pre\",\n".len();
    ran.allows_with(serde_json::json!({ "output": count.to_string() }));
}

#[test]
fn a_closed_stdin_blocks() {
    let sandbox = Sandbox::new().hook("hook", "true");
    let ran = Running::start_by(&sandbox, "exec \"$@\" <&-", &["run", "tool.pre"])
        .ended()
        .ran;
    ran.blocks_saying("stdin");
}

#[test]
fn a_folder_or_a_file_as_stdin_is_no_problem() {
    let sandbox = Sandbox::new().hook("hook", "true").file("event.json", TOOL);
    let run = |line: &str| {
        Running::start_by(&sandbox, line, &["run", "tool.pre"])
            .ended()
            .ran
    };
    run("exec \"$@\" < .").blocks_saying("cannot read stdin");
    run("exec \"$@\" < event.json").allows();
    run("exec \"$@\" < /dev/null").blocks_saying("no event on stdin");
}

#[test]
fn whatever_stands_on_stdin_the_status_is_0_or_2() {
    // xorshift: the same bytes in every run, so that a failure can be repeated.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let sandbox = Sandbox::new().hook("hook", "cat >/dev/null");
    let seed = br#"{"toolName":"bash","toolInput":{"command":"ls","x":[1,{"y":null}]},"cwd":"/"}"#;
    for round in 0..120 {
        let bytes: Vec<u8> = if round % 2 == 0 {
            let length = random() as usize % 300;
            (0..length).map(|_| random().to_le_bytes()[0]).collect()
        } else {
            let mut bytes = seed.to_vec();
            for _ in 0..=random() % 3 {
                let place = random() as usize % bytes.len();
                bytes[place] = random().to_le_bytes()[0];
            }
            bytes
        };
        let ran = Running::start(&sandbox, &["run", "tool.pre"])
            .feed(&bytes)
            .ended_alone()
            .ran;
        assert!(ran.status == 0 || ran.status == 2, "{bytes:?}: {ran:?}");
        assert_eq!(
            ran.status == 2,
            ran.stdout.contains("\"continue\":false"),
            "{ran:?}"
        );
    }
}

#[test]
fn an_event_with_very_many_keys_is_decided() {
    let keys: Vec<String> = (0..100_000)
        .map(|number| format!("\"k{number}\":1"))
        .collect();
    let sandbox = Sandbox::new().hook("hook", "echo hi");
    let ran = sandbox.hookrun(
        &["run", "tool.pre"],
        format!("{{{}}}", keys.join(",")).as_bytes(),
    );
    ran.allows_with(json!({ "output": "hi" }));
}

#[test]
fn a_host_s_own_payload_is_blocked_with_the_keys_to_write() {
    let sandbox = Sandbox::new().hook("hook", "# hookrun: tool=bash\nexit 1");
    let context = br#"{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    sandbox
        .hookrun(&["run", "PreToolUse"], context)
        .blocks_saying("unknown key `session_id`; did you mean `sessionId`?");
}

#[test]
fn an_event_that_says_too_little_is_malformed() {
    let sandbox = Sandbox::new().hook("10-guard", "# hookrun: tool=bash\nexit 1").file(
        "hookrun.toml",
        "[event.\"own.pre\"]\nsummary = \"it is\"\nrequired = [\"path\"]\n\
         context = { path = \"string\", count = \"integer\", big = \"number\", deep = \"object\" }\n",
    );
    for (event, context, said) in [
        (
            "permission.request",
            r#"{ }"#,
            "the context is empty; add `toolName`",
        ),
        ("tool.pre", r#"{"toolName":null}"#, "add `toolName`"),
        ("tool.pre", r#"{"toolName":""}"#, "`toolName` has no value"),
        (
            "tool.pre",
            r#"{"toolName":7}"#,
            "`toolName` is invalid: it must be a JSON string",
        ),
        (
            "tool.pre",
            r#"{"tool":"Bash","input":{}}"#,
            "the context has `tool`, `input`; add `toolName`",
        ),
        (
            "tool.pre",
            r#"{"toolName":"x","tolInput":{}}"#,
            "unknown key `tolInput`; did you mean `toolInput`?",
        ),
        (
            "tool.pre",
            r#"{"toolnam":"x"}"#,
            "unknown key `toolnam`; did you mean `toolName`?",
        ),
        (
            "tool.pre",
            r#"{"tool_name":"x"}"#,
            "unknown key `tool_name`; did you mean `toolName`?",
        ),
        (
            "permission.request",
            r#"{"toolInput":{}}"#,
            "the context has `toolInput`; add `toolName`",
        ),
        ("user.bash", r#"{"cmd":"x"}"#, "`command` is missing"),
        (
            "own.pre",
            r#"{}"#,
            "hooks of `own.pre` require it; the context is empty; add `path`",
        ),
        (
            "own.pre",
            r#"{"pth":"plan.json"}"#,
            "unknown key `pth`; did you mean `path`?",
        ),
        (
            "own.pre",
            r#"{"path":7}"#,
            "`path` is invalid: it must be a JSON string",
        ),
        (
            "own.pre",
            r#"{"path":"x","count":1.5}"#,
            "`count` is invalid",
        ),
        ("own.pre", r#"{"path":"x","deep":[]}"#, "`deep` is invalid"),
    ] {
        for command in ["run", "test"] {
            let ran = sandbox.hookrun(&[command, event, "--host", "native"], context.as_bytes());
            assert_eq!(ran.status, 2, "{event} {context}: {ran:?}");
            ran.says(said);
        }
    }
    for (event, context) in [
        ("tool.pre", r#"{"toolName":"x","mine":1}"#),
        ("tool.pre", r#"{"toolName":"x","toolNames":[]}"#),
        (
            "own.pre",
            r#"{"path":"x","count":-2,"big":1e9,"deep":null,"more":true}"#,
        ),
    ] {
        sandbox
            .hookrun(&["run", event], context.as_bytes())
            .allows();
    }
}

/// Runs `tool.pre` with a file on stdin, and a hook that would allow.
fn run_from(file: File, arguments: &[&str]) -> Ran {
    let sandbox = Sandbox::new().hook("hook", "touch ran");
    let mut command = sandbox.command(&[&["run", "tool.pre"], arguments].concat());
    let ran = Ran::from(command.stdin(file).output().unwrap());
    sandbox.has_no_file("ran");
    ran
}

/// The file is a hole: nothing is written, and the NUL bytes stand in a string.
#[test]
fn an_event_of_more_than_256_mib_is_blocked_whether_or_not_it_ends() {
    let limit = 256 * 1024 * 1024;
    for end in ["", "\"}"] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"{\"toolName\":\"bash\",\"x\":\"").unwrap();
        file.seek(SeekFrom::Start(limit)).unwrap();
        file.write_all(end.as_bytes()).unwrap();
        file.set_len(limit + 2).unwrap();
        file.rewind().unwrap();
        let ran = run_from(file, &["--stdin-timeout", "50s"]);
        ran.blocks_saying("the input on stdin is longer than 256 MiB");
    }
}

/// From a file there is always something to read: only the watchdog looks at the time.
#[test]
fn an_event_that_is_not_read_within_the_budget_blocks() {
    let mut event =
        br#"{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"content":[""#
            .to_vec();
    event.resize(60_000_000, b'x');
    event.extend_from_slice(br#""]}}"#);
    let mut written = tempfile::tempfile().unwrap();
    written.write_all(&event).unwrap();
    for budget in ["1ms", "5ms"] {
        written.rewind().unwrap();
        let arguments = [
            "--host",
            "claude",
            "--stdin-timeout",
            "1h",
            "--budget",
            budget,
        ];
        let ran = run_from(written.try_clone().unwrap(), &arguments);
        let in_time = [
            format!("the budget of {budget} was used up"),
            "had not decided by its deadline".to_string(),
        ];
        let is_said = in_time.iter().any(|text| ran.stderr.contains(text));
        assert!(ran.status == 2 && is_said, "{budget}: {ran:?}");
    }
}
