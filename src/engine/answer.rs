//! What did the hook say? Its exit status and its output become a verdict, or are malformed.
//!
//! Pure. The hook contract in one place: `man hookrun-hook` describes what this file does.
//!
//! 1. A signal is a failure, and so is a crash of the program; but a whole refusal that was said
//!    before it counts.
//! 2. A non-zero exit status refuses; nothing on stdout can undo it.
//! 3. A refusal counts wherever it stands, in every host's words (`search`).
//! 4. More than 1 MiB of stdout is malformed; of its beginning only whole refusals count.
//! 5. Nothing on stdout is no opinion; text in which no answer stands is `output`.
//! 6. An answer is one JSON object that keeps to the contract. Log lines around it change nothing.
//!
//! A hook that was written for another system is judged by its [`Convention`].

mod crash;
mod findings;
mod line;
mod object;
mod plain;
pub mod refusal;
mod search;
mod structured;
mod text;

use serde_json::Value;

use crate::engine::ending::{Captured, Ending, Exit, signal_name};
use crate::engine::hook::{Convention, Permit, Printed};
use crate::engine::outcome::{ContractRule, Decision, Verdict};
pub(crate) use crash::crash;
pub(crate) use object::{all_of, objects_in, read_object};
use object::{findings_in, last, own_entries_of};
use refusal::Vocabulary;
pub(crate) use search::{FoundAnswers, search};
use structured::structured;
pub(crate) use text::{InText, read_text, without_colours};

impl<'a> Permit<'a> {
    /// The convention that its results are read by; `None` for hookrun's own contract.
    fn convention(self) -> Option<&'a dyn Convention> {
        self.hook.convention.as_deref().filter(|one| one.has_own_results())
    }

    /// Whether an answer has no keys but its own: a gate's, unless another system's rule is that
    /// other keys are ignored.
    fn is_closed(self) -> bool {
        self.spec.blocks && self.hook.convention.is_none()
    }

    fn vocabulary(self) -> Vocabulary<'a> {
        self.convention().map_or(Vocabulary::Native, Vocabulary::Of)
    }
}

/// How the run of a hook that exited has ended, with notes for its author.
pub fn judge(
    exit: Exit,
    stdout: &Captured,
    stderr: &Captured,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let status = match exit {
        Exit::Signal(signal) => return failed(Ending::Killed { signal }, stdout, permit),
        Exit::Status(status) => status,
    };
    let text = stdout.text();
    let text = text.trim_start_matches('\u{feff}').trim();
    let printed = Printed { status, stdout: text, is_cut: stdout.is_cut(), stderr };
    if let Some(convention) = permit.convention() {
        return convention.judge(&printed, permit);
    }
    if status != 0 {
        let stderr = stderr.text();
        return match crash(status, &stderr, permit) {
            Some(problem) => failed(Ending::Crashed { problem }, stdout, permit),
            None => refused_by_status(&printed, permit),
        };
    }
    if stdout.is_cut() {
        let problem = format!("stdout has {} bytes, more than 1 MiB", stdout.total_bytes);
        return failed(malformed(problem), stdout, permit);
    }
    if text.is_empty() {
        return beside_nothing(&stderr.text(), permit);
    }
    // `jq -C` and the like put colours around an answer; they do not change what it says.
    let (printed, uncoloured) = (text, without_colours(text));
    let text = uncoloured.as_deref().unwrap_or(text).trim();
    if text.starts_with('{') {
        return object(text, permit);
    }
    let as_text = |notes| {
        let verdict = Verdict::new(Decision::Allow, ContractRule::Text);
        // The hooks of another system know nothing of ours.
        let teaches = permit.spec.conduct.text_teaches && permit.hook.convention.is_none();
        let verdict = match teaches {
            true => verdict.with_context(printed),
            false => verdict.with_output(printed),
        };
        (Ending::Answered(verdict), notes)
    };
    match read_text(text, permit) {
        InText::Decision(decision) => in_text(decision, Some(printed)),
        // Another system's rule is that all of this is text.
        InText::Answer(_) if permit.hook.convention.is_some() => as_text(Vec::new()),
        InText::Answer(answer) => {
            let (ending, mut notes) = object(answer, permit);
            notes.push(SURROUNDED.to_string());
            (ending, notes)
        }
        InText::Malformed(problem) if permit.spec.blocks => (malformed(problem), Vec::new()),
        InText::Malformed(problem) => as_text(vec![problem]),
        InText::Nothing => as_text(Vec::new()),
    }
}

