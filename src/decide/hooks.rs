//! Loaded hooks with their runner, used by all doors.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::trust::TrustChoice;
use crate::config::{Choice, Config, ConfigScope, Environment, Problem};
use crate::config::{block_reason, complaint_of};
use crate::engine::chain::Surroundings;
use crate::engine::complaint::{self, Complaint};
use crate::engine::event::EventSpec;
use crate::engine::exec::{Callback, OwnProgram};
use crate::engine::registry::Registry;
use crate::engine::runner::{Broken, Runner};

const ANY: &str = "any";

/// Maximum nesting of hookrun runs. A hook set can be a hook of another one, but a hook that runs
/// itself would never end.
const DEEPEST: u32 = 8;

/// Fails if hookrun is nested too deeply.
pub fn check_depth(env: &Environment) -> Result<(), Complaint> {
    if env.depth <= DEEPEST {
        return Ok(());
    }
    let cause = format!("hookrun calls itself: more than {DEEPEST} runs are nested");
    let cure = "remove the hook that runs hookrun with the same settings";
    Err(Complaint::with_cure(cause, cure))
}

#[derive(Debug)]
pub struct LoadedHooks {
    pub config: Config,
    pub runner: Runner,
}

impl LoadedHooks {
    /// Creates the runner. `equip` adds the program's facilities to it.
    pub fn new(
        mut config: Config,
        env: &Environment,
        equip: impl FnOnce(Runner) -> Runner,
    ) -> LoadedHooks {
        let runner = equip(Runner::of_config(&mut config, env));
        LoadedHooks { config, runner }
    }

    /// Returns a message if no hook is bound to an event.
    pub fn hint_of_none(&self, event: &str) -> Option<String> {
        if !self.runnable(event).is_empty() {
            return None;
        }
        Some(format!("no hook runs for {event}; {}\n", self.places()))
    }

    /// Fails unless all required hooks are bound to the event and may run.
    pub fn require(&self, required: &[String], event: &str) -> Result<(), Complaint> {
        if required.is_empty() {
            return Ok(());
        }
        let bound = self.runnable(event);
        for name in required {
            if name == ANY && bound.is_empty() {
                let cause = format!("no hook runs for {event}, but one is required");
                return Err(Complaint::with_cure(cause, self.places()));
            }
            if name == ANY || bound.contains(name) {
                continue;
            }
            let all = self.runner.registry().bound(event);
            if all.iter().any(|hook| hook.name == *name) {
                let cause = format!("the hook `{name}` is required, but cannot run for {event}");
                return Err(Complaint::with_cure(cause, "`hookrun list` shows why"));
            }
            let cause = format!("the hook `{name}` is required, but is not bound to {event}");
            let nearest = nearest_hook(name, bound.iter().map(String::as_str));
            let cure = complaint::did_you_mean(nearest, || self.places());
            return Err(Complaint::with_cure(cause, cure));
        }
        Ok(())
    }

    fn places(&self) -> String {
        let layers = self.config.layers.iter();
        let folders: Vec<String> = layers
            .map(|layer| layer.folder.display().to_string())
            .collect();
        if folders.is_empty() {
            return "`hookrun doctor` shows where hookrun looks for hooks".to_string();
        }
        format!("hookrun looked in {}", folders.join(", "))
    }

    fn runnable(&self, event: &str) -> Vec<String> {
        let bound = self.runner.registry().bound(event);
        let runnable = bound.iter().filter(|hook| hook.is_on());
        runnable.map(|hook| hook.name.clone()).collect()
    }
}

/// Finds the hook meant by an unknown name: with another extension or a number prefix, or spelled
/// almost alike.
pub fn nearest_hook<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let names: Vec<&str> = names.collect();
    for known in &names {
        let stem = known.rsplit_once('.').map_or(*known, |(stem, _)| stem);
        let numberless = stem
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches(['-', '_']);
        if name == stem || name == numberless {
            return Some(*known);
        }
    }
    complaint::nearest(name, names)
}

/// Errors in the configuration, with file and line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

/// Configures a [`Runner`]. See [`Runner::builder`].
#[derive(Debug, Default)]
pub struct RunnerBuilder {
    choice: Choice,
    environment: Option<Environment>,
    discovers: bool,
    trusted: Vec<String>,
}

impl RunnerBuilder {
    /// Adds the hooks of a folder with event folders (`hooks.d`), `hookrun.toml` or `hooks.d`.
    #[must_use]
    pub fn hooks_dir(mut self, folder: impl Into<PathBuf>) -> RunnerBuilder {
        self.choice.explicit.push(folder.into());
        self
    }

    /// Adds the hooks that the command line finds: of the system, the user, and the project of the
    /// working directory. Project hooks run only if trusted, by `hookrun trust` or
    /// [`trust`](RunnerBuilder::trust).
    #[must_use]
    pub fn discover(mut self) -> RunnerBuilder {
        self.discovers = true;
        self
    }

    /// Trusts project hooks with this digest, as printed by `hookrun trust --show`.
    #[must_use]
    pub fn trust(mut self, digest: impl Into<String>) -> RunnerBuilder {
        self.trusted.push(digest.into());
        self
    }

