//! Case results as checks for CI formats.

use std::io::{self, Write};
use std::time::Duration;

use super::{
    CaseReport, CoverageReport, SuiteReport, human, miss_text, plain_lines, streams, totals,
};
use crate::config::Position;
use crate::engine::harmless::plain;
use crate::lab::report::check::{
    Annotation, Check, CheckList, CheckPlace, CheckReport, CheckState, Written, write_json,
};
use crate::lab::report::problems::problem_text;
use crate::lab::scenario::End;
use crate::log::report::Paths;

/// Suites for checks that are not cases.
const HOOKS: &str = "hooks";
const COVERAGE: &str = "policy coverage";

impl CheckReport for SuiteReport {
    fn human(&self, _: &Paths, out: &mut dyn Write) -> io::Result<()> {
        human::suite(self, out)
    }

    fn json(&self, _: &Paths, out: &mut dyn Write) -> io::Result<()> {
        write_json(self, out)
    }

    fn checks(&self, paths: &Paths) -> CheckList {
        let mut checks: Vec<Check> = self.cases.iter().map(case).collect();
        for problem in &self.broken {
            let place = CheckPlace {
                file: plain(&paths.show(&problem.file)),
                line: problem.at.map_or(1, |at| at.line) as u64,
            };
            let text = problem_text(problem, paths);
            let name = "every hook can run".to_string();
            checks.push(further(HOOKS, name, place, Some(text)));
        }
        if let Some(covered) = &self.coverage {
            coverage(covered, &mut checks);
        }
        let covered = self.coverage.as_ref().map(CoverageReport::line);
        CheckList {
            name: "hookrun test --suite".to_string(),
            checks,
            took: Some(Duration::from_secs_f64(self.took_ms / 1e3)),
            totals: covered.into_iter().chain([totals(&self.cases)]).collect(),
            is_stopped: self.is_stopped,
        }
    }
}

fn case(case: &CaseReport) -> Check {
    let (state, details) = match &case.end {
        End::Expected => (CheckState::Passed, String::new()),
        End::Unexpected(misses) => {
            let texts: Vec<String> = misses.iter().map(miss_text).collect();
            (CheckState::Failed, texts.join("\n"))
        }
        End::CouldNot(why) => (CheckState::Error, plain_lines(why)),
        End::Skipped(why) => (CheckState::Skipped(plain(why)), String::new()),
        End::NotRun => (CheckState::Skipped("not run".to_string()), String::new()),
    };
    let file = plain(&case.file);
    Check {
        suite: file.clone(),
        name: plain(&case.name),
        place: Some(CheckPlace {
            file,
            line: case.line as u64,
        }),
        state,
        message: details.lines().next().unwrap_or_default().to_string(),
        annotations: annotations(case, &details),
        details,
        written: written(case),
        took: Some(Duration::from_secs_f64(case.took_ms / 1e3)),
    }
}

fn annotations(case: &CaseReport, details: &str) -> Vec<Annotation> {
    let mut messages: Vec<(Position, String)> = Vec::new();
    match &case.end {
        End::Unexpected(misses) => {
            for miss in misses {
                let mut texts = vec![miss_text(miss)];
                // The first one includes the hooks' output.
                if messages.is_empty() {
                    texts.extend(written(case).into_iter().map(|one| one.text));
                }
                messages.push((miss.at, texts.join("\n")));
            }
        }
        End::CouldNot(_) => messages.push((case.at, details.to_string())),
        End::Expected | End::Skipped(_) | End::NotRun => {}
    }
    messages
        .into_iter()
        .map(|(at, message)| Annotation {
            level: "error",
            file: Some(case.file.clone()),
            line: Some(at.line as u64),
            col: Some(at.column as u64),
            title: Some(plain(&case.name)),
            message,
            ..Annotation::default()
        })
        .collect()
}

/// The hooks' output in a failed case, each with a heading of stream and hook.
fn written(case: &CaseReport) -> Vec<Written> {
    let mut all = Vec::new();
    if !case.end.is_bad() {
        return all;
    }
    for hook in case.steps.iter().flat_map(|step| &step.hooks) {
        for Written { stream, text } in streams(hook) {
            let text = format!("{stream} of {}:\n{text}", plain(&hook.name));
            all.push(Written { stream, text });
        }
    }
    all
}

/// A check with at most one problem, of one line.
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

/// Adds coverage points as checks if a share of them is required.
fn coverage(covered: &CoverageReport, checks: &mut Vec<Check>) {
    let Some(least) = covered.least else { return };
    if !covered.ok {
        for gap in &covered.missing {
            let name = plain(&format!("{} of {} ({})", gap.point, gap.hook, gap.event));
            let problem = format!("no case shows it; write {}", plain(&gap.lacks));
            let place = CheckPlace {
                file: plain(&gap.file),
                line: gap.line as u64,
            };
            checks.push(further(COVERAGE, name, place, Some(problem)));
        }
    } else if let Some(first) = covered.parts.first() {
        let name = format!("{}; at least {least} %", covered.line());
        let place = CheckPlace {
            file: plain(&first.who.file.to_string_lossy()),
            line: 1,
        };
        checks.push(further(COVERAGE, name, place, None));
    }
}
