//! The results of test cases and policy coverage, as a model that is also the JSON output.

mod human;

use std::io::{self, Write};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::check::{Annotation, Check, CheckList, CheckPlace, CheckReport, CheckState, Written};
use super::problems::plain_problem;
use super::style::{counted, cut};
use crate::config::{Position, Problem, line_of_directive};
use crate::engine::harmless::plain;
use crate::lab::scenario::coverage::{Coverage, CoveragePart};
use crate::lab::scenario::{CaseResult, End, Miss};
use crate::log::report::{
    HookReport, Paths, RunReport, VERSION, block_report, milliseconds, run_report,
};

/// The JSON output of `test`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteReport {
    version: u32,
    /// True if everything passed.
    pub ok: bool,
    /// In file order.
    cases: Vec<CaseReport>,
    total: usize,
    /// Passed cases.
    expected: usize,
    /// Failed cases.
    unexpected: usize,
    /// Cases that could not run.
    could_not: usize,
    skipped: usize,
    /// Cases not run because of an interruption.
    not_run: usize,
    took_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<CoverageReport>,
    /// Problems of hooks without a case that cannot start.
    #[serde(skip)]
    broken: Vec<Problem>,
    /// The suite was interrupted.
    #[serde(skip)]
    pub is_stopped: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CaseReport {
    file: String,
    line: usize,
    #[serde(skip)]
    at: Position,
    name: String,
    event: String,
    /// `expected`, `unexpected`, `could-not`, `skipped` or `not-run`.
    result: &'static str,
    #[serde(skip)]
    end: End,
    took_ms: f64,
    steps: Vec<RunReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    misses: Vec<Miss>,
    /// Why the case was skipped or could not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// The points of hooks that cases cover.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CoverageReport {
    /// True if the coverage reaches `--coverage=PERCENT`.
    ok: bool,
    percent: f64,
    /// The required percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<u8>,
    /// The number of covered points.
    covered: usize,
    /// The number of points.
    total: usize,
    parts: Vec<CoveragePart>,
    missing: Vec<GapReport>,
}

/// An uncovered point.
#[derive(Debug, Serialize, JsonSchema)]
struct GapReport {
    event: String,
    hook: String,
    file: String,
    /// The line that configures the point.
    line: usize,
    /// The name of the point.
    point: String,
    /// The test case to write.
    lacks: String,
}

impl SuiteReport {
    /// `broken` are the problems of hooks that cannot start.
    pub fn new(
        played: &[CaseResult],
        took: Duration,
        mut broken: Vec<Problem>,
        coverage: Option<CoverageReport>,
        paths: &Paths,
    ) -> SuiteReport {
        for problem in &mut broken {
            problem.file = paths.show(&problem.file).into();
        }
        let is_enough = broken.is_empty() && coverage.as_ref().is_none_or(|it| it.ok);
        let cases: Vec<CaseReport> = played.iter().map(|one| case(one, paths)).collect();
        let count = |name: &str| cases.iter().filter(|one| one.end.name() == name).count();
        SuiteReport {
            version: VERSION,
            ok: is_enough && count("expected") + count("skipped") == cases.len(),
            total: cases.len(),
            expected: count("expected"),
            unexpected: count("unexpected"),
            could_not: count("could-not"),
            skipped: count("skipped"),
            not_run: count("not-run"),
            took_ms: milliseconds(took),
            coverage,
            broken,
            is_stopped: false,
            cases,
        }
    }
}

fn case(played: &CaseResult, paths: &Paths) -> CaseReport {
    let steps = played.steps.iter().map(|step| match &step.run {
        Some(run) => run_report(run, &step.reply, paths),
        None => {
            let reason = step.outcome.reason().unwrap_or_default();
            block_report(&step.event, &step.host, &reason, &step.reply)
        }
    });
    let (misses, why) = match played.end.clone() {
        End::Unexpected(misses) => (misses, None),
        End::CouldNot(why) | End::Skipped(why) => (Vec::new(), Some(why)),
        End::Expected | End::NotRun => (Vec::new(), None),
    };
    CaseReport {
        file: paths.show(&played.file),
        line: played.at.line,
        at: played.at,
        name: played.name.clone(),
        event: played.event.clone(),
        result: played.end.name(),
        end: played.end.clone(),
        misses,
        why,
        took_ms: milliseconds(played.took),
        steps: steps.collect(),
    }
}

