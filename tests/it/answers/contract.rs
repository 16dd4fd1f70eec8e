//! hookrun's own contract, sentence by sentence: an exit status and an output, and what they mean.

use hookrun::internals::answer::judge;
use hookrun::internals::event::catalog;
use hookrun::internals::hook::{Handler, Hook, Permit};
use hookrun::internals::outcome::is_about;
use hookrun::internals::outcome::{ContractRule, Decision, FindingLevel, Verdict};
use hookrun::internals::run::{CapturedStream, Ending, Exit};

fn captured(bytes: &[u8]) -> CapturedStream {
    CapturedStream {
        head: bytes.to_vec(),
        tail: Vec::new(),
        total_bytes: bytes.len() as u64,
    }
}

fn judged(
    event: &str,
    rewrite: bool,
    status: i32,
    stdout: &CapturedStream,
) -> (Ending, Vec<String>) {
    let handler = Handler::File("hooks.d/tool.pre/a.py".into());
    let hook = Hook {
        rewrite,
        ..Hook::new("a.py", "tool.pre", handler)
    };
    let spec = catalog::find(event).unwrap();
    let permit = Permit {
        spec,
        hook: &hook,
        part: None,
        about: None,
    };
    judge(Exit::Status(status), stdout, &captured(b""), permit)
}

fn verdict(stdout: &[u8]) -> Verdict {
    let (ending, _) = judged("tool.pre", true, 0, &captured(stdout));
    let Ending::Answered(verdict) = ending else {
        panic!("{ending:?}")
    };
    verdict
}

fn problem(stdout: &str) -> String {
    let (ending, _) = judged("tool.pre", true, 0, &captured(stdout.as_bytes()));
    let Ending::Malformed { problem } = ending else {
        panic!("{stdout}: {ending:?}")
    };
    problem
}

fn block(reason: &str) -> Decision {
    Decision::Block {
        reason: reason.to_string(),
    }
}

#[test]
fn an_answer_in_utf_16_is_no_text() {
    let no = "\u{feff}{\"continue\":false,\"reason\":\"no\"}";
    for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(bytes).collect() };
        assert_eq!(verdict(&wide(no)).decision, block("no"));
        let (ending, _) = judged("tool.pre", true, 0, &captured(&wide(&no[3..])));
        assert!(matches!(ending, Ending::Malformed { .. }), "{ending:?}");
    }
}

#[test]
fn every_part_of_an_answer_is_read() {
    assert_eq!(verdict(b" \n").rule, ContractRule::Silence);
    assert_eq!(verdict(b"[1]").rule, ContractRule::Text);
    let full = verdict(
        b"\xef\xbb\xbf{\"continue\":true,\r\n\"output\":\"o\",\"additionalContext\":\"c\",\"update\":{\"toolInput\":{}}}",
    );
    let texts = (full.output.as_deref(), full.additional_context.as_deref());
    assert_eq!(
        (full.decision, texts),
        (Decision::Allow, (Some("o"), Some("c")))
    );
    assert_eq!(full.update.len(), 1);
    let coloured = "\u{1b}[1mhi\u{1b}[0m";
    assert_eq!(
        verdict(coloured.as_bytes()).output.as_deref(),
        Some(coloured)
    );
}

#[test]
fn nothing_around_a_block_hides_it() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for more in [
        r#""x":1e999"#,
        r#""x":"\ud83d""#,
        r#""\ud83d":1"#,
        &format!("\"x\":{deep}"),
    ] {
        let blocks = format!("{{{more},\"continue\":false,\"reason\":\"no\"}}");
        assert_eq!(verdict(blocks.as_bytes()).decision, block("no"), "{more}");
        assert_eq!(
            verdict(format!("hi\n{blocks}\nbye").as_bytes()).decision,
            block("no")
        );
    }
    for (before, after) in [
        ("{ oops\n", ""),
        ("x {\"a\":\n", "\n} y"),
        ("{ {\n\n{} ", " e"),
        ("{\"a\":\n", ""),
    ] {
        let stdout = format!("{before}{{\"continue\":false,\"reason\":\"no\"}}{after}");
        assert_eq!(
            verdict(stdout.as_bytes()).decision,
            block("no"),
            "{stdout:?}"
        );
    }
    // A reason that was cut in the middle of a character.
    let cut = r#"{"continue":false,"reason":"no \ud83d"}"#;
    assert_eq!(
        verdict(cut.as_bytes()).decision,
        block("no \u{fffd}\u{fffd}\u{fffd}")
    );
}

