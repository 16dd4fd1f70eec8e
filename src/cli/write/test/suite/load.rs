//! Reads files of cases and the hooks that they test, and checks that both fit together.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::problem::utf8;
use crate::config::{Choice, Config, ConfigScope, Environment, Position, Problem, Severity};
use crate::engine::complaint::Complaint;
use crate::engine::hook::Hook;
use crate::engine::registry::Registry;
use crate::hosts::{self, folders};
use crate::lab::report::problems::CheckedFile;
use crate::lab::scenario::{self, Case, CaseStep, Keys, PlacedValue, StepInput, Suite};
use serde_json::{Map, Value};

use super::found;
use super::selection::unknown_hook;
use super::trial::{self, Asks, Bench, CaseFile, CaseTrial, LoadedSuite};

use crate::cli::args::SourceArgs;
use crate::decide::EventRequest;

pub(super) fn load(files: &[CaseFile], source: &SourceArgs, env: &Environment) -> LoadedSuite {
    let mut loader = SuiteLoader {
        source,
        env,
        loaded: LoadedSuite::default(),
        slips: Vec::new(),
    };
    for file in files {
        if let Some(why) = file.misplaced {
            loader.loaded.passed_over.push((file.path.clone(), why));
            continue;
        }
        let text = match read(&file.path) {
            Ok(text) => text,
            Err(problem) => {
                loader.problem(*problem);
                continue;
            }
        };
        if file.is_guess && !scenario::has_cases(&text) {
            let why = "has no [[case]]";
            loader.loaded.passed_over.push((file.path.clone(), why));
            continue;
        }
        let (suite, problems) = scenario::read(&text, &file.path);
        if problems.is_empty() {
            loader.suite(&file.path, suite);
        } else {
            problems
                .into_iter()
                .for_each(|problem| loader.problem(problem));
        }
    }
    loader.loaded
}

fn read(file: &Path) -> Result<String, Box<Problem>> {
    let bytes = trial::read(file).map_err(|error| {
        let cause = format!("cannot be read: {error}");
        let wrong = Complaint::with_cure(cause, "make it a file of TOML that can be read");
        Box::new(wrong.in_file(file, None))
    })?;
    utf8(bytes).map_err(|at| {
        let wrong = Complaint::with_cure("is not UTF-8", "save it as UTF-8");
        Box::new(wrong.in_file(file, Some(at)))
    })
}

struct SuiteLoader<'l> {
    source: &'l SourceArgs,
    env: &'l Environment,
    loaded: LoadedSuite,
    /// Of the file that is being read.
    slips: Vec<ContextSlip>,
}

/// A key of a case's context that nearly matches one of the event's.
struct ContextSlip {
    key: String,
    at: Position,
    complaint: Complaint,
    /// Whether the case expects that the event is allowed.
    is_allowed: bool,
}

