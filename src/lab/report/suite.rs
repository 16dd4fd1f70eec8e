//! What came of cases, and what they say about the hooks as a whole.

mod human;
mod json;
mod model;
mod text;

use std::io::{self, Write};

use serde_json::Value;

use super::check::{Annotation, Check, CheckList, CheckPlace, CheckReport, CheckState};
use super::problems::problem_text;
use crate::config::Position;
use crate::engine::harmless::plain;
use crate::lab::scenario::{CaseResult, End};
use crate::log::report::Paths;
use text::{miss_text, of, plain_lines, totals, written};

pub use model::{CoverageReport, Gap, Whole};

/// The suites of what is checked besides the cases.
const HOOKS: &str = "hooks";
const COVERAGE: &str = "policy coverage";

impl CheckReport for Whole<'_> {
    fn human(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
        human::suite(self, paths, out)
    }

    fn json(&self, paths: &Paths) -> Value {
        json::document(self, paths)
    }

    fn checks(&self, paths: &Paths) -> CheckList {
        let mut checks: Vec<Check> = self.played.iter().map(|one| case(one, paths)).collect();
        for problem in self.broken {
            let file = plain(&paths.show(&problem.file));
            let place = CheckPlace {
                file,
                line: problem.at.map_or(1, |at| at.line),
            };
            let text = problem_text(problem, paths);
            checks.push(further(
                HOOKS,
                "every hook can run".to_string(),
                place,
                Some(text),
            ));
        }
        if let Some(covered) = self.coverage {
            coverage(covered, paths, &mut checks);
        }
        let covered = self.coverage.map(CoverageReport::line);
        CheckList {
            name: "hookrun test --suite".to_string(),
            checks,
            took: Some(self.took),
            totals: covered.into_iter().chain([totals(self.played)]).collect(),
            is_stopped: self.is_stopped,
        }
    }
}

fn case(played: &CaseResult, paths: &Paths) -> Check {
    let details = match &played.end {
        End::Unexpected(misses) => misses.iter().map(miss_text).collect::<Vec<_>>().join("\n"),
        End::CouldNot(why) => plain_lines(why),
        End::Expected | End::Skipped(_) | End::NotRun => String::new(),
    };
    let state = match &played.end {
        End::Expected => CheckState::Passed,
        End::Unexpected(_) => CheckState::Failed,
        End::CouldNot(_) => CheckState::Error,
        End::Skipped(why) => CheckState::Skipped(plain(why)),
        End::NotRun => CheckState::Skipped("not run".to_string()),
    };
    let file = plain(&paths.show(&played.file));
    Check {
        suite: file.clone(),
        name: plain(&played.name),
        place: Some(CheckPlace {
            file,
            line: played.at.line,
        }),
        state,
        message: details.lines().next().unwrap_or_default().to_string(),
        annotations: annotations(played, &details, paths),
        details,
        written: written(played),
        took: Some(played.took),
    }
}

/// One at the line of each expectation.
fn annotations(played: &CaseResult, details: &str, paths: &Paths) -> Vec<Annotation> {
    let at = |at: Position, message: String| Annotation {
        level: "error",
        properties: vec![
            ("file", paths.show(&played.file)),
            ("line", at.line.to_string()),
            ("col", at.column.to_string()),
            ("title", plain(&played.name)),
        ],
        message,
    };
    match &played.end {
        End::Unexpected(misses) => {
            // The first one has what the hooks wrote.
            let mut written: Vec<String> =
                written(played).into_iter().map(|one| one.text).collect();
            let text = |miss| [vec![miss_text(miss)], std::mem::take(&mut written)].concat();
            let texts: Vec<Vec<String>> = misses.iter().map(text).collect();
            misses
                .iter()
                .zip(texts)
                .map(|(miss, texts)| at(miss.at, texts.join("\n")))
                .collect()
        }
        End::CouldNot(_) => vec![at(played.at, details.to_string())],
        End::Expected | End::Skipped(_) | End::NotRun => Vec::new(),
    }
}

/// A check whose problem, if any, is one line.
fn further(suite: &str, name: String, place: CheckPlace, problem: Option<String>) -> Check {
    let annotation = |message: &String| Annotation {
        level: "error",
        properties: vec![
            ("file", place.file.clone()),
            ("line", place.line.to_string()),
            ("title", suite.to_string()),
        ],
        message: message.clone(),
    };
    let annotations = problem.iter().map(annotation).collect();
    let state = CheckState::failed_if(problem.is_some());
    let details = problem.unwrap_or_default();
    Check {
        suite: suite.to_string(),
        name,
        place: Some(place),
        state,
        message: details.lines().next().unwrap_or_default().to_string(),
        details,
        annotations,
        ..Check::default()
    }
}

/// Points are only checked where a share of them must be covered.
fn coverage(covered: &CoverageReport, paths: &Paths, checks: &mut Vec<Check>) {
    let place = |file, line| CheckPlace {
        file: plain(&paths.show(file)),
        line,
    };
    if covered.is_short() {
        for gap in &covered.gaps {
            let name = plain(&format!(
                "{} of {}",
                gap.point.name,
                of(&gap.who, gap.is_event)
            ));
            let problem = format!("no case shows it; write {}", plain(&gap.point.lacks));
            let place = place(&gap.who.file, gap.line);
            checks.push(further(COVERAGE, name, place, Some(problem)));
        }
    } else if let (Some(least), Some(first)) = (covered.least, covered.coverage.parts.first()) {
        let name = format!("{}; at least {least} %", covered.line());
        checks.push(further(COVERAGE, name, place(&first.who.file, 1), None));
    }
    for excuse in &covered.coverage.untrue {
        let (name, place) = (
            "`[[never]]` is so".to_string(),
            place(&excuse.file, excuse.at.line),
        );
        checks.push(further(COVERAGE, name, place, Some(plain(&excuse.problem))));
    }
}
