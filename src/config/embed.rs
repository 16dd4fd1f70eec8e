//! Runners for what a configuration says, and for the surroundings that an environment describes.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Config, Environment, Problem, Severity, complaint, refusal_for};
use crate::engine::chain::Surroundings;
use crate::engine::event::EventSpec;
use crate::engine::registry::Registry;
use crate::engine::runner::Runner;

impl Runner {
    /// A runner for what `config` says, in the surroundings that `env` describes. While the
    /// configuration has errors, every gate is blocked.
    pub fn from_config(config: Config, env: &Environment) -> Runner {
        let broken = config.refusal();
        let is_error = |problem: &Problem| problem.severity == Severity::Error;
        let mistakes: Vec<Problem> = config.problems.into_iter().filter(is_error).collect();
        let registry = Registry::loaded(config.hooks, config.catalog);
        let runner = Runner::new(registry, env.surroundings(config.project));
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
    /// What it says about the surroundings of hooks, around this project.
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
        }
    }
}
