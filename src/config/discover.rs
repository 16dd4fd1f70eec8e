//! Finds the layers of configuration, and the project with its root.
//!
//! The project is the host's, not the working directory of an agent, which may `cd` anywhere.
//! Search starts from the opened roots and hookrun's working directory, then from the event's
//! working directory if that is inside these or they have no hooks. Every folder upwards with hooks
//! counts. Search stops before the home folder, a world-writable folder (`/tmp`) and the file
//! system's root, but neither where it starts nor in a home folder or root with a git repository.
//! If there are no hooks and no git repository, the nearest folder beyond counts.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::env::Environment;
pub use super::layer::{DROP_INS, HIDDEN, MANIFEST, SUITES, is_passed_over};
use super::layer::{Layer, has_folder, is_there, layer_in};
use super::problem::Problem;
use super::trust::TrustChoice;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::engine::hook::LayerKind;
use crate::hosts::{self, HostFolders};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    pub explicit: Vec<PathBuf>,
    /// Host settings files from `--settings`, a layer each; `claude:FILE` names the host.
    pub settings: Vec<PathBuf>,
    /// Also search the other layers (`--discover`).
    pub discover: bool,
    /// Folders in the event: opened roots are the project.
    pub host_folders: HostFolders,
    /// Whether project hooks need trust; `None` if the user runs them directly.
    pub trust: Option<TrustChoice>,
}

impl Choice {
    /// Adds the folders that an event of this dialect names.
    #[must_use]
    pub fn with_folders_of(mut self, dialect: &str, context: Option<&Context>) -> Choice {
        if let Some(context) = context {
            let HostFolders { roots, cwd } = HostFolders::read(dialect, context);
            self.host_folders.roots.extend(roots);
            self.host_folders.cwd = cwd;
        }
        self
    }
}

pub(super) struct DiscoveredLayers {
    pub(super) layers: Vec<Layer>,
    pub(super) project: PathBuf,
    pub(super) looked: Vec<PathBuf>,
    pub(super) problems: Vec<Problem>,
}

pub(super) fn find_layers(choice: &Choice, env: &Environment) -> DiscoveredLayers {
    let mut layers = Vec::new();
    let mut problems = Vec::new();
    let mut root = None;
    let mut looked = Vec::new();
    let named = choice.explicit.len() + choice.settings.len();
    if named == 0 || choice.discover {
        for (kind, folder) in outside(env) {
            if has_folder(&folder, &mut problems) {
                layers.extend(layer_in(kind, &folder, &mut problems));
            }
        }
        // A hook of the unknown project might block.
        if let Some(error) = &env.cwd_problem {
            let cause = format!(
                "cannot determine the working directory, so the project is unknown: {error}"
            );
            let cure = "change to an existing, readable folder";
            problems.push(Complaint::with_cure(cause, cure).in_file(Path::new("."), None));
        }
        let project = find_project(&choice.host_folders, env, &mut problems);
        layers.extend(project.layers);
        looked = project.looked;
        root = Some(project.root);
    }
    for named in &choice.explicit {
        match explicit_layer(&env.cwd.join(named), &mut problems) {
            Ok(layer) => layers.push(layer),
            Err(fault) => problems.push(fault.in_file(named, None)),
        }
    }
    for written in &choice.settings {
        let (settings_of, file) = host_prefix(written);
        let file = env.cwd.join(file);
        let folder = file.parent().unwrap_or(&file).to_path_buf();
        let mut layer = Layer::empty(LayerKind::Explicit, folder);
        layer.settings.push(file);
        layer.settings_of = settings_of;
        layers.push(layer);
    }
    if named + usize::from(choice.discover) > 1 {
        drop_repeated(&mut layers);
    }
    if layers.is_empty() {
        problems.extend(looked.iter().flat_map(|folder| misspelled(folder)));
    }
    let project =
        root.unwrap_or_else(|| find_project(&choice.host_folders, env, &mut Vec::new()).root);
    DiscoveredLayers {
        layers,
        project,
        looked,
        problems,
    }
}

/// The hook folders outside any project.
pub(super) fn outside(env: &Environment) -> impl Iterator<Item = (LayerKind, PathBuf)> {
    let system = (LayerKind::System, env.system.clone());
    let user = env.config_home.as_ref().map(|home| home.join("hookrun"));
    std::iter::once(system).chain(user.map(|folder| (LayerKind::User, folder)))
}

