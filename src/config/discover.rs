//! Where configuration lies: the layers and their files.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::env::Environment;
pub use super::layer::{DROP_INS, HIDDEN, MANIFEST, SUITES, is_passed_over};
use super::layer::{
    Layer, StandaloneOrigin, StandaloneScript, entries, has_folder, is_there, layer_in,
};
use super::problem::Problem;
use super::project;
use super::trust::TrustChoice;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::engine::hook::LayerKind;
use crate::hosts;
use crate::hosts::folders::{self, HostFolders};
use crate::hosts::settings::SystemFolders;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Folders named by the person or program that runs hookrun (`--hooks`).
    pub explicit: Vec<PathBuf>,
    /// Settings files of hosts, likewise (`--settings`): a layer each. The host may be named before
    /// the file: `claude:FILE`.
    pub settings: Vec<PathBuf>,
    /// Look for the other layers too, although some were named (`--discover`).
    pub discover: bool,
    /// The folders of the system that asks, or of all: hooks in them are looked for too.
    pub hosts: Vec<&'static SystemFolders>,
    /// Folders that the host tells of: what its user has opened is the project.
    pub told: HostFolders,
    /// The hooks of a project run only if they are trusted. `None` where the person at the keyboard
    /// asks for them.
    pub trust: Option<TrustChoice>,
}

impl Choice {
    /// The same for an event of a host of this dialect, which may say where the host works.
    #[must_use]
    pub fn told_in(mut self, dialect: &str, context: Option<&Context>) -> Choice {
        if let Some(context) = context {
            let HostFolders { roots, cwd } = folders::told(dialect, context);
            self.told.roots.extend(roots);
            self.told.cwd = cwd;
        }
        self
    }
}

pub(super) struct DiscoveredLayers {
    pub(super) layers: Vec<Layer>,
    pub(super) project: PathBuf,
    /// The folders of the project that may have hooks.
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
        let of_user = |host: &'static SystemFolders| {
            host_layer(LayerKind::User, env.home.as_ref()?, host, host.user)
        };
        layers.extend(choice.hosts.iter().copied().filter_map(of_user));
        // The hooks of a project that cannot be found may be the ones that would refuse.
        if let Some(error) = &env.cwd_problem {
            let cause = format!("the working directory, and so the project, is not known: {error}");
            let cure = "change to a folder that exists and may be read";
            problems.push(Complaint::with_cure(cause, cure).in_file(Path::new("."), None));
        }
        let project = project::find(&choice.told, env, &mut problems);
        layers.extend(project.layers);
        looked = project.looked;
        root = Some(project.root);
        let of_project = |host: &'static SystemFolders| {
            host_layer(LayerKind::Project, &env.cwd, host, host.project)
        };
        layers.extend(choice.hosts.iter().copied().filter_map(of_project));
    }
    for named in &choice.explicit {
        match explicit_layer(
            &env.cwd.join(named),
            choice.hosts.first().copied(),
            &mut problems,
        ) {
            Ok(layer) => layers.push(layer),
            Err(fault) => problems.push(fault.in_file(named, None)),
        }
    }
    for written in &choice.settings {
        let (settings_of, file) = said_to_be(written);
        let file = env.cwd.join(file);
        let folder = file.parent().unwrap_or(&file).to_path_buf();
        let empty = Layer::empty(LayerKind::Explicit, folder);
        layers.push(Layer {
            settings: vec![file],
            settings_of,
            ..empty
        });
    }
    if named + usize::from(choice.discover) > 1 {
        drop_repeated(&mut layers);
    }
    if layers.is_empty() {
        problems.extend(looked.iter().flat_map(|folder| misspelled(folder)));
    }
    let project = root.unwrap_or_else(|| project::find(&choice.told, env, &mut Vec::new()).root);
    DiscoveredLayers {
        layers,
        project,
        looked,
        problems,
    }
}

/// The folders of hooks that are no project's.
pub(super) fn outside(env: &Environment) -> impl Iterator<Item = (LayerKind, PathBuf)> {
    let system = (LayerKind::System, env.system.clone());
    let user = env
        .config_home
        .as_ref()
        .map(|home| (LayerKind::User, home.join("hookrun")));
    std::iter::once(system).chain(user)
}

pub fn places(choice: &Choice, env: &Environment) -> Vec<PathBuf> {
    let outside = outside(env).map(|(_, folder)| folder);
    let mut places: Vec<PathBuf> = project::find(&choice.told, env, &mut Vec::new()).looked;
    places.extend(outside);
    places
}

/// The host that is named before a settings file, as in `claude:FILE`, and the file.
fn said_to_be(written: &Path) -> (Option<&'static str>, &Path) {
    let parts = written.to_str().and_then(|text| text.split_once(':'));
    let host = |(name, file): (&str, _)| Some((hosts::with_settings(name)?, Path::new(file)));
    parts
        .and_then(host)
        .map_or((None, written), |(host, file)| (Some(host), file))
}

