//! Where hooks are looked for, and folders there that are misnamed: without hooks everything is
//! allowed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::discover::{self, DROP_INS};
use crate::config::{Choice, Config, Environment, Problem};
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;

pub(crate) struct SearchedPlaces<'a> {
    pub(crate) choice: &'a Choice,
    pub(crate) env: &'a Environment,
}

impl SearchedPlaces<'_> {
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        let SearchedPlaces { choice, env } = self;
        let named = choice.explicit.iter().chain(&choice.settings);
        let mut places: Vec<PathBuf> = named.map(|path| env.cwd.join(path)).collect();
        if places.is_empty() || choice.discover {
            places.extend(discover::places(choice, env));
        }
        places
    }

    pub(crate) fn listed(&self) -> String {
        let shown = self
            .places()
            .into_iter()
            .map(|place| place.display().to_string());
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Says that there are no hooks at all, and which folders may be misnamed.
    pub(crate) fn problems(&self, config: &Config) -> Vec<Problem> {
        let mut problems = Vec::new();
        if config.hooks.is_empty() && !config.has_errors() {
            let cure =
                "put an executable file into hooks.d/EVENT/, or name the folder with --hooks";
            let cause = format!("no hooks were found; looked in {}", self.listed());
            let place = self.places().into_iter().next().unwrap_or_default();
            problems.push(Complaint::with_cure(cause, cure).warning(&place, None));
        }
        problems.extend(self.near_misses());
        problems
    }

    pub(crate) fn near_misses(&self) -> Vec<Problem> {
        self.places()
            .iter()
            .flat_map(|place| near_misses(place))
            .collect()
    }
}

/// Folders in `place` that hold hooks by event, but have another name than hooks.d.
fn near_misses(place: &Path) -> Vec<Problem> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let is_near = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let plain = name.trim_start_matches('.').to_ascii_lowercase();
        plain.starts_with("hook") && name != DROP_INS
    };
    let holds_event = |path: &PathBuf| {
        let inside = fs::read_dir(path).into_iter().flatten().flatten();
        let mut names = inside.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.any(|name| name.contains('.') && catalog::find(&name).is_some())
    };
    let found = entries
        .map(|entry| entry.path())
        .filter(is_near)
        .filter(holds_event);
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    let problem = |path: PathBuf| {
        let cause = format!("nothing in it runs: hooks are looked for in {DROP_INS}");
        Complaint::with_cure(cause, format!("rename it to {DROP_INS}")).warning(&path, None)
    };
    found.into_iter().map(problem).collect()
}