#[test]
fn no_stdout_undoes_a_non_zero_exit() {
    for (stdout, reason) in [
        (r#"{"continue":true,"reason":"json"}"#, "json"),
        (r#"{"reason":"json","x":"\ud800"}"#, "json"),
        ("text", "text"),
        ("{}", "hook `a.py` exited with status 1 and gave no reason"),
    ] {
        let (ending, _) = judged("tool.pre", true, 1, &captured(stdout.as_bytes()));
        assert_eq!(
            ending.verdict().unwrap().decision,
            block(reason),
            "{stdout}"
        );
    }
}

#[test]
fn what_breaks_the_contract_is_named() {
    for (stdout, cause) in [
        (r#"{"contine":false}"#, "unknown key `contine`"),
        (r#"{"continue":"false"}"#, "must be a JSON boolean"),
        (r#"{"update":{"cwd":"/"}}"#, "`toolInput`"),
        ("hi\n{\"ask\":\"\"}\n", "line 2: `ask` is empty"),
        ("{'continue': True}", "is not valid JSON"),
        (r#"{"continue":1e999}"#, "must be a JSON boolean"),
        (r#"{"continue":[[[]]]}"#, "must be a JSON boolean"),
        (
            &format!("{{\"reason\":{}", "[".repeat(100_000)),
            "is not valid JSON",
        ),
    ] {
        assert!(problem(stdout).contains(cause), "{stdout:.80}");
    }
}

#[test]
fn an_update_needs_leave() {
    let stdout = captured(br#"{"update":{"toolInput":{}}}"#);
    let (ending, _) = judged("tool.pre", false, 0, &stdout);
    let cure = "add `rewrite` to the `# hookrun:` line of hooks.d/tool.pre/a.py";
    assert!(ending.failure().unwrap().ends_with(cure), "{ending:?}");
}

#[test]
fn an_unknown_key_of_an_answer_is_a_note() {
    for event in ["tool.pre", "tool.post"] {
        let stdout = captured(br#"{"continue":true,"version":2}"#);
        let (ending, notes) = judged(event, false, 0, &stdout);
        assert!(matches!(ending, Ending::Answered(_)));
        assert_eq!(notes, ["ignored the unknown key `version`"]);
    }
}

#[test]
fn text_is_for_the_model_where_the_event_says_so() {
    for (event, is_context) in [
        ("prompt.submit", true),
        ("session.start", true),
        ("tool.pre", false),
    ] {
        let (ending, _) = judged(event, false, 0, &captured(b"hi"));
        let said = ending.verdict().unwrap();
        let text = if is_context {
            &said.additional_context
        } else {
            &said.output
        };
        assert_eq!(text.as_deref(), Some("hi"), "{event}");
    }
}

#[test]
fn a_prefix_of_a_long_answer_is_never_parsed() {
    let stdout = CapturedStream {
        total_bytes: 2_000_000,
        ..captured(br#"{"output":"x"}"#)
    };
    let (ending, _) = judged("tool.pre", false, 0, &stdout);
    assert!(matches!(ending, Ending::Malformed { .. }));
    let (ending, _) = judged("tool.pre", false, 1, &stdout);
    assert_eq!(ending.verdict().unwrap().rule, ContractRule::NonZeroExit);
}

#[test]
fn reading_ends_soon() {
    let tangled = "{\"a\":\n".repeat(150_000);
    assert!(problem(&tangled).contains("too many lines"));
    for many in [
        "[\n".repeat(300_000),
        " {\n".repeat(300_000),
        "x{}\n".repeat(200_000),
    ] {
        judged("tool.pre", true, 0, &captured(many.as_bytes()));
    }
    let answers = "{\"continue\":true}\n".repeat(50_000);
    assert!(problem(&answers).contains("line 2: this is the second answer"));
}

proptest::proptest! {
    #[test]
    fn any_bytes_and_any_status_are_judged(
        status in 0..256i32,
        stdout in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
    ) {
        let (ending, _) = judged("tool.pre", true, status, &captured(&stdout));
        if status != 0 {
            let blocks = matches!(&ending, Ending::Crashed { .. } | Ending::Answered(Verdict {
                decision: Decision::Block { .. }, ..
            }));
            proptest::prop_assert!(blocks, "{:?}", ending);
        }
    }
}

/// How an answer with these findings, as JSON, ends.
fn finding(one: &str) -> (Ending, Vec<String>) {
    let stdout = format!("{{\"findings\":[{one}]}}");
    judged("tool.pre", true, 0, &captured(stdout.as_bytes()))
}

#[test]
fn a_finding_is_a_place_and_a_message() {
    let whole = r#"{"path":"a.tf","line":3,"level":"warning","message":"open"}"#;
    let (ending, notes) = finding(whole);
    let found = &ending.verdict().unwrap().findings;
    assert_eq!(
        (
            serde_json::to_string(&found[0]).unwrap().as_str(),
            found.len()
        ),
        (whole, 1)
    );
    assert!(notes.is_empty(), "{notes:?}");
    let (ending, notes) = finding(r#"{"path":"a","message":"b","line":null,"x":1}"#);
    let found = &ending.verdict().unwrap().findings[0];
    assert_eq!((found.line, found.level), (None, FindingLevel::Error));
    assert_eq!(notes, ["ignored the unknown key `findings.*.x`"]);
    assert!(is_about(&notes[0]));
}

#[test]
fn a_finding_that_cannot_be_read_is_named_by_its_place() {
    for (one, cause) in [
        (r#""a.rs:3: bad""#, "expected struct Finding"),
        (r#"{"path":"a"}"#, "missing field `message`"),
        (r#"{"path":" ","message":"m"}"#, "must not be blank"),
        (
            r#"{"path":"a","message":"m","line":0}"#,
            "lines are numbered from 1",
        ),
        (r#"{"path":"a","message":"m","line":"3"}"#, "expected u64"),
        (
            r#"{"path":"a","message":"m","level":"bad"}"#,
            "`error`, `warning`, `notice`",
        ),
    ] {
        let said = problem(&format!("{{\"findings\":[{one}]}}"));
        assert!(said.contains(cause) && is_about(&said), "{one}: {said}");
    }
}
