//! What cases do not show: hooks that none of them asks, and mistakes by which a hook is never asked.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::config::{Environment, Problem, Severity};
use crate::engine::run::Fate;
use crate::lab::report::style::counted;
use crate::lab::scenario::coverage::{Who, can_run};
use crate::lab::scenario::{CaseResult, End};

use super::selection::is_chosen;
use super::trial::{CaseTrial, LoadedSuite};
use crate::cli::args::TestArgs;
use crate::cli::problems::{problems_of, tool_problems};

/// More names are not listed.
const MOST_NAMES: usize = 8;

/// What `validate` would say of the hooks under test, as far as the cases leave it open.
#[derive(Debug, Default)]
pub(super) struct UntestedHooks {
    /// By these a hook cannot run.
    pub(super) errors: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// The names of those that no case asks or names.
    without_case: Vec<String>,
}

impl UntestedHooks {
    /// Nothing where only some files of cases are played; where `--filter` leaves out some cases,
    /// only errors.
    pub(super) fn find(
        loaded: &LoadedSuite,
        played: &[CaseResult],
        args: &TestArgs,
        env: &Environment,
    ) -> UntestedHooks {
        let mut found = UntestedHooks::default();
        let paths = args.suite.suite.as_deref().unwrap_or_default();
        let is_folder = |path: &PathBuf| env.cwd.join(path).is_dir();
        let is_cut_short = played.iter().any(|one| one.end == End::NotRun);
        if !paths.iter().all(is_folder) || is_cut_short {
            return found;
        }
        let runs = played
            .iter()
            .flat_map(|one| &one.steps)
            .flat_map(|step| step.hooks());
        let runs = runs.filter(|run| matches!(run.fate, Fate::Ran(_) | Fate::Detached));
        // Whether a hook that a case has asked can start is what the case says.
        let asked: HashSet<_> = runs
            .map(|run| (&run.source.file, run.source.line, &run.hook))
            .collect();
        let named: Vec<_> = loaded
            .trials
            .iter()
            .flat_map(CaseTrial::named_hooks)
            .collect();
        let named: HashSet<_> = named
            .iter()
            .map(|hook| (&hook.source.file, hook.source.line, &hook.name))
            .collect();
        // What a case that is left out wants to fail is no mistake.
        let steps = loaded.trials.iter().flat_map(|trial| &trial.case.steps);
        let failing: HashSet<_> = steps.flat_map(|step| &step.expect.failed.value).collect();
        let mut seen = HashSet::new();
        for hook in loaded.benches.iter().flat_map(|bench| &bench.config.hooks) {
            let key = (&hook.source.file, hook.source.line, &hook.name);
            let is_meant = can_run(hook)
                && hook.source.set.is_none()
                && is_chosen(&Who::of(hook), false, args);
            if !is_meant || !seen.insert(key) {
                continue;
            }
            let is_asked = asked.contains(&key);
            if !is_asked && failing.contains(&hook.name) {
                continue;
            }
            found.add(if is_asked {
                tool_problems(hook)
            } else {
                problems_of(hook, env)
            });
            if !is_asked && !named.contains(&key) {
                found.without_case.push(hook.name.clone());
            }
        }
        for bench in &loaded.benches {
            found.add(bench.config.problems.clone());
        }
        if args.suite.filter.is_some() {
            found = UntestedHooks {
                errors: found.errors,
                ..UntestedHooks::default()
            };
        }
        found
    }

    fn add(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            let list = match problem.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
                Severity::Note => continue,
            };
            if !list.contains(&problem) {
                list.push(problem);
            }
        }
    }

    /// One line about the hooks without a case.
    pub(super) fn line(&self) -> Option<String> {
        let names = &self.without_case;
        let shown = names[..names.len().min(MOST_NAMES)].join(", ");
        let more = match names.len().checked_sub(MOST_NAMES) {
            None | Some(0) => String::new(),
            Some(more) => format!(" and {more} more"),
        };
        let have = if names.len() == 1 { "has" } else { "have" };
        let count = counted(names.len(), "hook");
        (!names.is_empty()).then(|| format!("{count} {have} no case: {shown}{more}"))
    }
}
