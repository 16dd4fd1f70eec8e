//! Four habits that make a text read as translated, counted in user texts and in comments.
//!
//! User texts are the pages, the manual pages, the string literals of `src`, and the scripts,
//! rules and templates that hookrun ships. A count is a help, not the judge.
//! `cargo test --test it habits -- --nocapture` prints the counts and the worst sentences.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use super::{literals, pages, root, sentences};
use crate::tidy::sources;

/// A habit, and what an English-speaking engineer writes instead.
struct Habit {
    pattern: &'static str,
    instead: &'static str,
    /// Whether a question may begin like this.
    asks: bool,
}

const HABITS: &[Habit] = &[
    Habit {
        pattern: r"\bthose (that|who|which)\b",
        instead: "the noun: `idle workers`",
        asks: false,
    },
    Habit {
        pattern: r"(^|[.;:] )who\b",
        instead: "the person or the program",
        asks: true,
    },
    Habit {
        pattern: r"(^|[.;:] )what\b",
        instead: "the noun: `the result`",
        asks: true,
    },
    Habit {
        pattern: r"\b(it|that|this|which|they|what) (is|are|was|were) no (l[^o]|[a-km-z])",
        instead: "`is not a`, `cannot`",
        asks: false,
    },
    Habit {
        pattern: r"\b(is|are|was|were|be|been|being) (told|asked|heard)\b|\bgets? to know\b",
        instead: "what the program does: prints, calls, passes",
        asks: false,
    },
    Habit {
        pattern: r"\bwhat (is|was|were|has been|had been) (said|told|found|kept|given|wanted|made|known|asked)\b",
        instead: "the noun: message, entry, config",
        asks: false,
    },
    Habit {
        pattern: r"\bwhole path|\brun bit|\bin(to)? the words of\b|\bin whose words\b|\bof (its|their|your|our|his|my) own\b|\bat once\b|\bcarr(y|ies|ied) over\b|\bmend(s|ed|ing)?\b",
        instead: "absolute path, executable bit, dialect, `its X`, immediately, import, fix",
        asks: false,
    },
    Habit {
        pattern: r"\brefus(es|ed|als|ing|able)\b|\brefuse([ .,;]|$)",
        instead: "block, reject",
        asks: false,
    },
];

/// The most sentences with a habit that there may be.
struct Bound {
    texts: &'static str,
    most: usize,
}

const USER_TEXTS: Bound = Bound {
    texts: "user texts",
    most: 0,
};

const COMMENTS: Bound = Bound {
    texts: "comments of src",
    most: 20,
};

/// Folders with scripts, rules and templates that a user gets.
const SHIPPED: &[&str] = &[
    "hooks.d",
    "gates",
    "examples",
    "packaging",
    "src/cli/new",
    "src/cli/host",
    "src/hosts/plugin",
    "src/log/redact",
    "action.yml",
];

/// A text with the place where it is.
struct Sentence {
    place: String,
    text: String,
}

/// A sentence in which habits were found, each with its words.
struct Finding<'s> {
    sentence: &'s Sentence,
    found: Vec<(&'static Habit, String)>,
}

fn findings(sentences: &[Sentence]) -> Vec<Finding<'_>> {
    let patterns: Vec<(&Habit, Regex)> = HABITS
        .iter()
        .map(|habit| {
            let pattern = format!("(?i){}", habit.pattern);
            (habit, Regex::new(&pattern).unwrap())
        })
        .collect();
    let mut findings = Vec::new();
    for sentence in sentences {
        let mut found = Vec::new();
        for (habit, pattern) in &patterns {
            for words in pattern.find_iter(&sentence.text) {
                let rest = &sentence.text[words.end()..];
                let end = rest.find(['.', '?', '!', ';']);
                let is_question = end.is_some_and(|at| rest[at..].starts_with('?'));
                if !(habit.asks && is_question) {
                    found.push((*habit, words.as_str().trim().to_string()));
                }
            }
        }
        if !found.is_empty() {
            findings.push(Finding { sentence, found });
        }
    }
    findings
}

