//! The layers of declared sets, each of the kind of the layer that declares it and before it.

use std::path::{Path, PathBuf};

use super::env::Environment;
use super::layer::{Layer, layer_in};
use super::loader::{ConfigLoader, ConfigScope};
use super::manifest::{self, Manifest};
use super::problem::Problem;
use super::reader;
use super::set_store;
use super::sets::declared::DeclaredSet;
use super::sets::hookset::{HOOKSET, HookSet};
use super::sets::lock::{LOCK, Lock, LockedSet};
use super::trust::TrustStore;
use crate::engine::complaint::Complaint;
use crate::engine::exec::command;
use crate::engine::hook::{Handler, Hook, LayerKind};

/// The files of one layer, each with what it says.
type LayerFiles = Vec<(PathBuf, Manifest)>;

/// A set that a layer declares.
#[derive(Debug, Clone)]
pub struct UsedSet {
    pub(crate) layer: LayerKind,
    /// The file that declares it.
    pub(crate) file: PathBuf,
    pub(crate) declared: DeclaredSet,
    /// What the lock next to the file says of it.
    pub(crate) locked: Option<LockedSet>,
    /// Its folder in the store, or why it cannot be used.
    pub(crate) folder: Result<PathBuf, String>,
}

/// Adds the layers of the sets that `manifests` declare. A set that cannot be used is a problem.
pub(super) fn add(
    layers: &mut Vec<Layer>,
    manifests: &mut Vec<LayerFiles>,
    env: &Environment,
    problems: &mut Vec<Problem>,
) -> Vec<UsedSet> {
    let mut used = Vec::new();
    let is_declared = |files: &LayerFiles| files.iter().any(|(_, one)| !one.sets.is_empty());
    if !manifests.iter().any(is_declared) {
        return used;
    }
    let own = std::mem::take(layers)
        .into_iter()
        .zip(std::mem::take(manifests));
    for (layer, files) in own {
        for (file, declared) in declarations(&files) {
            let locked = find_locked(file, declared);
            let folder = match (&layer.set, &locked) {
                (Some(_), _) => Err("a set declares no other sets".to_string()),
                (None, Err(why)) => Err(why.clone()),
                (None, Ok(locked)) => in_store(locked, env),
            };
            let opened = folder.clone().and_then(|folder| {
                let (set, files) = open(&layer, &folder, &declared.name, problems)?;
                layers.push(set);
                manifests.push(files);
                Ok(())
            });
            if let Err(cause) = opened {
                problems.push(Complaint::new(cause).in_file(file, Some(declared.at)));
            }
            let file = file.to_path_buf();
            let declared = declared.clone();
            let locked = locked.ok();
            used.push(UsedSet {
                layer: layer.kind,
                file,
                declared,
                locked,
                folder,
            });
        }
        layers.push(layer);
        manifests.push(files);
    }
    used
}

fn declarations(files: &LayerFiles) -> impl Iterator<Item = (&Path, &DeclaredSet)> {
    files
        .iter()
        .flat_map(|(file, one)| one.sets.iter().map(move |set| (file.as_path(), set)))
}

/// What the lock next to `file` says of a set.
fn find_locked(file: &Path, declared: &DeclaredSet) -> Result<LockedSet, String> {
    let DeclaredSet { name, source, .. } = declared;
    let update = format!("run `hookrun sets update {name}`");
    let mut problems = Vec::new();
    let place = file.with_file_name(LOCK);
    let lock = Lock::load(&place, &mut problems);
    if let Some(problem) = problems.first() {
        let place = problem.place();
        let cause = &problem.cause;
        return Err(format!(
            "the set `{name}` is not locked: {place}: {cause}; {update}"
        ));
    }
    match lock.find(name) {
        None => Err(format!("the set `{name}` is not in {LOCK}; {update}")),
        Some(locked)
            if locked.source != source.locked() || locked.rev.as_deref() != source.rev() =>
        {
            Err(format!(
                "{LOCK} has another source or `rev` of the set `{name}`; {update}"
            ))
        }
        Some(locked) if declared.is_signed && !locked.is_signed => Err(format!(
            "{LOCK} does not say that the set `{name}` is signed; {update}"
        )),
        Some(locked) => Ok(locked.clone()),
    }
}

