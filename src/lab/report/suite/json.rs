//! What came of cases, as one document for programs.

use serde_json::{Value, json};

use super::model::{CoverageReport, Gap, Whole};
use crate::lab::report::Paths;
use crate::lab::scenario::coverage::{CoveragePart, Excuse, Point, PointState};
use crate::lab::scenario::{CaseResult, End, Miss, StepResult};
use crate::log::report::{VERSION, milliseconds, present, refusal_report, run_report};

pub(super) fn document(whole: &Whole<'_>, paths: &Paths) -> Value {
    let count = |is: fn(&End) -> bool| whole.played.iter().filter(|one| is(&one.end)).count();
    let mut document = json!({
        "version": VERSION,
        "ok": whole.is_good(),
        "cases": whole.played.iter().map(|one| case(one, paths)).collect::<Vec<_>>(),
        "total": whole.played.len(),
        "expected": count(|end| matches!(end, End::Expected)),
        "unexpected": count(|end| matches!(end, End::Unexpected(_))),
        "couldNot": count(|end| matches!(end, End::CouldNot(_))),
        "skipped": count(|end| matches!(end, End::Skipped(_))),
        "notRun": count(|end| matches!(end, End::NotRun)),
        "tookMs": milliseconds(whole.took),
    });
    if let Some(covered) = whole.coverage {
        document["coverage"] = coverage(covered, paths);
    }
    document
}

fn case(played: &CaseResult, paths: &Paths) -> Value {
    let report = |decided: &StepResult| match decided {
        StepResult::Run { run, reply } => run_report(run, reply, paths),
        StepResult::Refused {
            event,
            host,
            outcome,
            reply,
        } => {
            let reason = outcome
                .refusal()
                .map_or("", |refusal| refusal.reason.as_str());
            refusal_report(event, host, reason, reply)
        }
    };
    let mut value = json!({
        "file": paths.show(&played.file),
        "line": played.at.line,
        "name": played.name,
        "event": played.event,
        "result": played.end.name(),
        "tookMs": milliseconds(played.took),
        "steps": played.steps.iter().map(report).collect::<Vec<_>>(),
    });
    match &played.end {
        End::Unexpected(misses) => value["misses"] = misses.iter().map(miss).collect(),
        End::CouldNot(why) | End::Skipped(why) => value["why"] = why.as_str().into(),
        End::Expected | End::NotRun => {}
    }
    value
}

fn miss(miss: &Miss) -> Value {
    present(json!({
        "key": miss.key,
        "line": miss.at.line,
        "column": miss.at.column,
        "wanted": miss.wanted,
        "found": miss.found,
        "step": miss.step,
    }))
}

fn coverage(covered: &CoverageReport, paths: &Paths) -> Value {
    let (shown, all) = covered.coverage.counts();
    let state = |point: &Point| {
        let (state, why) = match &point.state {
            PointState::Covered => ("covered", None),
            PointState::Missing => ("missing", Some(&point.lacks)),
            PointState::Never(why) => ("never", Some(why)),
        };
        json!({ "name": point.name, "state": state, "why": why })
    };
    let part = |part: &CoveragePart| {
        json!({
            "event": part.who.event,
            "hook": (!part.is_event).then_some(&part.who.hook),
            "file": paths.show(&part.who.file),
            "line": part.who.line,
            "points": part.points.iter().map(state).collect::<Vec<_>>(),
        })
    };
    let gap = |gap: &Gap| {
        json!({
            "event": gap.who.event,
            "hook": (!gap.is_event).then_some(&gap.who.hook),
            "file": paths.show(&gap.who.file),
            "line": gap.line,
            "point": gap.point.name,
            "lacks": gap.point.lacks,
        })
    };
    let excuse = |one: &Excuse| json!({ "file": paths.show(&one.file), "line": one.at.line, "problem": one.problem });
    json!({
        "ok": covered.is_enough(),
        "percent": covered.coverage.permille() as f64 / 10.0,
        "least": covered.least,
        "covered": shown,
        "total": all,
        "parts": covered.coverage.parts.iter().map(part).collect::<Vec<_>>(),
        "missing": covered.gaps.iter().map(gap).collect::<Vec<_>>(),
        "untrue": covered.coverage.untrue.iter().map(excuse).collect::<Vec<_>>(),
    })
}
