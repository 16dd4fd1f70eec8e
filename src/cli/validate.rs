//! `hookrun validate`: reports every problem with file, line, cause and cure. `doctor` uses the
//! same report.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::trust::TrustChoice;
use crate::config::{Choice, Config, ConfigScope, Environment, Problem, SHADOWED, Severity};
use crate::engine::complaint::Complaint;
use crate::lab::report::CheckFormat;
use crate::lab::report::problems::{CheckedFile, FilesReport};

use crate::cli::args::ValidateArgs;
use crate::cli::exit::{ExitStatus, Result};
use crate::cli::problems::{no_hooks, problems_of};
use crate::cli::run::paths;

/// Checks everything: 0 no errors, 1 errors, 2 could not check.
pub(crate) fn validate(args: &ValidateArgs, env: &Environment, out: &mut dyn Write) -> Result {
    let choice = args.hooks.source.choice(env, &args.hooks.dialect);
    let choice = Choice {
        trust: Some(TrustChoice::Reported),
        ..choice
    };
    let config = Config::load(&choice, env, ConfigScope::All);
    let mut findings = Findings::default();
    findings.add_hooks(&config, &choice, env);
    findings.report(args.format, env, out)
}

#[derive(Debug, Default)]
pub(super) struct Findings {
    checks: BTreeMap<PathBuf, CheckedFile>,
}

pub(super) fn error(file: &Path, cause: impl Into<String>, cure: impl Into<String>) -> Problem {
    Complaint::with_cure(cause, cure).in_file(file, None)
}

pub(super) fn warning(file: &Path, cause: impl Into<String>, cure: impl Into<String>) -> Problem {
    Complaint::with_cure(cause, cure).warning(file, None)
}

pub(super) fn note(file: &Path, cause: impl Into<String>) -> Problem {
    Problem {
        severity: Severity::Note,
        ..Complaint::new(cause).in_file(file, None)
    }
}

impl Findings {
    pub(super) fn check(&mut self, file: &Path) -> &mut CheckedFile {
        let checked = self.checks.entry(file.to_path_buf());
        checked.or_insert_with(|| CheckedFile {
            file: file.to_path_buf(),
            is_counted: !file.is_dir(),
            ..CheckedFile::default()
        })
    }

    /// Adds problems of the configuration and of hooks that cannot start or match nothing.
    pub(super) fn add_hooks(&mut self, config: &Config, choice: &Choice, env: &Environment) {
        for layer in &config.layers {
            for file in layer.manifests.iter().chain(&layer.settings) {
                self.check(file);
            }
        }
        for hook in &config.hooks {
            let file = &hook.source.file;
            self.check(file).hooks += 1;
            self.extend(problems_of(hook, env));
        }
        self.extend(config.problems.iter().cloned());
        self.extend(no_hooks(config, choice, env));
    }

    /// Warns about enabled hooks that never run, perhaps because of another layer.
    pub(super) fn add_idle(&mut self, config: &Config) {
        for hook in &config.hooks {
            if let Some(why) = &hook.idle
                && hook.enabled
            {
                let cause = format!("`{}` never runs: {why}", hook.name);
                let cure = "rename or remove this hook or the one that shadows it";
                let cure = why.starts_with(SHADOWED).then(|| cure.to_string());
                self.add(Complaint { cause, cure }.warning(&hook.source.file, None));
            }
        }
    }

    pub(super) fn add(&mut self, problem: Problem) {
        let problems = &mut self.check(&problem.file).problems;
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    pub(super) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().for_each(|problem| self.add(problem));
    }

    pub(super) fn has_error(&self) -> bool {
        self.checks.values().any(|check| !check.passes())
    }

    /// Prints every file, its problems sorted by line: 0 without errors, else 1.
    pub(super) fn report(
        mut self,
        format: CheckFormat,
        env: &Environment,
        out: &mut dyn Write,
    ) -> Result {
        for check in self.checks.values_mut() {
            let problems = &mut check.problems;
            problems.sort_by_key(|problem| problem.at.map(|at| (at.line, at.column)));
            problems.dedup_by(|later, first| {
                later.events.clone_from(&first.events);
                later == first
            });
        }
        let files = self.checks.values().cloned();
        format.write(&FilesReport::new(files, &paths(format, env)), out)?;
        Ok(ExitStatus::yes_if(!self.has_error()))
    }
}