impl SuiteLoader<'_> {
    fn problem(&mut self, problem: Problem) {
        let checks = &mut self.loaded.checks;
        match checks.iter_mut().find(|check| check.file == problem.file) {
            Some(check) if check.problems.contains(&problem) => {}
            Some(check) => check.problems.push(problem),
            None => {
                let file = problem.file.clone();
                checks.push(CheckedFile {
                    problems: vec![problem],
                    ..CheckedFile::new(file)
                });
            }
        }
    }

    fn fault(&mut self, file: &Path, at: Position, failure: Complaint) {
        self.problem(failure.in_file(file, Some(at)));
    }

    fn suite(&mut self, file: &Path, suite: Suite) {
        let Some(choice) = self.choice(file, &suite) else {
            return;
        };
        let folder = file.parent().unwrap_or(file);
        let folder = folder
            .canonicalize()
            .unwrap_or_else(|_| folder.to_path_buf());
        let never = suite
            .never
            .into_iter()
            .map(|never| (file.to_path_buf(), never));
        self.loaded.never.extend(never);
        for case in suite.cases {
            let asks: Option<Vec<Asks>> = case
                .steps
                .iter()
                .map(|step| self.asks(file, step, &choice))
                .collect();
            self.check_sources(file, &case);
            if let Some(asks) = asks {
                let (file, folder) = (file.to_path_buf(), folder.clone());
                self.loaded.trials.push(CaseTrial {
                    file,
                    folder,
                    case,
                    asks,
                });
            }
        }
        self.report_slips(file);
    }

    /// A case that a slip blocks is worth something; that it is allowed proves nothing. But a key
    /// that is a slip in one case is one in the others as well.
    fn report_slips(&mut self, file: &Path) {
        let slips = std::mem::take(&mut self.slips);
        let counts = |key: &str| slips.iter().any(|slip| slip.is_allowed && slip.key == key);
        for slip in slips.iter().filter(|slip| counts(&slip.key)) {
            self.fault(file, slip.at, slip.complaint.clone());
        }
    }

    /// Which hooks a file tests: those of the command line, those that it names, or those around
    /// it.
    fn choice(&mut self, file: &Path, suite: &Suite) -> Option<Choice> {
        let of_file = |path: &PlacedValue<PathBuf>| file.parent().unwrap_or(file).join(&path.value);
        let mut choice = Choice {
            explicit: self
                .source
                .hooks
                .iter()
                .map(|path| self.env.cwd.join(path))
                .collect(),
            settings: self
                .source
                .settings
                .iter()
                .map(|path| self.env.cwd.join(path))
                .collect(),
            discover: self.source.discover,
            ..Choice::default()
        };
        if choice.explicit.is_empty() && choice.settings.is_empty() {
            choice.explicit = suite.hooks.iter().map(of_file).collect();
            choice.settings = suite.settings.iter().map(of_file).collect();
        }
        if choice.explicit.is_empty() && choice.settings.is_empty() {
            let Some(folder) = found::hooks_around(file) else {
                let cure = "add `hooks = \"…\"` to it, or give --hooks";
                let wrong = Complaint::with_cure("nothing says which hooks it tests", cure);
                self.problem(wrong.in_file(file, None));
                return None;
            };
            choice.explicit.push(folder);
        }
        Some(choice)
    }

    /// The hooks of `choice` as `host` has them; their mistakes are reported.
    fn bench(&mut self, choice: &Choice, host: &str) -> Arc<Bench> {
        let is_known = |bench: &&Arc<Bench>| bench.choice == *choice && bench.host == host;
        if let Some(known) = self.loaded.benches.iter().find(is_known) {
            return Arc::clone(known);
        }
        let dialect = hosts::find(host);
        let hosts = dialect
            .and_then(|dialect| folders::of(dialect.name))
            .into_iter()
            .collect();
        let asked = Choice {
            hosts,
            ..choice.clone()
        };
        let config = Config::load(&asked, self.env, ConfigScope::All).for_host(dialect);
        for problem in config
            .problems
            .iter()
            .filter(|one| one.severity == Severity::Error)
        {
            self.problem(problem.clone());
        }
        let bench = Bench {
            choice: choice.clone(),
            host: host.to_string(),
            config,
        };
        let bench = Arc::new(bench);
        self.loaded.benches.push(Arc::clone(&bench));
        bench
    }

    /// What a step asks; `None`, and a problem, if it cannot.
    fn asks(&mut self, file: &Path, step: &CaseStep, choice: &Choice) -> Option<Asks> {
        let bench = self.bench(choice, &step.host.value);
        let config = &bench.config;
        if config.has_errors() {
            // They are reported already.
            return None;
        }
        if config.hooks.is_empty() {
            let at = choice.explicit.first().or(choice.settings.first());
            let where_from = at.map(|at| at.display().to_string()).unwrap_or_default();
            let cure = "add `hooks = \"…\"` to the file of cases, or give --hooks";
            let cause = format!("there are no hooks in `{where_from}`");
            self.problem(Complaint::with_cure(cause, cure).in_file(file, None));
            return None;
        }
        let asked = EventRequest::new(&step.event.value, &step.host.value);
        if let Err(failure) = asked.check(config) {
            self.fault(file, step.event.at, failure);
            return None;
        }
        let events = asked.names(config);
        let bound: Vec<&Hook> = config
            .hooks
            .iter()
            .filter(|hook| events.contains(&hook.event))
            .collect();
        let before = self.loaded.checks.len();
        let known: Vec<&str> = bound.iter().map(|hook| hook.name.as_str()).collect();
        for (name, at) in named(step) {
            if bound.iter().any(|hook| hook.is_called(name)) {
                continue;
            }
            self.fault(file, at, unknown_hook(name, &known, &step.event.value));
        }
        self.check_context(file, step, &events, config);
        let is_picked = |hook: &&Hook| {
            step.hooks.is_empty() || step.hooks.iter().any(|name| hook.is_called(&name.value))
        };
        let picked = bound.into_iter().filter(is_picked).cloned();
        let registry = Registry::loaded(picked, config.catalog.clone());
        (self.loaded.checks.len() == before).then(|| Asks {
            registry,
            events,
            bench: Arc::clone(&bench),
        })
    }

    /// Files that a case copies or sends must be there.
    fn check_sources(&mut self, file: &Path, case: &Case) {
        let folder = file.parent().unwrap_or(file);
        for (path, at) in trial::sources(case) {
            let cause = match folder.join(path).metadata() {
                Ok(meta) if meta.is_file() => continue,
                Ok(_) => format!("`{}` is not a file", path.display()),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    format!("there is no file `{}`", path.display())
                }
                Err(error) => format!("cannot look at `{}`: {error}", path.display()),
            };
            let help = "its path is relative to the file of cases";
            self.fault(file, at, Complaint::with_cure(cause, help));
        }
    }

    /// A context must be one, and its keys those of the event, or clearly others.
    fn check_context(&mut self, file: &Path, step: &CaseStep, events: &[String], config: &Config) {
        let (context, at) = match &step.input {
            StepInput::Nothing | StepInput::Text(_) => return,
            StepInput::Context(value) => (value.value.as_object().cloned(), value.at),
            StepInput::Json(text) => (serde_json::from_str(&text.value).ok(), text.at),
            StepInput::File(path) => {
                let source = file.parent().unwrap_or(file).join(&path.value);
                // One that cannot be read is reported where it is named.
                let Ok(bytes) = trial::read(&source) else {
                    return;
                };
                (self.context_in(&source, &bytes), path.at)
            }
        };
        let is_allowed = step.expect.decision.value == "allow";
        let Some(context) = context else { return };
        let bindings = hosts::find(&step.host.value);
        let bindings = bindings.map(|dialect| dialect.called(&step.event.value));
        let specs = config
            .catalog
            .iter()
            .filter(|spec| events.contains(&spec.name.to_string()));
        let keys = Keys::of(specs, &bindings.unwrap_or_default());
        for (key, meant) in keys.slips(&context) {
            let cause = format!("`{}` has no key `{key}`", step.event.value);
            let help = format!("did you mean `{meant}`? To send it as written, use `stdin`");
            let complaint = Complaint::with_cure(cause, help);
            self.slips.push(ContextSlip {
                key,
                at,
                complaint,
                is_allowed,
            });
        }
    }

    /// The context in a file; a mistake of that file where there is none.
    fn context_in(&mut self, source: &Path, bytes: &[u8]) -> Option<Map<String, Value>> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match serde_json::from_slice(text) {
            Ok(context) => Some(context),
            Err(error) => {
                let at = Position {
                    line: error.line().max(1),
                    column: error.column().max(1),
                };
                let cause = format!("is not a JSON object: {error}");
                let wrong =
                    Complaint::with_cure(cause, "correct it; to send other text, use `stdin`");
                self.problem(wrong.in_file(source, Some(at)));
                None
            }
        }
    }
}

fn named(step: &CaseStep) -> Vec<(&str, Position)> {
    let mut names: Vec<(&str, Position)> = step
        .hooks
        .iter()
        .map(|hook| (hook.value.as_str(), hook.at))
        .collect();
    let expect = &step.expect;
    let lists = [
        expect.by.as_ref(),
        expect.asked.as_ref(),
        Some(&expect.failed),
    ];
    for list in lists.into_iter().flatten() {
        names.extend(list.value.iter().map(|name| (name.as_str(), list.at)));
    }
    // hookrun itself can fail as well.
    names.retain(|(name, _)| *name != "hookrun");
    names
}
