//! What a hook of another system says in its results, judged by that system's table.

use std::sync::Arc;

use hookrun::hosts::{Binding, find};
use hookrun::internals::answer;
use hookrun::internals::event::{EventSpec, catalog};
use hookrun::internals::hook::{Handler, Hook, Permit};
use hookrun::internals::outcome::Decision;
use hookrun::internals::run::{CapturedStream, Ending, Exit};

fn judged(binding: Binding, spec: &EventSpec, status: i32, stdout: &str) -> Ending {
    let captured = CapturedStream {
        head: stdout.as_bytes().to_vec(),
        tail: Vec::new(),
        total_bytes: stdout.len() as u64,
    };
    let handler = Handler::File("a.py".into());
    let hook = Hook {
        convention: Some(Arc::new(binding)),
        ..Hook::new("a.py", binding.row.event, handler)
    };
    let permit = Permit {
        spec,
        hook: &hook,
        part: None,
        about: None,
    };
    answer::judge(
        Exit::Status(status),
        &captured,
        &CapturedStream::default(),
        permit,
    )
    .0
}

fn blocks(ending: &Ending) -> bool {
    let verdict = ending.verdict();
    verdict.is_some_and(|verdict| matches!(verdict.decision, Decision::Block { .. }))
}

#[test]
fn a_new_value_that_the_host_cannot_take_blocks_its_gate() {
    let binding = find("wolli").unwrap().called("tool_call")[0];
    let fixed = EventSpec {
        rewrites: (&[]).into(),
        ..catalog::find("tool.pre").unwrap().clone()
    };
    let patch = r#"{"input":{"command":"safe"}}"#;
    assert!(blocks(&judged(binding, &fixed, 0, patch)));
    assert!(!blocks(&judged(
        binding,
        catalog::find("tool.pre").unwrap(),
        0,
        patch
    )));
}

#[test]
fn a_word_of_another_system_is_malformed_where_the_key_has_words_of_its_own() {
    let binding = find("openclaw").unwrap().called("before_agent_finalize")[0];
    let spec = catalog::find("agent.stop").unwrap();
    for word in ["deny", "denied"] {
        let said = format!(r#"{{"action":"{word}","reason":"no"}}"#);
        let ending = judged(binding, spec, 0, &said);
        assert!(
            matches!(ending, Ending::Malformed { .. }),
            "{word}: {ending:?}"
        );
    }
    assert!(!blocks(&judged(
        binding,
        spec,
        0,
        r#"{"action":"finalize"}"#
    )));
}

#[test]
fn a_result_of_the_wrong_shape_is_malformed() {
    let binding = find("wolli").unwrap().called("input")[0];
    let spec = catalog::find("prompt.submit").unwrap();
    for (result, problem) in [
        (r#"{"action":"transfrom","text":"x"}"#, "must be one of"),
        (r#"{"action":"transform"}"#, "the answer has no new value"),
        (
            r#"{"text":"x"}"#,
            "`action`, which names the kind of result, is missing",
        ),
        (
            r#"{"action":"transform","text":7}"#,
            "must be a JSON string",
        ),
        (
            r#"{"action":"handled"} {"action":"handled"}"#,
            "line 1: this is the second answer",
        ),
    ] {
        let ending = judged(binding, spec, 0, result);
        let Ending::Malformed { problem: found } = &ending else {
            panic!("{ending:?}")
        };
        assert!(found.contains(problem), "{result}: {found}");
    }
}
