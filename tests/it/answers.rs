//! What a hook's output means: a refusal is never lost, in whichever words and surroundings, and
//! what is no refusal is not taken for one.

mod broken;
mod contract;
mod crashes;
mod words;

use std::sync::Arc;

use hookrun::hosts::{Binding, DIALECTS};
use hookrun::internals::answer::judge;
use hookrun::internals::event::{EventSpec, catalog};
use hookrun::internals::hook::Permit;
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
            given: None,
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
    let rows = DIALECTS.iter().flat_map(|dialect| {
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

fn is_question_put(ending: &Ending) -> bool {
    matches!(
        ending.verdict().map(|said| &said.decision),
        Some(Decision::Ask { .. })
    )
}

/// It blocks a gate that fails closed.
fn is_held(ending: &Ending) -> bool {
    is_block(ending) || ending.failure().is_some()
}

/// Every way in which somebody writes a refusal that is whole.
const REFUSALS: &[&str] = &[
    r#"{"continue":false,"reason":"no"}"#,
    r#"{"continue":false}"#,
    r#"{"reason":"no","continue":false,"x":[{"y":null}]}"#,
    r#"{"continue":true,"continue":false}"#,
    r#"{"\u0063ontinue":false}"#,
    r#"{"decision":"block","reason":"no"}"#,
    r#"{"decision":"deny"}"#,
    r#"{"permission":"deny"}"#,
    r#"{"permissionDecision":"deny"}"#,
    r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
    r#"{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}"#,
    r#"{"block":true,"reason":"no"}"#,
    r#"{"cancel":true}"#,
    r#"{"ok":false,"reason":"no"}"#,
    r#"{"allow":false}"#,
    r#"{"allowed":false,"reason":"no"}"#,
    r#"{"approve":false}"#,
    r#"{"approved":false}"#,
    r#"{"proceed":false}"#,
    r#"{"permitted":false}"#,
    r#"{"deny":true}"#,
    r#"{"deny":"no"}"#,
    r#"{"denied":true}"#,
    r#"{"blocked":true}"#,
    r#"{"refuse":true}"#,
    r#"{"reject":"no"}"#,
    r#"{"stop":true}"#,
    r#"{"action":"block","reason":"no"}"#,
    r#"{"verdict":"block"}"#,
    r#"{"status":"deny"}"#,
    r#"{"result":"deny"}"#,
    r#"{"outcome":"block"}"#,
    r#"{"behaviour":"Reject"}"#,
    r#"{"effect":"Deny"}"#,
    r#"{"action":"stop"}"#,
    r#"{"halt":true}"#,
    // OPA, AuthZEN, Rego's sets as conftest reads them, Cedar.
    r#"{"result":false}"#,
    r#"{"result":{"decision":false}}"#,
    r#"{"decision":false,"context":{"reason":"no"}}"#,
    r#"{"result":{"allow":false,"deny":["no"]}}"#,
    r#"{"result":[{"expressions":[{"value":{"allow":false},"text":"data.gate"}]}]}"#,
    r#"{"deny":["no"]}"#,
    r#"{"deny":[{"msg":"no"}]}"#,
    r#"{"deny":{"reason":"no"}}"#,
    r#"{"response":{"decision":"deny","diagnostics":{"reason":["policy0"]}}}"#,
    r#"{"decision":["deny"]}"#,
    r#"{"decision":["allow","deny"]}"#,
    // Languages without a true and a false.
    r#"{"deny":1}"#,
    r#"{"allow":0}"#,
    r#"{"continue":0}"#,
];

/// What stands around it: `@` is the refusal, `$` the refusal as the inside of a JSON string.
const SURROUNDINGS: &[&str] = &[
    "@",
    "\u{feff}@\r\n",
    "checking…\n@",
    "@\ndone",
    "{\"level\":\"info\",\"msg\":\"checking\"}\n@",
    "@\n{\"level\":\"info\"}",
    "{\"continue\":true}\n@",
    "2026-11-22 INFO answer: @ (0.1s)",
    "working\r@\rdone",
    "\u{1b}[1;31m@\u{1b}[0m",
    "log\n\u{1b}[32m@\u{1b}[0m",
    "[@]",
    "[[@]]",
    "log [1, @]",
    "{\"answer\":@}",
    "log\n{\"answer\":\n  @\n}",
    "{\"a\":{\"b\":[{\"c\":@}]}}",
    "\"$\"",
    "log \"$\"",
    "{\"answer\":\"$\"}",
    "log\n{\"answer\":\"$\"}\n",
];

/// Whether a dialect gives a word of this refusal a meaning of its own, which wins.
fn is_its_own(speaker: Speaker, refusal: &str, surroundings: &str) -> bool {
    use hookrun::hosts::{KeyMeaning, Results};
    let Some(Binding { row, .. }) = speaker.binding else {
        return false;
    };
    let Results::Keys(keys) = row.results else {
        return false;
    };
    let owns = |key: &hookrun::hosts::ReplyKey| {
        key.says != KeyMeaning::Refusal(true)
            && refusal.starts_with(&format!("{{\"{}\":", key.name))
    };
    surroundings.contains('@') && keys.iter().any(owns)
}

#[test]
fn a_refusal_in_any_words_and_surroundings_blocks_in_every_dialect() {
    let speakers = speakers();
    assert!(speakers.len() > 20, "{}", speakers.len());
    let mut lost = Vec::new();
    for refusal in REFUSALS {
        let escaped = serde_json::to_string(refusal).unwrap();
        for surroundings in SURROUNDINGS {
            let said = surroundings.replace('@', refusal);
            let said = said.replace('$', &escaped[1..escaped.len() - 1]);
            for speaker in &speakers {
                let ending = speaker.says(&said);
                let blocks = is_block(&ending);
                if !(blocks || is_its_own(*speaker, refusal, surroundings) && is_held(&ending)) {
                    let row = speaker.binding.map_or("", |one| one.row.name);
                    lost.push(format!("{} {row}: {said:?}: {ending:?}", speaker.name));
                }
            }
        }
    }
    assert!(
        lost.is_empty(),
        "{}\n{}",
        lost.len(),
        lost[..lost.len().min(20)].join("\n")
    );
}

/// Every way in which somebody writes a question.
const QUESTIONS: &[&str] = &[
    r#"{"ask":"really?"}"#,
    r#"{"permissionDecision":"ask","permissionDecisionReason":"really?"}"#,
    r#"{"permissionDecision":"ask","reason":"really?"}"#,
    r#"{"permission":"ask","reason":"really?"}"#,
    r#"{"decision":"ask","reason":"really?"}"#,
    r#"{"decision":["ask"],"reason":"really?"}"#,
    r#"{"behavior":"ask","message":"really?"}"#,
    r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"really?"}}"#,
    r#"{"hookSpecificOutput":{"decision":{"behavior":"ask","message":"really?"}}}"#,
];

