//! Loads test case files with their hooks, checks that they match, and selects cases.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::reader;
use crate::config::{Choice, Config, ConfigScope, Environment, Position, Problem, Severity};
use crate::engine::complaint::{self, Complaint};
use crate::engine::hook::{Background, Hook, Lives};
use crate::engine::registry::Registry;
use crate::hosts::native;
use crate::lab::report::problems::CheckedFile;
use crate::lab::scenario::coverage::Who;
use crate::lab::scenario::{self, Case, CaseStep, PlacedValue, StepInput, Suite};

use serde_json::{Map, Value};

use super::find::{CaseFile, hooks_around};
use crate::cli::args::{SourceArgs, TestArgs};
use crate::decide::EventRequest;
use crate::decide::hooks::nearest_hook;

/// The hooks that cases test.
#[derive(Debug)]
pub(super) struct TestedHooks {
    choice: Choice,
    pub(super) config: Config,
}

#[derive(Debug)]
pub(super) struct LoadedCase {
    pub(super) file: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) case: Case,
    pub(super) step_hooks: Vec<StepHooks>,
}

#[derive(Debug)]
pub(super) struct StepHooks {
    pub(super) tested: Arc<TestedHooks>,
    /// The hooks of its event, or the hooks that the step names.
    pub(super) registry: Registry,
}

#[derive(Debug, Default)]
pub(super) struct LoadedSuite {
    pub(super) cases: Vec<LoadedCase>,
    pub(super) tested: Vec<Arc<TestedHooks>>,
    pub(super) checks: Vec<CheckedFile>,
    pub(super) skipped: Vec<PathBuf>,
}

pub(super) fn load(files: &[CaseFile], source: &SourceArgs, env: &Environment) -> LoadedSuite {
    let mut loader = SuiteLoader {
        source,
        env,
        loaded: LoadedSuite::default(),
    };
    for file in files {
        loader.file(file);
    }
    loader.loaded
}

struct SuiteLoader<'l> {
    source: &'l SourceArgs,
    env: &'l Environment,
    loaded: LoadedSuite,
}

