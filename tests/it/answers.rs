//! The grammar of answers: every form in every surroundings, in hookrun's contract and in every row
//! of every dialect that can block.

mod contract;
mod crashes;

use std::sync::Arc;

use hookrun::hosts::{Binding, KeyMeaning, ReplyKey, Results, dialects};
use hookrun::internals::answer::judge;
use hookrun::internals::event::{EventSpec, catalog};
use hookrun::internals::hook::Permit;
use hookrun::internals::hook::contract::DECISION_KEYS;
use hookrun::internals::hook::{Handler, Hook};
use hookrun::internals::outcome::{Decision, Verdict};
use hookrun::internals::run::{CapturedStream, Ending, Exit};

/// Whose words a hook speaks, on a gate.
#[derive(Debug, Clone, Copy)]
struct Speaker {
    name: &'static str,
    binding: Option<Binding>,
}

impl Speaker {
    fn spec(self) -> EventSpec {
        let native = || catalog::find("tool.pre").unwrap().clone();
        self.binding.map_or_else(native, Binding::spec)
    }

    /// How a hook of this dialect ends that exits so and has printed this.
    fn ends(self, status: i32, stdout: &[u8], stderr: &str) -> Ending {
        let captured = |bytes: &[u8]| CapturedStream {
            head: bytes.to_vec(),
            tail: Vec::new(),
            total_bytes: bytes.len() as u64,
        };
        let spec = self.spec();
        let handler = Handler::File("/hooks.d/tool.pre/guard.py".into());
        let hook = Hook {
            convention: self.binding.map(|binding| Arc::new(binding) as _),
            ..Hook::new("guard.py", &spec.name, handler)
        };
        let permit = Permit {
            spec: &spec,
            hook: &hook,
            part: None,
            about: None,
        };
        judge(
            Exit::Status(status),
            &captured(stdout),
            &captured(stderr.as_bytes()),
            permit,
        )
        .0
    }

    fn says(self, stdout: &str) -> Ending {
        self.ends(0, stdout.as_bytes(), "")
    }
}

/// hookrun's own contract.
const NATIVE: Speaker = Speaker {
    name: "native",
    binding: None,
};

/// The contract and every row of every dialect that can be refused.
fn speakers() -> Vec<Speaker> {
    let rows = dialects().flat_map(|dialect| {
        let gates = dialect.events.iter().filter(|row| row.blocks);
        gates.map(move |row| Speaker {
            name: dialect.name,
            binding: Some(Binding { dialect, row }),
        })
    });
    std::iter::once(NATIVE).chain(rows).collect()
}

fn verdict(ending: &Ending) -> &Verdict {
    ending.verdict().unwrap_or_else(|| panic!("{ending:?}"))
}

fn is_block(ending: &Ending) -> bool {
    matches!(
        ending.verdict().map(|said| &said.decision),
        Some(Decision::Block { .. })
    )
}

/// It blocks a gate that fails closed.
fn is_held(ending: &Ending) -> bool {
    is_block(ending) || ending.failure().is_some()
}

/// A block in hookrun's own words.
const BLOCK: &str = r#"{"continue":false,"reason":"no"}"#;

/// What may stand around an object at the start of a line.
const SURROUNDINGS: &[&str] = &[
    "@",
    "\u{feff}@\r\n",
    "checking…\n@",
    "@\ndone",
    "checking…\n@\ndone\n",
    "\n\n   @ and text after it",
    "{\"level\":\"info\",\"msg\":\"checking\"}\n@",
    "@\n{\"level\":\"info\"}",
    "{\"level\":\"info\"}@",
    "{\n  \"level\": \"info\",\n  \"list\": [\n    {}\n  ]\n}\n@",
    "[1, 2]\n@\n[\n  {}\n]",
    "[INFO] checking\n@",
    "{hello} world\n@",
    "working\r@\rdone",
    "{ level: 'info', msg: 'checking' }\n@",
];

/// A block: what each speaker's own table writes, and hookrun's own words.
fn own_block(speaker: Speaker) -> Option<String> {
    let Some(binding) = speaker.binding else {
        return Some(BLOCK.to_string());
    };
    let reply = binding.block("no").stdout;
    (!reply.trim().is_empty()).then(|| reply.trim().to_string())
}

fn row_of(speaker: Speaker) -> String {
    let row = speaker.binding.map_or("", |one| one.row.name);
    format!("{} {row}", speaker.name)
}

#[track_caller]
fn none_is(wrong: &[String]) {
    let first = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), first.join("\n"));
}