/// Prints the count of each habit and the worst ten sentences, and compares the sum.
fn hold(bound: &Bound, sentences: &[Sentence]) {
    assert!(sentences.len() > 1000, "only {} sentences", sentences.len());
    let mut findings = findings(sentences);
    let count: usize = findings.iter().map(|finding| finding.found.len()).sum();
    let Bound { texts, most } = bound;
    let mut report = format!("{count} habits in {texts} (at most {most}):\n");
    for habit in HABITS {
        let of_habit = findings
            .iter()
            .flat_map(|finding| &finding.found)
            .filter(|(other, _)| std::ptr::eq(*other, habit))
            .count();
        let Habit {
            pattern, instead, ..
        } = habit;
        report.push_str(&format!("  {of_habit:4} {pattern}; write {instead}\n"));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.found.len()));
    for Finding { sentence, found } in findings.iter().take(10) {
        let words: Vec<&str> = found.iter().map(|(_, words)| words.as_str()).collect();
        let Sentence { place, text } = sentence;
        report.push_str(&format!("  {place}: {text} [{}]\n", words.join(", ")));
    }
    // Past the capture of the test runner: the counts are for people.
    std::io::stderr().write_all(report.as_bytes()).unwrap();
    assert!(count <= *most, "{count} habits in {texts}, at most {most}");
}

fn of_page(page: &str) -> Vec<Sentence> {
    let lines = sentences(page).into_iter();
    let prose = lines.filter(|(_, line)| !line.starts_with('#'));
    prose
        .map(|(number, text)| Sentence {
            place: format!("{page}:{number}"),
            text,
        })
        .collect()
}

/// The files of git in these folders.
pub(super) fn tracked(folders: &[&str]) -> Vec<PathBuf> {
    let mut git = Command::new("git");
    git.arg("-C").arg(root()).args(["ls-files", "--"]);
    let listed = git.args(folders).output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    listed.lines().map(PathBuf::from).collect()
}

/// Every line of what is shipped as it is, without the sign of a comment.
fn shipped() -> Vec<Sentence> {
    let is_data = |path: &Path| {
        let data = ["rs", "md", "json", "lock", "tf"];
        // Cases are for the authors of a hook.
        path.iter().any(|part| part == "tests")
            || path
                .extension()
                .is_some_and(|ending| data.iter().any(|data| ending == *data))
    };
    let quoted = Regex::new("`[^`]*`").unwrap();
    let mut sentences = Vec::new();
    for file in tracked(SHIPPED) {
        if is_data(&file) {
            continue;
        }
        let Ok(text) = fs::read_to_string(root().join(&file)) else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            let text = line.trim().trim_start_matches(['#', '/', '!', ' ']);
            sentences.push(Sentence {
                place: format!("{}:{number}", file.display()),
                text: quoted.replace_all(text, "]").into_owned(),
            });
        }
    }
    sentences
}

/// The comments of `src`, a block each.
fn comments() -> Vec<Sentence> {
    let quoted = Regex::new("`[^`]*`").unwrap();
    let mut sentences = Vec::new();
    for source in sources() {
        let mut block: Vec<&str> = Vec::new();
        let mut start = 0;
        for (number, line) in (1..).zip(source.text.lines().chain([""])) {
            let comment = line.trim_start().strip_prefix("//");
            let comment = comment.map(|text| text.trim_start_matches(['/', '!', ' ']));
            match comment {
                Some(text) if !text.is_empty() => {
                    if block.is_empty() {
                        start = number;
                    }
                    block.push(text);
                }
                _ if !block.is_empty() => {
                    let text = block.join(" ");
                    sentences.push(Sentence {
                        place: format!("src/{}:{start}", source.path),
                        text: quoted.replace_all(&text, "]").into_owned(),
                    });
                    block.clear();
                }
                _ => {}
            }
        }
    }
    sentences
}

#[test]
fn user_texts_have_none_of_the_four_habits() {
    let mut all = shipped();
    for page in pages() {
        all.extend(of_page(&page));
    }
    for page in tracked(&["man"]) {
        all.extend(of_page(page.to_str().unwrap()));
    }
    let literals = literals().into_iter();
    all.extend(literals.map(|(place, text)| Sentence { place, text }));
    hold(&USER_TEXTS, &all);
}

#[test]
fn comments_have_few_of_the_four_habits() {
    hold(&COMMENTS, &comments());
}