impl SuiteLoader<'_> {
    fn file(&mut self, file: &CaseFile) {
        let path = &file.path;
        let mut problems = Vec::new();
        let suite = reader::load(path, &mut problems, |text, path| {
            if file.may_lack_cases && !scenario::has_cases(text) {
                return (None, Vec::new());
            }
            let (suite, problems) = scenario::read(text, path);
            (Some(suite), problems)
        });
        match suite {
            Some(suite) if problems.is_empty() => self.suite(path, suite),
            None if problems.is_empty() => self.loaded.skipped.push(path.clone()),
            Some(_) | None => {}
        }
        for problem in problems {
            self.problem(problem);
        }
    }

    fn problem(&mut self, problem: Problem) {
        let checks = &mut self.loaded.checks;
        match checks.iter_mut().find(|check| check.file == problem.file) {
            Some(check) if check.problems.contains(&problem) => {}
            Some(check) => check.problems.push(problem),
            None => checks.push(CheckedFile {
                file: problem.file.clone(),
                problems: vec![problem],
                ..CheckedFile::default()
            }),
        }
    }

    fn fault(&mut self, file: &Path, at: Position, complaint: Complaint) {
        self.problem(complaint.in_file(file, Some(at)));
    }

    fn suite(&mut self, file: &Path, suite: Suite) {
        let Some(choice) = self.choice(file, &suite) else {
            return;
        };
        let folder = file.parent().unwrap_or(file);
        let whole = folder.canonicalize();
        let folder = whole.unwrap_or_else(|_| folder.to_path_buf());
        for case in suite.cases {
            let mut step_hooks = Vec::new();
            for step in &case.steps {
                step_hooks.extend(self.step_hooks(file, step, &choice));
            }
            if step_hooks.len() == case.steps.len() {
                self.loaded.cases.push(LoadedCase {
                    file: file.to_path_buf(),
                    folder: folder.clone(),
                    case,
                    step_hooks,
                });
            }
        }
    }

    /// The hooks that a file tests: from the command line, from the file, or those around it.
    fn choice(&mut self, file: &Path, suite: &Suite) -> Option<Choice> {
        let mut choice = Choice {
            explicit: below(&self.env.cwd, &self.source.hooks),
            settings: below(&self.env.cwd, &self.source.settings),
            discover: self.source.discover,
            ..Choice::default()
        };
        if choice.explicit.is_empty() && choice.settings.is_empty() {
            let folder = file.parent().unwrap_or(file);
            choice.explicit = below(folder, &suite.hooks);
            choice.settings = below(folder, &suite.settings);
        }
        if choice.explicit.is_empty() && choice.settings.is_empty() {
            let Some(folder) = hooks_around(file) else {
                let cure = "add `hooks = \"DIR\"` to this file, or pass `--hooks DIR`";
                let cause = "hookrun cannot tell which hooks this file tests";
                let complaint = Complaint::with_cure(cause, cure);
                self.problem(complaint.in_file(file, None));
                return None;
            };
            choice.explicit.push(folder);
        }
        Some(choice)
    }

    /// The hooks of `choice`; their mistakes are reported.
    fn tested(&mut self, choice: &Choice) -> Arc<TestedHooks> {
        for tested in &self.loaded.tested {
            if tested.choice == *choice {
                return Arc::clone(tested);
            }
        }
        let config = Config::load(choice, self.env, ConfigScope::All);
        for problem in &config.problems {
            if problem.severity == Severity::Error {
                self.problem(problem.clone());
            }
        }
        let tested = Arc::new(TestedHooks {
            choice: choice.clone(),
            config,
        });
        self.loaded.tested.push(Arc::clone(&tested));
        tested
    }

    /// The hooks of a step; `None` if there is a mistake, which is reported.
    fn step_hooks(&mut self, file: &Path, step: &CaseStep, choice: &Choice) -> Option<StepHooks> {
        let tested = self.tested(choice);
        let config = &tested.config;
        if config.has_errors() {
            return None;
        }
        if config.hooks.is_empty() {
            let at = choice.explicit.first().or(choice.settings.first());
            let shown = at.map(|at| at.display().to_string()).unwrap_or_default();
            let cure =
                "name another folder: `hooks = \"DIR\"` in the test case file, or `--hooks DIR`";
            let complaint = Complaint::with_cure(format!("no hooks found in `{shown}`"), cure);
            self.problem(complaint.in_file(file, None));
            return None;
        }
        let request = EventRequest::new(&step.event.value, &step.host);
        if let Err(complaint) = request.check(config) {
            self.fault(file, step.event.at, complaint);
            return None;
        }
        let events = request.names(Some(config));
        let mut bound: Vec<&Hook> = config.hooks.iter().collect();
        bound.retain(|hook| events.contains(&hook.event));
        let bound_names: Vec<&str> = bound.iter().map(|hook| hook.name.as_str()).collect();
        let checks = self.loaded.checks.len();
        for (name, at) in hook_names(step) {
            if !bound.iter().any(|hook| hook.is_called(name)) {
                let complaint = unknown_hook(name, &bound_names, &step.event.value);
                self.fault(file, at, complaint);
            }
        }
        self.check_context(file, step, &events, config);
        if self.loaded.checks.len() > checks {
            return None;
        }
        if !step.hooks.is_empty() {
            bound.retain(|hook| step.hooks.iter().any(|name| hook.is_called(&name.value)));
        }
        let registry = Registry::loaded(bound.into_iter().cloned(), config.catalog.clone());
        Some(StepHooks {
            registry,
            tested: Arc::clone(&tested),
        })
    }

    /// Reports misspelled keys of a context, without which the case would test another event.
    fn check_context(&mut self, file: &Path, step: &CaseStep, events: &[String], config: &Config) {
        let StepInput::Context(text) = &step.input else {
            return;
        };
        if step.host != native::NAME {
            return;
        }
        let mut known = Vec::new();
        for spec in config.catalog.iter() {
            if events.iter().any(|event| *event == spec.name) {
                known.extend(spec.context.iter().map(|key| key.name.as_ref()));
            }
        }
        let context: Map<String, Value> = serde_json::from_str(&text.value).unwrap_or_default();
        let own = [native::NAMES_EVENT_BY, "action", "raw"];
        let keys = context.keys().map(String::as_str);
        let keys = keys.filter(|key| !own.contains(key));
        for (key, meant) in complaint::near_misses(keys, known.into_iter()) {
            let cause = format!("`{}` has no key `{key}`", step.event.value);
            let help = format!("did you mean `{meant}`? To send `{key}` as written, use `stdin`");
            self.fault(file, text.at, Complaint::with_cure(cause, help));
        }
    }
}

