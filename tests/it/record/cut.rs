//! What the decision log keeps of large values, and what hooks have cost.

use std::time::UNIX_EPOCH;

use hookrun::Context;
use hookrun::internals::log::report::RunReport;
use hookrun::internals::log::{DecisionLine, Keeps, LogEntry, Redactor};
use serde_json::{Value, json};

/// The line of the log about an event with this context.
fn logged(context: &Value) -> Value {
    let context = Context::parse(format!("{context:#}")).unwrap();
    let run = &RunReport::default();
    let entry = LogEntry {
        time: UNIX_EPOCH,
        cwd: None,
        door: None,
        trace: None,
        context: Some(&context),
        run,
    };
    let line = entry.line(&Redactor::default(), Keeps::Explanation);
    assert!(line.len() < 70_000, "{}", line.len());
    serde_json::from_str(&line).unwrap()
}

#[test]
fn long_strings_and_lists_are_cut_and_named_and_the_rest_stays() {
    let short =
        json!({"a": [1, -2.5e3, true, null, "x\n\u{e9}"], "b": {}, "c": [], "d": {"e": "f"}});
    let many: Vec<u32> = (0..1000).collect();
    let long = json!({"b": "é".repeat(40_000), "c": 1});
    let line = logged(&json!({"short": short, "a": long, "many": many, "z": 2}));
    let context = &line["context"];
    let text = context["a"]["b"].as_str().unwrap();
    assert!(
        text.starts_with("éé") && text.ends_with(" bytes omitted …]"),
        "{text}"
    );
    assert_eq!(context["many"].as_array().unwrap().len(), 200);
    assert_eq!(
        (&context["short"], &context["a"]["c"], &context["z"]),
        (&short, &json!(1), &json!(2))
    );
    assert_eq!(line["truncated"], json!(["context.a.b", "context.many"]));
}

#[test]
fn a_bound_is_kept_whatever_the_shape() {
    let nested: Vec<Vec<String>> = vec![vec!["text {\"[,".repeat(10); 150]; 150];
    let line = logged(&json!({ "nested": nested, "last": 1 }));
    let truncated = line["truncated"].as_array().unwrap();
    assert!(
        truncated.contains(&json!("context.nested")),
        "{truncated:?}"
    );
    assert!(truncated.contains(&json!("context.last")), "{truncated:?}");
}

#[test]
fn a_secret_on_the_edge_is_not_kept_in_half() {
    for before in 2018..2058 {
        let secret = format!("ghp_{}", "a1".repeat(18));
        let text = format!("{} {secret} {}", "x".repeat(before), "y".repeat(70_000));
        assert!(
            !logged(&json!({ "text": text }))
                .to_string()
                .contains("ghp_a1"),
            "{before}"
        );
    }
}

#[test]
fn what_a_reader_does_not_know_does_not_disturb_it() {
    let line = br#"{"hookrun":1,"new":{"a":[1]},"time":"t","event":"e","host":"h","run":{}}"#;
    assert!(DecisionLine::parse(line).is_ok());
}
