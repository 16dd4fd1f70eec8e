//! Refusals in all words, broken in all the usual ways, among any noise: none allows.
//!
//! `HOOKRUN_CASES=1000000 cargo test --release --test it answers::broken -- --nocapture` tries a
//! million of them.

use hookrun::hosts::{KeyMeaning, Results};
use hookrun::internals::answer::refusal::{DENIALS, REFUSAL_WORDS, RefusesBy, STOPS};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Speaker, is_held, is_question_put, speakers};

/// How many are tried where nobody says otherwise.
const CASES: u32 = 4_000;

/// A refusal before it is written down.
#[derive(Debug, Clone)]
struct Refusal {
    word: usize,
    denial: usize,
    reason: String,
    reason_first: bool,
}

impl Refusal {
    fn key(&self) -> &'static str {
        REFUSAL_WORDS[self.word % REFUSAL_WORDS.len()].key
    }

    fn by(&self) -> RefusesBy {
        REFUSAL_WORDS[self.word % REFUSAL_WORDS.len()].by
    }

    /// The value, as a literal: `false`, `true` or a word in quotes.
    fn word(&self) -> String {
        match self.by() {
            RefusesBy::False => "false".to_string(),
            RefusesBy::True => "true".to_string(),
            RefusesBy::State => format!("\"{}\"", DENIALS[self.denial % DENIALS.len()]),
            RefusesBy::Question => "\"really?\"".to_string(),
            RefusesBy::Word => {
                let words = [DENIALS, STOPS].concat();
                format!("\"{}\"", words[self.denial % words.len()])
            }
        }
    }

    /// The value as JSON has it: also as a number, in a list, in an object.
    fn value(&self) -> String {
        let word = self.word();
        let others: &[&str] = match self.by() {
            RefusesBy::False => &["0"],
            RefusesBy::True => &["1", "[\"no\"]", "{\"reason\":\"no\"}", "[{\"msg\":\"no\"}]"],
            RefusesBy::Word | RefusesBy::State => &["false", "[\"deny\"]"],
            RefusesBy::Question => &[],
        };
        // Mostly the word.
        others
            .get(self.denial % 8)
            .map_or(word, |other| (*other).to_string())
    }

    /// An object of this key and value, with a reason that is written as `reason`.
    fn object(&self, key: &str, value: &str, reason: &str) -> String {
        match self.reason_first {
            true => format!("{{\"reason\":{reason},{key}:{value}}}"),
            false => format!("{{{key}:{value},\"reason\":{reason}}}"),
        }
    }
}

/// The ways to write it down, the first one right and the others as people and programs slip.
type Writing = fn(&Refusal, usize) -> String;