/// Objects that are not answers, or that approve.
const ALLOWED: &[&str] = &[
    r#"{"continue":true,"reason":null}"#,
    r#"{"continue":true}"#,
    r#"{"continue":null}"#,
    r#"{"reason":null,"output":null}"#,
    r#"{"status":"ok"}"#,
    r#"{"vulnerabilities":{}}"#,
    r#"{"decision":"approve"}"#,
    r#"{"decision":"approve","reason":"fine"}"#,
    r#"{"systemMessage":"hi"}"#,
    r#"{"allow":true,"deny":[],"ok":true,"block":false,"cancel":null}"#,
    r#"{"result":true}"#,
    r#"{"result":{"allow":true}}"#,
    r#"{"permission":"allow"}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}"#,
    r#"{"level":"info","finish_reason":"stop","blocked":0,"msg":"{\"continue\":false}"}"#,
    r#"{"x":{"continue":false,"decision":"block"}}"#,
    r#"{"log":[{"continue":false}]}"#,
    r#"[{"continue":false}]"#,
    "[\n  {\n    \"continue\": false\n  }\n]",
    "{hello} world",
    "{\"stage\":\"ok\"\n",
    "{\"level\":\"block",
    "{'type' : 'decision'",
    "{\"list\": [\"deny\"\n",
    "{}",
    "{",
    "log {\"continue\":false}",
    "\"{\\\"continue\\\":false}\"",
    "continue: false",
    "decision = deny",
];

/// Whether a dialect reads this key itself.
fn reads(speaker: Speaker, key: &str) -> bool {
    let keys: Vec<&str> = match speaker.binding.map(|binding| binding.row.results) {
        None | Some(Results::Native | Results::Whole(..) | Results::Plugin(_)) => Vec::new(),
        Some(Results::Keys(keys)) => keys.iter().map(|key| key.name).collect(),
        Some(Results::Form(form)) => {
            let all = form.reads.iter().chain(form.shares);
            all.map(|key| key.name).collect()
        }
    };
    keys.contains(&key)
}

fn blocks_by_going_on(speaker: Speaker) -> bool {
    let Some(Results::Keys(keys)) = speaker.binding.map(|binding| binding.row.results) else {
        return false;
    };
    let goes_on = |key: &ReplyKey| key.name == "continue" && key.says == KeyMeaning::Block(true);
    keys.iter().any(goes_on)
}

#[test]
fn what_is_no_block_passes_in_every_dialect_and_surroundings() {
    let mut wrong = Vec::new();
    for form in ALLOWED {
        for around in SURROUNDINGS {
            let said = around.replace('@', form);
            for speaker in speakers() {
                let ending = speaker.says(&said);
                let said_by = ending.verdict().map(|said| &said.decision);
                // To one host `"continue": true` means that the agent must not stop.
                let is_own_block =
                    form.contains("\"continue\":true") && blocks_by_going_on(speaker);
                if said_by != Some(&Decision::Allow) && !is_own_block {
                    wrong.push(format!("{}: {said:?}: {ending:?}", row_of(speaker)));
                }
            }
        }
    }
    none_is(&wrong);
}

#[test]
fn an_answer_that_blocks_does_so_in_every_dialect_and_surroundings() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for speaker in speakers() {
        let Some(block) = own_block(speaker) else {
            continue;
        };
        seen += 1;
        let value: serde_json::Value = serde_json::from_str(&block).unwrap();
        for form in [block, serde_json::to_string_pretty(&value).unwrap()] {
            for around in SURROUNDINGS {
                let said = around.replace('@', &form);
                let ending = speaker.says(&said);
                // Where nothing can be blocked, the strictest answer is to claim the event.
                let claims = ending.verdict().is_some_and(|said| !said.update.is_empty());
                if !is_block(&ending) && !claims {
                    wrong.push(format!("{}: {said:?}: {ending:?}", row_of(speaker)));
                }
            }
        }
    }
    assert!(seen > 10, "{seen}");
    none_is(&wrong);
}