/// The ending of a hook that exited with 0 and printed nothing on stdout. Of a gate, a JSON object
/// that is all of stderr counts where it refuses or asks; among logs it is a note.
pub(crate) fn beside_nothing(stderr: &str, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let silent = Ending::Answered(Verdict::new(Decision::Allow, ContractRule::Silence));
    let stderr = stderr.trim_start_matches('\u{feff}').trim();
    if stderr.is_empty() || !permit.spec.blocks {
        return (silent, Vec::new());
    }
    let Some(decision) = search(stderr, permit.vocabulary()).decision() else {
        return (silent, Vec::new());
    };
    if all_of(stderr).is_some() {
        return in_text(decision, None);
    }
    (
        silent,
        vec!["there is an answer on stderr, which is for logs; print it to stdout".to_string()],
    )
}

/// The ending of a hook that failed: a whole refusal that it had said by then counts, and its
/// failure is a note.
pub(crate) fn failed(
    failure: Ending,
    stdout: &Captured,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let words = failure.failure().filter(|_| !stdout.head.is_empty());
    let Some(words) = words else { return (failure, Vec::new()) };
    let text = stdout.text();
    let text = without_colours(&text).unwrap_or(text);
    let Some(reason) = search(text.trim(), permit.vocabulary()).refusal else {
        return (failure, Vec::new());
    };
    let (ending, _) = in_text(Decision::Block { reason }, None);
    (ending, vec![format!("it had blocked, and then failed: {words}")])
}

/// One JSON object alone, or what begins like one.
fn object(text: &str, permit: Permit<'_>) -> (Ending, Vec<String>) {
    let document = read_object(text).map_err(|error| syntax(&error));
    let read = document.and_then(|entries| structured(entries, text, permit));
    // A refusal may stand below a key that is not ours, or beside one.
    let found = match &read {
        Ok((_, notes)) if notes.is_empty() => FoundAnswers::default(),
        Ok(_) | Err(_) => search(text, Vocabulary::Native),
    };
    match (read, found.decision(), found.unreadable) {
        (_, Some(decision @ Decision::Block { .. }), _) => in_text(decision, None),
        (Ok(_), _, Some(problem)) if permit.spec.blocks => (malformed(problem), Vec::new()),
        (Ok((verdict, _)), Some(question), _) if verdict.decision == Decision::Allow => {
            in_text(question, None)
        }
        (Ok((verdict, notes)), _, _) => (Ending::Answered(verdict), notes),
        (Err(_), Some(decision), _) => in_text(decision, None),
        (Err(problem), None, _) => (malformed(problem), Vec::new()),
    }
}

/// How the call of a function has ended that returned, or failed in these words.
pub(crate) fn returned(returned: Result<Verdict, String>, permit: Permit<'_>) -> Ending {
    let verdict = match returned {
        Ok(verdict) => verdict,
        Err(problem) => return Ending::Errored { problem },
    };
    structured::returned(verdict, permit).map_or_else(malformed, Ending::Answered)
}

/// What is wrong with text that begins like a JSON object, in words that name the usual slips.
pub(crate) fn syntax(error: &serde_json::Error) -> String {
    let words = error.to_string();
    if words.starts_with("trailing characters") {
        return format!("something follows the JSON object ({words}); print one object alone");
    }
    if words.starts_with("control character") {
        return format!(
            "a JSON string contains a line break or another control character ({words}); in sh \
             print JSON with `printf '%s\\n'`, because `echo` may turn \\n into a line break"
        );
    }
    format!("not valid JSON: {words}")
}

pub(crate) fn malformed(problem: String) -> Ending {
    Ending::Malformed { problem }
}