const WRITINGS: &[Writing] = &[
    |refusal, _| {
        refusal.object(
            &quoted(refusal.key()),
            &refusal.value(),
            &json(&refusal.reason),
        )
    },
    // The reason is pasted into it.
    |refusal, _| {
        let reason = format!("\"{}\"", refusal.reason);
        refusal.object(&quoted(refusal.key()), &refusal.value(), &reason)
    },
    |refusal, _| {
        let reason = format!("\"a \"word\" and\na line {}\"", refusal.reason);
        refusal.object(&quoted(refusal.key()), &refusal.value(), &reason)
    },
    // A comma too many.
    |refusal, _| {
        let object = refusal.object(
            &quoted(refusal.key()),
            &refusal.value(),
            &json(&refusal.reason),
        );
        format!("{},}}", &object[..object.len() - 1])
    },
    // Cut off somewhere behind the colon.
    |refusal, at| {
        let reason = json(&refusal.reason);
        let object = Refusal {
            reason_first: false,
            ..refusal.clone()
        };
        // A list that is cut off and closed by what follows is an empty one.
        let object = object.object(&quoted(refusal.key()), &refusal.word(), &reason);
        let from = object.find(':').unwrap() + 1;
        let mut end = from + at % (object.len() - from + 1);
        while !object.is_char_boundary(end) {
            end -= 1;
        }
        object[..end].to_string()
    },
    // Python's repr.
    |refusal, _| {
        let value = match refusal.value().as_str() {
            "false" => "False".to_string(),
            "true" => "True".to_string(),
            word => word.replace('"', "'"),
        };
        format!("{{'{}': {value}, 'reason': 'no'}}", refusal.key())
    },
    // What JavaScript's console and Ruby's `p` print.
    |refusal, _| {
        format!(
            "{{ {}: {}, reason: 'no' }}",
            refusal.key(),
            refusal.value().replace('"', "'")
        )
    },
    |refusal, _| {
        format!(
            "{{\"{}\"=>{}, \"reason\"=>\"no\"}}",
            refusal.key(),
            refusal.value()
        )
    },
    // Spelled otherwise.
    |refusal, _| {
        let key = quoted(&refusal.key().to_uppercase());
        refusal.object(&key, &refusal.value(), &json(&refusal.reason))
    },
    |refusal, _| {
        let value = refusal
            .value()
            .replace("false", "\"false\"")
            .replace("true", "\"true\"");
        refusal.object(&quoted(refusal.key()), &value, &json(&refusal.reason))
    },
    // What editors, web pages and programs make of quotes and signs.
    |refusal, _| plain(refusal).replace('"', "\u{201c}"),
    |refusal, _| plain(refusal).replace('"', "&quot;"),
    |refusal, _| {
        plain(refusal)
            .replace('"', "\\u0022")
            .replace(':', "\\u003a")
    },
    // With comments.
    |refusal, _| plain(refusal).replacen(':', " /* why */ :", 1),
    |refusal, _| plain(refusal).replacen('{', "{\n  // why\n  ", 1),
    |refusal, _| {
        let value = refusal.value();
        format!("{{\n  # why\n  {}: {value}\n}}", refusal.key())
    },
    |refusal, at| {
        let mut key = "continue".to_string();
        key.remove(1 + at % 7);
        refusal.object(&quoted(&key), "false", &json(&refusal.reason))
    },
];

/// The key and the value alone.
fn plain(refusal: &Refusal) -> String {
    format!("{{\"{}\":{}}}", refusal.key(), refusal.value())
}

/// The ways to write it down that are no JSON: YAML, TOML, words of a log, an assignment.
const LINES: &[fn(&str, &str) -> String] = &[
    |key, value| format!("{key}: {value}"),
    |key, value| format!("{key} : {value}"),
    |key, value| format!("{key}:{value}"),
    |key, value| format!("{key} = {value}"),
    |key, value| format!("{key}={value}"),
    |key, value| format!("{key} := {value}"),
    |key, value| format!("{key} => {value}"),
    |key, value| format!("'{key}' = {value}"),
    |key, value| format!("\"{key}\": {value}"),
    |key, value| format!("{key}: {value}  # why"),
    |key, value| format!("{key}: {value},"),
    |key, value| format!("reason: no\n{key}: {value}\nrule: 7"),
    |key, value| format!("---\nanswer:\n  - {key}: {value}\n"),
    |key, value| format!("level=info {key}={value} reason=\"no pushes\""),
    |key, value| format!("export {key}={value}; true"),
];

/// The values as these write them.
const VALUES: &[fn(&str) -> String] = &[
    |value| value.to_string(),
    |value| value.replace('"', ""),
    |value| value.replace('"', "'"),
    |value| value.replace("false", "False").replace("true", "True"),
    |value| value.replace("false", "no").replace("true", "yes"),
    |value| value.replace("false", "off").replace("true", "on"),
    |value| value.replace('"', "").to_uppercase(),
];

/// What a log or a list puts before a line, and what stands around it.
const LINE_NOISE: &[(&str, &str)] = &[
    ("", ""),
    ("\u{feff}", "\r\n"),
    ("checking\n", "\nlogout"),
    ("- ", ""),
    ("  * ", "\n"),
    ("2026-11-22 INFO ", ""),
    ("2026-11-22T10:00:00Z ", "\t"),
    ("[guard] ", ""),
    ("guard.sh: ", ""),
    ("INFO:root:", ""),
    ("2026-11-22 10:00:00,123 - guard - ERROR - ", ""),
    ("```yaml\n", "\n```"),
    ("working\r", "\rdone"),
    ("\u{1b}[31m", "\u{1b}[0m"),
    ("\"", "\""),
    ("{ oops\n", ""),
    ("{\"level\":\"info\"}\n", "\n{\"level\":\"info\"}"),
];