/// Keeps every file and folder in the first layer that has it: a folder that is named
/// twice, or named and found anyway, does not run its hooks twice.
fn drop_repeated(layers: &mut Vec<Layer>) {
    let mut seen = HashSet::new();
    let mut is_new = |path: &PathBuf| match path.canonicalize() {
        Ok(path) => seen.insert(path),
        // A missing file is reported when it is read.
        Err(_) => true,
    };
    for layer in layers.iter_mut() {
        layer.manifests.retain(&mut is_new);
        layer.drop_ins.retain(&mut is_new);
        layer.settings.retain(&mut is_new);
        layer.loose.retain(|loose| is_new(&loose.path));
    }
    layers.retain(|layer| !layer.places().is_empty());
}

/// What is called almost as the files of a layer are, in other letters. Looked for only where no
/// hooks are: a project of such a name would have none.
fn misspelled(folder: &Path) -> Vec<Problem> {
    let near = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let names = [MANIFEST, DROP_INS, HIDDEN];
        let meant = names
            .iter()
            .find(|meant| meant.eq_ignore_ascii_case(&name))?;
        let cause = format!("is called `{name}`, so no hooks in it run");
        let complaint = Complaint::with_cure(cause, format!("rename it to `{meant}`"));
        Some(complaint.in_file(&entry.path(), None))
    };
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(near)
        .collect()
}

fn host_layer(
    kind: LayerKind,
    root: &Path,
    host: &'static SystemFolders,
    folder: &str,
) -> Option<Layer> {
    let path = root.join(folder);
    if !is_there(&path) {
        return None;
    }
    let loose = StandaloneScript {
        path,
        host: Some(host),
        origin: StandaloneOrigin::Folder,
    };
    Some(Layer {
        loose: vec![loose],
        ..Layer::empty(kind, root.to_path_buf())
    })
}

/// A layer that was named: a folder that holds `hookrun.toml` or `hooks.d`, a folder of
/// drop-ins itself, a `hookrun.toml`, a script that says its event itself, or the folder of the
/// host's own hooks.
fn explicit_layer(
    named: &Path,
    host: Option<&'static SystemFolders>,
    problems: &mut Vec<Problem>,
) -> Result<Layer, Complaint> {
    let meta = named.metadata().map_err(|error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let otherwise = || format!("cannot look at it: {error}");
        let cause = if is_missing {
            "no such folder".to_string()
        } else {
            otherwise()
        };
        let cure = "name a folder with hooks.d/ or hookrun.toml, or a hooks.d itself";
        Complaint::with_cure(cause, cure)
    })?;
    let kind = LayerKind::Explicit;
    if meta.is_file() {
        let folder = named.parent().unwrap_or(named).to_path_buf();
        let mut layer = Layer::empty(kind, folder);
        if named.extension() == Some(OsStr::new("toml")) {
            layer.manifests.push(named.to_path_buf());
        } else {
            layer.loose.push(StandaloneScript {
                path: named.to_path_buf(),
                host,
                origin: StandaloneOrigin::Named,
            });
        }
        return Ok(layer);
    }
    let is_its_own = |host: &&SystemFolders| {
        [host.user, host.project]
            .iter()
            .any(|folder| named.ends_with(folder))
    };
    if host.filter(is_its_own).is_some() {
        let loose = StandaloneScript {
            path: named.to_path_buf(),
            host,
            origin: StandaloneOrigin::Folder,
        };
        return Ok(Layer {
            loose: vec![loose],
            ..Layer::empty(kind, named.to_path_buf())
        });
    }
    let found = layer_in(kind, named, problems);
    let event = named
        .file_name()
        .and_then(OsStr::to_str)
        .and_then(catalog::find);
    if let Some(event) = event.filter(|_| found.is_none()) {
        let cause = format!("is the folder of one event, `{}`", event.name);
        return Err(Complaint::with_cure(cause, "name the folder that it is in"));
    }
    let Some(mut layer) = found else {
        let empty = Layer::empty(kind, named.to_path_buf());
        return Ok(Layer {
            drop_ins: vec![named.to_path_buf()],
            ..empty
        });
    };
    if layer.drop_ins.is_empty() {
        if named.file_name() == Some(OsStr::new(DROP_INS)) {
            layer.drop_ins.push(named.to_path_buf());
        } else {
            refuse_loose_folders(named)?;
        }
    }
    Ok(layer)
}

/// Refuses folders of events next to a `hookrun.toml`: nothing would run their hooks.
fn refuse_loose_folders(folder: &Path) -> Result<(), Complaint> {
    for entry in entries(folder).unwrap_or_default() {
        let is_event = catalog::EVENTS
            .iter()
            .any(|spec| spec.name == entry.name.as_str());
        if entry.is_folder && is_event && entry.name.contains('.') {
            let cause = format!(
                "`{}` is next to hookrun.toml, where nothing runs it",
                entry.name
            );
            return Err(Complaint::with_cure(cause, "move it into a folder hooks.d"));
        }
    }
    Ok(())
}
