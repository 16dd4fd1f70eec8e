//! The context of an event keeps what it does not change.

use hookrun::internals::event::context::Payload;
use hookrun::internals::event::{Context, Event};
use serde_json::{Value, json};

fn json(context: &Context) -> String {
    String::from_utf8(context.to_json()).unwrap()
}

#[test]
fn a_context_leaves_compact_and_otherwise_byte_for_byte() {
    let text = "\u{feff} { \"b\" : [ 1.0 , 1e3 ], \"a\":\" x \\u00e9\" }\n";
    let mut context = Context::parse(text).unwrap();
    assert_eq!(json(&context), r#"{"b":[1.0,1e3],"a":" x \u00e9"}"#);
    context.set("a", &Value::from("x"));
    context.set("c", &Value::from(3));
    assert_eq!(json(&context), r#"{"b":[1.0,1e3],"a":"x","c":3}"#);
}

#[test]
fn a_lone_surrogate_hides_nothing_else() {
    let text = r#"{"a":"rm \ud800 -rf \u00e9","b":{"\ud800":1,"path":".env","\u0061":2}}"#;
    let context = Context::parse(text).unwrap();
    assert_eq!(
        context.string("a").as_deref(),
        Some("rm \u{fffd}\u{fffd}\u{fffd} -rf \u{e9}")
    );
    assert_eq!(context.text("b.path").as_deref(), Some(".env"));
    assert_eq!(context.text("b.a").as_deref(), Some("2"));
    assert_eq!(json(&context), text);
    let problem = Context::parse(r#"{"\ud800":1}"#).unwrap_err().to_string();
    assert!(problem.ends_with(r#"the key "\ud800" contains a lone surrogate"#));
}

#[test]
fn values_are_found_by_dotted_path() {
    let context = Context::parse(
        r#"{"in":{"command":"l\ns","list":[{"x":7}],"dotted.key":true},"a.b":1,
            "x":{"a.b":"ok","a":{"b":"secret"}}}"#,
    )
    .unwrap();
    for (path, value) in [
        ("in.command", Some("l\ns")),
        ("in.list.0.x", Some("7")),
        ("in.dotted.key", Some("true")),
        ("a.b", Some("1")),
        ("x.a.b", Some("secret")),
        ("in.nothing", None),
    ] {
        assert_eq!(context.text(path).as_deref(), value, "{path}");
    }
}

#[test]
fn what_the_catalog_does_not_know_is_an_error() {
    let problem = |name: &str, context: Value| Event::of(name, context).unwrap_err().to_string();
    assert!(problem("tool.pree", json!({})).contains("did you mean `tool.pre`?"));
    assert!(problem("tool.pre", json!({})).contains("`toolName` is missing"));
    let context = json!({ "toolName": "bash", "action": {} });
    assert!(problem("tool.pre", context).contains("kind"));
    assert!(Event::from_json("tool.pre", r#"{"toolName":"x","own":1}"#).is_ok());
    assert!(Event::from_json("tool.pre", "[]").is_err());
}

/// Longer contexts are written in pieces.
const PIECE_BYTES: usize = 256 * 1024;

#[test]
fn pieces_are_the_whole() {
    let text = "a \\\" b\\\\".repeat(PIECE_BYTES / 3);
    for json in [
        format!(r#" {{ "a" : "{text}" , "b" : [ 1 , "{text} x" ] }} "#),
        format!(r#"{{"{}":{{}},"b":"{text}"}}"#, "k ".repeat(PIECE_BYTES)),
        format!(r#"{{"a":[{}1]}}"#, "  1 ,\n ".repeat(PIECE_BYTES)),
    ] {
        let context = Context::parse(json).unwrap();
        let Payload::Pieces(mut pieces) = Payload::of(&context) else {
            panic!("a long context is whole");
        };
        let mut all = Vec::new();
        let mut length = usize::MAX;
        while length != all.len() {
            length = all.len();
            pieces.next(&mut all);
        }
        assert!(all == [context.to_json(), b"\n".to_vec()].concat());
    }
}