fn quoted(key: &str) -> String {
    format!("\"{key}\"")
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What it stands in; the first alone.
const WRAPPINGS: &[fn(&str) -> String] = &[
    |said| said.to_string(),
    |said| format!("[{said}]"),
    |said| format!("[[1, {said}]]"),
    |said| format!("{{\"answer\":{said}}}"),
    |said| format!("{{\"hookSpecificOutput\":{said}}}"),
    |said| format!("{{\"a\":1,\"b\":{{\"c\":[{said}]}}}}"),
    |said| json(said),
    |said| json(&json(said)),
    |said| format!("{{\"answer\":{}}}", json(said)),
    |said| said.replace(',', " ,\n  ").replace(':', " : "),
];

/// What is printed before and after it.
const NOISE: &[(&str, &str)] = &[
    ("", ""),
    ("\u{feff}", "\r\n"),
    ("checking\n", ""),
    ("", "\nlogout"),
    ("2026-11-22 INFO ", " (3 ms)"),
    ("working\r", "\rdone"),
    ("\u{1b}[1m", "\u{1b}[0m"),
    ("log\n\u{1b}[32m", "\u{1b}[0m\n"),
    (
        "{\"level\":\"info\",\"msg\":\"{x\"}\n",
        "\n{\"level\":\"info\"}",
    ),
    ("{\"continue\":true}\n", ""),
    ("", "\n{\"continue\":true}"),
    ("{ oops\n", ""),
    ("[1, 2] \"a\": ", " }}"),
    ("\0", "\0"),
];

/// Whether a dialect's table gives the key a meaning of its own, as is its right.
fn owns(speaker: Speaker, key: &str) -> bool {
    let Some(binding) = speaker.binding else {
        return false;
    };
    match binding.row.results {
        Results::Keys(keys) => keys
            .iter()
            .any(|one| one.name.eq_ignore_ascii_case(key) && one.says != KeyMeaning::Refusal(true)),
        Results::Native | Results::Whole(..) | Results::Form(_) => false,
    }
}

/// The refusal as a line of text that is no JSON.
fn as_line(refusal: &Refusal, [form, value, noise]: [usize; 3]) -> String {
    let value = VALUES[value % VALUES.len()](&refusal.word());
    let line = LINES[form % LINES.len()](refusal.key(), &value);
    let (before, after) = LINE_NOISE[noise % LINE_NOISE.len()];
    format!("{before}{line}{after}")
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "how many answers are made is told by it"
)]
fn no_refusal_in_any_words_however_broken_allows() {
    let cases = std::env::var("HOOKRUN_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    let cases = cases.unwrap_or(CASES);
    let speakers = speakers();
    let refusal = (0..1000usize, 0..1000usize, ".{0,12}", any::<bool>()).prop_map(
        |(word, denial, reason, reason_first)| Refusal {
            word,
            denial,
            reason,
            reason_first,
        },
    );
    let place = (
        0..1000usize,
        0..1000usize,
        0..1000usize,
        0..1000usize,
        0..1000usize,
    );
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&(refusal, place), |(refusal, place)| {
        let (writing, at, wrapping, noise, speaker) = place;
        let speaker = speakers[speaker % speakers.len()];
        let written = WRITINGS[writing % WRITINGS.len()](&refusal, at);
        let wrapped = WRAPPINGS[wrapping % WRAPPINGS.len()](&written);
        let (before, after) = NOISE[noise % NOISE.len()];
        let said = format!("{before}{wrapped}{after}");
        let is_question = refusal.by() == RefusesBy::Question;
        // A line of prose may well ask.
        let line = (!is_question).then(|| as_line(&refusal, [writing, at, noise]));
        for said in line.into_iter().chain([said]) {
            let ending = speaker.says(&said);
            let is_asked = is_question && is_question_put(&ending);
            let is_fine = is_held(&ending) || is_asked || owns(speaker, refusal.key());
            prop_assert!(is_fine, "{} {said:?}: {ending:?}", speaker.name);
        }
        Ok(())
    });
    outcome.unwrap();
    println!("{cases} refusals in any words, however broken, in any noise: none allowed");
}
