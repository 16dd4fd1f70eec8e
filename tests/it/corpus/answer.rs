//! What must hold for every answer of a hook, whatever it prints and however it exits.
//!
//! The contract of `man hookrun-hook`, read a second time and without the library's readers.

use hookrun::internals::answer::judge;
use hookrun::internals::event::{EventSpec, Merge, catalog};
use hookrun::internals::hook::Permit;
use hookrun::internals::hook::contract::RESULT_KEYS;
use hookrun::internals::hook::{Handler, Hook};
use hookrun::internals::outcome::{ContractRule, Decision, Verdict};
use hookrun::internals::run::{CapturedStream, Ending, Exit};
use serde_json::Value;

use super::json::{self, Object};

/// What stands between stdout and stderr in a case.
const STDERR: &str = "\n--stderr--\n";

const REFUSAL: &str = r#"{"continue":false,"reason":"no"}"#;

const LOG: &str = r#"{"level":"info","msg":"checked"}"#;

/// A hook that has exited.
struct Case<'c> {
    exit: Exit,
    spec: &'static EventSpec,
    rewrite: bool,
    is_cut: bool,
    stdout: &'c [u8],
    stderr: &'c [u8],
}

/// Judges a case and compares the ending with the contract. The first line of a case says what
/// the hook is allowed and how it exits, in words like `0 tool.pre rewrite`, `1`, `9 signal` or
/// `0 cut`; then comes its stdout, and after a line `--stderr--` its stderr.
pub(crate) fn check(input: &[u8]) {
    let case = read(input);
    let (ending, _) = judged(&case, case.stdout);
    match case.exit {
        // A block that it printed before is not lost, and nothing else counts.
        Exit::Signal(signal) => {
            let exit = Exit::Status(0);
            let clean = judged(&Case { exit, ..case }, case.stdout).0;
            let is_killed = !is_block(&clean) && ending == Ending::Killed { signal };
            assert!(is_killed || is_block(&ending), "{ending:?}");
        }
        Exit::Status(0) => {
            check_exit_0(&case, &ending);
            let failed = Case {
                exit: Exit::Status(1),
                ..case
            };
            check_failed(&failed, 1, &judged(&failed, failed.stdout).0);
        }
        Exit::Status(status) => check_failed(&case, status, &ending),
    }
}

fn read(input: &[u8]) -> Case<'_> {
    let end = input.iter().position(|byte| *byte == b'\n');
    let (head, rest) = end.map_or((&b""[..], input), |end| (&input[..end], &input[end + 1..]));
    let divider = rest
        .windows(STDERR.len())
        .position(|part| part == STDERR.as_bytes());
    let (stdout, stderr) = divider.map_or((rest, &b""[..]), |at| {
        (&rest[..at], &rest[at + STDERR.len()..])
    });
    let mut case = Case {
        exit: Exit::Status(0),
        spec: catalog::find("tool.pre").expect("the catalog has it"),
        rewrite: false,
        is_cut: false,
        stdout,
        stderr,
    };
    let (mut number, mut is_signal) = (0, false);
    for word in String::from_utf8_lossy(head).split_whitespace() {
        match word {
            "rewrite" => case.rewrite = true,
            "cut" => case.is_cut = true,
            "signal" => is_signal = true,
            word => match word.parse() {
                Ok(given) => number = given,
                Err(_) => case.spec = catalog::find(word).unwrap_or(case.spec),
            },
        }
    }
    case.exit = if is_signal {
        Exit::Signal(number)
    } else {
        Exit::Status(number)
    };
    case
}

