//! Where configuration lies: the layers and their files.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::env::Environment;
use super::loose::{Loose, LooseOrigin};
use super::problem::Problem;
use super::project;
use crate::dialects::folders::{self, HostFolders, SystemFolders};
use crate::dialects::settings;
use crate::engine::complaint::Complaint;
use crate::engine::event::{Context, catalog};
use crate::engine::hook::LayerKind;
use crate::engine::spelling;

/// The file of a layer.
pub const MANIFEST: &str = "hookrun.toml";

/// The folder of drop-ins.
pub const DROP_INS: &str = "hooks.d";

/// A folder for both, for projects that keep their root clean.
pub const HIDDEN: &str = ".hookrun";

/// The folder of suites: in `hooks.d`, or beside `hookrun.toml`.
pub const SUITES: &str = "tests";

/// Folders in `hooks.d` that hold something else than the hooks of an event: suites, and code
/// that hooks share.
const RESERVED: &[&str] = &[SUITES, "lib"];

/// Names of what editors and interpreters leave behind, and of files to be read: `*` stands for
/// anything. vim tries with `4913` whether it may write a folder.
const LEFTOVERS: &[&str] = &[
    ".*",
    "README*",
    "*.md",
    "*~",
    "*.bak",
    "*.swp",
    "*.orig",
    "*.rej",
    "*.tmp",
    "#*#",
    "4913",
    "__pycache__",
    "*.pyc",
    "node_modules",
    "Thumbs.db",
    "desktop.ini",
];

/// Which layers are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Folders named by the person or program that runs hookrun (`--hooks`).
    pub explicit: Vec<PathBuf>,
    /// Settings files of hosts, likewise (`--settings`): a layer each. The host may stand before
    /// the file: `claude:FILE`.
    pub settings: Vec<PathBuf>,
    /// Look for the other layers too, although some were named (`--discover`).
    pub discover: bool,
    /// The system that asks: hooks in folders of its own are looked for too.
    pub host: Option<&'static SystemFolders>,
    /// The program hookrun, which does what settings files ask for; by default the one in `PATH`.
    pub program: Option<PathBuf>,
    /// Folders that the host tells of: what its user has opened is the project.
    pub told: HostFolders,
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

/// A layer: where it was found, and its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Which one.
    pub kind: LayerKind,
    /// The folder.
    pub folder: PathBuf,
    /// Its `hookrun.toml` files.
    pub manifests: Vec<PathBuf>,
    /// Its `hooks.d` folders.
    pub drop_ins: Vec<PathBuf>,
    /// Its settings files of a host.
    pub settings: Vec<PathBuf>,
    /// The host whose settings they are said to be; `None` where their content tells.
    pub settings_of: Option<&'static str>,
    /// Hooks in it that stand in no folder of an event.
    pub loose: Vec<Loose>,
}

impl Layer {
    fn empty(kind: LayerKind, folder: PathBuf) -> Layer {
        Layer {
            kind,
            folder,
            manifests: Vec::new(),
            drop_ins: Vec::new(),
            settings: Vec::new(),
            settings_of: None,
            loose: Vec::new(),
        }
    }

    /// The folders that its files stand in, each once.
    pub(super) fn places(&self) -> Vec<&Path> {
        let mut places = Vec::new();
        let loose = self.loose.iter().map(|loose| &loose.path);
        for file in self.manifests.iter().chain(&self.drop_ins).chain(&self.settings).chain(loose) {
            if let Some(folder) = file.parent().filter(|folder| !places.contains(folder)) {
                places.push(folder);
            }
        }
        places
    }
}

/// What was found: the layers, the system first; the project's root; and what stands where a
/// folder of hooks would, and is none.
pub(super) struct Discovered {
    pub(super) layers: Vec<Layer>,
    pub(super) project: PathBuf,
    pub(super) problems: Vec<Problem>,
}

/// Finds the layers that `choice` asks for.
pub(super) fn find_layers(choice: &Choice, env: &Environment) -> Discovered {
    let mut layers = Vec::new();
    let mut problems = Vec::new();
    let mut root = None;
    let mut looked = Vec::new();
    let named = choice.explicit.len() + choice.settings.len();
    if named == 0 || choice.discover {
        for (kind, folder) in outside(env) {
            if has_folder(&folder, &mut problems) {
                layers.extend(layer(kind, &folder, &mut problems));
            }
        }
        layers.extend(
            env.home
                .as_ref()
                .and_then(|home| host_layer(LayerKind::User, home, choice.host, choice.host?.user)),
        );
        // The hooks of a project that cannot be found may be the ones that would refuse.
        if let Some(error) = &env.cwd_problem {
            let cause = format!("the working directory, and so the project, is not known: {error}");
            let fault =
                Complaint::with_cure(cause, "change to a folder that exists and may be read");
            problems.push(fault.in_file(Path::new("."), None));
        }
        let project = project::find(&choice.told, env, &mut problems);
        layers.extend(project.layers);
        looked = project.looked;
        root = Some(project.root);
        layers.extend(
            choice.host.and_then(|host| {
                host_layer(LayerKind::Project, &env.cwd, choice.host, host.project)
            }),
        );
    }
    for named in &choice.explicit {
        match explicit_layer(&env.cwd.join(named), choice.host, &mut problems) {
            Ok(layer) => layers.push(layer),
            Err(fault) => problems.push(fault.in_file(named, None)),
        }
    }
    for written in &choice.settings {
        let (settings_of, file) = said_to_be(written);
        let file = env.cwd.join(file);
        let folder = file.parent().unwrap_or(&file).to_path_buf();
        let empty = Layer::empty(LayerKind::Explicit, folder);
        layers.push(Layer { settings: vec![file], settings_of, ..empty });
    }
    if named + usize::from(choice.discover) > 1 {
        drop_repeated(&mut layers);
    }
    if layers.is_empty() {
        problems.extend(looked.iter().flat_map(|folder| misspelled(folder)));
    }
    let project = root.unwrap_or_else(|| project::find(&choice.told, env, &mut Vec::new()).root);
    Discovered { layers, project, problems }
}