/// For the author of a hook that blocks without a word.
const SAID_NOTHING: &str = "it said nothing: if it was not meant to block, end it with `exit 0`; \
    a test that is false as the last line, and `set -e`, exit with status 1";

/// The verdict of a non-zero exit: the reason is stderr, else the JSON `reason`, else text on
/// stdout, else the status.
pub(crate) fn refused_by_status(
    printed: &Printed<'_>,
    permit: Permit<'_>,
) -> (Ending, Vec<String>) {
    let Printed { status, stdout, is_cut, stderr } = *printed;
    let stderr = stderr.text();
    let mut notes = Vec::new();
    let stderr = stderr.trim_start_matches('\u{feff}').trim();
    let object = if is_cut { None } else { own_entries_of(stdout).ok() };
    let said = object.as_deref().and_then(|entries| match last(entries, "reason") {
        Some(Value::String(reason)) if !reason.trim().is_empty() => Some(reason.as_str()),
        _ => None,
    });
    let reason = if !stderr.is_empty() {
        stderr.to_string()
    } else if let Some(reason) = said {
        reason.to_string()
    } else if !stdout.is_empty() && !stdout.starts_with('{') && !is_cut {
        stdout.to_string()
    } else {
        if stdout.is_empty() {
            notes.push(SAID_NOTHING.to_string());
        }
        format!("hook `{}` exited with status {status} and gave no reason", permit.hook.name)
    };
    if let Some(Value::Bool(true)) = object.as_deref().and_then(|entries| last(entries, "continue"))
    {
        notes.push("`continue: true` is void: a non-zero exit status blocks".to_string());
    }
    if let Some(signal) = status.checked_sub(128).filter(|signal| (1..=31).contains(signal)) {
        notes.push(format!("status {status} is what a shell reports for {}", signal_name(signal)));
    }
    let mut verdict = Verdict::new(Decision::Block { reason }, ContractRule::NonZeroExit);
    if let Some(Value::Array(_)) = object.as_deref().and_then(|said| last(said, "findings")) {
        let mut unknown = Vec::new();
        for (at, one) in findings_in(stdout).iter().enumerate() {
            match findings::read(at, one, &mut unknown) {
                Ok(finding) => verdict.findings.push(finding),
                Err(problem) => notes.push(format!("{problem}, so that finding is not used")),
            }
        }
        notes.extend(findings::ignored(unknown));
    }
    (Ending::Answered(verdict), notes)
}

/// The note for an answer that does not stand alone.
const SURROUNDED: &str = "text surrounds the JSON on stdout; print the JSON alone, logs to stderr";