fn judged(case: &Case<'_>, stdout: &[u8]) -> (Ending, Vec<String>) {
    let captured = |bytes: &[u8], missing: u64| CapturedStream {
        head: bytes.to_vec(),
        tail: Vec::new(),
        total_bytes: bytes.len() as u64 + missing,
    };
    let handler = Handler::File("a.py".into());
    let hook = Hook {
        rewrite: case.rewrite,
        ..Hook::new("a.py", &case.spec.name, handler)
    };
    let permit = Permit {
        spec: case.spec,
        hook: &hook,
        part: None,
        about: None,
    };
    let stdout = captured(stdout, u64::from(case.is_cut));
    judge(case.exit, &stdout, &captured(case.stderr, 0), permit)
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

fn decision(ending: &Ending) -> Option<&Decision> {
    ending.verdict().map(|verdict| &verdict.decision)
}

fn is_block(ending: &Ending) -> bool {
    matches!(decision(ending), Some(Decision::Block { .. }))
}

fn is_allow(ending: &Ending) -> bool {
    matches!(decision(ending), Some(Decision::Allow))
}

/// A non-zero exit blocks, and says why: stderr, else `reason`, else stdout, else the status.
fn check_failed(case: &Case<'_>, status: i32, ending: &Ending) {
    // What the interpreters' last words are is the library's own idea.
    if matches!(ending, Ending::Crashed { .. }) {
        return;
    }
    let Some(Verdict {
        decision: Decision::Block { reason },
        rule: ContractRule::NonZeroExit,
        ..
    }) = ending.verdict()
    else {
        panic!("status {status} does not refuse: {ending:?}");
    };
    let stderr = text_of(case.stderr, false);
    let stdout = text_of(case.stdout, case.is_cut);
    let (stderr, stdout) = (trimmed(&stderr), trimmed(&stdout));
    if !stderr.is_empty() {
        assert_eq!(reason, stderr);
    } else if case.is_cut || stdout.contains("\\u") {
        // What is missing, and half a character, are the library's own idea.
    } else if let Some(document) = json::object(stdout) {
        let text = document.text("reason");
        match text.filter(|text| !text.trim().is_empty()) {
            _ if document.all("reason").count() > 1 => {}
            Some(text) => assert_eq!(*reason, text),
            None => assert!(reason.contains("` exited with status") || reason == stdout),
        }
    } else if stdout.is_empty() {
        assert!(reason.contains("` exited with status"), "{reason}");
    } else if !stdout.contains('{') && !case.is_cut {
        assert_eq!(reason, stdout);
    }
    assert!(!reason.trim().is_empty());
}

fn check_exit_0(case: &Case<'_>, ending: &Ending) {
    check_form(ending);
    let printed = text_of(case.stdout, case.is_cut);
    let text = trimmed(&printed);
    if case.is_cut {
        assert!(!is_allow(ending), "a part was read: {ending:?}");
    } else if text.is_empty() {
        let silence = Verdict::new(Decision::Allow, ContractRule::Silence);
        assert_eq!(ending.verdict(), Some(&silence));
    } else if let Some(document) = json::object(text) {
        check_document(case, text, &document, ending);
    } else if !text.contains('{') {
        let verdict = ending.verdict().expect("it is text");
        assert_eq!(verdict.rule, ContractRule::Text);
        let output = verdict
            .output
            .as_ref()
            .or(verdict.additional_context.as_ref());
        assert_eq!(output.map(String::as_str), Some(text));
    }
    check_changed(case, text, ending);
}

/// UTF-8, or UTF-16 after a byte order mark. The units of a cut text may be torn apart.
fn text_of(bytes: &[u8], is_cut: bool) -> String {
    let is_big = bytes.starts_with(b"\xfe\xff");
    if is_cut || !is_big && !bytes.starts_with(b"\xff\xfe") {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut units = Vec::new();
    for pair in bytes[2..].chunks_exact(2) {
        let (high, low) = if is_big { (0, 1) } else { (1, 0) };
        units.push(u16::from(pair[high]) << 8 | u16::from(pair[low]));
    }
    String::from_utf16_lossy(&units)
}

/// The ending fits the rule that it is said to come from, and states itself.
fn check_form(ending: &Ending) {
    if let Ending::Malformed { problem } = ending {
        return assert!(!problem.trim().is_empty());
    }
    let Some(verdict) = ending.verdict() else {
        panic!("no such ending: {ending:?}")
    };
    let fits = match (&verdict.decision, verdict.rule) {
        (
            Decision::Allow,
            ContractRule::Silence | ContractRule::Text | ContractRule::Structured,
        ) => true,
        (Decision::Ask { question }, ContractRule::Asked) => !question.trim().is_empty(),
        (Decision::Block { reason }, ContractRule::ContinueFalse) => !reason.trim().is_empty(),
        _ => false,
    };
    assert!(fits, "{verdict:?}");
}

/// All of stdout is one object.
fn check_document(case: &Case<'_>, text: &str, document: &Object<'_>, ending: &Ending) {
    if document.all("continue").any(|raw| raw == "false") {
        assert!(is_block(ending), "a block is lost: {ending:?}");
        return;
    }
    assert!(!is_block(ending), "a block from nowhere: {ending:?}");
    let asks = document
        .text("ask")
        .is_some_and(|ask| !ask.trim().is_empty());
    assert!(!asks || !is_allow(ending), "a question is lost: {ending:?}");
    let Ok(Value::Object(said)) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let is_ours = |key: &str| RESULT_KEYS.iter().any(|(known, ..)| *known == key);
    let is_whole = document.entries.iter().all(|(key, _)| is_ours(key))
        && document.entries.len() == said.len()
        && !said.contains_key("findings");
    if !is_whole || said.is_empty() {
        return;
    }
    if breaks_contract(case, &said) {
        let is_malformed = matches!(ending, Ending::Malformed { .. });
        assert!(is_malformed, "it breaks the contract: {ending:?}");
        return;
    }
    let verdict = ending.verdict().expect("it keeps the contract");
    let text = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_string);
    let decision = text("ask").map_or(Decision::Allow, |question| Decision::Ask { question });
    assert_eq!(verdict.decision, decision);
    assert_eq!(verdict.output, text("output"));
    assert_eq!(verdict.additional_context, text("additionalContext"));
    let update: serde_json::Map<String, Value> = verdict.update.iter().cloned().collect();
    let wanted = said.get("update").and_then(Value::as_object).cloned();
    assert_eq!(update, wanted.unwrap_or_default());
}

/// Whether an object of our keys that does not block says what no answer may.
fn breaks_contract(case: &Case<'_>, said: &serde_json::Map<String, Value>) -> bool {
    for (key, value) in said.iter().filter(|(_, value)| !value.is_null()) {
        let row = RESULT_KEYS.iter().find(|(known, ..)| known == key);
        let fits = match row.map(|(_, kind, _)| kind.name()) {
            Some("boolean") => value.is_boolean(),
            Some("string") => value.is_string(),
            _ => value.is_object(),
        };
        if !fits {
            return true;
        }
    }
    let update = said.get("update").and_then(Value::as_object);
    let is_forbidden = |(field, value): (&String, &Value)| {
        let kind = case.spec.key(field).map(|key| key.kind);
        let rule = case.spec.rewrite(field);
        // A list to which hooks append takes a single entry, too.
        let is_appended = rule.is_some_and(|rule| rule.merge == Merge::Append);
        let is_wrong = kind.is_some_and(|kind| !kind.fits(value));
        !case.rewrite || rule.is_none() || is_wrong && !is_appended
    };
    update.is_some_and(|fields| fields.iter().any(is_forbidden))
        || said
            .get("ask")
            .and_then(Value::as_str)
            .is_some_and(|ask| ask.trim().is_empty())
}

/// What is printed around an answer does not change what it says.
fn check_changed(case: &Case<'_>, text: &str, ending: &Ending) {
    let (blocked, _) = judged(case, format!("{REFUSAL}\n{text}").as_bytes());
    assert!(is_block(&blocked), "a block is lost: {blocked:?}");
    let (blocked, _) = judged(case, format!("{text}\n{REFUSAL}\n").as_bytes());
    assert!(!is_allow(&blocked), "a block is lost: {blocked:?}");
    if text.starts_with('\u{feff}') || text.is_empty() {
        return;
    }
    for changed in [
        format!("\u{feff}\r\n {text} \r\n"),
        format!("{LOG}\n{text}"),
        format!("{text}\n{LOG}"),
    ] {
        let (changed, _) = judged(case, changed.as_bytes());
        assert_eq!(decision(&changed), decision(ending), "a log changes it");
    }
}
