//! What must hold for every answer of a hook, whatever it prints and however it exits.
//!
//! The contract of `man hookrun-hook`, read a second time and without the library's readers.

use hookrun::internals::answer::RESULT_KEYS;
use hookrun::internals::answer::judge;
use hookrun::internals::event::{EventSpec, catalog};
use hookrun::internals::hook::Permit;
use hookrun::internals::hook::{Handler, Hook};
use hookrun::internals::outcome::{ContractRule, Decision, Verdict};
use hookrun::internals::run::{CapturedStream, Ending, Exit};
use serde_json::Value;

use super::json::{self, Object};

/// What stands between stdout and stderr in a case.
const STDERR: &str = "\n--stderr--\n";

const REFUSAL: &str = r#"{"continue":false,"reason":"no"}"#;

/// Keys by which hooks of other hosts decide (`man hookrun-hook`).
const FOREIGN: &[&str] = &[
    "decision",
    "permission",
    "permissionDecision",
    "hookSpecificOutput",
    "block",
    "cancel",
    "stopReason",
];

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
    let (ending, notes) = judged(&case, case.stdout);
    match case.exit {
        Exit::Signal(signal) => assert_eq!(ending, Ending::Killed { signal }),
        Exit::Status(0) => {
            check_exit_0(&case, &ending, &notes);
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
        given: None,
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

/// A non-zero exit refuses, and says why: stderr, else `reason`, else stdout, else the status.
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
    let stderr = String::from_utf8_lossy(case.stderr);
    let stdout = String::from_utf8_lossy(case.stdout);
    let (stderr, stdout) = (trimmed(&stderr), trimmed(&stdout));
    if !stderr.is_empty() {
        assert_eq!(reason, stderr);
    } else if case.is_cut {
        assert!(
            reason.contains(&format!("` exited with status {status}")),
            "{reason}"
        );
    } else if let Ok(Value::Object(object)) = serde_json::from_str::<Value>(stdout) {
        match object
            .get("reason")
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
        {
            Some(said) => assert_eq!(reason, said),
            None => assert!(reason.contains("` exited with status"), "{reason}"),
        }
    } else if !stdout.is_empty() && !stdout.starts_with('{') {
        assert_eq!(reason, stdout);
    } else {
        assert!(reason.contains("` exited with status") || json::object(stdout).is_some());
    }
    assert!(!reason.trim().is_empty());
}

fn check_exit_0(case: &Case<'_>, ending: &Ending, notes: &[String]) {
    if case.is_cut {
        assert!(
            matches!(ending, Ending::Malformed { .. }),
            "a part was read: {ending:?}"
        );
        return;
    }
    check_form(ending);
    let printed = String::from_utf8_lossy(case.stdout);
    let text = trimmed(&printed);
    if text.is_empty() {
        assert_eq!(
            ending.verdict(),
            Some(&Verdict::new(Decision::Allow, ContractRule::Silence))
        );
    } else if let Some(document) = json::object(text) {
        check_document(case, text, &document, ending, notes);
    } else {
        check_text(text, ending);
    }
    check_changed(case, text, ending);
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
        (Decision::Ask { question }, ContractRule::Asked | ContractRule::RefusalInText) => {
            !question.trim().is_empty()
        }
        (Decision::Block { reason }, ContractRule::ContinueFalse | ContractRule::RefusalInText) => {
            !reason.trim().is_empty()
        }
        _ => false,
    };
    assert!(fits, "{verdict:?}");
}

fn refuses(object: &Object<'_>) -> bool {
    object.all("continue").any(|raw| raw == "false")
}

fn asks(object: &Object<'_>) -> bool {
    object
        .text("ask")
        .is_some_and(|question| !question.trim().is_empty())
}

/// All of stdout is one object.
fn check_document(
    case: &Case<'_>,
    text: &str,
    document: &Object<'_>,
    ending: &Ending,
    notes: &[String],
) {
    if refuses(document) {
        assert!(is_block(ending), "a refusal is lost: {ending:?}");
        return;
    }
    assert!(
        !asks(document) || !is_allow(ending),
        "a question is lost: {ending:?}"
    );
    let Ok(Value::Object(said)) = serde_json::from_str::<Value>(text) else {
        assert!(
            !is_allow(ending),
            "an answer that cannot be read allows: {ending:?}"
        );
        return;
    };
    if breaks_contract(case, document, &said) {
        assert!(
            !is_allow(ending),
            "what breaks the contract allows: {ending:?}"
        );
        return;
    }
    let is_ours = |key: &str| RESULT_KEYS.iter().any(|known| known.name == key);
    let taken = ending
        .verdict()
        .filter(|verdict| verdict.rule != ContractRule::RefusalInText);
    let Some(verdict) = taken else {
        // Whether another key is a slip of one of ours is the library's own idea, and so are
        // the types of fields that are rewritten.
        let is_plain = document
            .entries
            .iter()
            .all(|(key, _)| is_ours(key) && key != "update");
        assert!(!is_plain, "a good answer is not taken: {ending:?}");
        return;
    };
    match said.get("ask").and_then(Value::as_str) {
        Some(ask) => assert_eq!(
            verdict.decision,
            Decision::Ask {
                question: ask.to_string()
            }
        ),
        None => assert_eq!(
            (&verdict.decision, verdict.rule),
            (&Decision::Allow, ContractRule::Structured)
        ),
    }
    assert_eq!(
        verdict.output.as_deref(),
        said.get("output").and_then(Value::as_str)
    );
    let context = said.get("additionalContext").and_then(Value::as_str);
    assert_eq!(verdict.additional_context.as_deref(), context);
    let update: serde_json::Map<String, Value> = verdict.update.iter().cloned().collect();
    let wanted = said
        .get("update")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    assert_eq!(update, wanted);
    for (key, _) in document.entries.iter().filter(|(key, _)| !is_ours(key)) {
        assert!(
            notes.iter().any(|note| note.contains(key.as_str())),
            "`{key}`: {notes:?}"
        );
    }
}