pub fn places(choice: &Choice, env: &Environment) -> Vec<PathBuf> {
    let outside = outside(env).map(|(_, folder)| folder);
    let mut places: Vec<PathBuf> = find_project(&choice.host_folders, env, &mut Vec::new()).looked;
    places.extend(outside);
    places
}

/// Splits `claude:FILE` into the host and the file.
fn host_prefix(written: &Path) -> (Option<&'static str>, &Path) {
    let parts = written.to_str().and_then(|text| text.split_once(':'));
    if let Some((name, file)) = parts
        && let Some(settings) = hosts::settings_file(name)
    {
        return (Some(settings.host().name), Path::new(file));
    }
    (None, written)
}

/// Keeps each file and folder only in its first layer, so that its hooks run once.
fn drop_repeated(layers: &mut Vec<Layer>) {
    let mut seen = HashSet::new();
    let mut is_new = |path: &PathBuf| match path.canonicalize() {
        Ok(path) => seen.insert(path),
        Err(_) => true,
    };
    for layer in layers.iter_mut() {
        layer.manifests.retain(&mut is_new);
        layer.drop_ins.retain(&mut is_new);
        layer.settings.retain(&mut is_new);
    }
    layers.retain(|layer| !layer.places().is_empty());
}

/// Reports names that differ from a layer's files only in case, if no hooks are found.
fn misspelled(folder: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let mut names = [MANIFEST, DROP_INS, HIDDEN].iter();
        if let Some(meant) = names.find(|meant| name.eq_ignore_ascii_case(meant)) {
            let cause = format!("is named `{}`, so no hooks in it run", name.display());
            let complaint = Complaint::with_cure(cause, format!("rename it to `{meant}`"));
            problems.push(complaint.in_file(&entry.path(), None));
        }
    }
    problems
}

/// The layer of a named path: a folder of hooks, or a `hookrun.toml`.
fn explicit_layer(named: &Path, problems: &mut Vec<Problem>) -> Result<Layer, Complaint> {
    let meta = named.metadata().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            let cure = "name a folder with hooks.d/ or hookrun.toml, or a hooks.d folder itself";
            return Complaint::with_cure("no such file or folder", cure);
        }
        Complaint::with_cure(
            format!("cannot be read: {error}"),
            "check the path and its permissions",
        )
    })?;
    let kind = LayerKind::Explicit;
    if meta.is_file() {
        let folder = named.parent().unwrap_or(named).to_path_buf();
        let mut layer = Layer::empty(kind, folder);
        if named.extension() != Some(OsStr::new("toml")) {
            let cause = "is neither a folder of hooks nor a TOML file";
            let cure = "pass the folder that contains hooks.d; a hook must be in its event's \
                        folder, such as hooks.d/tool.pre/";
            return Err(Complaint::with_cure(cause, cure));
        }
        layer.manifests.push(named.to_path_buf());
        return Ok(layer);
    }
    let found = layer_in(kind, named, problems);
    let name = named.file_name().and_then(OsStr::to_str);
    if found.is_none()
        && let Some(event) = name.and_then(catalog::find)
    {
        let cause = format!("is the folder of one event, `{}`", event.name);
        return Err(Complaint::with_cure(cause, "name its parent folder"));
    }
    let is_drop_ins = found.is_none() || name == Some(DROP_INS);
    let mut layer = found.unwrap_or_else(|| Layer::empty(kind, named.to_path_buf()));
    if layer.drop_ins.is_empty() && is_drop_ins {
        layer.drop_ins.push(named.to_path_buf());
    }
    Ok(layer)
}

struct Project {
    layers: Vec<Layer>,
    /// The host's root, else the outermost folder with hooks, else the git repository's root.
    root: PathBuf,
    looked: Vec<PathBuf>,
}

