//! What the cases have shown of the hooks: gathers it from what was played.

use crate::config::line_of_directive;
use crate::lab::report::suite::{Covered, Excuse, Gap};
use crate::lab::scenario::coverage::{self, CoveragePart, Witness};
use crate::lab::scenario::{Played, StepResult};

use super::selection::is_chosen;
use super::trial::{CaseTrial, Loaded};
use crate::cli::args::TestArgs;

/// The coverage of the hooks under test, if it is wanted: of those that `--hook` and `--event`
/// name, or of all.
pub(super) fn measure(
    loaded: &Loaded,
    trials: &[&CaseTrial],
    played: &[Played],
    args: &TestArgs,
) -> Option<Covered> {
    if !args.suite.coverage && args.suite.coverage_min.is_none() {
        return None;
    }
    let mut witnesses = Vec::new();
    for (trial, played) in trials.iter().zip(played) {
        for (step, decided) in trial.case.steps.iter().zip(&played.steps) {
            if let StepResult::Run { run, .. } = decided {
                let looks_at_files = !step.expect.files.is_empty();
                witnesses.push(Witness { run, looks_at_files });
            }
        }
    }
    let configs: Vec<_> = loaded.benches.iter().map(|bench| &bench.config).collect();
    let never: Vec<_> = loaded.never.iter().map(|(_, never)| never).collect();
    let mut coverage = coverage::measure(&configs, &witnesses, &never);
    coverage.parts.retain(|part| is_chosen(&part.who.event, &part.who.hook, part.is_event, args));
    let gap = |(part, point): (&CoveragePart, &coverage::Point)| Gap {
        who: part.who.clone(),
        line: line(part, &point.name),
        point: point.clone(),
    };
    let gaps = coverage.missing().map(gap).collect();
    let excuse = |(place, problem): &(usize, String)| {
        let (file, never) = loaded.never.get(*place)?;
        Some(Excuse { file: file.clone(), at: never.at, problem: problem.clone() })
    };
    let untrue = coverage.untrue.iter().filter_map(excuse).collect();
    Some(Covered { coverage, gaps, untrue, least: args.suite.coverage_min })
}

/// Where a point of a hook is configured: in its table, in its directive, or in the whole file.
fn line(part: &CoveragePart, point: &str) -> usize {
    let setting = point.strip_prefix("match.").unwrap_or(point);
    let of_directive = || line_of_directive(&part.who.file, setting);
    part.who.line.or_else(of_directive).unwrap_or(1)
}