/// A refusal or question that is no answer of its own.
fn in_text(decision: Decision, output: Option<&str>) -> (Ending, Vec<String>) {
    let mut verdict = Verdict::new(decision, ContractRule::RefusalInText);
    verdict.output = output.map(str::to_string);
    let note = match output {
        Some(_) => SURROUNDED,
        None => {
            "it is not in the words of an answer; print {\"continue\": false, \"reason\": \"…\"}"
        }
    };
    (Ending::Answered(verdict), vec![note.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::catalog;
    use crate::engine::hook::{Handler, Hook};

    fn captured(bytes: &[u8]) -> Captured {
        Captured { head: bytes.to_vec(), tail: Vec::new(), total_bytes: bytes.len() as u64 }
    }

    fn hook(rewrite: bool) -> Hook {
        let handler = Handler::File("hooks.d/tool.pre/a.py".into());
        Hook { rewrite, ..Hook::new("a.py", "tool.pre", handler) }
    }

    fn answer(status: i32, stdout: &[u8], stderr: &[u8]) -> (Ending, Vec<String>) {
        let spec = catalog::find("tool.pre").unwrap();
        let permit = Permit { spec, hook: &hook(true), given: None, about: None };
        judge(Exit::Status(status), &captured(stdout), &captured(stderr), permit)
    }

    fn verdict(stdout: &str) -> Verdict {
        let (ending, _) = answer(0, stdout.as_bytes(), b"");
        let Ending::Answered(verdict) = ending else { panic!("{stdout}: {ending:?}") };
        verdict
    }

    fn problem(stdout: &str) -> String {
        let (ending, _) = answer(0, stdout.as_bytes(), b"");
        let Ending::Malformed { problem } = ending else { panic!("{stdout}: {ending:?}") };
        problem
    }

    fn block(reason: &str) -> Decision {
        Decision::Block { reason: reason.to_string() }
    }

    #[test]
    fn an_answer_in_utf_16_is_no_text() {
        let wide = |bytes: fn(u16) -> [u8; 2], text: &str| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        let no = "\u{feff}{\"continue\":false,\"reason\":\"no\"}";
        for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            let (ending, _) = answer(0, &wide(bytes, no), b"");
            assert_eq!(ending.verdict().unwrap().decision, block("no"));
            let (ending, _) = answer(0, &wide(bytes, &no[3..]), b"");
            assert_eq!(ending.verdict().unwrap().decision, block("no"));
            let (ending, _) = answer(0, &wide(bytes, "{\"output\":\"x\"}"), b"");
            assert!(matches!(ending, Ending::Malformed { .. }), "{ending:?}");
        }
    }

    #[test]
    fn silence_and_text_and_structure_allow() {
        assert_eq!(verdict(" \n").rule, ContractRule::Silence);
        assert_eq!(verdict("hi\r\n").output.as_deref(), Some("hi"));
        assert_eq!(verdict("[1]").rule, ContractRule::Text);
        let full = verdict(
            "\u{feff}{\"continue\":true,\r\n\"output\":\"o\",\"additionalContext\":\"c\",\"update\":{\"toolInput\":{}}}",
        );
        assert_eq!(full.decision, Decision::Allow);
        assert_eq!(
            (full.output.as_deref(), full.additional_context.as_deref()),
            (Some("o"), Some("c"))
        );
        assert_eq!(full.update.len(), 1);
    }

    #[test]
    fn a_refusal_is_never_lost() {
        assert_eq!(verdict(r#"{"continue":false,"reason":"no"}"#).decision, block("no"));
        for noisy in [
            "profile says hi\n{\"continue\":false,\"reason\":\"no\"}",
            "{\"continue\":false,\"reason\":\"no\"}\nbye",
            "{\"continue\":false,\"reason\":\"no\"}{\"continue\":true}",
            "{\"continue\":true}\n{\"continue\":false,\"reason\":\"no\"}",
            "loading... {\"continue\":false,\"reason\":\"no\"}",
            "hi\n  {\n \"reason\": \"no\",\n \"continue\": false\n}\n",
            "{ oops\n{\"continue\":false,\"reason\":\"no\"}",
            "{\"continue\":true,\"continue\":false,\"reason\":\"no\"}",
        ] {
            let found = verdict(noisy);
            assert_eq!(found.decision, block("no"), "{noisy}");
        }
        assert_eq!(
            verdict("hi\n{\"ask\":\"ok?\"}").decision,
            Decision::Ask { question: "ok?".into() }
        );
        assert_eq!(
            verdict(r#"{"ask":"ok?","continue":false}"#).decision,
            block("blocked without a reason")
        );
    }

    #[test]
    fn colours_and_lists_do_not_hide_a_refusal() {
        let coloured =
            "\u{1b}[1;39m{\u{1b}[34m\"continue\"\u{1b}[0m:false,\"reason\":\"no\"}\u{1b}[0m";
        assert_eq!(verdict(coloured).decision, block("no"));
        assert_eq!(verdict(r#"[{"continue":false,"reason":"no"}]"#).decision, block("no"));
        assert!(problem(r#"[{"continue":true}]"#).contains("not a list"));
        assert!(problem(r#"[1,{"reason":"\ud800"}]"#).contains("not a list"));
        for (torn, after) in [("\u{1b}[", ""), ("hi \u{1b}[3\n", " bye"), ("\u{1b}[?25l", " bye")] {
            let stdout = format!("{torn}{{\"continue\":false,\"reason\":\"no\"}}{after}");
            assert_eq!(verdict(&stdout).decision, block("no"), "{torn:?}");
        }
        let text = "\u{1b}[1mhi\u{1b}[0m";
        assert_eq!(verdict(text).output.as_deref(), Some(text));
    }

    #[test]
    fn what_stands_beside_a_refusal_does_not_hide_it() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for beside in [r#""x":1e999"#, r#""x":"\ud83d""#, r#""\ud83d":1"#, &format!("\"x\":{deep}")]
        {
            let refusal = format!("{{{beside},\"continue\":false,\"reason\":\"no\"}}");
            assert_eq!(verdict(&refusal).decision, block("no"), "{beside}");
            assert_eq!(verdict(&format!("hi\n{refusal}\nbye")).decision, block("no"), "{beside}");
        }
        // A reason that was cut in the middle of a character.
        let cut = r#"{"continue":false,"reason":"no \ud83d"}"#;
        assert_eq!(verdict(cut).decision, block("no \u{fffd}\u{fffd}\u{fffd}"));
        assert_eq!(
            verdict(r#"{"ask":"ok \ud83d?"}"#).decision,
            Decision::Ask { question: "ok \u{fffd}\u{fffd}\u{fffd}?".into() }
        );
        let wrapped = "log\n{\"answer\":\n  {\"continue\":false,\"reason\":\"no\"}\n}";
        assert_eq!(verdict(wrapped).decision, block("no"));
    }

    #[test]
    fn an_empty_question_is_malformed_wherever_it_stands() {
        for stdout in [r#"{"ask":" "}"#, "hi\n{\"ask\":\"\"}\n"] {
            assert!(problem(stdout).contains("`ask` is empty"), "{stdout}");
        }
    }

    #[test]
    fn no_stdout_undoes_a_non_zero_exit() {
        let reason = |stdout: &str, stderr: &str| {
            let (ending, _) = answer(1, stdout.as_bytes(), stderr.as_bytes());
            let said = ending.verdict().map(|said| said.decision.clone());
            let Some(Decision::Block { reason }) = said else { panic!("{ending:?}") };
            reason
        };
        assert_eq!(reason("{}", "no\n"), "no");
        assert_eq!(reason(r#"{"continue":true,"reason":"json"}"#, ""), "json");
        assert_eq!(reason(r#"{"reason":"json","x":"\ud800"}"#, ""), "json");
        assert_eq!(reason("text", " "), "text");
        assert_eq!(reason("{}", ""), "hook `a.py` exited with status 1 and gave no reason");
    }

    #[test]
    fn what_breaks_the_contract_is_malformed() {
        assert!(problem(r#"{"contine":false}"#).contains("did you mean `continue`"));
        assert!(problem(r#"{"Continue":false}"#).contains("did you mean `continue`"));
        assert!(problem(r#"{"continue":"false"}"#).contains("must be a JSON boolean"));
        assert!(problem(r#"{"reason":"a","reason":"b"}"#).contains("appears twice"));
        assert!(problem(r#"{"decision":"allow","reason":"x"}"#).contains("another host"));
        assert!(problem(r#"{"update":{"cwd":"/"}}"#).contains("`toolInput`"));
        assert!(problem("{} {}").contains("trailing"));
        problem("{not json");
        problem(&format!("{{\"x\":{}", "[".repeat(100_000)));
        problem("{\"x\":1e999}");
    }

    #[test]
    fn an_update_needs_leave() {
        let spec = catalog::find("tool.pre").unwrap();
        let stdout = captured(br#"{"update":{"toolInput":{}}}"#);
        let (ending, _) = judge(
            Exit::Status(0),
            &stdout,
            &captured(b""),
            Permit { spec, hook: &hook(false), given: None, about: None },
        );
        let cure = "add `rewrite` to its `# hookrun:` line (hooks.d/tool.pre/a.py)";
        assert!(ending.failure().unwrap().ends_with(cure), "{ending:?}");
    }

    #[test]
    fn unknown_keys_are_malformed_on_a_gate_and_noted_elsewhere() {
        assert!(problem(r#"{"version":2}"#).contains("`x-version`"));
        assert_eq!(verdict(r#"{"x-version":2}"#).decision, Decision::Allow);
        let spec = catalog::find("tool.post").unwrap();
        let permit = Permit { spec, hook: &hook(false), given: None, about: None };
        let stdout = captured(br#"{"version":2}"#);
        let (ending, notes) = judge(Exit::Status(0), &stdout, &captured(b""), permit);
        assert!(matches!(ending, Ending::Answered(_)));
        assert_eq!(notes, ["the key `version` is not known and was ignored"]);
    }

    #[test]
    fn text_is_for_the_model_where_the_event_says_so() {
        for (event, is_context) in
            [("prompt.submit", true), ("session.start", true), ("tool.pre", false)]
        {
            let spec = catalog::find(event).unwrap();
            let permit = Permit { spec, hook: &hook(false), given: None, about: None };
            let (ending, _) = judge(Exit::Status(0), &captured(b"hi"), &captured(b""), permit);
            let said = ending.verdict().unwrap();
            let text = if is_context { &said.additional_context } else { &said.output };
            assert_eq!(text.as_deref(), Some("hi"), "{event}");
        }
    }

    #[test]
    fn a_prefix_of_a_long_answer_is_never_parsed() {
        let mut stdout = captured(br#"{"output":"x"}"#);
        stdout.total_bytes = 2_000_000;
        let spec = catalog::find("tool.pre").unwrap();
        let permit = Permit { spec, hook: &hook(false), given: None, about: None };
        let (ending, _) = judge(Exit::Status(0), &stdout, &captured(b""), permit);
        assert!(matches!(ending, Ending::Malformed { .. }));
        let (ending, _) = judge(Exit::Status(1), &stdout, &captured(b""), permit);
        assert!(matches!(
            ending,
            Ending::Answered(Verdict { rule: ContractRule::NonZeroExit, .. })
        ));
    }

    #[test]
    fn a_refusal_is_found_among_objects_on_many_lines() {
        for noisy in [
            "x {\"a\":\n{\"continue\":false,\"reason\":\"no\"}\n} y",
            "a {} b {\"c\":{}} d\n  {\"continue\":false,\"reason\":\"no\"} e",
            "{ {\n\n{} {\"continue\":false,\"reason\":\"no\"}",
        ] {
            assert_eq!(verdict(noisy).decision, block("no"), "{noisy}");
        }
        // Nobody can tell a quotation from an answer.
        assert_eq!(
            verdict("say {\"continue\":false,\"reason\":\"no\"} to block").decision,
            block("no")
        );
    }

    #[test]
    fn the_search_for_a_refusal_ends() {
        let tangled = format!("x{}[{}", "{\"\":".repeat(100), "0,".repeat(100_000));
        assert!(problem(&tangled).contains("too many nested"));
        let refusal = "{\"continue\":false,\"reason\":\"no\"}";
        for refused in [format!("{refusal}\n{tangled}"), format!("{tangled}\n{refusal}\n")] {
            assert_eq!(verdict(&refused).decision, block("no"));
        }
        assert_eq!(verdict(&format!("x{}", "{}".repeat(100_000))).decision, Decision::Allow);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_and_any_status_are_judged(
            status in 0..256i32,
            stdout in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
        ) {
            let (ending, _) = answer(status, &stdout, b"");
            if status != 0 {
                let refused = matches!(&ending, Ending::Crashed { .. } | Ending::Answered(Verdict {
                    decision: Decision::Block { .. }, ..
                }));
                proptest::prop_assert!(refused, "{:?}", ending);
            }
        }

        #[test]
        fn any_text_around_a_refusal_leaves_it_a_refusal(
            before in "[^\\n]{0,40}", after in "(?s).{0,60}",
        ) {
            let stdout = format!("{before}\n{{\"continue\":false,\"reason\":\"no\"}}\n{after}");
            let (ending, _) = answer(0, stdout.as_bytes(), b"");
            let refused = matches!(&ending,
                Ending::Answered(Verdict { decision: Decision::Block { .. }, .. }))
                || matches!(&ending, Ending::Malformed { .. });
            proptest::prop_assert!(refused, "{:?}", ending);
        }
    }
}