/// The folders of hooks that are no project's.
fn outside(env: &Environment) -> impl Iterator<Item = (LayerKind, PathBuf)> {
    let system = (LayerKind::System, env.system.clone());
    let user = env.config_home.as_ref().map(|home| (LayerKind::User, home.join("hookrun")));
    std::iter::once(system).chain(user)
}

/// The folders in which hooks are looked for where none are named.
pub fn places(choice: &Choice, env: &Environment) -> Vec<PathBuf> {
    let outside = outside(env).map(|(_, folder)| folder);
    let mut places: Vec<PathBuf> = project::find(&choice.told, env, &mut Vec::new()).looked;
    places.extend(outside);
    places
}

/// The host that stands before a settings file, as in `claude:FILE`, and the file.
fn said_to_be(written: &Path) -> (Option<&'static str>, &Path) {
    let parts = written.to_str().and_then(|text| text.split_once(':'));
    let host = |(name, file): (&str, _)| Some((settings::whose(name)?, Path::new(file)));
    parts.and_then(host).map_or((None, written), |(host, file)| (Some(host), file))
}

/// Keeps every file and folder in the first layer that has it: who names a folder twice, or one
/// that is found anyway, does not want its hooks to run twice.
fn drop_repeated(layers: &mut Vec<Layer>) {
    let mut seen = HashSet::new();
    let mut is_new = |path: &PathBuf| match path.canonicalize() {
        Ok(path) => seen.insert(path),
        // What cannot be found will be told when it is read.
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

/// Whether something stands there, or may: a link to nothing, or what we may not look at. Reading
/// it fails, and that closes gates, where passing it over would open them.
pub(super) fn is_there(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput
        ),
    }
}

/// Whether a folder for hooks is there. What stands in its place and is none, or a link to nothing
/// on the way to it, is a problem: the hooks in it may be the ones that would block.
fn has_folder(path: &Path, problems: &mut Vec<Problem>) -> bool {
    let standing = path.ancestors().find(|path| is_there(path)).unwrap_or(path);
    let cause = match standing.metadata() {
        Ok(meta) if meta.is_dir() => return standing == path,
        Ok(_) => "is no folder".to_string(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "is a link to nothing".to_string(),
        Err(error) => format!("cannot be looked at: {error}"),
    };
    let cause = format!("{cause}, and hooks are looked for in it");
    problems.push(Complaint::with_cure(cause, "fix it, or remove it").in_file(standing, None));
    false
}

/// The layer in `folder`, if there is anything.
pub(super) fn layer(kind: LayerKind, folder: &Path, problems: &mut Vec<Problem>) -> Option<Layer> {
    let mut layer = Layer::empty(kind, folder.to_path_buf());
    let hidden = folder.join(HIDDEN);
    let hidden = is_there(&hidden).then_some(hidden);
    for place in [folder].into_iter().chain(hidden.as_deref()) {
        if place != folder && !has_folder(place, problems) {
            continue;
        }
        let (manifest, drop_ins) = (place.join(MANIFEST), place.join(DROP_INS));
        if is_there(&manifest) {
            layer.manifests.push(manifest);
        }
        if is_there(&drop_ins) {
            layer.drop_ins.push(drop_ins);
        }
    }
    if layer.places().is_empty() { None } else { Some(layer) }
}

/// What is called almost as the files of a layer are, in other letters. Looked for only where no
/// hooks are: a project of such a name would have none.
fn misspelled(folder: &Path) -> Vec<Problem> {
    let near = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let names = [MANIFEST, DROP_INS, HIDDEN];
        let meant = names.iter().find(|meant| meant.eq_ignore_ascii_case(&name))?;
        let cause = format!("is called `{name}`, so no hooks in it run");
        Some(
            Complaint::with_cure(cause, format!("rename it to `{meant}`"))
                .in_file(&entry.path(), None),
        )
    };
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(near).collect()
}