    /// Sets the environment; the default is the process's.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> RunnerBuilder {
        self.environment = Some(environment);
        self
    }

    /// Creates the runner. Without [`hooks_dir`](RunnerBuilder::hooks_dir) and
    /// [`discover`](RunnerBuilder::discover) it has no hooks; see [`Runner::register`].
    ///
    /// # Errors
    /// If the configuration has errors: an unreadable hook may be one that blocks.
    /// [`Runner::from_config`] returns a runner that blocks all gates instead.
    pub fn build(mut self) -> Result<Runner, ConfigError> {
        let env = self.environment.unwrap_or_else(Environment::capture);
        if !self.discovers && self.choice.explicit.is_empty() {
            return Ok(Runner::embedded(Registry::default(), &env));
        }
        self.choice.discover = self.discovers;
        self.choice.trust = Some(TrustChoice::Required {
            digests: self.trusted,
        });
        let config = Config::load(&self.choice, &env, ConfigScope::All);
        let problems = errors(&config);
        if problems.is_empty() {
            Ok(Runner::from_config(config, &env))
        } else {
            Err(ConfigError { problems })
        }
    }
}

impl Runner {
    /// Returns a builder.
    ///
    /// ```
    /// use hookrun::{Event, Hook, Runner, Verdict};
    /// use serde_json::json;
    ///
    /// let runner = Runner::builder().build()?;
    /// runner.register(Hook::function("no-prod", "tool.pre", |_| Verdict::block("not today")))?;
    /// let event = Event::tool_pre("bash", json!({ "command": "ls" }))?;
    /// assert_eq!(runner.handle(&event).permit().unwrap_err().reason, "not today");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> RunnerBuilder {
        RunnerBuilder::default()
    }

    /// Creates a runner for `config` in the environment `env`. Configuration errors block every
    /// gate.
    pub fn from_config(mut config: Config, env: &Environment) -> Runner {
        Runner::of_config(&mut config, env)
    }

    /// Creates a runner, and moves the hooks of `config` into it.
    fn of_config(config: &mut Config, env: &Environment) -> Runner {
        let hooks = std::mem::take(&mut config.hooks);
        let registry = Registry::loaded(hooks, config.catalog.clone());
        let mut runner = Runner::new(registry, env.surroundings(config.project.clone()));
        if !config.trust.seals.is_empty() {
            runner.engine.sealed = Some(Callback(Arc::new(config.trust.seals.clone())));
        }
        let Some(reason) = config.block_reason() else {
            return runner;
        };
        let mistakes = errors(config);
        runner.broken = Some(Broken {
            reason,
            for_event: Callback(Arc::new(move |spec: &EventSpec| {
                let about = mistakes.iter().filter(|mistake| mistake.may_be_of(spec));
                Some(block_reason(&complaint_of(about)?))
            })),
        });
        runner
    }

    /// Disables warm starts, since this program exits soon.
    #[must_use]
    pub(crate) fn one_shot(mut self) -> Runner {
        self.engine.is_one_shot = true;
        self
    }

    /// Creates a runner for a program that exits soon, with all guards of our binary.
    pub(crate) fn one_shot_of(config: Config, env: &Environment) -> Runner {
        Runner::from_config(config, env)
            .with_program(env)
            .one_shot()
    }

    /// Uses our binary for the keeper and other guards.
    pub(crate) fn with_program(self, env: &Environment) -> Runner {
        self.program(env.image().map(|path| OwnProgram {
            path,
            mark: env.run_id.clone(),
        }))
    }

    /// Creates a runner for hooks registered in code, in the environment `env`; the project is its
    /// working directory. Reads no configuration.
    pub fn embedded(registry: Registry, env: &Environment) -> Runner {
        Runner::new(registry, env.surroundings(env.cwd.clone()))
    }

    /// Creates a runner for other hooks and surroundings, with the same keeper, threads and abort.
    /// Both may run in parallel: the mark of `env` ([`Environment::run_id`]) must be unique and
    /// extend this runner's with a dot, to kill leftover processes separately.
    #[must_use]
    pub(crate) fn elsewhere(
        &self,
        registry: Registry,
        env: &Environment,
        project: PathBuf,
    ) -> Runner {
        let surroundings = env.surroundings(project);
        let mut other = self.clone();
        other.registry = registry;
        other.engine.mark = Some(surroundings.run_id.clone());
        other.surroundings = Arc::new(surroundings);
        other
    }
}

fn errors(config: &Config) -> Vec<Problem> {
    let errors = config.problems.iter().filter(|problem| problem.is_error());
    errors.cloned().collect()
}

impl Environment {
    fn surroundings(&self, project: PathBuf) -> Surroundings {
        Surroundings {
            cwd: self.cwd.clone(),
            project,
            search: self.search.clone(),
            home: self.home.clone(),
            state: self.state_root(),
            inherited: self.inherited.clone(),
            depth: self.depth,
            variables: self.variables.clone(),
            run_id: self.run_id.clone(),
            traceparent: self.traceparent.clone(),
        }
    }
}