#[test]
fn a_question_in_any_words_and_surroundings_is_put_in_every_dialect() {
    let mut lost = Vec::new();
    for question in QUESTIONS {
        let escaped = serde_json::to_string(question).unwrap();
        for surroundings in SURROUNDINGS {
            let said = surroundings.replace('@', question);
            let said = said.replace('$', &escaped[1..escaped.len() - 1]);
            for speaker in speakers() {
                let ending = speaker.says(&said);
                let asked = Decision::Ask {
                    question: "really?".to_string(),
                };
                let is_asked = ending.verdict().is_some_and(|said| said.decision == asked);
                // What is malformed blocks: a word that a host's own place does not take. To one
                // host `{"continue":true}` is a refusal to stop.
                let goes_on = surroundings.contains("continue") && is_block(&ending);
                if !(is_asked || goes_on || ending.failure().is_some()) {
                    let row = speaker.binding.map_or("", |one| one.row.name);
                    lost.push(format!("{} {row}: {said:?}: {ending:?}", speaker.name));
                }
            }
        }
    }
    assert!(
        lost.is_empty(),
        "{}\n{}",
        lost.len(),
        lost[..lost.len().min(20)].join("\n")
    );
}

/// JSON that tools and policy engines print where all is well.
#[test]
fn what_policy_engines_and_tools_print_when_all_is_well_passes_in_every_dialect() {
    for said in [
        r#"{"result":true}"#,
        r#"{"result":0}"#,
        r#"{"result":{"allow":true,"deny":[]}}"#,
        r#"{"result":[{"expressions":[{"value":true,"text":"data.gate.allow"}]}]}"#,
        r#"{"deny":[],"warn":[]}"#,
        r#"[{"filename":"a.tf","namespace":"main","successes":3}]"#,
        r#"{"response":{"decision":"Allow","diagnostics":{"reason":[],"errors":[]}}}"#,
        r#"{"status":"ok"}"#,
        r#"{"status":"stop","blocked":0}"#,
        r#"{"outcome":"ask"}"#,
        r#"{"finish_reason":"stop"}"#,
        r##"{"level":"info","msg":"# no /* comment */ “continue”"}"##,
    ] {
        for speaker in speakers() {
            for said in [
                format!("log\n{said}"),
                format!("log\n{said}\nend # of // it"),
            ] {
                let ending = speaker.says(&said);
                let is_strange = speaker.binding.is_some() && ending.failure().is_some();
                let is_allowed = || {
                    ending
                        .verdict()
                        .is_some_and(|said| said.decision == Decision::Allow)
                };
                assert!(
                    is_strange || is_allowed(),
                    "{} {said:?}: {ending:?}",
                    speaker.name
                );
            }
        }
    }
}