/// The layer of a system's own folder, if it is there.
fn host_layer(
    kind: LayerKind,
    root: &Path,
    host: Option<&'static SystemFolders>,
    folder: &str,
) -> Option<Layer> {
    let path = root.join(folder);
    if !is_there(&path) {
        return None;
    }
    let loose = Loose { path, host, origin: LooseOrigin::Folder };
    Some(Layer { loose: vec![loose], ..Layer::empty(kind, root.to_path_buf()) })
}

/// A layer that somebody named: a folder that holds `hookrun.toml` or `hooks.d`, a folder of
/// drop-ins itself, a `hookrun.toml`, a script that says its event itself, or the folder of the
/// host's own hooks.
fn explicit_layer(
    named: &Path,
    host: Option<&'static SystemFolders>,
    problems: &mut Vec<Problem>,
) -> Result<Layer, Complaint> {
    let meta = named.metadata().map_err(|error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let cause = if is_missing {
            "no such folder".to_string()
        } else {
            format!("cannot look at it: {error}")
        };
        Complaint::with_cure(
            cause,
            "name a folder with hooks.d/ or hookrun.toml, or a hooks.d itself",
        )
    })?;
    let kind = LayerKind::Explicit;
    if meta.is_file() {
        let folder = named.parent().unwrap_or(named).to_path_buf();
        let mut layer = Layer::empty(kind, folder);
        if named.extension() == Some(OsStr::new("toml")) {
            layer.manifests.push(named.to_path_buf());
        } else {
            layer.loose.push(Loose { path: named.to_path_buf(), host, origin: LooseOrigin::Named });
        }
        return Ok(layer);
    }
    if let Some(host) = host.filter(|host| is_folder_of(named, host)) {
        let path = named.to_path_buf();
        let loose = Loose { path, host: Some(host), origin: LooseOrigin::Folder };
        return Ok(Layer { loose: vec![loose], ..Layer::empty(kind, named.to_path_buf()) });
    }
    let found = layer(kind, named, problems);
    let event = named.file_name().and_then(OsStr::to_str).and_then(catalog::find);
    if let Some(event) = event.filter(|_| found.is_none()) {
        let cause = format!("is the folder of one event, `{}`", event.name);
        return Err(Complaint::with_cure(cause, "name the folder that it is in"));
    }
    let is_drop_ins = named.file_name() == Some(OsStr::new(DROP_INS));
    match found {
        Some(mut layer) => {
            if is_drop_ins && layer.drop_ins.is_empty() {
                layer.drop_ins.push(named.to_path_buf());
            }
            if layer.drop_ins.is_empty() {
                refuse_loose_folders(named)?;
            }
            Ok(layer)
        }
        None => Ok(Layer {
            drop_ins: vec![named.to_path_buf()],
            ..Layer::empty(kind, named.to_path_buf())
        }),
    }
}

/// Whether somebody named a folder in which a system keeps hooks.
fn is_folder_of(named: &Path, host: &SystemFolders) -> bool {
    [host.user, host.project].iter().any(|folder| named.ends_with(folder))
}

/// Refuses folders of events beside a `hookrun.toml`: nobody would run what is in them.
fn refuse_loose_folders(folder: &Path) -> Result<(), Complaint> {
    for entry in entries(folder).unwrap_or_default() {
        let is_event = catalog::EVENTS.iter().any(|spec| spec.name == entry.name.as_str());
        if entry.is_folder && is_event && entry.name.contains('.') {
            let cause = format!("`{}` is next to hookrun.toml, where nothing runs it", entry.name);
            return Err(Complaint::with_cure(cause, "move it into a folder hooks.d"));
        }
    }
    Ok(())
}

/// An entry of a drop-in folder.
#[derive(Debug)]
pub(super) struct DropIn {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) is_folder: bool,
}

/// The entries of a folder that mean something, in byte order of their names. Hidden files,
/// what editors leave behind and read-me files are passed over.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn entries(folder: &Path) -> io::Result<Vec<DropIn>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if is_passed_over(&name) {
            continue;
        }
        let kind = entry.file_type()?;
        let is_folder = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
        let name = name.to_string_lossy().into_owned();
        found.push(DropIn { path: entry.path(), name, is_folder });
    }
    found.sort_by(|a, b| a.path.as_os_str().as_bytes().cmp(b.path.as_os_str().as_bytes()));
    Ok(found)
}

/// Whether a file of this name is no hook: hidden, left behind by an editor, or to be read.
pub fn is_passed_over(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    LEFTOVERS.iter().any(|pattern| match pattern.split_once('*') {
        None => name == *pattern,
        Some((start, end)) => {
            let long_enough = name.len() >= start.len() + end.len();
            long_enough && name.starts_with(start) && name.ends_with(end.trim_start_matches('*'))
        }
    })
}

/// The folder in `hooks.d` that is no event's and was probably meant.
pub(super) fn nearest_reserved(name: &str) -> Option<String> {
    spelling::nearest(name, RESERVED.iter().copied()).map(str::to_string)
}

/// Whether a folder in `hooks.d` is not named after an event on purpose.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}
