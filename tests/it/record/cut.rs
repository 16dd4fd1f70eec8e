//! What the decision log keeps of large values, and what hooks have cost.

use std::time::UNIX_EPOCH;

use hookrun::Context;
use hookrun::internals::log::report::RunReport;
use hookrun::internals::log::stats::Latencies;
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
        context: Some(&context),
        trace: None,
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
        text.starts_with("éé") && text.ends_with(" bytes left out …]"),
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

fn latencies(times: impl IntoIterator<Item = f64>) -> Latencies {
    let mut all = Latencies::default();
    times.into_iter().for_each(|ms| all.add(ms));
    all
}

#[test]
fn times_are_known_to_a_sixty_fourth() {
    for us in (0..5000)
        .chain((0..42).map(|power| 1_u64 << power))
        .chain([3_599_999_999])
    {
        let ms = us as f64 / 1e3;
        let found = latencies([ms, 1e12]).percentile_ms(0.5);
        assert!(found >= ms && found - ms <= ms / 64.0, "{ms}: {found}");
    }
}

#[test]
fn times_are_read_again_as_they_were_written() {
    let all = latencies([0.0, 0.001, 3.7, 3.7, 120.0, 1e12]);
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Latencies>(&text).unwrap(), all);
    // The step of an hour and more.
    let wrong = text.replace("2368", "99999999");
    assert!(wrong != text && serde_json::from_str::<Latencies>(&wrong).is_err());
}

#[test]
fn percentiles_are_those_of_the_times() {
    let none = Latencies::default();
    assert_eq!((none.percentile_ms(0.5), none.max_ms()), (0.0, 0.0));
    let all = latencies((1..=1000).map(f64::from));
    for (share, wanted) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0), (1.0, 1000.0)] {
        let found = all.percentile_ms(share);
        assert!(
            (wanted..wanted * 1.016).contains(&found),
            "{share}: {found}"
        );
    }
    assert_eq!((all.max_ms(), all.total_ms()), (1000.0, 500_500.0));
    assert_eq!(all.histogram(&[]), [1000]);
    let mut twice = all.clone();
    twice.merge(&all);
    assert_eq!(
        (twice.histogram(&[]), twice.percentile_ms(0.5)),
        (vec![2000], all.percentile_ms(0.5))
    );
}