impl CoverageReport {
    /// `least` is the required percentage.
    pub fn new(mut coverage: Coverage, least: Option<u8>, paths: &Paths) -> CoverageReport {
        let (covered, total) = coverage.counts();
        let mut missing = Vec::new();
        for (CoveragePart { who, .. }, point) in coverage.missing() {
            missing.push(GapReport {
                event: who.event.clone(),
                hook: who.hook.clone(),
                file: paths.show(&who.file),
                line: who.line.unwrap_or_else(|| {
                    let name = point.name.as_str();
                    let setting = match name {
                        "failed" => "on_failure",
                        _ => name.strip_prefix("matched.").unwrap_or(name),
                    };
                    line_of_directive(&who.file, setting).unwrap_or(1)
                }),
                point: point.name.clone(),
                lacks: point.lacks.clone(),
            });
        }
        for part in &mut coverage.parts {
            part.who.file = paths.show(&part.who.file).into();
        }
        CoverageReport {
            ok: least.is_none_or(|least| coverage.reaches(least)),
            percent: coverage.permille() as f64 / 10.0,
            least,
            covered,
            total,
            missing,
            parts: coverage.parts,
        }
    }

    fn line(&self) -> String {
        let points = counted(self.total, "point");
        let CoverageReport {
            percent, covered, ..
        } = self;
        format!("covered {percent:.1}%: {covered} of {points}")
    }
}

/// Suites for checks that are not cases.
const HOOKS: &str = "hooks";
const COVERAGE: &str = "policy coverage";

const MOST_LINES: usize = 20;

fn totals(cases: &[CaseReport]) -> String {
    let mut text = counted(cases.len(), "case");
    for (name, words) in [
        ("unexpected", "failed"),
        ("could-not", "could not run"),
        ("skipped", "skipped"),
        ("not-run", "not run"),
    ] {
        match cases.iter().filter(|one| one.end.name() == name).count() {
            0 => {}
            count => text.push_str(&format!(", {count} {words}")),
        }
    }
    text
}

fn miss_text(miss: &Miss) -> String {
    let step = miss.step.map(|step| format!("step {step}: "));
    let step = step.unwrap_or_default();
    let key = plain(&miss.key);
    let wanted = last_lines(&miss.wanted);
    let found = last_lines(&miss.found);
    format!("{step}{key} should be {wanted}, but is {found}")
}

/// Escapes the last lines of a text, where the cause of a failure usually is.
fn last_lines(text: &str) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let hidden = all.len().saturating_sub(MOST_LINES);
    let mut lines: Vec<String> = all[hidden..].iter().map(|line| cut(&plain(line))).collect();
    if hidden > 0 {
        let above = counted(hidden, "earlier line");
        lines.insert(0, format!("… {above}; --format json shows them"));
    }
    lines.join("\n")
}

fn streams(hook: &HookReport) -> Vec<Written> {
    let mut all = Vec::new();
    if let Some(trace) = &hook.trace {
        for (stream, printed) in [("stdout", &trace.stdout), ("stderr", &trace.stderr)] {
            let text = last_lines(&printed.text);
            if !text.is_empty() {
                all.push(Written { stream, text });
            }
        }
    }
    all
}

impl CheckReport for SuiteReport {
    fn human(&self, out: &mut dyn Write) -> io::Result<()> {
        human::suite(self, out)
    }

    fn checks(&self) -> CheckList {
        let mut checks: Vec<Check> = self.cases.iter().map(check_of).collect();
        for problem in &self.broken {
            let place = CheckPlace {
                file: plain(&problem.file.to_string_lossy()),
                line: problem.at.map_or(1, |at| at.line) as u64,
            };
            let text = plain_problem(problem);
            let name = "every hook can run".to_string();
            checks.push(further(HOOKS, name, place, Some(text)));
        }
        if let Some(covered) = &self.coverage {
            add_coverage(covered, &mut checks);
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

/// A case as a check for CI formats.
fn check_of(case: &CaseReport) -> Check {
    let (state, details) = match &case.end {
        End::Expected => (CheckState::Passed, String::new()),
        End::Unexpected(misses) => {
            let texts: Vec<String> = misses.iter().map(miss_text).collect();
            (CheckState::Failed, texts.join("\n"))
        }
        End::CouldNot(why) => (CheckState::Error, last_lines(why)),
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
fn add_coverage(covered: &CoverageReport, checks: &mut Vec<Check>) {
    let Some(least) = covered.least else { return };
    if !covered.ok {
        for gap in &covered.missing {
            let name = plain(&format!("{} of {} ({})", gap.point, gap.hook, gap.event));
            let problem = format!("no test case covers this; write {}", plain(&gap.lacks));
            let place = CheckPlace {
                file: plain(&gap.file),
                line: gap.line as u64,
            };
            checks.push(further(COVERAGE, name, place, Some(problem)));
        }
    } else if let Some(first) = covered.parts.first() {
        let name = format!("{}; at least {least}%", covered.line());
        let place = CheckPlace {
            file: plain(&first.who.file.to_string_lossy()),
            line: 1,
        };
        checks.push(further(COVERAGE, name, place, None));
    }
}