fn below<'p>(folder: &Path, paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
    paths.into_iter().map(|path| folder.join(path)).collect()
}

/// The hooks that a step names, except hookrun itself.
fn hook_names(step: &CaseStep) -> Vec<(&str, Position)> {
    let mut names = Vec::new();
    for PlacedValue { value, at } in &step.hooks {
        names.push((value.as_str(), *at));
    }
    for key in ["by", "asked", "failed"] {
        if let Some((hooks, at)) = step.expect.hooks(key) {
            names.extend(hooks.iter().map(|name| (name.as_str(), at)));
        }
    }
    names.retain(|(name, _)| *name != "hookrun");
    names
}

impl LoadedSuite {
    pub(super) fn selected(&self, args: &TestArgs) -> Vec<&LoadedCase> {
        let mut cases: Vec<&LoadedCase> = self.cases.iter().collect();
        if let Some(first) = args.suite.first {
            let files = cases.chunk_by(|one, next| one.file == next.file);
            let firsts = files.flat_map(|file| &file[..first.min(file.len())]);
            cases = firsts.copied().collect();
        }
        if let Some(filter) = &args.suite.filter {
            cases.retain(|loaded| filter.is_match(&loaded.case.name));
        }
        if !args.hook.is_empty() {
            cases.retain(|loaded| loaded.may_run(&args.hook));
        }
        cases
    }

    /// Why no case is selected.
    pub(super) fn check_selection(&self, cases: &[&LoadedCase]) -> Option<Complaint> {
        if !cases.is_empty() {
            return None;
        }
        if self.cases.is_empty() {
            let help = "add a `[[case]]` table; see hookrun-suite(5)";
            return Some(Complaint::with_cure("no test cases found", help));
        }
        let all = self.cases.len();
        let cause = format!("no case matches the selection ({all} in all)");
        let help = "check --filter and --hook";
        Some(Complaint::with_cure(cause, help))
    }
}

impl LoadedCase {
    pub(super) fn hooks(&self) -> Vec<Arc<Hook>> {
        let steps = self.step_hooks.iter();
        steps.flat_map(|step| step.registry.hooks()).collect()
    }

    /// Whether a process of its hooks may outlive it.
    pub(super) fn may_leave_processes(&self) -> bool {
        self.hooks()
            .iter()
            .any(|hook| hook.background == Background::Detach || hook.lives == Lives::Session)
    }

    fn may_run(&self, names: &[String]) -> bool {
        let mut hooks = self.hooks().into_iter();
        hooks.any(|hook| names.iter().any(|name| hook.is_called(name)))
    }
}

/// Whether `--hook` selects a hook.
pub(super) fn is_selected(who: &Who, args: &TestArgs) -> bool {
    args.hook.is_empty() || args.hook.iter().any(|name| who.is_called(name))
}

pub(crate) fn unknown_hook(name: &str, known: &[&str], event: &str) -> Complaint {
    let help = match nearest_hook(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "`hookrun list` shows the hooks of each event".to_string(),
        None => format!("hooks bound to `{event}`: {}", known.join(", ")),
    };
    Complaint::with_cure(format!("no hook `{name}` for `{event}`"), help)
}