/// What is malformed, the line that the message names, and the key.
const MALFORMED: &[(&str, usize, &str)] = &[
    (r#"{"decision":"block","reason":"no"}"#, 1, "decision"),
    (r#"{"decision":"ask"}"#, 1, "decision"),
    (r#"{"decision":false}"#, 1, "decision"),
    (r#"{"permission":"deny"}"#, 1, "permission"),
    (r#"{"permissionDecision":"deny"}"#, 1, "permissionDecision"),
    (
        r#"{"permission_decision":"deny"}"#,
        1,
        "permission_decision",
    ),
    (
        r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        1,
        "hookSpecificOutput.permissionDecision",
    ),
    (
        r#"{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}"#,
        1,
        "hookSpecificOutput.decision.behavior",
    ),
    (r#"{"block":true}"#, 1, "block"),
    (r#"{"cancel":true}"#, 1, "cancel"),
    (r#"{"ok":false}"#, 1, "ok"),
    (r#"{"allow":false}"#, 1, "allow"),
    (r#"{"approve":"no"}"#, 1, "approve"),
    (r#"{"deny":["no"]}"#, 1, "deny"),
    (r#"{"deny":"because"}"#, 1, "deny"),
    (r#"{"result":false}"#, 1, "result"),
    (r#"{"result":{"allow":false}}"#, 1, "result.allow"),
    (r#"{"contine":false}"#, 1, "contine"),
    (r#"{"CONTINUE":false}"#, 1, "CONTINUE"),
    ("{'continue': False}", 1, "continue"),
    ("{'contine': False}", 1, "contine"),
    ("{ continue: false, reason: 'no' }", 1, "continue"),
    ("{\u{201c}continue\u{201d}: false}", 1, "continue"),
    ("{\\\"continue\\\": false}", 1, "continue"),
    ("{\"continue\"=>false}", 1, "continue"),
    ("{\"continue\": False}", 1, "continue"),
    ("{\"continue\": false,}", 1, "continue"),
    ("{\"decision\": deny}", 1, "decision"),
    (
        "{\n  \"note\": no,\n  \"continue\": false\n}",
        3,
        "continue",
    ),
    ("{\"continue\":fal", 1, "continue"),
    ("{\"continue\"", 1, "continue"),
    ("{\"a\":1,\"block", 1, "block"),
    ("{\"a\":\"ok\",\"block\"", 1, "block"),
    ("{\"a\":\"\" \"continue\": False}", 1, "continue"),
    (
        "{\n  \"continue\": false,\n  \"reason\": \"n",
        2,
        "continue",
    ),
];

#[test]
fn what_is_malformed_blocks_every_gate_and_names_the_line_the_key_and_what_to_write() {
    let mut wrong = Vec::new();
    for (form, line, key) in MALFORMED {
        for around in [
            "@",
            "log\n@",
            "{\"level\":\"info\"}\n\n@",
            "@\n{\"level\":\"info\"}",
        ] {
            let said = around.replace('@', form);
            for speaker in speakers() {
                let ending = speaker.says(&said);
                // Keys without quotes count only if they are of the contract.
                let is_bare = form.starts_with("{ ") && speaker.binding.is_some();
                if !is_held(&ending) && !is_bare && !reads(speaker, key) {
                    wrong.push(format!("{}: {said:?}: {ending:?}", row_of(speaker)));
                }
            }
            let Ending::Malformed { problem } = NATIVE.says(&said) else {
                panic!("{said:?}")
            };
            let before = around.split('@').next().unwrap().matches('\n').count();
            let place = format!("line {}: ", before + line);
            let has_all = problem.starts_with(&place)
                && problem.contains(&format!("`{key}`"))
                && problem.contains(r#"{"continue": false, "reason": "…"}"#);
            assert!(has_all, "{said:?}: {problem}");
        }
    }
    none_is(&wrong);
}

#[test]
fn two_answers_are_malformed_unless_one_blocks() {
    let Ending::Malformed { problem } = NATIVE.says("{\"output\":\"a\"}\n\n{\"output\":\"b\"}")
    else {
        panic!()
    };
    assert_eq!(
        problem,
        "line 3: this is the second answer; the first is on line 1; print only one"
    );
    for said in [
        format!("{{\"continue\":true}} , {BLOCK}"),
        format!("log\n\u{feff}{BLOCK}"),
        format!("{{\"continue\":true}}\u{feff}{BLOCK}"),
        format!("{{\"log\":1}}\0{BLOCK}"),
        format!("{{\"continue\":true}}\n{BLOCK}"),
        format!("{BLOCK}\n{{\"continue\":true}}"),
        format!("{BLOCK}{{\"continue\":true}}"),
        format!("{BLOCK}\n{{'continue': True}}"),
        r#"{"continue":false,"continue":true,"reason":"no"}"#.to_string(),
        r#"{"continue":false,"reason":"no","decision":"block","update":[]}"#.to_string(),
    ] {
        let blocked = Decision::Block {
            reason: "no".to_string(),
        };
        assert_eq!(verdict(&NATIVE.says(&said)).decision, blocked, "{said}");
    }
}

#[test]
fn text_and_objects_around_an_answer_are_output() {
    for (said, output) in [
        ("hi", Some("hi")),
        (r#"{"status":"ok"}"#, Some(r#"{"status":"ok"}"#)),
        ("{}", None),
        (
            "log\n{\"continue\":true}\n{\"a\":1}",
            Some("log\n{\"a\":1}"),
        ),
        ("log\n{\"output\":\"x\"}", Some("x")),
        ("{\"continue\":true}", None),
        ("{hello} world", Some("{hello} world")),
    ] {
        let ending = NATIVE.says(said);
        assert_eq!(verdict(&ending).output.as_deref(), output, "{said:?}");
    }
}

#[test]
fn a_non_zero_status_blocks_whatever_stdout_says() {
    for (stdout, stderr, reason) in [
        (r#"{"continue":true,"reason":"json"}"#, "words", "words"),
        (r#"{"continue":true,"reason":"json"}"#, "", "json"),
        ("log\n{\"reason\":\"json\"}", "", "json"),
        (r#"{"error":"x"}"#, "", r#"{"error":"x"}"#),
        ("text", " ", "text"),
        (
            "{}",
            "",
            "hook `guard.py` exited with status 3 and gave no reason",
        ),
        (
            "",
            "",
            "hook `guard.py` exited with status 3 and gave no reason",
        ),
    ] {
        let ending = NATIVE.ends(3, stdout.as_bytes(), stderr);
        let blocked = Decision::Block {
            reason: reason.to_string(),
        };
        assert_eq!(verdict(&ending).decision, blocked, "{stdout}");
    }
}

#[test]
fn nothing_on_stderr_is_an_answer() {
    for speaker in speakers() {
        let ending = speaker.ends(0, b"", BLOCK);
        let reads_stderr = speaker.binding.is_some_and(|one| one.reads_stderr());
        assert_eq!(is_block(&ending), reads_stderr, "{}", row_of(speaker));
    }
}

#[test]
fn every_key_of_the_table_stands_once_and_has_values() {
    let mut names: Vec<&str> = DECISION_KEYS
        .iter()
        .flat_map(|row| row.0)
        .copied()
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for (names, values) in DECISION_KEYS {
        for name in *names {
            if *name == "continue" || *name == "ask" || *name == "hookSpecificOutput" {
                continue;
            }
            let value = match values {
                ["!", ..] => "because",
                [first, ..] => first,
                [] => panic!("{name}"),
            };
            let said = format!("{{\"{name}\":\"{value}\"}}");
            assert!(NATIVE.says(&said).failure().is_some(), "{said}");
            let said = format!("{{\"{name}\":null}}");
            assert_eq!(verdict(&NATIVE.says(&said)).decision, Decision::Allow);
        }
    }
}

/// Lines that are not answers: any text, JSON, and what only begins like JSON.
fn lines() -> impl proptest::strategy::Strategy<Value = Vec<String>> {
    let line = proptest::prop_oneof![
        "[a-z{}:\"' \\[\\],]{0,30}",
        "\\PC{0,30}",
        proptest::strategy::Just(r#"{"level":"info","msg":"checked"}"#.to_string()),
        proptest::strategy::Just("[1, 2]".to_string()),
    ];
    proptest::collection::vec(line, 0..6)
}

proptest::proptest! {
    #[test]
    fn a_block_at_the_start_of_a_line_is_never_lost(before in lines(), after in lines()) {
        // An open list takes the objects that it contains.
        let before: Vec<String> = before.into_iter().map(|line| line.replace('[', "(")).collect();
        let said = [before, vec![BLOCK.to_string()], after].concat().join("\n");
        for status in [0, 1] {
            let ending = NATIVE.ends(status, said.as_bytes(), "");
            proptest::prop_assert!(is_block(&ending), "{:?}: {:?}", said, ending);
        }
    }

    #[test]
    fn logs_in_json_change_nothing(
        message in "\\PC{0,30}",
        count in 0..1000,
        text in "[a-z ]{0,20}",
    ) {
        let log = serde_json::json!({ "level": "info", "msg": message, "count": count });
        for said in [
            format!("{log}\n{text}"),
            format!("{text}\n{log}\n{{\"continue\":true}}"),
            format!("{{\"continue\":true}}\n{log}\n{log}"),
        ] {
            let ending = NATIVE.says(&said);
            proptest::prop_assert_eq!(&verdict(&ending).decision, &Decision::Allow);
        }
    }
}