fn find_project(folders: &HostFolders, env: &Environment, problems: &mut Vec<Problem>) -> Project {
    let named = folders.roots.iter().map(|folder| env.cwd.join(folder));
    let roots: Vec<PathBuf> = named.filter(|folder| folder.is_dir()).collect();
    let mut starts = roots.clone();
    starts.push(env.cwd.clone());
    let home = env.home.as_ref().and_then(|home| home.metadata().ok());
    let mut search = ProjectSearch {
        home: home.map(|meta| identity(&meta)),
        seen: Vec::new(),
        layers: Vec::new(),
        looked: Vec::new(),
    };
    for start in &starts {
        search.upwards(start, problems);
    }
    if let Some(cwd) = folders.cwd.as_ref().map(|cwd| env.cwd.join(cwd)) {
        let found = search.layers.iter().map(|layer| &layer.folder);
        let is_known = roots.iter().chain(found).any(|root| is_inside(&cwd, root));
        if search.layers.is_empty() || is_known {
            search.upwards(&cwd, problems);
            starts.push(cwd);
        }
    }
    let mut root = roots.into_iter().next();
    let ProjectSearch {
        mut layers, looked, ..
    } = search;
    if layers.is_empty() {
        let repository = starts.iter().find_map(|start| work_tree(start));
        if repository.is_none() {
            let beyond = starts.iter().flat_map(|start| start.ancestors());
            let mut beyond = beyond.filter(|folder| !looked.iter().any(|known| known == folder));
            let kind = LayerKind::Project;
            layers.extend(beyond.find_map(|folder| layer_in(kind, folder, problems)));
        }
        root = root.or(repository);
    }
    let root = root
        .or_else(|| layers.first().map(|layer| layer.folder.clone()))
        .unwrap_or_else(|| env.cwd.clone());
    Project {
        layers,
        root,
        looked,
    }
}

fn is_inside(folder: &Path, root: &Path) -> bool {
    if folder.starts_with(root) {
        return true;
    }
    match (folder.canonicalize(), root.canonicalize()) {
        (Ok(folder), Ok(root)) => folder.starts_with(root),
        _ => false,
    }
}

type Identity = (u64, u64);

fn identity(meta: &Metadata) -> Identity {
    (meta.dev(), meta.ino())
}

struct ProjectSearch {
    home: Option<Identity>,
    /// Folders already searched; most searches meet.
    seen: Vec<Identity>,
    layers: Vec<Layer>,
    looked: Vec<PathBuf>,
}

impl ProjectSearch {
    fn upwards(&mut self, start: &Path, problems: &mut Vec<Problem>) {
        let mut found = Vec::new();
        for folder in start.ancestors() {
            let Ok(meta) = folder.metadata() else {
                // Reading the folder reports the error.
                found.extend(layer_in(LayerKind::Project, folder, problems));
                continue;
            };
            let own = identity(&meta);
            if self.seen.contains(&own) || folder != start && self.ends(folder, &meta, problems) {
                break;
            }
            self.seen.push(own);
            self.looked.push(folder.to_path_buf());
            found.extend(layer_in(LayerKind::Project, folder, problems));
        }
        self.layers.extend(found.into_iter().rev());
    }

    /// Whether the search stops at a folder above its start.
    fn ends(&self, folder: &Path, meta: &Metadata, problems: &mut Vec<Problem>) -> bool {
        // In a world-writable folder others could add hooks.
        if meta.permissions().mode() & STICKY_AND_OPEN == STICKY_AND_OPEN {
            problems.extend(own_in_shared(folder, meta));
            return true;
        }
        let is_last = Some(identity(meta)) == self.home || folder.parent().is_none();
        is_last && !is_there(&folder.join(".git"))
    }
}

/// The mode of a world-writable folder in which users can delete only their own files.
const STICKY_AND_OPEN: u32 = 0o1002;

pub(crate) fn work_tree(folder: &Path) -> Option<PathBuf> {
    let mut folders = folder.ancestors();
    let found = folders.find(|folder| is_there(&folder.join(".git")));
    found.map(Path::to_path_buf)
}

/// Reports our own hooks in a world-writable folder, where they are ignored.
fn own_in_shared(folder: &Path, meta: &Metadata) -> Option<Problem> {
    let own = rustix::process::getuid().as_raw();
    if meta.uid() != own {
        return None;
    }
    let names = [DROP_INS, MANIFEST, HIDDEN, ".git"];
    let name = names.into_iter().find(|name| {
        let meta = folder.join(name).symlink_metadata();
        meta.is_ok_and(|meta| meta.uid() == own)
    })?;
    let cause =
        format!("any user can create files in this folder, so hookrun ignores its `{name}`");
    let cure = "move it to a folder that only you can write to, or remove it";
    Some(Complaint::with_cure(cause, cure).in_file(folder, None))
}
