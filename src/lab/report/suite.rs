//! What came of cases, and what they say about the hooks as a whole.

mod human;
mod json;
mod model;

use std::io::{self, Write};

use super::check::{Annotation, Check, CheckList, CheckPlace, CheckReport, CheckState, write_json};
use super::problems::problem_text;
use crate::config::Position;
use crate::engine::harmless::plain;
use crate::lab::scenario::{CaseResult, End};
use crate::log::report::Paths;

use model::{miss_text, plain_lines, totals, written};

pub use json::SuiteReport;
pub use model::{CoverageReport, Gap, Whole};

/// The suites of what is checked besides the cases.
const HOOKS: &str = "hooks";
const COVERAGE: &str = "policy coverage";

impl CheckReport for Whole<'_> {
    fn human(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
        human::suite(self, paths, out)
    }

    fn json(&self, paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
        write_json(&SuiteReport::of(self, paths), out)
    }

    fn checks(&self, paths: &Paths) -> CheckList {
        let mut checks: Vec<Check> = self.played.iter().map(|one| case(one, paths)).collect();
        for problem in self.broken {
            let line = problem.at.map_or(1, |at| at.line);
            let place = CheckPlace::new(&problem.file, line, paths);
            let text = problem_text(problem, paths);
            let name = "every hook can run".to_string();
            checks.push(further(HOOKS, name, place, Some(text)));
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
    let place = CheckPlace::new(&played.file, played.at.line, paths);
    Check {
        suite: place.file.clone(),
        name: plain(&played.name),
        place: Some(place),
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
    let mut messages: Vec<(Position, String)> = Vec::new();
    match &played.end {
        End::Unexpected(misses) => {
            for miss in misses {
                let mut texts = vec![miss_text(miss)];
                // The first one has what the hooks wrote.
                if messages.is_empty() {
                    texts.extend(written(played).into_iter().map(|one| one.text));
                }
                messages.push((miss.at, texts.join("\n")));
            }
        }
        End::CouldNot(_) => messages.push((played.at, details.to_string())),
        End::Expected | End::Skipped(_) | End::NotRun => {}
    }
    messages
        .into_iter()
        .map(|(at, message)| Annotation {
            level: "error",
            file: Some(paths.show(&played.file)),
            line: Some(at.line as u64),
            col: Some(at.column as u64),
            title: Some(plain(&played.name)),
            message,
            ..Annotation::default()
        })
        .collect()
}

/// A check whose problem, if any, is one line.
fn further(suite: &str, name: String, place: CheckPlace, problem: Option<String>) -> Check {
    let annotations = problem.iter().map(|message| Annotation {
        level: "error",
        file: Some(place.file.clone()),
        line: Some(place.line),
        title: Some(suite.to_string()),
        message: message.clone(),
        ..Annotation::default()
    });
    let annotations = annotations.collect();
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
    if covered.is_short() {
        for gap in &covered.gaps {
            let name = plain(&format!("{} of {}", gap.point.name, gap.who.shown()));
            let problem = format!("no case shows it; write {}", plain(&gap.point.lacks));
            let place = CheckPlace::new(&gap.who.file, gap.line, paths);
            checks.push(further(COVERAGE, name, place, Some(problem)));
        }
    } else if let (Some(least), Some(first)) = (covered.least, covered.coverage.parts.first()) {
        let name = format!("{}; at least {least} %", covered.line());
        let place = CheckPlace::new(&first.who.file, 1, paths);
        checks.push(further(COVERAGE, name, place, None));
    }
}
