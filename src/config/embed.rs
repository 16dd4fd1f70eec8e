//! Runners for what a configuration says, and for the surroundings that an environment describes.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::discover::Choice;
use super::env::Environment;
use super::load::{Config, complaint, refusal_for};
use super::loader::ConfigScope;
use super::problem::{Problem, Severity};
use super::trust::TrustChoice;
use crate::engine::chain::Surroundings;
use crate::engine::event::EventSpec;
use crate::engine::registry::Registry;
use crate::engine::runner::Runner;

/// Why [`RunnerBuilder::build`] gives no runner: everything that is wrong, with file and line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The errors; at least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

/// What a [`Runner`] is made of. See [`Runner::builder`].
#[derive(Debug, Default)]
pub struct RunnerBuilder {
    choice: Choice,
    environment: Option<Environment>,
    discovers: bool,
    trusted: Vec<String>,
}

impl RunnerBuilder {
    /// Adds the hooks of a folder: one with event folders (`hooks.d`), or one that holds
    /// `hookrun.toml` or `hooks.d`.
    #[must_use]
    pub fn hooks_dir(mut self, folder: impl Into<PathBuf>) -> RunnerBuilder {
        self.choice.explicit.push(folder.into());
        self
    }

    /// Adds the hooks of the system, of the user and of the project around the working directory,
    /// as the command line finds them. Those of the project run only if they are trusted, by
    /// `hookrun trust` or by [`trust`](RunnerBuilder::trust).
    #[must_use]
    pub fn discover(mut self) -> RunnerBuilder {
        self.discovers = true;
        self
    }

    /// Trusts the hooks of a project if they have this digest, as `hookrun trust --show` prints it.
    #[must_use]
    pub fn trust(mut self, digest: impl Into<String>) -> RunnerBuilder {
        self.trusted.push(digest.into());
        self
    }

    /// Uses this environment instead of the process's own.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> RunnerBuilder {
        self.environment = Some(environment);
        self
    }

    /// The runner. Without [`hooks_dir`](RunnerBuilder::hooks_dir) and
    /// [`discover`](RunnerBuilder::discover) it has no hooks yet; see [`Runner::register`].
    ///
    /// # Errors
    /// When the configuration has errors: a hook that cannot be read may be the one that blocks.
    /// A program that would rather go on with all gates blocked uses [`Runner::from_config`].
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
        let is_error = |problem: &&Problem| problem.severity == Severity::Error;
        let problems: Vec<Problem> = config.problems.iter().filter(is_error).cloned().collect();
        if problems.is_empty() {
            Ok(Runner::from_config(config, &env))
        } else {
            Err(ConfigError { problems })
        }
    }
}

impl Runner {
    /// Begins a runner.
    ///
    /// ```
    /// use hookrun::{Event, Hook, Runner, Verdict};
    /// use serde_json::json;
    ///
    /// let runner = Runner::builder().build()?;
    /// runner.register(Hook::function("no-prod", "tool.pre", |_| Verdict::block("not today")))?;
    /// let event = Event::tool_pre("bash", json!({ "command": "ls" })).build()?;
    /// assert_eq!(runner.handle(&event).permit().unwrap_err().reason, "not today");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> RunnerBuilder {
        RunnerBuilder::default()
    }

    /// A runner for what `config` says, in the surroundings that `env` describes. While the
    /// configuration has errors, every gate is blocked.
    pub fn from_config(config: Config, env: &Environment) -> Runner {
        let broken = config.refusal();
        let is_error = |problem: &Problem| problem.severity == Severity::Error;
        let mistakes: Vec<Problem> = config.problems.into_iter().filter(is_error).collect();
        let registry = Registry::loaded(config.hooks, config.catalog);
        let seals = config.trust.seals;
        let broken_seal = move || {
            let seal = seals.iter().find(|seal| seal.is_broken())?;
            Some(seal.complaint())
        };
        let runner = Runner::new(registry, env.surroundings(config.project));
        let runner = runner.sealed(Arc::new(broken_seal));
        let Some(reason) = broken else { return runner };
        let for_event = move |spec: &EventSpec| {
            let about = mistakes.iter().filter(|mistake| mistake.may_be_of(spec));
            complaint(about).map(|complaint| refusal_for(&complaint))
        };
        runner.broken_for(reason, Arc::new(for_event))
    }

    /// A runner for hooks that a program registers by itself, in the surroundings that `env`
    /// describes; the project is its working directory. No configuration is read.
    pub fn embedded(registry: Registry, env: &Environment) -> Runner {
        Runner::new(registry, env.surroundings(env.cwd.clone()))
    }

    /// A runner for other hooks in other surroundings, with the same keeper, threads and abort: it
    /// may decide at the same time as this one. The mark of its environment
    /// ([`Environment::run_id`]) must be its own, and begin with this one's and a dot; what its
    /// hooks leave behind is then ended while those of other runners still run.
    #[must_use]
    pub fn elsewhere(&self, registry: Registry, env: &Environment, project: PathBuf) -> Runner {
        self.moved(registry, env.surroundings(project))
    }
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