/// What word processors, web pages and people with comments make of a refusal.
#[test]
fn a_refusal_with_other_quotes_escapes_or_comments_is_held_in_every_dialect() {
    for said in [
        "{\u{201c}continue\u{201d}: false}",
        "{\u{201e}decision\u{201c}: \u{201c}deny\u{201d}}",
        "{\u{2018}continue\u{2019}: false}",
        "{&quot;continue&quot;: false}",
        "{&#34;allow&#34;: false}",
        "{\"continue\" /* why */ : false}",
        "{\n  // no\n  continue: false}",
        "{\n  # refuse\n  allow: false}",
        "{\"continue\": // no\n false}",
        "\"{\\\"continue\\\"\\u003afalse}\"",
        "{\\u0022continue\\u0022\\u003a false\\u007d",
        "\"\\\"{\\\\\\\"continue\\\\\\\"\\\\u003afalse}\\\"\"",
    ] {
        for speaker in speakers() {
            for said in [
                said.to_string(),
                format!("x {said}"),
                format!("log\n{said}\nend"),
            ] {
                let ending = speaker.says(&said);
                assert!(is_held(&ending), "{} {said:?}: {ending:?}", speaker.name);
            }
        }
    }
}

/// An object alone on stderr is an answer that went to the wrong place; among logs it is a log.
#[test]
fn an_answer_alone_on_stderr_counts_beside_an_empty_stdout() {
    for speaker in speakers() {
        for said in [
            r#"{"continue":false,"reason":"no"}"#,
            "{\"decision\":\"deny\"}\n",
        ] {
            let ending = speaker.ends(0, b"", said);
            assert!(is_block(&ending), "{} {said:?}: {ending:?}", speaker.name);
        }
        let ending = speaker.ends(0, b"", r#"{"ask":"really?"}"#);
        let asked = Decision::Ask {
            question: "really?".to_string(),
        };
        assert_eq!(verdict(&ending).decision, asked, "{}", speaker.name);
        for said in ["hi", "{}", r#"{"level":"info","msg":"checked"}"#] {
            let ending = speaker.ends(0, b"", said);
            assert!(!is_block(&ending), "{} {said:?}: {ending:?}", speaker.name);
        }
    }
    let log = "checked\n{\"decision\":\"deny\"}\n{\"decision\":\"allow\"}";
    assert_eq!(verdict(&NATIVE.ends(0, b"", log)).decision, Decision::Allow);
}

/// Refusals in YAML, TOML and the words of a log or a shell.
const LINES: &[&str] = &[
    "continue: false",
    "decision: block\nreason: no pushes",
    "permission: deny",
    "\"continue\" = false",
    "continue=False",
    "Continue: no",
    "CONTINUE=false",
    "contine: false",
    "hookSpecificOutput:\n  permissionDecision: \"deny\"\n",
    "permission_decision: deny",
    "- block: true  # no pushes",
    "verdict = 'refused'",
    "deny: \"no pushes\"",
    "level=warn decision=deny user=me",
    "checked\n2026-11-22 10:00:00 INFO ok: false",
    "[guard] allowed: False",
    "log {continue = false}",
];

#[test]
fn a_refusal_in_yaml_or_as_an_assignment_is_malformed_in_every_dialect() {
    for said in LINES {
        for speaker in speakers() {
            let ending = speaker.says(said);
            assert!(is_held(&ending), "{} {said:?}: {ending:?}", speaker.name);
        }
        let Ending::Malformed { problem } = NATIVE.says(said) else {
            panic!("{said:?}")
        };
        assert!(
            problem.contains("print one JSON object alone"),
            "{said:?}: {problem}"
        );
    }
}

/// Refusals as languages print their objects: no JSON, and meant as an answer.
const PRINTED: &[&str] = &[
    // Python.
    "{'continue': False}",
    "OrderedDict({'continue': False})",
    "OrderedDict([('continue', False), ('reason', 'no')])",
    "OrderedDict([('reason', 'no'), ('decision', 'block')])",
    "OrderedDict([('hookSpecificOutput', OrderedDict([('permissionDecision', 'deny')]))])",
    "dict_items([('permission', 'deny')])",
    "defaultdict(<class 'bool'>, {'continue': False})",
    "mappingproxy({'continue': False})",
    "namespace(continue_=False, reason='no')",
    "Result(reason='no', continue_=False)",
    "Result(decision='deny', reason='no')",
    "Result(decision=<Decision.BLOCK: 'block'>, reason='no')",
    "Result(decision=<Decision.BLOCK: 1>, reason='no')",
    "Result(decision=Decision.BLOCK, reason='no')",
    "continue_=False reason='no'",
    "('continue', False)",
    "{'continue': np.False_}",
    // JavaScript.
    "{ continue: false, reason: 'no' }",
    "Result {\n  continue: false,\n  reason: 'no'\n}",
    "Map(1) { 'continue' => false }",
    "[Object: null prototype] { continue: false }",
    "[ [ 'continue', false ], [ 'reason', 'no' ] ]",
    // Ruby, Perl, PHP, Lua.
    "{\"continue\"=>false}",
    "{:continue=>false, :reason=>\"no\"}",
    "#<struct Result continue=false, reason=\"no\">",
    "#<struct Result decision=:block, reason=\"no\">",
    "Array\n(\n    [deny] => 1\n)",
    "#<Result:0x00007f @continue=false, @reason=\"no\">",
    "$VAR1 = {\n          'reason' => 'no',\n          'continue' => 0\n        };",
    "$VAR1 = {\n  'continue' => bless( do{\\(my $o = 0)}, 'JSON::PP::Boolean' )\n};",
    "$VAR1 = {\n  'continue' => ''\n};",
    "Array\n(\n    [reason] => no\n    [continue] => \n)",
    "Array\n(\n    [decision] => block\n)",
    "array(1) {\n  [\"continue\"]=>\n  bool(false)\n}",
    "array(1) {\n  [\"decision\"]=>\n  string(5) \"block\"\n}",
    "object(stdClass)#1 (1) {\n  [\"continue\"]=>\n  bool(false)\n}",
    "array (\n  'continue' => false,\n)",
    "['continue' => false]",
    "{ [\"continue\"] = false }",
    // Go, Rust, Java, Kotlin, Scala, Swift, Elixir, Erlang, bash, PowerShell.
    "map[continue:false reason:no]",
    "map[hookSpecificOutput:map[hookEventName:PreToolUse permissionDecision:deny]]",
    "&{Reason:no Continue:false}",
    "main.Answer{Reason:\"no\", Continue:false}",
    "Answer { reason: \"no\", r#continue: false }",
    "Answer { r#continue: Some(false) }",
    "Answer { decision: Some(\"block\") }",
    "Answer { decision: Decision::Deny }",
    "Answer { decision: Decision::Deny(\"x\") }",
    "Answer { decision: Deny(\"x\") }",
    "Answer { decision: Block(Some(\"x\")) }",
    "log {decision: deny.rule1}",
    "Result(decision=Deny(reason=x))",
    "map[decision:deny(\"x\")]",
    "Object {\"continue\": Bool(false)}",
    "Answer[continue=false, reason=no]",
    "Answer(reason=no, decision=block)",
    "Map(continue -> false, reason -> no)",
    "Answer(reason: \"no\", continue: false)",
    "[\"continue\": false, \"reason\": \"no\"]",
    "%{continue: false}",
    "#{<<\"continue\">> => false}",
    "declare -A answer=([continue]=\"false\" [reason]=\"no\" )",
    "@{continue=False; reason=no}",
];

#[test]
fn a_refusal_that_a_language_prints_as_its_object_is_held_in_every_dialect() {
    for printed in PRINTED {
        for said in [
            printed.to_string(),
            format!("log\n{printed}"),
            format!("{printed}\nend"),
        ] {
            for speaker in speakers() {
                let ending = speaker.says(&said);
                assert!(is_held(&ending), "{} {said:?}: {ending:?}", speaker.name);
            }
            let Ending::Malformed { problem } = NATIVE.says(&said) else {
                panic!("{said:?}")
            };
            let has_cure = ["print", "not valid JSON"]
                .iter()
                .any(|it| problem.contains(it));
            assert!(has_cure, "{said:?}: {problem}");
        }
    }
}

#[test]
fn the_reason_of_a_refusal_is_found_beside_it() {
    for (said, reason) in [
        (r#"log {"decision":"block","reason":"no"}"#, "no"),
        (
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            "no",
        ),
        (r#"[{"deny":"no pushes"}]"#, "no pushes"),
        (r#"{"blocked":true,"message":"no"}"#, "no"),
        (r#"log "{\"ok\":false,\"reason\":\"no\"}""#, "no"),
        (
            r#"{"answer":{"continue":false}}"#,
            "blocked without a reason",
        ),
        (r#"{"deny":["no","never"]}"#, "no"),
        (r#"{"deny":[{"msg":"no"}]}"#, "no"),
        (r#"{"x":{"deny":{"reason":"no"}}}"#, "no"),
    ] {
        let ending = NATIVE.says(said);
        let reason = reason.to_string();
        assert_eq!(
            verdict(&ending).decision,
            Decision::Block { reason },
            "{said}"
        );
    }
}

/// What cannot be read, or is no answer: alone and among text the same.
#[test]
fn what_is_malformed_alone_is_malformed_after_a_log_line() {
    for said in [
        r#"{"continue":false,"reason":"a "quoted" word"}"#,
        "{\"continue\":false,\"reason\":\"two\nlines\"}",
        r#"{"reason":"a "b" c","continue":false}"#,
        r#"{"continue":false,}"#,
        r#"{"continue":true,}"#,
        r#"{"continue":false,"reason":"cut"#,
        r#"{"continue":fal"#,
        r#"{"contin"#,
        "{'continue': False, 'reason': 'no'}",
        "{ continue: false, reason: 'no' }",
        "{:continue=>false}",
        r#"{"continue" => false}"#,
        r#"{"continue":"false"}"#,
        r#"{"continue":False}"#,
        r#"{"continue":null}"#,
        r#"{"Continue":false}"#,
        r#"{"CONTINUE":false}"#,
        r#"{"contine":false}"#,
        r#"{"decision":"allow"}"#,
        r#"{"ask":true}"#,
        r#"{"reason":"only a reason"}"#,
        r#"{"reason":"only a reason",}"#,
        r#"{"ask":""}"#,
        r#"{"output":7}"#,
        r#"{"update":{"cwd":"/"}}"#,
        r#"{"continue":true}{"continue":true}"#,
        "{\"continue\":true}\n{\"output\":\"x\"}",
        r#"{"Allow":false}"#,
        r#"{"approved":"false"}"#,
        r#"[{"continue":true}]"#,
    ] {
        for said in [
            said.to_string(),
            format!("log\n{said}"),
            format!("{said}\nlog"),
        ] {
            let ending = NATIVE.says(&said);
            assert!(
                matches!(ending, Ending::Malformed { .. }),
                "{said}: {ending:?}"
            );
        }
    }
}

#[test]
fn a_log_line_around_an_answer_changes_nothing() {
    for said in [
        r#"{"continue":true}"#,
        r#"{"continue":true,"x-log":{"decision":"block"}}"#,
        r#"{"output":"say {\"continue\":false} to block"}"#,
        r#"{"additionalContext":"c","output":"o"}"#,
        r#"{"ask":"really?"}"#,
        "{\n  \"output\": \"o\"\n}",
    ] {
        let alone = NATIVE.says(said);
        let wanted = verdict(&alone);
        for around in [
            format!("log\n{said}"),
            format!("log\r{said}\r"),
            format!("a {{}}\n{said}"),
        ] {
            let ending = NATIVE.says(&around);
            let found = verdict(&ending);
            assert_eq!(found.decision, wanted.decision, "{around}");
            assert_eq!(
                found.additional_context, wanted.additional_context,
                "{around}"
            );
        }
    }
}

#[test]
fn text_and_logs_that_say_nothing_of_an_answer_are_output() {
    for said in [
        "hello",
        "\"hello\"",
        "[1]",
        "checked 3 files: ok",
        "status: blocked, 3 times",
        "log\n{\"level\":\"info\",\"msg\":\"checked\",\"ok\":true}",
        "log\n{\"level\":\"warn\",\"reason\":\"cache cold\",\"ms\":3}\n{\"level\":\"info\"}",
        "[{\"id\":1,\"status\":\"open\"}]",
        "a {} b {\"c\":{}} d",
        "\"status\":200",
        "if (x) { y = \"continue\"; }",
        "{{ template }} \"name\": 1",
        "continue: false alarm",
        "the next step says continue: false",
        "Do you want to continue:",
        "Status: blocked",
        "continue: true\ndecision: allow\npermission = ask",
        "blocked: 0\nrejected: 3\nstop: 12",
        "running check --continue=false",
        "GET /jobs?allow=false&page=2",
        "if status == \"blocked\" then",
        "nonstop=true",
        "no decision: denying is not for me",
        // Source code, lists and objects that say nothing of an answer.
        "OrderedDict([('name', 'x'), ('ok', 3)])",
        "[('ok', 0), ('failed', 3), ('status', 'blocked')]",
        "if kwargs.pop('allow', False) or options.get(\"continue\", False):",
        "display is one of ('block', 'inline')",
        "['block', 'inline'], [\"decision\", \"reason\"]",
        "Namespace(verbose=False, allow_dirty=False)",
        "CompletedProcess(args=['ls'], returncode=0)",
        "map[name:x size:3] ok:false, in 3 s",
        "Array\n(\n    [name] => \n    [size] => 3\n)",
        "array(1) {\n  [\"size\"]=>\n  int(0)\n}",
        "a -> b, status -> blocked",
        "build (ok: true) lint (ok: false) done",
        "errors[continue] = false; list[decision] => deny",
        "errors[\"continue\"] = false; list['decision'] = 'deny';",
        "(ok) false, (continue) false",
        "Map(continue -> true, allow -> true)",
        "see Decision.BLOCK and Decision::Deny(false)",
        "[allow]:\nhttps://example.org",
        "[allow]:",
        "map[start:1 stop:3]",
        "Trip(start: 10, stop: 11)",
        "Array\n(\n    [start] => 1\n    [stop] => 3\n)",
        "Array\n(\n    [status] => \n    [action] => \n)",
        "Options: [allow]=\nx",
    ] {
        let said = if said.starts_with("{{") {
            format!("log {said}")
        } else {
            said.to_string()
        };
        let ending = NATIVE.says(&said);
        assert_eq!(verdict(&ending).decision, Decision::Allow, "{said}");
        assert_eq!(verdict(&ending).output.as_deref(), Some(said.as_str()));
    }
}

#[test]
fn an_answer_of_a_gate_has_no_keys_but_its_own() {
    for (said, cure) in [
        (r#"{"version":2}"#, "call a key of your own `x-version`"),
        (r#"{"level":"info","msg":"hi"}"#, "print logs to stderr"),
        (
            r#"{"continue":true,"outputs":"x"}"#,
            "did you mean `output`?",
        ),
        (r#"{"stopReason":"x"}"#, "another host's"),
        (r#"{"error":"bad"}"#, "`x-error`"),
    ] {
        let Ending::Malformed { problem } = NATIVE.says(said) else {
            panic!("{said}")
        };
        assert!(problem.contains(cure), "{said}: {problem}");
    }
    let ending = NATIVE.says(r#"{"continue":true,"x-version":2,"x-":{"deny":true}}"#);
    assert_eq!(verdict(&ending).decision, Decision::Allow);
}

#[test]
fn new_values_are_no_decision() {
    let claude = |event: &str| {
        let dialect = hookrun::hosts::find("claude").unwrap();
        Speaker {
            name: "claude",
            binding: Some(dialect.called(event)[0]),
        }
    };
    for (speaker, said) in [
        (NATIVE, r#"{"additionalContext":"{\"continue\":false}"}"#),
        (NATIVE, "log\n{\"output\":\"blocked: 0\"}"),
        (
            claude("PreToolUse"),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"status":"blocked","content":"{\"deny\":true}"}}}"#,
        ),
        (
            claude("PreToolUse"),
            r#"{"systemMessage":"{\"decision\":\"block\"}"}"#,
        ),
        (
            claude("PermissionRequest"),
            r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedPermissions":[{"behavior":"deny"}]}}}"#,
        ),
    ] {
        let ending = speaker.says(said);
        assert_eq!(verdict(&ending).decision, Decision::Allow, "{said}");
    }
}
