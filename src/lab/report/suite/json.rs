//! What came of cases, as one document for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{CoverageReport, Whole};
use crate::lab::report::Paths;
use crate::lab::scenario::{CaseResult, End, Miss, StepResult};
use crate::log::report::{RunReport, VERSION, milliseconds, refusal_report, run_report};

/// What `test --format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuiteReport {
    version: u32,
    /// Everything passed.
    ok: bool,
    cases: Vec<CaseReport>,
    total: usize,
    /// The cases that passed.
    expected: usize,
    /// The cases that failed.
    unexpected: usize,
    /// The cases that could not run.
    could_not: usize,
    skipped: usize,
    /// The cases that were left when the suite was interrupted.
    not_run: usize,
    took_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<CoverageJson>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CaseReport {
    file: String,
    line: usize,
    name: String,
    event: String,
    /// `expected`, `unexpected`, `could-not`, `skipped` or `not-run`.
    result: &'static str,
    took_ms: f64,
    steps: Vec<RunReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    misses: Vec<MissReport>,
    /// Why it was skipped, or could not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MissReport {
    /// What differs.
    key: String,
    /// The line of the expectation.
    line: usize,
    column: usize,
    /// What the case expects.
    wanted: String,
    /// What it got.
    found: String,
    /// The number of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CoverageJson {
    /// It is enough for `--fail-under`.
    ok: bool,
    percent: f64,
    /// What `--fail-under` wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<u8>,
    /// The points that are covered.
    covered: usize,
    /// All points.
    total: usize,
    parts: Vec<PartReport>,
    missing: Vec<GapReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PartReport {
    event: String,
    hook: String,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    points: Vec<PointReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PointReport {
    name: String,
    covered: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GapReport {
    event: String,
    hook: String,
    file: String,
    line: usize,
    /// What no case shows.
    point: String,
    /// The case to write.
    lacks: String,
}

impl SuiteReport {
    pub(super) fn of(whole: &Whole<'_>, paths: &Paths) -> SuiteReport {
        SuiteReport {
            version: VERSION,
            ok: whole.is_good(),
            cases: whole.played.iter().map(|one| case(one, paths)).collect(),
            total: whole.played.len(),
            expected: whole.count("expected"),
            unexpected: whole.count("unexpected"),
            could_not: whole.count("could-not"),
            skipped: whole.count("skipped"),
            not_run: whole.count("not-run"),
            took_ms: milliseconds(whole.took),
            coverage: whole.coverage.map(|covered| coverage(covered, paths)),
        }
    }
}

fn case(played: &CaseResult, paths: &Paths) -> CaseReport {
    let steps = played.steps.iter().map(|decided| match decided {
        StepResult::Run { run, reply } => run_report(run, reply, paths),
        StepResult::Refused {
            event,
            host,
            outcome,
            reply,
        } => {
            let reason = outcome.refusal().map(|refusal| refusal.reason.as_str());
            refusal_report(event, host, reason.unwrap_or_default(), reply)
        }
    });
    CaseReport {
        file: paths.show(&played.file),
        line: played.at.line,
        name: played.name.clone(),
        event: played.event.clone(),
        result: played.end.name(),
        took_ms: milliseconds(played.took),
        steps: steps.collect(),
        misses: match &played.end {
            End::Unexpected(misses) => misses.iter().map(miss).collect(),
            End::CouldNot(_) | End::Skipped(_) | End::Expected | End::NotRun => Vec::new(),
        },
        why: match &played.end {
            End::CouldNot(why) | End::Skipped(why) => Some(why.clone()),
            End::Unexpected(_) | End::Expected | End::NotRun => None,
        },
    }
}

fn miss(miss: &Miss) -> MissReport {
    MissReport {
        key: miss.key.clone(),
        line: miss.at.line,
        column: miss.at.column,
        wanted: miss.wanted.clone(),
        found: miss.found.clone(),
        step: miss.step,
    }
}

fn coverage(covered: &CoverageReport, paths: &Paths) -> CoverageJson {
    let (shown, total) = covered.coverage.counts();
    let parts = covered.coverage.parts.iter().map(|part| PartReport {
        event: part.who.event.clone(),
        hook: part.who.hook.clone(),
        file: paths.show(&part.who.file),
        line: part.who.line,
        points: part
            .points
            .iter()
            .map(|point| PointReport {
                name: point.name.clone(),
                covered: point.is_covered,
            })
            .collect(),
    });
    let missing = covered.gaps.iter().map(|gap| GapReport {
        event: gap.who.event.clone(),
        hook: gap.who.hook.clone(),
        file: paths.show(&gap.who.file),
        line: gap.line,
        point: gap.point.name.clone(),
        lacks: gap.point.lacks.clone(),
    });
    CoverageJson {
        ok: !covered.is_short(),
        percent: covered.coverage.permille() as f64 / 10.0,
        least: covered.least,
        covered: shown,
        total,
        parts: parts.collect(),
        missing: missing.collect(),
    }
}
