//! What must hold for every event on stdin: where it ends, what it says, what a tool is about to
//! do.

use hookrun::Complaint;
use hookrun::internals::event::json::{FrameState, MAX_DEPTH, Scanner};
use hookrun::internals::event::{ActionKind, Context, Event, catalog::Catalog};
use hookrun::internals::hook::{Matcher, PathBase};
use serde_json::Value;

use super::json::{self, Object};

/// Reads the bytes as the event on stdin is read, and compares what is found with the grammar
/// and with serde_json.
pub(crate) fn check(input: &[u8]) {
    let framed = Scanner::default().scan(input);
    check_pieces(input, framed);
    let found = Context::from_scanned(input.to_vec(), framed);
    let text = std::str::from_utf8(input).ok();
    let document = text.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    // A policy could not name a key that has a lone surrogate.
    let wanted = document
        .and_then(json::object)
        .filter(|object| !object.repeats() && object.depth <= MAX_DEPTH && object.has_whole_keys);
    match (found, wanted) {
        (Ok(context), Some(wanted)) => {
            check_context(&context, &wanted, document.unwrap_or_default());
            check_event(context, &wanted);
        }
        (Err(error), None) => check_error(input, framed, &error),
        (Ok(context), None) => panic!("no document, and yet {context:?}"),
        (Err(error), Some(_)) => panic!("a good document is refused: {error}"),
    }
}

/// Where the document ends does not depend on how its bytes arrive.
fn check_pieces(input: &[u8], whole: FrameState) {
    for step in [1, 7] {
        let mut scanner = Scanner::default();
        for end in (0..input.len()).step_by(step) {
            match scanner.scan(&input[..end]) {
                FrameState::Open | FrameState::Empty => {}
                done
                @ (FrameState::Complete { .. } | FrameState::NotJson | FrameState::TooDeep) => {
                    assert_eq!(done, whole, "after {end} bytes");
                }
            }
        }
        assert_eq!(scanner.scan(input), whole);
    }
    if let FrameState::Complete { end } = whole {
        assert!((2..=input.len()).contains(&end));
        assert_eq!(Scanner::default().scan(&input[..end]), whole);
        let before = Scanner::default().scan(&input[..end - 1]);
        assert_eq!(before, FrameState::Open);
    }
}

fn check_error(input: &[u8], framed: FrameState, error: &Complaint) {
    assert!(!error.to_string().trim().is_empty());
    let wanted = match framed {
        FrameState::Empty => "the event is empty",
        FrameState::Open => "the event is incomplete: its JSON object is not closed",
        FrameState::TooDeep => "the event is nested deeper than 128 levels",
        FrameState::NotJson if std::str::from_utf8(input).is_ok() => {
            "the event is not a JSON object: its context must begin with `{`"
        }
        FrameState::NotJson | FrameState::Complete { .. } => {
            let place = "the event is not UTF-8: invalid byte at offset ";
            if let Some(offset) = error.cause.strip_prefix(place) {
                let valid = std::str::from_utf8(input).map_or_else(|e| e.valid_up_to(), str::len);
                assert_eq!(offset, valid.to_string());
            }
            return;
        }
    };
    assert_eq!(error.cause, wanted);
}

fn check_context(context: &Context, wanted: &Object<'_>, document: &str) {
    let keys: Vec<&str> = wanted.entries.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(context.keys().collect::<Vec<_>>(), keys);
    let sent = String::from_utf8(context.to_json()).expect("a context is text");
    let again = json::object(&sent).expect("a context is one object");
    let parsed: Option<Value> = serde_json::from_str(document).ok();
    if let Some(parsed) = &parsed {
        assert_eq!(
            serde_json::from_str::<Value>(&sent).ok().as_ref(),
            Some(parsed)
        );
    }
    for ((key, raw), (sent_key, sent_raw)) in wanted.entries.iter().zip(&again.entries) {
        assert_eq!((context.raw(key), key), (Some(*raw), sent_key));
        assert!(sent_raw.len() <= raw.len());
        let value = parsed.as_ref().map(|parsed| &parsed[key]);
        if let Some(value) = value {
            assert_eq!(context.value(key).ok().flatten().as_ref(), Some(value));
            if !key.contains('.') {
                check_paths(context, key, value);
            }
        }
    }
    assert_eq!(again.entries.len(), wanted.entries.len());
}

/// Every value is found by its path.
fn check_paths(context: &Context, path: &str, value: &Value) {
    let found = context
        .lookup(path)
        .and_then(|raw| serde_json::from_str::<Value>(raw).ok());
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| !key.contains('.')) {
                check_paths(context, &format!("{path}.{key}"), value);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate().take(3) {
                check_paths(context, &format!("{path}.{index}"), value);
            }
        }
        Value::String(text) => assert_eq!(context.text(path).as_ref(), Some(text), "{path}"),
        Value::Null => assert_eq!(context.text(path), None, "{path}"),
        Value::Bool(_) | Value::Number(_) => {}
    }
    assert_eq!(found.as_ref(), Some(value), "{path}");
}