/// Whether an object that does not refuse says what no answer may.
fn breaks_contract(
    case: &Case<'_>,
    document: &Object<'_>,
    said: &serde_json::Map<String, Value>,
) -> bool {
    let plain = |key: &str| key.replace(['_', '-', '.'], "").to_lowercase();
    for (key, value) in said {
        let Some(row) = RESULT_KEYS.iter().find(|row| row.name == key) else {
            if FOREIGN.contains(&key.as_str())
                || RESULT_KEYS.iter().any(|row| plain(row.name) == plain(key))
            {
                return true;
            }
            continue;
        };
        let fits = match row.kind.name() {
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            _ => value.is_object(),
        };
        if !fits || document.all(key).count() > 1 {
            return true;
        }
    }
    let update = said.get("update").and_then(Value::as_object);
    let is_forbidden = |field: &String| !case.rewrite || case.spec.rewrite(field).is_none();
    update.is_some_and(|fields| fields.keys().any(is_forbidden))
        || said
            .get("ask")
            .and_then(Value::as_str)
            .is_some_and(|ask| ask.trim().is_empty())
}

/// Stdout is not one object: text, text around objects, or what only begins like an object.
fn check_text(text: &str, ending: &Ending) {
    let objects = on_edges(text);
    if objects.iter().any(refuses) {
        assert!(is_block(ending), "a refusal is lost: {ending:?}");
        return;
    }
    assert!(
        !objects.iter().any(asks) || !is_allow(ending),
        "a question is lost: {ending:?}"
    );
    // Without its colours it may be an object.
    if text.contains('\u{1b}') {
        return;
    }
    assert!(
        !text.starts_with('{') || !is_allow(ending),
        "not one object: {ending:?}"
    );
    if ending
        .verdict()
        .is_some_and(|verdict| verdict.rule == ContractRule::Text)
    {
        let mut verdict = Verdict::new(Decision::Allow, ContractRule::Text);
        verdict.output = Some(text.to_string());
        assert_eq!(ending.verdict(), Some(&verdict));
        return;
    }
    let mut anywhere = text
        .match_indices('{')
        .filter_map(|(at, _)| json::object_at(&text[at..]));
    match decision(ending) {
        Some(Decision::Block { .. }) => assert!(anywhere.any(|found| refuses(&found))),
        Some(Decision::Ask { .. }) => assert!(anywhere.any(|found| asks(&found))),
        Some(Decision::Allow) | None => {}
    }
    assert!(text.contains('{'), "text is not taken: {ending:?}");
}

/// The objects that are a line of their own; where only one line has braces, also those that are
/// its beginning or its end.
fn on_edges(text: &str) -> Vec<Object<'_>> {
    let lines: Vec<&str> = text
        .split('\n')
        .map(str::trim)
        .filter(|line| line.contains(['{', '}']))
        .collect();
    if let [line] = lines.as_slice() {
        let is_on_edge = |(at, _): (usize, &str)| {
            let found = json::object_at(&line[at..])?;
            (at == 0 || at + found.end == line.len()).then_some(found)
        };
        return line.match_indices('{').filter_map(is_on_edge).collect();
    }
    lines.into_iter().filter_map(json::object).collect()
}

/// What is printed around an answer does not change what it says.
fn check_changed(case: &Case<'_>, text: &str, ending: &Ending) {
    for stdout in [format!("{text}\n{REFUSAL}\n"), format!("{REFUSAL}\n{text}")] {
        let (changed, _) = judged(case, stdout.as_bytes());
        assert!(
            is_block(&changed),
            "a refusal beside it is lost: {changed:?}"
        );
    }
    let (framed, _) = judged(case, format!("\u{feff}\r\n {text} \r\n").as_bytes());
    if !text.starts_with('\u{feff}') {
        assert_eq!(&framed, ending);
    }
    if !text.is_empty() && !text.contains('\u{1b}') && !text.starts_with('\u{feff}') {
        let (coloured, _) = judged(case, format!("\u{1b}[1;31m{text}\u{1b}[0m").as_bytes());
        assert_eq!(decision(&coloured), decision(ending), "colours change it");
    }
}
