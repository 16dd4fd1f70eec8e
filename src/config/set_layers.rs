//! The layers of shared sets, each of its declaring layer's kind and before it; and the store,
//! which has a folder for each content, named by digest.

use std::path::{Path, PathBuf};

use super::env::Environment;
use super::layer::{Layer, layer_in};
use super::loader::ConfigLoader;
use super::manifest::{self, LoadedLayer};
use super::problem::Problem;
use super::sets::{DeclaredSet, LOCK, Lock, LockedSet};
use super::trust::{FileList, HookFiles};
use crate::engine::complaint::Complaint;
use crate::engine::hook::{Handler, Hook, LayerKind};

#[derive(Debug, Clone)]
pub struct UsedSet {
    pub(crate) layer: LayerKind,
    pub(crate) file: PathBuf,
    pub(crate) declared: DeclaredSet,
    pub(crate) locked: Option<LockedSet>,
    pub(crate) folder: Result<PathBuf, String>,
}

/// Adds the layers of the sets in `manifests`; an unusable set is a problem.
pub(super) fn add(
    layers: &mut Vec<LoadedLayer>,
    env: &Environment,
    problems: &mut Vec<Problem>,
) -> Vec<UsedSet> {
    let mut used = Vec::new();
    for loaded in std::mem::take(layers) {
        let LoadedLayer { layer, files } = &loaded;
        for (file, manifest) in files {
            for declared in &manifest.sets {
                let locked = find_locked(file, declared);
                let folder = match &locked {
                    Ok(locked) => in_store(locked, env),
                    Err(cause) => Err(cause.clone()),
                };
                let folder_of_set = folder.clone();
                match folder_of_set.and_then(|it| open(layer, &it, &declared.name, problems)) {
                    Ok(set) => layers.push(set),
                    Err(cause) => {
                        problems.push(Complaint::new(cause).in_file(file, Some(declared.at)));
                    }
                }
                used.push(UsedSet {
                    layer: layer.kind,
                    file: file.clone(),
                    declared: declared.clone(),
                    locked: locked.ok(),
                    folder,
                });
            }
        }
        layers.push(loaded);
    }
    used
}

fn find_locked(file: &Path, declared: &DeclaredSet) -> Result<LockedSet, String> {
    let name = &declared.name;
    let update = format!("run `hookrun sets update {name}`");
    let mut problems = Vec::new();
    let lock = Lock::load(&file.with_file_name(LOCK), &mut problems);
    if let Some(problem) = problems.first() {
        let place = problem.place();
        let cause = &problem.cause;
        let cure = problem.cure.as_ref().unwrap_or(&update);
        let fault = format!("the set `{name}` cannot be looked up");
        return Err(format!("{fault}: {place}: {cause}; {cure}"));
    }
    let fault = match lock.find(name) {
        None => format!("the set `{name}` is not in {LOCK}"),
        Some(locked) if locked.git != declared.git => {
            format!("{LOCK} has a different `git` for the set `{name}`")
        }
        Some(locked) if locked.rev != declared.rev => {
            format!("{LOCK} has a different `rev` for the set `{name}`")
        }
        Some(locked) if declared.is_signed && !locked.is_signed => {
            format!("{LOCK} does not mark the set `{name}` as signed")
        }
        Some(locked) => return Ok(locked.clone()),
    };
    Err(format!("{fault}; {update}"))
}

fn in_store(locked: &LockedSet, env: &Environment) -> Result<PathBuf, String> {
    let name = &locked.name;
    let Some(store) = &env.set_store else {
        let why = env.why_no_home();
        return Err(format!(
            "the set `{name}` must be stored below the home folder, but {why}"
        ));
    };
    let folder = store.join(&locked.tree);
    let fault = match digest_in(&folder) {
        _ if !folder.is_dir() => format!("the set `{name}` is not on this machine yet"),
        Ok(digest) if digest == locked.tree => return Ok(folder),
        Ok(_) => format!("files of the set `{name}` were changed in the store"),
        Err(cause) => format!("the set `{name}` cannot be checked: {cause}"),
    };
    Err(format!("{fault}; run `hookrun sets verify`"))
}

const SHA256: &str = "sha256:";

/// The digest of files in path order: 64 hexadecimal digits.
pub(crate) fn digest_of(files: &HookFiles) -> String {
    files.digest().trim_start_matches(SHA256).to_string()
}

/// The digest of a set in the store.
///
/// # Errors
/// The file that cannot be read.
pub(crate) fn digest_in(folder: &Path) -> Result<String, String> {
    let list = FileList::exactly(folder).map_err(|error| error.to_string())?;
    let files = list.read().map_err(|error| error.to_string())?;
    Ok(digest_of(&files))
}

/// The layer of a set in `folder` that `layer` declares.
fn open(
    layer: &Layer,
    folder: &Path,
    name: &str,
    problems: &mut Vec<Problem>,
) -> Result<LoadedLayer, String> {
    let Some(mut set) = layer_in(layer.kind, folder, problems) else {
        return Err(format!(
            "the set `{name}` has neither hooks.d nor hookrun.toml in its root"
        ));
    };
    set.set = Some(name.to_string());
    set.declared_in = Some(layer.folder.clone());
    set.member.clone_from(&layer.member);
    let mut files = manifest::read_files(&set.manifests, problems);
    for (file, manifest) in &mut files {
        if let Some((what, at)) = manifest.own_settings().first() {
            let cause = format!("the set `{name}` contains `{what}`, which a set cannot have");
            let cure = format!(
                "remove `{what}` from the set's repository; if you need it, write it in your own \
                 hookrun.toml"
            );
            problems.push(Complaint::with_cure(cause, cure).in_file(file, Some(*at)));
        }
        manifest.sets.clear();
    }
    Ok(LoadedLayer { layer: set, files })
}

/// Marks the hooks from `first` on with their set; they may not run files outside it.
pub(super) fn bind(loader: &mut ConfigLoader<'_>, first: usize, set: &str) {
    for hook in &mut loader.hooks[first..] {
        hook.source.set = Some(set.to_string());
        if let Some(word) = outside(hook) {
            let cause = format!("`{}` uses `{word}`, which is outside its set", hook.name);
            let fault = Complaint::with_cure(cause, "move that file into the set");
            loader.problems.push(fault.in_file(&hook.source.file, None));
        }
    }
}

/// A word of the hook's command that leads out of its folder.
fn outside(hook: &Hook) -> Option<&String> {
    let Handler::Words { words, .. } = &hook.handler else {
        return None;
    };
    let mut words = words.iter();
    words.find(|word| word.split(['/', '=']).any(|part| part == ".."))
}
