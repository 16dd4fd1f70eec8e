//! Missing hooks: without hooks everything is allowed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::discover::{self, DROP_INS};
use crate::config::{Choice, Config, Environment, Problem};
use crate::engine::complaint::Complaint;
use crate::engine::event::catalog;
use crate::engine::registry::Registry;
use crate::engine::spelling;

use crate::cli::exit::Result;

/// `--require any` wants any hook at all.
const ANY: &str = "any";

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

    /// Says that no hook is bound to an event; `None` if one is.
    pub(crate) fn nobody_bound(&self, registry: &Registry, event: &str) -> Option<String> {
        nobody_bound(registry, event, || self.listed())
    }

    /// Fails unless every required hook is bound to the event and may run.
    pub(crate) fn require(
        &self,
        required: &[String],
        registry: &Registry,
        event: &str,
    ) -> Result<()> {
        let bound = if required.is_empty() {
            Vec::new()
        } else {
            runnable(registry, event)
        };
        let is_there = |name: &String| match name.as_str() {
            ANY => !bound.is_empty(),
            name => bound.iter().any(|known| known == name),
        };
        let Some(missing) = required.iter().find(|name| !is_there(name)) else {
            return Ok(());
        };
        let cause = match missing.as_str() {
            ANY => format!("no hook is bound to {event}, and one is required"),
            name => format!("the hook `{name}` is required, and is not bound to {event}"),
        };
        let nearest = meant(missing, bound.iter().map(String::as_str));
        let meant = nearest
            .map(|name| format!("did you mean `{name}`? "))
            .unwrap_or_default();
        Err(Complaint::with_cure(
            cause,
            format!("{meant}looked in {}", self.listed()),
        ))
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

/// As [`SearchedPlaces::nobody_bound`], with the places as they are `listed`.
pub(crate) fn nobody_bound(
    registry: &Registry,
    event: &str,
    listed: impl FnOnce() -> String,
) -> Option<String> {
    let is_bound = !runnable(registry, event).is_empty();
    (!is_bound).then(|| format!("no hook is bound to {event}; looked in {}\n", listed()))
}

/// The hook that an unknown name means: one with another ending or a number before it, or one that
/// is spelled almost the same.
pub(crate) fn meant<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let names: Vec<&str> = names.collect();
    let bare = |known: &'n str| {
        let stem = known.rsplit_once('.').map_or(known, |(stem, _)| stem);
        [
            stem,
            stem.trim_start_matches(|c: char| c.is_ascii_digit())
                .trim_start_matches(['-', '_']),
        ]
    };
    let of_file = names.iter().find(|known| bare(known).contains(&name));
    of_file
        .copied()
        .or_else(|| spelling::nearest(name, names.iter().copied()))
}

fn runnable(registry: &Registry, event: &str) -> Vec<String> {
    let bound = registry.bound(event);
    let may_run = bound
        .iter()
        .filter(|hook| hook.enabled && hook.idle.is_none());
    may_run.map(|hook| hook.name.clone()).collect()
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