fn check_event(context: Context, wanted: &Object<'_>) {
    let spec = Catalog::default()
        .find("tool.pre")
        .expect("the catalog has it");
    let Ok(event) = Event::new(spec, "native", context) else {
        return;
    };
    let sent = String::from_utf8(event.context().to_json()).expect("a context is text");
    let sent = json::object(&sent).expect("a context is one object");
    assert!(!sent.repeats());
    assert_eq!(sent.text("event").as_deref(), Some("tool.pre"));
    assert_eq!(event.action().is_some(), sent.last("action").is_some());
    let is_given = |key: &str| wanted.last(key).is_some_and(|raw| raw != "null");
    let Some(action) = event.action() else {
        return assert!(!is_given("toolName") && !is_given("action"));
    };
    let shown = json::object(sent.last("action").expect("looked at above"));
    let shown = shown.expect("an action is an object");
    assert_eq!(
        shown
            .text("kind")
            .map(|kind| kind.to_lowercase())
            .as_deref(),
        Some(action.kind.word())
    );
    assert_eq!(shown.text("command").is_some(), action.command.is_some());
    if !is_given("action") {
        check_derived(&event, wanted);
    }
    let matcher = Matcher::default()
        .tool("shell")
        .expect("it is the name of a sort");
    let place = PathBase {
        cwd: "/repo/sub".into(),
        project: "/repo".into(),
    };
    let wants = matcher.decide(&event, &place).is_ok();
    assert!(wants || action.kind != ActionKind::Shell);
    for glob in ["*.pem", "src/**", "/etc/"] {
        let matcher = Matcher::default().path(glob).expect("it is a glob");
        let wants = matcher.decide(&event, &place).is_ok();
        assert!(!wants || !action.paths.is_empty() || action.line.doubt.is_some());
    }
}

/// What a tool is given is seen: no command and no path is invisible.
fn check_derived(event: &Event, wanted: &Object<'_>) {
    let action = event.action().expect("looked at before");
    let name = wanted
        .text("toolName")
        .expect("an action is derived from it");
    // An unknown tool may contain calls of known ones.
    let own = ActionKind::of_tool(&name);
    assert!(action.kind == own || own == ActionKind::Other);
    let input = wanted.last("toolInput").unwrap_or_default();
    let given = json::object(input);
    let command = action.command.as_deref().unwrap_or_default();
    let is_seen = |text: &str| text.trim().is_empty() || command.contains(text);
    let is_shell = action.kind == ActionKind::Shell;
    let is_whole = |key: &&str| {
        given
            .as_ref()
            .and_then(|given| given.last(key))
            .is_some_and(json::is_whole)
    };
    let texts = |keys: &[&str]| -> Vec<String> {
        let whole = keys.iter().copied().filter(is_whole);
        whole.filter_map(|key| given.as_ref()?.text(key)).collect()
    };
    let commands = texts(&["command", "cmd", "script"]);
    if action.kind != ActionKind::Edit {
        for text in &commands {
            assert!(is_seen(text), "`{text}` is not seen in `{command}`");
        }
    }
    for path in texts(&["path", "file_path", "notebook_path"]) {
        assert!(
            path.is_empty() || action.paths.contains(&path),
            "`{path}` is not seen"
        );
    }
    if is_shell && commands.iter().all(|text| text.trim().is_empty()) {
        let has_other = given.as_ref().is_some_and(|given| {
            ["command", "cmd", "script"]
                .iter()
                .any(|key| given.last(key).is_some())
        });
        // The folder that a command runs in is none.
        let entries = given.iter().flat_map(|given| &given.entries);
        let is_folder = |key: &str| key.replace(['_', '-', '.'], "").eq_ignore_ascii_case("cwd");
        let values = entries
            .filter(|(key, _)| !is_folder(key))
            .map(|(_, raw)| *raw);
        // Where a command is deeper in the input, a guard is held against the other texts too.
        let place = PathBase {
            cwd: "/repo".into(),
            project: "/repo".into(),
        };
        let is_searched = |text: &str| {
            let guard = Matcher::default()
                .command(&regex::escape(text))
                .expect("it is escaped");
            guard.decide(event, &place).is_ok()
        };
        for raw in values
            .chain([input])
            .filter(|raw| raw.starts_with('"') && json::is_whole(raw))
        {
            let text = json::string_text(raw);
            assert!(
                has_other || is_seen(&text) || is_searched(&text),
                "{raw} is not seen"
            );
        }
    }
}