/// The folder of the store with the files of a set.
fn in_store(locked: &LockedSet, env: &Environment) -> Result<PathBuf, String> {
    let name = &locked.name;
    let verify = "run `hookrun sets verify`";
    let Some(store) = &env.set_store else {
        return Err(format!(
            "the set `{name}` is kept below the home: {}",
            env.why_no_home()
        ));
    };
    let folder = set_store::folder_of(store, &locked.tree);
    if !folder.is_dir() {
        return Err(format!(
            "the set `{name}` is not on this machine yet; {verify}"
        ));
    }
    match set_store::digest_in(&folder, TrustStore::of(env).as_ref()) {
        Ok(digest) if digest == locked.tree => Ok(folder),
        Ok(_) => Err(format!(
            "files of the set `{name}` were changed in the store; {verify}"
        )),
        Err(cause) => Err(format!("the set `{name}` in the store: {cause}; {verify}")),
    }
}

/// The layer of a set in `folder` that `layer` declares, and what its files say.
fn open(
    layer: &Layer,
    folder: &Path,
    name: &str,
    problems: &mut Vec<Problem>,
) -> Result<(Layer, LayerFiles), String> {
    let Some(mut found) = layer_in(layer.kind, folder, problems) else {
        return Err(format!("the set `{name}` has no hooks"));
    };
    let Some(set) = &mut found.set else {
        return Err(format!("the set `{name}` is none: it has no {HOOKSET}"));
    };
    set.name = name.to_string();
    found.declared_in = Some(layer.folder.clone());
    let mut files = Vec::new();
    for file in &found.manifests {
        let manifest = reader::load(file, problems, manifest::read);
        if let Some((what, at)) = manifest.own_settings().first() {
            let cause = format!("a set cannot say `{what}`");
            let cure = "say it in your own hookrun.toml";
            problems.push(Complaint::with_cure(cause, cure).in_file(file, Some(*at)));
        }
        files.push((
            file.clone(),
            Manifest {
                sets: Vec::new(),
                ..manifest
            },
        ));
    }
    Ok((found, files))
}

/// Binds the hooks from `first` on to their set: they are shown with its name, may touch no more
/// than it needs, and run no file outside of it.
pub(super) fn bind(
    loader: &mut ConfigLoader<'_>,
    first: usize,
    set: &HookSet,
    layer: &Layer,
    env: &Environment,
) {
    let mut problems = Vec::new();
    for hook in &mut loader.hooks[first..] {
        hook.source.set = Some(set.name.clone());
        if let Some(word) = outside(hook) {
            let cause = format!("`{}` runs `{word}`, which is outside of its set", hook.name);
            problems.push(Complaint::new(cause).in_file(&hook.source.file, None));
        }
        let Some(needs) = &set.needs else { continue };
        let own = hook.sandbox.clone();
        let bound = own
            .as_ref()
            .map_or_else(|| needs.clone(), |own| own.within(needs));
        if let Some(own) = own.filter(|own| !own.write.is_empty() && bound.write.is_empty()) {
            let cause = format!(
                "`{}` may not write {}: its set does not need it",
                hook.name,
                own.write.join(", ")
            );
            let cure = format!("add it to `needs.write` in {HOOKSET}");
            problems.push(Complaint::with_cure(cause, cure).warning(&hook.source.file, None));
        }
        hook.sandbox = Some(bound);
    }
    if loader.scope == ConfigScope::All {
        problems.extend(
            set.programs
                .iter()
                .filter_map(|program| missing(program, layer, env)),
        );
    }
    loader.problems.append(&mut problems);
}

/// A word of the hook's command that leads out of the folder that it is in.
fn outside(hook: &Hook) -> Option<&String> {
    let Handler::Words { words, .. } = &hook.handler else {
        return None;
    };
    words
        .iter()
        .find(|word| word.split(['/', '=']).any(|part| part == ".."))
}

/// A program that the set needs and that is not found.
fn missing(program: &str, layer: &Layer, env: &Environment) -> Option<Problem> {
    let words = vec![program.to_string()];
    let handler = Handler::Words {
        words,
        base: layer.folder.clone(),
    };
    let problem = command::resolve(&handler, env.search.as_deref()).err()?;
    let cause = format!("its hooks start `{program}`: {}", problem.problem);
    Some(Complaint::new(cause).warning(&layer.folder.join(HOOKSET), None))
}
